// Parts of arrays as datatypes (MPI 4.0, 5.1.3 and 5.1.4).
#include <utility>

#include "mpi/call/binding.hpp"
#include "mpi/datatype/type_call.hpp"
#include "mpi_adi/datatype/construct.hpp"

using namespace margay::mpi;

namespace {

void check_order(Call& call, int order) {
  if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN) return;
  call.error(MPI_ERR_ARG, "order is " + std::to_string(order) + ", neither MPI_ORDER_C nor MPI_ORDER_FORTRAN");
}

void check_positive(Call& call, int value, const char* what) {
  if (value <= 0) call.error(MPI_ERR_ARG, std::string(what) + " is " + std::to_string(value) + ", below 1");
}

// `Count` is int, or MPI_Count in the constructors for large counts.
template <typename Count>
struct Arrays {
  std::span<const Count> array;
  std::span<const int> distribution, argument, processes;
};

// The distribution of dimension `i`; sets the call's error if the arguments are invalid. `coordinate`: the process's
// coordinate in this dimension of the grid.
template <typename Count>
Distribution dealt(Call& call, const Arrays<Count>& in, std::size_t i, std::int64_t coordinate) {
  const std::int64_t array = in.array[i];
  const std::int64_t processes = in.processes[i];
  const int argument = in.argument[i];
  const bool by_default = argument == MPI_DISTRIBUTE_DFLT_DARG;
  if (!by_default && argument <= 0) {
    bad_element(call, "array_of_dargs", i, argument, "below 1 and not MPI_DISTRIBUTE_DFLT_DARG");
  }
  switch (in.distribution[i]) {
    case MPI_DISTRIBUTE_BLOCK: {
      // Rounded up, so that all processes' blocks together cover the array.
      const std::int64_t block = by_default ? (array - 1) / processes + 1 : argument;
      if (!by_default && block * processes < array)
        bad_element(call, "array_of_dargs", i, argument, "too small for the dimension");
      return {array, block, processes, coordinate};
    }
    case MPI_DISTRIBUTE_CYCLIC:
      return {array, by_default ? 1 : argument, processes, coordinate};
    // The dimension stays whole on every process.
    case MPI_DISTRIBUTE_NONE:
      if (processes != 1) bad_element(call, "array_of_psizes", i, processes, "not 1 with MPI_DISTRIBUTE_NONE");
      return {array, array, 1, 0};
    default:
      bad_element(call, "array_of_distribs", i, in.distribution[i], "not an MPI_DISTRIBUTE_ value");
      return {};
  }
}

// The part of each dimension that belongs to process `rank` of `size` (arguments of the call, not a communicator's).
// Ranks number the grid of processes with the last dimension fastest.
template <typename Count>
std::vector<Distribution> dimensions_of(Call& call, const Arrays<Count>& in, int size, int rank) {
  std::int64_t grid = 1;
  for (std::size_t i = 0; i < in.array.size(); ++i) {
    if (in.array[i] <= 0) bad_element(call, "array_of_gsizes", i, in.array[i], "below 1");
    if (in.processes[i] <= 0) bad_element(call, "array_of_psizes", i, in.processes[i], "below 1");
    // -1: the product overflows, or an argument is invalid. It differs from any size, so the call fails below.
    if (!call.ok() || __builtin_mul_overflow(grid, static_cast<std::int64_t>(in.processes[i]), &grid)) grid = -1;
  }
  if (grid != size) {
    call.error(MPI_ERR_ARG, "size is " + std::to_string(size) + "; array_of_psizes makes a grid of " +
                                (grid < 0 ? "more than 2^63" : std::to_string(grid)));
  }
  std::vector<Distribution> dimensions;
  if (!call.ok()) return dimensions;
  // Decomposes the rank into coordinates, the first dimension slowest (MPI 4.0, 5.1.4).
  std::int64_t rest = rank;
  for (std::size_t i = 0; i < in.array.size(); ++i) {
    grid /= in.processes[i];
    dimensions.push_back(dealt(call, in, i, rest / grid));
    rest %= grid;
  }
  return dimensions;
}

