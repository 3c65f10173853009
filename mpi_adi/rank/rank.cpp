#include "mpi_adi/rank/rank.hpp"

#include <cstdio>

#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/buffered.hpp"
#include "mpi_adi/rank/call_trace.hpp"
#include "mpi_adi/rank/device_options.hpp"
#include "mpi_adi/rank/extension.hpp"
#include "mpi_adi/rank/guard_timer.hpp"
#include "mpi_adi/rank/object_tables.hpp"
#include "mpi_adi/rank/ports.hpp"
#include "mpi_adi/rank/unreceived.hpp"
#include "mpi_adi/rma/rma.hpp"
#include "portals/base/assert.hpp"
#include "sim/base/thread_end.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

using portals::Status;

namespace {

// Reports and discards the messages on a communicator that no receive can take any more.
void discard_messages(MpiRank& rank, const Communicator& communicator) {
  report_unreceived(rank.receiving_side(), communicator);
  rank.device().discard_messages(communicator.context);
}

// The same for MPI_COMM_WORLD, and for messages that arrived on communicators after these were freed.
void discard_last_messages(MpiRank& rank) {
  discard_messages(rank, rank.worlds().world());
  for (const ContextId context : freed_contexts(rank.receiving_side())) rank.device().discard_messages(context);
}

}  // namespace

// The yield policy of a waiting thread: it leaves the rank while it yields or sleeps, so that other threads may call.
class MpiRank::OutsidePolicy final : public sim::YieldPolicy {
 public:
  explicit OutsidePolicy(MpiRank& rank) : rank_(rank) {}
  void yield(std::uint64_t ns) override {
    rank_.leave();
    rank_.process_->yield_processor(ns);
    rank_.enter();
  }

 private:
  MpiRank& rank_;
};

// The observer of the end of a thread, for a rank with several threads.
class MpiRank::EndOfThread final : public sim::ThreadEnds {
 public:
  explicit EndOfThread(MpiRank& rank) : rank_(rank) {}
  void thread_ends() override;

 private:
  MpiRank& rank_;
};

MpiRank::MpiRank(std::unique_ptr<sim::Process> process, const DeviceOptions& options,
                 const ErrorHandlerPtr& initial_handler)
    : process_(std::move(process)),
      board_(process_->board()),
      recorder_(process_->recorder()),
      unfinished_(process_->kernel().registers().unfinished()),
      outside_policy_(std::make_unique<OutsidePolicy>(*this)),
      end_of_thread_(std::make_unique<EndOfThread>(*this)),
      lock_(*process_, *outside_policy_, *end_of_thread_),
      device_(process_->kernel(), options),
      tables_(std::make_unique<ObjectTables>(initial_handler, process_->job())),
      worlds_(process_->job(), *tables_),
      handles_(device_, worlds_.world()),
      buffered_(std::make_unique<BufferedSends>(parts_of(device_))),
      call_trace_(std::make_unique<CallTrace>()) {
  handles_.admit(process_->guests());
  // The job board shows the number of posted receives while the process runs.
  device_.count_in(board_);
  if (process_->job().options.text("leaks") == "1") {
    handles_.keep_origins();
    parts_of(device_).keeps_unreceived = true;
    // The messages' paths then record what the reports need.
    recorder_.start_observing();
  }
  if (process_->job().options.text("check_types") == "1") {
    parts_of(device_).type_check =
        std::make_unique<TypeCheck>(process_->rank(), process_->findings(), process_->source_lines());
    recorder_.start_observing();
  }
  if (process_->job().options.text("check_rma") == "1") recorder_.start_observing();
}

