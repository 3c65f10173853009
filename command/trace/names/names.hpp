// Names for the numbers in a trace's events, by the definitions in the event's own file.
// Without a definition the number itself is formatted. The event's time selects among definitions of one number,
// because numbers of contexts and datatypes are reused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "command/trace/names/bit_fields.hpp"
#include "command/trace/read/reader.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rma/bits.hpp"
#include "portals/base/header.hpp"

namespace margay::command {

// Maps a wire's number to its name; nullptr formats numbers.
using WireName = std::string_view (*)(std::uint8_t wire);

// The highest tag of a program (MPI_TAG_UB). Higher tags are the library's own.
inline constexpr auto kUserTagMost = static_cast<std::uint32_t>(mpi_adi::kUserTagMax);

// An unknown time. A number with one definition is then named by it; a number with several definitions is formatted as
// a number.
inline constexpr std::uint64_t kUnknownTime = ~std::uint64_t{1};

// The fields of an MPI message's match bits (docs/trace_format.md, Event).
struct EnvelopeBits {
  std::uint32_t tag = 0;
  // Rank in the communicator.
  std::uint32_t source = 0;
  // Even: point-to-point.
  std::uint32_t context = 0;
  // Bit 0 ready, bit 1 reply, bit 2 long.
  std::uint32_t type = 0;
};
[[nodiscard]] EnvelopeBits split_envelope(std::uint64_t match_bits);
// Whether a message belongs to a window. Requires: an MPI program's message to a portal other than the receive portal.
[[nodiscard]] bool is_of_window(std::uint8_t portal, std::uint64_t match_bits);

// Whether match bits belong to the setup message from MPI_Psend_init to MPI_Precv_init.
[[nodiscard]] bool is_setup_of_partitions(std::uint64_t match_bits);

// The fields of a persistent collective call's number (docs/trace_format.md, collective_begin). A number whose highest
// bit is 0 counts the communicator's other calls and has no fields.
inline constexpr unsigned kCollectiveStartBits = 11;
struct PersistentNumber {
  explicit PersistentNumber(std::uint32_t number)
      : is_persistent(number >> 31U != 0),
        channel((number & ~(1U << 31U)) >> kCollectiveStartBits),
        start(number & ((1U << kCollectiveStartBits) - 1)) {}
  bool is_persistent;
  // Index of the persistent call among those of the communicator, in the order of their creation.
  std::uint32_t channel;
  // The lowest bits of the start's number, from 0.
  std::uint32_t start;
};
// Whether a collective message with this context belongs to an agreement, in which some members of a communicator
// choose a new context. A communicator has two contexts, and its own collective calls use the odd one. Agreements use
// the even one, with their tag in place of a call's number.
[[nodiscard]] constexpr bool is_agreement(std::uint32_t context) {
  return (context & 1U) == 0;
}
// A call by its number and the context in its match bits: "collective call 17", "persistent collective call 3, start
// 2", "the agreement with tag 7" (docs/trace_format.md, collective_begin).
[[nodiscard]] std::string collective_call_text(std::uint32_t context, std::uint32_t number);
// The same for a persistent call whose whole start number is known.
[[nodiscard]] std::string persistent_call_text(std::uint32_t channel, std::uint64_t start);

// The error class by name, "MPI_ERR_TRUNCATE"; "class 99" of one that the program added (MPI 4.0, 9.5).
[[nodiscard]] std::string error_name(std::uint32_t error_class);

// The definitions of all files of a trace, by kind and number. Immutable after construction, so threads may share it. A
// lookup is a map access and a scan of the number's definitions.
class TraceNames {
 public:
  // `trace` must outlive this object.
  explicit TraceNames(const Trace& trace, WireName wire_name = nullptr);

