// Construction of groups from groups (MPI 4.0, 7.3.2). All calls are local, because a group is a list of ranks of the
// world.
#include "mpi/call/binding.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi_adi/object/group_ops.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;

namespace {

// This process's rank in the world, by which a new group finds the process's rank in the group.
std::uint32_t me(Call& call) {
  return call.rank().process().rank();
}

// Set operations keep the order of the first group, then of the second (MPI 4.0, 7.3.2).
using GroupOperation = GroupPtr (*)(const Group&, const Group&, std::uint32_t);

int combine(Call& call, MPI_Group group1, MPI_Group group2, MPI_Group* newgroup, GroupOperation operation) {
  const GroupPtr one = checked_group(call, group1, "group1");
  const GroupPtr other = checked_group(call, group2, "group2");
  call.not_null(newgroup, "newgroup");
  if (!call.ok()) return call.failed();
  return give_group(call, operation(*one, *other, me(call)), newgroup);
}

// Sets the error for a fault in an entry of the argument `what`.
void report_fault(Call& call, const RankFault& fault, const char* what, int size, int range_class) {
  const std::string entry =
      std::string(what) + "[" + std::to_string(fault.at) + "]: rank " + std::to_string(fault.rank);
  switch (fault.what) {
    case RankFault::What::none:
      return;
    case RankFault::What::outside:
      return call.error(range_class, entry + " is not in the group, which has " + std::to_string(size) + " members");
    case RankFault::What::twice:
      return call.error(range_class, entry + " is there twice");
    case RankFault::What::zero_stride:
      return call.error(MPI_ERR_ARG, std::string(what) + "[" + std::to_string(fault.at) + "]: the stride is 0");
    case RankFault::What::wrong_way:
      return call.error(MPI_ERR_ARG, std::string(what) + "[" + std::to_string(fault.at) +
                                         "]: the stride leads from the first rank away from the last");
  }
}

// Makes the group of the members with these ranks, or of all others.
using Choose = GroupPtr (*)(const Group&, std::span<const int>, std::uint32_t);

// The body of MPI_Group_incl and MPI_Group_excl: each rank at most once.
int choose(Call& call, MPI_Group group, int n, const int* ranks, MPI_Group* newgroup, Choose operation) {
  const GroupPtr found = checked_group(call, group);
  not_negative(call, n, "n");
  const std::span<const int> chosen = checked_array(call, ranks, n, "ranks");
  call.not_null(newgroup, "newgroup");
  if (!call.ok()) return call.failed();
  report_fault(call, check_ranks(found->size(), chosen), "ranks", found->size(), MPI_ERR_RANK);
  if (!call.ok()) return call.failed();
  return give_group(call, operation(*found, chosen, me(call)), newgroup);
}

// The body of MPI_Group_range_incl and MPI_Group_range_excl: as if all ranks of the ranges were listed.
int choose_ranges(Call& call, MPI_Group group, int n, const int (*ranges)[3], MPI_Group* newgroup, Choose operation) {
  const GroupPtr found = checked_group(call, group);
  not_negative(call, n, "n");
  if (n > 0) call.not_null(ranges, "ranges");
  call.not_null(newgroup, "newgroup");
  if (!call.ok()) return call.failed();
  std::vector<int> chosen;
  // Ranges are (first, last, stride) triplets.
  const std::span triplets(ranges, static_cast<std::size_t>(n));
  report_fault(call, expand_ranges(found->size(), triplets, chosen), "ranges", found->size(), MPI_ERR_ARG);
  if (!call.ok()) return call.failed();
  return give_group(call, operation(*found, chosen, me(call)), newgroup);
}

}  // namespace

extern "C" int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  Call call(call_name<"MPI_Group_union">);
  return combine(call, group1, group2, newgroup, &unite);
}
MARGAY_ALIAS(Group_union)

extern "C" int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  Call call(call_name<"MPI_Group_intersection">);
  return combine(call, group1, group2, newgroup, &intersect);
}
MARGAY_ALIAS(Group_intersection)

extern "C" int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  Call call(call_name<"MPI_Group_difference">);
  return combine(call, group1, group2, newgroup, &subtract);
}
MARGAY_ALIAS(Group_difference)

extern "C" int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  Call call(call_name<"MPI_Group_incl">);
  return choose(call, group, n, ranks, newgroup, &include);
}
MARGAY_ALIAS(Group_incl)

extern "C" int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  Call call(call_name<"MPI_Group_excl">);
  return choose(call, group, n, ranks, newgroup, &exclude);
}
MARGAY_ALIAS(Group_excl)

extern "C" int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  Call call(call_name<"MPI_Group_range_incl">);
  return choose_ranges(call, group, n, ranges, newgroup, &include);
}
MARGAY_ALIAS(Group_range_incl)

extern "C" int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  Call call(call_name<"MPI_Group_range_excl">);
  return choose_ranges(call, group, n, ranges, newgroup, &exclude);
}
MARGAY_ALIAS(Group_range_excl)
