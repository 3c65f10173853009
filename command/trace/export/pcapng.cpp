#include "command/trace/export/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "sim/wire/frame.hpp"

namespace margay::command {

namespace {

// Blocks and options of pcapng (IETF opsawg-pcapng).
constexpr std::uint32_t kSectionBlock = 0x0a0d0d0a;
constexpr std::uint32_t kInterfaceBlock = 1;
constexpr std::uint32_t kPacketBlock = 6;
constexpr std::uint32_t kByteOrder = 0x1a2b3c4d;
constexpr std::uint16_t kEndOfOptions = 0;
constexpr std::uint16_t kComment = 1;
constexpr std::uint16_t kApplication = 4;
constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kTimeResolution = 9;
constexpr std::uint8_t kNanoseconds = 9;  // 10^-9 s

// Flags of a note: the trace has the hop's sending; the trace has its arrival.
constexpr std::uint8_t kNoteSent = 1;
constexpr std::uint8_t kNoteArrived = 2;

// The body of a block. Numbers have this machine's byte order, which the section's head declares.
class PcapBlock {
 public:
  template <typename Number>
  PcapBlock& put(Number number) {
    std::array<char, sizeof number> bytes;
    std::memcpy(bytes.data(), &number, sizeof number);
    body_.append(bytes.data(), bytes.size());
    return *this;
  }
  // pcapng aligns everything to 4 bytes.
  PcapBlock& put_padded(std::string_view bytes) {
    body_ += bytes;
    body_.append((4 - bytes.size() % 4) % 4, '\0');
    return *this;
  }
  PcapBlock& option(std::uint16_t code, std::string_view value) {
    constexpr std::size_t kMost = 0xffff;
    value = value.substr(0, kMost);
    return put(code).put(static_cast<std::uint16_t>(value.size())).put_padded(value);
  }
  PcapBlock& end_options() { return put(kEndOfOptions).put(std::uint16_t{0}); }
  // Writes type and length, the body, and the length again, by which readers go backwards.
  void write(std::uint32_t type, std::ostream& out) const {
    PcapBlock ends;
    const auto bytes = static_cast<std::uint32_t>(body_.size() + 12);
    ends.put(type).put(bytes);
    out << ends.body_ << body_;
    out.write(ends.body_.data() + 4, 4);
  }
  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  std::string body_;
};

// A hop's header, as far as the event has its fields.
portals::Header header_of(const sim::TraceEvent& event) {
  portals::Header header;
  header.kind = static_cast<portals::Kind>(event.header & 3U);
  header.portal = event.portal & (portals::kPortalCount - 1);
  header.match_bits = event.match_bits;
  switch (header.kind) {
    case portals::Kind::put:
    case portals::Kind::reply:
      // A damaged trace may have any length.
      header.length = std::min(event.bytes, sim::kMessageLimitBytes);
      break;
    case portals::Kind::get:
      header.return_length = event.bytes;
      break;
    case portals::Kind::acknowledgment:
      header.return_length = event.bytes;
      header.user_data[0] = static_cast<std::byte>(event.saved);
      break;
  }
  return header;
}

// Writes one packet for each hop, ordered by sending time.
class PcapWriter {
 public:
  PcapWriter(const ExportSource& source, std::ostream& out) : source_(source), trace_(source.trace), out_(out) {}

  // The section's length is unknown, because blocks are written as they are made.
  void run() {
    PcapBlock()
        .put(kByteOrder)
        .put(std::uint16_t{1})
        .put(std::uint16_t{0})
        .put(~std::uint64_t{0})  // length not known
        .option(kApplication, "margay trace export")
        .end_options()
        .write(kSectionBlock, out_);
    std::vector<Hop> hops = timeline_of(trace_, source_.messages).hops;
    const auto index = [](const Hop& hop) { return hop.sent != MessageStory::kNone ? hop.sent : hop.arrived; };
    std::sort(hops.begin(), hops.end(), [&](const Hop& one, const Hop& other) { return index(one) < index(other); });
    for (const Hop& hop : hops) put_hop(hop);
  }

