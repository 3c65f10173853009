// MPI_Gatherv and MPI_Allgatherv (MPI 4.0, 6.5 and 6.7), and those that do not block (6.12, 6.13).
#include "mpi/call/binding.hpp"
#include "mpi/collective/block_call.hpp"
#include "mpi/info/table.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int* recvcounts, const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Call call(call_name<"MPI_Gatherv">);
  return move(call, {Move::gather, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), root, comm});
}
MARGAY_ALIAS(Gatherv)

extern "C" int PMPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
                              MPI_Comm comm) {
  Call call(call_name<"MPI_Gatherv_c">);
  return move(call, {Move::gather, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), root, comm});
}
MARGAY_ALIAS(Gatherv_c)

extern "C" int PMPI_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int* recvcounts, const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                             MPI_Request* request) {
  Call call(call_name<"MPI_Igatherv">);
  return move(call, Form::nonblocking,
              {Move::gather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), root, comm},
              request);
}
MARGAY_ALIAS(Igatherv)

extern "C" int PMPI_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
                               MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Igatherv_c">);
  return move(call, Form::nonblocking,
              {Move::gather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), root, comm},
              request);
}
MARGAY_ALIAS(Igatherv_c)

extern "C" int PMPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int* recvcounts, const int* displs, MPI_Datatype recvtype, int root,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Gatherv_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::gather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), root, comm},
              request);
}
MARGAY_ALIAS(Gatherv_init)

extern "C" int PMPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Gatherv_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::gather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), root, comm},
              request);
}
MARGAY_ALIAS(Gatherv_init_c)

extern "C" int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  Call call(call_name<"MPI_Allgatherv">);
  return move(call, {Move::allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm});
}
MARGAY_ALIAS(Allgatherv)

extern "C" int PMPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                 MPI_Comm comm) {
  Call call(call_name<"MPI_Allgatherv_c">);
  return move(call, {Move::allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                     BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm});
}
MARGAY_ALIAS(Allgatherv_c)

extern "C" int PMPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request* request) {
  Call call(call_name<"MPI_Iallgatherv">);
  return move(call, Form::nonblocking,
              {Move::allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Iallgatherv)

extern "C" int PMPI_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Iallgatherv_c">);
  return move(call, Form::nonblocking,
              {Move::allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Iallgatherv_c)

extern "C" int PMPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Allgatherv_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Allgatherv_init)

extern "C" int PMPI_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype,
                                      MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Allgatherv_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
               BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm},
              request);
}
MARGAY_ALIAS(Allgatherv_init_c)
