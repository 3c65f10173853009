// Groups, which are ordered sets of processes (MPI 4.0, 7.3), and the table of the groups to which a program has
// handles.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mpi_adi/object/handle_table.hpp"
#include "sim/base/peer_table.hpp"

namespace margay::mpi_adi {

// A group. Immutable; the communicators that were made from it share it. world_ranks[i] is the world rank of the
// group's rank i.
struct Group {
  // May be shared with other groups of the same members, even groups of other ranks in this process.
  sim::SharedTable world_ranks;
  int my_rank = -1;  // this process's rank in it; -1 (MPI_UNDEFINED for the program) when it is not a member
  static constexpr std::uint32_t kWorldModel = 0;
  // The session, or the world model, from which the group was derived. Communicators made of the group belong to the
  // same session.
  std::uint32_t session = kWorldModel;
  // The session number of the library's own groups. The end of a session or of the world model neither waits for their
  // messages nor gives them up.
  static constexpr std::uint32_t kNoSession = ~std::uint32_t{0};
  // The number of members. An int, because MPI counts ranks in ints.
  [[nodiscard]] int size() const { return static_cast<int>(world_ranks.size()); }
};
using GroupPtr = std::shared_ptr<const Group>;

// The table of the program's groups. MPI_GROUP_EMPTY always exists. Under the process lock. A group is deleted with its
// last user: a handle here, or a communicator.
class GroupTable {
 public:
  GroupTable() : empty_(std::make_shared<Group>()) {}
  ~GroupTable() {
    // Handles that the program never freed.
    for (Entry* entry : table_.alive()) delete entry;
  }
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;

  // Makes a handle of a group: MPI_GROUP_EMPTY for a group without members. MPI_GROUP_NULL: the table is full. Each
  // handle has an entry of its own, because several handles may name one group.
  [[nodiscard]] MPI_Group add(GroupPtr group) {
    if (group->size() == 0) return MPI_GROUP_EMPTY;
    // Owned here, so that it is deleted if the table is full.
    auto entry = std::make_unique<Entry>(Entry{std::move(group)});
    const Handle handle = table_.add(*entry);
    if (handle == 0) return MPI_GROUP_NULL;
    static_cast<void>(entry.release());
    return handle;
  }
  // The group of a handle, or nullptr.
  [[nodiscard]] GroupPtr find(MPI_Group handle) const {
    // The ABI's handle is not in the table.
    if (handle == MPI_GROUP_EMPTY) return empty_;
    const Entry* const entry = table_.find(handle);
    return entry == nullptr ? nullptr : entry->group;
  }
  // The groups that the program has not freed, with their handles.
  [[nodiscard]] std::vector<std::pair<MPI_Group, GroupPtr>> living() const {
    std::vector<std::pair<MPI_Group, GroupPtr>> groups;
    table_.for_each([&groups](Handle handle, const Entry& entry) { groups.emplace_back(handle, entry.group); });
    return groups;
  }
  // Frees a handle. Requires: find(handle) is not null. No effect on MPI_GROUP_EMPTY.
  void remove(MPI_Group handle) {
    if (handle == MPI_GROUP_EMPTY) return;
    const Entry* const entry = table_.find(handle);
    // Communicators made of the group keep it; only this handle's reference ends.
    table_.remove(handle);
    delete entry;
  }

 private:
  // The reference of one handle.
  struct Entry {
    GroupPtr group;
  };
  // The group without members; outside the table, because the ABI fixes its handle.
  GroupPtr empty_;
  HandleTable<Entry> table_{ObjectType::group};
};

}  // namespace margay::mpi_adi
