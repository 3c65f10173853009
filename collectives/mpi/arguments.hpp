// What the collective bindings share: checks, and a buffer as the bytes that travel.
#pragma once

#include <cstddef>
#include <memory>

#include "collectives/portal/collective.hpp"
#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/mpi/call.hpp"

namespace margay::collectives {

// The bytes of `count` elements of a checked datatype.
class TypedData {
 public:
  // To be read.
  TypedData(const void* buffer, std::int64_t count, const mpi_adi::Datatype& type)
      : region_(pieces_.to_send(buffer, count, type)) {}
  // To be filled.
  TypedData(void* buffer, std::int64_t count, mpi_adi::Datatype& type)
      : region_(pieces_.to_receive(buffer, count, type)) {}
  [[nodiscard]] const portals::Region& region() const { return region_; }

 private:
  mpi_adi::Pieces pieces_;
  portals::Region region_;
};

// Whether the handle names an intercommunicator; whether it names anything is looked at later.
[[nodiscard]] inline bool is_between_groups(mpi_adi::Call& call, MPI_Comm comm) {
  const mpi_adi::Communicator* const communicator = call.rank().communicator(comm);
  return communicator != nullptr && communicator->is_inter();
}

// MPI_IN_PLACE where the standard does not allow it, two buffers that are one.
void check_buffers(mpi_adi::Call& call, const void* send, const void* receive, std::int64_t count);

// Raises what went wrong between the ranks, if anything did.
void note_error(mpi_adi::Call& call, int error_class);
inline void note_error(mpi_adi::Call& call, const Collective& collective) {
  note_error(call, collective.error_class());
}

// The calling rank's portals for collectives.
[[nodiscard]] inline TreePortal& collectives_of(mpi_adi::Call& call) {
  return *static_cast<TreePortal*>(call.rank().collectives());
}

}  // namespace margay::collectives
