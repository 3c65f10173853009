// Sends: a request by a link, and messages that wait for their methods.
#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "libraries/nexus/context.hpp"
#include "libraries/nexus/host_method.hpp"

namespace margay::nexus::core {
namespace {

constexpr std::uint32_t kOrderedAndReliable = MARGAY_NEXUS_ORDERED | MARGAY_NEXUS_RELIABLE;

bool keeps_order(const Way& way) {
  return (way.method->traits.bits & kOrderedAndReliable) == kOrderedAndReliable;
}

}  // namespace

Frame Context::frame_of(const Link& link, FrameKind kind) const {
  Frame frame;
  frame.kind = kind;
  frame.link = link.number;
  frame.epoch = link.epoch;
  frame.origin = me();
  if (link.forwarder != kNoContext) {
    frame.flags = kToForwarder;
    frame.origin = link.context;
  }
  return frame;
}

portals::Status Context::choose_for(Link& link, std::size_t bytes) {
  if (link.way == nullptr) return choose(link, Cause::first);
  if (!link.way->failed.empty()) return choose_again(link, Cause::failure, link.way->method);
  if (bytes > link.way->method->traits.body_most) return choose_again(link, Cause::change, link.way->method);
  if (link.way->fulls >= kOverloaded && link.forced.empty()) {
    // Without another method the request queues here.
    static_cast<void>(choose_again(link, Cause::load, link.way->method));
  }
  return {};
}

bool Context::request(const char* call, Link& link, std::uint32_t handler, Bytes body, Failure& failure) {
  failure.context = static_cast<int>(link.context);
  if (host_rank.lost(link.context)) {
    failure.why = Failure::Why::lost;
    failure.text = "context " + std::to_string(link.context) + " is lost (" + host_rank.loss(link.context) + ")";
    return false;
  }
  const bool never_waits = here.depth != 0;
  if (never_waits && !has_room(body.size())) {
    ++count(kFull);
    failure.why = Failure::Why::full;
    failure.text = "the queue of requests is full, with " + std::to_string(queued_bytes()) +
                   " bytes; send later, or raise MARGAY_NEXUS_QUEUE";
    return false;
  }
  failure.why = Failure::Why::unreachable;
  // Of the body, or of the transformed one once that is known.
  std::size_t bytes = body.size();
  for (std::size_t attempt = 0; attempt <= kRowsMost; ++attempt) {
    portals::Status status = choose_for(link, bytes);
    if (!status.ok()) {
      failure.text = "no method reaches context " + std::to_string(link.context) + ": " + status.sentence() +
                     "; add a method, or demand less (require)";
      return false;
    }
    Frame frame = frame_of(link, FrameKind::request);
    frame.endpoint = link.endpoint;
    frame.generation = link.generation;
    frame.handler = handler;
    std::vector<std::byte> packed;
    Bytes sent = body;
    if (!link.before.empty()) {
      status = pack(link, frame, body, packed);
      if (!status.ok()) {
        failure.text = status.sentence();
        return false;
      }
      sent = packed;
    }
    bytes = std::max(bytes, sent.size());
    if (bytes > link.way->method->traits.body_most) continue;
    if (!transmit(*link.way, frame, {&sent, 1}, &link)) continue;
    link.is_used = true;
    record_request(link, handler, body.size());
    if (never_waits || queued_bytes() <= settings.queue_bytes) return true;
    try {
      serve_until(call, link.context, false, [this] { return queued_bytes() <= settings.queue_bytes; });
    } catch (const error& lost) {
      failure.why = Failure::Why::lost;
      failure.text = lost.what();
      return false;
    }
    return true;
  }
  failure.text =
      "each method to context " + std::to_string(link.context) + " has failed; the last: " + link.way->failed;
  return false;
}

bool Context::has_room(std::size_t bytes) const {
  return queued_bytes() == 0 || queued_bytes() + bytes <= settings.queue_bytes;
}

void Context::record_request(const Link& link, std::uint32_t handler, std::size_t bytes) {
  if (!host_rank.recording()) return;
  const bool is_host = link.way->method->is_host;
  host_rank.record({.number = kRequests,
                    .peer = link.context,
                    .bytes = bytes,
                    .a = handler,
                    .b = link.endpoint,
                    .of_sent = is_host && link.forwarder == kNoContext,
                    .way = is_host ? way_of(*link.way->object) : host::Way::usual});
}

bool Context::request_all(StartpointState& startpoint, std::uint32_t handler, Bytes body) {
  if (startpoint.links.size() < 2 || startpoint.links.size() > kLinksMost) return false;
  Way* const first = startpoint.links.front()->way.get();
  if (first == nullptr || !first->failed.empty() || !first->method->traits.has(MARGAY_NEXUS_MULTICAST)) return false;
  std::vector<Target> targets;
  for (const auto& link : startpoint.links) {
    if (link->way == nullptr || link->way->method != first->method || !link->before.empty() ||
        link->forwarder != kNoContext || host_rank.lost(link->context))
      return false;
    targets.push_back({link->context, (*link->table)[link->row].descriptor});
  }
  if (startpoint.group == nullptr || startpoint.group->method != first->method) {
    if (!methods.open(*first->method, targets, "all", startpoint.group).ok()) return false;
  }
  std::vector<std::byte> list(2 + startpoint.links.size() * 10);
  const auto receivers = static_cast<std::uint16_t>(startpoint.links.size());
  std::memcpy(list.data(), &receivers, sizeof receivers);
  std::byte* at = list.data() + sizeof receivers;
  for (const auto& link : startpoint.links) {
    std::memcpy(at, &link->context, 4);
    std::memcpy(at + 4, &link->endpoint, 4);
    std::memcpy(at + 8, &link->generation, 2);
    at += 10;
  }
  // Without room, each link's request waits or fails for itself.
  if (list.size() + body.size() > first->method->traits.body_most || !has_room(list.size() + body.size())) return false;
  Frame frame = frame_of(*startpoint.links.front(), FrameKind::request);
  frame.link = 0;
  frame.epoch = 0;
  frame.flags |= kIsMulticast;
  frame.handler = handler;
  const std::array<Bytes, 2> pieces{Bytes(list), body};
  if (!transmit(*startpoint.group, frame, pieces)) return false;
  for (const auto& link : startpoint.links) {
    link->is_used = true;
    record_request(*link, handler, body.size());
  }
  return true;
}

void Context::count_sent(const Way& way, const Frame& frame) {
  Method& method = *way.method;
  ++method.sent;
  // The source of a forwarded request has counted it.
  if (frame.kind != FrameKind::request || (frame.flags & kIsForwarded) != 0) return;
  if (method.traits.has(MARGAY_NEXUS_RELIABLE) && (frame.flags & kIsMulticast) == 0) ++count(kSent);
  if (frame.body_bytes > kShortMost) ++count(kLong);
  const std::string_view name = method.module->name();
  ++count(!method.is_host ? kByModules : name == "local" ? kByLocal : name == "shm" ? kByShm : kByTcp);
}

bool Context::transmit(Way& way, Frame frame, std::span<const Bytes> body, const LinkData* link) {
  if (!way.failed.empty()) return false;
  frame.body_bytes = total_bytes(body);
  Sent sent = Sent::full;
  std::string why;
  if (way.queue.empty()) sent = way.method->module->send(*way.object, frame, body, why);
  if (sent == Sent::failed) {
    if (way.failed.empty()) way.failed = why.empty() ? "it has failed" : why;
    requeue(way);
    return false;
  }
  ++sends_;
  way.is_unclosed = true;
  if (sent == Sent::taken) {
    way.fulls = 0;
    count_sent(way, frame);
    return true;
  }
  ++way.fulls;
  ++count(kQueued);
  Pending& pending = way.queue.emplace_back();
  pending.frame = frame;
  if (link != nullptr) {
    pending.link = *link;
    // The link itself has the reservation.
    pending.link->quality.bytes_per_second = 0;
  }
  pending.body.resize(frame.body_bytes);
  gather(body, pending.body.data());
  const std::size_t bytes = pending.body.size() + sizeof(Pending);
  way.queued_bytes += bytes;
  queued_bytes_ += bytes;
  return true;
}

void Context::send_queued() {
  for (const auto& [key, way] : methods.ways()) {
    while (!way->queue.empty() && way->failed.empty()) {
      const Pending& first = way->queue.front();
      const Bytes body = first.body;
      std::string why;
      const Sent sent = way->method->module->send(*way->object, first.frame, {&body, 1}, why);
      if (sent == Sent::full) break;
      if (sent == Sent::failed) {
        if (way->failed.empty()) way->failed = why.empty() ? "it has failed" : why;
        requeue(*way);
        break;
      }
      way->fulls = 0;
      count_sent(*way, first.frame);
      const std::size_t bytes = first.body.size() + sizeof(Pending);
      way->queued_bytes -= bytes;
      queued_bytes_ -= bytes;
      way->queue.pop_front();
    }
  }
}

void Context::requeue(Way& way) {
  if (way.queue.empty()) return;
  std::deque<Pending> queue = std::move(way.queue);
  way.queue.clear();
  queued_bytes_ -= std::exchange(way.queued_bytes, 0);
  for (const Pending& each : queue) {
    if (send_again(way, each)) continue;
    add_error("a request for context " + std::to_string(way.context) + " is lost with its method " +
              way.method->name() + " (" + way.failed + ")");
  }
}

bool Context::send_again(const Way& failed, const Pending& message) {
  Frame frame = message.frame;
  if ((frame.flags & kIsMulticast) != 0) return false;
  const bool was_routed = (frame.flags & kToForwarder) != 0;
  Link link;
  link.context = was_routed ? frame.origin : failed.context;
  link.table = tables[link.context];
  if (message.link.has_value()) static_cast<LinkData&>(link) = *message.link;
  if (!choose(link, Cause::failure, failed.method).ok()) return false;
  if (link.forwarder != kNoContext) {
    // A header has room for one forwarder.
    if ((frame.flags & kIsForwarded) != 0) return false;
    frame.flags |= kToForwarder;
    frame.origin = link.context;
  } else if (was_routed) {
    frame.flags = static_cast<std::uint8_t>(frame.flags & ~kToForwarder);
    frame.origin = me();
  }
  Bytes body = message.body;
  std::vector<std::byte> packed;
  // The other method may need transforms that the failed one did not need.
  if (!link.before.empty() && (frame.flags & kIsPacked) == 0) {
    if (!pack(link, frame, body, packed).ok()) return false;
    body = packed;
  }
  if (body.size() > link.way->method->traits.body_most) return false;
  return transmit(*link.way, frame, {&body, 1}, message.link.has_value() ? &link : nullptr);
}

portals::Status Context::pack(Link& link, Frame& frame, Bytes body, std::vector<std::byte>& out) {
  std::vector<std::byte> names{static_cast<std::byte>(link.before.size())};
  Frame stable = frame;
  stable.flags = 0;
  stable.origin = me();
  stable.body_bytes = 0;
  std::vector<std::byte> bytes;
  for (const SharedWay& way : link.before) {
    const std::string name = way->method->name();
    if (!way->method->off.empty()) return portals::Status::error(name + " is switched off: " + way->method->off);
    std::vector<std::byte> next;
    const Bytes input = bytes.empty() && way == link.before.front() ? body : Bytes(bytes);
    if (portals::Status status = way->method->module->encode(*way->object, stable, {&input, 1}, next); !status.ok())
      return portals::Status::error(name + ": " + status.sentence());
    ++way->method->sent;
    bytes = std::move(next);
    names.push_back(static_cast<std::byte>(name.size()));
    for (const char each : name) names.push_back(static_cast<std::byte>(each));
  }
  out = std::move(names);
  out.insert(out.end(), bytes.begin(), bytes.end());
  frame.flags |= kIsPacked;
  return {};
}

void Context::end_epoch(Link& link, const SharedWay& old_way, std::uint32_t old_forwarder) {
  link.is_used = false;
  // Neither method keeps order, so a marker has no purpose.
  if (!keeps_order(*old_way) && !keeps_order(*link.way)) return;
  if (link.number == 0) {
    Numbers& numbers = numbers_[link.context];
    if (!numbers.free.empty()) {
      std::tie(link.number, link.epoch) = numbers.free.back();
      numbers.free.pop_back();
    } else if (numbers.next >> kLinkBits == 0) {
      link.number = static_cast<std::uint16_t>(numbers.next++);
    } else {
      return add_error("more than 65535 links to context " + std::to_string(link.context) +
                       " have changed their methods; their requests are not in order across the change");
    }
  }
  if (host_rank.recording())
    host_rank.record({.number = kMoves, .peer = link.context, .a = link.number, .b = link.epoch + 1});
  const std::uint32_t forwarder = std::exchange(link.forwarder, old_forwarder);
  const Frame marker = frame_of(link, FrameKind::marker);
  link.forwarder = forwarder;
  const bool is_marked = keeps_order(*old_way) && transmit(*old_way, marker, {}, &link);
  if (is_marked && old_forwarder == kNoContext) drains_.push_back({link, link.number, link.epoch, old_way});
  const bool is_ended = is_marked || transmit(*link.way, frame_of(link, FrameKind::skipped), {}, &link);
  // Both have failed: the next change ends this epoch, or the receiver would wait for its end.
  link.is_used = !is_ended;
  if (is_ended) ++link.epoch;
}

void Context::end_lost_drains() {
  const auto is_lost = [this](const Way& way) {
    return !way.failed.empty() || (way.method->is_host && host_rank.way_lost(way.context, way_of(*way.object)));
  };
  for (std::size_t i = 0; i < drains_.size();) {
    if (!is_lost(*drains_[i].way)) {
      ++i;
      continue;
    }
    const Drain drain = std::move(drains_[i]);
    drains_.erase(drains_.begin() + static_cast<std::ptrdiff_t>(i));
    Link link;
    static_cast<LinkData&>(link) = drain.link;
    if (host_rank.lost(link.context)) continue;
    // The link itself has the reservation.
    link.quality.bytes_per_second = 0;
    link.number = drain.number;
    link.epoch = drain.epoch;
    // A marker that has arrived nevertheless has ended the epoch, and the receiver ignores this message.
    const bool is_chosen = choose(link, Cause::failure, drain.way->method).ok();
    if (is_chosen && transmit(*link.way, frame_of(link, FrameKind::skipped), {}, &link)) continue;
    add_error("the method " + drain.way->method->name() + " to context " + std::to_string(link.context) +
              " was lost, and no other one reaches it: later requests of the link wait there");
  }
}

void Context::close(Link& link) {
  if (link.number != 0) numbers_[link.context].free.emplace_back(link.number, link.epoch);
  link.number = 0;
  link.quality.bytes_per_second = 0;
  reserve(link);
}

void Context::send_notice(std::uint32_t context, Control kind, std::uint64_t number, const std::string& text) {
  traffic.send_control(context, kind, number, std::as_bytes(std::span(text).first(std::min(text.size(), kTextMost))));
  ++sends_;
  noticed_.insert(context);
}

}  // namespace margay::nexus::core
