// Keys of modules. Services::derive_key() gives both contexts of a pair one key for each module; here it becomes a key
// for each direction, which prevents reflection of a message to its sender.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace margay::nexus::core {

// 256 bits. Never printed, and never sent.
using ModuleKey = std::array<std::byte, 32>;

// The number for `to` in keys of messages for every context.
inline constexpr std::uint32_t kEveryContext = 0xFFFFFFFF;

// The key of the messages from context `from` to context `to`: BLAKE2b of the two, keyed with the key of the pair.
// Equal at both ends.
[[nodiscard]] ModuleKey direction_key(const ModuleKey& pair, std::uint32_t from, std::uint32_t to);

// The key that a foreign module gets in place of `pair`: 64 bytes, from which `pair` does not follow.
[[nodiscard]] std::array<std::byte, 64> foreign_key(const ModuleKey& pair);

// A number that no other incarnation of a module has: 64 random bits.
[[nodiscard]] std::uint64_t random_session();

}  // namespace margay::nexus::core
