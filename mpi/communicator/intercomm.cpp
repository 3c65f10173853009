// MPI_Intercomm_create, MPI_Intercomm_merge (MPI 4.0, 7.6.2).
#include "collectives/comm/construct.hpp"

#include "mpi/call/binding.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/communicator/arguments.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                                     int tag, MPI_Comm* newintercomm) {
  Call call(call_name<"MPI_Intercomm_create">);
  Communicator* const local = call.intracommunicator(local_comm);
  call.append_communicator_argument("local_comm");
  if (local != nullptr) check_rank(call, local_leader, local->size(), "local_leader");
  call.send_tag(tag);
  call.not_null(newintercomm, "newintercomm");
  Communicator* peer = nullptr;
  // Peer and remote leader are significant at the local leader only.
  if (call.ok() && local->rank() == local_leader) {
    peer = call.communicator(peer_comm);
    call.append_communicator_argument("peer_comm");
    if (peer != nullptr) check_rank(call, remote_leader, peer->peer_count(), "remote_leader");
  }
  if (!call.ok()) return call.failed();
  // The lookup of `peer` selected that communicator's error handler; errors from here on belong to `local`.
  call.on(*local);
  check_call(call, *local);
  const Made made = join_groups(call.rank(), *local, local_leader, peer, remote_leader, tag);
  if (made.error_class == MPI_ERR_COMM) {
    call.error(MPI_ERR_COMM, "a process is in both groups; the groups of an intercommunicator are disjoint");
    return call.failed();
  }
  return give_communicator(call, made, newintercomm);
}
MARGAY_ALIAS(Intercomm_create)

extern "C" int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  Call call(call_name<"MPI_Intercomm_merge">);
  Communicator* const communicator = call.communicator(intercomm);
  call.not_null(newintracomm, "newintracomm");
  if (call.ok() && !communicator->is_inter()) call.error(MPI_ERR_COMM, "the communicator is not an intercommunicator");
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  return give_communicator(call, merge_groups(call.rank(), *communicator, high != 0), newintracomm);
}
MARGAY_ALIAS(Intercomm_merge)
