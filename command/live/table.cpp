#include "command/live/table.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "command/live/short_text.hpp"

namespace margay::command {

namespace {

std::string headline(const JobLook& job) {
  const std::string since = job.ended    ? "has ended"
                            : job.runs_s ? "for " + time_in_words(*job.runs_s)
                                         : "since an unknown time";
  return fmt::format("job {}: {} rank{} on {} node{}, launcher {}, {}  {}", job.name, job.ranks.size(),
                     job.ranks.size() == 1 ? "" : "s", job.nodes, job.nodes == 1 ? "" : "s", job.launcher, since,
                     job.command);
}

// The cycle, which says what to look at, is not broken if it need not be.
std::vector<std::string> stall_lines(const JobLook& job, std::size_t room) {
  const std::string text = job.stall == sim::BoardStall::kDeadlock
                               ? "deadlock: all ranks wait for messages, none is under way and nobody will send one"
                               : "no rank makes progress, all of them wait";
  if (job.cycle.empty()) return wrapped(text, room);
  const std::string cycle = "cycle: " + job.cycle;
  std::string both = text + "; " + cycle;
  if (both.size() <= room) return {std::move(both)};
  std::vector<std::string> lines = wrapped(text, room);
  for (std::string& line : wrapped("  " + cycle, room)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::vector<std::string> table_of(const JobLook& job, SortKey key, std::size_t room, std::size_t& head_at) {
  std::vector<std::string> lines{headline(job)};
  if (job.stall != sim::BoardStall::kNone) {
    for (std::string& line : stall_lines(job, room)) lines.push_back(std::move(line));
  }
  head_at = lines.size();
  for (std::string& line : rank_lines(job.ranks, key, room)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace margay::command
