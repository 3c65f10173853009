// A world without messages for the tests of virtual_machine/program: the ranks of MARGAY_SIMULATE=RANKS are fibers that
// take turns in virtual time, and a sleep ends a rank's turn. Each rank finds its number in the variable RANK.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "virtual_machine/program/hooks.hpp"
#include "virtual_machine/program/output.hpp"
#include "virtual_machine/program/program.hpp"
#include "virtual_machine/program/rank_state.hpp"

namespace margay::virtual_machine {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t kStackBytes = std::size_t{256} * 1024;
// The exit status after Hooks::fail.
constexpr int kFailed = 71;

struct Fiber {
  explicit Fiber(std::uint32_t rank) : state(rank) {}

  RankState state;
  context::fcontext_t resume = nullptr;
  std::uint64_t wake_ns = 0;
  // The turn in which it began to wait: equal times are served in the order of the waits.
  std::uint64_t turn = 0;
  bool has_ended = false;
  int status = 0;
};

class RoundRobin : public Hooks {
 public:
  explicit RoundRobin(const Program& program) : program_(program) {}

  int run(std::uint32_t ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) start(rank);
    while (Fiber* const next = next_fiber()) resume(*next);
    for (const auto& fiber : fibers_) {
      if (fiber->status != 0) return fiber->status;
    }
    return 0;
  }

  bool in_rank() override { return running_ != nullptr; }
  std::uint64_t now_ns() override { return now_ns_; }

  void sleep_ns(std::uint64_t duration_ns) override {
    running_->wake_ns = now_ns_ + std::min(duration_ns, ~now_ns_);
    suspend();
  }

  void exit_rank(int status) override {
    running_->status = status;
    running_->has_ended = true;
    suspend();
    std::abort();
  }

  void end_process(int status) override {
    if (RankState* const entered = RankState::entered(); entered != nullptr) entered->leave();
    ::_exit(status);
  }
  void fail(std::string message, int /*status*/) override {
    running_ = nullptr;
    write_all_to_process(STDERR_FILENO, "round_robin: " + message + "\n");
    end_process(kFailed);
  }

 private:
  static void begin(context::transfer_t transfer) {
    auto& world = *static_cast<RoundRobin*>(transfer.data);
    world.back_ = transfer.fctx;
    RankState& state = world.running_->state;
    state.environment().set("RANK", std::to_string(state.number()), true);
    state.run(world.program_);
  }

  void start(std::uint32_t rank) {
    fibers_.push_back(std::make_unique<Fiber>(rank));
    auto* const stack = static_cast<std::byte*>(
        ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    fibers_.back()->resume = context::make_fcontext(stack + kStackBytes, kStackBytes, begin);
  }

  Fiber* next_fiber() {
    const auto order = [](const auto& one) { return std::tuple(one->has_ended, one->wake_ns, one->turn); };
    const auto first = std::min_element(fibers_.begin(), fibers_.end(),
                                        [&](const auto& one, const auto& other) { return order(one) < order(other); });
    return first == fibers_.end() || (*first)->has_ended ? nullptr : first->get();
  }

  void resume(Fiber& fiber) {
    now_ns_ = fiber.wake_ns;
    fiber.state.enter();
    running_ = &fiber;
    const context::transfer_t transfer = context::jump_fcontext(fiber.resume, this);
    running_ = nullptr;
    fiber.state.leave();
    fiber.resume = transfer.fctx;
    fiber.turn = ++turns_;
  }

  void suspend() { back_ = context::jump_fcontext(back_, nullptr).fctx; }

  Program program_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* running_ = nullptr;
  context::fcontext_t back_ = nullptr;
  std::uint64_t now_ns_ = 0;
  std::uint64_t turns_ = 0;
};

}  // namespace

int run_world(const Program& program) {
  const char* const labels = std::getenv("LABELS");
  label_lines(labels == nullptr || *labels != '0');
  RoundRobin world(program);
  set_hooks(&world);
  const int status = world.run(static_cast<std::uint32_t>(std::atoi(program.options)));
  set_hooks(nullptr);
  return status;
}

}  // namespace margay::virtual_machine
