// What a trace records: one fixed-size event each time the kernel, a protocol or a call takes a step. The byte format
// and every field's meaning per kind are specified in docs/trace_format.md; numbers are only ever added, never reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "portals/base/header.hpp"

namespace margay::sim {

// What each kind means, and which fields of the record it has under which names: command/trace/read/schema.cpp, the one
// list of it.
// Each header handed to a wire makes one of kernel_send (put, get), kernel_reply_sent, kernel_ack_sent; each header
// that comes makes one of kernel_arrive (put, reply), kernel_get_arrived, kernel_ack_arrived, of the same identity.
// `margay trace check` holds them against each other.
enum class TraceKind : std::uint16_t {
  none = 0,
  // The sender.
  send_begin = 1,
  kernel_send = 2,
  kernel_sent = 3,
  // The target's kernel.
  kernel_arrive = 4,
  kernel_match = 5,
  kernel_pass = 6,
  kernel_deposit_begin = 7,
  kernel_deposit = 8,
  kernel_ack_sent = 9,
  kernel_ack_arrived = 10,  // at the put's sender
  kernel_get_arrived = 11,
  kernel_reply_sent = 12,
  kernel_drop = 13,
  kernel_hold = 14,
  // The receiver.
  post_receive = 15,
  search_hit = 16,
  search_miss = 17,
  receive_complete = 18,
  request_complete = 19,
  pull_begin = 20,
  pull_complete = 21,
  stop = 22,
  // The rank as a whole. Its threads count from 0, the one that called MPI_Init.
  wait_begin = 23,
  wait_end = 24,
  sleep = 25,
  wake = 26,
  coprocessor_begin = 27,
  coprocessor_end = 28,
  peer_lost = 29,
  mpi_enter = 30,
  mpi_leave = 31,
  // The sender again.
  take_back = 32,
  // Collective calls by way of memory that the ranks of a node share, in place of messages.
  shared_write = 33,
  shared_read = 34,
  // One-sided communication, at the origin.
  window_access = 35,
  window_sync = 36,
  // The receiver again.
  synchronous_answer = 37,
  // A collective call of this rank, blocking or not.
  collective_begin = 38,
  collective_end = 39,
  // The receiver's device again. What MPI_Mprobe and MPI_Improbe find is taken out of the heap for their receive.
  given_back = 40,
  found = 41,
  // The portals of a program on portals. An entry's place is its number there: the same in all events about it.
  entry_linked = 42,
  entry_unlinked = 43,
  entry_switched = 44,
  heap_left = 45,
  // A check of this rank reports a mistake of the program (sim/boot/findings).
  finding = 46,
};
inline constexpr std::uint16_t kTraceKindCount = 47;
// "unknown" for a number that this version does not have. The reverse accepts exactly the names.
[[nodiscard]] std::string_view name(TraceKind kind);
[[nodiscard]] std::optional<TraceKind> trace_kind(std::string_view name);

// Protocols in the ADI paper's words. Here because the trace's reader lies below the ADI.
enum class TraceProtocol : std::uint8_t {
  none = 0,
  short_send = 1,
  long_send = 2,        // eager: header and body
  long_rendezvous = 3,  // header first, the body by pull
  synchronous_short = 4,
  synchronous_long = 5,
  ready_short = 6,
  ready_long = 7,
  buffered = 8,
};
inline constexpr std::uint8_t kTraceProtocolCount = 9;
[[nodiscard]] std::string_view name(TraceProtocol protocol);

// Why a protocol was chosen.
enum class TraceChoice : std::uint8_t {
  none = 0,
  fits_short = 1,   // at most the short limit
  above_short = 2,  // more than the short limit
  mode = 3,         // the call asked for it (synchronous, ready, buffered)
  option = 4,       // --protocol or an environment variable asked for it
};
inline constexpr std::uint8_t kTraceChoiceCount = 5;
[[nodiscard]] std::string_view name(TraceChoice choice);

// Where a walk went on behind an entry.
enum class TraceLink : std::uint8_t {
  next = 0,   // to the next entry in the list
  entry = 1,  // to another
  drop = 2,   // nowhere
  none = 3,   // there is none: the portal's own descriptor, or a mistake in the message, which ends any walk
};
inline constexpr std::uint8_t kTraceLinkCount = 4;
[[nodiscard]] std::string_view name(TraceLink link);

// A kernel_pass's `a`.
struct TracePass {
  std::uint32_t step = 0;   // in the walk, from 0; at most 0xffff
  std::uint32_t owner = 0;  // kind of owner of the entry's descriptor, below 256
  TraceLink link = TraceLink::next;
  std::uint32_t type = 0;  // portals::DescriptorType + 1; 0 not known
  [[nodiscard]] std::uint32_t packed() const {
    return step | owner << 16U | static_cast<std::uint32_t>(link) << 24U | type << 28U;
  }
  [[nodiscard]] static TracePass of(std::uint32_t packed) {
    return {packed & 0xffffU, packed >> 16U & 0xffU, static_cast<TraceLink>(packed >> 24U & 0xfU), packed >> 28U};
  }
};
inline constexpr std::uint32_t kTraceRoomUnknown = ~std::uint32_t{0};
inline constexpr std::uint32_t kTraceNoRequest = ~std::uint32_t{0};  // of a send_begin: it went at once
inline constexpr std::uint8_t kTraceCancelled = 1;                   // the reason of a request_complete

// Of a walk. Entries of the paper's walk are those that it visits one by one until one takes the message.
inline constexpr std::uint8_t kTraceWalkByIndex = 1;  // the kernel looked at fewer, by its index
inline constexpr std::uint8_t kTraceWalkCut = 2;      // and there are more of them: they were not counted further

// The descriptor that took a message, in bits 4 to 6 of a kernel_match's reason: portals::DescriptorType + 1; 0 not
// known.
inline constexpr unsigned kTraceDescriptorShift = 4;
inline constexpr std::uint32_t kTraceDescriptorKinds = 5;
[[nodiscard]] constexpr std::uint32_t matched_descriptor(std::uint8_t reason) {
  return reason >> kTraceDescriptorShift;
}

// An entry_linked's `b`, and flags of `reason`.
struct TraceEntry {
  std::uint32_t heap = 0;  // of its dynamic block, from 1; 0: its descriptor is another
  std::uint32_t type = 0;  // portals::DescriptorType + 1; 0 not known
  [[nodiscard]] std::uint32_t packed() const { return (heap & kMostHeap) | type << 28U; }
  [[nodiscard]] static TraceEntry of(std::uint32_t packed) { return {packed & kMostHeap, packed >> 28U}; }
  static constexpr std::uint32_t kMostHeap = 0x0fff'ffff;
};
inline constexpr std::uint8_t kTraceEntryAdopted = 1;   // outside the list's chain
inline constexpr std::uint8_t kTraceEntryInactive = 2;  // passed over
inline constexpr std::uint8_t kTraceEntryPortal = 4;    // the portal's own descriptor, without a match list
inline constexpr std::uint8_t kTraceEntryFlags = 7;
inline constexpr std::uint8_t kTraceHeapReleased = 1;   // of a heap_left: its memory is free, and not its place alone
inline constexpr std::uint8_t kTraceHeapDestroyed = 2;  // the heap went with the message in it

// What an access of a window does.
enum class TraceAccess : std::uint8_t {
  put = 0,
  get = 1,
  accumulate = 2,
  get_accumulate = 3,
  fetch_and_op = 4,
  compare_and_swap = 5,
};
inline constexpr std::uint8_t kTraceAccessCount = 6;
[[nodiscard]] std::string_view name(TraceAccess access);

// The epoch that allows it.
enum class TraceEpoch : std::uint8_t {
  none = 0,  // the interface of 1996 has none
  fence = 1,
  start = 2,
  lock_shared = 3,
  lock_exclusive = 4,
  lock_all = 5,
};
inline constexpr std::uint8_t kTraceEpochCount = 6;
[[nodiscard]] std::string_view name(TraceEpoch epoch);

enum class TraceSync : std::uint8_t {
  fence = 0,
  post = 1,
  start = 2,
  complete = 3,
  wait = 4,
  lock = 5,
  unlock = 6,
  lock_all = 7,
  unlock_all = 8,
  flush = 9,
  flush_all = 10,
  flush_local = 11,
  flush_local_all = 12,
  sync = 13,
};
inline constexpr std::uint8_t kTraceSyncCount = 14;
[[nodiscard]] std::string_view name(TraceSync sync);

// How a wire carries a body, or a side of it: which memory it passes by.
enum class TraceBody : std::uint8_t {
  none = 0,           // not told: there is no body, or another event tells it
  slot = 1,           // within the process: into a slot of the wire, and out of it
  straight = 2,       // within the process: from memory to memory
  cell = 3,           // shared memory: in the cell of its header
  ring = 4,           // shared memory: in the byte ring, whole before its header
  ring_in_parts = 5,  // shared memory: through the byte ring, both sides at once
  ring_instead = 6,   // the same, after it could not be read
  read = 7,           // shared memory: by the receiver out of the sender's memory
  epoll = 8,          // TCP, read or written between calls of epoll
  uring = 9,          // TCP, read or written by io_uring
  uring_provided =
      10,         // TCP: io_uring read it, or a part, into buffers of its own, which were copied to the receiver's
  virtual_ = 11,  // in frames of the virtual network
};
inline constexpr std::uint8_t kTraceBodyCount = 12;
[[nodiscard]] std::string_view name(TraceBody body);

// How the body of one message came, as its receiver's wire tells it.
struct BodyTold {
  TraceBody way = TraceBody::none;
  // TCP: of its bytes those that this process copied out of its wire's buffers, the others came straight from the
  // socket. read: those that the sender wrote into the receiver's memory, the others the receiver read.
  std::uint64_t aside_bytes = 0;
};

// `reason` of the kernel's events about a body: the way, and whether the body's memory here is in pieces.
inline constexpr std::uint8_t kBodyInPieces = 0x80;
[[nodiscard]] constexpr std::uint8_t body_told(TraceBody way, bool in_pieces) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(way) | (in_pieces ? kBodyInPieces : 0));
}
[[nodiscard]] constexpr TraceBody body_way(std::uint8_t reason) {
  return static_cast<TraceBody>(reason & (kBodyInPieces - 1U));
}

