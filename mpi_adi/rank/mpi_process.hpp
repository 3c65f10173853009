// The state of MPI in one process of a job: before MPI begins, while it runs, and after its end. MPI's C functions have
// no argument for this state, so a thread-local pointer leads to it (mpi_adi/rank/current.hpp). A process of the
// operating system has one such object, and one for each of its threads that is a rank; a virtual machine has many in
// one process.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "mpi_adi/rank/current.hpp"
#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/shm/published.hpp"

namespace margay::sim {
class Process;
}  // namespace margay::sim

namespace margay::mpi_adi {

// The phase of the world model: before MPI_Init, between MPI_Init and MPI_Finalize, after MPI_Finalize.
enum class InitState : std::uint8_t { before, running, finalized };

// The index of each folder's part. Parts are destroyed in the opposite order of their indices.
enum class PartSlot : std::uint8_t { error_handlers, infos, tool, job, libraries, count };

// The part of a process's state that one folder keeps: a derived type with a kSlot.
// The part is destroyed with the MpiProcess, in the thread that destroys the MpiProcess. The parts of the operating
// system's process are never destroyed.
struct ProcessPart {
  ProcessPart() = default;
  ProcessPart(const ProcessPart&) = delete;
  ProcessPart& operator=(const ProcessPart&) = delete;
  virtual ~ProcessPart() = default;
};

// The interface through which a process of a virtual machine joins its machine.
struct ProcessStart {
  virtual ~ProcessStart() = default;
  // Called once, when MPI first begins. Fails when the process cannot join.
  [[nodiscard]] virtual portals::Status start(std::unique_ptr<sim::Process>& out) = 0;
};

// MPI in one process of the job. The object of the operating system's process is constant-initialized and never
// destroyed, because threads and signal handlers may use it until the process has ended.
class MpiProcess {
 public:
  constexpr MpiProcess() = default;
  MpiProcess(const MpiProcess&) = delete;
  MpiProcess& operator=(const MpiProcess&) = delete;

  // The phase, set twice, by the thread that initializes and finalizes MPI. Any thread may read it without a lock, as
  // MPI_Initialized and MPI_Finalized do.
  [[nodiscard]] InitState init_state() const { return init_state_.get(); }
  void set_init_state(InitState state) { init_state_.set(state); }

  // The rank; nullptr while neither the world model nor a session uses MPI. Any thread may call; the rank has a lock of
  // its own.
  [[nodiscard]] MpiRank* rank() const { return rank_.get(); }
  // Called by the thread that makes or ends the rank. `rank` must outlive all calls that may find it.
  void set_rank(MpiRank* rank) { rank_.set(rank); }

  // Joins the job, or starts as the virtual machine defines. Fails as sim::Process::start(), and `out` is then empty.
  [[nodiscard]] portals::Status start(std::unique_ptr<sim::Process>& out);
  // The process's clock; nullptr: CLOCK_MONOTONIC.
  [[nodiscard]] const sim::Clock* clock() const { return clock_; }
  // Reads the real clock without a virtual call, as MPI_Wtime does.
  [[nodiscard]] std::uint64_t now_ns() const { return clock_ == nullptr ? sim::monotonic_ns() : clock_->now_ns(); }

  // The number of this rank's thread among the ranks of the operating system's process; 0 also without such threads.
  [[nodiscard]] std::uint32_t thread_rank() const { return thread_rank_; }

  // A part, made at the first call. Any thread may call. Costs one load if the part exists.
  template <std::derived_from<ProcessPart> Part>
  [[nodiscard]] Part& part() {
    // Published with release and acquire, so a part that is found is whole.
    ProcessPart* const made = slot<Part>().get();
    return static_cast<Part&>(made != nullptr ? *made : make_part(slot<Part>(), &new_part<Part>));
  }
  // A part if it exists, otherwise nullptr. Signal handlers may call it, because it takes no lock.
  template <std::derived_from<ProcessPart> Part>
  [[nodiscard]] Part* find_part() {
    return static_cast<Part*>(slot<Part>().get());
  }

 protected:
  // `clock`: nullptr: the real clock.
  MpiProcess(ProcessStart& start, const sim::Clock* clock, std::uint32_t thread_rank = 0)
      : start_(&start), clock_(clock), thread_rank_(thread_rank) {}
  // Destroys the parts, the last slot first.
  void destroy_parts();

 private:
  using Slot = sim::Published<ProcessPart*>;
  // A function that constructs a part.
  using NewPart = ProcessPart* (*)();
  // The slot of a part: set once, by make_part(), and emptied by destroy_parts().
  template <typename Part>
  [[nodiscard]] Slot& slot() {
    return parts_[static_cast<std::size_t>(Part::kSlot)];
  }
  // The part's constructor as a function pointer, so that make_part() need not be a template.
  template <typename Part>
  static ProcessPart* new_part() {
    return new Part();  // NOLINT(cppcoreguidelines-owning-memory): destroy_parts() has it
  }
  // Makes the part, or returns the one that another thread has made meanwhile.
  [[nodiscard]] ProcessPart& make_part(Slot& slot, NewPart make);

  // nullptr: the operating system's process, which joins a job by itself.
  ProcessStart* const start_ = nullptr;
  // nullptr: the real clock. Constant, so now_ns() may be called by any thread.
  const sim::Clock* const clock_ = nullptr;
  const std::uint32_t thread_rank_ = 0;
  sim::Published<InitState> init_state_{InitState::before};
  // Owned by the part `job` (mpi/process/machine).
  sim::Published<MpiRank*> rank_;
  // Locked while a part is made, so that two threads that need it at once get the same part.
  std::mutex making_;
  // Published, so that a reader without the lock sees a whole part.
  std::array<Slot, static_cast<std::size_t>(PartSlot::count)> parts_;
};

// A process of a virtual machine, to which threads are assigned by set_thread_process(). Its destructor ends MPI in it,
// finalized or not. Requires at its destruction: no thread is assigned to it any more.
class VirtualMpiProcess final : public MpiProcess {
 public:
  // Both must outlive it.
  VirtualMpiProcess(ProcessStart& start, const sim::Clock& clock) : MpiProcess(start, &clock) {}
  ~VirtualMpiProcess() { destroy_parts(); }
};

// A rank that is a thread of the operating system's process (`margay run --threads`). As VirtualMpiProcess, but it
// joins the job by itself.
class ThreadMpiProcess final : public MpiProcess {
 public:
  // `thread_rank`: the thread's number among the ranks of this process.
  explicit ThreadMpiProcess(std::uint32_t thread_rank)
      : MpiProcess(start_, nullptr, thread_rank), start_(thread_rank) {}
  ~ThreadMpiProcess() { destroy_parts(); }

 private:
  struct Start final : ProcessStart {
    explicit Start(std::uint32_t number) : thread_rank(number) {}
    [[nodiscard]] portals::Status start(std::unique_ptr<sim::Process>& out) override;
    std::uint32_t thread_rank;
  };
  Start start_;
};

}  // namespace margay::mpi_adi
