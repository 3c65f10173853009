// MPI_Comm_dup and MPI_Comm_split (MPI 4.0, 7.4.2).
#include "collectives/comm/construct.hpp"
#include "mpi_adi/mpi/attribute_callbacks.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;
using namespace margay::collectives;

namespace {

constexpr char kUsedUp[] = "no context identifier is free on all members (4,096 communicators); free some first";

}  // namespace

extern "C" int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_dup">);
  Communicator* communicator = call.communicator(comm);
  call.not_null(newcomm, "newcomm");
  if (!call.ok()) return call.failed();
  Communicator* made = duplicate(call.rank(), *communicator);
  if (made == nullptr) call.error(MPI_ERR_OTHER, kUsedUp);
  if (made != nullptr && !copy_attributes(call, *communicator, *made)) {
    call.rank().free_communicator(*made);
    made = nullptr;
  }
  *newcomm = made == nullptr ? MPI_COMM_NULL : made->handle;
  return call.done();
}
MARGAY_ALIAS(Comm_dup)

extern "C" int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_split">);
  Communicator* communicator = call.communicator(comm);
  call.not_null(newcomm, "newcomm");
  if (call.ok() && color < 0 && color != MPI_UNDEFINED) {
    call.error(MPI_ERR_ARG, "color " + std::to_string(color) + " is below 0 and is not MPI_UNDEFINED");
  }
  if (!call.ok()) return call.failed();
  Communicator* made = nullptr;
  if (!split(call.rank(), *communicator, color, key, made)) call.error(MPI_ERR_OTHER, kUsedUp);
  *newcomm = made == nullptr ? MPI_COMM_NULL : made->handle;
  return call.done();
}
MARGAY_ALIAS(Comm_split)
