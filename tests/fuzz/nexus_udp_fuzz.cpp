// libFuzzer target: datagrams of the modules udp and multicast. The input is a sequence of datagrams, each behind its
// length. Each accepted one has one encoding, and the messages of one sender are counted once: the law holds whatever
// arrives. Corpus: tests/fuzz/nexus_udp_corpus.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "libraries/nexus/modules/udp_frame.hpp"
#include "libraries/nexus/modules/udp_incoming.hpp"
#include "portals/base/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::nexus::core;
  std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data), bytes);
  UdpIncoming incoming;
  std::uint64_t complete = 0;
  std::uint64_t end = 0;
  while (rest.size() >= 2) {
    const std::size_t claimed = std::to_integer<std::size_t>(rest[0]) << 8 | std::to_integer<std::size_t>(rest[1]);
    rest = rest.subspan(2);
    const std::span<const std::byte> datagram = rest.first(std::min(claimed, rest.size()));
    rest = rest.subspan(datagram.size());
    const auto frame = decode_udp(datagram);
    if (!frame) continue;
    const ModuleKey key{};
    std::array<std::byte, kUdpFrameMost> again{};
    MARGAY_ASSERT(encode_udp(*frame, key, again) == datagram.size());
    MARGAY_ASSERT(std::memcmp(again.data(), datagram.data(), kUdpHeaderBytes - kUdpTagBytes) == 0);
    MARGAY_ASSERT(verify_udp(std::span(again).first(datagram.size()), key));
    if (frame->kind == UdpKind::total) {
      incoming.end_at(frame->number);
      end = std::max(end, frame->number);
    } else if (frame->kind == UdpKind::data) {
      end = std::max(end, frame->number + 1);
      if (incoming.accept(*frame) != UdpAccepted::complete) continue;
      MARGAY_ASSERT(incoming.message().size() == frame->message_bytes);
      ++complete;
      incoming.count(MessageFate::delivered);
    }
  }
  incoming.end_at(end);
  MARGAY_ASSERT(incoming.law().delivered == complete);
  MARGAY_ASSERT(incoming.law().sum() == end);
  return 0;
}
