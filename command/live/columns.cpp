#include "command/live/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/run/report/stall.hpp"

namespace margay::command {

// Below 10000 the whole number. Above, a number with a unit: one decimal below 100, none from 100 on. At most five
// characters.
std::string short_number(double number) {
  constexpr double kThousand = 1000;
  constexpr double kPlain = 9999.5;
  // Limits include rounding: 9999.5 would be printed with five digits.
  if (number < kPlain) return fmt::format("{:.0f}", number);
  const char* unit = "kMGTPE";
  number /= kThousand;
  while (number >= kThousand - 0.5 && unit[1] != '\0') {
    number /= kThousand;
    ++unit;
  }
  return number < 99.95 ? fmt::format("{:.1f}{}", number, *unit) : fmt::format("{:.0f}{}", number, *unit);
}

// The limit of 1e9 s keeps the conversion to long defined.
std::string short_time(double seconds) {
  constexpr double kTenSeconds = 9.95;
  constexpr long kMinute = 60;
  constexpr long kHour = 3600;
  if (seconds < kTenSeconds) return fmt::format("{:.1f}", seconds);
  const long whole = std::lround(std::min(seconds, 1e9));
  if (whole < kMinute) return std::to_string(whole);
  if (whole < kHour) return fmt::format("{}m{:02}", whole / kMinute, whole % kMinute);
  return fmt::format("{}h{:02}", whole / kHour, whole % kHour / kMinute);
}

std::string run_time_text(double seconds) {
  constexpr double kMinute = 59.5;
  constexpr double kHour = 3599.5;
  return short_time(seconds) + (seconds < kMinute ? " s" : seconds < kHour ? "s" : "m");
}

// A word longer than a line is broken inside.
std::vector<std::string> wrapped(const std::string& text, std::size_t room) {
  constexpr std::string_view kIndent = "  ";
  std::vector<std::string> lines;
  std::string rest = text;
  while (rest.size() > room && room > kIndent.size()) {
    const std::size_t from = lines.empty() ? 0 : kIndent.size();
    const std::size_t space = rest.rfind(' ', room);
    const bool found = space != std::string::npos && space > from;
    lines.push_back(rest.substr(0, found ? space : room));
    rest = std::string(kIndent) + rest.substr(found ? space + 1 : room);
  }
  lines.push_back(rest);
  return lines;
}

namespace {

// The value by which a rank is sorted, in descending order. Rank numbers are negated, so that they ascend.
double value(const RankSnapshot& rank, SortKey key) {
  const RankSnapshot::Rates rates = rank.rates.value_or(RankSnapshot::Rates{});
  switch (key) {
    case SortKey::rank:
      return -static_cast<double>(rank.rank);
    case SortKey::since:
      return rank.since_s.value_or(-1);
    case SortKey::processor:
      return rates.processor;
    case SortKey::calls:
      return rates.calls;
    case SortKey::messages:
      return rates.messages;
    case SortKey::bytes:
      return rates.bytes;
    case SortKey::posted:
      return static_cast<double>(rank.posted_receives);
    case SortKey::unexpected:
      return static_cast<double>(rank.unexpected.messages);
    case SortKey::heap:
      return static_cast<double>(rank.unexpected.bytes);
  }
  return 0;
}

// The sort is stable, so ranks with equal values stay in the order of their numbers.
std::vector<std::size_t> order_of(const std::vector<RankSnapshot>& ranks, SortKey key) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t one, std::size_t other) { return value(ranks[one], key) > value(ranks[other], key); });
  return order;
}

std::string number_of(std::uint64_t count) {
  return short_number(static_cast<double>(count));
}

// The beginning of a wait's phrase, which is also the column's name.
constexpr std::string_view kWaitsFor = "waits for";

