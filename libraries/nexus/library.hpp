// The description of Nexus for the host: portals, match bits, counters, events, and all bounds. Changes of a value here
// change the bytes on the wire, or the memory of a context.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "libraries/nexus/module/frame.hpp"
#include "margay/host.hpp"

namespace margay::nexus::core {

// --- Portals. ---

// Requests; long bodies at their owner; long bodies at the receiver; control; requests that a forwarder passes on.
inline constexpr portals::PortalIndex kRequestPortal = 32, kBodyPortal = 33, kFetchPortal = 34, kControlPortal = 35,
                                      kForwardPortal = 36;

// Match bits of portals 32 and 36: 24 endpoint, 16 generation, 8 flags, 16 link. An endpoint's entry ignores the lower
// 24 bits, so the kernel itself finds the endpoint, and drops requests for destroyed ones. Endpoint 0 takes the
// messages of Nexus for itself that must stay in order with requests.
inline constexpr std::uint32_t kControlEndpoint = 0;
inline constexpr portals::MatchBits kBelowGeneration = (portals::MatchBits{1} << 24) - 1;
[[nodiscard]] constexpr portals::MatchBits endpoint_bits(std::uint32_t endpoint, std::uint16_t generation) {
  return portals::MatchBits{endpoint} << 40 | portals::MatchBits{generation} << 24;
}

// Kinds of control messages, the upper bits of their match bits.
enum class Control : std::uint8_t {
  hello = 1,  // a context's table, to context 0
  welcome,    // all tables, from context 0
  unknown,    // the receiver has no handler of this number
  refusal,    // the receiver has refused a request; text
  closing,    // no notice to this context is under way
  closed,     // the answer to it, and to FrameKind::closing
  wave,       // the sends of a quiet context, to context 0
  again,      // from context 0: another wave
  over,       // from context 0: no request is under way
  own,        // a context's startpoint, to context 0
  all,        // startpoints of the next contexts in their order, from context 0
  drained     // the marker of a link has arrived: its number, and its epoch above kLinkBits
};
inline constexpr unsigned kControlShift = 56;
[[nodiscard]] constexpr portals::MatchBits control_bits(Control kind, std::uint64_t number = 0) {
  return static_cast<portals::MatchBits>(kind) << kControlShift | number;
}
inline constexpr portals::MatchBits kBelowControl = (portals::MatchBits{1} << kControlShift) - 1;

// --- Bounds. ---

// The longest body that travels with its header; longer ones are fetched.
inline constexpr std::size_t kShortMost = 16384;
// Bytes of the heaps of portals 32, 36 and 35. Pages that are never used cost nothing.
inline constexpr std::size_t kHeapBytes = std::size_t{16} << 20, kForwardHeapBytes = std::size_t{4} << 20,
                             kControlHeapBytes = std::size_t{2} << 20;
// Bytes of requests that wait in this context for their wires: MARGAY_NEXUS_QUEUE. At the bound, send() waits, and in a
// handler fails.
inline constexpr std::size_t kQueueBytes = std::size_t{64} << 20, kQueueLeast = 65536;
// The most endpoints of a context, links of a startpoint, rows of a table, transforms of a link, bytes of a handler's
// name, and of a refusal's text.
inline constexpr std::uint32_t kEndpointsMost = (1U << kEndpointBits) - 1;
inline constexpr std::size_t kLinksMost = 4096, kRowsMost = 16, kTransformsMost = 4, kHandlerNameMost = 63,
                             kTextMost = 512;
// Bytes of a startpoint that exchange() gives to all contexts, and of those in one message.
inline constexpr std::size_t kExchangedMost = std::size_t{1} << 20;
static_assert(kExchangedMost + 4096 < kControlHeapBytes);
// Threads of handlers: MARGAY_NEXUS_THREADS.
inline constexpr std::uint32_t kThreadsMost = 64;
// Pending errors that are kept; later ones are counted only.
inline constexpr std::size_t kErrorsMost = 32;
// Successive sends that a method does not take before a link moves to the next one (failover on load).
inline constexpr std::uint32_t kOverloaded = 64;
// Messages that a module delivers in one poll.
inline constexpr int kPollMost = 16;
// The longest body after decoding.
inline constexpr std::uint64_t kBodyMost = std::uint64_t{1} << 40;

// --- Words of `--stats` and of traces. ---

enum Count : std::uint8_t {
  kSent,
  kExecuted,
  kByLocal,
  kByShm,
  kByTcp,
  kByModules,
  kLong,
  kForwarded,
  kQueued,
  kFull,
  kUnknown,
  kDropped,
  kChanges,
  kFailovers,
  kPolls,
  kHits,
  kCounts
};
inline constexpr std::array<const char*, kCounts> kCounters{
    "requests sent",       "requests executed", "sent by local",
    "sent by shm",         "sent by tcp",       "sent by modules",
    "longer than 16 KiB",  "forwarded",         "queued by full methods",
    "refused, queue full", "unknown handlers",  "dropped",
    "changes of methods",  "failovers",         "polls of modules",
    "polls with messages"};
static_assert(kCounts <= host::kCountersMost);

enum EventNumber : std::uint8_t {
  kRequests,
  kBegins,
  kEnds,
  kChoosesLocal,
  kChoosesShm,
  kChoosesTcp,
  kChoosesModule,
  kMoves,
  kFailsOver,
  kForwards,
  kPollsEvery,
  kRefuses,
  kEvents
};
inline constexpr std::array<const char*, kEvents> kSentences{
    "requests handler {a} at endpoint {b} of {peer}, {bytes}",
    "begins handler {a} at endpoint {b}, requested by {peer}, {bytes}",
    "ends handler {a} at endpoint {b}",
    "chooses local for a link to {peer}: row {a} of its table, after {b} inapplicable rows",
    "chooses shm for a link to {peer}: row {a} of its table, after {b} inapplicable rows",
    "chooses tcp for a link to {peer}: row {a} of its table, after {b} inapplicable rows",
    "chooses a module for a link to {peer}: row {a} of its table, after {b} inapplicable rows",
    "moves link {a} to {peer} to another method, change {b} of this link",
    "moves a link to {peer} to row {a} of its table, because its method is lost or overloaded",
    "passes on a request for endpoint {b} of {peer}, {bytes}",
    "sets the poll interval of method {a} to {b}",
    "refuses a request of {peer} for endpoint {b}",
};

inline constexpr std::array<host::NamedPortal, 5> kPortals{{{kRequestPortal, "requests"},
                                                            {kBodyPortal, "long bodies"},
                                                            {kFetchPortal, "fetched bodies"},
                                                            {kControlPortal, "control"},
                                                            {kForwardPortal, "forwarded requests"}}};
[[nodiscard]] constexpr host::NamedBits named(Control kind, const char* name) {
  return {kControlPortal, control_bits(kind), kBelowControl, name};
}
inline constexpr std::array kNamedBits{
    host::NamedBits{kRequestPortal, 0, kBelowGeneration, "a marker or closing of Nexus"},
    host::NamedBits{kRequestPortal, 0, ~portals::MatchBits{0}, "a request to an endpoint"},
    host::NamedBits{kForwardPortal, 0, ~portals::MatchBits{0}, "a request to be passed on"},
    host::NamedBits{kBodyPortal, 0, ~portals::MatchBits{0}, "body {number}"},
    host::NamedBits{kFetchPortal, 0, ~portals::MatchBits{0}, "the fetched body {number}"},
    named(Control::hello, "a context's table"),
    named(Control::welcome, "all tables"),
    named(Control::unknown, "an unknown handler"),
    named(Control::refusal, "a refusal"),
    named(Control::closing, "the last notice {number}"),
    named(Control::closed, "the answer to closing {number}"),
    named(Control::wave, "wave {number}"),
    named(Control::again, "wave {number} begins"),
    named(Control::over, "the end"),
    named(Control::own, "the startpoint of exchange {number}"),
    named(Control::all, "the startpoints of exchange {number}"),
    named(Control::drained, "the arrival of marker {number}")};
// Each request that was sent by a reliable method is executed.
inline constexpr std::array<host::EqualCounters, 1> kEqual{{{kSent, kExecuted}}};
inline constexpr host::Library kLibrary{"nexus", kPortals, kCounters, kSentences, kNamedBits, kEqual};

}  // namespace margay::nexus::core
