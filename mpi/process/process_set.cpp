// Inquiries of a session: its hints, its sets of processes, and groups of them (MPI 4.0, 11.3.2 and 7.3.2).
#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/call/binding.hpp"
#include "mpi/call/session_arguments.hpp"
#include "mpi/communicator/arguments.hpp"
#include "mpi/info/table.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;

namespace {

int hand_out(Call& call, Info&& made, MPI_Info* info) {
  // A copy of an Info contains the handle of the original.
  made.handle = MPI_INFO_NULL;
  const MPI_Info handle = add_info(std::move(made));
  if (handle == MPI_INFO_NULL) {
    call.error(MPI_ERR_OTHER, "too many info objects are alive (2^18); free some first");
  } else {
    *info = handle;
  }
  return call.done();
}

// Checks that the info object is valid; no hint is used.
void check_info(Call& call, MPI_Info info) {
  if (info != MPI_INFO_NULL && !copy_of_info(info)) call.error(MPI_ERR_INFO, bad_info_text(info));
}

// The members of a set; nullptr after an error.
GroupPtr checked_set(Call& call, const Session* session, const char* name) {
  check_text(call, name, MPI_MAX_PSET_NAME_LEN, "pset_name");
  if (!call.ok()) return nullptr;
  const auto set = find_process_set(name);
  if (!set) {
    call.error(MPI_ERR_ARG, std::string("pset_name '") + name + "' is not a process set of the session");
    return nullptr;
  }
  const margay::sim::Job& job = call.rank().process().job();
  // The world of the library's messages exists even where the program has not begun the world model.
  const margay::sim::SharedTable& world = call.rank().worlds().own_world().group->world_ranks;
  return members_of(*set, world, job.node_of_rank, job.rank, session->number);
}

}  // namespace

extern "C" int PMPI_Session_get_info(MPI_Session session, MPI_Info* info_used) {
  Call call(call_name<"MPI_Session_get_info">);
  const Session* const found = checked_session(call, session);
  call.not_null(info_used, "info_used");
  return call.ok() ? hand_out(call, Info(found->info), info_used) : call.failed();
}
MARGAY_ALIAS(Session_get_info)

extern "C" int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names) {
  Call call(call_name<"MPI_Session_get_num_psets">);
  static_cast<void>(checked_session(call, session));
  check_info(call, info);
  call.not_null(npset_names, "npset_names");
  // The sets are those of the job, the same for all sessions.
  if (call.ok()) *npset_names = static_cast<int>(process_set_names().size());
  return call.done();
}
MARGAY_ALIAS(Session_get_num_psets)

// If *pset_len is 0, only the length is returned. A buffer that is too short gets a truncated name.
extern "C" int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len, char* pset_name) {
  Call call(call_name<"MPI_Session_get_nth_pset">);
  static_cast<void>(checked_session(call, session));
  check_info(call, info);
  const auto names = process_set_names();
  if (n < 0 || n >= static_cast<int>(names.size())) {
    call.error(MPI_ERR_ARG,
               "n " + std::to_string(n) + " is not a process set (0 to " + std::to_string(names.size() - 1) + ")");
  }
  call.not_null(pset_len, "pset_len");
  if (call.ok() && *pset_len < 0) {
    call.error(MPI_ERR_ARG, "pset_len is " + std::to_string(*pset_len) + ", below 0");
  }
  if (call.ok() && *pset_len > 0) call.not_null(pset_name, "pset_name");
  if (!call.ok()) return call.failed();
  const std::string_view name = names[static_cast<std::size_t>(n)];
  if (*pset_len > 0) {
    // One character of the buffer is for the zero.
    const std::size_t copied_bytes = std::min(name.size(), static_cast<std::size_t>(*pset_len) - 1);
    std::memcpy(pset_name, name.data(), copied_bytes);
    pset_name[copied_bytes] = '\0';
  }
  // The length with the zero, also after truncation.
  *pset_len = static_cast<int>(name.size()) + 1;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Session_get_nth_pset)

extern "C" int PMPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info) {
  Call call(call_name<"MPI_Session_get_pset_info">);
  const GroupPtr members = checked_set(call, checked_session(call, session), pset_name);
  call.not_null(info, "info");
  if (!call.ok()) return call.failed();
  Info facts;
  facts.set("mpi_size", std::to_string(members->size()));
  return hand_out(call, std::move(facts), info);
}
MARGAY_ALIAS(Session_get_pset_info)

extern "C" int PMPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  Call call(call_name<"MPI_Group_from_session_pset">);
  call.not_null(newgroup, "newgroup");
  const Session* const found = checked_session(call, session);
  check_text(call, pset_name, MPI_MAX_PSET_NAME_LEN, "pset_name");
  if (!call.ok()) return call.failed();
  // check_text() has rejected an invalid name, so checked_set() fails for an unknown set only.
  GroupPtr members = checked_set(call, found, pset_name);
  if (members == nullptr) *newgroup = MPI_GROUP_NULL;  // for an unknown set; other errors leave it unchanged
  return call.ok() ? give_group(call, std::move(members), newgroup) : call.failed();
}
MARGAY_ALIAS(Group_from_session_pset)
