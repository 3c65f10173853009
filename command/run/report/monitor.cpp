#include "command/run/report/monitor.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::command {
namespace {

// The same status as that of timeout(1).
constexpr int kTimeoutStatus = 124;
constexpr int kDeadlockStatus = 73;
constexpr int kSignalBase = 128;

}  // namespace

int failing_status(int code) {
  const int status = code & 0xff;
  return status != 0 ? status : 1;
}

Monitor::Monitor(std::uint32_t ranks, std::uint32_t places) : ranks_(std::max(ranks, places)), left_(ranks) {
  for (std::size_t place = ranks; place < ranks_.size(); ++place) ranks_[place].ended = true;
}

void Monitor::on_start(std::uint32_t rank) {
  MARGAY_ASSERT(ranks_[rank].ended && left_ > 0);
  ranks_[rank] = {};
  ++left_;
}

Cause Monitor::judge(std::uint32_t rank, const RankEnd& end) {
  Cause cause;
  cause.rank = rank;
  cause.text = end.text;
  // The abort is tested before the signal, because the launcher may have sent the signal as a consequence of the abort.
  if (end.aborting) {
    cause.kind = end.second_program ? CauseKind::second_program : CauseKind::abort;
    cause.code = end.abort_code;
  } else if (end.by_signal) {
    cause.kind = CauseKind::signal;
    cause.signal = end.value;
  } else if (end.called_init && !end.called_finalize) {
    cause.kind = CauseKind::no_finalize;
    cause.code = end.value;
  }
  return cause;
}

// A failure of this rank is judged before its lack of MPI_Init, so that a crash is not reported as a missing MPI_Init.
void Monitor::on_end(std::uint32_t rank, const RankEnd& end, std::int64_t now_ns) {
  MARGAY_ASSERT(!ranks_[rank].ended && left_ > 0);
  ranks_[rank].ended = true;
  ranks_[rank].stopped_at_ns = -1;
  ranks_[rank].signal = end.by_signal ? end.value : 0;
  ranks_[rank].exit_status = end.by_signal ? kSignalBase + end.value : end.value;
  --left_;
  if (ranks_[rank].killed) return;
  Cause cause = judge(rank, end);
  if (cause.kind != CauseKind::none) {
    fail(std::move(cause), now_ns, 0, kTermToKillNs);
  } else {
    // After a failure the other ranks' codes are consequences.
    if (first_nonzero_code_ == 0 && cause_.kind == CauseKind::none) first_nonzero_code_ = end.value;
    if (!end.called_init && ended_without_init_ < 0) {
      ended_without_init_ = rank;
      ended_without_init_code_ = end.value;
    }
  }
  some_initialized_ = some_initialized_ || end.called_init;
  if (some_initialized_) on_initialized(now_ns);
  // The aborting rank has ended, so its grace is over.
  const bool aborted = cause_.kind == CauseKind::abort || cause_.kind == CauseKind::second_program;
  if (aborted && cause_.rank == rank && terminate_at_ns_ > now_ns) terminate_at_ns_ = now_ns;
}

void Monitor::on_initialized(std::int64_t now_ns) {
  some_initialized_ = true;
  // No rank is left that could wait for the one without MPI_Init.
  if (ended_without_init_ < 0 || left_ == 0) return;
  Cause cause;
  cause.kind = CauseKind::no_init;
  cause.rank = static_cast<std::uint32_t>(ended_without_init_);
  cause.code = ended_without_init_code_;
  fail(std::move(cause), now_ns, 0, kTermToKillNs);
}

void Monitor::on_thread_end_without_init(std::uint32_t rank, int code) {
  if (ended_without_init_ >= 0) return;
  ended_without_init_ = rank;
  ended_without_init_code_ = code;
}

// The grace lets the aborting rank write its message.
void Monitor::on_abort(std::uint32_t rank, int code, const std::string& text, std::int64_t now_ns) {
  Cause cause;
  cause.kind = CauseKind::abort;
  cause.rank = rank;
  cause.code = code;
  cause.text = text;
  fail(std::move(cause), now_ns, kAbortGraceNs, kTermToKillNs);
}

void Monitor::on_second_program(std::uint32_t rank, int code, std::int64_t now_ns) {
  Cause cause;
  cause.kind = CauseKind::second_program;
  cause.rank = rank;
  cause.code = code;
  fail(std::move(cause), now_ns, kAbortGraceNs, kTermToKillNs);
}

void Monitor::on_protocol_error(std::uint32_t rank, const std::string& sentence, std::int64_t now_ns) {
  Cause cause;
  cause.kind = CauseKind::protocol;
  cause.rank = rank;
  cause.text = sentence;
  fail(std::move(cause), now_ns, 0, kTermToKillNs);
}

