// MPI_Scatterv (MPI 4.0, 6.6), and those that do not block (6.12, 6.13).
#include "mpi/call/binding.hpp"
#include "mpi/collective/block_call.hpp"
#include "mpi/info/table.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Scatterv(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Call call(call_name<"MPI_Scatterv">);
  return move(call, {Move::scatter, BlockArguments::varying(sendbuf, sendcounts, displs, sendtype),
                     BlockArguments::even(recvbuf, recvcount, recvtype), root, comm});
}
MARGAY_ALIAS(Scatterv)

extern "C" int PMPI_Scatterv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs,
                               MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               int root, MPI_Comm comm) {
  Call call(call_name<"MPI_Scatterv_c">);
  return move(call, {Move::scatter, BlockArguments::varying(sendbuf, sendcounts, displs, sendtype),
                     BlockArguments::even(recvbuf, recvcount, recvtype), root, comm});
}
MARGAY_ALIAS(Scatterv_c)

extern "C" int PMPI_Iscatterv(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                              MPI_Request* request) {
  Call call(call_name<"MPI_Iscatterv">);
  return move(call, Form::nonblocking,
              {Move::scatter, BlockArguments::varying(sendbuf, sendcounts, displs, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), root, comm},
              request);
}
MARGAY_ALIAS(Iscatterv)

extern "C" int PMPI_Iscatterv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs,
                                MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                int root, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Iscatterv_c">);
  return move(call, Form::nonblocking,
              {Move::scatter, BlockArguments::varying(sendbuf, sendcounts, displs, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), root, comm},
              request);
}
MARGAY_ALIAS(Iscatterv_c)

extern "C" int PMPI_Scatterv_init(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
                                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Scatterv_init">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::scatter, BlockArguments::varying(sendbuf, sendcounts, displs, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), root, comm},
              request);
}
MARGAY_ALIAS(Scatterv_init)

extern "C" int PMPI_Scatterv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs,
                                    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Scatterv_init_c">);
  check_hints(call, info);
  return move(call, Form::persistent,
              {Move::scatter, BlockArguments::varying(sendbuf, sendcounts, displs, sendtype),
               BlockArguments::even(recvbuf, recvcount, recvtype), root, comm},
              request);
}
MARGAY_ALIAS(Scatterv_init_c)
