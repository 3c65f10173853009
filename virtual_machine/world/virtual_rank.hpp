// A rank of a simulated run: its fiber, its clock, its MPI, and the state of its program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "mpi_adi/rank/mpi_process.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "sim/base/clock.hpp"
#include "sim/boot/job.hpp"
#include "sim/kernel/waiter.hpp"
#include "sim/machine/process.hpp"
#include "virtual_machine/program/rank_state.hpp"
#include "virtual_machine/world/fiber.hpp"
#include "virtual_machine/world/way_networks.hpp"

namespace margay::virtual_machine {

// The time after which a wait makes a round although no frame has arrived; it doubles with each such round.
inline constexpr std::uint64_t kRetryMinNs = 100'000;
inline constexpr std::uint64_t kRetryMaxNs = std::uint64_t{1} << 50;

class VirtualRank;

// The interface through which a rank reaches its world. All calls are made on the rank's fiber, unless noted.
class RankWorld {
 public:
  RankWorld() = default;
  RankWorld(const RankWorld&) = delete;
  RankWorld& operator=(const RankWorld&) = delete;
  virtual ~RankWorld() = default;

  // The rank's time; any fiber may call.
  [[nodiscard]] virtual std::uint64_t read_clock(VirtualRank& rank) = 0;
  // See VirtualRank's functions of the same names; for pause(), its yield().
  virtual void wait(VirtualRank& rank) = 0;
  virtual void pause(VirtualRank& rank, std::uint64_t ns) = 0;
  virtual void begin_call(VirtualRank& rank) = 0;
  virtual void end_call(VirtualRank& rank) = 0;
  virtual void begin_test(VirtualRank& rank) = 0;
};

// The clock of one rank. Reading it takes virtual time, so a loop that polls it ends.
class RankClock final : public sim::Clock {
 public:
  RankClock(RankWorld& world, VirtualRank& rank) : Clock(sim::ClockKind::virtual_ns), world_(world), rank_(rank) {}
  [[nodiscard]] std::uint64_t now_ns() const override { return world_.read_clock(rank_); }
  [[nodiscard]] std::uint64_t ticks() const override { return now_ns(); }

 private:
  RankWorld& world_;
  VirtualRank& rank_;
};

// The rank. Used by the one thread of the world. The world reads and changes the times; code on the rank's fiber calls
// the functions of the interfaces.
class VirtualRank final : public sim::YieldPolicy, public sim::CallObserver, public mpi_adi::ProcessStart {
 public:
  // `networks` have a wire for it. Both outlive the rank. `routes`: Routes::pattern_of() the world's ranks.
  VirtualRank(RankWorld& world, WayNetworks& networks, sim::Job job,
              std::shared_ptr<const sim::Routes::Numbers> routes);

  // A poll of the program without a result, or a pause: advances the rank's time by `ns` at least.
  void yield(std::uint64_t ns) override { world_.pause(*this, ns); }
  // A round of a wait without a result: other ranks run until the next event for this rank.
  void wait(std::uint64_t /*ns*/) override { world_.wait(*this); }
  // The program enters and leaves the library: in between, no computation is counted.
  void begin_call() override { world_.begin_call(*this); }
  void end_call() override { world_.end_call(*this); }
  void begin_test() override { world_.begin_test(*this); }
  // Joins the job: opens the trace, and gives MPI the process. Once.
  [[nodiscard]] portals::Status start(std::unique_ptr<sim::Process>& out) override;

  // The rank that has joined the job here; nullptr: none.
  [[nodiscard]] mpi_adi::MpiRank* joined();

 private:
  friend class World;

  [[nodiscard]] std::unique_ptr<sim::Process> start_process(WayNetworks& networks, sim::Job job,
                                                            std::shared_ptr<const sim::Routes::Numbers> routes);

  RankWorld& world_;
  const std::uint32_t rank_;
  RankClock clock_;
  // The process, until MPI takes it, and its kernel.
  std::unique_ptr<sim::Process> process_;
  sim::Kernel& kernel_;
  mpi_adi::VirtualMpiProcess mpi_process_;
  RankState state_;
  std::unique_ptr<Fiber> fiber_;
  // While the fiber is suspended: the library's thread-local pointer to its rank; nullptr: outside of MPI_Init to
  // MPI_Finalize.
  mpi_adi::MpiRank* thread_rank_ = nullptr;

  // The calls of MPI in which the rank is: more than one inside a function of the program that MPI calls.
  std::uint32_t calls_ = 0;
  // The rank's virtual time.
  std::uint64_t local_ns_ = 0;
  // The coprocessor's time while it handles a message that arrived before local_ns_; otherwise 0.
  std::uint64_t handling_ns_ = 0;
  // The end of the coprocessor's last work.
  std::uint64_t handled_ns_ = 0;
  // The time of the coprocessor's next work; kNever: none is known.
  std::uint64_t work_ns_ = ~std::uint64_t{0};
  // By way: the arrival times of frames that no poll has reached yet.
  using Arrivals = std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>>;
  std::vector<Arrivals> arrivals_ns_;
  // Polls since the last frame.
  std::uint32_t empty_polls_ = 0;
  // The time until the next round of a wait without a frame.
  std::uint64_t retry_ns_ = kRetryMinNs;
  // Such rounds at the usual interval.
  std::uint32_t retries_ = 0;
  // While a rank waits by polls that take time: the time of its next poll of a wire that it does not poll in each
  // round; kNever: there is none.
  std::uint64_t poll_due_ns_ = ~std::uint64_t{0};
  // The next poll must find every message that has arrived.
  bool tests_ = false;
  // The rank waits for an arrival.
  bool waits_ = false;
  // Besides: it polls, and continues without an arrival once nothing else can happen. Only in an exploration that holds
  // wildcards.
  bool polls_ = false;
  // The rank is suspended until local_ns_, and its coprocessor may handle messages.
  bool computes_ = false;
  // The program has exited, with this status, or a death of the run's faults has ended it.
  bool ended_ = false;
  bool killed_ = false;
  int status_ = 0;
};

}  // namespace margay::virtual_machine
