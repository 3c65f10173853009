#include "command/trace/page/calls_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace margay::command {

namespace {

// A cache of lines of source by address: resolving one may read debug information.
class Sites {
 public:
  Sites(const PageInput& input, PageStrings& strings) : input_(input), strings_(strings) {}

  // 0 is the empty text: the line is not known.
  std::uint32_t of(const Trace::Entry& enter) {
    if (!input_.call_site) return 0;
    const auto [found, is_new] = known_.try_emplace({enter.file, enter.event.match_bits}, 0);
    if (!is_new) return found->second;
    const sim::Definition* const module = input_.names.module(enter.file, enter.event.match_bits);
    if (module != nullptr) found->second = strings_.number(input_.call_site(*module, enter.event.match_bits));
    return found->second;
  }

 private:
  const PageInput& input_;
  PageStrings& strings_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> known_;
};

struct Columns {
  std::vector<std::uint32_t> rank, name, site;
  std::vector<std::uint8_t> thread, depth;
  std::vector<double> begin, end, wait;
};

// Columns of one byte suffice for threads and depths; larger numbers become 255.
std::uint8_t small(std::uint64_t number) {
  return static_cast<std::uint8_t>(std::min<std::uint64_t>(number, 0xff));
}

// A wait without a recorded beginning is omitted: its duration is unknown.
void add_waits(const PageInput& input, PageData& data, PageCalls& calls) {
  std::vector<std::uint32_t> rank;
  std::vector<std::uint8_t> thread;
  std::vector<double> begin, end;
  calls.waits.resize(input.trace.files.size());
  // By file and thread: the open wait_begin.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> begun;
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) {
    const auto& [event, file] = input.entry(i);
    if (event.kind == sim::TraceKind::wait_begin) begun[{file, event.detail}] = i;
    if (event.kind != sim::TraceKind::wait_end) continue;
    const auto found = begun.find({file, event.detail});
    if (found == begun.end()) continue;
    rank.push_back(input.rank_of(i));
    thread.push_back(small(event.detail));
    begin.push_back(input.time(found->second));
    end.push_back(input.time(i));
    calls.waits[file].push_back({begin.back(), end.back()});
    begun.erase(found);
  }
  // Ranks that are still waiting at the end of the recording.
  for (const auto& [thread_of_file, at] : begun) {
    rank.push_back(input.rank_of(at));
    thread.push_back(small(thread_of_file.second));
    begin.push_back(input.time(at));
    end.push_back(kNoTime);
    // Because of the infinite end, waited() counts the wait up to the end of any interval.
    calls.waits[thread_of_file.first].push_back({begin.back(), std::numeric_limits<double>::infinity()});
  }
  data.table("waits", rank.size())
      .column("rank", rank)
      .column("thread", thread)
      .column("begin", begin)
      .column("end", end)
      .done();
}

}  // namespace

std::int32_t PageCalls::row_around(const PageInput& input, std::size_t at) const {
  // With several threads the entry may belong to another thread's call.
  if (at == kNoEntry || input.messages.has_threads(input.entry(at).file)) return kNoRow;
  const std::size_t enter = input.messages.call_around(at);
  return enter == kNoEntry ? kNoRow : rows[enter];
}

double PageCalls::waited(std::uint32_t file, double from, double to) const {
  if (std::isnan(from) || std::isnan(to) || to <= from) return 0;
  const std::vector<PageWait>& all = waits[file];
  // One thread's waits are ordered and do not overlap, so a binary search finds the first.
  const auto first =
      std::upper_bound(all.begin(), all.end(), from, [](double time, const PageWait& wait) { return time < wait.end; });
  double sum = 0;
  for (auto wait = first; wait != all.end() && wait->begin < to; ++wait) {
    sum += std::min(wait->end, to) - std::max(wait->begin, from);
  }
  return sum;
}

// Rows are in the order of the beginnings.
PageCalls add_calls(const PageInput& input, PageData& data) {
  PageCalls calls;
  calls.rows.assign(input.trace.entries.size(), kNoRow);
  Columns columns;
  Sites sites(input, data.strings());
  // By file and thread: calls entered and not left.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> depths;
  for (std::size_t i = 0; i < input.trace.entries.size(); ++i) {
    const Trace::Entry& entry = input.entry(i);
    const sim::TraceEvent& event = entry.event;
    if (event.kind != sim::TraceKind::mpi_enter && event.kind != sim::TraceKind::mpi_leave) continue;
    std::uint64_t& depth = depths[{entry.file, event.detail}];
    if (event.kind == sim::TraceKind::mpi_leave) {
      // If the depth is 0, the mpi_enter of this mpi_leave was overwritten in the ring.
      depth -= depth > 0 ? 1 : 0;
      continue;
    }
    calls.rows[i] = static_cast<std::int32_t>(columns.rank.size());
    columns.rank.push_back(input.rank_of(i));
    columns.thread.push_back(small(event.detail));
    columns.name.push_back(data.strings().number(call_name(input.trace.files[entry.file], event.a)));
    columns.site.push_back(sites.of(entry));
    columns.begin.push_back(input.time(i));
    columns.end.push_back(input.time(input.messages.leave_of(i)));
    columns.depth.push_back(small(depth++));
    columns.wait.push_back(static_cast<double>(input.messages.waited_in(i)));
  }
  data.table("calls", columns.rank.size())
      .column("rank", columns.rank)
      .column("thread", columns.thread)
      .column("name", columns.name)
      .column("site", columns.site)
      .column("begin", columns.begin)
      .column("end", columns.end)
      .column("depth", columns.depth)
      .column("wait", columns.wait)
      .done();
  add_waits(input, data, calls);
  return calls;
}

}  // namespace margay::command
