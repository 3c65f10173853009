// The state of one rank while MPI runs. A thread-local pointer leads to it (mpi_adi/rank/current), so many ranks may
// live in one process.
#pragma once

#include <cstdint>
#include <memory>

#include "mpi_adi/object/error_class.hpp"
#include "mpi_adi/progress/device.hpp"
#include "mpi_adi/rank/current.hpp"
#include "mpi_adi/rank/handles.hpp"
#include "mpi_adi/rank/rank_lock.hpp"
#include "mpi_adi/rank/wait_room.hpp"
#include "mpi_adi/rank/worlds.hpp"
#include "portals/base/status.hpp"
#include "sim/boot/board.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::mpi_adi {

// Only declared here, because few calls use them.
class BufferedSends;   // mpi_adi/protocol/buffered
class CallTrace;       // mpi_adi/rank/call_trace
struct ObjectTables;   // mpi_adi/rank/object_tables
class Ports;           // mpi_adi/rank/ports
struct RankExtension;  // mpi_adi/rank/extension
struct ReceivingSide;  // mpi_adi/rank/unreceived
class Rma;             // mpi_adi/rma/rma

// One rank: its process of the machine, its lock, its device, and its objects. Made for the first user of MPI, which is
// the world model or a session (mpi/process/machine), and kept while it is dormant. All functions but enter(), leave()
// and the accessors require the process lock.
class MpiRank {
 public:
  // Starts MPI in a process that has joined its job; the program has no communicator yet. `make_extension` is called
  // before the first message can arrive, with a rank that is complete except for the extension. Fails on an invalid
  // option of the run.
  using MakeExtension = std::unique_ptr<RankExtension> (*)(MpiRank&);
  [[nodiscard]] static portals::Status start_on(std::unique_ptr<sim::Process> process, MakeExtension make_extension,
                                                std::unique_ptr<MpiRank>& out);
  ~MpiRank();

  // begin_world() and end_world() begin and end the world model, at MPI_Init and MPI_Finalize. In between the program
  // has MPI_COMM_WORLD and MPI_COMM_SELF. The thread that calls begin_world() is the main thread.
  void begin_world(int thread_level);
  void end_world();
  // Makes the rank dormant: neither the world model nor a session uses MPI in this process any more. Wires are drained,
  // accounts and trace are written, and the launcher is notified. Requires: inside. The caller stops the coprocessor
  // outside, by stop_coprocessor().
  void become_dormant();
  // The same for a rank that forwards messages of others (sim::Process::forwards_for_others). The coprocessor continues
  // to forward them, and the rank becomes dormant at the process's exit. `waits`: until each of these ranks has ended
  // its communication once.
  void forward_only(bool waits);
  // Starts the rank, or resumes a dormant one. Requires: the caller is outside the rank, and no other thread calls MPI.
  void resume();

  MpiRank(const MpiRank&) = delete;
  MpiRank& operator=(const MpiRank&) = delete;

  // enter() and leave() enclose each MPI call. enter() waits while another thread is inside. leave() deletes
  // communicators whose last reference has ended, and gives unfinished work to the coprocessor.
  void enter() { lock_.enter(); }
  void leave() {
    if (device_.has_unreferenced()) [[unlikely]]
      destroy_unreferenced();
    // Without this, an unfinished transmission or an awake task would not continue before the next call, while a peer
    // may wait for it.
    if (unfinished_.any() || device_.tasks().any_awake_for_coprocessor()) [[unlikely]]
      arm_coprocessor();
    lock_.leave();
  }
  // Gives the lock to the threads that wait for it, between two rounds of a wait.
  void let_waiting_threads_in() {
    // In the common case no thread waits, and this costs two loads.
    if (!lock_.wanted()) return;
    leave();
    lock_.let_in();
    enter();
  }
  // Yields the processor, outside the lock, to other runnable threads.
  void yield();

