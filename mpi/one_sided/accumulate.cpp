// Accumulates (MPI 4.0, 12.3.4, 12.3.5).
#include "mpi/call/binding.hpp"
#include "mpi/one_sided/access_call.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                               MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                               MPI_Win win) {
  return accumulate_call(
      call_name<"MPI_Accumulate">,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win}, op,
      {});
}
MARGAY_ALIAS(Accumulate)

extern "C" int PMPI_Accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                 int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                 MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return accumulate_call(
      call_name<"MPI_Accumulate_c">,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win}, op,
      {});
}
MARGAY_ALIAS(Accumulate_c)

extern "C" int PMPI_Raccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
                                MPI_Op op, MPI_Win win, MPI_Request* request) {
  return accumulate_call(
      call_name<"MPI_Raccumulate">,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win}, op,
      {}, request);
}
MARGAY_ALIAS(Raccumulate)

extern "C" int PMPI_Raccumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                  int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                  MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  return accumulate_call(
      call_name<"MPI_Raccumulate_c">,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win}, op,
      {}, request);
}
MARGAY_ALIAS(Raccumulate_c)

extern "C" int PMPI_Get_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                   void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
                                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                                   MPI_Win win) {
  return accumulate_call(
      call_name<"MPI_Get_accumulate">,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win}, op,
      {result_addr, result_count, result_datatype, true});
}
MARGAY_ALIAS(Get_accumulate)

extern "C" int PMPI_Get_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                     void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                                     int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return accumulate_call(
      call_name<"MPI_Get_accumulate_c">,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win}, op,
      {result_addr, result_count, result_datatype, true});
}
MARGAY_ALIAS(Get_accumulate_c)

extern "C" int PMPI_Rget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                    void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
                                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                                    MPI_Win win, MPI_Request* request) {
  return accumulate_call(
      call_name<"MPI_Rget_accumulate">,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win}, op,
      {result_addr, result_count, result_datatype, true}, request);
}
MARGAY_ALIAS(Rget_accumulate)

extern "C" int PMPI_Rget_accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                                      void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  return accumulate_call(
      call_name<"MPI_Rget_accumulate_c">,
      {origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win}, op,
      {result_addr, result_count, result_datatype, true}, request);
}
MARGAY_ALIAS(Rget_accumulate_c)

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
