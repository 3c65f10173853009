#include "command/run/report/stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "command/run/report/report.hpp"

namespace margay::command {
namespace {

constexpr std::string_view kProtocolNames[] = {
    "short", "long, matched", "long, pulled",  "short synchronous", "long synchronous",
    "ready", "buffered",      "collective",    "shown in memory",   "put",
    "get",   "reply",         "acknowledgment"};
// The names are indexed by the board's enumerations.
static_assert(std::size(kProtocolNames) == static_cast<std::size_t>(sim::CountedProtocol::count));
constexpr std::string_view kWireNames[] = {"self", "shared memory", "tcp", "virtual", "forwarded", "tcp, other jobs"};
static_assert(std::size(kWireNames) == sim::kWireCount);

constexpr std::string_view kAccessNames[] = {"put, direct",        "put, process",        "put, message",
                                             "get, direct",        "get, process",        "get, message",
                                             "accumulate, direct", "accumulate, process", "accumulate, message"};
static_assert(std::size(kAccessNames) == sim::kCountedAccesses);

constexpr std::size_t kMostPairsShown = 8;

// Adds the rows of one table: sums over all ranks, zeros omitted.
template <std::size_t N>
void add_counts(const sim::Board& board, std::array<sim::BoardCount, N> sim::BoardBlock::*counts,
                const std::string_view (&names)[N], std::string_view title, std::vector<std::string>& lines,
                std::string_view what = "messages") {
  lines.push_back(fmt::format("  {:<22} {:>14} {:>18}", title, what, "bytes"));
  for (std::size_t i = 0; i < N; ++i) {
    sim::BoardCount sum;
    for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
      sum.messages += (board.block(rank).*counts)[i].messages;
      sum.bytes += (board.block(rank).*counts)[i].bytes;
    }
    if (sum.messages > 0) lines.push_back(fmt::format("    {:<20} {:>14} {:>18}", names[i], sum.messages, sum.bytes));
  }
}

// Adds the polls of each wire: sums over all ranks, wires without polls omitted. Wires are found by their names.
void add_polling(const sim::Board& board, std::vector<std::string>& lines) {
  struct Row {
    std::string_view wire;
    sim::PollCounts sum;
  };
  std::vector<Row> rows;
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
    for (const sim::BoardPolling& polling : board.block(rank).polling) {
      const std::string_view wire = sim::name_in(polling.wire);
      if (wire.empty() || polling.counts.polls == 0) continue;
      auto row = std::ranges::find(rows, wire, &Row::wire);
      if (row == rows.end()) row = rows.insert(rows.end(), {wire, {}});
      row->sum.polls += polling.counts.polls;
      row->sum.hits += polling.counts.hits;
      row->sum.wasted_ns += polling.counts.wasted_ns;
    }
  }
  if (rows.empty()) return;
  constexpr double kNsPerMs = 1e6;
  lines.push_back(fmt::format("  {:<22} {:>14} {:>18} {:>14}", "polling", "polls", "hits", "wasted ms"));
  for (const auto& [wire, sum] : rows) {
    lines.push_back(fmt::format("    {:<20} {:>14} {:>18} {:>14.3f}", wire, sum.polls, sum.hits,
                                static_cast<double>(sum.wasted_ns) / kNsPerMs));
  }
}

// Reason 0 is "none" and never counted.
std::string describe_drops(const std::array<std::uint64_t, sim::kDropReasons>& drops) {
  std::string text;
  for (std::size_t reason = 0; reason < sim::kDropReasons; ++reason) {
    if (drops[reason] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", portals::name(static_cast<portals::DropReason>(reason)),
                        drops[reason]);
  }
  return text.empty() ? "none" : text;
}

// The ranks whose counts are incomplete: "rank 1", "ranks 0, 2".
std::string unfinished_ranks(const sim::Board& board) {
  constexpr std::size_t kMostShown = 8;
  std::string text;
  std::size_t count = 0;
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
    const sim::RankState state = board.block(rank).state;
    if (state != sim::RankState::initialized && state != sim::RankState::aborting) continue;
    if (++count <= kMostShown) text += fmt::format("{}{}", count == 1 ? "" : ", ", rank);
  }
  if (count == 0) return {};
  return (count == 1 ? "rank " : "ranks ") + text + (count > kMostShown ? ", ..." : "");
}

// Whether the condition holds for any rank's block.
template <class Holds>
bool any_rank(const sim::Board& board, Holds holds) {
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
    if (holds(board.block(rank))) return true;
  }
  return false;
}

bool some_used_margay(const sim::Board& board) {
  return any_rank(board, [](const sim::BoardBlock& block) { return block.state != sim::RankState::started; });
}

bool accesses_windows(const sim::BoardBlock& block) {
  return std::ranges::any_of(block.by_access, [](const sim::BoardCount& count) { return count.messages != 0; });
}

