// The description of Zipcode for the host: portals, match bits, counters, events, and all bounds. Changes of a value
// here change the bytes on the wire, or the memory of a process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "margay/host.hpp"

namespace margay::zipcode::core {

// --- Portals. ---

// Letters; long letters at their sender; long letters at the receiver.
inline constexpr portals::PortalIndex kLetterPortal = 40, kLongPortal = 41, kFetchPortal = 42;

// Match bits of portal 40: 16 context, 8 class, 4 kind, 4 zero, 32 of the PO Box. The source is the kernel's own
// criterion. `notice`: the letter is long, and only its envelope comes with the header.
enum class Kind : std::uint8_t { letter = 0, notice = 1 };
inline constexpr unsigned kContextShift = 48, kClassShift = 40, kKindShift = 36;
inline constexpr portals::MatchBits kAnyKind = portals::MatchBits{0xf} << kKindShift;
[[nodiscard]] constexpr portals::MatchBits letter_bits(std::uint16_t context, std::uint16_t mail_class, Kind kind,
                                                       std::uint32_t box) {
  return portals::MatchBits{context} << kContextShift | portals::MatchBits{mail_class & 0xffU} << kClassShift |
         portals::MatchBits{static_cast<std::uint8_t>(kind)} << kKindShift | box;
}

// The bits of the PO Box are a number (Z: the sender's rank; Y, L: the tag), the box's bytes or their hash
// (envelope.hpp), or, for a grid of as many dimensions, so many low bits of each of the sender's coordinates.
inline constexpr portals::MatchBits kBoxBits = 0xffff'ffff;
// The mark in the PO Box of a collective operation's letter, which has the index of the sender in its group: it stands
// for the letters of an operation that fails, because a member was ended.
inline constexpr std::uint32_t kBroken = 1U << 31;
using GridBits = std::array<unsigned, 3>;
inline constexpr std::array<GridBits, 4> kGridBits{{{}, {32, 0, 0}, {16, 16, 0}, {10, 11, 11}}};

// Context 0 belongs to Zipcode itself: letters of class Y between all processes, with these tags.
enum class Tag : std::uint16_t {
  open = 1,  // a Postmaster's group and shape, to the Postmaster General
  copy,      // the same with the context_ids, to each member
  token,     // the Postmaster returns the token
  close,     // a Postmaster's mailer is closed, to the Postmaster General
  propose,   // without a Postmaster General: a Postmaster's group, to each member
  used,      // the answer: the context_ids that the member uses
  counts,    // the letters that this process has sent to each other one, to process 0
  total,     // from process 0: the letters that were sent to the receiver
  form,      // the form of initialisation, to process 0, and its verdict
  settled,   // all letters to this process have arrived, to process 0
  leave,     // from process 0: all processes have settled
  ended,     // the processes that zip_kill() has ended, to process 0, and from it to all
  started,   // the processes that zip_spawn() has started, to process 0
  admitted   // from process 0 to the starter: such a process has begun, with its verdict
};
inline constexpr std::uint16_t kSystemContext = 0;

// --- Bounds. ---

// The longest letter, with its envelope, that travels with its header; longer ones are fetched.
inline constexpr std::size_t kShortMost = 16384;
// Bytes of the heap of arrived letters. Pages that are never used cost nothing.
inline constexpr std::size_t kHeapBytes = std::size_t{16} << 20;
// Letters that the program keeps occupy at most this part of the heap, and letters that it has not received this part;
// others are moved to memory of their own.
inline constexpr std::size_t kKeptMost = kHeapBytes / 4, kQueuedMost = kHeapBytes / 2;
// Letters that were not received and moved out of the heap: beyond this bound, the heap fills and holds its senders.
inline constexpr std::size_t kMovedMost = std::size_t{1} << 30;
// The most bytes of a PO Box, ints of a name, and classes of mail.
inline constexpr std::size_t kBoxMost = 32, kNamesMost = 8, kClassesMost = 64;
// The context_ids of the Postmaster General, and of the program.
inline constexpr std::uint32_t kFirstContext = 1, kLastContext = 32767, kFirstExplicit = 32768, kLastExplicit = 65535;
// The most processes of a group.
inline constexpr std::size_t kMembersMost = 1U << 20;

// --- Words of `--stats` and of traces. ---

enum Count : std::uint8_t {
  kSent,
  kEnded,
  kReceived,
  kLong,
  kMoved,
  kUnreceived,
  kDamaged,
  kSystem,
  kOpened,
  kClosed,
  kCounts
};
inline constexpr std::array<const char*, kCounts> kCounters{
    "letters sent",        "letters ended",  "letters received",  "longer than 16 KiB", "moved out of heap",
    "freed, not received", "freed, damaged", "of Zipcode itself", "mailers opened",     "mailers closed"};
static_assert(kCounts <= host::kCountersMost);

enum EventNumber : std::uint8_t {
  kTellsGroup,
  kGivesToken,
  kTellsContexts,
  kReturnsToken,
  kAllHere,
  kPosts,
  kTakes,
  kMovesOut,
  kRefuses,
  kPacks,
  kEvents
};
inline constexpr std::array<const char*, kEvents> kSentences{
    "sends a group of {a} processes to the Postmaster General, {peer}",
    "gives the token to {peer}, for context_id {a}",
    "sends the group and context_id {a} to {peer}",
    "returns the token to {peer}",
    "has opened a mailer with context_id {a}, of {b} members",
    "posts a letter with context_id {a} and class {b} to {peer}, {bytes}",
    "takes a letter with context_id {a} and class {b} of {peer}, {bytes}",
    "moves a letter of {peer} out of the heap, {bytes}",
    "frees a damaged letter of {peer}, {bytes}",
    "packs an invoice, {bytes}; copies before the wire: {a}",
};

inline constexpr std::array<host::NamedPortal, 3> kPortals{
    {{kLetterPortal, "letters"}, {kLongPortal, "long letters"}, {kFetchPortal, "fetched letters"}}};
inline constexpr portals::MatchBits kBelowContext = (portals::MatchBits{1} << kContextShift) - 1;
// The names below have these shifts in them.
static_assert(kContextShift == 48 && kClassShift == 40 && kKindShift == 36 && kGridBits[2] == GridBits{16, 16, 0} &&
              kGridBits[3] == GridBits{10, 11, 11});
[[nodiscard]] constexpr host::NamedBits named(Tag tag, const char* name) {
  return {kLetterPortal, letter_bits(kSystemContext, 1, Kind::letter, static_cast<std::uint32_t>(tag)), 0, name};
}
// A letter of a class; one of the Postmaster outside of a grid, whose coordinates are all ZIP_POSTMASTER.
[[nodiscard]] constexpr host::NamedBits of_class(std::uint16_t mail_class, const char* name) {
  return {kLetterPortal, letter_bits(0, mail_class, Kind::letter, 0), ~(portals::MatchBits{0xff} << kClassShift), name};
}
[[nodiscard]] constexpr host::NamedBits of_postmaster(std::uint16_t mail_class, const char* name) {
  host::NamedBits bits = of_class(mail_class, name);
  bits.match_bits |= kBoxBits;
  bits.ignore_bits &= ~kBoxBits;
  return bits;
}
inline constexpr std::array kNamedBits{
    named(Tag::open, "{!class=Postmaster General}{!context_id=48:16}a group for the Postmaster General"),
    named(Tag::copy, "{!class=Postmaster General}{!context_id=48:16}a group and its context_ids"),
    named(Tag::token, "{!class=Postmaster General}{!context_id=48:16}the returned token"),
    named(Tag::close, "{!class=Postmaster General}{!context_id=48:16}a closed mailer"),
    named(Tag::propose, "{!class=Zipcode}{!context_id=48:16}a proposed group"),
    named(Tag::used, "{!class=Zipcode}{!context_id=48:16}used context_ids"),
    named(Tag::counts, "{!class=Zipcode}{!context_id=48:16}counts of letters"),
    named(Tag::total, "{!class=Zipcode}{!context_id=48:16}the count of letters"),
    named(Tag::form, "{!class=Zipcode}{!context_id=48:16}a form of initialisation"),
    named(Tag::settled, "{!class=Zipcode}{!context_id=48:16}a process has settled"),
    named(Tag::leave, "{!class=Zipcode}{!context_id=48:16}all processes have settled"),
    named(Tag::ended, "{!class=Zipcode}{!context_id=48:16}ended processes"),
    named(Tag::started, "{!class=Zipcode}{!context_id=48:16}started processes"),
    named(Tag::admitted, "{!class=Zipcode}{!context_id=48:16}a process that has begun"),
    of_class(1,
             "{kind=36:4|a letter|the notice of a long letter} of class {class=Y} with context_id {context_id=48:16}, "
             "tag {tag=0:16}"),
    of_postmaster(2,
                  "{kind=36:4|a letter|the notice of a long letter} of class {class=Z} with context_id "
                  "{context_id=48:16}, from the {from=Postmaster}"),
    of_postmaster(4,
                  "{kind=36:4|a letter|the notice of a long letter} of class {class=G1} with context_id "
                  "{context_id=48:16}, from the {from=Postmaster}"),
    of_postmaster(5,
                  "{kind=36:4|a letter|the notice of a long letter} of class {class=G2} with context_id "
                  "{context_id=48:16}, from the {from=Postmaster}"),
    of_postmaster(6,
                  "{kind=36:4|a letter|the notice of a long letter} of class {class=G3} with context_id "
                  "{context_id=48:16}, from the {from=Postmaster}"),
    host::NamedBits{kLetterPortal, letter_bits(0, 2, Kind::letter, kBroken),
                    ~(portals::MatchBits{0xff} << kClassShift | kBroken),
                    "{kind=36:4|a letter|the notice of a long letter} of class {class=Z} with context_id "
                    "{context_id=48:16}, about a failure, from {from_rank=0:31}"},
    of_class(2,
             "{kind=36:4|a letter|the notice of a long letter} of class {class=Z} with context_id {context_id=48:16}, "
             "from {from_rank=0:32}"),
    of_class(3,
             "{kind=36:4|a letter|the notice of a long letter} of class {class=L} with context_id {context_id=48:16}, "
             "tag {tag=0:32s}"),
    of_class(4,
             "{kind=36:4|a letter|the notice of a long letter} of class {class=G1} with context_id {context_id=48:16}, "
             "from ({from_p=0:32})"),
    of_class(5,
             "{kind=36:4|a letter|the notice of a long letter} of class {class=G2} with context_id {context_id=48:16}, "
             "from ({from_p=16:16}, {from_q=0:16})"),
    of_class(6,
             "{kind=36:4|a letter|the notice of a long letter} of class {class=G3} with context_id {context_id=48:16}, "
             "from ({from_p=22:10}, {from_q=11:11}, {from_r=0:11})"),
    host::NamedBits{kLetterPortal, 0, ~portals::MatchBits{0},
                    "{kind=36:4|a letter|the notice of a long letter} of class {class=40:8} with context_id "
                    "{context_id=48:16}, PO Box bits {box=0:32}"},
    host::NamedBits{kLongPortal, 0, ~portals::MatchBits{0}, "long letter {number}"},
    host::NamedBits{kFetchPortal, 0, ~portals::MatchBits{0}, "the fetched letter {number}"}};
// Each letter is received or freed.
inline constexpr std::array<host::EqualCounters, 1> kEqual{{{kSent, kEnded}}};
inline constexpr host::Library kLibrary{"zipcode", kPortals, kCounters, kSentences, kNamedBits, kEqual, {}, true};

}  // namespace margay::zipcode::core
