// Construction of communicators from others (MPI 4.0, 7.4.2).
#include <algorithm>
#include <optional>

#include "collectives/comm/construct.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/collective/request_call.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"
#include "mpi/info/table.hpp"
#include "mpi_adi/object/group_ops.hpp"
#include "sim/base/processors.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;

namespace {

constexpr int kProcessorsMax = 1 << 20;  // bound of a node's resources: 1,024 nodes times this is within 2^31

// MPI requires that the group is a subset of the communicator's group (MPI 4.0, 7.4.2).
void check_subset(Call& call, const GroupPtr& group, const Communicator* communicator) {
  // The whole group is the usual case, and needs no search.
  if (call.ok() && group != communicator->group && !is_subset(*group, *communicator->group)) {
    call.error(MPI_ERR_GROUP, "a member of the group is not in the communicator's group");
  }
}

// The color of the hardware resource named by `info` to which this process is confined (MPI 4.0, 7.4.2). Colors of
// different nodes differ.
int color_of_hardware(int node, MPI_Info info) {
  const std::optional<Info> hints = info == MPI_INFO_NULL ? std::nullopt : copy_of_info(info);
  const std::string* const type = hints ? hints->find("mpi_hw_resource_type") : nullptr;
  if (type == nullptr) return MPI_UNDEFINED;
  if (*type == "mpi_shared_memory") return node;
  const std::optional<int> instance = margay::sim::hardware_instance(*type, margay::sim::allowed_processors());
  return instance ? node * kProcessorsMax + *instance : MPI_UNDEFINED;
}

// The color for MPICH's MPIX_COMM_TYPE_NEIGHBORHOOD. Only the hint for a shared folder is supported, because the
// network between processes is unknown.
int color_of_neighborhood(Call& call, Communicator& communicator, MPI_Info info) {
  const std::optional<Info> hints = info == MPI_INFO_NULL ? std::nullopt : copy_of_info(info);
  const std::string* const folder = hints ? hints->find("nbhd_common_dirname") : nullptr;
  if (folder == nullptr) return MPI_UNDEFINED;
  int color = MPI_UNDEFINED;
  record_error(call, color_of_folder(call.rank(), communicator, *folder, color));
  return color;
}

// The number of this process's node in splits of the communicator. Nodes of several jobs have the same numbers, so if
// members belong to several jobs, a hash of the job's identity and the node stands for the node.
std::uint32_t node_number(const margay::sim::Job& job, const Communicator& communicator) {
  const auto& members = communicator.group->world_ranks;
  const bool one_job =
      std::ranges::all_of(members, [&](std::uint32_t member) { return job.node_of_rank[member] < job.node_count; });
  if (one_job) return job.node;
  const std::uint64_t mixed = (job.job_id ^ job.node) * 0x9e37'79b9'7f4a'7c15U;
  return static_cast<std::uint32_t>(mixed >> 34U);
}

// The color of this process in a split by `type`.
int color_of_type(Call& call, Communicator& communicator, int type, MPI_Info info) {
  const margay::sim::Job& job = call.rank().process().job();
  const auto& node_of = job.node_of_rank;
  const auto my_node = node_number(job, communicator);
  const auto& members = communicator.group->world_ranks;
  const bool one_node =
      std::all_of(members.begin(), members.end(), [&](std::uint32_t member) { return node_of[member] == job.node; });
  switch (type) {
    case MPI_COMM_TYPE_SHARED:
      return static_cast<int>(my_node);
    case MPI_COMM_TYPE_HW_UNGUIDED:  // parts must be smaller than the communicator; only nodes are considered
      return one_node ? MPI_UNDEFINED : static_cast<int>(my_node);
    case MPI_COMM_TYPE_HW_GUIDED:
      return color_of_hardware(static_cast<int>(my_node), info);
    default:
      return color_of_neighborhood(call, communicator, info);
  }
}

std::optional<Info> hints_of(Call& call, MPI_Info info) {
  std::optional<Info> hints = info == MPI_INFO_NULL ? Info{} : copy_of_info(info);
  if (!hints) call.error(MPI_ERR_INFO, bad_info_text(info));
  return hints;
}

// The body of MPI_Comm_idup. `hints` null: none. Attributes are copied in this call, as the standard requires.
int begin(Call& call, MPI_Comm comm, const Info* hints, MPI_Comm* newcomm, MPI_Request* request) {
  Communicator* communicator = call.communicator(comm);
  call.not_null(newcomm, "newcomm");
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  Begun begun = begin_duplicate(call.rank(), *communicator, newcomm);
  if (begun.communicator == nullptr) {
    call.error(MPI_ERR_OTHER, "too many communicators are alive (262,144); free some first");
    return call.failed();
  }
  begin_request(call, Form::nonblocking, std::move(begun.task), request);
  if (!call.ok()) {
    call.rank().free_communicator(*begun.communicator);
    *newcomm = MPI_COMM_NULL;
    return call.failed();
  }
  if (hints != nullptr) begun.communicator->hints.set_from(*hints);
  // The agreement is in progress and cannot be taken back: if an attribute's function fails, the communicator has no
  // attributes.
  static_cast<void>(copy_attributes(call, *communicator, *begun.communicator));
  return call.done();
}

}  // namespace

