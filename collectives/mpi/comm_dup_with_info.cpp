// MPI_Comm_dup_with_info (MPI 4.0, 7.4.2): a duplicate whose hints come from an info object.
#include <optional>

#include "collectives/comm/construct.hpp"
#include "mpi_adi/mpi/attribute_callbacks.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"
#include "mpi_adi/mpi/info_table.hpp"

using namespace margay::mpi_adi;
using namespace margay::collectives;

extern "C" int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_dup_with_info">);
  Communicator* communicator = call.communicator(comm);
  call.not_null(newcomm, "newcomm");
  const std::optional<Info> hints = info == MPI_INFO_NULL ? Info{} : copy_of_info(info);
  if (!hints) call.error(MPI_ERR_INFO, words_of_bad_info(info));
  if (!call.ok()) return call.failed();
  Communicator* made = duplicate(call.rank(), *communicator);
  if (made == nullptr) {
    call.error(MPI_ERR_OTHER, "no context identifier is free on all members (4,096 communicators); free some first");
  } else if (copy_attributes(call, *communicator, *made)) {
    made->hints.set_from(*hints);
  } else {
    call.rank().free_communicator(*made);
    made = nullptr;
  }
  *newcomm = made == nullptr ? MPI_COMM_NULL : made->handle;
  return call.done();
}
MARGAY_ALIAS(Comm_dup_with_info)
