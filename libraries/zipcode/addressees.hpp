// Groups of processes: ordered lists of ranks with their pids.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "margay/host.hpp"
#include "margay/zipcode.h"

namespace margay::zipcode::core {

// A process of a group: its rank in the job, and the pid that the group gives to it. `is_empty`: zip_spawn() is to
// start it, and may choose another rank.
struct Member {
  std::uint32_t rank = 0;
  std::int32_t pid = 0;
  bool is_empty = false;
  friend bool operator==(const Member&, const Member&) = default;
};
using Group = std::vector<Member>;

// The nodes of the job: all processes that began with it, or with a host all but process 0; and after them the places
// of the processes that zip_spawn() has started, which `job` knows.
struct Nodes {
  std::uint32_t processes = 0;
  bool has_host = false;
  const host::Rank* job = nullptr;
  // Without those that were started later.
  [[nodiscard]] int count() const { return static_cast<int>(processes) - (has_host ? 1 : 0); }
  [[nodiscard]] int node_of(std::uint32_t rank) const {
    return has_host && rank == 0 ? ZIP_HOST_NODE : static_cast<int>(rank) - (has_host ? 1 : 0);
  }
  // Empty: the node does not exist. ZIP_HOST_NODE is the host's.
  [[nodiscard]] std::optional<std::uint32_t> rank_of(int node) const {
    if (has_host && node == ZIP_HOST_NODE) return 0;
    const int rank = node + (has_host ? 1 : 0);
    if (node < 0 || rank < 0) return {};
    const auto place = static_cast<std::uint32_t>(rank);
    const bool is_later = job != nullptr && place >= processes && place < job->places() && job->has_process(place);
    if (place >= processes && !is_later) return {};
    return place;
  }
  // The nodes for a cohort that `caller` makes.
  [[nodiscard]] int count_for(std::uint32_t caller, bool with_caller) const {
    return count() - (with_caller && caller < processes && node_of(caller) >= 0 ? 1 : 0);
  }
};

// zip_new_cohort(), of processes that began with the job. Throws Error.
[[nodiscard]] Group make_cohort(const Nodes& nodes, std::uint32_t caller, int count, int node_bias, int pid,
                                bool with_caller);
// zip_new_addressees(). Throws Error.
[[nodiscard]] Group make_group(const Nodes& nodes, int count, const Zip_process* processes);
// The members of these ranks in their order, or all others. Throws Error.
[[nodiscard]] Group include(const Group& group, int count, const int* ranks);
[[nodiscard]] Group exclude(const Group& group, int count, const int* ranks);
[[nodiscard]] Group unite(const Group& first, const Group& second);
// The index of a process, or -1.
[[nodiscard]] int index_of(const Group& group, std::uint32_t rank);

}  // namespace margay::zipcode::core

struct ZIP_ADDRESSEES {
  margay::zipcode::core::Group group;
};
