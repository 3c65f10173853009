// Definitions: the names of the numbers in a trace, such as the program's communicators, datatypes, portals and
// entries. A definition is recorded before the first event that refers to it. Definitions lie in a region of their own
// beside the ring, so that no later event overwrites them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace margay::sim {

// The kinds of named numbers. The comments give the meaning of a definition's fields. Kinds are only added.
enum class DefinitionKind : std::uint16_t {
  none = 0,
  // number: its context (point-to-point, even); value: this rank's number in it, and its size in the upper half
  communicator = 1,
  // number: its handle; value: bytes of data in one element
  datatype = 2,
  // number: the portal; value: kInternalPortal, ...
  portal = 3,
  // number: portal << 56 | the entry's place in its list, see entry_number(); value: the portal
  entry = 4,
  module = 5,  // number: address of its first byte; value: bytes; text: the build id in hexadecimal (or -), a space,
               // and the file that was loaded there
  // number: kind of owner (kernel_match's b) of a descriptor; value: for the heap of unexpected messages, its bytes
  owner = 6,
  // number: a communicator's context; value: the sum of member_number() over its ranks
  members = 7,
  // number: partitions_number(); value: the program's tag, in the upper half the number of partitions of that side;
  // text: the content of a partition
  partitions = 8,
  // number: of a program's dynamic block, from 1; value: its bytes
  heap = 9,
  // number: library_event_number(); text: the name of a library, a colon, and the sentence of its event, with {peer},
  // {bytes}, {detail}, {a} and {b} for its fields
  library_event = 10,
  // number: portal << 56 | index among the portal's descriptions, from 0, see entry_number(); value: match bits of a
  // communication library's message; text: named_bits_text()
  match_bits = 11,
};
inline constexpr std::uint16_t kDefinitionKindCount = 12;

// The number of an event's sentence. `library`: the library's place in its rank. `event`: below 256.
[[nodiscard]] constexpr std::uint64_t library_event_number(std::uint64_t library, std::uint64_t event) {
  return library << 8U | event;
}

// A hash of a world rank (the finalizer of splitmix64). The sum of member_number() over a communicator's members, in
// any order, distinguishes communicators with the same context.
[[nodiscard]] constexpr std::uint64_t member_number(std::uint32_t world_rank) {
  std::uint64_t z = std::uint64_t{world_rank} + 0x9e37'79b9'7f4a'7c15U;
  z = (z ^ z >> 30U) * 0xbf58'476d'1ce4'e5b9U;
  z = (z ^ z >> 27U) * 0x94d0'49bb'1331'11ebU;
  return z ^ z >> 31U;
}

// Flags of a portal. kInternalPortal: it serves the library itself. kCollectivePortal: its messages belong to
// collective calls, and have the call's number in place of a tag. kCollectiveWordsPortal: its messages are notices of a
// call (ready, offer, refuse, lost), not its data.
inline constexpr std::uint64_t kInternalPortal = 1;
inline constexpr std::uint64_t kCollectivePortal = 2;
inline constexpr std::uint64_t kCollectiveWordsPortal = 4;

// A definition's head in the file, little-endian. `text_bytes` bytes of text follow, and zeros up to a multiple of 8.
struct DefinitionHead {
  // Length of the whole definition, with text and zeros.
  std::uint32_t bytes = 0;
  DefinitionKind kind = DefinitionKind::none;
  std::uint16_t text_bytes = 0;
  // The time, in ticks. Numbers are reused, so an event refers to the latest definition before it.
  std::uint64_t time = 0;
  std::uint64_t number = 0;
  std::uint64_t value = 0;
};
static_assert(sizeof(DefinitionHead) == 32 && std::is_trivially_copyable_v<DefinitionHead>);
static_assert(offsetof(DefinitionHead, text_bytes) == 6 && offsetof(DefinitionHead, time) == 8);

// A definition in memory. Its text is printable.
struct Definition {
  DefinitionKind kind = DefinitionKind::none;
  // In the unit of the events' times.
  std::uint64_t time = 0;
  std::uint64_t number = 0;
  std::uint64_t value = 0;
  // At most kMaxDefinitionText bytes.
  std::string text;
};

// The most bytes of a text; longer texts are cut.
inline constexpr std::size_t kMaxDefinitionText = 1024;

// Parses the definitions in a file's region, up to the first invalid one. Times stay in ticks. Returns the number of
// bytes parsed.
std::size_t parse_definitions(std::span<const std::byte> room, std::vector<Definition>& definitions);

// The text about `lost` definitions for which a file had no room, as the end of a sentence.
[[nodiscard]] std::string lost_definitions_text(std::uint64_t lost);

// `text` with a '?' for each character that is not printable ASCII.
[[nodiscard]] std::string printable(std::string_view text);

// The text of a meaning of match bits: the ignored bits in hexadecimal, a space, and the name, in which {number} stands
// for the ignored bits of a message, and fields for some of its bits (host::NamedBits).
[[nodiscard]] std::string named_bits_text(std::uint64_t ignore_bits, std::string_view name);

// The number of a match entry in definitions. `order`: its place, as in kernel_match, below 2^63.
[[nodiscard]] constexpr std::uint64_t entry_number(std::uint8_t portal, std::uint64_t order) {
  return (std::uint64_t{portal} << 56U) ^ order;
}

}  // namespace margay::sim
