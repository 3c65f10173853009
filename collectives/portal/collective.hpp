// One collective call on its way: sends to and receives from other ranks of its communicator. Blocking, under the
// process lock; algorithms are written with it.
#pragma once

#include <cstdint>
#include <deque>
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

class Collective {
 public:
  // Takes the next number on `communicator`: every member's calls come in the same order (MPI 4.0, 6.14).
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
  // Sends. The body stays the collective's until flush() or the end.
  void send(int destination, const portals::Region& body);
  // Until all that was sent has been taken.
  void flush();
  // MPI_ERR_TRUNCATE when ranks named different amounts of data, MPIX_ERR_PROC_FAILED when one is lost; else
  // MPI_SUCCESS.
  [[nodiscard]] int error_class() const { return error_class_; }

 private:
  [[nodiscard]] portals::Header header_to(int destination, portals::PortalIndex portal, std::uint64_t bytes) const;
  void await_deposit(Awaited& awaited);
  // false: it is lost.
  [[nodiscard]] bool await_ready(int destination);
  [[nodiscard]] bool lost(int rank) const;
  void transmit(const portals::Header& header, const portals::Region& body);

  mpi_adi::MpiRank& rank_;
  mpi_adi::Communicator& communicator_;
  TreePortal& portal_;
  std::uint64_t sequence_;
  int error_class_ = MPI_SUCCESS;
  std::deque<sim::Transmission> under_way_;  // addresses stay
};

}  // namespace margay::collectives
