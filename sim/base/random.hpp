// Random bytes from the operating system, and their hexadecimal form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace margay::sim {

// Fills `out` with cryptographically strong random bytes. Blocks only early in the machine's boot.
void fill_random(std::span<std::byte> out);
// A random number; every value is possible. One system call.
[[nodiscard]] std::uint64_t random_u64();
// Two lower-case digits for each byte.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);
// Decodes `text` into `out`. False unless `text` is exactly two lower-case digits for each byte of `out`; `out` may
// then be partly written.
[[nodiscard]] bool from_hex(std::string_view text, std::span<std::byte> out);

}  // namespace margay::sim
