// One collective call on its way: sends to and receives from other ranks of its communicator. Blocking, under the
// process lock; algorithms are written with it.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>

#include "collectives/portal/tree_portal.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::collectives {

// A message that is awaited: its block stands in the match list, or it was found in the heap. At most one from each
// source in a call.
class Awaited {
 public:
  Awaited() = default;
  ~Awaited();
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;

 private:
  friend class Collective;
  TreePortal* portal_ = nullptr;
  int source_ = 0;
  portals::Region landing_;
  bool asked_for_ = false;                      // its sender was told that it may send
  portals::ArrivedMessage* message_ = nullptr;  // found in the heap
  std::optional<portals::SingleBlock> single_;
  std::optional<portals::CombinedBlock> combined_;
  portals::MatchEntry entry_;
};

// One message from each of several ranks, into one table: a single block whose offsets the senders manage, behind one
// entry that accepts any source. So a rank that many send to walks past one entry, and counts, instead of one for each.
//
// The entry accepts only messages of the table's row length, which the match bits carry where others have the source: a
// sender that names another amount of data would place its row outside the table, and the kernel would drop it. So it
// goes to the heap, where this call finds it, and no other call that is under way is told of it.
class FanIn {
 public:
  FanIn() = default;
  ~FanIn();
  FanIn(const FanIn&) = delete;
  FanIn& operator=(const FanIn&) = delete;

 private:
  friend class Collective;
  TreePortal* portal_ = nullptr;
  portals::Region table_;
  std::uint64_t bytes_ = 0;       // of each message
  std::span<const int> members_;  // who send
  std::uint64_t from_heap_ = 0;   // of them, those that came before the call and lay in the heap
  std::optional<portals::SingleBlock> single_;
  portals::MatchEntry entry_;
};

class Collective {
 public:
  // Takes the next number on `communicator`: every member's calls come in the same order (MPI 4.0, 6.14). `shape`: what
  // this member takes the call for.
  Collective(TreePortal& portal, mpi_adi::Communicator& communicator, const Shape& shape = {});
  Collective(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const Shape& shape = {});
  ~Collective();  // waits for what was sent
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  [[nodiscard]] int rank() const { return communicator_.rank(); }
  [[nodiscard]] int size() const { return communicator_.size(); }

  // Says that a message from `source` is to go to `landing`. Where asks() the source is told that it may send. Both
  // sides name the same number of bytes, or get an error.
  void expect(Awaited& awaited, int source, const portals::Region& landing);
  // Until it is there.
  void finish(Awaited& awaited);
  void receive(int source, const portals::Region& landing) {
    Awaited awaited;
    expect(awaited, source, landing);
    finish(awaited);
  }
  // Says that a message of `bytes` from each of `members` is to go to `table`, each where its sender says
  // (send_to_table). Requires: bytes <= kHandshakeBytes; nobody else sends to this rank in this phase; `members` stays.
  void expect(FanIn& fan, std::span<const int> members, const portals::Region& table, std::uint64_t bytes);
  // Until all of them are there, or a member of the communicator is lost.
  void finish(FanIn& fan);
  // Sends, or once ranks were found to name different calls, says that nothing comes. The body stays the collective's
  // until flush() or the end.
  void send(int destination, const portals::Region& body);
  // Sends to a FanIn, as row `row` of its table.
  void send_to_table(int destination, const portals::Region& body, std::uint64_t row);
  // Messages from here on do not meet those before. At most once in a call; every member that goes on does so. It takes
  // no number of its own: which numbers later calls have must not depend on how this one went.
  void next_phase() { phase_ = mpi_adi::kReadyBit; }
  // Sends to one rank and receives from one, perhaps the same. A short message leaves before the block for the other is
  // made: it travels meanwhile, and no round of progress lies between, so the other's cannot slip past the block.
  void exchange(int destination, const portals::Region& body, int source, const portals::Region& landing);
  // Until all that was sent has been taken.
  void flush();
  // This rank's own arguments do not fit each other: the call goes on to its end, with MPI_ERR_TRUNCATE.
  void named_other_bytes() { fail(MPI_ERR_TRUNCATE); }
  // The first of: MPI_ERR_TRUNCATE, ranks named different amounts of data; MPIX_ERR_PROC_FAILED, one is lost. Else
  // MPI_SUCCESS.
  [[nodiscard]] int error_class() const { return call_.error_class; }

 private:
  // `stamp`: what the match bits have where a message between two ranks names its source.
  [[nodiscard]] portals::Header header_to(int destination, portals::PortalIndex portal, std::uint64_t bytes,
                                          int stamp) const;
  // Whether a message waits until its receiver has said that it is ready: the same on both sides.
  [[nodiscard]] bool asks(std::uint64_t bytes) const { return bytes > kHandshakeBytes || is_gate(call_.sequence); }
  // Who waits for one message looks after each whether it is there: a further look at the wires would be in vain.
  template <typename Done>
  void wait(Done done, int messages = 1) {
    if (!done()) portal_.host().wait(done, messages);
  }
  void fail(int error_class) {
    if (call_.error_class == MPI_SUCCESS) call_.error_class = error_class;
  }
  // From here on this call sends nothing, and says so: what it has is not whole.
  [[nodiscard]] bool gone_wrong() const { return call_.wrong || call_.error_class == MPI_ERR_TRUNCATE; }
  [[nodiscard]] Word ready_word() const { return phase_ == 0 ? Word::ready : Word::ready_next_phase; }
  void tell_ready(int source);
  // `stamp`: what the match bits have where a message between two ranks names its source.
  [[nodiscard]] portals::MatchBits bits(int stamp) const {
    return TreePortal::bits(call_.sequence, stamp, communicator_.collective_context) | phase_;
  }
  void await_deposit(Awaited& awaited);
  void other_length(const Awaited& awaited);
  void leave(const portals::Descriptor& memory, portals::MatchEntry& entry);
  void take_from_heap(FanIn& fan);
  // Waits until `destination` wants it. false: nothing is to be sent, and who waits for it knows, or will be told.
  [[nodiscard]] bool may_send(int destination, std::uint64_t bytes);
  [[nodiscard]] bool await_ready(int destination);
  [[nodiscard]] bool lost(int rank) const;
  [[nodiscard]] bool any_lost() const;
  void transmit(const portals::Header& header, const portals::Region& body);

  TreePortal& portal_;
  sim::Kernel& kernel_;
  mpi_adi::Communicator& communicator_;
  CallState call_;
  portals::MatchBits phase_ = 0;  // in the bits of the message type, which collective messages have no other use for
  std::list<sim::Transmission> under_way_;  // addresses stay; a call that has none allocates nothing
};

}  // namespace margay::collectives