 private:
  // An interface's number is the position of its block among the interface blocks. The block is written before the
  // wire's first packet.
  std::uint32_t interface_of(std::uint8_t wire) {
    const auto [found, is_new] = interfaces_.try_emplace(wire, static_cast<std::uint32_t>(interfaces_.size()));
    if (is_new) {
      const std::string name = wire == sim::kNoWire ? "margay" : "margay " + source_.names.wire(wire);
      PcapBlock()
          .put(kLinkTypeUser0)
          .put(std::uint16_t{0})
          .put(static_cast<std::uint32_t>(kPacketNoteBytes + sim::kFrameHeadMaxBytes))  // bytes kept of a packet
          .option(kInterfaceName, name)
          .option(kTimeResolution, std::string(1, kNanoseconds))
          .end_options()
          .write(kInterfaceBlock, out_);
    }
    return found->second;
  }

  // The event's time since 1970. The file's clock started when the file was created.
  [[nodiscard]] std::uint64_t realtime_ns(const Trace::Entry& entry) const {
    const TraceFile& file = trace_.files[entry.file];
    if (file.clock == sim::ClockKind::virtual_ns) return file.started_realtime_ns + entry.event.time;
    return file.started_realtime_ns + (entry.event.time - file.first_anchor.time_ns);
  }

  // The layout that margay.lua reads: 48 bytes, of which the first is the version.
  [[nodiscard]] std::string note_of(const Hop& hop, const sim::TraceEvent& event) const {
    const bool sent = hop.sent != MessageStory::kNone;
    const bool arrived = hop.arrived != MessageStory::kNone;
    std::uint64_t way_ns = ~std::uint64_t{0};
    if (sent && arrived) {
      const std::uint64_t from = trace_.entries[hop.sent].event.time;
      const std::uint64_t to = trace_.entries[hop.arrived].event.time;
      way_ns = to > from ? to - from : 0;
    }
    const auto flags = static_cast<std::uint8_t>((sent ? kNoteSent : 0) | (arrived ? kNoteArrived : 0));
    return PcapBlock()
        .put(kPacketNoteVersion)
        .put(event.wire)
        .put(flags)
        .put(static_cast<std::uint8_t>(kPacketNoteBytes))
        .put(hop.identity.source)
        .put(hop.identity.destination)
        .put(hop.root.source)
        .put(hop.root.destination)
        .put(std::uint32_t{0})
        .put(hop.identity.sequence)
        .put(hop.root.sequence)
        .put(way_ns)
        .body();
  }

  // The packet's original length includes the body, as in a truncated capture.
  void put_hop(const Hop& hop) {
    const Trace::Entry& entry = about(trace_, hop);
    const portals::Header header = header_of(entry.event);
    std::array<std::byte, sim::kFrameHeadMaxBytes> head{};
    const std::size_t head_bytes = sim::write_head(header, head.data());
    std::string packet = note_of(hop, entry.event);
    packet.append(reinterpret_cast<const char*>(head.data()), head_bytes);
    constexpr std::uint64_t kLongest = std::numeric_limits<std::uint32_t>::max();
    const auto original = static_cast<std::uint32_t>(std::min(kLongest, packet.size() + header.length));
    const std::uint32_t interface = interface_of(entry.event.wire);
    const std::uint64_t time_ns = realtime_ns(entry);
    PcapBlock block;
    block.put(interface)
        .put(static_cast<std::uint32_t>(time_ns >> 32U))
        .put(static_cast<std::uint32_t>(time_ns))
        .put(static_cast<std::uint32_t>(packet.size()))
        .put(original)
        .put_padded(packet);
    if (header.kind == portals::Kind::put) {
      block.option(kComment, source_.event_text.bits(entry)).end_options();
    }
    block.write(kPacketBlock, out_);
  }

  const ExportSource& source_;
  const Trace& trace_;
  std::ostream& out_;
  std::map<std::uint8_t, std::uint32_t> interfaces_;
};

}  // namespace

void write_pcapng(const ExportSource& source, std::ostream& out) {
  PcapWriter(source, out).run();
}

}  // namespace margay::command
