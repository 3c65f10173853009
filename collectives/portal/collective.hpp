// One collective call on its way, and what its algorithm does in it: sends to and receives from other ranks of the
// communicator. Algorithms are texts that can stop (mpi_adi/device/steps); a call that blocks waits in place where one
// that does not block stops, and goes on when what it waits for has come. Under the process lock.
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

// So many to and from this rank are under way at once: a rank of thousands has blocks in its match list for these. All:
// where rank a's n-th message to b need not be b's n-th from a, as of neighbors. Who waits in a turn for a message of a
// later turn of another rank might wait for itself.
inline constexpr std::size_t kDirectAtOnce = 64;
inline constexpr std::size_t kAllAtOnce = std::numeric_limits<std::size_t>::max();

// What a rank alone knows of its part of a call, for the trace.
struct OwnPart {
  std::uint64_t bytes = 0;  // of its data, where the shape has no length
  std::optional<int> root;  // between two groups, as the call names it: a remote rank, MPI_ROOT or MPI_PROC_NULL
};

class Collective {
 public:
  // A call that blocks, which begins now. Takes the next number on `communicator`: every member's calls come in the
  // same order (MPI 4.0, 6.14). `shape`: what this member takes the call for.
  Collective(TreePortal& portal, mpi_adi::Communicator& communicator, const Shape& shape = {}, const OwnPart& own = {});
  Collective(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const Shape& shape = {});
  // The same, with a number that it has from elsewhere.
  Collective(TreePortal& portal, mpi_adi::Communicator& communicator, CallNumber number, const Shape& shape = {},
             const OwnPart& own = {});
  // One that stops in `flow`, and is woken as `task`, which both outlive it. It has its number; nothing else happens
  // before begin().
  Collective(TreePortal& portal, mpi_adi::Communicator& communicator, CallNumber number, Flow& flow,
             mpi_adi::Task& task);
  void begin(const Shape& shape, const OwnPart& own = {});
  // Waits for what was sent. Requires, of one that stops: it has awaited that (flush).
  ~Collective();
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  [[nodiscard]] int rank() const { return communicator_.rank(); }
  [[nodiscard]] int size() const { return communicator_.size(); }
  [[nodiscard]] mpi_adi::Communicator& communicator() const { return communicator_; }
  [[nodiscard]] TreePortal& portal() const { return portal_; }
  [[nodiscard]] mpi_adi::FramePool& frames() const { return flow_.frames(); }

  // Messages from here on do not meet those before. At most once in a call; every member that goes on does so. It takes
  // no number of its own: which numbers later calls have must not depend on how this one went.
  void next_phase() { phase_ = mpi_adi::kReadyBit; }
  // For a call in which all members wait for all, so that nobody runs ahead: its short messages wait for no word of
  // their receivers, in a gate either. Every member says so, before its first message. (Where messages of two members
  // alternate, round after round, a word of one round would be taken for the next one's, or come when the call is
  // over.)
  void ask_nobody() { call_.number = call_.number.without_gate(); }
  // The opposite: its short messages wait for their receivers' words too, which say what these take the call for. For a
  // call that is chosen because its data is long, and is cut into short messages: members that named less data, and do
  // not ask, would take those for theirs. Every member says so, before its first message.
  void ask_always() { asks_always_ = true; }
  // Whether a message waits until its receiver has said that it is ready: the same on both sides.
  [[nodiscard]] bool asks(std::uint64_t bytes) const {
    return bytes > kHandshakeBytes || call_.number.is_gate() || asks_always_;
  }
  // This rank's own arguments do not fit each other: the call goes on to its end, with MPI_ERR_TRUNCATE.
  void named_other_bytes() { fail(MPI_ERR_TRUNCATE); }
  // The same of a call that does not go on, as what others would get of this rank is not there: all are told.
  void refuse_call();
  // The first of: MPI_ERR_TRUNCATE, ranks named different amounts of data; MPIX_ERR_PROC_FAILED, one is lost. Else
  // MPI_SUCCESS.
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

