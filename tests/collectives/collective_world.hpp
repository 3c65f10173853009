// A world of ranks that run collective calls over the virtual wire. Each rank's program is a thread of its own, because
// the calls block; one of them runs at a time, and the seed chooses which one, or the network. So runs are
// reproducible, and any rank may be late at any point.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "collectives/portal/collective.hpp"
#include "mpi_adi/device/parts.hpp"
#include "sim/machine/mapping.hpp"
#include "sim/machine/node_memory.hpp"
#include "sim/shm/published.hpp"
#include "tests/collectives/stopping_call.hpp"
#include "tests/mpi_adi/device_world.hpp"

namespace margay::collectives {

using Words = std::vector<std::uint64_t>;
inline std::byte* bytes_of(Words& words) {
  return reinterpret_cast<std::byte*>(words.data());
}
// Numbers of ranks with edge cases of trees and rounds.
inline constexpr int kRankCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33};

class CollectiveWorld {
 public:
  struct Options {
    int ranks = 2;
    std::uint64_t seed = 1;
    std::vector<std::uint32_t> nodes = {};  // of each rank; empty: all on one
    bool crowded = false;
    std::string asked = {};      // requested algorithms, by name
    bool shares_memory = false;  // all are on one node, and share its memory
    bool reads = false;          // and may read each other's private memory
    bool late = false;           // but each only once it has come()
    std::uint32_t long_slots = sim::kLongSlots;
    bool trace = false;
    TreePortal::Limits limits = {};
    sim::VirtualOptions network = {};
  };

  explicit CollectiveWorld(const Options& options)
      : options_(options),
        node_of_rank_(options.nodes.empty() ? Nodes(static_cast<std::size_t>(options.ranks)) : options.nodes),
        random_(options.seed),
        world_(world_options(options), options.network),
        ranks_(static_cast<std::size_t>(options.ranks)) {
    if (options.shares_memory) share_memory();
    for (int rank = 0; rank < options.ranks; ++rank) {
      Rank& made = ranks_[static_cast<std::size_t>(rank)];
      made.portal = std::make_unique<TreePortal>(std::make_unique<TestHost>(*this, rank), options.limits);
    }
  }

  // Publishes the rank's process id, as its process does when it starts.
  void come(int rank) { sim::publish(layout_.area(static_cast<std::uint32_t>(rank)).pid, own_pid()); }

  [[nodiscard]] int size() const { return options_.ranks; }
  [[nodiscard]] TreePortal& portal(int rank) { return *ranks_[static_cast<std::size_t>(rank)].portal; }
  [[nodiscard]] const sim::Recorder& recorder(int rank) { return world_.recorder(static_cast<std::uint32_t>(rank)); }
  [[nodiscard]] mpi_adi::Communicator& communicator(int rank) { return world_.world(static_cast<std::uint32_t>(rank)); }

  // Called by a rank's program: runs `routine` as a call to its end, in one of two ways that the seed draws: it waits
  // in place, or it suspends and continues. Members of one call may use different ways. Returns its result.
  int call(int rank, const StoppingCall::Routine& routine) {
    if (random_() % 2 == 0) {
      Collective collective(portal(rank), communicator(rank));
      mpi_adi::run(routine(collective));
      mpi_adi::run(Flush(collective));
      return collective.error_class();
    }
    const std::unique_ptr<StoppingCall> begun = begin_call(rank, routine);
    wait_for(rank, *begun);
    return begun->error_class();
  }
  // The second way, as far as it gets now.
  std::unique_ptr<StoppingCall> begin_call(int rank, const StoppingCall::Routine& routine) {
    return begin_call(rank, routine, portal(rank).notices().take_number(communicator(rank)));
  }
  std::unique_ptr<StoppingCall> begin_call(int rank, const StoppingCall::Routine& routine, CallNumber number) {
    mpi_adi::TaskQueue& tasks = world_.device(static_cast<std::uint32_t>(rank)).tasks();
    return std::make_unique<StoppingCall>(portal(rank), tasks, communicator(rank), number, routine);
  }
  void wait_for(int rank, const StoppingCall& call) {
    auto over = [&call] { return call.is_over(); };
    if (!over()) portal(rank).host().wait(Until(over), 1);
  }

