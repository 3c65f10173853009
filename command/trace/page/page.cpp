#include "command/trace/page/page.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "command/trace/names/end_words.hpp"
#include "command/trace/page/accesses_table.hpp"
#include "command/trace/page/calls_table.hpp"
#include "command/trace/page/collectives_table.hpp"
#include "command/trace/page/entries_table.hpp"
#include "command/trace/page/library_table.hpp"
#include "command/trace/page/locks_table.hpp"
#include "command/trace/page/messages_table.hpp"
#include "command/trace/page/story_block.hpp"
#include "command/trace/story/format.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

constexpr std::string_view kDataMark = "<!-- margay:data -->\n";
// Number of stories in one blob, which the browser unpacks at a click.
constexpr std::size_t kStoriesInBlock = 256;

// "": the file has no start time.
std::string start_time(const Trace& trace) {
  constexpr std::uint64_t kBillion = 1'000'000'000;
  const auto seconds = static_cast<std::time_t>(trace.files.front().started_realtime_ns / kBillion);
  return seconds == 0 ? "" : fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

// By file: the time of its last event; NaN: it has none.
std::vector<double> last_events(const PageInput& input) {
  std::vector<double> last(input.trace.files.size(), kNoTime);
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) last[input.entry(i).file] = input.time(i);
  return last;
}

// The lost events of a file by cause. If the reader left out events because of --trace-last, all lost events count as
// left out: the overwritten ones are older than these, so they were not requested either.
struct LostEvents {
  std::uint64_t overwritten = 0, left_out = 0;
};
LostEvents missing(const TraceFile& file) {
  return file.left_out > 0 ? LostEvents{0, file.lost} : LostEvents{file.lost, 0};
}

// Formats the JSON by hand, since most values are numbers; texts go through json_text().
std::string ranks_of(const PageInput& input) {
  // The page distinguishes one thread from several, so `threads` is 1 or 2. A time that is not known is null, because
  // JSON has no NaN.
  const std::vector<double> last = last_events(input);
  std::string json;
  for (std::uint32_t i = 0; i < input.trace.files.size(); ++i) {
    const TraceFile& file = input.trace.files[i];
    json += fmt::format(
        R"({}{{"rank":{},"size":{},"node":{},"process":{},"events":{},"lost":{},"left_out":{},"closed":{},"end":{},"threads":{},"last":{},"heap":{}}})",
        json.empty() ? "" : ",", file.rank, file.size, file.node, file.process_id, file.written - file.lost,
        missing(file).overwritten, missing(file).left_out, file.closed, json_text(end_text(file)),
        input.messages.has_threads(i) ? 2 : 1, std::isnan(last[i]) ? "null" : fmt::format("{}", last[i]),
        input.names.heap_bytes(i));
  }
  return "[" + json + "]";
}

// The note on an mpi_enter or mpi_leave by which a rank itself ended the job: MPI_Abort, or a fatal error. "" for all
// other events. Searches backwards for the beginning of the call that failed.
std::string own_end(const PageInput& input, std::size_t at) {
  const Trace::Entry& entry = input.entry(at);
  if (entry.event.kind == sim::TraceKind::mpi_enter) {
    if (call_name(input.trace.files[entry.file], entry.event.a) != "MPI_Abort") return "";
    return fmt::format("Rank {} {}, which ends the job.", input.rank_of(at), input.event_text.of(entry));
  }
  if (entry.event.reason == 0) return "";
  std::size_t enter = at;
  while (enter > 0 && input.messages.leave_of(enter) != at) --enter;
  const bool known = input.messages.leave_of(enter) == at;
  return fmt::format("Rank {} {}{}.", input.rank_of(at),
                     known ? input.event_text.of(input.entry(enter)) + ", and " : "", input.event_text.of(entry));
}

std::vector<std::string> own_ends(const PageInput& input) {
  std::vector<std::string> ends;
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) {
    const sim::TraceKind kind = input.entry(i).event.kind;
    if (kind != sim::TraceKind::mpi_enter && kind != sim::TraceKind::mpi_leave) continue;
    if (std::string end = own_end(input, i); !end.empty()) ends.push_back(std::move(end));
  }
  return ends;
}

