// Inquiries of communicators, their names and their release (MPI 4.0, chapters 7.4 and 7.8).
#include <algorithm>
#include <cstring>

#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"
#include "mpi_adi/object/group_ops.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "mpi_adi/rma/rma.hpp"

using namespace margay::mpi;

namespace {

// The communicator that a call is to free, with its attributes deleted; nullptr after an error.
Communicator* communicator_to_free(Call& call, MPI_Comm* comm) {
  call.not_null(comm, "comm");
  if (!call.ok()) return nullptr;
  Communicator* communicator = call.communicator(*comm);
  // MPI_COMM_WORLD and MPI_COMM_SELF exist until MPI_Finalize.
  if (call.ok() && is_builtin(*comm)) call.error(MPI_ERR_COMM, communicator->name + " cannot be freed");
  const Rma* const rma = call.rank().rma_if_any();
  if (call.ok() && rma != nullptr && rma->window_of(*communicator) != nullptr) {
    call.error(MPI_ERR_COMM, "the communicator has a window: MPI_RMA_free frees both");
  }
  if (!call.ok() || !delete_attributes(call, *communicator)) return nullptr;
  // Looked up again: an attribute's callback may have freed it. Errors then go to the world's handler.
  call.on(call.rank().worlds().world());
  return call.communicator(*comm);
}

// The communicator, which must be an intercommunicator.
Communicator* intercommunicator(Call& call, MPI_Comm comm) {
  Communicator* const found = call.communicator(comm);
  if (found == nullptr || found->is_inter()) return found;
  call.error(MPI_ERR_COMM, "the communicator is not an intercommunicator; it has no remote group");
  return nullptr;
}

// Two communicators with identical groups are congruent; a communicator is identical to itself only.
int compare(const Communicator& one, const Communicator& other) {
  if (&one == &other) return MPI_IDENT;
  if (one.is_inter() != other.is_inter()) return MPI_UNEQUAL;
  const int local = compare(*one.group, *other.group);
  const int remote = one.is_inter() ? compare(*one.remote, *other.remote) : MPI_IDENT;
  // The constants grow with the difference; see below.
  const int worse = std::max(local, remote);
  return worse == MPI_IDENT ? MPI_CONGRUENT : worse;
}
static_assert(MPI_IDENT < MPI_CONGRUENT && MPI_CONGRUENT < MPI_SIMILAR && MPI_SIMILAR < MPI_UNEQUAL);

}  // namespace

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

extern "C" int PMPI_Comm_remote_size(MPI_Comm comm, int* size) {
  Call call(call_name<"MPI_Comm_remote_size">);
  call.not_null(size, "size");
  const Communicator* communicator = intercommunicator(call, comm);
  if (call.ok()) *size = communicator->remote->size();
  return call.done();
}
MARGAY_ALIAS(Comm_remote_size)

extern "C" int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  Call call(call_name<"MPI_Comm_test_inter">);
  const Communicator* communicator = call.communicator(comm);
  call.not_null(flag, "flag");
  if (call.ok()) *flag = communicator->is_inter() ? 1 : 0;
  return call.done();
}
MARGAY_ALIAS(Comm_test_inter)

extern "C" int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  Call call(call_name<"MPI_Comm_group">);
  const Communicator* communicator = call.communicator(comm);
  call.not_null(group, "group");
  return call.ok() ? give_group(call, communicator->group, group) : call.failed();
}
MARGAY_ALIAS(Comm_group)

extern "C" int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  Call call(call_name<"MPI_Comm_remote_group">);
  call.not_null(group, "group");
  const Communicator* communicator = intercommunicator(call, comm);
  return call.ok() ? give_group(call, communicator->remote, group) : call.failed();
}
MARGAY_ALIAS(Comm_remote_group)

extern "C" int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  Call call(call_name<"MPI_Comm_compare">);
  const Communicator* one = call.communicator(comm1);
  call.append_communicator_argument("comm1");
  const Communicator* other = call.communicator(comm2);
  call.append_communicator_argument("comm2");
  call.not_null(result, "result");
  if (call.ok()) *result = compare(*one, *other);
  return call.done();
}
MARGAY_ALIAS(Comm_compare)

extern "C" int PMPI_Comm_free(MPI_Comm* comm) {
  Call call(call_name<"MPI_Comm_free">);
  Communicator* const communicator = communicator_to_free(call, comm);
  if (communicator == nullptr) return call.failed();
  call.on(call.rank().worlds().world());
  call.rank().free_communicator(*communicator);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Comm_free)

// The call waits until operations on the communicator are complete here and, for an intercommunicator, in the other
// group. Processes that met at a port have nothing else in common, so after the call either group may end, and the
// contexts may serve the next meeting: no message of this communicator is under way. No connection is closed.
extern "C" int PMPI_Comm_disconnect(MPI_Comm* comm) {
  Call call(call_name<"MPI_Comm_disconnect">);
  Communicator* const communicator = communicator_to_free(call, comm);
  if (communicator == nullptr) return call.failed();
  // MPI_Comm_free returns at once; requests keep the communicator alive.
  wait_until(call.rank(), [&] { return call.device().quiet(*communicator); });
  // If a process of the other group is dead, the call has done its part all the same.
  if (communicator->is_inter()) {
    static_cast<void>(perform(collectives_of(call), communicator->all_members(), BarrierCall{}));
  }
  call.on(call.rank().worlds().world());
  call.rank().free_communicator(*communicator);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Comm_disconnect)

extern "C" int PMPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
  Call call(call_name<"MPI_Comm_set_name">);
  Communicator* communicator = call.communicator(comm);
  call.not_null(comm_name, "comm_name");
  if (!call.ok()) return call.failed();
  communicator->name = std::string(comm_name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  // The trace gets the new name with the next event that refers to it.
  communicator->in_trace = false;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Comm_set_name)

extern "C" int PMPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  Call call(call_name<"MPI_Comm_get_name">);
  const Communicator* communicator = call.communicator(comm);
  call.not_null(comm_name, "comm_name");
  call.not_null(resultlen, "resultlen");
  if (!call.ok()) return call.failed();
  // At most MPI_MAX_OBJECT_NAME bytes with the zero: MPI_Comm_set_name truncates.
  std::memcpy(comm_name, communicator->name.c_str(), communicator->name.size() + 1);
  *resultlen = static_cast<int>(communicator->name.size());
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Comm_get_name)

extern "C" int PMPI_Comm_get_parent(MPI_Comm* parent) {
  Call call(call_name<"MPI_Comm_get_parent">);
  call.not_null(parent, "parent");
  if (!call.ok()) return call.failed();
  const Communicator* const found = call.rank().worlds().parent();
  *parent = found == nullptr ? MPI_COMM_NULL : found->handle;
  return call.done();
}
MARGAY_ALIAS(Comm_get_parent)
