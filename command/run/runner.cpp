#include "command/run/runner.hpp"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "command/run/options/tokens.hpp"
#include "command/run/process/rank_environment.hpp"
#include "command/run/process/signals.hpp"
#include "command/run/process/spawn.hpp"
#include "command/run/report/rank_state.hpp"
#include "sim/base/clock.hpp"
#include "sim/shm/published.hpp"

namespace margay::command {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
// The wait for a slow reader of the output of a failed job.
constexpr int kHurriedReaderMs = 1000;
// Intervals of polls for conditions without an event: the terminal's foreground, a stall, a rank that called MPI_Init.
constexpr int kBackgroundLookMs = 200;
constexpr int kStallLookMs = 1000;
constexpr int kMissingLookMs = 100;

OutputOptions output_options(const RunOptions& options) {
  return {options.line_pattern, options.output_pattern, options.error_pattern, options.threads};
}

}  // namespace

Runner::Runner(const RunOptions& options, const JobPlan& plan, const std::vector<std::string>& paths, JobMemory& memory,
               const NameLocation& name_location)
    : options_(options),
      plan_(plan),
      paths_(paths),
      memory_(memory),
      name_location_(name_location),
      output_(poller_, plan.places(), output_options(options)),
      input_(poller_),
      names_(memory.board().header().job_id),
      server_("kvs_" + memory.job_name(), plan.program_of_rank, plan.node_of_rank, plan.places(), &names_),
      channels_(
          poller_, server_, plan.places(),
          [this](std::uint32_t rank, const PmiOutcome& outcome) { reported_by_ranks_.emplace_back(rank, outcome); },
          [this](std::uint32_t rank, const PmiOutcome& outcome) { return carry_out(rank, outcome); }),
      monitor_(plan.size(), plan.places()),
      stall_(
          memory.board(), kSecondNs, [this](std::uint32_t rank) { return has_ended(rank); }, name_location),
      other_mpi_(memory.board()),
      pids_(plan.places(), 0),
      places_(plan.size(), plan.places(), [&memory](std::uint32_t place) { return memory.is_at_rest(place); }),
      guests_([this] { return places_.take_for_guest(); }),
      host_(host_name()) {}

Status Runner::run(int& exit_status) {
  Status status = prepare();
  if (status.ok()) status = start_ranks(exit_status);
  // A job that failed half-way may have started ranks; they must not survive.
  if (!status.ok()) {
    end_job_and_children();
    output_.finish(kHurriedReaderMs);
    return status;
  }
  loop();
  end_job_and_children();
  // After success no output is lost, however long its reader (a pager) takes; Ctrl-C ends the launcher during that
  // wait, because the signals have their default actions again.
  output_.finish(monitor_.cause().kind == CauseKind::none ? -1 : kHurriedReaderMs);
  // After success a reader that left is not an error, but a full file system is.
  if (const OutputFailure& failure = output_.failure(); failure.error != 0 && failure.error != EPIPE) {
    monitor_.on_output_closed(failure.error, failure.output_name, signed_monotonic_ns());
  }
  report_end();
  exit_status = monitor_.exit_status();
  return {};
}

// Everything that must exist before the first rank: records of former children, the event loop, the guardian, signals.
Status Runner::prepare() {
  // begin() precedes the step by which this process becomes a subreaper, so that it records former children only.
  job_processes_.begin(memory_.job_name());
  started_ns_ = signed_monotonic_ns();
  static_cast<void>(::sigprocmask(SIG_BLOCK, nullptr, &saved_.signal_mask));
  library_folder_ = library_folder_of(options_);
  are_traced_ = !trace_files(options_, 1, environ).back().empty();
  other_mpi_.begin(library_folder_, started_ns_);
  if (Status status = poller_.open(); !status.ok()) return status;
  // Orphans of the ranks become the launcher's children, so that it can see and end them.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (Status status = guardian_.start(); !status.ok()) return status;
  // The launcher needs three descriptors for each rank; the ranks get the former limit back.
  raise_descriptor_limit(saved_.descriptors);
  if (Status status = take_signals(saved_, signals_); !status.ok()) return status;
  poller_.watch(signals_, {EventKind::signal, 0});
  return {};
}

