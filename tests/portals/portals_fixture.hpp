// A portal table with its delivery, and functions that make headers, for the tests of portals.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/region.hpp"
#include "portals/deliver.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/memory/independent_block.hpp"

namespace margay::portals::testing {

inline constexpr PortalIndex kPortal = 3;

inline Header put(MatchBits bits, std::uint64_t length, ProcessId source = {0, 0}) {
  Header header;
  header.kind = Kind::put;
  header.portal = kPortal;
  header.source = source;
  header.match_bits = bits;
  header.length = length;
  return header;
}

inline Header get(MatchBits bits, std::uint64_t length, std::uint64_t offset = 0) {
  Header header = put(bits, 0);
  header.kind = Kind::get;
  header.return_portal = kPortal;
  header.return_length = length;
  header.offset = offset;
  return header;
}

// The kernel's work between decide() and complete().
inline void move_body(const Verdict& verdict, std::string_view body) {
  RegionCursor(verdict.landing).write(std::as_bytes(std::span(body.substr(0, verdict.landing.bytes()))));
}

inline std::string text(const Region& region) {
  std::string out(region.bytes(), '\0');
  RegionCursor(region).read(std::as_writable_bytes(std::span(out)));
  return out;
}

// Memory with the alignment that heaps need.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), grains_((bytes + 63) / 64) {}
  [[nodiscard]] std::byte* data() { return grains_.data()->bytes.data(); }
  [[nodiscard]] Buffer buffer() { return {data(), bytes_}; }
  [[nodiscard]] std::string text() { return std::string(reinterpret_cast<const char*>(data()), bytes_); }

 private:
  struct alignas(64) Grain {
    std::array<std::byte, 64> bytes{};
  };
  std::size_t bytes_;
  std::vector<Grain> grains_;
};

// A posted receive as MPI makes it: an independent block of one buffer.
struct Receive {
  explicit Receive(std::size_t bytes) : memory(bytes) { rows[0].memory = Region(memory.buffer()); }
  Memory memory;
  std::array<IndependentBuffer, 1> rows;
  IndependentBlock block{rows, Progression::linear};
  MatchEntry entry;
};

struct Kernel {
  PortalTable table;
  ChangedList changed;
  Delivery delivery{table, changed};

  // Delivers a whole message, from its header to the counters.
  Verdict send(const Header& header, std::string_view body = {}) {
    const Verdict verdict = delivery.decide(header);
    if (verdict.outcome == Outcome::drop) return verdict;
    if (verdict.outcome == Outcome::deposit) move_body(verdict, body);
    delivery.complete(verdict, header);
    return verdict;
  }
  Verdict send(MatchBits bits, std::string_view body) { return send(put(bits, body.size()), body); }
};

}  // namespace margay::portals::testing
