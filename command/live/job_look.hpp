// One look at a job: what each rank does, what lies with it, and how much it sends since the look before.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/live/running_jobs.hpp"

namespace margay::command {

enum class Doing : std::uint8_t {
  kNotBegun,   // no process has begun MPI in its place
  kComputing,  // outside of MPI, on a processor or waiting for one
  kSleeping,   // outside of MPI, asleep: in input and output, or by its own will
  kInCall,     // in a call of MPI, on a processor: at work there, or spinning while it waits
  kAsleep,     // in a call of MPI that waits, its processor given up
  kWaiting,    // in a call in which nothing has moved for a second and more
  kStopped,    // by a signal
  kFinalized,  // behind MPI_Finalize
  kAborting,
  kEnded,
  kUnknown,  // its process cannot be read
};
[[nodiscard]] std::string_view name(Doing doing);

struct RankLook {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;
  int pid = 0;  // 0: none has begun
  Doing doing = Doing::kNotBegun;
  std::string call;       // that it is in; empty: none
  std::string waits_for;  // of one that is waiting, in words
  // For how long it has been in this call, or outside of any. At least so long where `watched`, which is since a look
  // of ours found it there. No value: the looks before found something else.
  std::optional<double> since_s;
  bool watched = false;
  std::uint64_t posted_receives = 0;
  portals::ArrivalCounts unexpected;
  std::array<sim::BoardCount, static_cast<std::size_t>(sim::CountedWire::kCount)> sent{};
  // Since the look before; no values in the first.
  struct Rates {
    double processor = 0;  // 1: one processor, all the time
    double calls = 0;      // a second
    double messages = 0;   // sent, a second
    double bytes = 0;
  };
  std::optional<Rates> rates;
};

struct JobLook {
  std::string name;
  std::string command;
  int launcher = 0;
  bool ended = false;
  std::uint32_t nodes = 0;
  std::optional<double> runs_s;
  sim::BoardStall stall = sim::BoardStall::kNone;
  std::string cycle;  // of a stall; may be empty
  std::vector<RankLook> ranks;
};

// What a rank does, out of what the board and /proc say of it. Pure.
[[nodiscard]] Doing doing_of(const sim::BoardBlock& block, const ProcessLook& process);

class JobWatcher {
 public:
  // Looks at the job now. `job` is the same one each time.
  [[nodiscard]] JobLook look(RunningJob& job, std::uint64_t now_ns);

 private:
  struct Before {
    std::uint64_t at_ns = 0;  // 0: no look yet
    std::uint64_t calls = 0;
    std::uint64_t processor_ticks = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    int pid = 0;
    std::uint64_t same_since_ns = 0;
    std::string call;
  };
  [[nodiscard]] RankLook look_at_rank(const BoardReader& board, std::uint32_t rank, std::uint64_t now_ns);

  std::vector<Before> before_;
};

}  // namespace margay::command