bool on_portals(const sim::Board& board) {
  return any_rank(board, [](const sim::BoardBlock& block) { return block.on_portals != 0; });
}

// The counters of a communication library, summed over all ranks.
struct LibrarySums {
  struct Sum {
    std::string counter;
    std::uint64_t count = 0;
    // The counter with which this one must be equal; empty: none.
    std::string equals;
  };
  std::string name;
  std::vector<Sum> sums;
  // The counters whose quotient is printed; equal: none.
  std::string dividend, divisor;
};

// The name of a counter. Empty for an index that is too large: it comes from memory that the rank's program may have
// damaged.
std::string counter_name(const sim::BoardLibrary& library, std::size_t counter) {
  return counter < library.counters.size() ? clean_text(library.counters[counter].name) : "";
}

// Of the counter with which this one must be equal; empty: none.
std::string equal_counter(const sim::BoardLibrary& library, std::size_t counter) {
  return library.equals[counter] == 0 ? "" : counter_name(library, library.equals[counter] - std::size_t{1});
}

// The libraries that have joined a rank. Ranks may have joined them in different orders.
std::vector<LibrarySums> sums_of_libraries(const sim::Board& board) {
  std::vector<LibrarySums> libraries;
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
    for (const sim::BoardLibrary& each : board.block(rank).libraries) {
      const std::string name = clean_text(each.name);
      if (name.empty()) continue;
      auto library = std::ranges::find(libraries, name, &LibrarySums::name);
      if (library == libraries.end()) {
        library =
            libraries.insert(library, {name, {}, counter_name(each, each.dividend), counter_name(each, each.divisor)});
      }
      for (std::size_t i = 0; i < each.counters.size(); ++i) {
        const std::string counted = clean_text(each.counters[i].name);
        if (counted.empty()) continue;
        auto sum = std::ranges::find(library->sums, counted, &LibrarySums::Sum::counter);
        if (sum == library->sums.end()) sum = library->sums.insert(sum, {counted, 0, equal_counter(each, i)});
        sum->count += each.counters[i].count;
      }
    }
  }
  return libraries;
}

void add_libraries(const sim::Board& board, std::vector<std::string>& lines) {
  for (const LibrarySums& library : sums_of_libraries(board)) {
    lines.push_back(fmt::format("  library {}", library.name));
    for (const auto& sum : library.sums) lines.push_back(fmt::format("    {:<24} {:>10}", sum.counter, sum.count));
    const auto sum_of = [&library](const std::string& counter) {
      const auto sum = std::ranges::find(library.sums, counter, &LibrarySums::Sum::counter);
      return sum == library.sums.end() ? 0.0 : static_cast<double>(sum->count);
    };
    if (library.dividend == library.divisor || sum_of(library.divisor) == 0) continue;
    lines.push_back(fmt::format("    {:<28} {:>6.1f}", library.dividend + " / " + library.divisor,
                                sum_of(library.dividend) / sum_of(library.divisor)));
  }
}

// Adds the pairs of counters that must be equal, and are not.
void check_libraries(const sim::Board& board, AccountingResult& result) {
  for (const auto& [name, sums, dividend, divisor] : sums_of_libraries(board)) {
    for (const auto& sum : sums) {
      const auto other = std::ranges::find(sums, sum.equals, &LibrarySums::Sum::counter);
      if (sum.equals.empty() || other == sums.end() || other->count == sum.count) continue;
      ++result.unequal_counters;
      result.lines.push_back(fmt::format("margay: accounting fails for the library {}: {} {}, {} {}", name, sum.counter,
                                         sum.count, other->counter, other->count));
    }
  }
}

std::array<std::uint64_t, sim::kDropReasons> drops_of_pair(const sim::Board& board, std::uint32_t from,
                                                           std::uint32_t to, sim::WayCode way) {
  std::array<std::uint64_t, sim::kDropReasons> drops{};
  // The receiver counts the drops, by sender and reason.
  const std::uint64_t* counts = board.dropped(to) + board.pair(from, way) * sim::kDropReasons;
  std::copy(counts, counts + sim::kDropReasons, drops.begin());
  return drops;
}

// Adds a line if the law fails for a pair and way.
void check_pair(const sim::Board& board, std::uint32_t from, std::uint32_t to, sim::WayCode way,
                AccountingResult& result) {
  const auto drops = drops_of_pair(board, from, to, way);
  const std::uint64_t dropped = std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
  const std::uint64_t sent = board.sent(from)[board.pair(to, way)];
  const std::uint64_t delivered = board.delivered(to)[board.pair(from, way)];
  if (sent == delivered + dropped) return;
  // Pairs grow with the square of the ranks; a few show the pattern.
  if (++result.offending_pairs > kMostPairsShown) return;
  result.lines.push_back(
      fmt::format("margay: accounting fails from rank {} to rank {}{}: sent {}, delivered {}, dropped {} ({})", from,
                  to, way == sim::kUsualWay ? "" : fmt::format(" by {}", sim::name_of_way(way)), sent, delivered,
                  dropped, describe_drops(drops)));
}

}  // namespace