// Why the heap lost a message unread.
enum class TraceGivenBack : std::uint8_t {
  cancelled = 1,     // its sender's MPI_Cancel
  never_wanted = 2,  // its sender ends, and no receive had come
  freed = 3,         // its communicator was freed
};

// Which call found a message without receiving it.
enum class TraceProbe : std::uint8_t {
  probe = 0,
  iprobe = 1,
  mprobe = 2,
  improbe = 3,
};
inline constexpr std::uint8_t kTraceProbeCount = 4;
// "MPI_Probe".
[[nodiscard]] std::string_view name(TraceProbe probe);
// It takes the message out, for one receive alone.
[[nodiscard]] constexpr bool takes_out(TraceProbe probe) {
  return probe == TraceProbe::mprobe || probe == TraceProbe::improbe;
}

// How a rank names the root of a collective call.
enum class TraceRoot : std::uint8_t {
  member = 0,   // by its rank in the communicator
  remote = 1,   // by its rank in the other group of an intercommunicator
  here = 2,     // MPI_ROOT: it is the one
  another = 3,  // MPI_PROC_NULL: another one of its own group is
  of_both = 4,  // by its rank among both groups of an intercommunicator, in a call of the library's own
};
inline constexpr std::uint8_t kTraceRootCount = 5;
[[nodiscard]] std::string_view name(TraceRoot root);

