#include "command/live/job_snapshot.hpp"

#include <unistd.h>

#include "command/run/report/report.hpp"
#include "command/run/report/stall.hpp"

namespace margay::command {

namespace {

constexpr double kNsPerSecond = 1e9;

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / kNsPerSecond;
}

// A rank publishes its process before it has initialised MPI.
bool has_begun(const sim::BoardBlock& block) {
  return block.pid > 0 && block.state != sim::RankState::started;
}

// Libraries that have ended are left out; their counts stay on the board for --stats.
std::vector<RankSnapshot::Polling> polling_of(const sim::BoardBlock& block) {
  std::vector<RankSnapshot::Polling> polling;
  for (const sim::BoardPolling& each : block.polling) {
    if (each.wire[0] != '\0') polling.push_back({clean_text(each.wire), each.counts});
  }
  const bool is_plain = polling.size() == 1 && polling.front().counts.interval == 1;
  return is_plain ? std::vector<RankSnapshot::Polling>() : polling;
}

std::vector<RankSnapshot::Library> libraries_of(const sim::BoardBlock& block) {
  std::vector<RankSnapshot::Library> libraries;
  for (const sim::BoardLibrary& each : block.libraries) {
    if (each.is_open == 0) continue;
    RankSnapshot::Library& library = libraries.emplace_back();
    library.name = clean_text(each.name);
    for (const sim::BoardCounter& counter : each.counters) {
      if (std::string name = clean_text(counter.name); !name.empty()) {
        library.counters.emplace_back(std::move(name), counter.count);
      }
    }
  }
  return libraries;
}

}  // namespace

std::string_view name(Activity doing) {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 11> kNames{"not begun", "computing", "sleeping", "in MPI", "asleep", "waiting",
                                                    "stopped",   "finalized", "aborting", "ended",  "unknown"};
  return kNames[static_cast<std::size_t>(doing)];
}

// The process's state decides first: the board of a killed rank shows its last call forever.
Activity activity_of(const sim::BoardBlock& block, const ProcessSnapshot& process) {
  if (block.pid <= 0) return Activity::not_begun;
  // The number may belong to a later process.
  const bool another = process.start_ticks != block.start_ticks && block.start_ticks != 0;
  if (process.state == 0 || another || process.state == 'Z' || process.state == 'X') return Activity::ended;
  if (process.state == 'T' || process.state == 't') return Activity::stopped;
  switch (block.state) {
    case sim::RankState::started:
      return Activity::not_begun;
    case sim::RankState::finalized:
      return Activity::finalized;
    case sim::RankState::aborting:
      return Activity::aborting;
    case sim::RankState::initialized:
      break;
    default:
      return Activity::unknown;
  }
  const bool runs = process.state == 'R';
  if (block.mpi_call[0] == '\0') return runs ? Activity::computing : Activity::sleeping;
  if (block.wait.is_waiting != 0) return Activity::waiting;
  return runs ? Activity::in_call : Activity::asleep;
}