Status Runner::start_ranks(int& exit_status) {
  if (Status status = input_.open(options_.input_ranks); !status.ok()) return status;
  for (std::uint32_t first = 0; first < plan_.size(); first += plan_.process_ranks) {
    const std::uint32_t program = plan_.program_of_rank[first];
    const Start start{&options_.programs[program], paths_[program], identity_of(plan_, first),
                      input_.descriptor_for(first)};
    if (Status status = start_process(start, exit_status); !status.ok()) return status;
  }
  // The launcher must not hold the readers' ends: it would never see EPIPE.
  input_.release();
  return {};
}

// On error the descriptors opened so far are closed, and end_job_and_children() ends the ranks that run.
Status Runner::start_process(const Start& start, int& exit_status) {
  const std::uint32_t first = start.identity.place;
  SpawnRequest request;
  RankDescriptors descriptors;
  Status status = output_.open(first, request.standard_output, request.standard_error);
  for (std::uint32_t rank = first; rank < first + plan_.process_ranks && status.ok(); ++rank) {
    status = channels_.open(rank, descriptors.pmi.emplace_back(-1));
  }
  if (status.ok()) {
    descriptors.board = memory_.board_descriptor();
    descriptors.findings = memory_.findings_descriptor();
    descriptors.node_segment = memory_.segment_of_node(plan_.node_of_place[first]);
    request.path = start.path;
    request.argv = start.program->argv;
    request.environment = make_environment(options_, *start.program, start.identity, plan_.process_ranks, descriptors,
                                           library_folder_, environ);
    // make_environment() has removed an outer job's mark.
    request.environment.push_back(job_processes_.mark());
    request.working_directory = start.program->working_directory;
    request.standard_input = start.standard_input;
    request.process_group = guardian_.group();
    request.inherited = descriptors.pmi;
    for (int descriptor : {descriptors.board, descriptors.node_segment, descriptors.findings}) {
      if (descriptor >= 0) request.inherited.push_back(descriptor);
    }
    for (std::uint32_t rank = first; rank < first + plan_.process_ranks && options_.bind_to == BindTo::core; ++rank) {
      if (const int processor = processor_for(rank); processor >= 0) request.processors.push_back(processor);
    }
    pid_t pid = 0;
    status = spawn(request, saved_, pid, exit_status);
    std::fill_n(pids_.begin() + first, plan_.process_ranks, pid);
  }
  // The child has its copies, and an end that stayed open here would hide the end of the stream.
  std::vector<int> ends = descriptors.pmi;
  ends.insert(ends.end(), {request.standard_output, request.standard_error});
  for (int descriptor : ends) {
    if (descriptor >= 0) ::close(descriptor);
  }
  return status;
}

// Returns when every rank has been reaped; end_job_and_children() ends the ranks' orphans.
void Runner::loop() {
  std::vector<Event> events;
  while (!monitor_.over()) {
    poller_.wait(wait_ms(), events);
    // Reports are judged after all events of the round, because some of these events may be ends of ranks.
    for (const Event& event : events) dispatch(event);
    take_reports();
    act();
  }
}

void Runner::dispatch(Event event) {
  switch (event.kind) {
    case EventKind::signal:
      return on_signals();
    case EventKind::pmi:
      channels_.on_readable(event.index);
      return;
    case EventKind::input:
    case EventKind::input_pipe:
      return input_.on_event(event);
    default:
      return output_.on_event(event, signed_monotonic_ns());
  }
}

// Reads all pending signals: the descriptor is non-blocking and level-triggered.
void Runner::on_signals() {
  signalfd_siginfo info{};
  bool children = false;
  // Several child signals merge into one, so reap() asks for all changes.
  while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    const SignalUse use = use_of(signal);
    children |= use == SignalUse::child;
    if (use == SignalUse::end_job) monitor_.on_interrupt(signal, signed_monotonic_ns());
    if (use == SignalUse::suspend) suspend();
    if (use == SignalUse::report) show_state();
    if (use == SignalUse::forward) signal_job(signal);
  }
  if (children) reap();
}

void Runner::signal_job(int signal) {
  // The group covers the ranks' children; ranks that lead a group of their own are signalled one by one.
  guardian_.signal_group(signal);
  signal_ranks_outside(guardian_.group(), pids_, signal);
}

