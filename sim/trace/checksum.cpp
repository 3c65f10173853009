#include "sim/trace/checksum.hpp"

#include <array>
#include <cstring>

#include "portals/base/assert.hpp"

namespace margay::sim {

namespace {
constexpr std::size_t kDigestBytes = 16;
static_assert(kDigestBytes >= crypto_generichash_BYTES_MIN);
}  // namespace

TraceChecksum::TraceChecksum(TraceHeader header, TraceCloser closer) {
  // Selects the processor's best instructions. Repeated calls are harmless.
  MARGAY_ASSERT(sodium_init() >= 0);
  MARGAY_ASSERT(crypto_generichash_init(&state_, nullptr, 0, kDigestBytes) == 0);
  // The rank's checksum covers only the part of the header that the rank writes, because the launcher writes the other
  // part later.
  const bool is_ranks = closer == TraceCloser::rank;
  (is_ranks ? header.checksum : header.launcher_checksum) = 0;
  if (is_ranks) header.flags |= kTraceFlagClosed;
  add(std::as_bytes(std::span(&header, 1)).first(is_ranks ? kRanksHeaderBytes : sizeof header));
}

void TraceChecksum::add(std::span<const std::byte> bytes) {
  static_cast<void>(
      crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::uint64_t TraceChecksum::value() {
  std::array<unsigned char, kDigestBytes> digest{};
  static_cast<void>(crypto_generichash_final(&state_, digest.data(), digest.size()));
  std::uint64_t value = 0;
  // Little-endian, as in the file; format.hpp asserts that the host is little-endian too.
  std::memcpy(&value, digest.data(), sizeof value);
  return value == 0 ? 1 : value;
}

}  // namespace margay::sim
