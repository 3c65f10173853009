// Everything MPI that one rank owns while MPI runs, reached by one thread-local pointer (mpi_adi/rank/current), so that
// many ranks may live in one process.
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

// What few calls use is declared here, and defined where it is named.
class BufferedSends;   // mpi_adi/protocol/buffered
class CallTrace;       // mpi_adi/rank/call_trace
struct ObjectTables;   // mpi_adi/rank/object_tables
struct RankExtension;  // mpi_adi/rank/extension
struct ReceivingSide;  // mpi_adi/rank/unreceived
class Rma;             // mpi_adi/rma/rma

class MpiRank {
 public:
  // In a process that has joined its job: it works, and the program has no communicator yet. `make_extension` runs
  // before the first message can arrive.
  using MakeExtension = std::unique_ptr<RankExtension> (*)(MpiRank&);
  [[nodiscard]] static portals::Status start_on(std::unique_ptr<sim::Process> process, MakeExtension make_extension,
                                                std::unique_ptr<MpiRank>& out);
  ~MpiRank();

  // From MPI_Init to MPI_Finalize: the program has MPI_COMM_WORLD and MPI_COMM_SELF. The calling thread is the main
  // one.
  void begin_world(int thread_level);
  void end_world();
  // Nobody in this process uses MPI: wires are drained, accounts and trace are whole, the launcher is told. Requires:
  // inside. stop_coprocessor() is the caller's, outside.
  void rest();
  // It is used, the first time or again. Requires: outside, by one thread.
  void work();

  MpiRank(const MpiRank&) = delete;
  MpiRank& operator=(const MpiRank&) = delete;

  // Into the rank, which each call is, and out again. What was left behind on the way is given to whoever goes on with
  // it meanwhile.
  void enter() { lock_.enter(); }
  void leave() {
    if (device_.has_unreferenced()) [[unlikely]]
      destroy_unreferenced();
    if (unfinished_.any() || device_.tasks().any_awake_for_coprocessor()) [[unlikely]]
      arm_coprocessor();
    lock_.leave();
  }
  // Between rounds of a wait with several threads: who waits for the lock has it first.
  void let_others_in() {
    if (!lock_.wanted()) return;
    leave();
    lock_.let_in();
    enter();
  }
  // Others that are ready to run get this processor first.
  void yield();

  [[nodiscard]] RankLock& lock() { return lock_; }
  [[nodiscard]] bool threaded() const { return lock_.threaded(); }
  [[nodiscard]] Worlds& worlds() { return worlds_; }
  [[nodiscard]] Handles& handles() { return handles_; }
  [[nodiscard]] sim::Process& process() { return *process_; }
  // Of the process; here, because each call needs both.
  [[nodiscard]] sim::BoardBlock& board() { return board_; }
  [[nodiscard]] sim::Recorder& recorder() { return recorder_; }
  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] BufferedSends& buffered() { return *buffered_; }
  // Where threads wait for what one of them sees.
  [[nodiscard]] WaitRoom& wait_room() { return wait_room_; }
  [[nodiscard]] CallTrace& call_trace() { return *call_trace_; }
  [[nodiscard]] ErrorTable& errors() { return errors_; }
  [[nodiscard]] ObjectTables& tables() { return *tables_; }
  // One-sided communication; made when it is first asked for.
  [[nodiscard]] Rma& rma() {
    if (rma_ == nullptr) [[unlikely]]
      make_rma();
    return *rma_;
  }
  // The same, if it was.
  [[nodiscard]] const Rma* rma_if_any() const { return rma_.get(); }
  [[nodiscard]] RankExtension* collectives() { return collectives_.get(); }

  // Whatever communicator a handle names; nullptr when there is no such living one.
  [[nodiscard]] Communicator* communicator(MPI_Comm handle) {
    Communicator* const first = worlds_.find(handle);
    return first != nullptr ? first : handles_.communicator(handle);
  }
  // The user's handle goes; the object too, once nothing refers to it.
  void free_communicator(Communicator& communicator);
  // A reference to it is over.
  void release(Communicator& communicator);

  // For who tells of messages that nobody received (mpi_adi/rank/unreceived).
  [[nodiscard]] ReceivingSide receiving_side();
  // A number for each MPI_Psend_init.
  [[nodiscard]] std::uint64_t next_partition_channel() { return partition_channels_++; }
  // Where the latest call returns to; noted while a check watches calls.
  [[nodiscard]] const void* caller() const { return caller_; }
  void set_caller(const void* caller) { caller_ = caller; }
  // Puts the protocol counts and what else this rank counts on the job board.
  void publish_accounts();

 private:
  MpiRank(std::unique_ptr<sim::Process> process, const DeviceOptions& options, const ErrorHandlerPtr& initial_handler);
  // Its contexts are free again. Requires: freed, and nothing refers to it.
  void destroy(Communicator& communicator);
  [[gnu::noinline]] void destroy_unreferenced();
  [[gnu::noinline]] void arm_coprocessor();
  void make_rma();

  class OutsideRest;
  class EndOfThread;

  std::unique_ptr<sim::Process> process_;
  sim::BoardBlock& board_;
  sim::Recorder& recorder_;
  const sim::Unfinished& unfinished_;
  std::unique_ptr<sim::Rest> outside_rest_;
  std::unique_ptr<sim::ThreadEnds> end_of_thread_;
  RankLock lock_;
  Device device_;
  std::unique_ptr<ObjectTables> tables_;
  Worlds worlds_;
  Handles handles_;
  std::unique_ptr<BufferedSends> buffered_;
  WaitRoom wait_room_;
  std::unique_ptr<CallTrace> call_trace_;
  ErrorTable errors_;
  std::uint64_t dropped_told_ = 0;  // ready sends that were dropped here
  std::uint64_t partition_channels_ = 0;
  const void* caller_ = nullptr;
  std::unique_ptr<Rma> rma_;
  std::unique_ptr<RankExtension> collectives_;
};

}  // namespace margay::mpi_adi
