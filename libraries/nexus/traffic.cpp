#include "libraries/nexus/traffic.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "libraries/nexus/host_ways.hpp"

namespace margay::nexus::core {

void gather(std::span<const Bytes> pieces, std::byte* out) {
  for (const Bytes piece : pieces) {
    if (!piece.empty()) std::memcpy(out, piece.data(), piece.size());
    out += piece.size();
  }
}

std::size_t total_bytes(std::span<const Bytes> pieces) {
  std::size_t bytes = 0;
  for (const Bytes piece : pieces) bytes += piece.size();
  return bytes;
}

portals::Status Heap::attach(portals::MatchList& list, host::Observer& observer) {
  portals::Status status = rank_.attach(portal_, list);
  if (!status.ok()) return status;
  attached_ = true;
  rank_.observe(block_, &observer);
  rank_.hold_when_no_room(portal_);
  return status;
}

portals::ArrivedMessage* Heap::take() {
  for (portals::ArrivedMessage* each = block_.first(); each != nullptr; each = block_.next(*each)) {
    if (!each->complete) continue;
    block_.unlink(*each);
    return each;
  }
  return nullptr;
}

Traffic::Traffic(host::Rank& rank)
    : bodies(rank, kBodyPortal, kFetchPortal),
      requests(rank, kRequestPortal, kHeapBytes),
      forwarded(rank, kForwardPortal, kForwardHeapBytes),
      // All tables pass context 0.
      control(rank, kControlPortal, kControlHeapBytes + std::size_t{rank.size()} * 8192),
      rank_(rank) {
  control_entry_.set({.ignore_bits = ~portals::MatchBits{0}}, control.block(), {});
  forward_entry_.set({.ignore_bits = ~portals::MatchBits{0}}, forwarded.block(), {});
  control_list_.append(control_entry_);
  forward_list_.append(forward_entry_);
}

portals::Status Traffic::attach(portals::MatchList& list) {
  if (portals::Status status = bodies.attach(); !status.ok()) return status;
  if (portals::Status status = requests.attach(list, *this); !status.ok()) return status;
  if (portals::Status status = control.attach(control_list_, *this); !status.ok()) return status;
  return forwarded.attach(forward_list_, *this);
}

void Traffic::send(std::uint32_t peer, std::uint8_t way, const Frame& frame, std::span<const Bytes> body) {
  portals::Header header;
  header.portal = (frame.flags & kToForwarder) != 0 ? kForwardPortal : kRequestPortal;
  header.destination = {0, peer};
  std::uint8_t flags = frame.flags;
  const std::size_t bytes = total_bytes(body);
  const bool is_long = bytes > kShortMost;
  if (is_long) {
    Memory copy = allocate(bytes);
    gather(body, copy.get());
    const std::uint32_t number = bodies.offer(peer, way, std::move(copy), bytes);
    header.offset = std::uint64_t{bytes} << 24 | std::uint64_t{way} << kBodyNumberBits | number;
    flags |= kIsLong;
  }
  header.match_bits = endpoint_bits(frame.endpoint, frame.generation) | portals::MatchBits{flags} << 16 | frame.link;
  const std::uint32_t first = static_cast<std::uint32_t>(frame.kind) | frame.handler << 8;
  std::memcpy(header.user_data.data(), &first, 4);
  std::memcpy(header.user_data.data() + 4, &frame.epoch, 4);
  std::memcpy(header.user_data.data() + 8, &frame.origin, 4);
  if (is_long) return send_bytes(header, way, {}, 0);
  send_bytes(header, way, body, bytes);
}

void Traffic::send_bytes(const portals::Header& header, std::uint8_t way, std::span<const Bytes> body,
                         std::size_t bytes) {
  if (body.size() <= 1) {
    // The wire only reads the body.
    std::byte* const base = body.empty() ? nullptr : const_cast<std::byte*>(body.front().data());
    if (try_send_by(rank_, way, header, portals::Region(base, bytes))) return;
  }
  parcels_.push_back(std::make_unique<Parcel>());
  Parcel& parcel = *parcels_.back();
  parcel.memory = allocate(bytes);
  parcel.bytes = bytes + sizeof(Parcel);
  gather(body, parcel.memory.get());
  parcel.message.header = header;
  parcel.message.body = portals::Region(parcel.memory.get(), bytes);
  set_way(parcel.message, way);
  if (body.size() > 1 && try_send_by(rank_, way, header, parcel.message.body)) return parcels_.pop_back();
  parcel_bytes_ += parcel.bytes;
  rank_.send(parcel.message);
}

void Traffic::send_control(std::uint32_t peer, Control kind, std::uint64_t number, Bytes body) {
  portals::Header header;
  header.portal = kControlPortal;
  header.destination = {0, peer};
  header.match_bits = control_bits(kind, number);
  send_bytes(header, 0, {&body, 1}, body.size());
}

portals::Status Traffic::read(const portals::Header& header, Frame& out, BodyPlace& place) {
  const auto damaged = [](const std::string& why) { return portals::Status::error("damaged header: " + why); };
  std::uint32_t first = 0;
  std::memcpy(&first, header.user_data.data(), 4);
  const std::uint32_t kind = first & 0xff;
  if (kind == 0 || kind > kFrameKindLast) return damaged("unknown kind " + std::to_string(kind));
  out.kind = static_cast<FrameKind>(kind);
  out.handler = first >> 8;
  std::memcpy(&out.epoch, header.user_data.data() + 4, 4);
  std::memcpy(&out.origin, header.user_data.data() + 8, 4);
  out.endpoint = static_cast<std::uint32_t>(header.match_bits >> 40);
  out.generation = static_cast<std::uint16_t>(header.match_bits >> 24);
  out.flags = static_cast<std::uint8_t>(header.match_bits >> 16);
  out.link = static_cast<std::uint16_t>(header.match_bits);
  if ((out.flags & ~(kIsLong | kIsForwarded | kIsPacked | kToForwarder)) != 0)
    return damaged("unknown flags " + std::to_string(out.flags));
  out.body_bytes = header.length;
  if ((out.flags & kIsLong) == 0) return {};
  place.number = static_cast<std::uint32_t>(header.offset) & ((1U << kBodyNumberBits) - 1);
  place.way = static_cast<std::uint8_t>(header.offset >> kBodyNumberBits & 0xf);
  out.body_bytes = header.offset >> 24;
  if (header.length != 0) return damaged("a body that is to be fetched came with the header");
  if (out.body_bytes <= kShortMost) return damaged("a short body is to be fetched");
  return {};
}

Fetch* Traffic::fetch(std::uint32_t peer, const BodyPlace& place, std::uint64_t bytes) {
  portals::Header get;
  BodyPlace checked = place;
  // A damaged notice may name any way.
  if (!is_open_way(rank_, peer, place.way)) checked.way = 0;
  Fetch* const fetch = bodies.fetch(peer, checked, bytes, get);
  if (fetch != nullptr) send_bytes(get, checked.way, {}, 0);
  return fetch;
}

void Traffic::sweep() {
  bodies.sweep();
  if (parcels_.empty()) [[likely]]
    return;
  std::erase_if(parcels_, [this](const std::unique_ptr<Parcel>& parcel) {
    if (rank_.state(parcel->message) == host::SendState::queued) return false;
    parcel_bytes_ -= parcel->bytes;
    return true;
  });
}

}  // namespace margay::nexus::core