// SIGUSR1: prints each rank's state from the board, and forwards the signal to ranks that can print more.
void Runner::show_state() {
  other_mpi_.look(pids_, signed_monotonic_ns());
  // The process that was signalled last: the ranks of one process get one signal.
  int signalled = 0;
  for (std::uint32_t rank = 0; rank < places_.used(); ++rank) {
    const sim::Board& board = memory_.board();
    const bool ended = monitor_.ended(rank);
    output_.notice(describe_state(board, rank, pids_[rank], ended, other_mpi_.library_of(rank), name_location_));
    const sim::BoardBlock& block = board.block(rank);
    if (!can_report(block, ended) || signalled == block.pid) continue;
    signalled = block.pid;
    signal_if_caught({block.pid, block.start_ticks}, SIGUSR1);
  }
}

// Ctrl-Z: stops the job, then the launcher itself; the kill() returns when the launcher is continued.
void Runner::suspend() {
  signal_job(SIGTSTP);
  ::kill(::getpid(), SIGSTOP);
  signal_job(SIGCONT);
}

void Runner::reap() {
  for (const ChildChange& change : changed_children()) on_child(change.pid, change.code, change.value);
}

// Judges the reports of this round. Ends of ranks are collected first: a rank that aborts because another one died must
// not be reported as the cause.
void Runner::take_reports() {
  if (reported_by_ranks_.empty()) return;
  reap();
  const std::int64_t now = signed_monotonic_ns();
  for (const auto& [rank, outcome] : reported_by_ranks_) {
    if (monitor_.over()) break;
    if (outcome.second_program) {
      monitor_.on_second_program(rank, outcome.abort_code, now);
    } else if (outcome.aborts) {
      // The PMI line holds only the beginning of the message; the board has all of it.
      const sim::BoardBlock& block = memory_.board().block(rank);
      const bool on_board = block.state == sim::RankState::aborting;
      monitor_.on_abort(rank, outcome.abort_code, on_board ? clean_text(block.message) : outcome.abort_message, now);
    } else {
      monitor_.on_protocol_error(rank, outcome.error, now);
    }
  }
  reported_by_ranks_.clear();
}

// A rank's end is reported to the Monitor only after its last lines of PMI and output have been read.
void Runner::on_child(pid_t pid, int code, int value) {
  const auto found = std::find(pids_.begin(), pids_.end(), pid);
  if (found == pids_.end()) {
    // An adopted orphan, the guardian, or a child from before the job; its number may be reused now.
    if (code != CLD_STOPPED && code != CLD_CONTINUED) job_processes_.remove(pid);
    return;
  }
  const auto rank = static_cast<std::uint32_t>(found - pids_.begin());
  const std::int64_t now = signed_monotonic_ns();
  // The number may have been reused by an adopted orphan.
  if (monitor_.ended(rank)) return;
  if (code == CLD_STOPPED) return monitor_.on_stop(rank, now);
  if (code == CLD_CONTINUED) return monitor_.on_continue(rank);
  // The last lines must be processed before the end: they may contain an abort.
  drained_ = rank;
  for (std::uint32_t each = rank; each < rank + plan_.process_ranks; ++each) channels_.drain(each);
  drained_ = -1;
  output_.drain(rank, now);
  on_process_end(rank, code != CLD_EXITED, value, now);
}

// The order decides which rank becomes the cause of the job's end. Ranks that aborted come first, because an abort has
// ended the process. Ranks that did not call MPI_Init come next, because the other ranks may have waited for them.
void Runner::on_process_end(std::uint32_t first, bool by_signal, int value, std::int64_t now) {
  std::vector<std::pair<std::uint32_t, RankEnd>> ends;
  bool explained = value == 0 || by_signal;
  for (std::uint32_t rank = first; rank < first + plan_.process_ranks; ++rank) {
    ends.emplace_back(rank, examine(rank, by_signal, value));
    explained = explained || ends.back().second.value == value;
  }
  // No rank's own end explains the process's exit status, so another part of the process has failed, such as a
  // sanitizer. The first rank gets the status.
  if (!explained) ends.front().second.value = value;
  const auto order = [](const auto& end) { return end.second.aborting ? 0 : end.second.called_init ? 2 : 1; };
  std::ranges::stable_sort(ends, {}, order);
  for (auto& [rank, end] : ends) {
    if (plan_.process_ranks > 1 && order(std::pair(rank, end)) == 2) check_missing_ranks();
    // A protocol error belongs to this end: if this is the last rank, take_reports() would be too late for it.
    for (const auto& [reporter, outcome] : reported_by_ranks_) {
      if (reporter == rank && !end.aborting && !outcome.aborts && !by_signal) {
        monitor_.on_protocol_error(rank, outcome.error, now);
      }
    }
    // The block of a process that was ended on purpose shows its last wait, which nobody must take for a wait.
    if (monitor_.killed(rank)) memory_.board().block(rank).state = sim::RankState::aborting;
    places_.on_end(rank, may_be_succeeded(rank, end));
    guests_.on_end(rank);
    monitor_.on_end(rank, end, now);
  }
}

