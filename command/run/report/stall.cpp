#include "command/run/report/stall.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/text.hpp"
#include "sim/shm/published.hpp"

namespace margay::command {
namespace {

constexpr std::uint32_t kMostRanksShown = 32;
// A stall is reported without a proof if the ranks' answers take longer than this. A waiting rank polls at least twice
// a second, but may lack a processor.
constexpr std::int64_t kProofPatienceNs = 5'000'000'000;
// The same for a job that is connected with another one.
constexpr std::int64_t kGuestPatienceNs = 30'000'000'000;

bool is_inside(const sim::BoardBlock& block) {
  return block.state == sim::RankState::initialized;
}

// The wires whose polling the rank has switched off: "tcp". Such a rank is never part of a proof of a deadlock.
std::string switched_off(const sim::BoardBlock& block) {
  std::string wires;
  for (const sim::BoardPolling& polling : block.polling) {
    if (polling.counts.mode != static_cast<std::uint32_t>(sim::PollMode::off)) continue;
    wires += (wires.empty() ? "" : ", ") + clean_text(polling.wire);
  }
  return wires;
}

}  // namespace

std::string describe_wait_target(const sim::BoardBlock& block) {
  const sim::BoardWait& wait = block.wait;
  if (block.on_portals != 0) {
    return "waits for " + (wait.peer < 0 ? "its own condition" : fmt::format("rank {}", wait.peer));
  }
  const std::string communicator = clean_text(wait.communicator);
  if (communicator.empty()) return wait.peer < 0 ? "waits for others" : fmt::format("waits for rank {}", wait.peer);
  return fmt::format("waits for {}, tag {}, {}", wait.peer < 0 ? "any rank" : fmt::format("rank {}", wait.peer),
                     wait.tag < 0 ? "any" : std::to_string(wait.tag), communicator) +
         (wait.requests > 1 ? fmt::format(" (and {} more)", wait.requests - 1) : "");
}

std::string describe_wait(const sim::BoardBlock& block) {
  if (block.on_portals != 0) return describe_wait_target(block);
  return fmt::format("{}; {} posted, {} unexpected", describe_wait_target(block),
                     sim::counted(block.wait.posted_receives, "receive"),
                     sim::counted(block.wait.unexpected_messages, "message"));
}

std::string_view describe_deadlock(bool is_any_held) {
  return is_any_held ? "deadlock: all ranks wait for messages, and those in flight are held, because heaps are full"
                     : "deadlock: all ranks wait for messages, and none is in flight";
}

bool StallDetector::all_wait() const {
  std::uint32_t waiting = 0;
  for (std::uint32_t rank = 0; rank < board_.used(); ++rank) {
    const sim::BoardBlock& block = board_.block(rank);
    if (!is_inside(block)) continue;
    if (block.wait.is_waiting == 0) return false;
    ++waiting;
  }
  return waiting > 0;
}

// A process outside MPI may begin it in a session and then send, so it prevents a proof.
bool StallDetector::can_be_proven() const {
  if (sim::published_number(board_.header().guests) != 0) return false;
  for (std::uint32_t rank = 0; rank < board_.used(); ++rank) {
    const sim::BoardBlock& block = board_.block(rank);
    if (is_inside(block) ? block.wait.needs_message == 0 : !has_ended_(rank)) return false;
  }
  return true;
}

// An answer is the question's number, so an answer to an earlier question does not count.
bool StallDetector::all_answered() const {
  for (std::uint32_t rank = 0; rank < board_.used(); ++rank) {
    sim::BoardBlock& block = board_.block(rank);
    if (is_inside(block) && sim::published_number(block.wait.answered) != board_.header().question) return false;
  }
  return true;
}

// Each rank's counter only grows, so an equal sum means that none moved.
std::uint64_t StallDetector::total_progress() const {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < board_.used(); ++rank) sum += board_.block(rank).progress;
  return sum;
}

void StallDetector::report(sim::BoardStall what) {
  if (reported_ == what) return;
  reported_ = what;
  sim::BoardHeader& header = board_.header();
  // The publication of the state makes the cycle visible, so the cycle is written first.
  if (what != sim::BoardStall::none) sim::set_text(header.cycle, describe_cycle());
  sim::publish_number(header.stall, static_cast<std::uint32_t>(what));
}

