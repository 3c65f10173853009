// One process of the simulated machine, put together: its job, wires, kernel, trace, process lock and coprocessor. What
// a program of the portals layer, and an MPI library, runs in. start_virtual() makes one for tests: the same kernel
// over a virtual wire, without a launcher, shared memory and a coprocessor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/findings.hpp"
#include "sim/boot/job.hpp"
#include "sim/kernel/coprocessor.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/kernel/waiter.hpp"
#include "sim/machine/mapping.hpp"
#include "sim/machine/node_heap.hpp"
#include "sim/machine/node_memory.hpp"
#include "sim/machine/peer_watch.hpp"
#include "sim/machine/rank_memory.hpp"
#include "sim/shm/biased_lock.hpp"
#include "sim/shm/published.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

class ShmWire;
class TcpWire;

// A process of a machine whose wire and time are not real: who it is, what carries to all others, how it waits, what
// time it has.
struct VirtualPlace {
  Job job;
  // Makes the wire; what is finished goes to the list. The wire outlives the process.
  std::function<Wire&(TransmissionList& finished)> attach;
  Rest* rest = nullptr;
  const Clock* clock = &real_clock();  // what time it is there; it outlives the process
};

class Process {
 public:
  // Joins the job (sim/boot), maps the node's segment, opens the wires. Nothing is sent but, over several nodes, the
  // cards through PMI. Error: a sentence; the job cannot run.
  [[nodiscard]] static portals::Status start(std::unique_ptr<Process>& out);
  // On a virtual machine: no board but its own, no shared memory, no coprocessor; it always gives its turn up while it
  // waits.
  [[nodiscard]] static std::unique_ptr<Process> start_virtual(const VirtualPlace& place);
  // Stops the coprocessor and unmaps; messages still under way are lost. finish() first for an orderly end.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Begins application bypass: `round` is what one round of the program's progress does. Nothing on a virtual machine.
  [[nodiscard]] portals::Status start_coprocessor(Coprocessor::Round round);
  void arm_coprocessor() { coprocessor_.arm(); }

  // The process lock, held by the owner during every call into the kernel or above it.
  [[nodiscard]] BiasedLock& lock() { return lock_; }

  [[nodiscard]] Kernel& kernel() { return *kernel_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Recorder& recorder() { return recorder_; }
  // What reports call places in the program.
  [[nodiscard]] SourceLines& source_lines() { return source_lines_; }
  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] std::uint32_t rank() const { return job_.rank; }
  [[nodiscard]] std::uint32_t size() const { return job_.size; }
  // What the ranks of this node share beside their channels; nullptr: nothing.
  [[nodiscard]] const NodeMemory* node_memory() const { return node_memory_ ? &*node_memory_ : nullptr; }
  // The memory that they allocate for each other; nullptr: they cannot.
  [[nodiscard]] NodeHeap* node_heap() { return node_heap_ ? &*node_heap_ : nullptr; }
  // This rank's for windows and MPI_Alloc_mem: of that, or private.
  [[nodiscard]] RankMemory& memory() { return memory_ ? *memory_ : memory_.emplace(node_heap()); }
  [[nodiscard]] const WaitMeans& wait_means() const { return wait_means_; }
  // Several threads wait at once from now on: none of them sleeps on the one bell, and `rest` lets go of the process
  // lock while one of them yields. It outlives the process.
  void share_waiting(Rest& rest) {
    wait_means_.may_sleep = false;
    wait_means_.rest = &rest;
  }
  // For `ns` nanoseconds, or (0) for others that wait for it: the processor, or the turn in a virtual machine. It holds
  // no lock.
  void give_way(std::uint64_t ns) { virtual_rest_ != nullptr ? virtual_rest_->rest(ns) : give_processor_up(ns); }

  // Calls that look and may find nothing, as many in a row as there are.
  [[nodiscard]] LookStreak& looks() { return looks_; }

