// Construction of communicators from groups alone, without a parent (MPI 4.0, 7.4.2 and 7.6.2).
#include "collectives/comm/construct.hpp"

#include "mpi/call/binding.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi/call/session_arguments.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi/info/table.hpp"

using namespace margay::mpi;

namespace {

// The common arguments of both calls.
struct Arguments {
  // The handler first: all later errors go to it.
  Arguments(Call& call, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler, const MPI_Comm* made,
            const char* made_name) {
    raises.name = "the new communicator";
    raises.handle = MPI_COMM_NULL;
    raises.error_handler = checked_handler(call, errhandler, ObjectType::communicator);
    if (call.ok()) call.on(raises);
    check_text(call, stringtag, MPI_MAX_STRINGTAG_LEN, "stringtag");
    if (info != MPI_INFO_NULL) {
      const std::optional<Info> found = copy_of_info(info);
      if (!found) call.error(MPI_ERR_INFO, bad_info_text(info));
      if (found) hints = *found;
    }
    call.not_null(made, made_name);
  }
  Communicator raises;  // errors go to the handler of the new communicator
  Info hints;
};

void check_member(Call& call, const GroupPtr& group, const char* what) {
  if (call.ok() && group->my_rank < 0) {
    call.error(MPI_ERR_GROUP, std::string("this process is not a member of ") + what + "; only members call");
  }
}

int finish(Call& call, const Made& made, const Arguments& arguments, MPI_Comm* handle) {
  // Two agreements had one tag by chance (collectives/comm/agree).
  if (made.error_class == MPI_ERR_INTERN) {
    call.error(MPI_ERR_INTERN,
               "another communicator is made of the same processes at the same time, and its stringtag cannot be "
               "distinguished from this one; choose another");
  }
  if (made.communicator != nullptr) {
    // The communicator has no parent from which it could inherit a handler.
    made.communicator->error_handler = arguments.raises.error_handler;
    // Local: each member keeps the hints that it passed.
    made.communicator->hints.set_from(arguments.hints);
  }
  return give_communicator(call, made, handle);
}

}  // namespace

extern "C" int PMPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                                           MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  Call call(call_name<"MPI_Comm_create_from_group">);
  const Arguments arguments(call, stringtag, info, errhandler, newcomm, "newcomm");
  const GroupPtr found = checked_group(call, group);
  // An empty group has no communicator.
  if (call.ok() && found->size() == 0) return give_communicator(call, {}, newcomm);
  check_member(call, found, "group");
  if (!call.ok()) return call.failed();
  return finish(call, create_from_group(call.rank(), found, stringtag), arguments, newcomm);
}
MARGAY_ALIAS(Comm_create_from_group)

extern "C" int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                                 int remote_leader, const char* stringtag, MPI_Info info,
                                                 MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  Call call(call_name<"MPI_Intercomm_create_from_groups">);
  const Arguments arguments(call, stringtag, info, errhandler, newintercomm, "newintercomm");
  const GroupPtr local = checked_group(call, local_group, "local_group");
  check_member(call, local, "local_group");
  if (call.ok()) check_rank(call, local_leader, local->size(), "local_leader");
  // Only the leader's remote group is significant.
  std::uint32_t leader_there = 0;
  if (call.ok() && local->my_rank == local_leader) {
    const GroupPtr remote = checked_group(call, remote_group, "remote_group");
    if (call.ok()) check_rank(call, remote_leader, remote->size(), "remote_leader");
    if (call.ok()) leader_there = remote->world_ranks[static_cast<std::size_t>(remote_leader)];
  }
  if (!call.ok()) return call.failed();
  const Made made = join_from_groups(call.rank(), local, local_leader, leader_there, stringtag);
  if (made.error_class == MPI_ERR_COMM) {
    call.error(MPI_ERR_GROUP, "a process is in both groups; the groups of an intercommunicator are disjoint");
    return call.failed();
  }
  return finish(call, made, arguments, newintercomm);
}
MARGAY_ALIAS(Intercomm_create_from_groups)