// A column. `goes`: its place in the order in which columns are omitted for lack of room, highest first; 0: never
// omitted for this reason.
struct Column {
  enum Name : std::uint8_t {
    kRank,
    kNode,
    kPid,
    kState,
    kCall,
    kWaits,
    kSince,
    kCpu,
    kCalls,
    kMessages,
    kBytes,
    kPosted,
    kUnexpected,
    kHeap,
    kShm,
    kShmBytes,
    kTcp,
    kTcpBytes,
    kCount
  };
  std::string_view head;
  // Minimum width.
  std::size_t width;
  bool left;
  int goes;
  // The sort order by this column. Columns by which the ranks cannot be sorted have SortKey::rank, too.
  SortKey key;
};
// Columns with equal `goes` are omitted together, such as messages and bytes of a wire.
constexpr std::array<Column, Column::kCount> kColumns{{{"rank", 5, false, 0, SortKey::rank},
                                                       {"node", 4, false, 12, SortKey::rank},
                                                       {"pid", 8, false, 5, SortKey::rank},
                                                       {"state", 9, true, 0, SortKey::rank},
                                                       {"call", 13, true, 0, SortKey::rank},
                                                       {kWaitsFor, 0, true, 0, SortKey::rank},
                                                       {"since s", 7, false, 1, SortKey::since},
                                                       {"cpu%", 5, false, 6, SortKey::processor},
                                                       {"calls/s", 7, false, 8, SortKey::calls},
                                                       {"msgs/s", 7, false, 9, SortKey::messages},
                                                       {"bytes/s", 7, false, 10, SortKey::bytes},
                                                       {"posted", 6, false, 4, SortKey::posted},
                                                       {"unexp", 6, false, 3, SortKey::unexpected},
                                                       {"heap", 6, false, 7, SortKey::heap},
                                                       {"shm", 7, false, 14, SortKey::rank},
                                                       {"bytes", 7, false, 14, SortKey::rank},
                                                       {"tcp", 7, false, 16, SortKey::rank},
                                                       {"bytes", 7, false, 16, SortKey::rank}}};
using Cells = std::array<std::string, Column::kCount>;

// A rank that has not begun MPI has "-" in place of counters, which would be 0.
Cells cells_of(const RankSnapshot& rank) {
  const auto rate = [&](double RankSnapshot::Rates::*which) {
    return rank.rates ? short_number((*rank.rates).*which) : std::string("-");
  };
  const bool begun = rank.doing != Activity::not_begun && rank.doing != Activity::unknown;
  const auto shown = [begun](std::uint64_t count) { return begun ? number_of(count) : std::string("-"); };
  const sim::BoardCount& shm = rank.sent[static_cast<std::size_t>(sim::WireId::shm)];
  const sim::BoardCount& tcp = rank.sent[static_cast<std::size_t>(sim::WireId::tcp)];
  std::string waits = rank.waits_for;
  if (waits.starts_with(kWaitsFor)) waits.erase(0, kWaitsFor.size() + 1);
  Cells cells;
  cells[Column::kRank] = std::to_string(rank.rank);
  cells[Column::kNode] = std::to_string(rank.node);
  cells[Column::kPid] = rank.pid == 0 ? "-" : std::to_string(rank.pid);
  cells[Column::kState] = name(rank.doing);
  cells[Column::kCall] = rank.call.empty() ? "-" : rank.call;
  cells[Column::kWaits] = waits.empty() ? "-" : waits;
  cells[Column::kSince] =
      !rank.since_s ? "-" : fmt::format("{}{}", rank.is_monitored ? ">" : "", short_time(*rank.since_s));
  cells[Column::kCpu] = rank.rates ? fmt::format("{:.0f}", rank.rates->processor * 100) : "-";
  cells[Column::kCalls] = rate(&RankSnapshot::Rates::calls);
  cells[Column::kMessages] = rate(&RankSnapshot::Rates::messages);
  cells[Column::kBytes] = rate(&RankSnapshot::Rates::bytes);
  cells[Column::kPosted] = shown(rank.posted_receives);
  cells[Column::kUnexpected] = shown(rank.unexpected.messages);
  cells[Column::kHeap] = shown(rank.unexpected.bytes);
  cells[Column::kShm] = shown(shm.messages);
  cells[Column::kShmBytes] = shown(shm.bytes);
  cells[Column::kTcp] = shown(tcp.messages);
  cells[Column::kTcpBytes] = shown(tcp.bytes);
  return cells;
}