Status MpiRank::start_on(std::unique_ptr<sim::Process> process, MakeExtension make_extension,
                         std::unique_ptr<MpiRank>& out) {
  DeviceOptions options;
  if (Status status = device_options(process->job().options, options); !status.ok()) return status;
  const std::string initial = process->job().options.text("initial_errhandler");
  const ErrorHandlerPtr handler = process_error_handlers().find(named_handler(initial));
  // An unknown name finds no handler.
  if (handler == nullptr) {
    return Status::error(
        "MARGAY_INITIAL_ERRHANDLER=" + initial +
        ": invalid handler; the values are mpi_errors_are_fatal, mpi_errors_abort and mpi_errors_return");
  }
  std::unique_ptr<MpiRank> rank(new MpiRank(std::move(process), options, handler));
  // Called before resume(), because messages may arrive from then on.
  rank->collectives_ = make_extension(*rank);
  rank->resume();
  // Refuses the calls of ports that an earlier process in this place has left open.
  if (rank->process().job().predecessors > 0) static_cast<void>(rank->ports());
  out = std::move(rank);
  return {};
}

void MpiRank::begin_world(int thread_level) {
  // With a lower level, a single thread makes all calls, and needs only the cheap side of the lock.
  if (thread_level >= MPI_THREAD_SERIALIZED) lock_.allow_threads();
  worlds_.begin(thread_level);
  board().has_begun_world = 1;
}

void MpiRank::end_world() {
  worlds_.end();
  // Session number 0 stands for the world model; communicators of sessions live on.
  for (Communicator* communicator : handles_.communicators_of(0)) free_communicator(*communicator);
  discard_messages(*this, worlds_.self());
  discard_last_messages(*this);
}

// A thread that ends inside a call leaves the lock as it is.
void MpiRank::EndOfThread::thread_ends() {
  if (rank_.lock_.mine()) return;
  rank_.enter();
  rank_.process_->thread_ends();
  // When a thread ends, the operating system no longer polls the wires in its name (Wire::thread_ends). The
  // coprocessor's next round requests that again.
  rank_.process_->arm_coprocessor();
  rank_.leave();
  detail::thread_recorded = false;  // destructors that run later in this thread may still call MPI
}

void MpiRank::resume() {
  // No other thread is in MPI now.
  lock_.begin_lone_thread();
  process_->resume();
  // The coprocessor runs the progress of the whole device, not only the kernel's.
  Device* device = &device_;
  const Status bypass = process_->start_coprocessor([device] { return device->progress_for_absent_owner(); });
  // Not fatal: without a coprocessor, messages make progress only while the program is in MPI.
  if (!bypass.ok()) std::fprintf(stderr, "margay: rank %u: %s\n", process_->rank(), bypass.sentence().c_str());
  board_.state = sim::RankState::initialized;
}

void MpiRank::yield() {
  outside_policy_->yield(0);
}

void MpiRank::arm_coprocessor() {
  process_->arm_coprocessor();
}

void MpiRank::make_rma() {
  rma_ = std::make_unique<Rma>(parts_of(device_), process_->node_memory(),
                               [timer = GuardTimer(*process_)](std::uint32_t holder, std::uint64_t waited_ns) mutable {
                                 timer.waits(holder, waited_ns);
                               });
}

Ports& MpiRank::ports() {
  if (ports_ == nullptr) {
    ports_ = std::make_unique<Ports>(device_, worlds_.places(), process_->job().job_id, process_->rank(),
                                     &process_->guests());
  }
  return *ports_;
}

ReceivingSide MpiRank::receiving_side() {
  return {*process_, device_, worlds_.contexts(), worlds_.world(), worlds_.self(), handles_.origins() != nullptr};
}

void MpiRank::report_dropped_sends() {
  dropped_reported_ = report_dropped(receiving_side(), dropped_reported_);
}

void MpiRank::publish_last_accounts() {
  publish_accounts();
  const auto put = [this](sim::CountedProtocol protocol, const sim::WireCounts& counts) {
    board_.by_protocol[static_cast<std::size_t>(protocol)] = {counts.messages, counts.bytes};
  };
  put(sim::CountedProtocol::collective, collectives_->sent());
  put(sim::CountedProtocol::collective_shared, collectives_->shown());
}

