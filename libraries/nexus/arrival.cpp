// Arrived messages: from the heaps and modules to the queue of requests.
#include <algorithm>
#include <cstring>
#include <utility>

#include "libraries/nexus/context.hpp"
#include "libraries/nexus/host_method.hpp"
#include "libraries/nexus/host_ways.hpp"

namespace margay::nexus::core {

void Context::take() {
  // The fast path: each round of a wait calls this function, mostly without an arrival.
  if (!traffic.take_activity() && arriving_.empty() && traffic.idle() && queued_bytes_ == 0 && drains_.empty())
      [[likely]] {
    return;
  }
  traffic.sweep();
  if (!drains_.empty()) end_lost_drains();
  if (queued_bytes_ != 0) send_queued();
  take_heap(traffic.forwarded);
  take_heap(traffic.requests);
  take_control();
  std::uint64_t ended = 0;
  do {
    ended = traffic.bodies.ended();
    for (auto at = arriving_.begin(); at != arriving_.end();) {
      advance(at->second);
      at = at->second.items.empty() ? arriving_.erase(at) : std::next(at);
    }
    // The end of a fetch may make room for that of a sender whose turn was earlier.
  } while (ended != traffic.bodies.ended());
  // A message is still arriving.
  if (traffic.requests.any() || traffic.forwarded.any() || traffic.control.any()) traffic.mark_activity();
}

void Context::take_heap(Heap& heap) {
  while (portals::ArrivedMessage* const message = heap.take()) {
    auto item = std::make_unique<Item>();
    item->source = item->from = message->header.source.rank;
    item->heap = &heap;
    item->in_heap = message;
    item->body = {message->body.base, message->body.bytes};
    const portals::Status status = Traffic::read(message->header, item->frame, item->place);
    if (!status.ok()) {
      refuse(std::move(item), status.sentence());
      continue;
    }
    Arriving& queue = arriving_[item->from];
    if (item->is_at_owner()) {
      release(*item);
      // Otherwise advance() does it, once there is room. In the order of arrival: the room of a later body becomes free
      // only behind the earlier ones, which would wait for it forever.
      if (queue.unfetched != 0 || !may_fetch(*item)) {
        ++queue.unfetched;
      } else if (!fetch(item)) {
        continue;
      }
    }
    queue.items.push_back(std::move(item));
  }
}

// A damaged notice may announce any length. Bodies beyond the bound are therefore fetched one after another.
bool Context::may_fetch(const Item& item) const {
  const Bodies& bodies = traffic.bodies;
  return !bodies.is_fetching() || bodies.fetching_bytes() + item.frame.body_bytes <= settings.queue_bytes;
}

bool Context::fetch(OwnedItem& item) {
  item->fetch = traffic.fetch(item->from, item->place, item->frame.body_bytes);
  if (item->fetch != nullptr) return true;
  const std::string bytes = std::to_string(item->frame.body_bytes);
  refuse(std::move(item), "out of memory for a body of " + bytes + " bytes; send it in parts");
  return false;
}

void Context::release(Item& item) {
  if (item.in_heap != nullptr) item.heap->release(*std::exchange(item.in_heap, nullptr));
}

void Context::fetch_waiting(Arriving& queue) {
  for (auto at = queue.items.begin(); queue.unfetched != 0;) {
    if (!(*at)->is_at_owner()) {
      ++at;
      continue;
    }
    if (!may_fetch(**at)) return;
    --queue.unfetched;
    at = fetch(*at) ? std::next(at) : queue.items.erase(at);
  }
}

void Context::advance(Arriving& arriving) {
  std::deque<OwnedItem>& queue = arriving.items;
  while (!queue.empty()) {
    Item& first = *queue.front();
    if (first.is_at_owner()) {
      if (!may_fetch(first)) return;
      fetch_waiting(arriving);
      continue;
    }
    if (first.fetch != nullptr) {
      const bool is_done = first.fetch->done();
      if (!is_done && !host_rank.lost(first.from) && !way_lost(host_rank, first.from, first.fetch->way())) return;
      const std::size_t bytes = first.fetch->arrived();
      const bool is_whole = is_done && bytes == first.fetch->bytes();
      first.memory = std::move(first.fetch->memory());
      first.body = {first.memory.get(), bytes};
      first.frame.flags &= static_cast<std::uint8_t>(~kIsLong);
      traffic.bodies.end(*std::exchange(first.fetch, nullptr));
      if (!is_whole) {
        OwnedItem item = std::move(queue.front());
        queue.pop_front();
        refuse(std::move(item),
               is_done ? "its body is shorter than announced" : "its method was lost before its body arrived");
        continue;
      }
    }
    OwnedItem item = std::move(queue.front());
    queue.pop_front();
    accept(std::move(item));
  }
}

void Context::accept(OwnedItem item) {
  if ((item->frame.flags & kToForwarder) != 0) return pass_on(std::move(item));
  if ((item->frame.flags & kIsForwarded) != 0) {
    if (!forwarders_.contains(item->from) || item->frame.origin >= host_rank.size()) {
      const std::string from = std::to_string(item->from);
      return refuse(std::move(item), "context " + from + " passed it on, but is not a forwarder of this context");
    }
    item->source = item->frame.origin;
  }
  if (!order_.is_early(*item)) return act(std::move(item));
  if (!order_.has_room(*item, settings.queue_bytes)) {
    const std::string why = "requests of more than " + std::to_string(settings.queue_bytes) +
                            " bytes wait here for the end of their links' former methods; ";
    const std::string cure = "send fewer after a change of method, or raise MARGAY_NEXUS_QUEUE";
    if (item->frame.kind == FrameKind::request) return refuse(std::move(item), why + cure);
    // A link whose marker is dropped would wait forever, so this one ends the earlier epochs, too.
    add_error(why + "requests of context " + std::to_string(item->source) + " are not in order; " + cure);
    return act(std::move(item));
  }
  // Copies the body out of the heap, whose room the awaited marker may need.
  if (item->in_heap != nullptr) {
    item->bytes.assign(item->body.begin(), item->body.end());
    item->body = item->bytes;
    release(*item);
  }
  order_.keep(std::move(item));
}

void Context::act(OwnedItem item) {
  const Frame& frame = item->frame;
  const bool is_multicast = (frame.flags & kIsMulticast) != 0;
  if ((frame.endpoint == kControlEndpoint) != (frame.kind != FrameKind::request || is_multicast))
    return refuse(std::move(item), "damaged header: endpoint " + std::to_string(frame.endpoint));
  std::vector<OwnedItem> due;
  switch (frame.kind) {
    case FrameKind::request:
      return act_on_request(std::move(item));
    case FrameKind::marker:
    case FrameKind::skipped:
      if (frame.link == 0) return refuse(std::move(item), "damaged header: a marker without link");
      order_.end_epoch(*item, due);
      if (frame.kind == FrameKind::marker && (frame.flags & kIsForwarded) == 0)
        traffic.send_control(item->source, Control::drained, std::uint64_t{frame.epoch} << kLinkBits | frame.link);
      break;
    case FrameKind::closing:
      traffic.send_control(item->from, Control::closed);
      break;
    case FrameKind::closed:
      return refuse(std::move(item), "damaged header: unknown kind");
  }
  release(*item);
  for (OwnedItem& each : due) accept(std::move(each));
}

void Context::act_on_request(OwnedItem item) {
  if ((item->frame.flags & kIsPacked) != 0) {
    if (const portals::Status status = unpack(*item); !status.ok()) return refuse(std::move(item), status.sentence());
  }
  if ((item->frame.flags & kIsMulticast) != 0) return split_multicast(std::move(item));
  if (endpoints.find(item->frame.endpoint, item->frame.generation) == nullptr) {
    // The endpoint was destroyed after the arrival, or the message came by a module: dropped as the kernel's "no
    // match".
    ++count(kDropped);
    return release(*item);
  }
  Registered* const handler = handlers.find(item->frame.handler);
  if (handler == nullptr) {
    ++count(kUnknown);
    send_notice(item->source, Control::unknown, item->frame.handler, {});
    return release(*item);
  }
  if (handler->run == Run::in_poll) return ready_.push_back(std::move(item));
  if (threads == nullptr)
    return refuse(std::move(item), "its handler runs in a thread, and this context has none; set MARGAY_NEXUS_THREADS");
  ++busy_;
  if (const portals::Status status = threads->push(item, *handler); !status.ok()) {
    --busy_;
    refuse(std::move(item), status.sentence());
  }
}

void Context::split_multicast(OwnedItem item) {
  // u16 count; for each endpoint: u32 context, u32 endpoint, u16 generation.
  constexpr std::size_t kEach = 10;
  std::uint16_t receivers = 0;
  const Bytes body = item->body;
  if (body.size() >= sizeof receivers) std::memcpy(&receivers, body.data(), sizeof receivers);
  const std::size_t begin = sizeof receivers + receivers * kEach;
  if (receivers == 0 || receivers > kLinksMost || body.size() < begin)
    return refuse(std::move(item), "damaged list of its endpoints");
  // One copy for all endpoints of this context.
  const auto bytes =
      std::make_shared<const std::vector<std::byte>>(body.begin() + static_cast<std::ptrdiff_t>(begin), body.end());
  for (std::uint16_t i = 0; i < receivers; ++i) {
    const std::byte* const at = body.data() + sizeof receivers + i * kEach;
    std::uint32_t context = 0;
    std::memcpy(&context, at, sizeof context);
    if (context != me()) continue;
    auto one = std::make_unique<Item>();
    one->source = item->source;
    one->from = item->from;
    one->frame = item->frame;
    one->counts = item->counts;
    one->frame.flags &= static_cast<std::uint8_t>(~kIsMulticast);
    std::memcpy(&one->frame.endpoint, at + 4, 4);
    std::memcpy(&one->frame.generation, at + 8, 2);
    one->shared = bytes;
    one->body = *bytes;
    act_on_request(std::move(one));
  }
  release(*item);
}

portals::Status Context::unpack(Item& item) {
  const auto damaged = [](const std::string& why) { return portals::Status::error("damaged body: " + why); };
  Bytes body = item.body;
  if (body.empty()) return damaged("the list of transforms is empty");
  const auto transforms = std::to_integer<std::size_t>(body[0]);
  if (transforms == 0 || transforms > kTransformsMost) return damaged(std::to_string(transforms) + " transforms");
  body = body.subspan(1);
  std::vector<Method*> applied;
  for (std::size_t i = 0; i < transforms; ++i) {
    const std::size_t length = body.empty() ? 0 : std::to_integer<std::size_t>(body[0]);
    if (body.size() < 1 + length) return damaged("the name of a transform is cut off");
    const std::string name(reinterpret_cast<const char*>(body.data()) + 1, length);
    if (!valid_name(name)) return damaged("invalid name of a transform");
    Method* const method = methods.find(name);
    if (method == nullptr || !method->traits.has(MARGAY_NEXUS_TRANSFORM)) {
      return portals::Status::error("its body was transformed by " + name +
                                    ", a module that this context does not have");
    }
    applied.push_back(method);
    body = body.subspan(1 + length);
  }
  // As at the sender: the fields that no hop changes.
  Frame frame = item.frame;
  frame.flags = 0;
  frame.origin = item.source;
  frame.body_bytes = 0;
  std::vector<std::byte> bytes(body.begin(), body.end());
  for (auto at = applied.rbegin(); at != applied.rend(); ++at) {
    std::vector<std::byte> out;
    if (portals::Status status = (*at)->module->decode(item.source, frame, bytes, kBodyMost, out); !status.ok()) {
      ++(*at)->dropped;
      return portals::Status::error((*at)->name() + ": " + status.sentence());
    }
    ++(*at)->delivered;
    bytes = std::move(out);
  }
  release(item);
  item.memory.reset();
  item.bytes = std::move(bytes);
  item.body = item.bytes;
  item.frame.flags &= static_cast<std::uint8_t>(~kIsPacked);
  return {};
}

void Context::refuse(OwnedItem item, const std::string& why) {
  ++count(kDropped);
  if (host_rank.recording())
    host_rank.record({.number = kRefuses, .peer = item->from, .b = item->frame.endpoint, .of_arrived = item->in_heap});
  add_error("refused a request of context " + std::to_string(item->source) + ": " + why);
  send_notice(item->from, Control::refusal, 0, why);
  release(*item);
}

void Context::pass_on(OwnedItem item) {
  const std::uint32_t final = item->frame.origin;
  const auto allowed = forwards_for_.find(final);
  if (final >= host_rank.size() || allowed == forwards_for_.end())
    return refuse(std::move(item), "this context passes on no requests for context " + std::to_string(final));
  Link link;
  link.context = final;
  // By no further forwarder: a request names one.
  Table table = *tables[final];
  for (Row& row : table) row.forwarder = kNoContext;
  link.table = std::make_shared<const Table>(std::move(table));
  // By another method than the one that is forwarded, if there is one.
  portals::Status status = choose(link, Cause::first, methods.find(allowed->second));
  if (!status.ok()) status = choose(link, Cause::first);
  if (status.ok() && link.forwarder != kNoContext)
    status = portals::Status::error("it would pass context " + std::to_string(link.forwarder) + ", too");
  if (!status.ok()) return refuse(std::move(item), "it cannot be passed on: " + status.sentence());
  Frame frame = item->frame;
  frame.flags = static_cast<std::uint8_t>((frame.flags & ~(kToForwarder | kIsLong)) | kIsForwarded);
  frame.origin = item->from;
  const Bytes body = item->body;
  ++count(kForwarded);
  if (!transmit(*link.way, frame, {&body, 1}))
    return refuse(std::move(item), "it cannot be passed on: " + link.way->failed);
  if (host_rank.recording()) {
    const bool is_host = link.way->method->is_host;
    host_rank.record({.number = kForwards,
                      .peer = final,
                      .bytes = item->body.size(),
                      .b = frame.endpoint,
                      .of_sent = is_host,
                      .way = is_host ? way_of(*link.way->object) : host::Way::usual});
  }
  release(*item);
}

void Context::take_control() {
  while (portals::ArrivedMessage* const message = traffic.control.take()) {
    take_control(*message);
    traffic.control.release(*message);
  }
}

void Context::take_control(const portals::ArrivedMessage& message) {
  const portals::Header& header = message.header;
  const std::uint32_t source = header.source.rank;
  const std::uint64_t number = header.match_bits & kBelowControl;
  const Bytes body(message.body.base, message.body.bytes);
  const std::string context = "context " + std::to_string(source);
  switch (static_cast<Control>(header.match_bits >> kControlShift)) {
    case Control::hello:
      return take_hello(source, body);
    case Control::welcome:
      if (source != 0) break;
      return take_welcome(body);
    case Control::unknown: {
      const auto at = requested.find(static_cast<std::uint32_t>(number));
      const std::string name = at == requested.end() ? "number " + std::to_string(number) : "\"" + at->second + "\"";
      return add_error(context + " has no handler " + name + "; register it there before init()");
    }
    case Control::refusal: {
      std::string text(reinterpret_cast<const char*>(body.data()), std::min(body.size(), kTextMost));
      std::ranges::replace_if(
          text, [](char each) { return each < ' ' || each > '~'; }, '?');
      return add_error(context + " refused a request of this context: " + text);
    }
    case Control::closing:
      return traffic.send_control(source, Control::closed);
    case Control::closed:
      if (unanswered_ == 0) break;
      --unanswered_;
      return;
    case Control::wave: {
      std::uint64_t sends = 0;
      if (me() != 0 || number != wave_ || body.size() != sizeof sends || in_wave_ >= host_rank.size()) break;
      std::memcpy(&sends, body.data(), sizeof sends);
      return count_wave(sends);
    }
    case Control::again:
      if (source != 0 || number != wave_ + 1) break;
      wave_ = number;
      return;
    case Control::over:
      if (source != 0) break;
      is_over_ = true;
      return;
    case Control::drained:
      // An epoch that was skipped may have had its marker delivered, too.
      std::erase_if(drains_, [&](const Drain& each) {
        return each.link.context == source && number == (std::uint64_t{each.epoch} << kLinkBits | each.number);
      });
      return;
    case Control::own:
    case Control::all:
      if (!take_exchanged(source, number, body,
                          static_cast<Control>(header.match_bits >> kControlShift) == Control::all))
        break;
      return;
  }
  ++count(kDropped);
  add_error(context + " sent a damaged control message");
}

}  // namespace margay::nexus::core