// The order of the notes: ends that a rank caused itself, losses and ends file by file, missing files.
std::string notes_of(const PageInput& input) {
  const Trace& trace = input.trace;
  std::string json;
  const auto note = [&](const std::string& text) { json += (json.empty() ? "" : ",") + json_text(text); };
  for (const std::string& end : own_ends(input)) note(end);
  for (const TraceFile& file : trace.files) {
    const auto [overwritten, left_out] = missing(file);
    if (overwritten > 0) {
      note(
          fmt::format("Rank {}: its first {} overwritten; record more (--trace-events). The earlier contents of its "
                      "match lists and queues are not shown.",
                      file.rank, sim::counted(overwritten, "event was", "events were")));
    }
    if (left_out > 0) {
      note(fmt::format(
          "Rank {}: its first {} not kept (--trace-last). The earlier contents of its match lists and queues "
          "are not shown.",
          file.rank, sim::counted(left_out, "event is", "events are")));
    }
    if (const std::string end = end_text(file); !file.closed || !end.empty()) {
      note(fmt::format(
          "Rank {} {}.", file.rank,
          end.empty() ? "did not close its trace: it still runs, or ended otherwise than by MPI_Finalize" : end));
    }
    if (file.definitions_lost > 0) {
      note(
          fmt::format("Rank {}: its file had no room for {}.", file.rank, sim::counted(file.definitions_lost, "name")));
    }
  }
  if (std::string text = unsealed_text(trace.files); !text.empty()) {
    text.front() = 'N';
    note(text + ".");
  }
  if (!trace.files.empty() && trace.files.size() < trace.files.front().size) {
    const std::size_t without = trace.files.front().size - trace.files.size();
    note(fmt::format("{} not in the folder{}.", sim::counted(without, "rank's file is", "ranks' files are"),
                     trace.blank != 0 ? fmt::format(", or blank ({} of them)", trace.blank) : ""));
  }
  return "[" + json + "]";
}

// Adds the stories. Other threads format the blocks; `input` and `messages` no longer change, so no lock is needed.
void add_stories(const PageInput& input, const PageMessages& messages, const StoriesWritten& progress, PageData& data) {
  std::string blobs;
  const std::size_t all = messages.stories.size();
  for (std::size_t begin = 0; begin < all; begin += kStoriesInBlock) {
    const std::size_t blob = data.add_blob([&input, &messages, begin, end = std::min(all, begin + kStoriesInBlock)] {
      StoryBlock block;
      EventTextCache cache(input.event_text);
      for (std::size_t row = begin; row < end; ++row) {
        block.add(format_story(input.trace, input.messages, input.event_text, messages.stories[row], cache));
      }
      return block.text();
    });
    blobs += fmt::format("{}{}", blobs.empty() ? "" : ",", blob);
    progress(begin, all);
  }
  data.member("stories", fmt::format(R"({{"block":{},"blobs":[{}]}})", kStoriesInBlock, blobs));
}

}  // namespace

portals::Status write_page(std::string_view frame, const PageInput& input, const std::string& title,
                           const StoriesWritten& progress, std::ostream& out) {
  // The frame is tested first, because the tables of a long trace take long to build.
  const std::size_t mark = frame.find(kDataMark);
  if (mark == std::string_view::npos) return portals::Status::error("the page has no place for its data");
  PageData data;
  // Tables are added in the order of the references between them: rows must exist before other tables refer to them.
  const PageCalls calls = add_calls(input, data);
  const PageMessages messages = add_messages(input, calls, data);
  add_entries(input, messages, data);
  add_collectives(input, calls, data);
  add_locks(input, data);
  add_accesses(input, calls, data);
  add_library_events(input, calls, data);
  add_stories(input, messages, progress, data);
  const std::uint64_t first = input.trace.entries.front().event.time, last = input.trace.entries.back().event.time;
  data.member("title", json_text(title));
  data.member("started", json_text(start_time(input.trace)));
  data.member("duration_ns", fmt::format("{}", last - first));
  data.member("ranks", ranks_of(input));
  data.member("notes", notes_of(input));
  if (!input.difference.empty()) data.member("difference", in_script(input.difference));
  out << frame.substr(0, mark);
  // Other threads may still pack blobs; this call waits for each when its turn comes.
  data.write(out);
  out << frame.substr(mark + kDataMark.size());
  return {};
}

}  // namespace margay::command
