// Collectives of neighbors in a topology (MPI 4.0, 8.6), and those that do not block (8.7, 8.8).
#include "mpi/call/binding.hpp"
#include "mpi/collective/block_call.hpp"
#include "mpi/info/table.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_allgather">);
  return move(call, {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm});
}
MARGAY_ALIAS(Neighbor_allgather)

extern "C" int PMPI_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_allgather_c">);
  return move(call, {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm});
}
MARGAY_ALIAS(Neighbor_allgather_c)

extern "C" int PMPI_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_allgather">);
  return move(call, Form::nonblocking,
              {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_allgather)

extern "C" int PMPI_Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                          MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_allgather_c">);
  return move(call, Form::nonblocking,
              {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_allgather_c)

extern "C" int PMPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                            int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                            MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_allgather_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_allgather_init)

extern "C" int PMPI_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                              MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_allgather_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_allgather_init_c)

extern "C" int PMPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        const int* recvcounts, const int* displs, MPI_Datatype recvtype,
                                        MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_allgatherv">);
  return move(call, {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm});
}
MARGAY_ALIAS(Neighbor_allgatherv)

extern "C" int PMPI_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                          MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_allgatherv_c">);
  return move(call, {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm});
}
MARGAY_ALIAS(Neighbor_allgatherv_c)

extern "C" int PMPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                         MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_allgatherv">);
  return move(call, Form::nonblocking,
              {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_allgatherv)

extern "C" int PMPI_Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_allgatherv_c">);
  return move(call, Form::nonblocking,
              {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_allgatherv_c)

extern "C" int PMPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                             const int* recvcounts, const int* displs, MPI_Datatype recvtype,
                                             MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_allgatherv_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_allgatherv_init)

extern "C" int PMPI_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                               void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* displs,
                                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                               MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_allgatherv_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_allgatherv_init_c)

extern "C" int PMPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_alltoall">);
  return move(call, {Move::neighbor_alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm});
}
MARGAY_ALIAS(Neighbor_alltoall)

extern "C" int PMPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_alltoall_c">);
  return move(call, {Move::neighbor_alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm});
}
MARGAY_ALIAS(Neighbor_alltoall_c)

extern "C" int PMPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_alltoall">);
  return move(call, Form::nonblocking,
              {Move::neighbor_alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_alltoall)

extern "C" int PMPI_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                         MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_alltoall_c">);
  return move(call, Form::nonblocking,
              {Move::neighbor_alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_alltoall_c)

extern "C" int PMPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                           MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_alltoall_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_alltoall_init)

extern "C" int PMPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                             MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_alltoall_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_alltoall_init_c)

extern "C" int PMPI_Neighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                       MPI_Datatype sendtype, void* recvbuf, const int* recvcounts, const int* rdispls,
                                       MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_alltoallv">);
  return move(call,
              {Move::neighbor_alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm});
}
MARGAY_ALIAS(Neighbor_alltoallv)

extern "C" int PMPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                         MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                         const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_alltoallv_c">);
  return move(call,
              {Move::neighbor_alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm});
}
MARGAY_ALIAS(Neighbor_alltoallv_c)

extern "C" int PMPI_Ineighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                        MPI_Datatype sendtype, void* recvbuf, const int* recvcounts, const int* rdispls,
                                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_alltoallv">);
  return move(call, Form::nonblocking,
              {Move::neighbor_alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_alltoallv)

extern "C" int PMPI_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                          MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                          const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                                          MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_alltoallv_c">);
  return move(call, Form::nonblocking,
              {Move::neighbor_alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_alltoallv_c)

extern "C" int PMPI_Neighbor_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                            MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                                            const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                            MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_alltoallv_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_alltoallv_init)

extern "C" int PMPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                              MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                              const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                                              MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_alltoallv_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
               BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_alltoallv_init_c)

extern "C" int PMPI_Neighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                                       const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                       const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_alltoallw">);
  return move(call, {Move::neighbor_alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
                     BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm});
}
MARGAY_ALIAS(Neighbor_alltoallw)

extern "C" int PMPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                         const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                         const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  Call call(call_name<"MPI_Neighbor_alltoallw_c">);
  return move(call, {Move::neighbor_alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
                     BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm});
}
MARGAY_ALIAS(Neighbor_alltoallw_c)

extern "C" int PMPI_Ineighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                                        const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                        const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                        MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_alltoallw">);
  return move(call, Form::nonblocking,
              {Move::neighbor_alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
               BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_alltoallw)

extern "C" int PMPI_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                          const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                          const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                          MPI_Request* request) {
  Call call(call_name<"MPI_Ineighbor_alltoallw_c">);
  return move(call, Form::nonblocking,
              {Move::neighbor_alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
               BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Ineighbor_alltoallw_c)

extern "C" int PMPI_Neighbor_alltoallw_init(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                                            const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                            const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                            MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_alltoallw_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
               BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_alltoallw_init)

extern "C" int PMPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                              const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                              const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                                              MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Neighbor_alltoallw_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::neighbor_alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
               BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm},
              request);
}
MARGAY_ALIAS(Neighbor_alltoallw_init_c)