RankEnd Runner::examine(std::uint32_t rank, bool by_signal, int value) const {
  const sim::BoardBlock& block = memory_.board().block(rank);
  RankEnd end = end_on_board(block, by_signal, value, memory_.board().place(rank).is_awaited != 0);
  // A program with another MPI library is visible through PMI only.
  if (block.state == sim::RankState::started) {
    end.called_init = server_.initialized(rank);
    end.called_finalize = server_.finalized(rank);
  }
  // A rank that is a thread may have ended before its process, with a status of its own.
  if (!by_signal && sim::published_number(memory_.board().block(rank).thread_ended) != 0) {
    end.value = block.thread_status & 0xff;
  }
  // An abort that the drain delivered belongs to this end, even if the board lacks it (another MPI library).
  for (const auto& [reporter, outcome] : reported_by_ranks_) {
    if (reporter != rank || end.aborting || !outcome.aborts) continue;
    end.aborting = true;
    end.abort_code = outcome.abort_code;
    end.second_program = outcome.second_program;
    end.text = outcome.abort_message;
  }
  return end;
}

bool Runner::has_ended(std::uint32_t rank) const {
  return monitor_.ended(rank) || sim::published_number(memory_.board().block(rank).thread_ended) != 0;
}

// A rank that ended without MPI_Init is a failure once another rank has called MPI_Init. No event announces this
// condition, so the board is polled.
void Runner::check_missing_ranks() {
  for (std::uint32_t rank = 0; rank < plan_.size() && plan_.process_ranks > 1; ++rank) {
    const sim::BoardBlock& block = memory_.board().block(rank);
    if (!has_ended(rank) || monitor_.ended(rank) || block.state != sim::RankState::started) continue;
    monitor_.on_thread_end_without_init(rank, block.thread_status);
  }
  if (!monitor_.some_ended_without_init()) return;
  for (std::uint32_t rank = 0; rank < places_.used(); ++rank) {
    if (monitor_.ended(rank)) continue;
    if (memory_.board().block(rank).state != sim::RankState::started || server_.initialized(rank)) {
      return monitor_.on_initialized(signed_monotonic_ns());
    }
  }
}

void Runner::act() {
  const std::int64_t now = signed_monotonic_ns();
  output_.on_time(now);
  if (input_.is_waiting_for_foreground()) input_.on_time();
  if (const OutputFailure& failure = output_.failure(); failure.error != 0) {
    monitor_.on_output_closed(failure.error, failure.output_name, now);
  }
  if (options_.timeout_seconds > 0 && now - started_ns_ >= static_cast<std::int64_t>(options_.timeout_seconds * 1e9)) {
    monitor_.on_timeout(now);
  }
  // All failures of one round are entered before a step is taken, so the first in this order is the cause.
  check_missing_ranks();
  if (other_mpi_.due_ns() >= 0 && now >= other_mpi_.due_ns()) other_mpi_.look(pids_, now);
  look_for_stall(now);
  if (options_.abort_deadlock && stall_.deadlock()) monitor_.on_deadlock(now);
  if (const std::int64_t rank = monitor_.take_stop_warning(now); rank >= 0) {
    output_.notice(describe_stop(static_cast<std::uint32_t>(rank), context()));
  }
  if (monitor_.cause().kind != CauseKind::none) report_cause();
  switch (monitor_.next_step(now)) {
    case KillStep::terminate:
      return signal_job(monitor_.ending_signal());
    case KillStep::kill:
      return signal_ranks(pids_, SIGKILL);
    case KillStep::nothing:
      return;
  }
}