// By column: its width with its contents; 0: omitted.
using Widths = std::array<std::size_t, Column::kCount>;

// Columns are as wide as their contents, and the one of waits is omitted if no rank waits; then the least important
// ones are omitted until the line fits.
Widths widths_of(const std::vector<Cells>& rows, SortKey key, std::size_t room) {
  Widths widths{};
  std::size_t sum = 0;
  for (std::size_t at = 0; at < kColumns.size(); ++at) {
    widths[at] = std::max(kColumns[at].width, kColumns[at].head.size());
    for (const Cells& cells : rows) widths[at] = std::max(widths[at], cells[at].size());
    const bool waits = std::ranges::any_of(rows, [](const Cells& cells) { return cells[Column::kWaits] != "-"; });
    if (at == Column::kWaits && !waits) widths[at] = 0;
    sum += widths[at] == 0 ? 0 : widths[at] + 1;
  }
  int most = 0;
  for (const Column& column : kColumns) most = std::max(most, column.goes);
  // There is one space less than there are columns.
  for (int goes = most; goes > 0 && sum > room + 1; --goes) {
    for (std::size_t at = 0; at < kColumns.size(); ++at) {
      // The column by which the user sorts stays, however narrow the screen is.
      const bool sorted = key != SortKey::rank && kColumns[at].key == key;
      if (kColumns[at].goes != goes || sorted || widths[at] == 0) continue;
      sum -= widths[at] + 1;
      widths[at] = 0;
    }
  }
  return widths;
}