// A part of an array, as one type of the array's extent (MPI 4.0, 5.1.3).
template <typename Count>
int subarray(Call& call, int ndims, const Count first_sizes[], const Count first_subsizes[], const Count first_starts[],
             int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  check_positive(call, ndims, "ndims");
  const auto sizes = array(call, first_sizes, ndims, "array_of_sizes");
  const auto subsizes = array(call, first_subsizes, ndims, "array_of_subsizes");
  const auto starts = array(call, first_starts, ndims, "array_of_starts");
  for (std::size_t i = 0; call.ok() && i < sizes.size(); ++i) {
    if (sizes[i] <= 0) bad_element(call, "array_of_sizes", i, sizes[i], "below 1");
    if (subsizes[i] < 0) bad_element(call, "array_of_subsizes", i, subsizes[i], "below 0");  // 0: an empty part
    if (subsizes[i] > sizes[i]) bad_element(call, "array_of_subsizes", i, subsizes[i], "above the array's size");
    if (starts[i] < 0) bad_element(call, "array_of_starts", i, starts[i], "below 0");
    if (starts[i] > sizes[i] - subsizes[i]) {
      bad_element(call, "array_of_starts", i, starts[i], "so that the part ends outside the array");
    }
  }
  check_order(call, order);
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  TypeOrigin origin = origin_of(MPI_COMBINER_SUBARRAY, {sizes, subsizes, starts}, {}, {old});
  // The order of MPI_Type_get_contents (MPI 4.0, 5.1.13).
  origin.integers.insert(origin.integers.begin(), ndims);
  origin.integers.push_back(order);
  return hand_out_type(call, make_subarray(sizes, subsizes, starts, order, old, std::move(origin)), newtype);
}

// The part of a distributed array that one process has, by the distribution of High Performance Fortran (MPI 4.0,
// 5.1.4).
template <typename Count>
int darray(Call& call, int size, int rank, int ndims, const Count gsizes[], const int distribs[], const int dargs[],
           const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  check_positive(call, size, "size");
  if (rank < 0 || rank >= size) {
    call.error(MPI_ERR_RANK,
               "rank is " + std::to_string(rank) + ", not one of 0 to size - 1 (size is " + std::to_string(size) + ")");
  }
  check_positive(call, ndims, "ndims");
  Arrays<Count> in;
  in.array = array(call, gsizes, ndims, "array_of_gsizes");
  in.distribution = array(call, distribs, ndims, "array_of_distribs");
  in.argument = array(call, dargs, ndims, "array_of_dargs");
  in.processes = array(call, psizes, ndims, "array_of_psizes");
  check_order(call, order);
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  const std::vector<Distribution> dimensions = dimensions_of(call, in, size, rank);
  if (!call.ok()) return call.failed();
  TypeOrigin origin{MPI_COMBINER_DARRAY, {size, rank, ndims}, {}, {old}};
  append(kept_numbers<Count>(origin), in.array);
  for (const auto& some : {in.distribution, in.argument, in.processes}) append(origin.integers, some);
  origin.integers.push_back(order);
  return hand_out_type(call, make_darray(dimensions, order, old, std::move(origin)), newtype);
}

}  // namespace

MARGAY_TWINS(Type_create_subarray,
             (int ndims, const Count array_of_sizes[], const Count array_of_subsizes[], const Count array_of_starts[],
              int order, MPI_Datatype oldtype, MPI_Datatype* newtype),
             {
               Call call(called);
               return subarray(call, ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, oldtype,
                               newtype);
             })

MARGAY_TWINS(Type_create_darray,
             (int size, int rank, int ndims, const Count array_of_gsizes[], const int array_of_distribs[],
              const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype,
              MPI_Datatype* newtype),
             {
               Call call(called);
               return darray(call, size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs,
                             array_of_psizes, order, oldtype, newtype);
             })
