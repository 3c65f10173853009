// Tests of process sets, of sessions by handle, and of the session of a group.
#include "mpi_adi/object/session.hpp"

#include <doctest/doctest.h>

#include <array>

#include "mpi_adi/object/group_ops.hpp"

namespace margay::mpi_adi {

namespace {

constexpr std::array<std::uint32_t, 6> kNodes{0, 1, 0, 1, 1, 1};     // the node of each of six processes
constexpr std::array<std::uint32_t, 5> kWorldOfFive{0, 1, 2, 3, 4};  // of which five are one world

std::vector<std::uint32_t> members(std::string_view name, std::uint32_t me) {
  const auto set = find_process_set(name);
  REQUIRE(set);
  return members_of(*set, kWorldOfFive, kNodes, me, 7)->world_ranks.numbers();
}

}  // namespace

TEST_CASE("a process set is found by its name in upper or lower case, and has its members in the order of the world") {
  CHECK(members("mpi://WORLD", 3) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  CHECK(members("MPI://self", 3) == std::vector<std::uint32_t>{3});
  CHECK(members("mpix://NODE", 3) == std::vector<std::uint32_t>{1, 3, 4});
  for (const std::string_view name : {"", "mpi://", "mpi://WORLDS", "mpi://WORL"}) CHECK(!find_process_set(name));
  for (const std::string_view name : process_set_names()) CHECK(find_process_set(name));
}

TEST_CASE("objects made from a session's group belong to the session") {
  const GroupPtr all = members_of(ProcessSet::world, kWorldOfFive, kNodes, 1, 7);
  const GroupPtr none = make_group({4, 9}, 1);
  CHECK(all->session == 7);
  CHECK(none->session == 0);
  const std::array<int, 2> some{3, 1};
  for (const GroupPtr& made : {unite(*all, *none, 1), intersect(*all, *none, 1), subtract(*all, *none, 1),
                               include(*all, some, 1), exclude(*all, some, 1)}) {
    CHECK(made->session == 7);
  }
  CHECK(unite(*none, *all, 1)->session == 0);
}

TEST_CASE("a session's handle ends with it, and its number is never used again") {
  SessionTable table;
  Session* const first = table.add(nullptr, {});
  Session* const second = table.add(nullptr, {});
  const MPI_Session gone = first->raises.handle;
  const std::uint32_t number = first->number;
  CHECK(number != 0);
  CHECK(second->number != number);
  CHECK(table.find(gone) == first);
  table.remove(*first);
  CHECK(table.find(gone) == nullptr);
  CHECK(table.find(MPI_SESSION_NULL) == nullptr);
  Session* const third = table.add(nullptr, {});
  CHECK(third->raises.handle != gone);
  CHECK(third->number > second->number);
}

}  // namespace margay::mpi_adi