inline constexpr std::uint8_t kNoWire = 0xff;
inline constexpr std::uint8_t kNoHeader = 0xff;

// One record, as it lies in the file (little-endian).
// A message's identity is (source, destination, sequence): ranks of its sender and receiver, and its number, from 1,
// among the messages of this ordered pair (Transmission::sequence). Acknowledgments and replies are messages of the
// opposite pair; their events name in `detail` what they answer. Sequence 0: not known, or about no one message.
struct TraceEvent {
  std::uint64_t time = 0;  // ticks of the recording clock; nanoseconds once a reader or events() has converted it
  TraceKind kind = TraceKind::none;
  std::uint8_t wire = kNoWire;  // WireId
  TraceProtocol protocol = TraceProtocol::none;
  portals::Rank source = portals::kAnyRank;
  portals::Rank destination = portals::kAnyRank;
  std::uint8_t header = kNoHeader;  // portals::Kind
  std::uint8_t portal = portals::kNoPortal;
  std::uint8_t reason = 0;  // by kind
  portals::Saved saved = portals::Saved::nothing;
  std::uint64_t sequence = 0;
  std::uint64_t match_bits = 0;
  std::uint64_t bytes = 0;
  std::uint64_t detail = 0;  // by kind
  std::uint32_t a = 0;       // by kind
  std::uint32_t b = 0;       // by kind
  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};
inline constexpr std::size_t kTraceEventBytes = 64;
static_assert(sizeof(TraceEvent) == kTraceEventBytes && std::is_trivially_copyable_v<TraceEvent>);
static_assert(offsetof(TraceEvent, kind) == 8 && offsetof(TraceEvent, source) == 12);
static_assert(offsetof(TraceEvent, destination) == 16 && offsetof(TraceEvent, header) == 20);
static_assert(offsetof(TraceEvent, sequence) == 24 && offsetof(TraceEvent, match_bits) == 32);
static_assert(offsetof(TraceEvent, bytes) == 40 && offsetof(TraceEvent, detail) == 48 && offsetof(TraceEvent, a) == 56);

// An event about the message of `header`, with all that the header tells. `sequence`: its number in its pair.
[[nodiscard]] inline TraceEvent trace_event(TraceKind kind, const portals::Header& header, std::uint64_t sequence) {
  TraceEvent event;
  event.kind = kind;
  event.source = header.source.rank;
  event.destination = header.destination.rank;
  event.header = static_cast<std::uint8_t>(header.kind);
  event.portal = header.portal;
  event.sequence = sequence;
  event.match_bits = header.match_bits;
  event.bytes = header.length;
  if (header.kind == portals::Kind::get) event.bytes = header.return_length;
  if (header.kind == portals::Kind::acknowledgment) {
    event.bytes = header.return_length;
    event.saved = static_cast<portals::Saved>(static_cast<std::uint8_t>(header.user_data[0]) & 3U);
  }
  return event;
}

// The same for an acknowledgment or a reply. `answered`: the number of the put or get that it answers, in the opposite
// pair; 0 where that is not known.
[[nodiscard]] inline TraceEvent trace_answer(TraceKind kind, const portals::Header& header, std::uint64_t sequence,
                                             std::uint64_t answered) {
  TraceEvent event = trace_event(kind, header, sequence);
  event.detail = answered;
  return event;
}

}  // namespace margay::sim
