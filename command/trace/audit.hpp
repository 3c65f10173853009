// The accounting of a trace: when no message is in flight, sent = delivered + the sum of drops by reason, for every
// ordered pair of ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "command/trace/read/reader.hpp"

namespace margay::command {

// The result of an audit.
struct Audit {
  // The puts, gets and replies of one ordered pair. Acknowledgments are checked, but not counted.
  struct Pair {
    std::uint64_t sent = 0;
    // Deposited, or answered with a reply.
    std::uint64_t delivered = 0;
    std::uint64_t dropped = 0;
    // Sent, but neither delivered nor dropped.
    std::uint64_t on_the_way = 0;
    // Sent; the record of its outcome was overwritten, or is in a missing file.
    std::uint64_t unknown = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Pair> pairs;
  // By portals::DropReason.
  std::map<std::uint8_t, std::uint64_t> drops;
  // Errors that cannot come from a truncated trace: one sentence each, at most kMaxAuditSentences.
  std::vector<std::string> violations;
  std::uint64_t violation_count = 0;
  // Facts that could not be checked, and unfinished messages.
  std::vector<std::string> notes;
};
inline constexpr std::size_t kMaxAuditSentences = 50;

// Checks the rules of docs/trace_format.md ("What must hold"). A rule whose events may have been overwritten, or are in
// a missing file, is not applied, and a note reports that. Unfinished messages are violations only if both ranks closed
// whole files, neither was killed later, and no rank lost a peer. Cost: one pass over the entries, with memory for each
// message.
[[nodiscard]] Audit audit(const Trace& trace);

}  // namespace margay::command
