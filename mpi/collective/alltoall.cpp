// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (MPI 4.0, 6.8), and those that do not block (6.12, 6.13).
#include "mpi/call/binding.hpp"
#include "mpi/collective/block_call.hpp"
#include "mpi/info/table.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Alltoall">);
  return move(call, {Move::alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm});
}
MARGAY_ALIAS(Alltoall)

extern "C" int PMPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Alltoall_c">);
  return move(call, {Move::alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm});
}
MARGAY_ALIAS(Alltoall_c)

extern "C" int PMPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ialltoall">);
  return move(call, Form::nonblocking,
              {Move::alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Ialltoall)

extern "C" int PMPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ialltoall_c">);
  return move(call, Form::nonblocking,
              {Move::alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Ialltoall_c)

extern "C" int PMPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  Call call(call_name<"MPI_Alltoall_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Alltoall_init)

extern "C" int PMPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                    MPI_Request* request) {
  Call call(call_name<"MPI_Alltoall_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Alltoall_init_c)

extern "C" int PMPI_Alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                              void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                              MPI_Comm comm) {
  Call call(call_name<"MPI_Alltoallv">);
  return move(call, {Move::alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
                     BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm});
}
MARGAY_ALIAS(Alltoallv)

extern "C" int PMPI_Alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Alltoallv_c">);
  return move(call, {Move::alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
                     BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm});
}
MARGAY_ALIAS(Alltoallv_c)

extern "C" int PMPI_Ialltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                               void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ialltoallv">);
  return move(call, Form::nonblocking,
              {Move::alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Ialltoallv)

extern "C" int PMPI_Ialltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                 MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                 const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ialltoallv_c">);
  return move(call, Form::nonblocking,
              {Move::alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Ialltoallv_c)

extern "C" int PMPI_Alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                   MPI_Datatype sendtype, void* recvbuf, const int* recvcounts, const int* rdispls,
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Alltoallv_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Alltoallv_init)

extern "C" int PMPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                     const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  Call call(call_name<"MPI_Alltoallv_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Alltoallv_init_c)

extern "C" int PMPI_Alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls,
                              const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const int* rdispls,
                              const MPI_Datatype* recvtypes, MPI_Comm comm) {
  Call call(call_name<"MPI_Alltoallw">);
  return move(call, {Move::alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
                     BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm});
}
MARGAY_ALIAS(Alltoallw)

extern "C" int PMPI_Alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  Call call(call_name<"MPI_Alltoallw_c">);
  return move(call, {Move::alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
                     BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm});
}
MARGAY_ALIAS(Alltoallw_c)

extern "C" int PMPI_Ialltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls,
                               const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const int* rdispls,
                               const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ialltoallw">);
  return move(call, Form::nonblocking,
              {Move::alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
               BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Ialltoallw)

extern "C" int PMPI_Ialltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                 const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                 const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                 MPI_Request* request) {
  Call call(call_name<"MPI_Ialltoallw_c">);
  return move(call, Form::nonblocking,
              {Move::alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
               BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Ialltoallw_c)

extern "C" int PMPI_Alltoallw_init(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                   const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                   const int* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  Call call(call_name<"MPI_Alltoallw_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
               BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Alltoallw_init)

extern "C" int PMPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                     const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                     const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                     MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Alltoallw_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
               BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Alltoallw_init_c)
