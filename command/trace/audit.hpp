// The accounting of a trace: at rest, for every ordered pair of ranks, sent = delivered + the sum of drops by reason.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "command/trace/read/reader.hpp"

namespace margay::command {

struct Audit {
  // Puts, gets and replies of one ordered pair (acknowledgments are answers; they are checked, not counted).
  struct Pair {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;  // deposited, or answered with a reply
    std::uint64_t dropped = 0;
    std::uint64_t on_the_way = 0;  // sent and neither of the above
    std::uint64_t unknown = 0;     // sent, and what became of it was overwritten, or is in a file that is not there
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Pair> pairs;
  std::map<std::uint8_t, std::uint64_t> drops;  // by portals::DropReason
  // What cannot be right whenever the trace was cut: one sentence each, at most kMaxAuditSentences.
  std::vector<std::string> violations;
  std::uint64_t violation_count = 0;
  // What could not be checked, and what is merely unfinished.
  std::vector<std::string> notes;
};
inline constexpr std::size_t kMaxAuditSentences = 50;

// Rules (docs/trace_format.md, "What must hold"). A rule whose events may have been overwritten, or lie in a file that
// is not there, is not applied; the notes say so. Unfinished messages are violations only when both ranks closed their
// files.
[[nodiscard]] Audit audit(const Trace& trace);

}  // namespace margay::command
