// One collective call in progress, and the awaitables of which algorithms consist: sends to and receives from other
// ranks of the communicator. Algorithms are routines (mpi_adi/device/steps). At an await, a blocking call waits in
// place, and the routine of a nonblocking call suspends. Under the process lock.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <optional>
#include <span>

#include "collectives/portal/tree_portal.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/steps.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "portals/memory/block.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::mpi_adi {
class MpiRank;
}  // namespace margay::mpi_adi

namespace margay::collectives {

using mpi_adi::Flow;
using mpi_adi::run;
using mpi_adi::Steps;

// The most messages that a rank has in progress at once in a direct exchange. The limit bounds the length of the match
// list in a communicator of thousands of ranks. A rank with more messages works in turns, so all ranks must use the
// same order of messages. kAllAtOnce, no limit, is for patterns without such an order, such as exchanges of neighbors.
// With a limit, a rank there could wait for a message that another rank sends only in a later turn: a deadlock.
inline constexpr std::size_t kDirectAtOnce = 64;
inline constexpr std::size_t kAllAtOnce = std::numeric_limits<std::size_t>::max();

// The facts of a call that this rank alone has, for the trace.
struct OwnPart {
  // Bytes of this rank's data, where the shape has no length.
  std::uint64_t bytes = 0;
  // The root of an intercommunicator's call, as the program names it: a remote rank, MPI_ROOT or MPI_PROC_NULL.
  std::optional<int> root;
};

// The state of a call on one rank: number, phase, error, and messages not taken by their wires. Lives from the call's
// beginning to its end, and holds a reference to its communicator. Under the process lock.
class Collective {
 public:
  // A blocking call, which begins now. It takes the next number on `communicator`, because all members make their calls
  // in the same order (MPI 4.0, 6.14). `shape`: this member's description of the call. `own`: the facts that this rank
  // alone has, for the trace.
  Collective(TreePortal& portal, mpi_adi::Communicator& communicator, const Shape& shape = {}, const OwnPart& own = {});
  // The same for a rank of an MPI program, whose TreePortal it finds.
  Collective(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const Shape& shape = {});
  // The same with a number taken before (a persistent call's, or an agreement's).
  Collective(TreePortal& portal, mpi_adi::Communicator& communicator, CallNumber number, const Shape& shape = {},
             const OwnPart& own = {});
  // A nonblocking call. Its routine suspends in `flow`, and events wake `task`; both outlive the call. The call has its
  // number from its construction on, but sends and receives nothing before begin().
  Collective(TreePortal& portal, mpi_adi::Communicator& communicator, CallNumber number, Flow& flow,
             mpi_adi::Task& task);
  // Begins a nonblocking call, once its shape is known: delivers notices that arrived early.
  void begin(const Shape& shape, const OwnPart& own = {});
  // In a blocking call, waits until the wires have taken all messages. Requires in a nonblocking call: it has awaited
  // Flush.
  ~Collective();
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  // This rank, and the number of ranks, on the call's communicator. All ranks in this file are ranks on it.
  [[nodiscard]] int rank() const { return communicator_.rank(); }
  [[nodiscard]] int size() const { return communicator_.size(); }
  [[nodiscard]] mpi_adi::Communicator& communicator() const { return communicator_; }
  [[nodiscard]] TreePortal& portal() const { return portal_; }
  // The pool of the routine's coroutine frames.
  [[nodiscard]] mpi_adi::FramePool& frames() const { return flow_.frames(); }

  // Begins the second phase: messages from here on do not match those before. At most once in a call, by all members
  // that continue it. The phase takes no new call number, because numbers of later calls must not depend on the success
  // of this one.
  void next_phase() { phase_ = mpi_adi::kReadyBit; }
  // Lets short messages of this call leave without a wait for their receivers, even in a gate. This is for calls in
  // which every member waits for all others, so none runs ahead. It is necessary if two members send each other several
  // messages: a "ready" of one round could be taken for that of the next round, or arrive after the call. Every member
  // calls this before its first message.
  void skip_gate() { call_.number = call_.number.without_gate(); }
  // The opposite of skip_gate(): short messages, too, wait for their receivers' notices, which carry the receivers'
  // shapes. This is for algorithms that cut long data into short messages. A member that named less data expects a
  // short message without a notice; if no sender waited, it would accept one of the pieces. Every member calls this
  // before its first message.
  void ask_always() { asks_always_ = true; }
  // Whether a message of `bytes` waits for its receiver's notice. The same on both sides.
  [[nodiscard]] bool asks(std::uint64_t bytes) const {
    return bytes > kHandshakeBytes || call_.number.is_gate() || asks_always_;
  }
  // Records that this rank's own arguments do not fit each other. The call continues to its end, with MPI_ERR_TRUNCATE.
  void named_other_bytes() { fail(MPI_ERR_TRUNCATE); }
  // The same for a call that cannot continue, because this rank cannot contribute its data: also notifies all members.
  void refuse_call();
  // The call's first error: MPI_ERR_TRUNCATE, ranks made different calls or named different amounts of data;
  // MPIX_ERR_PROC_FAILED, a member is lost; MPI_ERR_OTHER, a member's own memory cannot be read. MPI_SUCCESS: no error.
  [[nodiscard]] int error_class() const { return call_.error_class; }

