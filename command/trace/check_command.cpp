#include "command/trace/trace_command.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command/trace/audit.hpp"
#include "command/trace/common.hpp"
#include "command/trace/story/fate.hpp"
#include "portals/base/verdict.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

// The number of pairs grows with the square of the ranks, so a longer table has only the pairs with undelivered
// messages.
constexpr std::size_t kPairsShown = 12;

// An incomplete trace cannot be proven right.
std::string verdict(const Audit& result, std::size_t faults) {
  if (faults != 0) return fmt::format("the accounts are wrong: {}", sim::counted(faults, "fault"));
  return result.notes.empty() ? "the accounts are right: sent = delivered + dropped for every pair"
                              : "no errors found (incomplete trace: see the notes)";
}

// The same columns for a pair and for the sum.
void put_counts(const std::string& from, const std::string& to, const Audit::Pair& counts) {
  put_line(fmt::format("{:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}", from, to, counts.sent, counts.delivered,
                       counts.dropped, counts.on_the_way, counts.unknown));
}

// Prints the table of pairs, and the sum over all. If there are many pairs, only those with undelivered messages are
// listed.
void put_pairs(const Audit& result, bool all) {
  const bool shows_all = all || result.pairs.size() <= kPairsShown;
  Audit::Pair sum;
  std::size_t left_out = 0;
  put_line(fmt::format("{:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}", "from", "to", "sent", "delivered", "dropped",
                       "on the way", "unknown"));
  for (const auto& [pair, counts] : result.pairs) {
    sum.sent += counts.sent;
    sum.delivered += counts.delivered;
    sum.dropped += counts.dropped;
    sum.on_the_way += counts.on_the_way;
    sum.unknown += counts.unknown;
    if (!shows_all && counts.sent == counts.delivered) {
      ++left_out;
      continue;
    }
    put_counts(std::to_string(pair.first), std::to_string(pair.second), counts);
  }
  if (result.pairs.size() > 1) put_counts("all", "all", sum);
  if (left_out != 0) {
    put_line(fmt::format("{} whose messages were all delivered {} not shown (--pairs)", sim::counted(left_out, "pair"),
                         left_out == 1 ? "is" : "are"));
  }
}

// Prints the verdict first, then violations, notes and the table.
void check_trace(const std::string& folder, bool all_pairs) {
  Trace trace;
  load_trace(folder, trace);
  const Audit result = audit(trace);
  const TraceNames names(trace, wire_text);
  const std::vector<std::string> missing = missing_steps(trace, names, Messages(trace));
  // Both checks must pass: the accounts, and the steps of each message's protocol.
  const bool right = result.violation_count == 0 && missing.empty();
  put_line(verdict(result, result.violation_count + missing.size()));
  for (const std::string& sentence : result.violations) put_line(fmt::format("WRONG: {}", sentence));
  if (result.violation_count > result.violations.size()) {
    put_line(fmt::format("WRONG: ... and {} more", result.violation_count - result.violations.size()));
  }
  for (std::size_t i = 0; i < std::min(missing.size(), kMaxAuditSentences); ++i) {
    put_line(fmt::format("WRONG: {}", missing[i]));
  }
  if (missing.size() > kMaxAuditSentences) {
    put_line(fmt::format("WRONG: ... and {} more", missing.size() - kMaxAuditSentences));
  }
  for (const std::string& note : result.notes) put_line(fmt::format("note: {}", note));
  put_pairs(result, all_pairs);
  for (const auto& [reason, count] : result.drops) {
    const bool known = reason < portals::kDropReasonCount;
    put_line(fmt::format("dropped, {}: {}", known ? name(static_cast<portals::DropReason>(reason)) : "unknown reason",
                         count));
  }
  // A failed write takes precedence over the verdict, because the verdict has then not reached its reader.
  finish_output();
  if (!right) throw CLI::RuntimeError(kTraceViolations);
}

}  // namespace

void add_trace_check(CLI::App& trace) {
  auto folder = std::make_shared<std::string>();
  CLI::App* check = trace.add_subcommand("check", "check the accounts of a trace: sent = delivered + dropped");
  check->add_option("folder", *folder, "the folder of --trace")->required();
  auto all_pairs = std::make_shared<bool>(false);
  check->add_flag("--pairs", *all_pairs, "list every pair of ranks, however many there are");
  check->callback([folder, all_pairs] { check_trace(*folder, *all_pairs); });
}

}  // namespace margay::command
