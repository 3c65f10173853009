// The hints of a communicator (MPI 4.0, 7.4.4).
#include <optional>
#include <utility>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/info/table.hpp"

using namespace margay::mpi;

// MPI_Comm_set_info is collective by the standard. Here each rank keeps its own hints, because no hint changes what is
// sent.
extern "C" int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  Call call(call_name<"MPI_Comm_set_info">);
  Communicator* communicator = call.communicator(comm);
  const std::optional<Info> hints = copy_of_info(info);
  if (!hints) call.error(MPI_ERR_INFO, bad_info_text(info));
  if (call.ok()) communicator->hints.set_from(*hints);
  return call.done();
}
MARGAY_ALIAS(Comm_set_info)

extern "C" int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  Call call(call_name<"MPI_Comm_get_info">);
  const Communicator* communicator = call.communicator(comm);
  call.not_null(info_used, "info_used");
  if (!call.ok()) return call.failed();
  Info hints;
  communicator->hints.write(hints);
  // A new object, which the program frees.
  const MPI_Info made = add_info(std::move(hints));
  if (made == MPI_INFO_NULL) {
    call.error(MPI_ERR_OTHER, "too many info objects are alive (2^18); free some first");
  } else {
    *info_used = made;
  }
  return call.done();
}
MARGAY_ALIAS(Comm_get_info)
