#include "sim/wire/tcp/crc32c.hpp"

#include <array>
#include <cstring>

#include "sim/wire/tcp/crc32c_methods.hpp"

namespace margay::sim {
namespace {

constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// tables[k][b]: the effect of byte b followed by k zero bytes, so that eight bytes are processed at once.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc32c_times_x(crc);
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
// Computed at compile time, so it costs nothing at start.
constexpr Tables kTables = make_tables();

std::uint32_t by_table(const std::byte* at, std::size_t bytes, std::uint32_t crc) {
  for (; bytes >= kSlices; at += kSlices, bytes -= kSlices) {
    std::array<std::uint8_t, kSlices> eight{};
    std::memcpy(eight.data(), at, kSlices);
    // The register is added (exclusive or) to the first four of the eight bytes.
    const std::uint32_t low = crc;
    crc = 0;
    for (std::size_t i = 0; i < kSlices; ++i) {
      const std::uint32_t mixed = i < 4 ? (low >> (8 * i) & 0xff) : 0;
      crc ^= kTables[kSlices - 1 - i][eight[i] ^ mixed];
    }
  }
  for (; bytes != 0; ++at, --bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint8_t>(*at)) & 0xff];
  return crc;
}

using Register = std::uint32_t(const std::byte*, std::size_t, std::uint32_t);

template <Register kMethod>
std::uint32_t sum(std::span<const std::byte> bytes, std::uint32_t before) {
  return ~kMethod(bytes.data(), bytes.size(), ~before);
}

struct Crc32cMethods {
  std::array<Crc32cMethod, 5> list{};
  std::size_t count = 0;
  void add(std::string_view name, decltype(Crc32cMethod::sum) method) { list[count++] = {name, method}; }
};

// __builtin_cpu_supports tests both the processor and the operating system, which must save the wide registers.
Crc32cMethods find_methods() {
  Crc32cMethods methods;
#if MARGAY_CRC32C_X86
  __builtin_cpu_init();
  const bool folds = __builtin_cpu_supports("pclmul") != 0;
  if (folds && __builtin_cpu_supports("vpclmulqdq") != 0 && __builtin_cpu_supports("avx512f") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0) {
    methods.add("folding, 512 bits", sum<crc32c_folding_512>);
  }
  if (folds) methods.add("folding, 128 bits", sum<crc32c_folding_128>);
  methods.add("instruction, three streams", sum<crc32c_three_streams>);
  methods.add("instruction", sum<crc32c_one_stream>);
#endif
  methods.add("table", sum<by_table>);
  return methods;
}

// Initialized when the library is loaded, so that a call needs no test.
const Crc32cMethods kMethods = find_methods();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if MARGAY_CRC32C_X86
  // For a short frame, this avoids the call through a pointer and the wide registers.
  constexpr std::size_t kShortBytes = 128;
  if (bytes.size() < kShortBytes) return sum<crc32c_one_stream>(bytes, before);
#endif
  return kMethods.list[0].sum(bytes, before);
}

std::span<const Crc32cMethod> crc32c_methods() {
  return {kMethods.list.data(), kMethods.count};
}

}  // namespace margay::sim
