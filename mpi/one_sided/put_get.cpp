// Puts and gets (MPI 4.0, 12.3.1, 12.3.2, 12.3.5).
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
