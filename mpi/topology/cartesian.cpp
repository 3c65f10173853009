// Cartesian topologies: inquiries and arithmetic (MPI 4.0, 8.5.1 to 8.5.7).
#include <algorithm>

#include "mpi/call/binding.hpp"
#include "mpi/communicator/arguments.hpp"

using namespace margay::mpi;

namespace {

// Checks that all coordinates fit, because MPI_Cart_coords must not return only a part of them.
void check_room(Call& call, int maxdims, const CartTopology* cart) {
  if (cart == nullptr || maxdims >= cart->ndims()) return;
  call.error(MPI_ERR_ARG, "maxdims is " + std::to_string(maxdims) + "; the grid has " + std::to_string(cart->ndims()) +
                              " dimensions");
}

}  // namespace

// Entries of dims above 0 are kept. Entries that are 0 get factors as equal as possible, in descending order
// (balance_dims).
extern "C" int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
  Call call(call_name<"MPI_Dims_create">);
  if (nnodes < 1) call.error(MPI_ERR_ARG, "nnodes is " + std::to_string(nnodes) + "; a grid has at least 1 node");
  not_negative(call, ndims, "ndims");
  const std::span<const int> given = checked_array(call, dims, ndims, "dims");
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0)
      call.error(MPI_ERR_DIMS, "dims[" + std::to_string(i) + "] is " + std::to_string(given[i]) + ", below 0");
  }
  if (!call.ok()) return call.failed();
  if (!balance_dims(nnodes, {dims, given.size()})) {
    std::string chosen;
    for (const int dim : given) chosen += (chosen.empty() ? "" : ", ") + std::to_string(dim);
    call.error(MPI_ERR_DIMS, "dims is {" + chosen + "}: that does not divide nnodes, " + std::to_string(nnodes));
  }
  return call.done();
}
MARGAY_ALIAS(Dims_create)

extern "C" int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  Call call(call_name<"MPI_Cartdim_get">);
  const CartTopology* const cart = cart_of(call, call.communicator(comm));
  call.not_null(ndims, "ndims");
  if (call.ok()) *ndims = cart->ndims();
  return call.done();
}
MARGAY_ALIAS(Cartdim_get)

// If maxdims is smaller than the number of dimensions, the results are truncated. MPI_Cart_coords needs room for all
// dimensions.
extern "C" int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  Call call(call_name<"MPI_Cart_get">);
  const Communicator* const communicator = call.communicator(comm);
  const CartTopology* const cart = cart_of(call, communicator);
  not_negative(call, maxdims, "maxdims");
  const int count = cart == nullptr ? 0 : std::min(maxdims, cart->ndims());
  if (call.ok() && count > 0) {
    call.not_null(dims, "dims");
    call.not_null(periods, "periods");
    call.not_null(coords, "coords");
  }
  if (!call.ok()) return call.failed();
  std::copy_n(cart->dims.begin(), count, dims);
  std::copy_n(cart->periods.begin(), count, periods);
  const std::vector<int> mine = cart->coords_of(communicator->rank());
  std::copy_n(mine.begin(), count, coords);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Cart_get)

extern "C" int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  Call call(call_name<"MPI_Cart_rank">);
  const CartTopology* const cart = cart_of(call, call.communicator(comm));
  const std::span<const int> at = checked_array(call, coords, cart == nullptr ? 0 : cart->ndims(), "coords");
  call.not_null(rank, "rank");
  if (!call.ok()) return call.failed();
  for (std::size_t i = 0; i < at.size(); ++i) {
    // A coordinate outside a periodic dimension wraps; outside any other dimension it is an error (MPI 4.0, 8.5.5).
    if (cart->periods[i] != 0 || (at[i] >= 0 && at[i] < cart->dims[i])) continue;
    call.error(MPI_ERR_ARG, "coords[" + std::to_string(i) + "] is " + std::to_string(at[i]) +
                                "; that dimension goes from 0 to " + std::to_string(cart->dims[i] - 1) +
                                " and is not periodic");
  }
  if (call.ok()) *rank = cart->rank_of(at);
  return call.done();
}
MARGAY_ALIAS(Cart_rank)

extern "C" int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  Call call(call_name<"MPI_Cart_coords">);
  const Communicator* const communicator = call.communicator(comm);
  const CartTopology* const cart = cart_of(call, communicator);
  if (cart != nullptr) check_rank(call, rank, communicator->size());
  check_room(call, maxdims, cart);
  if (call.ok() && cart->ndims() > 0) call.not_null(coords, "coords");
  if (!call.ok()) return call.failed();
  const std::vector<int> found = cart->coords_of(rank);
  std::copy(found.begin(), found.end(), coords);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Cart_coords)

extern "C" int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  Call call(call_name<"MPI_Cart_shift">);
  const Communicator* const communicator = call.communicator(comm);
  const CartTopology* const cart = cart_of(call, communicator);
  // A grid without dimensions, of one process, is valid (MPI 4.0, 8.5.1).
  if (cart != nullptr && cart->ndims() == 0) {
    call.error(MPI_ERR_TOPOLOGY, "the grid has no dimension to shift along");
  }
  if (cart != nullptr && (direction < 0 || direction >= cart->ndims())) {
    call.error(MPI_ERR_ARG, "direction is " + std::to_string(direction) + "; the grid's are 0 to " +
                                std::to_string(cart->ndims() - 1));
  }
  call.not_null(rank_source, "rank_source");
  call.not_null(rank_dest, "rank_dest");
  if (!call.ok()) return call.failed();
  // 64 bits, because the smallest int cannot be negated.
  *rank_source = cart->shifted(communicator->rank(), direction, -std::int64_t{disp});
  *rank_dest = cart->shifted(communicator->rank(), direction, disp);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Cart_shift)

// Ranks are not reordered: the grid takes them in order.
extern "C" int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  Call call(call_name<"MPI_Cart_map">);
  const Communicator* const communicator = call.intracommunicator(comm);
  const std::span<const int> sizes =
      checked_dims(call, ndims, dims, communicator == nullptr ? 0 : communicator->size());
  static_cast<void>(checked_array(call, periods, ndims, "periods"));
  call.not_null(newrank, "newrank");
  // A grid may have fewer places than the communicator has ranks.
  if (call.ok()) *newrank = communicator->rank() < grid_size(sizes) ? communicator->rank() : MPI_UNDEFINED;
  return call.done();
}
MARGAY_ALIAS(Cart_map)
