#include "collectives/comm/construct.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/comm/agree.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/object/group_ops.hpp"
#include "sim/machine/process.hpp"
#include "sim/trace/folder.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::GroupPtr;
using mpi_adi::MpiRank;

namespace {

struct ColorAndKey {
  int color;
  int key;
};

// All members' choices, in the order of parent.all_members().
int gather_choices(MpiRank& rank, Communicator& all, ColorAndKey mine, std::vector<ColorAndKey>& choices) {
  choices.resize(static_cast<std::size_t>(all.size()));
  int error_class = MPI_SUCCESS;
  {
    Collective collective(rank, all, by_tree(Operation::gather, 0, sizeof mine));
    run(gather_tree(collective, {0, portals::Region(&mine, sizeof mine), sizeof mine,
                                 reinterpret_cast<std::byte*>(choices.data())}));
    error_class = collective.error_class();
  }
  Collective collective(rank, all, by_tree(Operation::bcast, 0, choices.size() * sizeof(ColorAndKey)));
  run(bcast_tree(collective, 0, portals::Region(choices.data(), choices.size() * sizeof(ColorAndKey))));
  return error_class != MPI_SUCCESS ? error_class : collective.error_class();
}

// The ranks in parent.all_members() at which the two groups of an intercommunicator begin; an intracommunicator's group
// begins at 0.
int begin_of_local(const Communicator& parent) {
  return parent.both == nullptr ? 0 : parent.both->rank() - parent.rank();
}
int begin_of_remote(const Communicator& parent) {
  return begin_of_local(parent) == 0 ? parent.size() : 0;
}

// The members of `group`, whose choices begin at `begin`, that chose `color`.
GroupPtr choosers(MpiRank& rank, const mpi_adi::Group& group, const std::vector<ColorAndKey>& choices, int begin,
                  int color) {
  const auto choice = [&choices, begin](int member) {
    return choices[static_cast<std::size_t>(begin) + static_cast<std::size_t>(member)];
  };
  std::vector<int> members;
  for (int member = 0; member < group.size(); ++member) {
    if (choice(member).color == color) members.push_back(member);
  }
  // Stable: equal keys keep the order of ranks (MPI 4.0, 7.4.2).
  std::stable_sort(members.begin(), members.end(), [&](int a, int b) { return choice(a).key < choice(b).key; });
  return include(group, members, rank.process().rank());
}

// Broadcasts the processes that `root` of `all` names. Returns MPI_ERR_GROUP if they are not valid.
int broadcast_group(MpiRank& rank, Communicator& all, int root, std::vector<std::uint64_t>& world_ranks) {
  const std::uint32_t processes = rank.process().kernel().ranks();
  std::uint64_t count = world_ranks.size();
  int error_class = MPI_SUCCESS;
  {
    Collective collective(rank, all, by_tree(Operation::bcast, root, sizeof count));
    run(bcast_tree(collective, root, portals::Region(&count, sizeof count)));
    error_class = collective.error_class();
  }
  // The length comes from another process, which may have made another call.
  if (count > processes) return MPI_ERR_GROUP;
  world_ranks.resize(count);
  Collective collective(rank, all, by_tree(Operation::bcast, root, count * sizeof(std::uint64_t)));
  run(bcast_tree(collective, root, portals::Region(world_ranks.data(), count * sizeof(std::uint64_t))));
  if (error_class == MPI_SUCCESS) error_class = collective.error_class();
  if (error_class == MPI_SUCCESS && !mpi_adi::can_be_members(world_ranks, processes)) return MPI_ERR_GROUP;
  return error_class;
}

}  // namespace

Made make_communicator(MpiRank& rank, GroupPtr group, GroupPtr remote, const mpi_adi::AgreedContext& agreed,
                       const Communicator& parent) {
  Communicator* const made = rank.handles().add_communicator(std::move(group), std::move(remote), parent.error_handler);
  if (made == nullptr) {
    return_context(rank, agreed.context);
    return {nullptr, MPI_ERR_OTHER};
  }
  mpi_adi::Worlds::set_context(*made, agreed);
  return {made, MPI_SUCCESS};
}

Made duplicate(MpiRank& rank, Communicator& parent) {
  const Agreed agreed = agree_among_all(rank, parent);
  if (agreed.context < 0) return {nullptr, agreed.error_class};
  const Made made = make_communicator(rank, parent.group, parent.remote, agreed, parent);
  // The ranks are the same, so the topology fits the duplicate, too.
  if (made.communicator != nullptr) made.communicator->topology = parent.topology;
  return made;
}