 private:
  friend class Part;
  friend class Receive;
  friend class ReceiveRows;
  friend class Send;
  friend class Exchange;
  friend class Flush;
  friend class CallTask;
  friend class ReadyWait;
  friend class StreamReceive;
  friend class StreamSend;
  friend class Shown;

  // Records an error; the first one counts.
  void fail(int error_class) {
    if (call_.error_class == MPI_SUCCESS) call_.error_class = error_class;
  }
  // Whether the call has failed. A failed call sends no data, which may be incomplete, but notifies its receivers.
  [[nodiscard]] bool has_call_failed() const { return call_.wrong || call_.error_class != MPI_SUCCESS; }
  // The "ready" of the current phase.
  [[nodiscard]] NoticeKind ready_kind() const { return phase_ == 0 ? NoticeKind::ready : NoticeKind::ready_next_phase; }
  // Reports to `source` that this rank is ready for its message. `stream`: the portal for a stream; kNoPortal for a
  // message.
  void send_ready(int source, portals::PortalIndex stream = portals::kNoPortal);
  // Notifies `destination` that this rank will send no message.
  void refuse(int destination);
  // Match bits of a message. `stamp`: the sender's rank, or the length of a row in its place (row_stamp).
  [[nodiscard]] portals::MatchBits bits(int stamp) const {
    return TreePortal::bits(call_.number, stamp, communicator_.collective_context) | phase_;
  }
  // Record the call's two trace events; trace_event() fills in their common fields.
  void trace_begin(const OwnPart& own) const;
  void trace_end() const;
  [[nodiscard]] sim::TraceEvent trace_event(sim::TraceKind kind) const;
  // Criteria that match the message of `source`.
  [[nodiscard]] portals::Criteria from(int source) const {
    return {.match_bits = bits(source), .source_rank = communicator_.world_rank(source)};
  }
  // Records that a message of another length arrived. If this rank had sent a "ready" for the message, notifies all
  // members: one that makes a call with short messages may still wait for such a message.
  void record_other_length(std::uint64_t expected_bytes);
  // is_unreachable(): whether a member is lost or has departed, so that no message passes between it and this rank any
  // more. any_lost(): whether some member is unreachable without a goodbye.
  [[nodiscard]] bool is_unreachable(int rank) const;
  [[nodiscard]] bool any_lost() const;
  // Records that an awaited message will not arrive: from `member`, or, without an argument, from some member. The
  // error shows whether a process is lost or the calls differ.
  void fail_for_missing_message(int member) {
    const bool has_lost = is_unreachable(member) || any_lost() || call_.has_notice(member, NoticeKind::lost);
    fail(has_lost ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
  }
  void fail_for_missing_message() {
    fail(any_lost() || call_.any_sent(NoticeKind::lost) ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
  }
  // Sets the owner tag of `memory`: the task of a nonblocking call; none for a blocking one, which polls.
  void own(portals::Descriptor& memory) const;
  // The header of a message of this call to a rank, with `stamp` in its match bits.
  [[nodiscard]] portals::Header header_to(int destination, std::uint64_t bytes, int stamp) const;
  // Sends a message. A body that its wire does not take at once must not change until Flush.
  void transmit(const portals::Header& header, const portals::Region& body);
  // Whether wires have taken all messages.
  [[nodiscard]] bool all_taken() const;

  // The portal, the kernel and the communicator of the call; constant.
  TreePortal& portal_;
  sim::Kernel& kernel_;
  mpi_adi::Communicator& communicator_;
  // The state that notices of other members change.
  CallState call_;
  Flow own_flow_;
  // The flow that determines what awaiting means: own_flow_ in a blocking call, the task's flow in a nonblocking one.
  Flow& flow_;
  // ask_always() was called.
  bool asks_always_ = false;
  // 0 or kReadyBit: in the bits of the message type, which collective messages do not use otherwise.
  portals::MatchBits phase_ = 0;
  // Messages that their wires have not taken. A list, because the kernel keeps their addresses; an empty one allocates
  // nothing.
  std::list<sim::Transmission> transmissions_;
};

// The base of a call's awaitables. The call outlives it.
class Part {
 public:
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  [[nodiscard]] Flow& flow() const { return collective_.flow_; }
  // The number of messages that a wait in place takes from each wire before it tests its condition. One, because most
  // waits are for a single message, and a poll after its arrival would find nothing.
  [[nodiscard]] int messages() const { return 1; }

 protected:
  explicit Part(Collective& collective) : collective_(collective) {}
  ~Part() = default;
  // expect_from() marks that a message of a member is awaited, and count_answer_from() takes the mark back. In between
  // the member may be computing, so after a while without progress its coprocessor is woken
  // (sim::Kernel::expect_answer).
  void expect_from(int member) const;
  void count_answer_from(int member) const;
  // Monitors a member's process, even if no message has ever passed between the two.
  void monitor(int member) const;
  // The call whose state, portals and flow this part uses.
  Collective& collective_;
};

// The reception of one message from `source` into `landing`. It begins at construction and ends when the await returns.
// Where asks() holds, the construction notifies the source that it may send. If the two sides name different numbers of
// bytes, the call gets MPI_ERR_TRUNCATE. A rank receives at most one message from each source in a phase of a call,
// unless the two ranks send to each other in turns.
class Receive : public Part, public mpi_adi::Awaitable<Receive> {
 public:
  // Puts the block into the match list, unless the message is in the heap already. `landing` stays valid until
  // destruction.
  Receive(Collective& collective, int source, const portals::Region& landing);
  ~Receive();
  [[nodiscard]] bool advance();

 private:
  enum class Stage : std::uint8_t {
    // The block is in the match list.
    deposit,
    // Out of the list; a body may still be arriving in the block.
    leaving,
    // The message is in the heap, perhaps not complete.
    in_heap,
    over,
  };
  // The block: single_ for contiguous memory, else combined_.
  [[nodiscard]] portals::Descriptor& memory();
  // Whether the message is in the block or in the heap, or will not arrive.
  [[nodiscard]] bool decided();
  // Whether the sender waits for a "ready" that this rank does not send, because it expects a short message.
  [[nodiscard]] bool offered_longer() const;
  // Determines the outcome, when the block is out of the list and no body is arriving in it: success, a message in the
  // heap, or an error.
  void settle();
  // Copies the message out of the heap. Returns false while its body is still arriving. If the sender is lost and the
  // message gone, fails the call and returns true.
  [[nodiscard]] bool take_from_heap();
  // Marks the sender's message as awaited, once; end() takes the mark back.
  void wait_for_answer();
  void end();

  // Rank on the call's communicator.
  int source_;
  // Unsuccessful tests so far; expensive checks run only in some of them.
  int polls_ = 0;
  // The stage of the reception.
  Stage stage_ = Stage::deposit;
  bool expecting_ = false;
  // The sender was notified that it may send.
  bool asked_for_ = false;
  // The memory that gets the message.
  portals::Region landing_;
  std::optional<portals::SingleBlock> single_;
  std::optional<portals::CombinedBlock> combined_;
  portals::MatchEntry entry_;
};

// The stamp of a row: its length, in the field of the match bits that other messages use for the source. The length
// never exceeds kHandshakeBytes, because the sender of a longer row waits for a "ready". The rank with the table sends
// no "ready"; in a gate it sends one with the table's shape, which does not fit that sender's.
static_assert(kHandshakeBytes <= mpi_adi::kSourceMask >> mpi_adi::kSourceShift);
[[nodiscard]] constexpr int row_stamp(std::uint64_t bytes) {
  return static_cast<int>(bytes);
}

// The reception of a table with a row from each of `members`: one block, behind one match entry that accepts any
// source. Each sender names the offset of its row (Send::Row). So a message passes one entry instead of one for each
// member. Requires: `bytes` of each row <= kHandshakeBytes; no other messages to this rank in this phase; `members`
// outlives this object.
//
// The entry accepts only rows of the table's length, which the match bits carry in place of the source. A row of
// another length could end outside the table, and the kernel would drop it. Because its match bits differ, such a row
// goes to the heap instead, where this call finds it; no other call is affected.
class ReceiveRows : public Part, public mpi_adi::Awaitable<ReceiveRows> {
 public:
  // Puts the table's entry into the match list; takes rows from the heap when first polled.
  ReceiveRows(Collective& collective, std::span<const int> members, const portals::Region& table, std::uint64_t bytes);
  ~ReceiveRows();
  // Complete when all rows are there, a member is lost, or members make different calls.
  [[nodiscard]] bool advance();
  [[nodiscard]] int messages() const;

 private:
  // Whether all rows have arrived.
  [[nodiscard]] bool here() const;
  // Monitors all senders' processes.
  void monitor_all() const;
  // Copies rows that arrived before the table's entry was listed. A row of another length fails the call.
  void take_from_heap();
  void end();

  // The senders, with this rank among them.
  std::span<const int> members_;
  portals::Region table_;
  // Bytes of a row.
  std::uint64_t bytes_;
  int polls_ = 0;
  bool expecting_ = false;
  // Rows found in the heap.
  std::uint64_t from_heap_ = 0;
  portals::SingleBlock single_;
  portals::MatchEntry entry_;
};

// A sender's wait until its receiver is ready, or never will be.
class ReadyWait : private Part {
 public:
  ReadyWait(Collective& collective, int destination) : Part(collective), destination_(destination) {}
  ~ReadyWait() { end(); }
  [[nodiscard]] int destination() const { return destination_; }
  // Whether the destination is ready, or an error or a notice shows that it never will be.
  [[nodiscard]] bool decided();
  void end();

 private:
  int destination_;
  int polls_ = 0;
  bool expecting_ = false;
};

// The sending of one message. Where asks() holds, it first waits until `destination` is ready. If the call has failed,
// it instead notifies `destination` that no message will be sent. The body must not change until Flush or the call's
// end.
class Send : public Part, public mpi_adi::Awaitable<Send> {
 public:
  Send(Collective& collective, int destination, const portals::Region& body)
      : Part(collective), wait_(collective, destination), body_(body) {}
  // The number of a row in the destination's ReceiveRows, for a message to that table.
  struct Row {
    std::uint64_t number;
  };
  Send(Collective& collective, int destination, const portals::Region& body, Row row)
      : Part(collective), wait_(collective, destination), to_row_(true), row_(row.number), body_(body) {}
  // Sends the message as soon as the destination is ready; true when it is sent or refused.
  [[nodiscard]] bool advance();

 private:
  // Makes the header and gives the message to the kernel.
  void transmit();

  ReadyWait wait_;
  // The message was sent, or refused.
  bool over_ = false;
  // The message goes to a row of a table, number row_.
  bool to_row_ = false;
  std::uint64_t row_ = 0;
  // Memory of the caller, which stays valid until Flush.
  portals::Region body_;
};

// Several sends, each as soon as its destination is ready. `sends` outlives it.
class SendEach : public Part, public mpi_adi::Awaitable<SendEach> {
 public:
  SendEach(Collective& collective, std::deque<Send>& sends) : Part(collective), sends_(sends) {}
  [[nodiscard]] bool advance() {
    bool over = true;
    for (Send& send : sends_) over = send.advance() && over;
    return over;
  }

 private:
  // A deque, because sends are not movable.
  std::deque<Send>& sends_;
};

// A send and a receive, perhaps with the same rank. A short message leaves before this rank makes the block of its
// receive, so that it travels meanwhile. The message from `source` cannot miss the block, because no round of progress
// lies between the two steps. For long messages the receive comes first, because it sends the notice for which its
// sender waits; otherwise two ranks would wait for each other's notice.
class Exchange : public Part, public mpi_adi::Awaitable<Exchange> {
 public:
  // `bytes` each way. (Pointers, not regions: a routine builds its arguments in its coroutine frame, and a load of two
  // words right after two stores of one word each is a store-forwarding stall of 2 ns.)
  Exchange(Collective& collective, int destination, std::byte* body, int source, std::byte* landing,
           std::uint64_t bytes);
  // The send first, because the partner waits for it.
  [[nodiscard]] bool advance() { return send_.advance() && receive_.advance(); }

 private:
  // Sends a short message at once. Called between the constructions of send_ and receive_.
  [[nodiscard]] Collective& begun(std::uint64_t bytes);

  Send send_;
  // Constructed after a short message has left (begun()).
  Receive receive_;
};

// The wait until wires have taken all that the call sent.
class Flush : public Part, public mpi_adi::Awaitable<Flush> {
 public:
  // Costs a test if all messages left at once, the usual case of short ones.
  explicit Flush(Collective& collective) : Part(collective) {}
  [[nodiscard]] bool advance() { return collective_.transmissions_.empty() || taken(); }

 private:
  [[nodiscard]] bool taken();
};

}  // namespace margay::collectives