// Compares with the previous snapshot of the same process; a new process in the rank's place starts anew.
RankSnapshot JobMonitor::look_at_rank(const BoardReader& board, std::uint32_t rank, std::uint64_t now_ns) {
  RankSnapshot look;
  look.rank = rank;
  look.node = board.node_of_rank()[rank];
  sim::BoardBlock block;
  if (!board.read_block(rank, block)) {
    look.doing = Activity::unknown;
    return look;
  }
  ProcessSnapshot process = block.pid > 0 ? look_at_process(block.pid) : ProcessSnapshot();
  // A rank that is a thread has its own state and processor time, and may end before its process.
  if (block.thread > 0 && process.state != 0) {
    const ProcessSnapshot thread = look_at_thread(block.pid, block.thread);
    process.state = thread.state != 0 && block.thread_ended == 0 ? thread.state : 'X';
    process.processor_ticks = thread.processor_ticks;
  }
  look.pid = std::max(block.pid, 0);
  look.doing = activity_of(block, process);
  if (!has_begun(block)) return look;
  // The board keeps the last call of a rank that has ended; it must not be shown as a call in progress.
  const bool lives = look.doing != Activity::ended && look.doing != Activity::finalized;
  if (lives) look.call = clean_text(block.mpi_call);
  look.posted_receives = block.posted_receives;
  look.unexpected = block.unexpected;
  look.sent = block.by_wire;
  look.libraries = libraries_of(block);
  look.polling = polling_of(block);
  Before now;
  now.at_ns = now_ns;
  now.calls = block.calls;
  now.processor_ticks = process.processor_ticks;
  now.pid = block.pid;
  now.call = look.call;
  for (std::size_t wire = 0; wire < block.by_wire.size(); ++wire) {
    // A forwarded message is counted by its hops.
    if (static_cast<sim::WireId>(wire) == sim::WireId::forward) continue;
    now.messages += block.by_wire[wire].messages;
    now.bytes += block.by_wire[wire].bytes;
  }
  Before& before = before_[rank];
  const bool seen = before.at_ns != 0 && before.pid == now.pid;
  const bool same = seen && before.calls == now.calls && before.call == now.call;
  now.same_since_ns = same ? before.same_since_ns : now_ns;
  // The board has the beginning of a reported wait. For other activities only the snapshots give a time.
  if (lives && block.wait.is_waiting != 0 && block.wait.since_ns <= now_ns && block.wait.since_ns != 0) {
    look.since_s = seconds(now_ns - block.wait.since_ns);
    look.waits_for = describe_wait_target(block);
    look.held = clean_text(block.wait.held);
  } else if (lives && same) {
    look.since_s = seconds(now_ns - now.same_since_ns);
    look.is_monitored = true;
  }
  // Counters only grow. If one is smaller than before, it is invalid, and no rate is derived.
  const bool grew = seen && now_ns > before.at_ns && now.calls >= before.calls && now.messages >= before.messages &&
                    now.bytes >= before.bytes && now.processor_ticks >= before.processor_ticks;
  if (grew && lives) {
    const double passed = seconds(now_ns - before.at_ns);
    // The operating system counts processor time in ticks of 1/_SC_CLK_TCK s, normally 10 ms, so the share is coarse
    // for short intervals.
    look.rates = RankSnapshot::Rates{.processor = static_cast<double>(now.processor_ticks - before.processor_ticks) /
                                                  static_cast<double>(::sysconf(_SC_CLK_TCK)) / passed,
                                     .calls = static_cast<double>(now.calls - before.calls) / passed,
                                     .messages = static_cast<double>(now.messages - before.messages) / passed,
                                     .bytes = static_cast<double>(now.bytes - before.bytes) / passed};
  }
  before = std::move(now);
  return look;
}

// An unreadable board counts as the job's end.
JobSnapshot JobMonitor::look(RunningJob& job, std::uint64_t now_ns) {
  JobSnapshot look;
  look.name = job.name;
  look.command = job.command;
  look.launcher = job.launcher.pid;
  const bool readable = job.board.refresh();
  look.ended = !readable || sim::has_ended(job.launcher);
  const sim::BoardHeader& header = job.board.header();
  look.nodes = header.node_count;
  if (header.started_ns != 0 && header.started_ns <= now_ns) look.runs_s = seconds(now_ns - header.started_ns);
  if (!look.ended && header.stall <= static_cast<std::uint32_t>(sim::BoardStall::deadlock)) {
    look.stall = static_cast<sim::BoardStall>(header.stall);
    if (look.stall != sim::BoardStall::none) look.cycle = clean_text(header.cycle);
  }
  before_.resize(job.board.size());
  look.ranks.reserve(job.board.used());
  for (std::uint32_t rank = 0; rank < job.board.used(); ++rank) {
    look.ranks.push_back(look_at_rank(job.board, rank, now_ns));
  }
  return look;
}

}  // namespace margay::command
