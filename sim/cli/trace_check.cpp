#include "sim/cli/trace_check.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "portals/verdict.hpp"
#include "sim/cli/trace_common.hpp"
#include "sim/trace/audit.hpp"
#include "sim/trace/story/whole.hpp"

namespace margay::sim {

namespace {

void check_trace(const std::string& folder) {
  Trace trace;
  load_trace(folder, trace);
  const Audit result = audit(trace);
  put_line(fmt::format("{:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}", "from", "to", "sent", "delivered", "dropped",
                       "on the way", "unknown"));
  for (const auto& [pair, counts] : result.pairs) {
    put_line(fmt::format("{:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}", pair.first, pair.second, counts.sent,
                         counts.delivered, counts.dropped, counts.on_the_way, counts.unknown));
  }
  for (const auto& [reason, count] : result.drops) {
    const bool known = reason < portals::kDropReasonCount;
    put_line(fmt::format("dropped, {}: {}", known ? name(static_cast<portals::DropReason>(reason)) : "unknown reason",
                         count));
  }
  for (const std::string& note : result.notes) put_line(fmt::format("note: {}", note));
  for (const std::string& sentence : result.violations) put_line(fmt::format("WRONG: {}", sentence));
  if (result.violation_count > result.violations.size()) {
    put_line(fmt::format("WRONG: ... and {} more", result.violation_count - result.violations.size()));
  }
  const TraceNames names(trace, wire_text);
  const std::vector<std::string> missing = missing_steps(trace, names, Messages(trace));
  for (std::size_t i = 0; i < std::min(missing.size(), kMaxAuditSentences); ++i) {
    put_line(fmt::format("WRONG: {}", missing[i]));
  }
  if (missing.size() > kMaxAuditSentences) {
    put_line(fmt::format("WRONG: ... and {} more", missing.size() - kMaxAuditSentences));
  }
  const bool right = result.violation_count == 0 && missing.empty();
  if (right) {
    put_line(result.notes.empty() ? "the accounts are right: sent = delivered + dropped for every pair"
                                  : "nothing wrong was found, as far as the notes allow");
  }
  finish_output();
  if (!right) throw CLI::RuntimeError(kTraceViolations);
}

}  // namespace

void add_trace_check(CLI::App& trace) {
  auto folder = std::make_shared<std::string>();
  CLI::App* check = trace.add_subcommand("check", "hold the accounts of a trace: what was sent, arrived, was dropped");
  check->add_option("folder", *folder, "what --trace named")->required();
  check->callback([folder] { check_trace(*folder); });
}

}  // namespace margay::sim
