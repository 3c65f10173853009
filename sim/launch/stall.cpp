#include "sim/launch/stall.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/launch/report.hpp"

namespace margay::sim {
namespace {

constexpr std::uint32_t kMostRanksShown = 32;

bool is_inside(const BoardBlock& block) {
  return block.state == RankState::kInitialized;
}

}  // namespace

bool StallDetector::all_wait() const {
  std::uint32_t waiting = 0;
  for (std::uint32_t rank = 0; rank < board_.size(); ++rank) {
    const BoardBlock& block = board_.block(rank);
    if (!is_inside(block)) continue;
    if (block.wait.is_waiting == 0) return false;
    ++waiting;
  }
  return waiting > 0;
}

std::uint64_t StallDetector::total_progress() const {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < board_.size(); ++rank) sum += board_.block(rank).progress;
  return sum;
}

std::vector<std::string> StallDetector::look(std::int64_t now_ns, bool some_stopped) {
  const std::uint64_t progress = total_progress();
  if (since_ns_ < 0 || progress != progress_ || some_stopped || !all_wait()) {
    since_ns_ = now_ns;
    progress_ = progress;
    reported_ = false;
    return {};
  }
  if (reported_ || now_ns - since_ns_ < after_ns_) return {};
  reported_ = true;
  return describe();
}

std::vector<std::string> StallDetector::describe() const {
  std::vector<std::string> lines;
  bool on_portals = false;
  for (std::uint32_t rank = 0; rank < board_.size(); ++rank) on_portals |= board_.block(rank).on_portals != 0;
  lines.push_back(fmt::format("margay: no rank that uses {} makes progress, all of them wait{}",
                              on_portals ? "portals" : "MPI", describe_cycle()));
  for (std::uint32_t rank = 0; rank < std::min(board_.size(), kMostRanksShown); ++rank) {
    const BoardBlock& block = board_.block(rank);
    if (!is_inside(block)) continue;
    const std::string call = call_in_progress(board_, rank);
    if (block.on_portals != 0) {
      const std::string peer = block.wait.peer < 0 ? "its own condition" : fmt::format("rank {}", block.wait.peer);
      lines.push_back(fmt::format("margay:   rank {} in {}: waits for {}", rank, call, peer));
      continue;
    }
    lines.push_back(
        fmt::format("margay:   rank {} in {}: waits for {}, tag {}, context {}; {} receives posted, {} messages "
                    "unexpected",
                    rank, call.empty() ? "MPI" : call,
                    block.wait.peer < 0 ? std::string("any rank") : fmt::format("rank {}", block.wait.peer),
                    block.wait.tag < 0 ? std::string("any") : std::to_string(block.wait.tag), block.wait.context,
                    block.wait.posted_receives, block.wait.unexpected_messages));
  }
  return lines;
}

// Follows "waits for" from each rank; a rank met again on the same walk closes a cycle.
std::string StallDetector::describe_cycle() const {
  std::vector<std::uint32_t> seen_from(board_.size(), 0);
  for (std::uint32_t start = 0; start < board_.size(); ++start) {
    std::vector<std::uint32_t> path;
    std::uint32_t at = start;
    while (is_inside(board_.block(at)) && seen_from[at] == 0) {
      seen_from[at] = start + 1;
      path.push_back(at);
      const std::int32_t peer = board_.block(at).wait.peer;
      if (peer < 0 || static_cast<std::uint32_t>(peer) >= board_.size()) break;
      at = static_cast<std::uint32_t>(peer);
    }
    const auto first = std::find(path.begin(), path.end(), at);
    if (path.empty() || first == path.end() || board_.block(path.back()).wait.peer != static_cast<std::int32_t>(at))
      continue;
    std::string text = "; cycle: ";
    for (auto rank = first; rank != path.end(); ++rank) text += fmt::format("{} -> ", *rank);
    return text + std::to_string(at);
  }
  return {};
}

}  // namespace margay::sim
