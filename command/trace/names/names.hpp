// What the numbers in events are called, by the definitions of the files that recorded them. Where nothing was defined
// the number itself is told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/trace/read/reader.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rma/bits.hpp"
#include "portals/base/header.hpp"

namespace margay::command {

// The wire's name by its number; wires lie above the trace, so their names come from outside. nullptr: numbers.
using WireName = std::string_view (*)(std::uint8_t wire);

// A program's highest tag; those above it are the library's own.
inline constexpr auto kUserTagMost = static_cast<std::uint32_t>(mpi_adi::kUserTagMax);

// The time of a definition that is not known: a number that was defined once only is told by it, others as numbers.
inline constexpr std::uint64_t kUnknownTime = ~std::uint64_t{1};

// An MPI message's match bits (docs/trace_format.md, Event).
struct EnvelopeBits {
  std::uint32_t tag = 0;
  std::uint32_t source = 0;   // rank in the communicator
  std::uint32_t context = 0;  // even: point-to-point
  std::uint32_t type = 0;     // bit 0 ready, 1 reply, 2 long
};
[[nodiscard]] EnvelopeBits split_envelope(std::uint64_t match_bits);
// Whether an MPI message's bits, to another portal than that of receives, are of a window.
[[nodiscard]] bool is_of_window(std::uint64_t match_bits);

// Whether an MPI message's bits are of what MPI_Psend_init tells MPI_Precv_init.
[[nodiscard]] bool is_setup_of_partitions(std::uint64_t match_bits);

// What the number of a collective call says (docs/trace_format.md, collective_begin).
inline constexpr unsigned kCollectiveStartBits = 11;
struct PersistentNumber {
  explicit PersistentNumber(std::uint32_t number)
      : is_persistent(number >> 31U != 0),
        channel((number & ~(1U << 31U)) >> kCollectiveStartBits),
        start(number & ((1U << kCollectiveStartBits) - 1)) {}
  bool is_persistent;
  std::uint32_t channel;  // which of the communicator's persistent calls, in the order in which they were made
  std::uint32_t start;    // the lowest bits of which start, from 0
};
// Of the context in the match bits of a collective call: some of a communicator's members agree on a context, in that
// of the communicator's which its own calls do not have. The call's number is of an agreement's tag.
[[nodiscard]] constexpr bool is_agreement(std::uint32_t context) {
  return (context & 1U) == 0;
}
// "collective call 17", "persistent collective call 3, start 2", "the agreement with tag 7" by its number and the
// context in its match bits (docs/trace_format.md, collective_begin).
[[nodiscard]] std::string collective_call_words(std::uint32_t context, std::uint32_t number);
// The same of a persistent one of which the whole start is known.
[[nodiscard]] std::string persistent_call_words(std::uint32_t channel, std::uint64_t start);

// "MPI_ERR_TRUNCATE"; "class 99" of one that the program added (MPI 4.0, 9.5).
[[nodiscard]] std::string error_name(std::uint32_t error_class);

class TraceNames {
 public:
  // `trace` outlives it.
  explicit TraceNames(const Trace& trace, WireName wire_name = nullptr);

