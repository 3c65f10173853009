// Failover of links, on contexts that are threads (loop_host.hpp): a way is lost while requests are under way, and then
// all ways; a module fails with requests in its queue.
#include <margay/nexus.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "libraries/nexus/context.hpp"
#include "tests/libraries/nexus/loop_host.hpp"

extern "C" int MPI_Get_version(int* version, int* subversion) {
  *version = 4, *subversion = 0;
  return 0;
}
extern "C" margay::host::Host* MPIX_Margay_host(std::uint32_t /*version*/) {
  static margay::testing::LoopHost host;
  return &host;
}

namespace {

using namespace margay::nexus;
namespace portals = margay::portals;

void need(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "the test expects: %s\n", what);
  std::_Exit(1);
}

void lose(int peer, const char* wire) {
  margay::testing::LoopRank& rank = *margay::testing::LoopJob::mine;
  rank.lock();
  rank.lose(static_cast<std::uint32_t>(peer), wire);
  rank.unlock();
}

void program() {
  constexpr int kEach = 200;
  std::vector<int> seen(kEach);
  int count = 0;
  register_handler("count", [&](Endpoint&, Buffer& buffer) {
    ++seen[static_cast<std::size_t>(buffer.get<int>())];
    ++count;
  });
  init();
  {
    const Endpoint endpoint;
    std::vector<Startpoint> all = exchange(Startpoint(endpoint));
    const int other = 1 - context();
    Startpoint& next = all[static_cast<std::size_t>(other)];
    for (int i = 0; i < kEach; ++i) {
      if (i == kEach / 2) lose(other, "shm");
      send(next, "count", Buffer().put(i)).check();
      need(next.method() == (i < kEach / 2 ? "shm" : "tcp"), "the next row after the loss");
    }
    need(counts().changes == 1 && explain(next).find("the wire is lost") != std::string::npos,
         "one failover, explained");
    wait_until([&] { return count == kEach; });
    for (const int each : seen) need(each == 1, "each request once");
    static_cast<void>(exchange(Startpoint(endpoint)));
    // Without any method a send fails with a value.
    lose(other, "tcp");
    const Result result = send(next, "count", Buffer().put(0));
    need(!result.ok() && result.failures.front().why == Failure::Why::unreachable, "no method is left");
    need(result.failures.front().text.find("shm: ") != std::string::npos, "the reason of each row");
  }
  finish();
}

// A module that encrypts, is full, and fails once it is broken.
class Blocked final : public core::Module {
 public:
  explicit Blocked(const bool& broken) : broken_(broken) {}
  [[nodiscard]] std::string_view name() const override { return "blocked"; }
  [[nodiscard]] std::string_view description() const override { return "takes nothing"; }
  [[nodiscard]] core::Traits traits() const override {
    core::Traits traits;
    traits.bits = MARGAY_NEXUS_ORDERED | MARGAY_NEXUS_RELIABLE | MARGAY_NEXUS_SECURE;
    return traits;
  }
  [[nodiscard]] portals::Status init(core::Services&, std::span<const core::Parameter>) override { return {}; }
  [[nodiscard]] bool descriptor(std::vector<std::byte>& out) override {
    out.assign(1, std::byte{1});
    return true;
  }
  [[nodiscard]] std::string why_not(core::Bytes, const core::Target&, std::uint32_t) override { return {}; }
  [[nodiscard]] portals::Status open(std::span<const core::Target>, std::unique_ptr<core::Object>& out) override {
    out = std::make_unique<core::Object>();
    return {};
  }
  [[nodiscard]] core::Sent send(core::Object&, const core::Frame&, std::span<const core::Bytes>,
                                std::string& why) override {
    why = "it is broken";
    return broken_ ? core::Sent::failed : core::Sent::full;
  }

 private:
  const bool& broken_;
};

// Puts the module before the others of this context.
void load_blocked(const bool& broken) {
  core::Context& context = *core::here.context;
  const margay::host::Call call(context.host_rank, "load");
  context.load(std::make_unique<Blocked>(broken), {});
  core::Table table = *context.tables[context.host_rank.rank()];
  table.insert(table.begin(), {"blocked", context.methods.find("blocked")->own, core::kNoContext});
  context.tables[context.host_rank.rank()] = std::make_shared<const core::Table>(std::move(table));
}

// Contexts 0 and 1 are on one node, 2 on another one. Two requests of context 0 wait in the queue of a module that
// fails. The one for context 1 goes on by TCP, by way of its forwarder, context 2, whose own endpoint does not get it.
// The one for context 2 must be encrypted, and is lost rather than sent in plain text.
void queued_program() {
  int count = 0;
  bool broken = false;
  register_handler("count", [&](Endpoint&, Buffer&) { ++count; });
  init();
  {
    load_blocked(broken);
    const Endpoint endpoint;
    std::vector<Startpoint> all = exchange(Startpoint(endpoint));
    forward("tcp", 2, {1});
    if (context() == 0) {
      lose(1, "shm");
      Quality quality;
      quality.secure = true;
      all[2].require(quality);
      send(all[1], "count", Buffer()).check();
      send(all[2], "count", Buffer()).check();
      need(all[1].method() == "blocked" && all[2].method() == "blocked", "both requests wait in the module");
      broken = true;
      std::string text;
      try {
        poll();
      } catch (const error& caught) {
        text = caught.what();
      }
      need(text.find("a request for context 2 is lost with its method blocked") != std::string::npos,
           "the secret request is lost");
    }
    if (context() == 1) wait_until([&] { return count == 1; });
    static_cast<void>(exchange(Startpoint(endpoint)));
    need(count == (context() == 1 ? 1 : 0), "each request at its own context only");
  }
  finish();
}

}  // namespace

int main() {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    margay::testing::LoopJob job(2, seed, 1);
    job.run([](std::uint32_t /*rank*/) { program(); });
    margay::testing::LoopJob three(3, seed, 2);
    three.run([](std::uint32_t /*rank*/) { queued_program(); });
  }
  std::printf("failover: right\n");
}