// A deadlock's report names all waits, so it becomes a finding here, before the cause is known.
void Runner::look_for_stall(std::int64_t now) {
  const std::vector<std::string> lines = stall_.look(now, monitor_.is_any_stopped());
  if (lines.empty()) return;
  const sim::Finding finding = stall_.deadlock() ? sim::Finding::deadlock : sim::Finding::stalled;
  findings_.push_back(finding_of_waits(finding, lines.front(), memory_.board(), name_location_));
  for (const std::string& line : lines) output_.notice(line + (&line == lines.data() ? id_suffix(finding) : ""));
}

// The board has no event for a stall, so the loop wakes at least once a second.
int Runner::wait_ms() const {
  const std::int64_t now = signed_monotonic_ns();
  std::int64_t first = now + kStallLookMs * kSecondNs / 1000;
  const auto consider = [&first](std::int64_t at) {
    if (at >= 0) first = std::min(first, at);
  };
  consider(monitor_.deadline_ns());
  consider(output_.deadline_ns());
  consider(other_mpi_.due_ns());
  if (options_.timeout_seconds > 0) {
    consider(started_ns_ + static_cast<std::int64_t>(options_.timeout_seconds * 1e9));
  }
  if (input_.is_waiting_for_foreground()) consider(now + kBackgroundLookMs * kSecondNs / 1000);
  if (monitor_.some_ended_without_init()) consider(now + kMissingLookMs * kSecondNs / 1000);
  return static_cast<int>(std::max<std::int64_t>(0, (first - now + 999'999) / 1'000'000));
}

void Runner::end_job_and_children() {
  const pid_t group = guardian_.group();
  // Kills the group, and with it the guardian, which leads the group. Detached processes have left the group.
  guardian_.dismiss();
  const bool ended_well = monitor_.over() && monitor_.cause().kind == CauseKind::none;
  job_processes_.end(group, ended_well ? Detached::live : Detached::end, output_.pipes());
  // Precedes the change of the signals' actions, by which a signal ends the launcher at once.
  names_.withdraw();
  if (signals_ >= 0) ::close(signals_);
  // From here on Ctrl-C ends the launcher like any program.
  signals_ = -1;
  static_cast<void>(::sigprocmask(SIG_SETMASK, &saved_.signal_mask, nullptr));
}

// Called as soon as the cause is set, usually before the other ranks end, so that the message precedes their last
// output.
void Runner::report_cause() {
  if (reported_) return;
  reported_ = true;
  const std::string sentence = describe_cause(monitor_.cause(), context());
  const Cause& cause = monitor_.cause();
  // A deadlock's finding, with all waits, was added and printed when it was proven.
  if (cause.kind == CauseKind::deadlock) return output_.notice(sentence);
  findings_.push_back(finding_of_cause(cause, sentence, memory_.board(), plan_.process_ranks));
  output_.notice(sentence + id_suffix(finding_of_line(cause, memory_.board())));
}

void Runner::report_end() {
  if (monitor_.cause().kind != CauseKind::none) report_cause();
  JobFinding other;
  other.finding = sim::Finding::other_mpi;
  other.message = other_mpi_.conclude(other.ranks);
  other.time_ns = sim::real_clock().now_ns();
  if (!other.ranks.empty()) {
    output_.notice(other.message + id_suffix(other.finding));
    findings_.push_back(std::move(other));
  }
  if (!options_.print_exit_codes) return;
  for (std::uint32_t rank = 0; rank < places_.used(); ++rank) {
    output_.notice("margay: rank " + std::to_string(rank) + " exit code " +
                   std::to_string(monitor_.exit_code_of(rank)));
  }
  output_.finish(kHurriedReaderMs);
}

ReportContext Runner::context() const {
  ReportContext context;
  context.job_name = memory_.job_name();
  context.host = host_;
  context.board = &memory_.board();
  context.pids = &pids_;
  context.process_ranks = plan_.process_ranks;
  context.elapsed_seconds = static_cast<double>(signed_monotonic_ns() - started_ns_) / 1e9;
  context.timeout_seconds = options_.timeout_seconds;
  context.has_ended = [this](std::uint32_t rank) { return has_ended(rank); };
  context.name_location = name_location_;
  // The process of a rank that aborts ends by itself, and its ranks are not counted as ended by the launcher.
  const Cause& cause = monitor_.cause();
  const bool ends_itself = cause.kind == CauseKind::abort && !monitor_.ended(cause.rank);
  context.ranks_left = monitor_.left() - (ends_itself ? plan_.process_ranks : 0);
  return context;
}

}  // namespace margay::command