Begun begin_duplicate(MpiRank& rank, Communicator& parent, MPI_Comm* handle) {
  Communicator* const made = rank.handles().add_communicator(parent.group, parent.remote, parent.error_handler);
  if (made == nullptr) return {};
  made->topology = parent.topology;
  *handle = made->handle;
  return {made, duplication(rank, parent, *made, handle)};
}

Made split(MpiRank& rank, Communicator& parent, int color, int key) {
  std::vector<ColorAndKey> choices;
  if (const int failed = gather_choices(rank, parent.all_members(), {color, key}, choices); failed != MPI_SUCCESS) {
    return {nullptr, failed};
  }
  // One pair of contexts serves all new communicators, because they have no member in common.
  const Agreed agreed = agree_among_all(rank, parent);
  if (agreed.context < 0) return {nullptr, agreed.error_class};
  GroupPtr remote;
  if (color != MPI_UNDEFINED && parent.is_inter()) {
    remote = choosers(rank, *parent.remote, choices, begin_of_remote(parent), color);
  }
  // A color that no member of the other group chose makes no intercommunicator (MPI 4.0, 7.6.2).
  if (color == MPI_UNDEFINED || (remote != nullptr && remote->size() == 0)) {
    return_context(rank, agreed.context);
    return {};
  }
  return make_communicator(rank, choosers(rank, *parent.group, choices, begin_of_local(parent), color),
                           std::move(remote), agreed, parent);
}

Made create(MpiRank& rank, Communicator& parent, const GroupPtr& group) {
  GroupPtr remote;
  if (parent.is_inter()) {
    // The first member of each group broadcasts its new group to both.
    std::vector<std::uint64_t> ours(group->world_ranks.begin(), group->world_ranks.end()), theirs;
    for (const bool first : {true, false}) {
      const bool local = (begin_of_local(parent) == 0) == first;
      const int root = local ? begin_of_local(parent) : begin_of_remote(parent);
      const int failed = broadcast_group(rank, *parent.both, root, local ? ours : theirs);
      if (failed != MPI_SUCCESS) return {nullptr, failed};
    }
    remote = mpi_adi::make_group({theirs.begin(), theirs.end()}, rank.process().rank(), parent.group->session);
  }
  const Agreed agreed = agree_among_all(rank, parent);
  if (agreed.context < 0) return {nullptr, agreed.error_class};
  if (group->my_rank < 0 || (remote != nullptr && remote->size() == 0)) {
    return_context(rank, agreed.context);
    return {};
  }
  return make_communicator(rank, group, std::move(remote), agreed, parent);
}

Made create_group(MpiRank& rank, Communicator& parent, const GroupPtr& group, int tag) {
  // Distinguishes this agreement from simultaneous ones of the same members.
  const int apart = internal_tag(Agreement::create_group, static_cast<std::uint64_t>(tag));
  const Agreed agreed = agree_among(rank, parent, group, apart);
  if (agreed.context < 0) return {nullptr, agreed.error_class};
  return make_communicator(rank, group, nullptr, agreed, parent);
}

namespace {

// Identifies a folder on a host. Members exchange it as bytes. found: 1 if the path is a folder.
struct FolderId {
  std::array<std::uint8_t, 16> host{};
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::uint64_t found = 0;
  friend bool operator==(const FolderId&, const FolderId&) = default;
};

FolderId folder_id(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return {};
  return {sim::host_identity(), about.st_dev, about.st_ino, 1};
}

}  // namespace

int color_of_folder(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const std::string& path, int& color) {
  FolderId mine = folder_id(path);
  std::vector<FolderId> all(static_cast<std::size_t>(communicator.size()));
  auto* const bytes = reinterpret_cast<std::byte*>(all.data());
  Collective up(rank, communicator, by_tree(Operation::gather, 0, sizeof mine));
  run(gather_tree(up, {0, portals::Region(&mine, sizeof mine), sizeof mine, bytes}));
  Collective down(rank, communicator, by_tree(Operation::bcast, 0, all.size() * sizeof mine));
  run(bcast_tree(down, 0, portals::Region(bytes, all.size() * sizeof mine)));
  const auto first = std::find(all.begin(), all.end(), mine);
  color = mine.found == 0 ? MPI_UNDEFINED : static_cast<int>(first - all.begin());
  return up.error_class() != MPI_SUCCESS ? up.error_class() : down.error_class();
}

}  // namespace margay::collectives
