#include "mpi_adi/rank/wait.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "mpi_adi/progress/describe.hpp"
#include "mpi_adi/rank/call_trace.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/machine/process.hpp"
#include "sim/shm/published.hpp"

namespace margay::mpi_adi {

namespace {

constexpr std::size_t kReportLines = 12;  // of the device's state in a report

// The polling thread yields after so many rounds in a row that moved nothing, because other threads of its rank may
// need its processor.
constexpr std::uint32_t kRoundsToYield = 8;

bool is_polling_all(MpiRank& rank) {
  return rank.process().kernel().polling().switched_off().empty();
}

// Whether only a message can end the wait. False with several threads, because another thread's call could end it.
// False with an incomplete generalized request, which a function of the program could complete. All other requests,
// and the tasks of nonblocking collectives, need messages.
bool needs_message(MpiRank& rank) {
  if (rank.threaded()) return false;
  // The message may be here already, on a wire that is not polled.
  if (!is_polling_all(rank)) return false;
  return std::ranges::none_of(rank.handles().living_requests(), [](const UserRequest* request) {
    return request->device != nullptr && request->device->kind == RequestKind::generalized &&
           !request->device->complete;
  });
}

// The calling thread's call. The board names the call that was entered last. That may be another thread's call, or none
// if the call has left.
sim::ProgramCall call_that_waits(MpiRank& rank, const NamedWait* named) {
  if (named != nullptr) return {.returns_to = named->returns_to, .function = named->call};
  sim::ProgramCall call = sim::function_called_by_program();
  if (call.function.starts_with("PMPI")) call.function.erase(0, 1);
  if (call.function.starts_with("MPI")) return call;
  if (rank.threaded()) return {};  // the board may name another thread's call
  call.function = sim::name_in(rank.process().board().mpi_call);
  return call;
}

}  // namespace

sim::Waiter waiter_of(MpiRank& rank) {
  sim::Process& process = rank.process();
  return {process.kernel(), process.clock(), process.wait_means()};
}

void WaitTrace::record_in_call(sim::TraceKind kind) {
  rank_.call_trace().wait(rank_.recorder(), kind);
}

void StallTimer::write_board(std::uint64_t idle_ns) {
  const FirstWait first = rank_.device().first_wait();
  sim::BoardWait& wait = rank_.process().board().wait;
  wait.peer = first.peer;
  wait.tag = first.tag;
  wait.context = first.context;
  wait.posted_receives = first.posted_receives;
  wait.unexpected_messages = first.unexpected_messages;
  wait.requests = first.requests;
  wait.needs_message = needs_message(rank_) ? 1 : 0;
  if (named_ != nullptr) {
    // Requests of MPI that are under way do not end this wait.
    wait.peer = named_->peer;
    wait.tag = -1;
    wait.context = 0;
    wait.requests = 1;
    wait.needs_message = named_->needs_message && is_polling_all(rank_) && !rank_.threaded() ? 1 : 0;
  }
  sim::set_text(wait.communicator, named_ == nullptr ? first.communicator : std::string());
  sim::set_text(wait.near_misses, named_ == nullptr ? first.near_misses : std::string());
  sim::set_text(wait.held, first.held);
  // The innermost call from the program. It is found on the stack, because the board may name another thread's call.
  const sim::ProgramCall call = call_that_waits(rank_, named_);
  const std::string location = sim::source_question(call.returns_to);
  sim::set_name(wait.call, call.function);
  sim::set_text(wait.location, location.size() < wait.location.size() ? location : std::string());
  wait.since_ns = rank_.process().clock().now_ns() - idle_ns;
  wait.is_waiting = 1;
  on_board_ = true;
  rank_.publish_accounts();  // the launcher of a killed job reads no other accounts
  rank_.process().publish_accounts();
}

// Answers the launcher's question whether this rank still waits. A question that the previous call found is answered
// now, because since then all wires have been polled and nothing has moved.
void StallTimer::answer() {
  sim::Process& process = rank_.process();
  sim::BoardWait& wait = process.board().wait;
  if (process.question() == wait.answered) return;
  // The launcher asks when no rank makes progress. A dropped message may be the reason, and is printed before the
  // launcher's report.
  rank_.report_dropped_sends();
  // A message may be held since the wait was written.
  sim::set_text(wait.held, rank_.device().first_wait().held);
  // If a link is silent, a message of this process may still be under way. The question is not answered then.
  const bool in_transit = process.kernel().in_transit();
  // The rounds before the next call poll each wire, whatever its interval.
  process.kernel().polling().make_due(false);
  if (question_ != wait.answered && !in_transit) sim::publish_number(wait.answered, question_);
  question_ = in_transit ? wait.answered : process.question();
}

void StallTimer::look(std::uint64_t idle_ns) {
  sim::Process& process = rank_.process();
  if (next_report_ns_ == 0) next_report_ns_ = process.job().options.seconds_ns("stall_seconds", sim::kStallReportNs);
  if (!on_board_) {
    write_board(idle_ns);
  } else {
    answer();
  }
  if (idle_ns < next_report_ns_) return;
  next_report_ns_ *= 2;
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  const sim::ProgramCall call = call_that_waits(rank_, named_);
  std::string text = "margay: rank " + std::to_string(process.rank()) + " has waited " +
                     std::to_string(idle_ns / kNsPerSecond) + " s in " +
                     (call.function.empty() ? "MPI" : call.function) +
                     process.source_lines().location_suffix(call.returns_to) + " without progress\n";
  if (const std::string wires = process.kernel().polling().switched_off(); !wires.empty()) {
    text +=
        "margay:   polling of " + wires + " is off: messages there wait until MPIX_Margay_polling() switches it on\n";
  }
  rank_.device().describe(text, kReportLines);
  std::fputs(text.c_str(), stderr);
}

void StallTimer::clear() {
  on_board_ = false;
  question_ = 0;
  next_report_ns_ = 0;
  rank_.process().board().wait.is_waiting = 0;
  // Shows the launcher's search for deadlocks that this process has made progress since its wait was read.
  ++rank_.process().board().progress;
}

void SharedWait::stay(WaitingThread& thread) {
  rank_.wait_room().add(thread);
  // Leaves the lock before it sleeps, because the polling thread needs it.
  rank_.leave();
  polls_ = polls_for_all_ = !thread.stay();
  rank_.enter();
}

bool SharedWait::share(bool moved) {
  WaitRoom& room = rank_.wait_room();
  if (!polls_for_all_) {
    // The rank had one thread when this wait began, so the wait is not counted as a poller yet.
    polls_for_all_ = true;
    room.join_polling();
  }
  // Called even after rounds that moved nothing, because some conditions read memory that other processes write
  // (collectives/portal/call_barrier).
  room.serve();
  rank_.let_waiting_threads_in();
  if (moved) {
    idle_rounds_ = 0;
    return false;
  }
  // Other threads of this rank may need the processor on which this thread polls.
  if (++idle_rounds_ % kRoundsToYield != 0 || !room.in_company(rank_.lock().turns())) return false;
  rank_.yield();
  // Other threads' calls and the coprocessor may have completed something meanwhile.
  room.serve();
  return true;
}

}  // namespace margay::mpi_adi
