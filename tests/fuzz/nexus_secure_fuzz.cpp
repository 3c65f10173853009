// libFuzzer target: sealed bodies. The input is a stranger's body, and changes of a right one: neither is ever opened,
// except for the right one unchanged, once. Corpus: tests/fuzz/nexus_secure_corpus.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libraries/nexus/modules/sealing.hpp"
#include "portals/base/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::nexus::core;
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), bytes);
  const ModuleKey key{std::byte{1}};
  Unsealer unsealer(key);
  std::vector<std::byte> out;
  // No fixed input contains a right tag for a key.
  MARGAY_ASSERT(!unsealer.unseal({}, input, out).empty() && out.empty());
  Sealer sealer(key);
  const std::vector<std::byte> header(12, std::byte{2});
  const std::array<std::span<const std::byte>, 1> plain{input};
  std::vector<std::byte> body;
  sealer.seal(header, plain, body);
  std::vector<std::byte> changed = body;
  for (std::size_t i = 0; i + 2 < bytes; i += 3)
    changed[(data[i] << 8 | data[i + 1]) % changed.size()] ^= std::byte{data[i + 2]};
  if (bytes % 2 != 0) changed.resize(changed.size() - std::min<std::size_t>(changed.size(), data[0]));
  if (changed != body) MARGAY_ASSERT(!unsealer.unseal(header, changed, out).empty() && out.empty());
  MARGAY_ASSERT(unsealer.unseal(header, body, out).empty());
  MARGAY_ASSERT(std::equal(out.begin(), out.end(), input.begin(), input.end()));
  MARGAY_ASSERT(!unsealer.unseal(header, body, out).empty());
  return 0;
}
