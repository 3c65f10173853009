#include "collectives/select/describe.hpp"

#include <fmt/format.h>

#include <string_view>

#include "collectives/select/cost_curves.hpp"

namespace margay::collectives {

namespace {

// A line of the table of rates: name, value, meaning.
std::string rate_line(std::string_view what, const std::string& value, std::string_view meaning) {
  return fmt::format("  {:<16} {:<34} {}", what, value, meaning);
}

// A time for a byte, shown as bytes a second.
std::string per_second(double byte) {
  return fmt::format("{:.2g} GB/s", 1e-9 / byte);
}

// Formats times below a microsecond in nanoseconds, because rates can be that small; costs of calls are not.
std::string fine_text(double seconds) {
  constexpr double kNsPerSecond = 1e9;
  return seconds < 1e-6 ? fmt::format("{:.3g} ns", seconds * kNsPerSecond) : seconds_text(seconds);
}

std::string message_rates_text(const Rates::Message& message) {
  return fmt::format("{}, {}, {}", fine_text(message.startup), fine_text(message.busy), per_second(message.byte));
}

// A range of lengths in words; empty for a barrier, which has none.
std::string lengths_of(const ChosenRange& range) {
  if (range.last == 0) return "";
  if (range.last == kLongestShown) return range.first == 1 ? "any length" : "from " + length_text(range.first);
  return (range.first == 1 ? "up to " : length_text(range.first) + " to ") + length_text(range.last);
}

// The costs that explain a choice. A requested algorithm need not be the cheapest.
std::string reason_of(Operation operation, const ChosenRange& range, const Facts& facts) {
  const Compared compared = compared_in(operation, range, facts);
  if (!compared.chosen) return "the only one that can do it";
  std::string text = compared.bytes == 0 ? "" : length_text(compared.bytes) + ": ";
  text += seconds_text(compared.chosen->seconds);
  if (!compared.next) return text + "; no other algorithm can do it";
  return text + fmt::format("; {} {}", name(compared.next->algorithm), seconds_text(compared.next->seconds));
}

}  // namespace

std::vector<std::string> describe_rates(const Rates& rates) {
  return {
      rate_line("inside a node", message_rates_text(rates.inside),
                "a message, each further message of several, the bytes"),
      rate_line("between nodes", message_rates_text(rates.between), "the same"),
      rate_line("combined", per_second(rates.combined), "of one operand of a reduction"),
      rate_line("shared memory", fine_text(rates.shared.poll) + ", " + per_second(rates.shared.byte),
                "a poll of another rank's write, and bytes"),
      rate_line("turn", fine_text(rates.turn),
                "the switch of a processor to another rank, where ranks outnumber processors"),
      "  as text          " + to_text(rates),
  };
}

std::vector<std::string> describe_costs(const Facts& facts) {
  std::vector<std::string> lines;
  for (const Operation operation : operations_with_choice()) {
    std::string_view title = name(operation);
    for (const ChosenRange& range : costs_of(operation, facts).chosen) {
      lines.push_back(fmt::format("  {:<16} {:<22} {:<10} {}", title, lengths_of(range), name(range.algorithm),
                                  reason_of(operation, range, facts)));
      // The operation's name stands in the first of its lines only.
      title = "";
    }
  }
  return lines;
}

std::string describe_paragon() {
  std::string text = "on the Paragon, by the same formulas, a broadcast uses the bucket algorithm from";
  std::string_view before = " ";
  for (const int nodes : {8, 16, 64}) {
    const std::uint64_t bytes = paragon_crossover(nodes);
    text += fmt::format("{}{} on {} nodes", before, bytes == 0 ? "no length" : length_text(bytes), nodes);
    before = ", ";
  }
  return text + " (the paper: \"larger than say 10 Kbytes\")";
}

}  // namespace margay::collectives