  // Below, `file` and `time_ns` are those of the event that contains the number; they select the definition.
  // Communicator of a point-to-point or collective context: "MPI_COMM_WORLD", "communicator 6 (4 ranks)".
  [[nodiscard]] std::string communicator(std::uint32_t file, std::uint32_t context, std::uint64_t time_ns) const;
  // The same by the context of a collective call. For an agreement: its members, "2 ranks of MPI_COMM_WORLD".
  [[nodiscard]] std::string communicator_of_calls(std::uint32_t file, std::uint32_t context,
                                                  std::uint64_t time_ns) const;
  // A window by its number, which is its communicator's context: "window 4", "window "halo"".
  [[nodiscard]] std::string window(std::uint32_t file, std::uint32_t number, std::uint64_t time_ns) const;
  // Number of ranks that take part in collective calls of the context; 0: not known.
  [[nodiscard]] std::uint32_t members(std::uint32_t file, std::uint32_t context, std::uint64_t time_ns) const;
  // Bytes of the rank's heap of unexpected messages; 0: not known.
  [[nodiscard]] std::uint64_t heap_bytes(std::uint32_t file) const;
  // A number that distinguishes the members of this communicator from those of another communicator with the same
  // context (DefinitionKind::members); empty: not known.
  [[nodiscard]] std::optional<std::uint64_t> members_number(std::uint32_t file, std::uint32_t context,
                                                            std::uint64_t time_ns) const;
  // Length in elements of the datatype: "25 x MPI_INT"; "100 bytes" without a datatype.
  [[nodiscard]] std::string elements(std::uint32_t file, std::uint32_t type, std::uint64_t bytes,
                                     std::uint64_t time_ns) const;
  // The sentence that a communication library defined for its event; empty: not known. `library`: its place in the
  // rank.
  [[nodiscard]] std::string library_event(std::uint32_t file, std::uint64_t library, std::uint64_t event,
                                          std::uint64_t time_ns) const;
  // A portal with its purpose: "portal 0 (receives)".
  [[nodiscard]] std::string portal(std::uint32_t file, std::uint8_t portal) const;
  // A match entry by its name, its owner or its place in the list: "the entry "unexpected short"", "a posted receive",
  // "entry 12". `order` 0: a portal's own descriptor, or an entry reached by links only.
  [[nodiscard]] std::string entry(std::uint32_t file, std::uint8_t portal, std::uint64_t order, std::uint32_t owner,
                                  std::uint64_t time_ns) const;
  // The meaning of match bits: "tag 7 from 0 in MPI_COMM_WORLD"; hexadecimal if the program did not use MPI.
  [[nodiscard]] std::string bits(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                 std::uint64_t time_ns) const;
  // The tag that the program gave to an MPI message. A message of a partitioned send, or its setup, has the tag in the
  // call that created the send. Empty: the tag is the library's own, or not known.
  [[nodiscard]] std::optional<std::uint32_t> program_tag(std::uint32_t file, std::uint64_t match_bits,
                                                         std::uint64_t time_ns) const;
  // The meaning of an entry's or a receive's criteria: "tag 7 from any source in MPI_COMM_WORLD".
  [[nodiscard]] std::string wanted(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                   std::uint64_t ignore_bits, std::uint64_t time_ns) const;
  // A message's match bits, with the file and time by which they are interpreted: the sender's file, and the time at
  // which it sent the message.
  struct MessageBits {
    std::uint64_t bits = 0;
    std::uint32_t file = 0;
    std::uint64_t time_ns = 0;
  };
  // The criterion that a message does not meet: "it accepts tag 7, and the message has tag 8". Requires: the bits
  // differ in one that is not ignored. `any_rank`: the entry accepts messages of any rank.
  [[nodiscard]] std::string mismatch(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                     std::uint64_t ignore_bits, std::uint64_t time_ns, const MessageBits& message,
                                     bool any_rank = false) const;
  // The fields of an MPI message's match bits: "tag 7, source 0, context 4, type short"; "": other bits.
  [[nodiscard]] std::string split(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits) const;
  // The meaning that a communication library gave to match bits at its portal, with their fields. `ignore_bits`: the
  // bits that criteria ignore. Its text is empty if no name fits.
  [[nodiscard]] NamedMessage library_message(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                             std::uint64_t ignore_bits = 0) const;
  // The wire's name, or "wire 2" without a WireName.
  [[nodiscard]] std::string wire(std::uint8_t wire) const;