void MpiRank::become_dormant() {
  publish_last_accounts();
  // Drains the wires with the device's progress, which may still answer peers.
  process_->finish([this] { return device_.progress(); });
  // Called after the drain, which receives the messages that have arrived.
  discard_last_messages(*this);
  report_dropped_sends();
  // These findings may have reopened the trace, which finish() suspended.
  recorder_.suspend();
  device_.give_memory_back();
  board_.state = sim::RankState::finalized;
}

void MpiRank::forward_only(bool waits) {
  while (waits && !process_->node_has_finished()) {
    if (!device_.progress()) yield();
  }
  // The process may end by _exit or exec, without become_dormant().
  publish_last_accounts();
  process_->publish_accounts();
  board_.state = sim::RankState::finalized;
}

MpiRank::~MpiRank() {
  // The coprocessor's rounds use everything below.
  process_->stop_coprocessor();
  // Destroyed before the device, to which its portals are attached.
  collectives_.reset();
}

void MpiRank::free_communicator(Communicator& communicator) {
  // Messages that were sent before a barrier may still be on their wires, because a shared-memory barrier bypasses all
  // wires. After these rounds such messages are in the heap and are discarded with the communicator, so no later
  // communicator with the same context receives them.
  while (device_.progress()) continue;
  handles_.remove(communicator);
  worlds_.forget(communicator);
  communicator.freed = true;
  release(communicator);
}

void MpiRank::release(Communicator& communicator) {
  MARGAY_ASSERT(communicator.references > 0);
  if (--communicator.references == 0 && communicator.freed) destroy(communicator);
}

namespace {

std::unique_ptr<ContextHold> end_extension(const Communicator& communicator) {
  return communicator.collective_facts != nullptr ? communicator.collective_facts->end() : nullptr;
}

}  // namespace

void MpiRank::destroy(Communicator& communicator) {
  if (communicator.context != kNoContext) {
    discard_messages(*this, communicator);
    if (collectives_ != nullptr) collectives_->discard_messages(communicator);
    // The contexts are spent if a collective call failed on the communicator: messages of that call may arrive at any
    // time, so the contexts are never used again.
    const bool spent = communicator.contexts_spent || (communicator.both && communicator.both->contexts_spent);
    std::unique_ptr<ContextHold> hold = end_extension(communicator.all_members());
    // With a hold, the contexts stay taken until other members have ended the operations that use them.
    if (!spent && hold == nullptr) worlds_.contexts().give_back(communicator.context / 2);
    if (!spent && hold != nullptr) worlds_.contexts().give_back_after(communicator.context / 2, std::move(hold));
  }
  delete &communicator;
}

void MpiRank::destroy_unreferenced() {
  while (Communicator* last = device_.take_unreferenced()) destroy(*last);
}

void MpiRank::publish_accounts() {
  using sim::CountedProtocol;
  const ProtocolCounts& counts = device_.counts();
  sim::BoardBlock& board = board_;
  const auto put = [&board](CountedProtocol protocol, const ProtocolCounts::Count& count) {
    board.by_protocol[static_cast<std::size_t>(protocol)] = {count.messages, count.bytes};
  };
  board.heap_high_water_bytes = device_.heap_high_water_bytes();
  put(CountedProtocol::short_, counts.short_);
  put(CountedProtocol::long_matched, counts.long_matched);
  put(CountedProtocol::long_pulled, counts.long_pulled);
  put(CountedProtocol::synchronous_short, counts.synchronous_short);
  put(CountedProtocol::synchronous_long, {counts.synchronous_long.messages + counts.synchronous_long_pulled.messages,
                                          counts.synchronous_long.bytes + counts.synchronous_long_pulled.bytes});
  put(CountedProtocol::ready, counts.ready);
  put(CountedProtocol::buffered, counts.buffered);
  for (std::size_t i = 0; rma_ != nullptr && i < sim::kCountedAccesses; ++i) {
    board.by_access[i] = {rma_->counts().by_method[i].messages, rma_->counts().by_method[i].bytes};
  }
}

}  // namespace margay::mpi_adi
