// The description of RMI for the host: portals, match bits, counters, events, and all bounds. Changes of a value here
// change the bytes on the wire, or the memory of a node; the receiver's checks and mailboxes (node.cpp) rely on the
// same ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "margay/host.hpp"

namespace margay::rmi::core {

// --- Portals. ---

// One portal for each kind of traffic, so that a queue of one kind holds no other back: a reply or a credit is taken
// while requests wait for their objects.
inline constexpr portals::PortalIndex kRequestPortal = 48, kReplyPortal = 49, kControlPortal = 50, kCreditPortal = 51,
                                      kBodyPortal = 52;

// Match bits: 4 kind, 27 unused, 1 parity of the sender's fence, 32 number. A reply has the call's 60 bits
// instead of the last three. RMI's mailboxes accept any match bits: the receiver checks the kind, and the rest is data.
// At portal 52 they match exactly.
enum class MessageKind : std::uint8_t {
  buffer = 1,    // portal 48: requests; user data: their number, and credits (kCreditShift)
  long_request,  // portal 48: one request, too long for a buffer, to be fetched from portal 52; offset: its number
                 // there
  reply,         // portal 49: user data: credits
  long_reply,    // portal 49: to be fetched
  wave,          // portal 50: counts of a fence, or its parent's answer
  identity,      // portal 50: a node's program, to node 0
  verdict,       // portal 50: why the programs differ, or nothing
  credit,        // portal 51: user data: credits, which are buffers that the receiver may send again
  body,          // portal 52: a long request or reply at its owner
  fetched,       // portal 52: and where it goes
};
// The place of the kind, and the bits below it: the number of a call must fit them.
inline constexpr unsigned kKindShift = 60;
inline constexpr portals::MatchBits kBelowKind = (portals::MatchBits{1} << kKindShift) - 1;

// Match bits of a kind and the 60 bits below it; the kind of match bits, which came from another node and may be none
// of the enumeration.
[[nodiscard]] constexpr portals::MatchBits match_bits(MessageKind kind, std::uint64_t below) {
  return static_cast<portals::MatchBits>(kind) << kKindShift | below;
}
[[nodiscard]] constexpr MessageKind kind_of(portals::MatchBits bits) {
  return static_cast<MessageKind>(bits >> kKindShift);
}
// The match bits of a buffer of requests: the number is by destination and orders the buffers there.
[[nodiscard]] constexpr portals::MatchBits buffer_bits(MessageKind kind, bool parity, std::uint32_t number) {
  return match_bits(kind, std::uint64_t{parity} << 32 | number);
}

// The count in the header of a buffer: its requests, and from this bit on the credits that ride on it.
inline constexpr unsigned kCreditShift = 24;
// The most requests of a buffer: far more than one of kBufferMost bytes can have.
inline constexpr std::uint32_t kRequestCount = (1U << kCreditShift) - 1;

// --- Bounds. ---

// The size of a buffer in bytes. The wires take a body of this size at once, so a buffer is free again when it has been
// sent. The least has room for a few requests.
inline constexpr std::size_t kBufferMost = 16384, kBufferLeast = 256;
// The paper's best factors (7.1) with shared memory, and on its cluster, for nodes that TCP reaches. With requests of
// 32 bytes, 512 of them fill a buffer.
inline constexpr std::uint32_t kFactor = 128, kFactorOffNode = 512;
// Asynchronous calls from poll to poll (6.2: "every n th communication call"); the other calls poll each time.
// Sending a buffer polls, too.
inline constexpr std::uint32_t kPollRate = 1024;
// "two aggregation buffers" (6.3): buffers of one sender that its receiver has not executed. With one, the sender would
// wait for each buffer's execution; each further one costs the receiver memory for each node.
inline constexpr std::uint32_t kCredits = 2;
// Buffers of a destination that wait for a credit before its sender waits too, outside of a method: one, so that the
// next buffer is ready when a credit returns.
inline constexpr std::size_t kAhead = 1;
// Bytes of all such buffers, and of those to the own node, inside methods, which never wait. MARGAY_RMI_QUEUE changes
// it. The least: two buffers to the own node, one of each thread, may be in execution while a method sends another one.
inline constexpr std::size_t kQueueBytes = std::size_t{64} << 20, kQueueLeast = 4 * kBufferMost;
// Awaited results of a node at once, and the bytes of the longest reply that is not fetched.
inline constexpr std::uint32_t kCalls = 256;
inline constexpr std::size_t kReplyMost = 2048;
// Bytes of buffers and replies that arrive in rows instead of a heap (mailbox.hpp): a buffer of a few requests, as a
// question sends it, and the reply with a number.
inline constexpr std::size_t kShortBuffer = 256, kShortReply = 128;
// Bytes of a dynamic block's own for a message, with alignment: part of each sum of a mailbox's room.
inline constexpr std::size_t kMessageBytes = 320;
// Room for the requests of methods that wait, each inside another one's wait: their buffers have returned their credits
// early (inbox.hpp, invariant 5), so kCredits does not bound them. Each such method awaits a result, so kCalls does.
inline constexpr std::size_t kNestedBytes = kCalls * (kBufferMost + kMessageBytes);

// --- Words of `--stats` and of traces. ---

// The counters of a node; kCounters has their words, in the same order. From kFull on, one for each reason of Flush, in
// its order: the reason is added to kFull.
enum Count : std::uint8_t {
  kSent,
  kExecuted,
  kBuffers,
  kFull,
  kFactorReached,
  kForSync,
  kForFence,
  kForPoll,
  kForWait,
  kWaves,
  kSyncs,
  kLong,
  kFailures,
  kCounts
};
inline constexpr std::array<const char*, kCounts> kCounters{
    "requests sent",       "requests executed",    "buffers sent",   "sent full",      "sent by the factor",
    "sent by a sync call", "sent by a fence",      "sent by a poll", "sent by a wait", "fence waves",
    "synchronous",         "longer than a buffer", "failed methods"};
static_assert(kCounts <= host::kCountersMost);
// The counters' places, which do not change while the library is in the rank: a call of the host for each count costs
// too much. Written inside only (host::Rank::counter()).
using Counters = std::array<std::uint64_t*, kCounts>;
// The counters of a rank, looked up once. Valid while the library is in the rank.
[[nodiscard]] inline Counters counters_of(host::Rank& rank) {
  Counters counters{};
  for (std::size_t i = 0; i < kCounts; ++i) counters[i] = &rank.counter(i);
  return counters;
}

// Why a buffer is sent. The values are the first events' numbers, and the distances from kFull.
enum class Flush : std::uint8_t { full, factor, sync, fence, poll, wait };
// The other events' numbers in traces. kSentences has a sentence for each; the host fills in the words in braces.
enum EventNumber : std::uint8_t { kExecutes = 6, kWave, kAsks, kEvents };
inline constexpr std::array<const char*, kEvents> kSentences{
    "sends {peer} {a} requests in buffer {b}, {bytes}, because the buffer is full",
    "sends {peer} {a} requests in buffer {b}, {bytes}, because the aggregation factor is reached",
    "sends {peer} {a} requests in buffer {b}, {bytes}, because of a synchronous request",
    "sends {peer} {a} requests in buffer {b}, {bytes}, because of a fence",
    "sends {peer} {a} requests in buffer {b}, {bytes}, because it polls",
    "sends {peer} {a} requests in buffer {b}, {bytes}, because it waits",
    "executes {a} requests of buffer {b} of {peer}",
    "ends wave {detail} of a fence, with {a} requests sent and {b} executed",
    "asks {peer} for the result of a method, call {detail}",
};

// The portals' names in traces and reports.
inline constexpr std::array<host::NamedPortal, 5> kPortals{{{kRequestPortal, "requests"},
                                                            {kReplyPortal, "replies"},
                                                            {kControlPortal, "fences"},
                                                            {kCreditPortal, "credits"},
                                                            {kBodyPortal, "long requests and replies"}}};

// The words for match bits; {number} stands for the ignored ones. Two rows for a buffer, because its parity is not part
// of the number.
[[nodiscard]] constexpr host::NamedBits named(portals::PortalIndex portal, MessageKind kind, const char* name) {
  return {portal, match_bits(kind, 0), kBelowKind, name};
}
[[nodiscard]] constexpr host::NamedBits named_buffer(MessageKind kind, bool parity, const char* name) {
  return {kRequestPortal, buffer_bits(kind, parity, 0), 0xffff'ffff, name};
}
inline constexpr std::array kNamedBits{
    named_buffer(MessageKind::buffer, false, "buffer {number} of requests"),
    named_buffer(MessageKind::buffer, true, "buffer {number} of requests"),
    named_buffer(MessageKind::long_request, false, "buffer {number}, a long request"),
    named_buffer(MessageKind::long_request, true, "buffer {number}, a long request"),
    named(kReplyPortal, MessageKind::reply, "the reply to call {number}"),
    named(kReplyPortal, MessageKind::long_reply, "the long reply to call {number}"),
    named(kControlPortal, MessageKind::wave, "a wave of a fence"),
    named(kControlPortal, MessageKind::identity, "the identity of a program"),
    named(kControlPortal, MessageKind::verdict, "the comparison of the programs"),
    named(kCreditPortal, MessageKind::credit, "credits"),
    named(kBodyPortal, MessageKind::body, "body {number}"),
    named(kBodyPortal, MessageKind::fetched, "the fetched body {number}")};
// Each request that was sent is executed: the host's accounting compares the sums over all nodes at the end of a job.
inline constexpr std::array<host::EqualCounters, 1> kEqual{{{kSent, kExecuted}}};
// What aggregation saves.
inline constexpr host::Quotient kQuotient{kSent, kBuffers};
// All of the above, for host::join().
inline constexpr host::Library kLibrary{"rmi", kPortals, kCounters, kSentences, kNamedBits, kEqual, kQuotient};

}  // namespace margay::rmi::core