  void fail(int error_class) {
    if (call_.error_class == MPI_SUCCESS) call_.error_class = error_class;
  }
  // From here on this call sends nothing, and says so: what it has is not whole.
  [[nodiscard]] bool gone_wrong() const { return call_.wrong || call_.error_class != MPI_SUCCESS; }
  [[nodiscard]] Word ready_word() const { return phase_ == 0 ? Word::ready : Word::ready_next_phase; }
  // `stream`: the portal that it may stream to, or none.
  void tell_ready(int source, portals::PortalIndex stream = portals::kNoPortal);
  void refuse(int destination);
  // `stamp`: what the match bits have where a message between two ranks names its source.
  [[nodiscard]] portals::MatchBits bits(int stamp) const {
    return TreePortal::bits(call_.number, stamp, communicator_.collective_context) | phase_;
  }
  // The call's two events, and what both tell. Of one that stops: its end is told where it had begun.
  void trace_begin(const OwnPart& own) const;
  void trace_end() const;
  [[nodiscard]] sim::TraceEvent trace_event(sim::TraceKind kind) const;
  // What the message of a member is told by.
  [[nodiscard]] portals::Criteria from(int source) const {
    return {.match_bits = bits(source), .source_rank = communicator_.world_rank(source)};
  }
  // Who takes the call for a short one may wait for this rank in a way of its own.
  void other_length(std::uint64_t expected_bytes);
  [[nodiscard]] bool lost(int rank) const;
  [[nodiscard]] bool any_lost() const;
  // Nothing came of what was awaited: from `member`, or from some of all.
  void fail_for_nothing(int member) {
    const bool has_lost = lost(member) || any_lost() || call_.has_said(member, Word::lost);
    fail(has_lost ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
  }
  void fail_for_nothing() {
    fail(any_lost() || call_.anybody_says(Word::lost) ? MPIX_ERR_PROC_FAILED : MPI_ERR_TRUNCATE);
  }
  // Who is told of a change of `memory`: nobody where the call looks itself.
  void own(portals::Descriptor& memory) const;
  [[nodiscard]] portals::Header header_to(int destination, std::uint64_t bytes, int stamp) const;
  void transmit(const portals::Header& header, const portals::Region& body);
  [[nodiscard]] bool all_taken() const;

  TreePortal& portal_;
  sim::Kernel& kernel_;
  mpi_adi::Communicator& communicator_;
  CallState call_;
  Flow own_flow_;
  Flow& flow_;
  bool asks_always_ = false;
  portals::MatchBits phase_ = 0;  // in the bits of the message type, which collective messages have no other use for
  std::list<sim::Transmission> under_way_;  // addresses stay; a call that has none allocates nothing
};

// What a part of a call is made of.
class Part {
 public:
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  [[nodiscard]] Flow& flow() const { return collective_.flow_; }
  // Who waits for one message looks after each whether it is there: a further look at the wires would be in vain.
  [[nodiscard]] int messages() const { return 1; }

 protected:
  explicit Part(Collective& collective) : collective_(collective) {}
  ~Part() = default;
  // A message of a member is awaited, and is here; see sim::Kernel::expect_answer.
  void expect_from(int member) const;
  void answered_by(int member) const;
  // Its end will be heard of, though nothing has ever passed between the two.
  void watch(int member) const;
  Collective& collective_;
};

// A message from `source` is to go to `landing`: from when this is made, until it has been awaited. Where asks() the
// source is told that it may send. Both sides name the same number of bytes, or get an error. At most one from each
// source in a phase of a call, unless the messages of the two alternate.
class Receive : public Part, public mpi_adi::Awaitable<Receive> {
 public:
  Receive(Collective& collective, int source, const portals::Region& landing);
  ~Receive();
  [[nodiscard]] bool advance();

 private:
  enum class Stage : std::uint8_t {
    deposit,  // its block stands in the match list
    leaving,  // out of the list; a body may still be on its way to the block
    in_heap,  // it lies, or comes to lie, in the heap
    over,
  };
  [[nodiscard]] portals::Descriptor& memory();
  [[nodiscard]] bool decided();
  [[nodiscard]] bool offered_longer() const;
  void settle();
  [[nodiscard]] bool take_from_heap();
  void wait_for_answer();
  void end();

