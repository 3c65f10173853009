// Trace events: one fixed-size record for each step of the kernel, a protocol or a call. docs/trace_format.md specifies
// the bytes, and for each kind the meaning of every field. Numbers are only added, never reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "portals/base/header.hpp"
#include "sim/base/message_number.hpp"

namespace margay::sim {

// The kind of an event. command/trace/read/schema.cpp lists the meaning and the fields of each; the table of kinds in
// docs/trace_format.md is made from that list.
//
// Each header that is handed to a wire makes one event: kernel_send (put, get), kernel_reply_sent or kernel_ack_sent.
// Each header that arrives makes one event with the same identity: kernel_arrive (put, reply), kernel_get_arrived or
// kernel_ack_arrived. `margay trace check` compares the two.
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
  // The rank as a whole. Its threads are numbered; number 0 is the thread that called MPI_Init.
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
  // Collective calls through memory that the ranks of a node share, in place of messages.
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
  // The receiver's device again. MPI_Mprobe and MPI_Improbe find a message and remove it from the heap, for one
  // receive.
  given_back = 40,
  found = 41,
  // The portals of a program on portals. Each match entry has a number, its place, which is the same in all events
  // about the entry.
  entry_linked = 42,
  entry_unlinked = 43,
  entry_switched = 44,
  heap_left = 45,
  // A check of this rank reports a mistake of the program (sim/boot/findings).
  finding = 46,
  // An event of a communication library, whose sentence is a definition (DefinitionKind::library_event).
  library_event = 47,
  // The rank polls a wire at another interval from now on.
  poll_interval_changed = 48,
};
// The length of tables by kind; a file of a later version may contain higher numbers.
inline constexpr std::uint16_t kTraceKindCount = 49;
// The name of a kind; "unknown" for a number that this version does not have. trace_kind() is the reverse, for all
// kinds except `none`.
[[nodiscard]] std::string_view name(TraceKind kind);
[[nodiscard]] std::optional<TraceKind> trace_kind(std::string_view name);

// The protocols, by the names in the ADI paper. They are declared here and not in the ADI, because TraceEvent has a
// field for them, and sim may not include the ADI. The name() of each enumeration below is "unknown" for a number that
// this version does not have.
enum class TraceProtocol : std::uint8_t {
  none = 0,
  // Header and body together, copied into the receiver's heap when unexpected.
  short_send = 1,
  // Eager: header and body together.
  long_send = 2,
  // The header first; the receiver pulls the body.
  long_rendezvous = 3,
  // As short_send and long_send, but the receiver answers when a receive has matched.
  synchronous_short = 4,
  synchronous_long = 5,
  // The message is dropped if no receive is posted.
  ready_short = 6,
  ready_long = 7,
  // The message is first copied into the buffer that the program attached.
  buffered = 8,
};
inline constexpr std::uint8_t kTraceProtocolCount = 9;
[[nodiscard]] std::string_view name(TraceProtocol protocol);

// The reason for the choice of a protocol.
enum class TraceChoice : std::uint8_t {
  none = 0,
  // At most the short limit.
  fits_short = 1,
  // More than the short limit.
  above_short = 2,
  // The call demands it (synchronous, ready, buffered).
  mode = 3,
  // --protocol or an environment variable demands it.
  option = 4,
};
inline constexpr std::uint8_t kTraceChoiceCount = 5;
[[nodiscard]] std::string_view name(TraceChoice choice);

// The link by which a walk continued after an entry.
enum class TraceLink : std::uint8_t {
  // To the next entry in the list.
  next = 0,
  // To another entry.
  entry = 1,
  // The message is dropped.
  drop = 2,
  // No link: the portal has a descriptor alone, or a mistake in the message has ended the walk.
  none = 3,
};
inline constexpr std::uint8_t kTraceLinkCount = 4;
[[nodiscard]] std::string_view name(TraceLink link);

// The content of `a` in a kernel_pass event.
struct TracePass {
  // Number of the step in its walk, from 0; at most 0xffff.
  std::uint32_t step = 0;
  // Kind of the owner tag of the entry's descriptor, below 256.
  std::uint32_t owner = 0;
  TraceLink link = TraceLink::next;
  // portals::DescriptorType + 1; 0: unknown.
  std::uint32_t type = 0;
  // Bits 0 to 15 the step, 16 to 23 the owner, 24 to 27 the link, 28 to 31 the type.
  [[nodiscard]] std::uint32_t packed() const {
    return step | owner << 16U | static_cast<std::uint32_t>(link) << 24U | type << 28U;
  }
  [[nodiscard]] static TracePass of(std::uint32_t packed) {
    return {packed & 0xffffU, packed >> 16U & 0xffU, static_cast<TraceLink>(packed >> 24U & 0xfU), packed >> 28U};
  }
};
// The content of `b` in a kernel_pass with too_small if the room is not a single number.
inline constexpr std::uint32_t kTraceRoomUnknown = ~std::uint32_t{0};
// The number of the request in a send_begin without one: the message was sent at once.
inline constexpr std::uint32_t kTraceNoRequest = ~std::uint32_t{0};
// The `reason` of a request_complete: the request was cancelled.
inline constexpr std::uint8_t kTraceCancelled = 1;

