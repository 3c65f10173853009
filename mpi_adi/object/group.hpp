// Groups: ordered sets of processes, and the table of those that a program holds handles of.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mpi_adi/object/handle_table.hpp"
#include "sim/base/peer_table.hpp"

namespace margay::mpi_adi {

// Immutable; shared by the communicators made from it. ranks[i] is the world rank of the group's rank i.
struct Group {
  sim::SharedTable world_ranks;
  int my_rank = -1;  // mine in it; -1 (MPI_UNDEFINED at the interface) when this process is no member
  static constexpr std::uint32_t kWorldModel = 0;
  // The session that it came from, and with it the communicators made of it, or the world model.
  std::uint32_t session = kWorldModel;
  // The library's own, whose messages no end of the program's gives up or waits for.
  static constexpr std::uint32_t kNoSession = ~std::uint32_t{0};
  [[nodiscard]] int size() const { return static_cast<int>(world_ranks.size()); }
};
using GroupPtr = std::shared_ptr<const Group>;

// The groups that a program holds handles of.

// Used under the process lock. MPI_GROUP_EMPTY is always there.
class GroupTable {
 public:
  GroupTable() : empty_(std::make_shared<Group>()) {}
  ~GroupTable() {
    for (Entry* entry : table_.alive()) delete entry;
  }
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;

  // A handle of a group; MPI_GROUP_EMPTY of one without members. MPI_GROUP_NULL: the table is full.
  [[nodiscard]] MPI_Group add(GroupPtr group) {
    if (group->size() == 0) return MPI_GROUP_EMPTY;
    auto entry = std::make_unique<Entry>(Entry{std::move(group)});
    const Handle handle = table_.add(*entry);
    if (handle == 0) return MPI_GROUP_NULL;
    static_cast<void>(entry.release());
    return handle;
  }
  // nullptr: no such living group.
  [[nodiscard]] GroupPtr find(MPI_Group handle) const {
    if (handle == MPI_GROUP_EMPTY) return empty_;
    const Entry* const entry = table_.find(handle);
    return entry == nullptr ? nullptr : entry->group;
  }
  // Groups that the program has not freed, with their handles.
  [[nodiscard]] std::vector<std::pair<MPI_Group, GroupPtr>> living() const {
    std::vector<std::pair<MPI_Group, GroupPtr>> groups;
    table_.for_each([&groups](Handle handle, const Entry& entry) { groups.emplace_back(handle, entry.group); });
    return groups;
  }
  // Requires: find(handle) is not null. MPI_GROUP_EMPTY stays.
  void remove(MPI_Group handle) {
    if (handle == MPI_GROUP_EMPTY) return;
    const Entry* const entry = table_.find(handle);
    table_.remove(handle);
    delete entry;
  }

 private:
  struct Entry {
    GroupPtr group;
  };
  GroupPtr empty_;
  HandleTable<Entry> table_{ObjectType::group};
};

}  // namespace margay::mpi_adi