  // A wait that sleeps looks again. Any thread.
  void wake();

  // From the next wait on; the owner's call, outside of any wait. Requires: not automatic where may_wait_by_company()
  // says no.
  void wait_by(WaitPolicy policy) {
    wait_means_.policy = policy;
    wait_means_.reason = "set by the program";
  }
  [[nodiscard]] bool may_wait_by_company() const { return wait_means_.company != nullptr; }

  // This rank's place on the launcher's board; a private one when there is no launcher of ours.
  [[nodiscard]] BoardBlock& board() { return *board_block_; }
  // The launcher's latest question whether anything moves (BoardWait::answered); 0: there is none.
  [[nodiscard]] std::uint32_t question() const {
    return board_map_.attached() ? published_number(board_map_.header().question) : 0;
  }
  // What the checks (leaks, types, ...) found wrong with the program. With --strict (MARGAY_STRICT=1) a job with findings
  // ends with kStatusFindings, if it would have ended with 0. Under the lock.
  [[nodiscard]] Findings& findings() { return findings_; }
  // Writes the sums of the accounting law and the wires' counts to the board.
  void publish_accounts();

  // The orderly end, after the last message: wires are drained (`round` as above), the launcher is told. Requires: lock
  // held by the owner; the coprocessor is stopped.
  void finish(const std::function<bool()>& round);
  // The process sends again after all: a process joins a job once, so what finish() left is taken up. No effect before.
  void resume();
  // Whether a thread that ends has to say so, by thread_ends(), and it does. Requires: inside.
  [[nodiscard]] bool minds_threads() const { return tcp_ != nullptr; }
  void thread_ends();
  void stop_coprocessor() { coprocessor_.stop(); }
  // The process exits after finish(): what it sent is not lost with its sockets. Sends and receives no more.
  void shut();
  // finish() told a launcher that is not ours, which hears nothing more and takes any exit for a regular one (Hydra).
  [[nodiscard]] bool signed_off() const;

  // Ends the whole job. Never returns.
  [[noreturn]] void abort(int code, std::string_view message);

 private:
  explicit Process(const Clock& clock);
  [[nodiscard]] portals::Status open_board();
  [[nodiscard]] portals::Status open_wires();
  [[nodiscard]] portals::Status open_shm(std::vector<Wire*>& routes);
  [[nodiscard]] portals::Status open_tcp(std::vector<Wire*>& routes);
  [[nodiscard]] portals::Status open_trace();
  void choose_waiting();
  void look_for_company();
  void make_kernel(std::vector<Wire*> routes);

  Job job_;
  const Clock& clock_;
  Recorder recorder_;
  SourceLines source_lines_;
  Board board_map_;
  BoardBlock own_board_;
  BoardBlock* board_block_ = &own_board_;
  Findings findings_{job_, own_board_.findings, recorder_};
  BiasedLock lock_;
  Mapping segment_;
  std::optional<NodeMemory> node_memory_;
  std::optional<NodeHeap> node_heap_;
  std::optional<RankMemory> memory_;  // from its first use on
  TransmissionList finished_;
  std::vector<std::unique_ptr<Wire>> wires_;
  ShmWire* shm_ = nullptr;  // one of them; nullptr: alone on the node
  PeerWatch peer_watch_;    // of the node's ranks, where no launcher does it
  TcpWire* tcp_ = nullptr;  // nullptr: one node
  std::unique_ptr<Kernel> kernel_;
  RankProcessors rank_processors_;
  std::unique_ptr<Company> company_;
  WaitMeans wait_means_;
  LookStreak looks_;
  BellData* bell_data_ = nullptr;
  std::unique_ptr<BellOwner> bell_;
  int wake_descriptor_ = -1;
  Rest* virtual_rest_ = nullptr;  // nullptr: not on a virtual machine
  Coprocessor coprocessor_;
};

}  // namespace margay::sim
