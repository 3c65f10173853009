// libFuzzer target: compressed bodies. Any input is refused or expands to the length in its header, within the limit
// and without more memory than zstd can need for so few bytes; and the input itself is restored from its compressed
// form. Corpus: tests/fuzz/nexus_compressed_corpus.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libraries/nexus/modules/bytes.hpp"
#include "libraries/nexus/modules/compression.hpp"
#include "portals/base/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::nexus::core;
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 20;
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), bytes);
  Compression compression;
  std::vector<std::byte> out;
  if (compression.expand(input, kLimit, out).empty()) {
    MARGAY_ASSERT(out.size() <= kLimit);
    MARGAY_ASSERT(out.size() == number_at<std::uint64_t>(input.data() + 4));
  } else {
    MARGAY_ASSERT(out.empty());
  }
  MARGAY_ASSERT(out.capacity() <= kLimit);
  const std::array<std::span<const std::byte>, 2> pieces{input.first(bytes / 3), input.subspan(bytes / 3)};
  std::vector<std::byte> body;
  MARGAY_ASSERT(compression.compress(pieces, 1 + static_cast<int>(bytes % 3), body).empty());
  MARGAY_ASSERT(compression.expand(body, bytes, out).empty());
  MARGAY_ASSERT(std::equal(out.begin(), out.end(), input.begin(), input.end()));
  // Damage behind the header: the frame of zstd is wrong, or has other contents of the same length.
  if (body.size() > kCompressedHeaderBytes && bytes > 1) {
    body[kCompressedHeaderBytes + data[0] % (body.size() - kCompressedHeaderBytes)] ^= std::byte{data[1]};
    MARGAY_ASSERT(!compression.expand(body, bytes, out).empty() || out.size() == bytes);
  }
  return 0;
}
