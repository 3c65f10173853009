// What a communicator tells, its name, its end (MPI 4.0, chapters 7.4 and 7.8).
#include <cstring>

#include "mpi_adi/mpi/attribute_callbacks.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;

extern "C" int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  Call call(call_name<"MPI_Comm_rank">);
  const Communicator* communicator = call.communicator(comm);
  call.not_null(rank, "rank");
  if (call.ok()) *rank = communicator->rank();
  return call.done();
}
MARGAY_ALIAS(Comm_rank)

extern "C" int PMPI_Comm_size(MPI_Comm comm, int* size) {
  Call call(call_name<"MPI_Comm_size">);
  const Communicator* communicator = call.communicator(comm);
  call.not_null(size, "size");
  if (call.ok()) *size = communicator->size();
  return call.done();
}
MARGAY_ALIAS(Comm_size)

extern "C" int PMPI_Comm_free(MPI_Comm* comm) {
  Call call(call_name<"MPI_Comm_free">);
  call.not_null(comm, "comm");
  if (!call.ok()) return call.failed();
  Communicator* communicator = call.communicator(*comm);
  if (call.ok() && is_builtin(*comm)) call.error(MPI_ERR_COMM, communicator->name + " cannot be freed");
  if (!call.ok()) return call.failed();
  if (!delete_attributes(call, *communicator)) return call.failed();
  // Looked up again: a callback may have freed it.
  call.on(call.rank().world());
  communicator = call.communicator(*comm);
  if (!call.ok()) return call.failed();
  call.rank().free_communicator(*communicator);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Comm_free)

extern "C" int PMPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
  Call call(call_name<"MPI_Comm_set_name">);
  Communicator* communicator = call.communicator(comm);
  call.not_null(comm_name, "comm_name");
  if (!call.ok()) return call.failed();
  communicator->name = std::string(comm_name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Comm_set_name)

extern "C" int PMPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  Call call(call_name<"MPI_Comm_get_name">);
  const Communicator* communicator = call.communicator(comm);
  call.not_null(comm_name, "comm_name");
  call.not_null(resultlen, "resultlen");
  if (!call.ok()) return call.failed();
  std::memcpy(comm_name, communicator->name.c_str(), communicator->name.size() + 1);
  *resultlen = static_cast<int>(communicator->name.size());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Comm_get_name)
