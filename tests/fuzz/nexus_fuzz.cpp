// Fuzzes the codecs of Nexus: typed buffers, startpoints with their tables, and frames of modules. What is accepted
// survives a second encoding. Corpus: tests/fuzz/nexus_corpus.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libraries/nexus/table.hpp"
#include "margay/nexus/buffer.hpp"
#include "margay/nexus/error.hpp"
#include "portals/base/assert.hpp"

namespace margay::nexus::fuzz {

void read_buffer(std::span<const std::byte> bytes) {
  Buffer buffer = Buffer::view(bytes);
  try {
    while (!buffer.at_end()) {
      const std::size_t count = buffer.next_count();
      switch (buffer.next_type()) {
        case Type::int32:
          MARGAY_ASSERT(buffer.get<std::vector<int>>().size() == count);
          break;
        case Type::float64:
          MARGAY_ASSERT(buffer.get<std::vector<double>>().size() == count);
          break;
        case Type::text:
          MARGAY_ASSERT(buffer.get<std::string>().size() == count);
          break;
        case Type::uint16:
          static_cast<void>(buffer.get<std::uint16_t>());
          break;
        default:
          MARGAY_ASSERT(buffer.get<std::vector<std::byte>>().size() == count);
      }
    }
  } catch (const error&) {
  }
}

void read_startpoint(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kContexts = 3;
  bool light = false;
  std::vector<core::LinkData> links;
  if (!core::decode(bytes, kContexts, light, links).ok()) return;
  std::vector<const core::LinkData*> pointers;
  for (const core::LinkData& link : links) {
    MARGAY_ASSERT(link.context < kContexts && link.endpoint != 0 && (link.table != nullptr) == !light);
    pointers.push_back(&link);
  }
  std::vector<std::byte> again;
  core::encode(pointers, light, again);
  MARGAY_ASSERT(std::vector<std::byte>(bytes.begin(), bytes.end()) == again);
}

void read_frame(std::span<const std::byte> bytes) {
  core::Frame frame;
  if (bytes.size() < core::kFrameBytes) return;
  const std::span<const std::byte> head = bytes.first(core::kFrameBytes);
  if (!core::decode(head, bytes.size() - core::kFrameBytes, frame).ok()) return;
  const core::FrameBytes again = core::encode(frame);
  MARGAY_ASSERT(std::vector<std::byte>(head.begin(), head.end()) == std::vector<std::byte>(again.begin(), again.end()));
}

}  // namespace margay::nexus::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data) + 1, bytes - 1);
  switch (data[0] % 3) {
    case 0:
      margay::nexus::fuzz::read_buffer(input);
      break;
    case 1:
      margay::nexus::fuzz::read_startpoint(input);
      break;
    default:
      margay::nexus::fuzz::read_frame(input);
  }
  return 0;
}
