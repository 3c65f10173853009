// What a trace's numbers are called: the program's communicators, datatypes, portals, entries. Told once, when an event
// first speaks of them, into a room of its own beside the ring, so that no later event overwrites them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace margay::sim {

enum class DefinitionKind : std::uint16_t {
  none = 0,
  communicator = 1,  // number: its context (point-to-point, even); value: this rank in it, its size in the upper half
  datatype = 2,      // number: its handle; value: bytes of data in one element
  portal = 3,        // number: the portal; value: kInternalPortal, ...
  entry = 4,         // number: portal << 56 | the entry's place in its list, see entry_number(); value: the portal
  module = 5,   // number: address of its first byte; value: bytes; text: the build id in hexadecimal (or -), a space,
                // and the file that was loaded there
  owner = 6,    // number: kind of owner (kernel_match's b) of a descriptor; value: bytes of its memory, of the heap
  members = 7,  // number: a communicator's context; value: the sum of member_number() over its ranks
  // number: partitions_number(); value: the program's tag, in the upper half how many partitions that side has; text:
  // what one of them is
  partitions = 8,
  heap = 9,  // number: of a program's dynamic block, from 1; value: its bytes
};
inline constexpr std::uint16_t kDefinitionKindCount = 10;

// What tells the members of a communicator from those of another one that has the same context: the sum of this over
// their ranks in the world, in any order (the finalizer of splitmix64).
[[nodiscard]] constexpr std::uint64_t member_number(std::uint32_t world_rank) {
  std::uint64_t z = std::uint64_t{world_rank} + 0x9e37'79b9'7f4a'7c15U;
  z = (z ^ z >> 30U) * 0xbf58'476d'1ce4'e5b9U;
  z = (z ^ z >> 27U) * 0x94d0'49bb'1331'11ebU;
  return z ^ z >> 31U;
}

// Of a portal: it serves the library itself; its messages are of collective calls, whose number is in the tag's place;
// they are words about the call (who is ready for what), no data of it.
inline constexpr std::uint64_t kInternalPortal = 1;
inline constexpr std::uint64_t kCollectivePortal = 2;
inline constexpr std::uint64_t kCollectiveWordsPortal = 4;

// Head of one in the file; `text_bytes` of text follow, and zeros up to a multiple of 8. Little-endian.
struct DefinitionHead {
  std::uint32_t bytes = 0;  // with text and zeros
  DefinitionKind kind = DefinitionKind::none;
  std::uint16_t text_bytes = 0;
  std::uint64_t time = 0;  // ticks: numbers are used again, and the latest before an event is the one that it means
  std::uint64_t number = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(DefinitionHead) == 32 && std::is_trivially_copyable_v<DefinitionHead>);
static_assert(offsetof(DefinitionHead, text_bytes) == 6 && offsetof(DefinitionHead, time) == 8);

// As a reader has it; the text is printable.
struct Definition {
  DefinitionKind kind = DefinitionKind::none;
  std::uint64_t time = 0;  // as in an event beside it
  std::uint64_t number = 0;
  std::uint64_t value = 0;
  std::string text;
};

inline constexpr std::size_t kMaxDefinitionText = 1024;

// What lies in a file's room, whole definitions one behind the other, as far as it makes sense; the times stay ticks.
// Returns the bytes that did.
std::size_t parse_definitions(std::span<const std::byte> room, std::vector<Definition>& definitions);

// What a file without room for `lost` definitions lacks, for a sentence about it.
[[nodiscard]] std::string lost_definitions_words(std::uint64_t lost);

// `text` with a '?' for what must not reach a terminal.
[[nodiscard]] std::string printable(std::string_view text);

// `order`: the entry's place in its portal's list, as kernel_match tells it. Places are below 2^63.
[[nodiscard]] constexpr std::uint64_t entry_number(std::uint8_t portal, std::uint64_t order) {
  return (std::uint64_t{portal} << 56U) ^ order;
}

}  // namespace margay::sim
