// Puts and gets (MPI 4.0, 12.3.1, 12.3.2, 12.3.5). Each MARGAY_ACCESS defines an operation and its variant that returns
// a request, both with twins for large counts.

#include "mpi/call/binding.hpp"
#include "mpi/one_sided/access_call.hpp"

using namespace margay::mpi;

MARGAY_ACCESS(Put, Rput,
              (const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Win win),
              access_call, Direction::put,
              {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
               win})

MARGAY_ACCESS(Get, Rget,
              (void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Win win),
              access_call, Direction::get,
              {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
               win})

// Accumulates (MPI 4.0, 12.3.4, 12.3.5).

using namespace margay::mpi;

MARGAY_ACCESS(Accumulate, Raccumulate,
              (const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
              accumulate_call,
              {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
               win},
              op, {})

MARGAY_ACCESS(Get_accumulate, Rget_accumulate,
              (const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, void* result_addr,
               Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
               Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
              accumulate_call,
              {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
               win},
              op, {result_addr, result_count, result_datatype, true})

// An accumulate of one element, with its result.
extern "C" int PMPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                                 MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  return accumulate_call(call_name<"MPI_Fetch_and_op">,
                         {origin_addr, 1, datatype, target_rank, target_disp, 1, datatype, win}, op,
                         {result_addr, 1, datatype, true, true});
}
MARGAY_ALIAS(Fetch_and_op)

extern "C" int PMPI_Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                                     MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win) {
  return swap_call(call_name<"MPI_Compare_and_swap">,
                   {origin_addr, 1, datatype, target_rank, target_disp, 1, datatype, win}, compare_addr, result_addr);
}
MARGAY_ALIAS(Compare_and_swap)
