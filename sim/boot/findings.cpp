#include "sim/boot/findings.hpp"

#include <unistd.h>

#include <string>

#include "portals/base/assert.hpp"
#include "sim/base/clock.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/parse.hpp"

namespace margay::sim {

namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, kFindingCount> kFindingIds = {"rank-died",
                                                                     "no-finalize",
                                                                     "no-init",
                                                                     "aborted",
                                                                     "second-program",
                                                                     "timeout",
                                                                     "deadlock",
                                                                     "stalled",
                                                                     "interrupted",
                                                                     "output-closed",
                                                                     "launch-protocol",
                                                                     "accounting-mismatch",
                                                                     "unreceived-message",
                                                                     "dropped-ready-send",
                                                                     "leaked-handle",
                                                                     "rma-conflict"};
static_assert(static_cast<std::uint32_t>(Finding::rma_conflict) + 1 == kFindingCount);

}  // namespace

std::string_view finding_id(Finding finding) {
  const auto index = static_cast<std::uint32_t>(finding);
  MARGAY_ASSERT(index < kFindingCount);
  return kFindingIds[index];
}

void record_finding(const Job& job, Finding finding, FindingRecord record, std::string_view message) {
  const std::string text = job.options.text("findings_fd");
  int descriptor = -1;
  if (text.empty() || !parse_number(std::string_view(text), descriptor)) return;
  record.finding = static_cast<std::uint32_t>(finding);
  record.rank = job.rank;
  record.time_ns = real_clock().now_ns();
  set_text(record.message, message);
  // A short write (no memory left) is a record that the launcher ignores and counts as not listed.
  static_cast<void>(::write(descriptor, &record, sizeof record));
}

}  // namespace margay::sim
