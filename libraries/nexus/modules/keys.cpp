#include "libraries/nexus/modules/keys.hpp"

#include <sodium.h>

#include <cstdlib>

#include "libraries/nexus/modules/bytes.hpp"

namespace margay::nexus::core {
namespace {

static_assert(crypto_generichash_KEYBYTES == sizeof(ModuleKey) && crypto_generichash_BYTES == sizeof(ModuleKey));

// sodium_init() fails only if the system has no random numbers.
void need_sodium() {
  if (sodium_init() < 0) std::abort();
}

}  // namespace

ModuleKey direction_key(const ModuleKey& pair, std::uint32_t from, std::uint32_t to) {
  need_sodium();
  std::array<std::byte, 8> direction{};
  put_number(direction.data(), from);
  put_number(direction.data() + 4, to);
  ModuleKey key{};
  crypto_generichash(raw(key.data()), key.size(), raw(direction.data()), direction.size(), raw(pair.data()),
                     pair.size());
  return key;
}

std::array<std::byte, 64> foreign_key(const ModuleKey& pair) {
  need_sodium();
  constexpr std::array<std::byte, 1> kPurpose{std::byte{'f'}};
  std::array<std::byte, 64> key{};
  crypto_generichash(raw(key.data()), key.size(), raw(kPurpose.data()), kPurpose.size(), raw(pair.data()), pair.size());
  return key;
}

std::uint64_t random_session() {
  need_sodium();
  std::uint64_t session = 0;
  randombytes_buf(&session, sizeof session);
  return session;
}

}  // namespace margay::nexus::core
