#include "command/run/report/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <numeric>

#include "sim/base/resources.hpp"

namespace margay::command {
namespace {

std::string describe_rank(std::uint32_t rank, const ReportContext& context) {
  return fmt::format("rank {} (host {}, pid {})", rank, context.host, (*context.pids)[rank]);
}

// The ranks that end with one process. `one`, `many`: the verb behind them.
std::string describe_ranks(const std::vector<std::uint32_t>& ranks, const ReportContext& context, std::string_view one,
                           std::string_view many) {
  if (ranks.size() == 1) return fmt::format("{}{}", describe_rank(ranks.front(), context), one);
  return fmt::format("{} (threads of one process, host {}, pid {}){}", ranks_text(ranks), context.host,
                     (*context.pids)[ranks.front()], many);
}

std::vector<std::uint32_t> ranks_of_process(std::uint32_t rank, std::uint32_t process_ranks) {
  std::vector<std::uint32_t> ranks(process_ranks);
  std::iota(ranks.begin(), ranks.end(), rank - rank % process_ranks);
  return ranks;
}

std::string in_call(std::uint32_t rank, const ReportContext& context) {
  const std::string call = call_in_progress(*context.board, rank);
  return call.empty() ? std::string() : " in " + call;
}

// "No space left on device (ENOSPC)".
std::string error_name(int error) {
  const char* name = ::strerrorname_np(error);
  return fmt::format("{} ({})", std::strerror(error), name == nullptr ? std::to_string(error) : name);
}

// The limit that caused the error, if there is one.
std::string format_limit(int error) {
  const std::string limit = error == EFBIG ? sim::describe_file_size_limit() : std::string();
  return limit.empty() ? limit : ", " + limit + ",";
}

// For a timeout: the calls of the first 16 ranks, which usually show why the job had not ended.
std::string calls_of_all(const ReportContext& context) {
  constexpr std::uint32_t kMostShown = 16;
  std::string text;
  const std::uint32_t size = context.board->used();
  for (std::uint32_t rank = 0; rank < size && rank < kMostShown; ++rank) {
    const std::string call = describe_call(*context.board, rank, context.name_location);
    // The board keeps the last call of a rank that has ended.
    const bool ended = context.has_ended && context.has_ended(rank);
    text += fmt::format("{} rank {} {}", text.empty() ? ":" : ",", rank,
                        ended ? "has ended" : "in " + (call.empty() ? "the program" : call));
  }
  return size > kMostShown ? text + ", ..." : text;
}

// "the library counter", "the library counter, the library rmi"; empty: none is open.
std::string open_libraries(const sim::BoardBlock& block) {
  std::string text;
  for (const sim::BoardLibrary& each : block.libraries) {
    if (each.is_open != 0) text += (text.empty() ? "the library " : ", the library ") + clean_text(each.name);
  }
  return text;
}

// A process that MPI_Comm_spawn has started may have begun a library, whose error then explains the end.
std::string format_no_init(const Cause& cause, const ReportContext& context) {
  const sim::BoardBlock& block = context.board->block(cause.rank);
  const std::string rank = describe_rank(cause.rank, context);
  if (context.board->place(cause.rank).is_awaited == 0)
    return fmt::format("{} did not call MPI_Init, as other ranks did, and ended (exit code {})", rank, cause.code);
  const std::string error = clean_text(block.failed_call).empty() ? std::string() : clean_text(block.message);
  return fmt::format("{}{} did not call MPI_Init, for which MPI_Comm_spawn waits, and ended (exit code {})", rank,
                     error.empty() ? "" : ": " + error + "; it", cause.code);
}

// A clause about the cause; describe_cause() adds job, time and the remaining ranks.
std::string format_cause(const Cause& cause, const ReportContext& context) {
  const std::vector<std::uint32_t> ranks = ranks_of_cause(cause, *context.board, context.process_ranks);
  // Several ranks may be in different calls.
  const std::string call = ranks.size() == 1 ? in_call(cause.rank, context) : std::string();
  switch (cause.kind) {
    case CauseKind::none:
      return "nothing";
    case CauseKind::signal:
      return fmt::format("{} killed by signal {}, {}{}", describe_ranks(ranks, context, " was", " were"), cause.signal,
                         signal_name(cause.signal), call);
    case CauseKind::no_finalize:
      // If the rank did call MPI_Finalize, the call failed, and its error is the cause.
      if (const sim::BoardBlock& block = context.board->block(cause.rank);
          clean_text(block.failed_call) == "MPI_Finalize") {
        return fmt::format("MPI_Finalize failed in {}: {}", describe_rank(cause.rank, context),
                           clean_text(block.message));
      }
      if (const std::uint32_t open = context.board->block(cause.rank).open_sessions; open != 0) {
        // A library holds the rank as a session does.
        if (const std::string libraries = open_libraries(context.board->block(cause.rank)); !libraries.empty()) {
          return fmt::format("{} left without the end of {} (exit code {}){}", describe_rank(cause.rank, context),
                             libraries, cause.code, in_call(cause.rank, context));
        }
        return fmt::format("{} left {} session{} without MPI_Session_finalize (exit code {}){}",
                           describe_rank(cause.rank, context), open, open == 1 ? "" : "s", cause.code,
                           in_call(cause.rank, context));
      }
      return fmt::format("{} left without {} (exit code {}){}", describe_ranks(ranks, context, "", ""),
                         context.board->block(cause.rank).on_portals != 0 ? "Program::finish()" : "MPI_Finalize",
                         cause.code, call);
    case CauseKind::no_init:
      return format_no_init(cause, context);
    case CauseKind::abort:
      return cause.text.empty()
                 ? fmt::format("{} called MPI_Abort with code {}", describe_rank(cause.rank, context), cause.code)
                 : fmt::format("{}: {} (exit status {})", describe_rank(cause.rank, context), cause.text,
                               failing_status(cause.code));
    case CauseKind::second_program:
      return "a second MPI program was started in the place of " + describe_rank(cause.rank, context);
    case CauseKind::timeout:
      return fmt::format("time is up (--timeout {:g}){}", context.timeout_seconds, calls_of_all(context));
    case CauseKind::deadlock:
      return "no rank can proceed (--deadlock abort)";
    case CauseKind::interrupted:
      return "the launcher got " + signal_name(cause.signal);
    case CauseKind::output_closed:
      if (cause.code == EPIPE) return fmt::format("the reader of {} has closed it (EPIPE)", cause.text);
      return fmt::format("{} cannot be written: {}{}", cause.text, error_name(cause.code), format_limit(cause.code));
    case CauseKind::protocol:
      return describe_rank(cause.rank, context) + " broke the launch protocol: " + cause.text;
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> ranks_of_cause(const Cause& cause, const sim::Board& board, std::uint32_t process_ranks) {
  std::vector<std::uint32_t> ranks = ranks_of_process(cause.rank, process_ranks);
  if (cause.kind == CauseKind::signal) return ranks;
  if (cause.kind != CauseKind::no_finalize || board.block(cause.rank).open_sessions != 0) return {cause.rank};
  // Of the ranks of a process some may have finalized, and some may have failed to.
  std::erase_if(ranks, [&](std::uint32_t rank) {
    return rank != cause.rank && board.block(rank).state != sim::RankState::initialized;
  });
  return ranks;
}

std::string ranks_text(std::span<const std::uint32_t> ranks) {
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (std::size_t begin = 0; begin < ranks.size();) {
    std::size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (begin == 0 ? " " : ", ") + std::to_string(ranks[begin]);
    if (end - begin > 1) text += "-" + std::to_string(ranks[end - 1]);
    begin = end;
  }
  return text;
}

// The number of remaining ranks shows whether the failure ended others.
std::string describe_cause(const Cause& cause, const ReportContext& context) {
  std::string others;
  if (context.ranks_left == context.board->used() && context.ranks_left > 1) {
    others = fmt::format("; ending all {} ranks", context.ranks_left);
  } else if (context.ranks_left > 0) {
    others = fmt::format("; ending the {} rank{} left", context.ranks_left, context.ranks_left > 1 ? "s" : "");
  }
  return fmt::format("margay: job {}: {} after {:.2f} s{}", context.job_name, format_cause(cause, context),
                     context.elapsed_seconds, others);
}

std::string describe_stop(std::uint32_t rank, const ReportContext& context) {
  const std::vector<std::uint32_t> ranks = ranks_of_process(rank, context.process_ranks);
  return fmt::format(
      "margay: job {}: {} been stopped by a signal{} for 10 s; the job goes on when it is continued "
      "(kill -CONT {})",
      context.job_name, describe_ranks(ranks, context, " has", " have"),
      ranks.size() == 1 ? in_call(rank, context) : "", (*context.pids)[rank]);
}

// Real-time signals have neither abbreviation nor description.
std::string signal_name(int signal) {
  const char* short_name = ::sigabbrev_np(signal);
  const char* description = ::sigdescr_np(signal);
  if (short_name == nullptr || description == nullptr) return "signal " + std::to_string(signal);
  return fmt::format("SIG{} ({})", short_name, description);
}

std::string clean_text(std::span<const char> field) {
  std::string text;
  for (char c : field) {
    // A field that the text fills has no zero.
    if (c == '\0') break;
    // The board is memory that ranks write, so a text may have any bytes; they must not reach a terminal as control
    // characters.
    text += c >= 0x20 && c < 0x7f ? c : '?';
  }
  return text;
}

std::string call_in_progress(const sim::Board& board, std::uint32_t rank) {
  return clean_text(board.block(rank).mpi_call);
}

std::string describe_call(const sim::Board& board, std::uint32_t rank, const NameLocation& name_location) {
  const sim::BoardWait& wait = board.block(rank).wait;
  // A reported long wait has its call and location; otherwise the board shows the call alone.
  std::string call = wait.is_waiting != 0 ? clean_text(wait.call) : std::string();
  if (call.empty()) call = call_in_progress(board, rank);
  if (call.empty() || wait.is_waiting == 0 || !name_location) return call;
  const std::string location = name_location(clean_text(wait.location));
  return location.empty() ? call : call + " (" + location + ")";
}

}  // namespace margay::command