extern "C" int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_dup">);
  Communicator* communicator = call.communicator(comm);
  call.not_null(newcomm, "newcomm");
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  return give_duplicate(call, *communicator, duplicate(call.rank(), *communicator), newcomm);
}
MARGAY_ALIAS(Comm_dup)

extern "C" int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_dup_with_info">);
  Communicator* communicator = call.communicator(comm);
  call.not_null(newcomm, "newcomm");
  const std::optional<Info> hints = hints_of(call, info);
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  return give_duplicate(call, *communicator, duplicate(call.rank(), *communicator), newcomm, &*hints);
}
MARGAY_ALIAS(Comm_dup_with_info)

extern "C" int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  Call call(call_name<"MPI_Comm_idup">);
  return begin(call, comm, nullptr, newcomm, request);
}
MARGAY_ALIAS(Comm_idup)

extern "C" int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  Call call(call_name<"MPI_Comm_idup_with_info">);
  const std::optional<Info> hints = hints_of(call, info);
  return begin(call, comm, hints ? &*hints : nullptr, newcomm, request);
}
MARGAY_ALIAS(Comm_idup_with_info)

extern "C" int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_split">);
  Communicator* communicator = call.communicator(comm);
  call.not_null(newcomm, "newcomm");
  if (call.ok() && color < 0 && color != MPI_UNDEFINED) {
    call.error(MPI_ERR_ARG, "color " + std::to_string(color) + " is below 0 and is not MPI_UNDEFINED");
  }
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  return give_communicator(call, split(call.rank(), *communicator, color, key), newcomm);
}
MARGAY_ALIAS(Comm_split)

extern "C" int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_split_type">);
  Communicator* communicator = call.intracommunicator(comm);
  call.not_null(newcomm, "newcomm");
  check_hints(call, info);
  // The types have consecutive values in MPICH's mpi.h.
  const bool known = split_type >= MPI_COMM_TYPE_SHARED && split_type <= MPIX_COMM_TYPE_NEIGHBORHOOD;
  if (!known && split_type != MPI_UNDEFINED) {
    call.error(MPI_ERR_ARG, "invalid split_type " + std::to_string(split_type) +
                                "; use MPI_COMM_TYPE_SHARED or another MPI_COMM_TYPE_ value");
  }
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  const int color = known ? color_of_type(call, *communicator, split_type, info) : MPI_UNDEFINED;
  if (!call.ok()) return call.failed();
  return give_communicator(call, split(call.rank(), *communicator, color, key), newcomm);
}
MARGAY_ALIAS(Comm_split_type)

extern "C" int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_create">);
  Communicator* communicator = call.communicator(comm);
  const GroupPtr found = checked_group(call, group);
  call.not_null(newcomm, "newcomm");
  check_subset(call, found, communicator);
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  return give_communicator(call, create(call.rank(), *communicator, found), newcomm);
}
MARGAY_ALIAS(Comm_create)

extern "C" int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_create_group">);
  Communicator* communicator = call.intracommunicator(comm);
  const GroupPtr found = checked_group(call, group);
  call.send_tag(tag);
  call.not_null(newcomm, "newcomm");
  check_subset(call, found, communicator);
  if (!call.ok()) return call.failed();
  // Processes outside the group need not call; for one that does, the call is local. No check_call(): only members of
  // the group take part, not all of the communicator.
  if (found->my_rank < 0) return give_communicator(call, {}, newcomm);
  return give_communicator(call, create_group(call.rank(), *communicator, found, tag), newcomm);
}
MARGAY_ALIAS(Comm_create_group)
