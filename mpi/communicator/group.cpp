// Inquiries of groups, and their release (MPI 4.0, 7.3.1 and 7.3.3).
#include "mpi/call/binding.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi_adi/object/group_ops.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Group_size(MPI_Group group, int* size) {
  Call call(call_name<"MPI_Group_size">);
  const GroupPtr found = checked_group(call, group);
  call.not_null(size, "size");
  if (call.ok()) *size = found->size();
  return call.done();
}
MARGAY_ALIAS(Group_size)

extern "C" int PMPI_Group_rank(MPI_Group group, int* rank) {
  Call call(call_name<"MPI_Group_rank">);
  const GroupPtr found = checked_group(call, group);
  call.not_null(rank, "rank");
  if (call.ok()) *rank = found->my_rank < 0 ? MPI_UNDEFINED : found->my_rank;
  return call.done();
}
MARGAY_ALIAS(Group_rank)

extern "C" int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
  Call call(call_name<"MPI_Group_translate_ranks">);
  const GroupPtr from = checked_group(call, group1, "group1");
  const GroupPtr to = checked_group(call, group2, "group2");
  not_negative(call, n, "n");
  const std::span<const int> ranks = checked_array(call, ranks1, n, "ranks1");
  if (n > 0) call.not_null(ranks2, "ranks2");
  if (!call.ok()) return call.failed();
  // MPI_PROC_NULL is valid, and translates to itself (MPI 4.0, 7.3.1).
  for (const int rank : ranks) {
    if (rank != MPI_PROC_NULL) check_rank(call, rank, from->size(), "a rank of ranks1");
  }
  if (!call.ok()) return call.failed();
  // All ranks are checked by now, so a failed call has written nothing.
  translate(*from, ranks, *to, ranks2);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Group_translate_ranks)

extern "C" int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  Call call(call_name<"MPI_Group_compare">);
  const GroupPtr one = checked_group(call, group1, "group1");
  const GroupPtr other = checked_group(call, group2, "group2");
  call.not_null(result, "result");
  if (call.ok()) *result = compare(*one, *other);
  return call.done();
}
MARGAY_ALIAS(Group_compare)

// Frees the handle only: communicators and other handles keep the group.
extern "C" int PMPI_Group_free(MPI_Group* group) {
  Call call(call_name<"MPI_Group_free">);
  call.not_null(group, "group");
  if (!call.ok()) return call.failed();
  static_cast<void>(checked_group(call, *group));
  if (!call.ok()) return call.failed();
  call.rank().handles().groups().remove(*group);
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Group_free)
