// A libFuzzer target for the frame decoder: no input makes it read beyond its end, and an accepted input has one
// encoding.
//   clang++ -std=c++20 -O1 -g -I. -fsanitize=fuzzer,address,undefined tests/fuzz/frame_fuzz.cpp sim/wire/frame.cpp \
//       portals/base/assert.cpp -o frame_fuzz && ./frame_fuzz -max_len=80 tests/fuzz/frame_corpus
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "sim/wire/frame.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace margay::sim;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  margay::portals::Header header;
  DecodedHead head;
  const DecodeResult result = decode_head({bytes, size}, header, head, true);
  if (result.verdict == Decode::incomplete && result.needed <= size) std::abort();
  if (result.verdict == Decode::malformed && result.reason.empty()) std::abort();
  if (result.verdict != Decode::ok) return 0;
  if (head.bytes > size) std::abort();
  std::array<std::byte, kFrameHeadMaxBytes> again{};
  const EncodedHead encoded = head.type == FrameType::message ? encode_head(header, again.data(), head.read_body)
                                                              : encode_control(head.type, head.argument, again.data());
  if (encoded.bytes != head.bytes) std::abort();
  for (std::size_t i = 0; i < 8; ++i) again[i] = static_cast<std::byte>(encoded.first_word >> (8 * i));
  // Byte 0 belongs to the wire.
  if (!std::equal(again.begin() + 1, again.begin() + static_cast<std::ptrdiff_t>(head.bytes), bytes + 1)) std::abort();
  return 0;
}
