// Puts and gets (MPI 4.0, 12.3.1, 12.3.2, 12.3.5).
#include "mpi/call/binding.hpp"
#include "mpi/one_sided/access_call.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                        MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  return access_call(
      call_name<"MPI_Put">, Direction::put,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win});
}
MARGAY_ALIAS(Put)

extern "C" int PMPI_Put_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
                          MPI_Win win) {
  return access_call(
      call_name<"MPI_Put_c">, Direction::put,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win});
}
MARGAY_ALIAS(Put_c)

extern "C" int PMPI_Rput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                         MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
                         MPI_Request* request) {
  return access_call(
      call_name<"MPI_Rput">, Direction::put,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win},
      request);
}
MARGAY_ALIAS(Rput)

extern "C" int PMPI_Rput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
                           MPI_Win win, MPI_Request* request) {
  return access_call(
      call_name<"MPI_Rput_c">, Direction::put,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win},
      request);
}
MARGAY_ALIAS(Rput_c)

extern "C" int PMPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                        MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  return access_call(
      call_name<"MPI_Get">, Direction::get,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win});
}
MARGAY_ALIAS(Get)

extern "C" int PMPI_Get_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                          MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
  return access_call(
      call_name<"MPI_Get_c">, Direction::get,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win});
}
MARGAY_ALIAS(Get_c)

extern "C" int PMPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                         MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
                         MPI_Request* request) {
  return access_call(
      call_name<"MPI_Rget">, Direction::get,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win},
      request);
}
MARGAY_ALIAS(Rget)

extern "C" int PMPI_Rget_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                           MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
                           MPI_Request* request) {
  return access_call(
      call_name<"MPI_Rget_c">, Direction::get,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win},
      request);
}
MARGAY_ALIAS(Rget_c)
