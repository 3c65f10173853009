// Tables of methods and the mobile part of startpoints, and their bytes (paper 003, 3.1: the descriptor table,
// "concise, easily communicated"). Decoders accept arbitrary bytes, and report damage as an error that names it. The
// bytes contain no addresses.
//
// Integers are in the byte order of the machine. A name is one byte of length and its characters.
//   table       u8 rows; for each: name, u16 bytes of the descriptor, the descriptor, u32 forwarder
//   startpoint  u8 version, u8 1 if light, u16 links; for each link: u32 context, u32 endpoint, u16 generation, 6 bytes
//               zero; if not light: name of the forced method or an empty one, u8 transforms and their names, u8 flags
//               of the demands, u32 latency, u64 rate, table
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/nexus/library.hpp"
#include "margay/nexus/startpoint.hpp"
#include "margay/nexus_module.h"

namespace margay::nexus::core {

inline constexpr std::uint32_t kNoContext = 0xffff'ffff;

// A row: a method, the descriptor by which it reaches the context, and the context that passes its requests on.
struct Row {
  std::string method;
  std::vector<std::byte> descriptor;
  std::uint32_t forwarder = kNoContext;
  friend bool operator==(const Row&, const Row&) = default;
};
using Table = std::vector<Row>;
using SharedTable = std::shared_ptr<const Table>;

// The mobile part of a link.
struct LinkData {
  std::uint32_t context = 0;
  std::uint32_t endpoint = 0;
  std::uint16_t generation = 0;
  SharedTable table;  // nullptr, in a light one that has been decoded
  std::string forced;
  std::vector<std::string> transforms;
  Quality quality;
};

// Whether a method's name is valid: 1 to 15 letters, digits, '_' and '-'.
[[nodiscard]] bool valid_name(std::string_view name);

void encode(const Table& table, std::vector<std::byte>& out);
// Decodes a table at the beginning of `bytes`, and removes it from them. `contexts`: the number of contexts.
[[nodiscard]] portals::Status decode(std::span<const std::byte>& bytes, std::uint32_t contexts, Table& out);

void encode(std::span<const LinkData* const> links, bool light, std::vector<std::byte>& out);
// All of `bytes` is one startpoint.
[[nodiscard]] portals::Status decode(std::span<const std::byte> bytes, std::uint32_t contexts, bool& light,
                                     std::vector<LinkData>& out);

}  // namespace margay::nexus::core