// Flags of a walk. kTraceWalkByIndex: because the kernel used its index, it examined fewer entries than the paper's
// walk, which visits entries one by one until one takes the message.
inline constexpr std::uint8_t kTraceWalkByIndex = 1;
// Entries of the walk beyond a limit were not counted.
inline constexpr std::uint8_t kTraceWalkCut = 2;

// The type of the descriptor that took a message, in bits 4 to 6 of a kernel_match's reason: portals::DescriptorType +
// 1; 0: unknown.
inline constexpr unsigned kTraceDescriptorShift = 4;
inline constexpr std::uint32_t kTraceDescriptorKinds = 5;
// The type in a kernel_match's reason; 0: unknown.
[[nodiscard]] constexpr std::uint32_t matched_descriptor(std::uint8_t reason) {
  return reason >> kTraceDescriptorShift;
}

// The content of `b` in an entry_linked event.
struct TraceEntry {
  // The number, from 1, of the heap of the entry's dynamic block; 0: the descriptor has another type.
  std::uint32_t heap = 0;
  std::uint32_t type = 0;  // portals::DescriptorType + 1; 0: unknown
  [[nodiscard]] std::uint32_t packed() const { return (heap & kMostHeap) | type << 28U; }
  [[nodiscard]] static TraceEntry of(std::uint32_t packed) { return {packed & kMostHeap, packed >> 28U}; }
  static constexpr std::uint32_t kMostHeap = 0x0fff'ffff;
};
// Flags of `reason` in an entry_linked event. The entry is outside the list's chain; only links lead to it.
inline constexpr std::uint8_t kTraceEntryAdopted = 1;
// The entry is inactive, so walks pass over it.
inline constexpr std::uint8_t kTraceEntryInactive = 2;
// Not an entry: the portal has a descriptor alone, without a match list.
inline constexpr std::uint8_t kTraceEntryPortal = 4;
// All these flags.
inline constexpr std::uint8_t kTraceEntryFlags = 7;
// Values of `reason` in a heap_left event; 0: the message has left the queue, but its memory is still taken.
// kTraceHeapReleased: its memory is free, too.
inline constexpr std::uint8_t kTraceHeapReleased = 1;
// The heap was destroyed with the message in it.
inline constexpr std::uint8_t kTraceHeapDestroyed = 2;

// The operation of a window access, by the name of its MPI function.
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

// The epoch that permits a window access.
enum class TraceEpoch : std::uint8_t {
  // None: the interface of 1996 has no epochs.
  none = 0,
  // Begun by MPI_Win_fence. Each of the other epochs has the name of the call that begins it.
  fence = 1,
  start = 2,
  lock_shared = 3,
  lock_exclusive = 4,
  lock_all = 5,
};
inline constexpr std::uint8_t kTraceEpochCount = 6;
[[nodiscard]] std::string_view name(TraceEpoch epoch);

// The synchronisation call of a window_sync.
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

// The method by which a wire carries a body, that is, the memory through which the body passes. The two sides of a
// transfer may report different methods.
enum class TraceBody : std::uint8_t {
  // Unknown: there is no body, or another event reports it.
  none = 0,
  // Within the process: copied into a slot of the wire, and out of the slot.
  slot = 1,
  // Within the process: copied from memory to memory.
  straight = 2,
  // Shared memory: in the cell of its header.
  cell = 3,
  // Shared memory: in the byte ring, complete before its header is published.
  ring = 4,
  // Shared memory: through the byte ring in parts, both sides copying at the same time.
  ring_in_parts = 5,
  // Shared memory: through the byte ring in parts, after a failed attempt to read the body out of the sender's memory.
  ring_instead = 6,
  // Shared memory: read by the receiver out of the sender's memory, perhaps with parts written by the sender.
  read = 7,
  // TCP: read or written by the epoll backend.
  epoll = 8,
  // TCP: read or written by io_uring.
  uring = 9,
  // TCP: io_uring read the body, or a part of it, into provided buffers, from which it was copied to the receiver's
  // buffer.
  uring_provided = 10,
  // Virtual network: in frames.
  virtual_ = 11,
};
inline constexpr std::uint8_t kTraceBodyCount = 12;
// The name of a method, such as "cell" or "ring".
[[nodiscard]] std::string_view name(TraceBody body);

