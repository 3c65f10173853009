// Keys of modules, derived from the job's key. A module knows its own keys only, so that a tag of one module is
// worthless in another one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace margay::nexus {

// 256 bits. Never printed, and never sent.
using ModuleKey = std::array<std::byte, 32>;

// The number for `to` in keys of messages for every context.
inline constexpr std::uint32_t kEveryContext = 0xFFFFFFFF;

// The key for `purpose`, a literal such as "udp", of the messages from context `from` to context `to`: BLAKE2b of the
// three, keyed with `job`. Equal at both ends.
[[nodiscard]] ModuleKey derive_key(const ModuleKey& job, std::string_view purpose, std::uint32_t from,
                                   std::uint32_t to);

// A number that no other incarnation of a module has: 64 random bits.
[[nodiscard]] std::uint64_t random_session();

}  // namespace margay::nexus