  // Runs `program(rank)` on every rank in rounds: all ranks advance as far as they can, then all sent messages arrive.
  // So a message's round is the length of the longest chain of messages that it depends on. Returns false as run()
  // does.
  bool run_in_rounds(const std::function<void(int rank)>& program) {
    for (int rank = 0; rank < size(); ++rank) begin(rank, program);
    int empty_rounds = 0;
    while (unfinished() != 0 && empty_rounds < kEmptyRounds) {
      bool some = false;
      for (Rank& rank : ranks_) {
        world_.tick();
        while (rank.turn == Turn::ready || (rank.turn == Turn::waits && (*rank.until)())) {
          some = true;
          resume(rank);
        }
      }
      empty_rounds = some ? 0 : empty_rounds + 1;
      world_.settle();
    }
    const bool ended = unfinished() == 0;
    stuck_ = true;
    for (Rank& rank : ranks_) {
      if (rank.turn == Turn::waits) resume(rank);
    }
    for (Rank& rank : ranks_) {
      if (rank.thread.joinable()) rank.thread.join();
    }
    return ended;
  }

  // Runs `program(rank)` on every rank but `absent`, which is lost at a random moment. Returns false if a rank waits
  // although all is at rest; its wait was then broken off.
  bool run(const std::function<void(int rank)>& program, int absent = -1) {
    for (int rank = 0; rank < size(); ++rank) {
      if (rank != absent) begin(rank, program);
    }
    bool ended = true;
    bool to_lose = absent >= 0;
    int empty_rounds = 0;
    while (unfinished() != 0) {
      if (to_lose && random_() % 50 == 0) {
        world_.network().lose(static_cast<std::uint32_t>(absent));
        to_lose = false;
      }
      if (step()) {
        empty_rounds = 0;
        continue;
      }
      // A waiting rank polls repeatedly, and may act on what it finds; then it sleeps.
      for (int rank = 0; rank < size(); ++rank) world_.device(static_cast<std::uint32_t>(rank)).about_to_sleep();
      if (to_lose || ++empty_rounds < kEmptyRounds) continue;
      ended = false;
      stuck_ = true;
      for (Rank& rank : ranks_) {
        if (rank.turn == Turn::waits) resume(rank);
      }
    }
    for (Rank& rank : ranks_) {
      if (rank.thread.joinable()) rank.thread.join();
    }
    if (ended && absent < 0) {
      world_.settle();
      world_.check_accounting();
    }
    return ended;
  }

 private:
  static constexpr int kEmptyRounds = 100;
  enum class Turn : std::uint8_t { over, ready, running, waits };
  struct Rank {
    std::unique_ptr<TreePortal> portal;
    std::thread thread;
    Turn turn = Turn::over;
    const Until* until = nullptr;
    std::condition_variable resumed;
  };

  class TestHost final : public Host {
   public:
    TestHost(CollectiveWorld& world, int rank) : world_(world), rank_(rank) {}
    [[nodiscard]] sim::Kernel& kernel() override { return world_.world_.kernel(static_cast<std::uint32_t>(rank_)); }
    [[nodiscard]] std::vector<mpi_adi::Unexpected*>& extensible_heaps() override {
      return world_.world_.device(static_cast<std::uint32_t>(rank_)).extensible_heaps();
    }
    void wait(Until done, int /*messages*/) override {
      world_.wait(world_.ranks_[static_cast<std::size_t>(rank_)], done);
    }
    void release(mpi_adi::Communicator& communicator) override { --communicator.references; }
    [[nodiscard]] bool crowded() const override { return world_.options_.crowded; }
    [[nodiscard]] std::string requested_algorithms() const override { return world_.options_.asked; }
    [[nodiscard]] const sim::NodeMemory* node_memory() const override {
      return world_.node_memory_ ? &*world_.node_memory_ : nullptr;
    }
    [[nodiscard]] const sim::SharedTable& node_of_rank() const override { return world_.node_of_rank_; }

