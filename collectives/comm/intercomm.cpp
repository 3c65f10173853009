#include "collectives/comm/construct.hpp"

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/comm/agree.hpp"
#include "collectives/comm/several_jobs.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/object/group_ops.hpp"
#include "sim/machine/process.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::GroupPtr;
using mpi_adi::MpiRank;

namespace {

// What a leader reports to its members in place of a number of members: the other leader is lost; the members belong to
// several jobs.
constexpr std::uint64_t kLost = 0;
constexpr std::uint64_t kSeveralJobs = ~std::uint64_t{0};

// The leaders' exchange of their members, and before them whether these belong to several jobs, so that numbers do not
// name them. Returns the number of the other members, or one of the constants above.
std::uint64_t exchange_members(MpiRank& rank, const Leaders& leaders, std::vector<std::uint64_t>& theirs) {
  const bool several = has_guests(rank, *leaders.local.group) ||
                       rank.process().is_guest(leaders.peer->world_rank(leaders.remote_leader));
  std::vector<std::uint64_t> ours{several ? 1U : 0U};
  ours.insert(ours.end(), leaders.local.group->world_ranks.begin(), leaders.local.group->world_ranks.end());
  const std::uint32_t most = rank.process().kernel().ranks() + 1;
  if (exchange_with_leader(rank, leaders, ours, theirs, most) != MPI_SUCCESS || theirs.size() < 2) return kLost;
  if (several || theirs.front() != 0) return kSeveralJobs;
  theirs.erase(theirs.begin());
  return theirs.size();
}

// The other group's processes: the leaders exchange them and broadcast them to their own members. Returns MPI_ERR_GROUP
// if they are not valid, and as learn_members_of_jobs().
int learn_remote_group(MpiRank& rank, const Leaders& leaders, std::vector<std::uint64_t>& theirs, std::string& why) {
  std::uint64_t count = kLost;
  const std::uint32_t processes = rank.process().kernel().ranks();
  if (leaders.peer != nullptr) count = exchange_members(rank, leaders, theirs);
  int error_class = MPI_SUCCESS;
  {
    Collective collective(rank, leaders.local, by_tree(Operation::bcast, leaders.local_leader, sizeof count));
    run(bcast_tree(collective, leaders.local_leader, portals::Region(&count, sizeof count)));
    error_class = collective.error_class();
  }
  if (count == kLost) return MPIX_ERR_PROC_FAILED;
  if (count == kSeveralJobs) return learn_members_of_jobs(rank, leaders, theirs, why);
  if (count > processes) return MPI_ERR_GROUP;
  theirs.resize(count);
  Collective collective(rank, leaders.local,
                        by_tree(Operation::bcast, leaders.local_leader, count * sizeof(std::uint64_t)));
  run(bcast_tree(collective, leaders.local_leader, portals::Region(theirs.data(), count * sizeof(std::uint64_t))));
  if (error_class == MPI_SUCCESS) error_class = collective.error_class();
  return error_class;
}

}  // namespace

Made join_groups(MpiRank& rank, Communicator& local, int local_leader, Communicator* peer, int remote_leader, int tag) {
  const Leaders leaders{local, local_leader, peer, remote_leader,
                        internal_tag(Agreement::intercomm, static_cast<std::uint64_t>(tag))};
  const sim::Guests::Keep keep(rank.process().guests());
  std::vector<std::uint64_t> theirs;
  std::string why;
  const int failed = learn_remote_group(rank, leaders, theirs, why);
  if (failed != MPI_SUCCESS) return {nullptr, failed, why};
  if (!mpi_adi::can_be_members(theirs, rank.process().kernel().ranks())) return {nullptr, MPI_ERR_GROUP};
  GroupPtr remote = mpi_adi::make_group({theirs.begin(), theirs.end()}, rank.process().rank(), local.group->session);
  // All members have both groups, so all find the same error.
  if (mpi_adi::intersect(*local.group, *remote, 0)->size() != 0) return {nullptr, MPI_ERR_COMM};
  // The groups are known on both sides now; only the contexts remain.
  const Agreed agreed = agree_with_leaders(rank, leaders);
  if (agreed.context < 0) return {nullptr, agreed.error_class};
  return make_communicator(rank, local.group, std::move(remote), agreed, local);
}

Made merge_groups(MpiRank& rank, Communicator& inter, bool high) {
  Communicator& all = *inter.both;
  const bool first = all.rank() == inter.rank();  // this rank's group is the first in `all`
  // The first member of each group reports its group's value.
  std::uint8_t says_high[2] = {static_cast<std::uint8_t>(high), static_cast<std::uint8_t>(high)};
  const int second_begins = first ? inter.size() : inter.peer_count();
  // Both values are needed on all members to order the groups.
  for (const int root : {0, second_begins}) {
    Collective collective(rank, all, by_tree(Operation::bcast, root, 1));
    run(bcast_tree(collective, root, portals::Region(&says_high[root == 0 ? 0 : 1], 1)));
    if (collective.error_class() != MPI_SUCCESS) return {nullptr, collective.error_class()};
  }
  const Agreed agreed = agree_among_all(rank, inter);
  if (agreed.context < 0) return {nullptr, agreed.error_class};
  GroupPtr group = all.group;
  if (says_high[0] != 0 && says_high[1] == 0) {
    group = mpi_adi::unite(first ? *inter.remote : *inter.group, *group, rank.process().rank());
  }
  return make_communicator(rank, std::move(group), nullptr, agreed, inter);
}

}  // namespace margay::collectives