// The steps: a stall is observed for after_ns_, then the question is published, then the answers prove a deadlock.
// Without a proof the stall is reported kProofPatienceNs later, or at once if a proof is impossible and all messages
// come from the job itself.
std::vector<std::string> StallDetector::look(std::int64_t now_ns, bool is_any_stopped) {
  // The answers are read before the progress. So a movement after an answer changes the progress that is read here, and
  // invalidates the answers.
  const bool answered = asked_ && all_answered();
  const std::uint64_t progress = total_progress();
  // Any movement restarts the observation, and old answers lose their value.
  if (since_ns_ < 0 || progress != progress_ || is_any_stopped || !all_wait()) {
    since_ns_ = now_ns;
    progress_ = progress;
    asked_ = false;
    report(sim::BoardStall::none);
    return {};
  }
  if (now_ns - since_ns_ < after_ns_ || reported_ == sim::BoardStall::deadlock) return {};
  const bool can_be_proven = this->can_be_proven();
  // The question is published even while no proof is possible; the answers count as soon as one is.
  if (!asked_) sim::publish_number(board_.header().question, board_.header().question + 1);
  asked_ = true;
  // All ranks of a job may wait for a process of another job, which computes.
  const bool has_guests = sim::published_number(board_.header().guests) != 0;
  const std::int64_t patience_ns = has_guests ? kGuestPatienceNs : can_be_proven ? kProofPatienceNs : 0;
  const sim::BoardStall now = answered && can_be_proven                       ? sim::BoardStall::deadlock
                              : now_ns - since_ns_ >= after_ns_ + patience_ns ? sim::BoardStall::stall
                                                                              : sim::BoardStall::none;
  // A stall is reported once, and again only if it is proven to be a deadlock.
  if (now <= reported_) return {};
  report(now);
  return describe(now);
}

// Many ranks wait alike, so only the first ones are listed.
std::vector<std::string> StallDetector::describe(sim::BoardStall what) const {
  std::vector<std::string> lines;
  bool on_portals = false, is_any_held = false;
  for (std::uint32_t rank = 0; rank < board_.used(); ++rank) {
    const sim::BoardBlock& block = board_.block(rank);
    on_portals |= block.on_portals != 0;
    is_any_held |= is_inside(block) && block.wait.held[0] != '\0';
  }
  const std::string cycle = describe_cycle();
  lines.push_back((what == sim::BoardStall::deadlock
                       ? fmt::format("margay: {}", describe_deadlock(is_any_held))
                       : fmt::format("margay: no rank that uses {} makes progress, all of them wait",
                                     on_portals ? "portals" : "MPI")) +
                  (cycle.empty() ? "" : "; cycle: " + cycle));
  for (std::uint32_t rank = 0; rank < std::min(board_.used(), kMostRanksShown); ++rank) {
    const sim::BoardBlock& block = board_.block(rank);
    if (!is_inside(block)) continue;
    const std::string call = describe_call(board_, rank, name_location_);
    lines.push_back(
        fmt::format("margay:   rank {} in {}: {}", rank, call.empty() ? "MPI" : call, describe_wait(block)));
    const std::string near_misses = clean_text(block.wait.near_misses);
    if (!near_misses.empty()) lines.push_back("margay:     unexpected, and almost the awaited one: " + near_misses);
    const std::string held = clean_text(block.wait.held);
    if (!held.empty()) lines.push_back("margay:     held on its wire: " + held);
    if (const std::string wires = switched_off(block); !wires.empty()) {
      lines.push_back("margay:     does not poll " + wires +
                      ": messages there wait (MPIX_Margay_polling, --skip-poll)");
    }
  }
  // Others may wait for these, most often in a collective call that these did not make.
  if (const std::string ended = ranks_ended(); !ended.empty()) {
    lines.push_back(fmt::format("margay:   {} (--check-types compares the collective calls of all ranks)", ended));
  }
  return lines;
}

std::string StallDetector::ranks_ended() const {
  std::string ranks;
  std::uint32_t count = 0;
  for (std::uint32_t rank = 0; rank < board_.used(); ++rank) {
    if (!has_ended_(rank)) continue;
    if (++count <= kMostRanksShown) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (count == 0) return {};
  return fmt::format("{} {}{} {} ended", count == 1 ? "rank" : "ranks", ranks, count > kMostRanksShown ? ", ..." : "",
                     count == 1 ? "has" : "have");
}

std::int32_t StallDetector::only_peer(std::uint32_t rank) const {
  const sim::BoardWait& wait = board_.block(rank).wait;
  // The peer comes from the board, so it is checked before it is used as an index.
  const bool several = wait.requests != 1 || wait.peer < 0 || static_cast<std::uint32_t>(wait.peer) >= board_.used();
  return several ? -1 : wait.peer;
}

// Finds a cycle: follows the waits from each rank. A rank met again on the same path closes a cycle; seen_from makes
// the whole search linear in the number of ranks.
std::string StallDetector::describe_cycle() const {
  std::vector<std::uint32_t> seen_from(board_.used(), 0);
  for (std::uint32_t start = 0; start < board_.used(); ++start) {
    std::vector<std::uint32_t> path;
    std::uint32_t at = start;
    while (is_inside(board_.block(at)) && seen_from[at] == 0) {
      seen_from[at] = start + 1;
      path.push_back(at);
      const std::int32_t peer = only_peer(at);
      if (peer < 0) break;
      at = static_cast<std::uint32_t>(peer);
    }
    const auto first = std::find(path.begin(), path.end(), at);
    if (path.empty() || first == path.end() || only_peer(path.back()) != static_cast<std::int32_t>(at)) continue;
    std::string text;
    for (auto rank = first; rank != path.end(); ++rank) text += fmt::format("{} -> ", *rank);
    return text + std::to_string(at);
  }
  return {};
}

}  // namespace margay::command