// How one message's body was carried, as its receiver's wire reports it.
struct BodyReport {
  TraceBody method = TraceBody::none;
  // TCP: the bytes that this process copied out of the wire's buffers; the other bytes came directly from the socket.
  // Method `read`: the bytes that the sender wrote into the receiver's memory; the receiver read the other bytes.
  std::uint64_t aside_bytes = 0;
};

// The `reason` of the kernel's events about a body: the method, with kBodyInPieces if the body's memory in this rank is
// in pieces.
inline constexpr std::uint8_t kBodyInPieces = 0x80;
[[nodiscard]] constexpr std::uint8_t body_reason(TraceBody method, bool in_pieces) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(method) | (in_pieces ? kBodyInPieces : 0));
}
[[nodiscard]] constexpr TraceBody body_method(std::uint8_t reason) {
  return static_cast<TraceBody>(reason & (kBodyInPieces - 1U));
}

// The reason why a message left the heap unread.
enum class TraceGivenBack : std::uint8_t {
  // Its sender cancelled it (MPI_Cancel).
  cancelled = 1,
  // Its sender ended, and no receive was posted for it.
  never_wanted = 2,
  // Its communicator was freed.
  freed = 3,
};

// The call that found a message without receiving it.
enum class TraceProbe : std::uint8_t {
  probe = 0,
  iprobe = 1,
  mprobe = 2,
  improbe = 3,
};
inline constexpr std::uint8_t kTraceProbeCount = 4;
// "MPI_Probe".
[[nodiscard]] std::string_view name(TraceProbe probe);
// Whether the call takes the message out of the heap, for one receive only.
[[nodiscard]] constexpr bool takes_out(TraceProbe probe) {
  return probe == TraceProbe::mprobe || probe == TraceProbe::improbe;
}

// How a rank names the root of a collective call.
enum class TraceRoot : std::uint8_t {
  // By its rank in the communicator.
  member = 0,
  // By its rank in the other group of an intercommunicator.
  remote = 1,
  // MPI_ROOT: this rank is the root.
  here = 2,
  // MPI_PROC_NULL: another rank of this rank's own group is the root.
  another = 3,
  // By its rank among both groups of an intercommunicator, in a call of the library itself.
  of_both = 4,
};
inline constexpr std::uint8_t kTraceRootCount = 5;
[[nodiscard]] std::string_view name(TraceRoot root);

// TraceEvent::wire in an event without a wire, and TraceEvent::header in an event without a header.
inline constexpr std::uint8_t kNoWire = 0xff;
inline constexpr std::uint8_t kNoHeader = 0xff;

// One record, in the file's form (little-endian).
//
// A message's identity is (source, destination, sequence): the ranks of its sender and receiver, and its number, from
// 1, among the messages of this ordered pair by one way (sim/base/message_number.hpp). Acknowledgments and replies are
// messages of the opposite pair. Their events have, in `detail`, the number of the message that they answer. Sequence
// 0: the number is unknown, or the event is not about a single message.
struct TraceEvent {
  // Ticks of the recording clock; nanoseconds after a reader or Recorder::events() has converted them.
  std::uint64_t time = 0;
  TraceKind kind = TraceKind::none;
  // WireId.
  std::uint8_t wire = kNoWire;
  TraceProtocol protocol = TraceProtocol::none;
  portals::Rank source = portals::kAnyRank;
  portals::Rank destination = portals::kAnyRank;
  // portals::Kind.
  std::uint8_t header = kNoHeader;
  std::uint8_t portal = portals::kNoPortal;
  // The meaning depends on the kind, as for detail, a and b.
  std::uint8_t reason = 0;
  portals::Saved saved = portals::Saved::nothing;
  // The message's number; see above.
  std::uint64_t sequence = 0;
  // The match bits of the header; in an event about a match entry, those of the entry.
  std::uint64_t match_bits = 0;
  // Length of the body, unless the kind gives the field another meaning.
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

// Makes an event about the message of `header`, with the header's fields. `sequence`: the message's number in its pair.
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

// The same for an acknowledgment or a reply. `answered`: the number, in the opposite pair, of the answered put or get;
// 0: unknown.
[[nodiscard]] inline TraceEvent trace_answer(TraceKind kind, const portals::Header& header, std::uint64_t sequence,
                                             std::uint64_t answered) {
  TraceEvent event = trace_event(kind, header, sequence);
  event.detail = answered;
  return event;
}

}  // namespace margay::sim
