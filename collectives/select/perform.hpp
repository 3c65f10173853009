// The collective operations whose algorithm is chosen: chooses and runs. Collective over the communicator; under the
// process lock. Each returns MPI_SUCCESS or what Collective::error_class() says.
#pragma once

#include <cstddef>

#include "collectives/op/reducer.hpp"
#include "collectives/portal/collective.hpp"

namespace margay::collectives {

[[nodiscard]] int perform_barrier(TreePortal& portal, mpi_adi::Communicator& communicator);
// The last barrier of a communicator: when nothing was agreed on for it yet, that is not done for this one call.
[[nodiscard]] int perform_last_barrier(TreePortal& portal, mpi_adi::Communicator& communicator);
// As bcast_tree.
[[nodiscard]] int perform_bcast(TreePortal& portal, mpi_adi::Communicator& communicator, int root,
                                const portals::Region& data);

// `partial`: this rank's contribution, `count` elements of `element_bytes`; becomes the result (reduce: at the root,
// elsewhere it is used up). The order of ranks is kept unless the operation commutes.
struct Reduction {
  std::byte* partial;
  std::size_t count;
  std::size_t element_bytes;
  Reducer combine;
  [[nodiscard]] std::uint64_t bytes() const { return count * element_bytes; }
};
[[nodiscard]] int perform_reduce(TreePortal& portal, mpi_adi::Communicator& communicator, int root,
                                 const Reduction& reduction);
// Every member ends with the same bits.
[[nodiscard]] int perform_allreduce(TreePortal& portal, mpi_adi::Communicator& communicator,
                                    const Reduction& reduction);

}  // namespace margay::collectives
