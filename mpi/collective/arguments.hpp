// What the collective bindings share: checks, and a buffer as the bytes that travel.
#pragma once

#include <cstddef>
#include <memory>

#include "collectives/portal/collective.hpp"
#include "mpi/call/call.hpp"
#include "mpi_adi/device/pieces.hpp"

namespace margay::mpi {

// The bytes of `count` elements of a checked datatype.
class TypedData {
 public:
  // To be read.
  TypedData(const void* buffer, std::int64_t count, const Datatype& type)
      : region_(pieces_.to_send(buffer, count, type)) {}
  // To be filled.
  TypedData(void* buffer, std::int64_t count, Datatype& type) : region_(pieces_.to_receive(buffer, count, type)) {}
  [[nodiscard]] const portals::Region& region() const { return region_; }

 private:
  Pieces pieces_;
  portals::Region region_;
};

// Whether the handle names an intercommunicator; whether it names anything is looked at later.
[[nodiscard]] inline bool is_between_groups(Call& call, MPI_Comm comm) {
  const Communicator* const communicator = call.rank().communicator(comm);
  return communicator != nullptr && communicator->is_inter();
}

// MPI_IN_PLACE where the standard does not allow it, two buffers that are one.
void check_buffers(Call& call, const void* send, const void* receive, std::int64_t count);

// Raises what went wrong between the ranks, if anything did.
void note_error(Call& call, int error_class);
inline void note_error(Call& call, const Collective& collective) {
  note_error(call, collective.error_class());
}

// The calling rank's portals for collectives.
[[nodiscard]] inline TreePortal& collectives_of(Call& call) {
  return *static_cast<TreePortal*>(call.rank().collectives());
}

}  // namespace margay::mpi