  // The parts. References stay valid as long as the rank.
  [[nodiscard]] RankLock& lock() { return lock_; }
  [[nodiscard]] bool threaded() const { return lock_.threaded(); }
  [[nodiscard]] Worlds& worlds() { return worlds_; }
  [[nodiscard]] Handles& handles() { return handles_; }
  [[nodiscard]] sim::Process& process() { return *process_; }
  // Both belong to the process. References are kept here, because each call needs them.
  [[nodiscard]] sim::BoardBlock& board() { return board_; }
  [[nodiscard]] sim::Recorder& recorder() { return recorder_; }
  // Point-to-point messages. Requires: inside.
  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] BufferedSends& buffered() { return *buffered_; }
  // The waits of threads for which another thread polls. Used only if several threads call MPI.
  [[nodiscard]] WaitRoom& wait_room() { return wait_room_; }
  [[nodiscard]] CallTrace& call_trace() { return *call_trace_; }
  // It has a lock of its own.
  [[nodiscard]] ErrorTable& errors() { return errors_; }
  [[nodiscard]] ObjectTables& tables() { return *tables_; }
  // One-sided communication; made at its first use.
  [[nodiscard]] Rma& rma() {
    // Most programs use no windows, and need no portals for them.
    if (rma_ == nullptr) [[unlikely]]
      make_rma();
    return *rma_;
  }
  // The same, or nullptr if it was never used.
  [[nodiscard]] const Rma* rma_if_any() const { return rma_.get(); }
  // Made at its first use, because few programs use ports.
  [[nodiscard]] Ports& ports();
  // The extension of the layer above, which casts it to its own type.
  [[nodiscard]] RankExtension* collectives() { return collectives_.get(); }

  // The communicator of a handle, worlds included; nullptr if the handle names no living communicator.
  [[nodiscard]] Communicator* communicator(MPI_Comm handle) {
    // The worlds are searched first, because their handles are not in the table.
    Communicator* const first = worlds_.find(handle);
    return first != nullptr ? first : handles_.communicator(handle);
  }
  // Frees the program's handle; the object is deleted with its last reference. Runs progress first.
  void free_communicator(Communicator& communicator);
  // Drops a reference to a communicator. Unlike free_communicator(), it runs no progress.
  void release(Communicator& communicator);

  // The parts that reports of unreceived messages need (mpi_adi/rank/unreceived).
  [[nodiscard]] ReceivingSide receiving_side();
  // Reports the ready sends that were dropped since the last report, at the end and while no rank makes progress.
  void report_dropped_sends();
  // A new number, for an MPI_Psend_init.
  [[nodiscard]] std::uint64_t next_partition_channel() { return partition_channels_++; }
  // The return address of the latest call; set while a check records calls.
  [[nodiscard]] const void* caller() const { return caller_; }
  void set_caller(const void* caller) { caller_ = caller; }
  // Writes the counts of sends by protocol, of accesses to windows, and of the heap's bytes to the job board.
  void publish_accounts();

 private:
  // Writes these counts, and those of collective operations, after the rank's last message.
  void publish_last_accounts();
  MpiRank(std::unique_ptr<sim::Process> process, const DeviceOptions& options, const ErrorHandlerPtr& initial_handler);
  // Deletes a communicator and frees its contexts. Requires: its handle is freed, and nothing refers to it.
  void destroy(Communicator& communicator);
  // Deletes the communicators whose last reference a request had.
  [[gnu::noinline]] void destroy_unreferenced();
  // Makes the coprocessor continue unfinished work while the program computes.
  [[gnu::noinline]] void arm_coprocessor();
  // Out of line, because Rma is an incomplete type here.
  void make_rma();

  // The yield policy of a wait with several threads, and the observer of threads that end (rank.cpp).
  class OutsidePolicy;
  class EndOfThread;

  // In the order of construction; members below use those above, so destruction in the opposite order is safe.
  std::unique_ptr<sim::Process> process_;
  sim::BoardBlock& board_;
  sim::Recorder& recorder_;
  // The kernel's counts of unfinished work, tested by each call that leaves.
  const sim::Unfinished& unfinished_;
  // Made before the lock, which refers to both.
  std::unique_ptr<sim::YieldPolicy> outside_policy_;
  std::unique_ptr<sim::ThreadEnds> end_of_thread_;
  RankLock lock_;
  Device device_;
  std::unique_ptr<ObjectTables> tables_;
  Worlds worlds_;
  Handles handles_;
  std::unique_ptr<BufferedSends> buffered_;
  // Idle unless several threads call MPI.
  WaitRoom wait_room_;
  std::unique_ptr<CallTrace> call_trace_;
  ErrorTable errors_;
  std::uint64_t dropped_reported_ = 0;  // dropped ready sends that were reported
  std::uint64_t partition_channels_ = 0;
  const void* caller_ = nullptr;
  std::unique_ptr<Rma> rma_;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<RankExtension> collectives_;
};

}  // namespace margay::mpi_adi
