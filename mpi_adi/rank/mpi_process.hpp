// What MPI has for one process of a job: before MPI begins, while it runs, and after its end. MPI's C functions have no
// argument to carry it, so a pointer of the calling thread leads to it (mpi_adi/rank/current.hpp). An operating
// system's process is one of them; a virtual machine has many in one.
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

// Where it stands between MPI_Init and MPI_Finalize.
enum class InitState : std::uint8_t { before, running, finalized };

// Where each part hangs; they go in the opposite order.
enum class PartSlot : std::uint8_t { error_handlers, infos, tool, job, count };

// What one folder keeps with the process: a type of its own, with a kSlot.
struct ProcessPart {
  ProcessPart() = default;
  ProcessPart(const ProcessPart&) = delete;
  ProcessPart& operator=(const ProcessPart&) = delete;
  virtual ~ProcessPart() = default;
};

// How a process that is not the operating system's gets into its machine.
struct ProcessStart {
  virtual ~ProcessStart() = default;
  // Called once, when MPI is first begun.
  [[nodiscard]] virtual portals::Status start(std::unique_ptr<sim::Process>& out) = 0;
};

// The operating system's process. Never destroyed: threads and handlers of signals may use it as late as they like.
class MpiProcess {
 public:
  constexpr MpiProcess() = default;
  MpiProcess(const MpiProcess&) = delete;
  MpiProcess& operator=(const MpiProcess&) = delete;

  // Set twice in its life, by the thread that initializes MPI, and asked by any.
  [[nodiscard]] InitState init_state() const { return init_state_.get(); }
  void set_init_state(InitState state) { init_state_.set(state); }

  // nullptr while neither MPI_Init nor a session holds MPI.
  [[nodiscard]] MpiRank* rank() const { return rank_.get(); }
  void set_rank(MpiRank* rank) { rank_.set(rank); }

  // Joins the job, or begins as the virtual machine says.
  [[nodiscard]] portals::Status start(std::unique_ptr<sim::Process>& out);
  // What it has for a clock. nullptr: CLOCK_MONOTONIC.
  [[nodiscard]] const sim::Clock* clock() const { return clock_; }
  [[nodiscard]] std::uint64_t now_ns() const { return clock_ == nullptr ? sim::monotonic_ns() : clock_->now_ns(); }

  // Any thread; the first that asks makes it.
  template <std::derived_from<ProcessPart> Part>
  [[nodiscard]] Part& part() {
    ProcessPart* const made = slot<Part>().get();
    return static_cast<Part&>(made != nullptr ? *made : make_part(slot<Part>(), &new_part<Part>));
  }
  // nullptr: nobody has asked for it. In the handler of a signal, too.
  template <std::derived_from<ProcessPart> Part>
  [[nodiscard]] Part* part_if_made() {
    return static_cast<Part*>(slot<Part>().get());
  }

 protected:
  MpiProcess(ProcessStart& start, const sim::Clock& clock) : start_(&start), clock_(&clock) {}
  void destroy_parts();

 private:
  using Slot = sim::Published<ProcessPart*>;
  using NewPart = ProcessPart* (*)();
  template <typename Part>
  [[nodiscard]] Slot& slot() {
    return parts_[static_cast<std::size_t>(Part::kSlot)];
  }
  template <typename Part>
  static ProcessPart* new_part() {
    return new Part();  // NOLINT(cppcoreguidelines-owning-memory): destroy_parts() has it
  }
  [[nodiscard]] ProcessPart& make_part(Slot& slot, NewPart make);

  ProcessStart* const start_ = nullptr;
  const sim::Clock* const clock_ = nullptr;
  sim::Published<InitState> init_state_{InitState::before};
  sim::Published<MpiRank*> rank_;
  std::mutex making_;
  std::array<Slot, static_cast<std::size_t>(PartSlot::count)> parts_;
};

// One of a virtual machine's, on which threads are set by set_thread_process(). MPI that was begun in it goes with it,
// ended or not. Requires: no thread is in it any more.
class VirtualMpiProcess final : public MpiProcess {
 public:
  // Both outlive it.
  VirtualMpiProcess(ProcessStart& start, const sim::Clock& clock) : MpiProcess(start, clock) {}
  ~VirtualMpiProcess() { destroy_parts(); }
};

}  // namespace margay::mpi_adi
