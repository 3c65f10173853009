#include "libraries/nexus/modules/keys.hpp"

#include <sodium.h>

#include <cstdlib>

#include "libraries/nexus/modules/bytes.hpp"

namespace margay::nexus {
namespace {

static_assert(crypto_generichash_KEYBYTES == sizeof(ModuleKey) && crypto_generichash_BYTES == sizeof(ModuleKey));

// sodium_init() fails only if the system has no random numbers.
void need_sodium() {
  if (sodium_init() < 0) std::abort();
}

}  // namespace

ModuleKey derive_key(const ModuleKey& job, std::string_view purpose, std::uint32_t from, std::uint32_t to) {
  need_sodium();
  std::array<std::byte, 8> pair{};
  put_number(pair.data(), from);
  put_number(pair.data() + 4, to);
  crypto_generichash_state state;
  crypto_generichash_init(&state, raw(job.data()), job.size(), crypto_generichash_BYTES);
  // The pair first: it has a fixed length, so no two inputs have the same bytes.
  crypto_generichash_update(&state, raw(pair.data()), pair.size());
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size());
  ModuleKey key{};
  crypto_generichash_final(&state, raw(key.data()), key.size());
  return key;
}

std::uint64_t random_session() {
  need_sodium();
  std::uint64_t session = 0;
  randombytes_buf(&session, sizeof session);
  return session;
}

}  // namespace margay::nexus