// Ranks get more time than after a failure, to clean up.
void Monitor::on_interrupt(int signal, std::int64_t now_ns) {
  const bool again = std::exchange(interrupted_, true);
  Cause cause;
  cause.kind = CauseKind::interrupted;
  cause.signal = signal;
  fail(std::move(cause), now_ns, 0, kInterruptToKillNs);
  // For a second interrupt fail() does nothing; the interrupt's only effect is an immediate kill.
  if (again) kill_at_ns_ = now_ns;
}

void Monitor::on_timeout(std::int64_t now_ns) {
  Cause cause;
  cause.kind = CauseKind::timeout;
  fail(std::move(cause), now_ns, 0, kTermToKillNs);
}

void Monitor::on_deadlock(std::int64_t now_ns) {
  Cause cause;
  cause.kind = CauseKind::deadlock;
  fail(std::move(cause), now_ns, 0, kTermToKillNs);
}

void Monitor::on_output_closed(int error, const std::string& output_name, std::int64_t now_ns) {
  Cause cause;
  cause.kind = CauseKind::output_closed;
  cause.code = error;
  cause.text = output_name;
  fail(std::move(cause), now_ns, 0, kTermToKillNs);
}

void Monitor::on_continue(std::uint32_t rank) {
  ranks_[rank].stopped_at_ns = -1;
  ranks_[rank].warned = false;
}

bool Monitor::is_any_stopped() const {
  return std::ranges::any_of(ranks_, [](const MonitoredRank& rank) { return !rank.ended && rank.stopped_at_ns >= 0; });
}

void Monitor::fail(Cause cause, std::int64_t now_ns, std::int64_t grace_ns, std::int64_t term_to_kill_ns) {
  // Invariant 1.
  if (cause_.kind != CauseKind::none) return;
  cause_ = std::move(cause);
  terminate_at_ns_ = now_ns + grace_ns;
  // Invariant 2.
  kill_at_ns_ = terminate_at_ns_ + term_to_kill_ns;
}

// Clears the deadline of a termination, so that it happens once, and moves that of a kill.
KillStep Monitor::next_step(std::int64_t now_ns) {
  if (left_ == 0) return KillStep::nothing;
  // The kill is tested first: a late loop then skips the termination.
  if (kill_at_ns_ >= 0 && now_ns >= kill_at_ns_) {
    terminate_at_ns_ = -1;
    // The kill is repeated after an interval, because a rank may have forked between the signals.
    kill_at_ns_ = now_ns + kTermToKillNs;
    return KillStep::kill;
  }
  if (terminate_at_ns_ >= 0 && now_ns >= terminate_at_ns_) {
    terminate_at_ns_ = -1;
    return KillStep::terminate;
  }
  return KillStep::nothing;
}

int Monitor::ending_signal() const {
  return cause_.kind == CauseKind::interrupted ? cause_.signal : SIGTERM;
}

// Returns one rank at a time; the caller's loop calls again.
std::int64_t Monitor::take_stop_warning(std::int64_t now_ns) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    MonitoredRank& monitored = ranks_[rank];
    if (monitored.stopped_at_ns < 0 || monitored.warned || now_ns - monitored.stopped_at_ns < kStopWarningNs) continue;
    monitored.warned = true;
    return static_cast<std::int64_t>(rank);
  }
  return -1;
}

std::int64_t Monitor::deadline_ns() const {
  std::int64_t first = -1;
  const auto consider = [&first](std::int64_t at) {
    if (at >= 0 && (first < 0 || at < first)) first = at;
  };
  consider(terminate_at_ns_);
  consider(kill_at_ns_);
  for (const MonitoredRank& monitored : ranks_) {
    if (monitored.stopped_at_ns >= 0 && !monitored.warned) consider(monitored.stopped_at_ns + kStopWarningNs);
  }
  return first;
}

// The status that a shell reports: 128 + signal, or the code. Causes without either have a status of their own.
int Monitor::exit_status() const {
  switch (cause_.kind) {
    case CauseKind::none:
      return first_nonzero_code_;
    case CauseKind::signal:
    case CauseKind::interrupted:
      return kSignalBase + cause_.signal;
    case CauseKind::output_closed:
      return cause_.code == EPIPE ? kSignalBase + SIGPIPE : 1;
    case CauseKind::timeout:
      return kTimeoutStatus;
    case CauseKind::deadlock:
      return kDeadlockStatus;
    case CauseKind::protocol:
      return 1;
    case CauseKind::no_finalize:
    case CauseKind::no_init:
    case CauseKind::abort:
    case CauseKind::second_program:
      return failing_status(cause_.code);
  }
  return 1;
}

}  // namespace margay::command
