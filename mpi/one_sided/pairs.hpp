// Accumulates on datatypes that are made of pairs (MPI_DOUBLE_INT and its like; MPI 4.0, 6.9.4).
#pragma once

#include "mpi/layers.hpp"
#include "mpi/one_sided/arguments.hpp"
#include "mpi_adi/rma/rma.hpp"

namespace margay::mpi {

// The one pair type that all of a derived datatype is made of; 0: there is none.
[[nodiscard]] MPI_Datatype pair_of(const TypeDefinition& definition);
// Whether a pair's elements have bytes between or behind them, and so are no run of MPI_Type_size bytes each.
[[nodiscard]] bool is_padded_pair(MPI_Datatype type);
// Element by element, each an accumulate of its own: they lie apart, or a piece holds parts of two. `pair`: the
// elements' type. Requires: `access` is checked, and all its types' elements are `pair`.
void accumulate_pairs(Rma& rma, Window& window, const Access& access, const AccumulateOperands& operands,
                      const OriginData& origin, const Datatype& pair);

}  // namespace margay::mpi
