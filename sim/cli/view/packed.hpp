// Bytes as text that a page can hold.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace margay::sim {

// Base64 (RFC 4648) of gzip (RFC 1952), which a browser unpacks by itself.
[[nodiscard]] std::string packed(std::span<const std::byte> bytes);

}  // namespace margay::sim