// Counts are sums over ranks. The heap's mark is a maximum, printed with its rank.
std::vector<std::string> stats_table(const sim::Board& board) {
  std::vector<std::string> lines{
      fmt::format("margay: statistics of {} rank{}", board.used(), board.used() == 1 ? "" : "s")};
  if (!some_used_margay(board)) {
    lines.emplace_back("  nothing to count: no rank used margay's MPI or portals");
    return lines;
  }
  // A rank publishes its counts when it finalizes and in long waits.
  if (const std::string unfinished = unfinished_ranks(board); !unfinished.empty()) {
    lines.push_back("  not complete: " + unfinished + " did not finish " + (on_portals(board) ? "its program" : "MPI") +
                    ", so the counts are those of the last long wait, or missing");
  }
  add_counts(board, &sim::BoardBlock::by_protocol, kProtocolNames, "protocol", lines);
  add_counts(board, &sim::BoardBlock::by_wire, kWireNames, "wire", lines);
  add_polling(board, lines);
  if (any_rank(board, &accesses_windows)) {
    add_counts(board, &sim::BoardBlock::by_access, kAccessNames, "one-sided, by way", lines, "accesses");
  }
  add_libraries(board, lines);
  std::uint64_t walked = 0;
  std::uint32_t highest = 0;
  std::array<std::uint64_t, sim::kDropReasons> drops{};
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
    walked += board.block(rank).entries_walked;
    if (board.block(rank).heap_high_water_bytes > board.block(highest).heap_high_water_bytes) highest = rank;
    for (std::uint32_t at = 0; at < board.used() * board.ways(); ++at) {
      const auto way = static_cast<sim::WayCode>(at / board.used());
      const auto pair = drops_of_pair(board, at % board.used(), rank, way);
      std::transform(drops.begin(), drops.end(), pair.begin(), drops.begin(), std::plus<>());
    }
  }
  lines.push_back(fmt::format("  match entries visited: {}", walked));
  lines.push_back("  messages dropped: " + describe_drops(drops));
  lines.push_back(fmt::format("  heap of unexpected messages, highest mark: {} bytes (rank {})",
                              board.block(highest).heap_high_water_bytes, highest));
  return lines;
}

// Counts come from the board, since ranks limit the lines that they print.
std::string describe_findings(const sim::Board& board) {
  constexpr std::size_t kMostRanksShown = 8;
  std::uint64_t sum = 0;
  std::size_t ranks = 0;
  std::string text;
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
    const std::uint64_t findings = board.block(rank).findings;
    if (findings == 0) continue;
    sum += findings;
    if (++ranks <= kMostRanksShown) text += fmt::format("{} {} by rank {}", ranks == 1 ? ":" : ",", findings, rank);
  }
  if (ranks == 0) return {};
  return fmt::format("margay: --strict: {} finding{}{}{}", sum, sum == 1 ? "" : "s", text,
                     ranks > kMostRanksShown ? ", ..." : "");
}

// Quadratic in the number of ranks, as the board's counters are.
AccountingResult check_accounting(const sim::Board& board) {
  AccountingResult result;
  std::uint32_t finished = 0;
  for (std::uint32_t rank = 0; rank < board.used(); ++rank) {
    const sim::RankState state = board.block(rank).state;
    if (state == sim::RankState::finalized) ++finished;
    // Messages of this rank may be in flight, so the law need not hold.
    if (state == sim::RankState::initialized || state == sim::RankState::aborting) {
      result.lines.push_back(fmt::format("margay: accounting not checked: rank {} did not finish {}", rank,
                                         board.block(rank).on_portals != 0 ? "its program" : "MPI"));
      return result;
    }
  }
  if (finished == 0) {
    result.lines.emplace_back("margay: accounting not checked: no rank used margay's MPI");
    return result;
  }
  result.checked = true;
  for (std::uint32_t from = 0; from < board.used(); ++from) {
    for (std::uint32_t to = 0; to < board.used(); ++to) {
      for (std::uint32_t way = 0; way < board.ways(); ++way) {
        check_pair(board, from, to, static_cast<sim::WayCode>(way), result);
      }
    }
  }
  if (result.offending_pairs > kMostPairsShown) {
    result.lines.push_back(fmt::format("margay: accounting fails for {} ordered pairs in all", result.offending_pairs));
  }
  check_libraries(board, result);
  return result;
}

}  // namespace margay::command
