// Subgrids: section 4.4.5.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "libraries/zipcode/call.hpp"
#include "libraries/zipcode/opening.hpp"
#include "libraries/zipcode/program_call.hpp"

namespace margay::zipcode::core {

namespace {

// A subgrid: the ranks of its members in the grid, and its extents.
struct Subgrid {
  std::vector<int> ranks;
  std::array<int, 3> first{}, last{};
  [[nodiscard]] std::array<int, 3> shape() const {
    return {last[0] - first[0] + 1, last[1] - first[1] + 1, last[2] - first[2] + 1};
  }
};

// The subgrid number of each process of the grid, by the program's function.
template <typename Select>
std::map<int, Subgrid> select_all(Session& session, const ZIP_MAILER& grid, Select select) {
  std::map<int, Subgrid> subgrids;
  for (int rank = 0; rank < grid.size(); ++rank) {
    const std::array<int, 3> place = grid.place_of(rank);
    int number = -1;
    run_outside(session.rank, [&] { number = select(place); });
    if (number < 0) {
      fail("select_fn returns " + std::to_string(number) + " for rank " + std::to_string(rank) +
           "; use a number from 0 on for every process");
    }
    Subgrid& subgrid = subgrids[number];
    if (subgrid.ranks.empty()) subgrid.first = subgrid.last = place;
    for (std::size_t i = 0; i < place.size(); ++i) {
      subgrid.first[i] = std::min(subgrid.first[i], place[i]);
      subgrid.last[i] = std::max(subgrid.last[i], place[i]);
    }
    subgrid.ranks.push_back(rank);
  }
  return subgrids;
}

using Openings = std::vector<std::pair<Group, std::array<int, 3>>>;

// The groups and shapes of the subgrids. Throws Error.
Openings openings_of(const ZIP_MAILER& grid, const std::map<int, Subgrid>& subgrids) {
  Openings openings;
  for (const auto& [number, subgrid] : subgrids) {
    const std::array<int, 3> shape = subgrid.shape();
    if (processes_of(3, shape) != static_cast<std::int64_t>(subgrid.ranks.size())) {
      fail("subgrid " + std::to_string(number) + " of " + std::to_string(subgrid.ranks.size()) +
           " processes is not a rectangle");
    }
    Group group;
    // The Postmaster is outside, unless it is the first member.
    if (grid.is_postmaster_outside || subgrid.ranks.front() != 0) group.push_back(grid.group.front());
    for (const int rank : subgrid.ranks) group.push_back(grid.group[grid.index_of(rank)]);
    openings.emplace_back(std::move(group), shape);
  }
  return openings;
}

template <typename Select>
ZIP_MAILER** open_subgrids(const char* name, ZIP_MAILER* mailer, int mail_class, bool is_valid, Select select,
                           int* nsubgrids, const void* caller = __builtin_return_address(0)) {
  std::string error;
  ZIP_MAILER** const opened = call<ZIP_MAILER**>(
      name, nullptr,
      [&](Session& session) {
        const ZIP_MAILER& grid = session.open_mailer(mailer, mail_class);
        if (!is_valid || nsubgrids == nullptr) fail("select_fn or nsubgrids is NULL");
        if (grid.index != 0) fail("the caller is not the Postmaster of the grid; it calls the grid's open with NULL");
        const std::map<int, Subgrid> subgrids = select_all(session, grid, select);
        const Openings openings = openings_of(grid, subgrids);
        auto** const mailers = static_cast<ZIP_MAILER**>(std::malloc(openings.size() * sizeof(ZIP_MAILER*)));
        if (mailers == nullptr) throw std::bad_alloc();
        int count = 0;
        for (const auto& [group, shape] : openings) {
          ZIP_MAILER*& subgrid = mailers[count++] = nullptr;
          // The members of the other subgrids wait for their openings, so an error does not end them.
          try {
            subgrid = open(session, name, mail_class, shape, &group);
          } catch (const Error& thrown) {
            if (error.empty()) error = thrown.what();
          }
        }
        *nsubgrids = count;
        return mailers;
      },
      caller);
  if (!error.empty()) report(std::string(name) + ": " + error);
  return opened;
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

ZIP_MAILER** g1_subgrid_open(ZIP_MAILER* mailer, int (*select_fn)(int p, void* extra), void* extra, int* nsubgrids) {
  return open_subgrids(
      "g1_subgrid_open", mailer, ZIP_G1, select_fn != nullptr,
      [&](const std::array<int, 3>& place) { return select_fn(place[0], extra); }, nsubgrids);
}

ZIP_MAILER** g2_subgrid_open(ZIP_MAILER* mailer, int (*select_fn)(int p, int q, void* extra), void* extra,
                             int* nsubgrids) {
  return open_subgrids(
      "g2_subgrid_open", mailer, ZIP_G2, select_fn != nullptr,
      [&](const std::array<int, 3>& place) { return select_fn(place[0], place[1], extra); }, nsubgrids);
}

ZIP_MAILER** g3_subgrid_open(ZIP_MAILER* mailer, int (*select_fn)(int p, int q, int r, void* extra), void* extra,
                             int* nsubgrids) {
  return open_subgrids(
      "g3_subgrid_open", mailer, ZIP_G3, select_fn != nullptr,
      [&](const std::array<int, 3>& place) { return select_fn(place[0], place[1], place[2], extra); }, nsubgrids);
}