  // Whether `portal` is the receive portal of an MPI program, so that match bits are an envelope.
  [[nodiscard]] bool is_envelope(std::uint32_t file, std::uint8_t portal) const;
  // Whether the message is an answer. Its match bits then contain the number of the waiting request (a send, a receive
  // or a window's origin) in place of a tag.
  [[nodiscard]] bool is_answer(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits) const;
  // Whether no call of the program requested the message as such: an answer, a message with a tag of the library's own,
  // a step of a window's synchronisation.
  [[nodiscard]] bool belongs_to_library(std::uint32_t file, std::uint8_t portal, const sim::TraceEvent& event) const;
  // Whether the portal belongs to a communication library (libraries/host).
  [[nodiscard]] bool is_of_library(std::uint32_t file, std::uint8_t portal) const;
  // Whether the portal is MPI's own: that of collective calls, checks, cancels.
  [[nodiscard]] bool is_internal(std::uint32_t file, std::uint8_t portal) const;
  // Whether the portal's messages belong to collective calls: call number, source and communicator are in their match
  // bits.
  [[nodiscard]] bool is_collective(std::uint32_t file, std::uint8_t portal) const;
  // Whether the portal's messages carry data of collective calls, as opposed to notices.
  [[nodiscard]] bool is_collective_data(std::uint32_t file, std::uint8_t portal) const;
  // The executable or library that was loaded at the address; nullptr: not known.
  [[nodiscard]] const sim::Definition* module(std::uint32_t file, std::uint64_t address) const;

 private:
  // "tag 7", "partition 2 of 4 (each 100 x MPI_INT) with tag 7". `wanted`: the bits are criteria of the receiver, whose
  // definition lacks the sender's division into messages.
  [[nodiscard]] std::string tag(std::uint32_t file, std::uint64_t match_bits, std::uint64_t time_ns,
                                bool wanted = false) const;
  // The definition of a partitioned channel, by its sender or its receiver in the file; nullptr: not defined.
  [[nodiscard]] const sim::Definition* partitions(std::uint32_t file, std::uint64_t match_bits, std::uint64_t time_ns,
                                                  bool sends) const;
  // A message about a send: "the answer to send request 3". Its match bits contain the request's number, and a count of
  // the request's uses, because numbers are reused. "": a portal without such messages.
  [[nodiscard]] std::string about_send(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits) const;
  // A window's message: "an access of window "halo"", "the described body 1". "": another message.
  [[nodiscard]] std::string about_window(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                         std::uint64_t time_ns) const;
  [[nodiscard]] std::string collective_mismatch(std::uint32_t file, std::uint64_t match_bits, std::uint64_t time_ns,
                                                const MessageBits& message, bool any_rank) const;
  // The flags of a portal's definition: kInternalPortal and others.
  [[nodiscard]] std::uint64_t uses_of(std::uint32_t file, std::uint8_t portal) const;
  // The latest definition of the number at or before `time_ns`. nullptr: none, or a later one may have been lost.
  [[nodiscard]] const sim::Definition* find(std::uint32_t file, sim::DefinitionKind kind, std::uint64_t number,
                                            std::uint64_t time_ns) const;

  using Key = std::pair<sim::DefinitionKind, std::uint64_t>;
  // The finalizer of splitmix64: numbers of a kind often differ in high bits only.
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = key.second + static_cast<std::uint64_t>(key.first) * 0x9e37'79b9'7f4a'7c15;
      hash = (hash ^ (hash >> 30U)) * 0xbf58'476d'1ce4'e5b9;
      hash = (hash ^ (hash >> 27U)) * 0x94d0'49bb'1331'11eb;
      return hash ^ (hash >> 31U);
    }
  };
  const Trace& trace_;
  WireName wire_name_;
  // By file: indices of definitions, oldest first. Looked up several times for each event, so not in a tree.
  std::vector<std::unordered_map<Key, std::vector<std::uint32_t>, KeyHash>> definitions_;
};

}  // namespace margay::command