   private:
    CollectiveWorld& world_;
    int rank_;
  };

  [[nodiscard]] static mpi_adi::WorldOptions world_options(const Options& options) {
    mpi_adi::WorldOptions made;
    made.ranks = static_cast<std::uint32_t>(options.ranks);
    made.seed = options.seed;
    made.trace = options.trace;
    return made;
  }

  [[nodiscard]] static std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }

  void share_memory() {
    const auto ranks = static_cast<std::uint32_t>(size());
    REQUIRE(sim::Mapping::anonymous(sim::shm_segment_bytes(ranks, options_.long_slots), segment_).ok());
    REQUIRE(sim::ShmLayout::attach(segment_.bytes(), ranks, layout_).ok());
    test_words_.resize(ranks);
    for (std::uint32_t rank = 0; options_.reads && rank < ranks; ++rank) {
      sim::open_for_reading(layout_.area(rank), test_words_[rank], false);
      if (!options_.late) come(static_cast<int>(rank));
    }
    std::vector<std::uint32_t> world_ranks(ranks);
    std::iota(world_ranks.begin(), world_ranks.end(), 0U);
    node_memory_.emplace(layout_, std::move(world_ranks), false, options_.reads);
  }

  void begin(int rank, const std::function<void(int)>& program) {
    Rank& mine = ranks_[static_cast<std::size_t>(rank)];
    mine.turn = Turn::ready;
    mine.thread = std::thread([this, &mine, rank, program] {
      {
        std::unique_lock lock(mutex_);
        mine.resumed.wait(lock, [&mine] { return mine.turn == Turn::running; });
      }
      program(rank);
      give_back(mine, Turn::over);
    });
  }

  [[nodiscard]] std::size_t unfinished() const {
    std::size_t count = 0;
    for (const Rank& rank : ranks_) count += rank.turn == Turn::over ? 0U : 1U;
    return count;
  }

  // Runs one rank or the network. Returns false if none can proceed.
  bool step() {
    std::vector<Rank*> able;
    for (Rank& rank : ranks_) {
      if (rank.turn == Turn::ready || (rank.turn == Turn::waits && (*rank.until)())) able.push_back(&rank);
    }
    // Seldom, so that some ranks are far ahead of others.
    if (!able.empty() && random_() % 4 == 0) {
      resume(*able[random_() % able.size()]);
      return true;
    }
    return world_.step() || !able.empty();
  }

  void resume(Rank& rank) {
    std::unique_lock lock(mutex_);
    rank.turn = Turn::running;
    rank.resumed.notify_one();
    back_.wait(lock, [&rank] { return rank.turn != Turn::running; });
  }

  void give_back(Rank& rank, Turn turn) {
    const std::lock_guard lock(mutex_);
    rank.turn = turn;
    back_.notify_one();
  }

  void wait(Rank& rank, const Until& until) {
    if (stuck_) return;
    rank.until = &until;
    give_back(rank, Turn::waits);
    std::unique_lock lock(mutex_);
    rank.resumed.wait(lock, [&rank] { return rank.turn == Turn::running; });
  }

  using Nodes = sim::SharedTable::Numbers;

  Options options_;
  sim::SharedTable node_of_rank_;
  std::mt19937_64 random_;
  sim::Mapping segment_;
  sim::ShmLayout layout_;
  std::vector<std::uint64_t> test_words_;  // identify the ranks' memory
  std::optional<sim::NodeMemory> node_memory_;
  mpi_adi::VirtualWorld world_;
  std::mutex mutex_;
  std::condition_variable back_;
  bool stuck_ = false;
  std::vector<Rank> ranks_;
};

}  // namespace margay::collectives