  // Each of an event that `file` recorded at `time_ns`.
  // "MPI_COMM_WORLD", "communicator 6 (4 ranks)".
  [[nodiscard]] std::string communicator(std::uint32_t file, std::uint32_t context, std::uint64_t time_ns) const;
  // By the context of a collective call: the same, or "2 ranks of MPI_COMM_WORLD" who agree.
  [[nodiscard]] std::string communicator_of_calls(std::uint32_t file, std::uint32_t context,
                                                  std::uint64_t time_ns) const;
  // "window 4", "window "halo"" by its number, which is its communicator's context.
  [[nodiscard]] std::string window(std::uint32_t file, std::uint32_t number, std::uint64_t time_ns) const;
  // How many take part in collective calls of the context; 0: not known.
  [[nodiscard]] std::uint32_t members(std::uint32_t file, std::uint32_t context, std::uint64_t time_ns) const;
  // Of the heap of the file's rank for unexpected messages; 0: not known.
  [[nodiscard]] std::uint64_t heap_bytes(std::uint32_t file) const;
  // What tells these from those of another one of the same context (DefinitionKind::members); nothing: not known.
  [[nodiscard]] std::optional<std::uint64_t> members_number(std::uint32_t file, std::uint32_t context,
                                                            std::uint64_t time_ns) const;
  // "25 x MPI_INT"; "100 bytes" without a type.
  [[nodiscard]] std::string elements(std::uint32_t file, std::uint32_t type, std::uint64_t bytes,
                                     std::uint64_t time_ns) const;
  // "portal 0 (receives)".
  [[nodiscard]] std::string portal(std::uint32_t file, std::uint8_t portal) const;
  // "the entry "unexpected short"", "a posted receive", "entry 12".
  [[nodiscard]] std::string entry(std::uint32_t file, std::uint8_t portal, std::uint64_t order, std::uint32_t owner,
                                  std::uint64_t time_ns) const;
  // Match bits as what they are: "tag 7 from 0 in MPI_COMM_WORLD", or in hexadecimal where no MPI gave them a meaning.
  [[nodiscard]] std::string bits(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                 std::uint64_t time_ns) const;
  // The tag that the program gave to an MPI message or, of partitions and their setup, to the call that made them;
  // nothing: it is the library's own, or not known.
  [[nodiscard]] std::optional<std::uint32_t> program_tag(std::uint32_t file, std::uint64_t match_bits,
                                                         std::uint64_t time_ns) const;
  // The same of what an entry or a receive accepts: "tag 7 from any source in MPI_COMM_WORLD".
  [[nodiscard]] std::string wanted(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                   std::uint64_t ignore_bits, std::uint64_t time_ns) const;
  // A message's bits, and who knows at which time what they mean: its sender when it sent it.
  struct MessageBits {
    std::uint64_t bits = 0;
    std::uint32_t file = 0;
    std::uint64_t time_ns = 0;
  };
  // Which of the criteria a message does not meet: "it wants tag 7, and the message has tag 8". Requires: one of the
  // bits that are not ignored. `any_rank`: it takes messages of any.
  [[nodiscard]] std::string mismatch(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                     std::uint64_t ignore_bits, std::uint64_t time_ns, const MessageBits& message,
                                     bool any_rank = false) const;
  // An MPI message's: "tag 7, source 0, context 4, type short"; "": they are no such ones.
  [[nodiscard]] std::string split(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits) const;
  [[nodiscard]] std::string wire(std::uint8_t wire) const;

  // Whether the file's program was an MPI one, whose receives have the portal.
  [[nodiscard]] bool is_envelope(std::uint32_t file, std::uint8_t portal) const;
  // An answer that a send, a receive or a window's origin waits for under a number of its own.
  [[nodiscard]] bool is_answer(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits) const;
  // No message that a call of the program asked for as such: an answer, one with a tag of the library's own, a word of
  // a window's synchronisation.
  [[nodiscard]] bool is_librarys(std::uint32_t file, std::uint8_t portal, const sim::TraceEvent& event) const;
  // A portal of the library's own: of collective calls, checks, cancels.
  [[nodiscard]] bool is_internal(std::uint32_t file, std::uint8_t portal) const;
  // Its messages are of collective calls: call's number, source and communicator are in their bits.
  [[nodiscard]] bool is_collective(std::uint32_t file, std::uint8_t portal) const;
  // And they are a call's data, no words about it.
  [[nodiscard]] bool is_collective_data(std::uint32_t file, std::uint8_t portal) const;
  // What was loaded where an address lies, with the address in it; nullptr: not known.
  [[nodiscard]] const sim::Definition* module(std::uint32_t file, std::uint64_t address) const;

 private:
  // "tag 7", "partition 2 of 4 (each 100 x MPI_INT) with tag 7". `wanted`: by who receives it.
  [[nodiscard]] std::string tag(std::uint32_t file, std::uint64_t match_bits, std::uint64_t time_ns,
                                bool wanted = false) const;
  // Of partitions: what their sender has defined in the file, or else their receiver; nullptr: neither.
  [[nodiscard]] const sim::Definition* partitions(std::uint32_t file, std::uint64_t match_bits, std::uint64_t time_ns,
                                                  bool sends) const;
  // Of a message that is about a send, which has its request's number and which use of it this is: "the answer to send
  // request 3". "": it is no such portal.
  [[nodiscard]] std::string about_send(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits) const;
  // Of a window's message: "an access of window "halo"", "the described body 1". "": it is no such one.
  [[nodiscard]] std::string about_window(std::uint32_t file, std::uint8_t portal, std::uint64_t match_bits,
                                         std::uint64_t time_ns) const;
  [[nodiscard]] std::string collective_mismatch(std::uint32_t file, std::uint64_t match_bits, std::uint64_t time_ns,
                                                const MessageBits& message, bool any_rank) const;
  // A portal's kInternalPortal and others.
  [[nodiscard]] std::uint64_t uses_of(std::uint32_t file, std::uint8_t portal) const;
  [[nodiscard]] const sim::Definition* find(std::uint32_t file, sim::DefinitionKind kind, std::uint64_t number,
                                            std::uint64_t time_ns) const;

  using Key = std::pair<sim::DefinitionKind, std::uint64_t>;
  const Trace& trace_;
  WireName wire_name_;
  std::vector<std::map<Key, std::vector<std::uint32_t>>> definitions_;  // by file; indices, oldest first
};

}  // namespace margay::command