  int source_;
  int looks_ = 0;
  Stage stage_ = Stage::deposit;
  bool expecting_ = false;
  bool asked_for_ = false;  // its sender was told that it may send
  portals::Region landing_;
  std::optional<portals::SingleBlock> single_;
  std::optional<portals::CombinedBlock> combined_;
  portals::MatchEntry entry_;
};

// What the match bits of a row have where other messages name their source. A row longer than kHandshakeBytes is sent
// only when it is asked for, which no table does.
static_assert(kHandshakeBytes <= mpi_adi::kSourceMask >> mpi_adi::kSourceShift);
[[nodiscard]] constexpr int row_stamp(std::uint64_t bytes) {
  return static_cast<int>(bytes);
}

// One message from each of `members`, each to the row of `table` that its sender names (Send::to_row): a single block
// whose offsets the senders manage, behind one entry that accepts any source. So a rank that many send to walks past
// one entry, and counts, instead of one for each. Requires: `bytes`, of each, <= kHandshakeBytes; nobody else sends to
// this rank in this phase; `members` stays.
//
// The entry accepts only messages of the table's row length, which the match bits carry where others have the source: a
// sender that names another amount of data would place its row outside the table, and the kernel would drop it. So it
// goes to the heap, where this call finds it, and no other call that is under way is told of it.
class ReceiveRows : public Part, public mpi_adi::Awaitable<ReceiveRows> {
 public:
  ReceiveRows(Collective& collective, std::span<const int> members, const portals::Region& table, std::uint64_t bytes);
  ~ReceiveRows();
  // Over when all of them are there, or a member of the communicator is lost.
  [[nodiscard]] bool advance();
  [[nodiscard]] int messages() const;

 private:
  [[nodiscard]] bool here() const;
  void watch_all() const;
  void take_from_heap();
  void end();

  std::span<const int> members_;
  portals::Region table_;
  std::uint64_t bytes_;
  int looks_ = 0;
  bool expecting_ = false;
  std::uint64_t from_heap_ = 0;  // members whose message came before the call and lay in the heap
  portals::SingleBlock single_;
  portals::MatchEntry entry_;
};

// Who sends waits here until its receiver wants it, or never will.
class ReadyWait : private Part {
 public:
  ReadyWait(Collective& collective, int destination) : Part(collective), destination_(destination) {}
  ~ReadyWait() { end(); }
  [[nodiscard]] int destination() const { return destination_; }
  [[nodiscard]] bool decided();
  void end();

 private:
  int destination_;
  int looks_ = 0;
  bool expecting_ = false;
};

// Sends, once `destination` is ready where that has to be asked; or, once ranks were found to name different calls,
// says that nothing comes. The body stays the call's until flush, or the call's end.
class Send : public Part, public mpi_adi::Awaitable<Send> {
 public:
  Send(Collective& collective, int destination, const portals::Region& body)
      : Part(collective), wait_(collective, destination), body_(body) {}
  // As row `row` of what ReceiveRows has there.
  struct Row {
    std::uint64_t number;
  };
  Send(Collective& collective, int destination, const portals::Region& body, Row row)
      : Part(collective), wait_(collective, destination), to_row_(true), row_(row.number), body_(body) {}
  [[nodiscard]] bool advance();

 private:
  void transmit();

  ReadyWait wait_;
  bool over_ = false;
  bool to_row_ = false;
  std::uint64_t row_ = 0;
  portals::Region body_;
};

// Several, each as soon as its destination is ready, whichever is first. They are over already, or stay.
class SendEach : public Part, public mpi_adi::Awaitable<SendEach> {
 public:
  SendEach(Collective& collective, std::deque<Send>& sends) : Part(collective), sends_(sends) {}
  [[nodiscard]] bool advance() {
    bool over = true;
    for (Send& send : sends_) over = send.advance() && over;
    return over;
  }

 private:
  std::deque<Send>& sends_;
};

// Sends to one rank and receives from one, perhaps the same. A short message leaves before the block for the other is
// made: it travels meanwhile, and no round of progress lies between, so the other's cannot slip past the block. A long
// one must be asked for first, or both would wait for the other's word.
class Exchange : public Part, public mpi_adi::Awaitable<Exchange> {
 public:
  // `bytes` each way. (No regions: those that a text makes where it awaits lie in its frame, and the read of two words
  // right after two stores of one is a store-forwarding stall, 2 ns each.)
  Exchange(Collective& collective, int destination, std::byte* body, int source, std::byte* landing,
           std::uint64_t bytes);
  [[nodiscard]] bool advance() { return send_.advance() && receive_.advance(); }

 private:
  [[nodiscard]] Collective& begun(std::uint64_t bytes);

  Send send_;
  Receive receive_;
};

// Until all that the call sent has been taken.
class Flush : public Part, public mpi_adi::Awaitable<Flush> {
 public:
  explicit Flush(Collective& collective) : Part(collective) {}
  [[nodiscard]] bool advance() { return collective_.under_way_.empty() || taken(); }

 private:
  [[nodiscard]] bool taken();
};

}  // namespace margay::collectives
