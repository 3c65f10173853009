// One collective call on its way: sends to and receives from other ranks of its communicator. Blocking, under the
// process lock; algorithms are written with it.
#pragma once

#include <cstdint>
#include <list>
#include <optional>

#include "collectives/portal/tree_portal.hpp"
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
  portals::Region landing_;
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
  std::uint64_t bytes_ = 0;      // of each message
  std::uint64_t awaited_ = 0;    // messages in all
  std::uint64_t from_heap_ = 0;  // of them, those that came before the call and lay in the heap
  std::optional<portals::SingleBlock> single_;
  portals::MatchEntry entry_;
};

class Collective {
 public:
  // Takes the next number on `communicator`: every member's calls come in the same order (MPI 4.0, 6.14).
  Collective(TreePortal& portal, mpi_adi::Communicator& communicator);
  Collective(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator);
  ~Collective();  // waits for what was sent
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  [[nodiscard]] int rank() const { return communicator_.rank(); }
  [[nodiscard]] int size() const { return communicator_.size(); }

  // Says that a message from `source` is to go to `landing`. With `bytes` above kHandshakeBytes the source is told that
  // it may send. Both sides name the same `bytes`.
  void expect(Awaited& awaited, int source, const portals::Region& landing);
  // Until it is there.
  void finish(Awaited& awaited);
  void receive(int source, const portals::Region& landing) {
    Awaited awaited;
    expect(awaited, source, landing);
    finish(awaited);
  }
  // Says that `count` messages of `bytes` each, from different ranks, are to go to `table`, each where its sender says
  // (send_to_table). Requires: bytes <= kHandshakeBytes; nobody else sends to this rank in this phase.
  void expect(FanIn& fan, std::uint64_t count, const portals::Region& table, std::uint64_t bytes);
  // Until all of them are there, or a member of the communicator is lost.
  void finish(FanIn& fan);
  // Sends. The body stays the collective's until flush() or the end.
  void send(int destination, const portals::Region& body);
  // Sends to a FanIn, as row `row` of its table.
  void send_to_table(int destination, const portals::Region& body, std::uint64_t row);
  // Messages from here on have the communicator's next number: they do not meet those before. Every member does so.
  void next_phase() { sequence_ = communicator_.collective_sequence++; }
  // Sends to one rank and receives from one, perhaps the same. A short message leaves before the block for the other is
  // made: it travels meanwhile, and no round of progress lies between, so the other's cannot slip past the block.
  void exchange(int destination, const portals::Region& body, int source, const portals::Region& landing);
  // Until all that was sent has been taken.
  void flush();
  // MPI_ERR_TRUNCATE when ranks named different amounts of data (both above kHandshakeBytes, or neither; otherwise they
  // wait for each other), MPIX_ERR_PROC_FAILED when one is lost; else
  // MPI_SUCCESS.
  [[nodiscard]] int error_class() const { return error_class_; }

 private:
  // `stamp`: what the match bits have where a message between two ranks names its source.
  [[nodiscard]] portals::Header header_to(int destination, portals::PortalIndex portal, std::uint64_t bytes,
                                          int stamp) const;
  // Who waits for one message looks after each whether it is there: a further look at the wires would be in vain.
  template <typename Done>
  void wait(Done done, int messages = 1) {
    if (!done()) portal_.host().wait(done, messages);
  }
  void await_deposit(Awaited& awaited);
  void take_from_heap(FanIn& fan);
  // false: it is lost.
  [[nodiscard]] bool await_ready(int destination);
  [[nodiscard]] bool lost(int rank) const;
  [[nodiscard]] bool any_lost() const;
  void transmit(const portals::Header& header, const portals::Region& body);

  TreePortal& portal_;
  sim::Kernel& kernel_;
  mpi_adi::Communicator& communicator_;
  std::uint64_t sequence_;
  int error_class_ = MPI_SUCCESS;
  std::list<sim::Transmission> under_way_;  // addresses stay; a call that has none allocates nothing
};

}  // namespace margay::collectives
