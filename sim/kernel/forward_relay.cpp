#include "sim/kernel/forward_relay.hpp"

#include <utility>

namespace margay::sim {

using portals::Header;
using portals::Region;

namespace {

std::string rank_text(std::uint32_t rank) {
  return "rank " + std::to_string(rank);
}

}  // namespace

bool ForwardRelay::take(const Header& header, const Region& body) {
  const std::uint32_t from = header.source.rank;
  ForwardFrame frame;
  std::string mistake = read_forward_frame(header, hops_.paths().ranks(), frame);
  if (mistake.empty()) mistake = authenticate(frame, from);
  if (!mistake.empty()) {
    refuse(header, frame, mistake);
    return false;
  }
  static_cast<void>(hops_.neighbour(from));
  if (frame.is_notice()) {
    mistake = take_notice(frame, from);
  } else {
    mistake = frame.final == hops_.paths().me() ? hand_over(frame, body) : pass_on(frame, body);
  }
  if (!mistake.empty()) refuse(header, frame, mistake);
  return mistake.empty();
}

// The connection or ring names the neighbour, and the paths are fixed. So a neighbour may put a frame here only if it
// is the process before this one on the frame's path: the origin, its forwarder, or this node's forwarder.
std::string ForwardRelay::authenticate(const ForwardFrame& frame, std::uint32_t from) const {
  const ForwardPaths& paths = hops_.paths();
  if (frame.is_notice()) {
    if (frame.final != paths.me()) return "it is not for this rank";
    const bool is_own = frame.kind == ForwardKind::bye || frame.kind == ForwardKind::open;
    const bool neighbours = paths.same_node(from, paths.me())
                                ? paths.is_forwarder(from) != paths.is_forwarder(paths.me())
                                : paths.is_forwarder(from) && paths.is_forwarder(paths.me());
    // Only the forwarder of a rank, or this node's forwarder, may report the rank's end.
    const bool may = is_own ? from == frame.origin
                            : from != frame.origin && paths.is_forwarder(from) &&
                                  !paths.same_node(frame.origin, paths.me()) &&
                                  (paths.same_node(from, paths.me()) || from == paths.forwarder_of(frame.origin));
    return neighbours && may ? std::string() : "it does not forward for that rank";
  }
  std::uint32_t before = 0;
  if (!paths.find_before(frame.origin, frame.final, before)) return "this rank does not forward between these ranks";
  if (before != from) return "only " + rank_text(before) + " may send it here";
  return {};
}

std::string ForwardRelay::take_notice(const ForwardFrame& frame, std::uint32_t from) {
  const ForwardPaths& paths = hops_.paths();
  const bool serves = paths.is_forwarder(paths.me());
  const bool is_local = paths.same_node(from, paths.me());
  switch (frame.kind) {
    case ForwardKind::bye:
      if (hops_.neighbour(from).said_bye) break;
      hops_.neighbour(from).part();
      // The answer is the last frame to this rank but pieces, until it sends again.
      if (serves && is_local) hops_.post({ForwardKind::bye, paths.me(), from, 0}, from);
      break;
    case ForwardKind::open:
      hops_.neighbour(from).said_bye = false;
      if (serves && is_local) wire_.reopen();
      unpark(from);
      wire_.return_kept();
      break;
    default:
      // Once for each rank, so that a neighbour cannot fill the queues of this node's ranks with notices.
      if (serves && !gone_.try_emplace(frame.origin, frame.kind == ForwardKind::left).second) break;
      lose(frame.origin, rank_text(from) + " reports its end", frame.kind == ForwardKind::left);
      if (serves) notify(frame.origin, frame.kind == ForwardKind::left, true);
      break;
  }
  return {};
}

std::string ForwardRelay::hand_over(const ForwardFrame& frame, const Region& body) {
  if (frame.kind == ForwardKind::nudge) return {};  // its arrival rang the bell
  if (frame.kind == ForwardKind::credit) return wire_.take_credit(frame.origin, frame.number);
  std::string mistake = wire_.take_piece(frame, body);
  // The pieces after a wrong one cannot be parsed.
  if (!mistake.empty()) wire_.lose(frame.origin, "it sent a wrong forwarded message: " + mistake, false);
  return mistake;
}

std::string ForwardRelay::pass_on(const ForwardFrame& frame, const Region& body) {
  const std::uint32_t next = hops_.paths().next(frame.final);
  if (frame.kind == ForwardKind::nudge) {
    if (answer_gone(frame)) return {};
    if (!hops_.neighbour(next).said_bye) hops_.post_hint(frame, next);
    hops_.nudge(next);
    return {};
  }
  if (frame.kind == ForwardKind::credit) {
    const auto flow = flows_.find(key(frame.final, frame.origin));
    if (flow == flows_.end() || frame.number > flow->second.under_way) {
      return "it returns more credits than it got pieces";
    }
    pass_credit(frame, next, flow->second);
    return {};
  }
  Flow& flow = flows_[key(frame.origin, frame.final)];
  if (flow.under_way == kForwardWindow) return "it sent more pieces than its window allows";
  ++flow.under_way;
  if (answer_gone(frame)) return {};
  ++passed_;
  hops_.post(frame, next, body);
  return {};
}

bool ForwardRelay::answer_gone(const ForwardFrame& frame) {
  const ForwardPaths& paths = hops_.paths();
  // A forwarder stands for the ranks behind it.
  auto gone = gone_.find(paths.forwarder_of(frame.final));
  if (gone == gone_.end()) gone = gone_.find(frame.final);
  if (gone == gone_.end()) return false;
  std::uint32_t before = 0;
  if (!paths.find_before(frame.origin, frame.final, before) || hops_.neighbour(before).said_bye) return true;
  const ForwardFrame notice{gone->second ? ForwardKind::left : ForwardKind::lost, gone->first, before, 0};
  // Nudges are repeated, without a bound on their number; pieces have their window.
  if (frame.kind == ForwardKind::nudge) {
    hops_.post_hint(notice, before);
  } else {
    hops_.post(notice, before);
  }
  return true;
}

void ForwardRelay::pass_credit(const ForwardFrame& frame, std::uint32_t next, Flow& flow) {
  const auto number = static_cast<std::uint32_t>(frame.number);
  flow.under_way -= number;
  if (hops_.neighbour(next).said_bye) {
    flow.parked += number;
  } else {
    hops_.post(frame, next);
  }
}

void ForwardRelay::unpark(std::uint32_t from) {
  for (auto& [ends, flow] : flows_) {
    const auto origin = static_cast<std::uint32_t>(ends >> 32U);
    if (flow.parked == 0 || hops_.paths().next(origin) != from) continue;
    hops_.post({ForwardKind::credit, static_cast<std::uint32_t>(ends), origin, flow.parked}, from);
    flow.parked = 0;
  }
}

void ForwardRelay::neighbour_lost(std::uint32_t rank, std::string_view reason, bool left) {
  const ForwardPaths& paths = hops_.paths();
  const bool serves = paths.is_forwarder(paths.me());
  const bool is_local = paths.same_node(rank, paths.me());
  // Only neighbours matter: two ranks of a node, neither of which is its forwarder, put no hops to each other.
  if (!serves && rank != paths.forwarder_of(paths.me())) return;
  hops_.neighbour(rank).part();
  if (serves) {
    gone_.insert_or_assign(rank, left);
    if (!is_local) lose(rank, reason, left);
    notify(rank, left, !is_local);
    return;
  }
  const std::string text = "its messages pass " + rank_text(rank) + ", which is lost: " + std::string(reason);
  for (std::uint32_t peer = 0; peer < paths.ranks(); ++peer) wire_.lose(peer, text, left);
}

void ForwardRelay::lose(std::uint32_t rank, std::string_view reason, bool left) {
  const ForwardPaths& paths = hops_.paths();
  wire_.lose(rank, reason, left);
  if (!paths.is_forwarder(rank)) return;
  const std::string text = "its messages pass " + rank_text(rank) + ", which is lost: " + std::string(reason);
  for (std::uint32_t peer = 0; peer < paths.ranks(); ++peer) {
    if (peer != rank && paths.same_node(peer, rank)) wire_.lose(peer, text, left);
  }
}

// A neighbour that sent bye needs no notice, and may have ended.
void ForwardRelay::notify(std::uint32_t rank, bool left, bool own_node) {
  if (wire_.is_silent()) return;
  const ForwardPaths& paths = hops_.paths();
  const auto post = [&](std::uint32_t to) {
    if (to == rank || hops_.neighbour(to).said_bye) return;
    hops_.post({left ? ForwardKind::left : ForwardKind::lost, rank, to, 0}, to);
  };
  if (own_node) {
    for (const std::uint32_t local : paths.locals()) post(local);
    return;
  }
  for (const auto& [neighbour, state] : hops_.neighbours()) {
    if (!paths.same_node(neighbour, paths.me())) post(neighbour);
  }
}

// A flood of wrong frames must not flood the output, so only the first of a process are reported.
void ForwardRelay::refuse(const Header& header, const ForwardFrame& frame, const std::string& mistake) {
  constexpr std::uint64_t kMostReports = 20;
  if (++refused_ > kMostReports || !report_) return;
  report_("forwarding: " + rank_text(hops_.paths().me()) + " refused a message that " + rank_text(header.source.rank) +
          " sent for " + rank_text(frame.origin) + " to " + rank_text(frame.final) + ": " + mistake);
}

}  // namespace margay::sim