// Trailing spaces would wrap on a terminal of exactly this width.
std::string line_of(const Cells& cells, const Widths& widths) {
  std::string line;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    if (widths[at] == 0) continue;
    if (at > 0) line += ' ';
    line +=
        kColumns[at].left ? fmt::format("{:<{}}", cells[at], widths[at]) : fmt::format("{:>{}}", cells[at], widths[at]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

// The letters are keys of the keyboard; the screen uses 'j', 'k' and 'q' for other commands.
std::span<const SortName> sort_names() {
  static constexpr std::array<SortName, 9> kNames{{{SortKey::rank, 'r', "rank", "[r]ank"},
                                                   {SortKey::since, 's', "since", "[s]ince"},
                                                   {SortKey::processor, 'c', "cpu", "[c]pu"},
                                                   {SortKey::calls, 'l', "calls", "cal[l]s"},
                                                   {SortKey::messages, 'm', "messages", "[m]sgs"},
                                                   {SortKey::bytes, 'b', "bytes", "[b]ytes"},
                                                   {SortKey::posted, 'p', "posted", "[p]osted"},
                                                   {SortKey::unexpected, 'u', "unexpected", "[u]nexp"},
                                                   {SortKey::heap, 'h', "heap", "[h]eap"}}};
  return kNames;
}

std::vector<std::string> rank_lines(const std::vector<RankSnapshot>& ranks, SortKey key, std::size_t room) {
  std::vector<Cells> rows;
  rows.reserve(ranks.size());
  for (const std::size_t at : order_of(ranks, key)) rows.push_back(cells_of(ranks[at]));
  const Widths widths = widths_of(rows, key, room);
  Cells heads;
  for (std::size_t at = 0; at < heads.size(); ++at) heads[at] = kColumns[at].head;
  std::vector<std::string> lines{line_of(heads, widths)};
  for (const Cells& cells : rows) lines.push_back(line_of(cells, widths));
  return lines;
}

namespace {

// The command line is last: it may be long, and is cut at the screen's edge.
std::string headline(const JobSnapshot& job) {
  const std::string since = job.ended    ? "has ended"
                            : job.runs_s ? "for " + run_time_text(*job.runs_s)
                                         : "since an unknown time";
  return fmt::format("job {}: {} rank{} on {} node{}, launcher {}, {}  {}", job.name, job.ranks.size(),
                     job.ranks.size() == 1 ? "" : "s", job.nodes, job.nodes == 1 ? "" : "s", job.launcher, since,
                     job.command);
}

// The lines about a stall: a single line with text and cycle of waits if it fits, otherwise the cycle begins a line of
// its own.
std::vector<std::string> stall_lines(const JobSnapshot& job, std::size_t room) {
  const bool is_any_held = std::ranges::any_of(job.ranks, [](const RankSnapshot& rank) { return !rank.held.empty(); });
  const std::string text(job.stall == sim::BoardStall::deadlock ? describe_deadlock(is_any_held)
                                                                : "no rank makes progress, all of them wait");
  if (job.cycle.empty()) return wrapped(text, room);
  const std::string cycle = "cycle: " + job.cycle;
  std::string both = text + "; " + cycle;
  if (both.size() <= room) return {std::move(both)};
  std::vector<std::string> lines = wrapped(text, room);
  for (std::string& line : wrapped("  " + cycle, room)) lines.push_back(std::move(line));
  return lines;
}

// "tcp 120 polls, 3 hits, 0.05 ms wasted, one round in 64".
std::string polling_text(const RankSnapshot::Polling& polling) {
  constexpr double kNsPerMs = 1e6;
  const sim::PollCounts& counts = polling.counts;
  const auto mode = static_cast<sim::PollMode>(std::min<std::uint32_t>(counts.mode, sim::kPollModeCount));
  return fmt::format("{} {} polls, {} hits, {:.2f} ms wasted, {}", polling.wire, number_of(counts.polls),
                     number_of(counts.hits), static_cast<double>(counts.wasted_ns) / kNsPerMs,
                     counts.interval == 0   ? std::string(name(mode))
                     : counts.interval == 1 ? "each round"
                                            : fmt::format("one round in {}", counts.interval));
}

// The held messages, the polling of several wires, and the counters of libraries, one line for each.
std::vector<std::string> library_lines(const std::vector<RankSnapshot>& ranks, SortKey key) {
  std::vector<std::string> lines;
  for (const std::size_t at : order_of(ranks, key)) {
    const RankSnapshot& rank = ranks[at];
    if (!rank.held.empty()) lines.push_back(fmt::format("rank {}, held on its wire: {}", rank.rank, rank.held));
    std::string polling;
    for (const RankSnapshot::Polling& each : rank.polling)
      polling += (polling.empty() ? " " : "; ") + polling_text(each);
    if (!polling.empty()) lines.push_back(fmt::format("rank {}, polling:{}", rank.rank, polling));
    for (const RankSnapshot::Library& library : rank.libraries) {
      std::string line = fmt::format("rank {}, library {}:", rank.rank, library.name);
      for (const auto& [name, count] : library.counters) {
        line += fmt::format("{} {} {}", line.back() == ':' ? "" : ",", name, count);
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace

std::vector<std::string> table_of(const JobSnapshot& job, SortKey key, std::size_t room, std::size_t& head_at) {
  std::vector<std::string> lines{headline(job)};
  if (job.stall != sim::BoardStall::none) {
    for (std::string& line : stall_lines(job, room)) lines.push_back(std::move(line));
  }
  head_at = lines.size();
  for (std::string& line : rank_lines(job.ranks, key, room)) lines.push_back(std::move(line));
  for (const std::string& line : library_lines(job.ranks, key)) {
    for (std::string& part : wrapped(line, room)) lines.push_back(std::move(part));
  }
  return lines;
}

}  // namespace margay::command
