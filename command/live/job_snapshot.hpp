// A snapshot of a job: each rank's activity, its queues, and its rates since the previous snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/live/running_jobs.hpp"

namespace margay::command {

// A rank's activity, from the board and the state of its process.
enum class Activity : std::uint8_t {
  // No process has begun MPI in the rank's place.
  not_begun,
  // Outside MPI, on a processor or ready to run.
  computing,
  // Outside MPI, asleep: in input or output, or voluntarily.
  sleeping,
  // In an MPI call, on a processor: working, or polling while it waits.
  in_call,
  // In an MPI call that waits and has given its processor away.
  asleep,
  // In a call that has made no progress for a second or longer.
  waiting,
  // Stopped by a signal.
  stopped,
  // After MPI_Finalize.
  finalized,
  aborting,
  ended,
  // Its process cannot be read.
  unknown,
};
[[nodiscard]] std::string_view name(Activity doing);

// One rank.
struct RankSnapshot {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;
  // 0: no process has begun.
  int pid = 0;
  Activity doing = Activity::not_begun;
  // The MPI call in progress; empty: none.
  std::string call;
  // The reported wait as a phrase; empty: none is reported.
  std::string waits_for;
  // Seconds in this call, or outside of calls. Exact for a reported wait. With `is_monitored` a lower bound: the
  // snapshots since then all showed the same call and number of calls. Empty: the previous snapshot showed another call
  // or does not exist, or the rank has ended.
  std::optional<double> since_s;
  bool is_monitored = false;
  // Messages to the rank that lack room and are held on their wires; empty: none, or no wait is reported.
  std::string held;
  // The communication libraries that have joined the rank, with their counters.
  struct Library {
    std::string name;
    std::vector<std::pair<std::string, std::uint64_t>> counters;
  };
  std::vector<Library> libraries;
  // The polling of its wires; empty if it polls one wire only, in each round.
  struct Polling {
    std::string wire;
    sim::PollCounts counts;
  };
  std::vector<Polling> polling;
  // In the queues at this moment.
  std::uint64_t posted_receives = 0;
  portals::ArrivalCounts unexpected;
  // By wire: messages and bytes that the rank has sent since it began MPI.
  std::array<sim::BoardCount, sim::kWireCount> sent{};
  // Rates since the previous snapshot; empty in the first one.
  struct Rates {
    // 1: one processor all the time.
    double processor = 0;
    // MPI calls, sent messages and sent bytes, each per second.
    double calls = 0;
    double messages = 0;
    double bytes = 0;
  };
  std::optional<Rates> rates;
};

// One job.
struct JobSnapshot {
  std::string name;
  std::string command;
  int launcher = 0;
  // The launcher has ended, or its board cannot be read any more.
  bool ended = false;
  std::uint32_t nodes = 0;
  // Seconds since the job began; empty: the board does not have the time of its beginning.
  std::optional<double> runs_s;
  sim::BoardStall stall = sim::BoardStall::none;
  // The ranks that wait for one another, if the launcher has reported a stall with a cycle; may be empty.
  std::string cycle;
  std::vector<RankSnapshot> ranks;
};

// Derives a rank's activity from the board and /proc. Pure.
[[nodiscard]] Activity activity_of(const sim::BoardBlock& block, const ProcessSnapshot& process);

// Keeps the previous snapshot of one job, from which rates and times derive.
class JobMonitor {
 public:
  // Takes a snapshot. Requires: `job` is the same one at each call. Cost: reads every rank's block and /proc entry.
  [[nodiscard]] JobSnapshot look(RunningJob& job, std::uint64_t now_ns);

 private:
  // One rank's counters in the previous snapshot. Since same_since_ns the call in progress and the number of calls have
  // not changed.
  struct Before {
    // 0: no snapshot yet.
    std::uint64_t at_ns = 0;
    std::uint64_t calls = 0;
    std::uint64_t processor_ticks = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    int pid = 0;
    std::uint64_t same_since_ns = 0;
    std::string call;
  };
  [[nodiscard]] RankSnapshot look_at_rank(const BoardReader& board, std::uint32_t rank, std::uint64_t now_ns);

  std::vector<Before> before_;
};

}  // namespace margay::command
