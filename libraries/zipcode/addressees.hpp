// Groups of processes: ordered lists of ranks with their pids.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "margay/zipcode.h"

namespace margay::zipcode::core {

// A process of a group: its rank in the job, and the pid that the group gives to it.
struct Member {
  std::uint32_t rank = 0;
  std::int32_t pid = 0;
  friend bool operator==(const Member&, const Member&) = default;
};
using Group = std::vector<Member>;

// The nodes of the job: all processes, or with a host all but process 0.
struct Nodes {
  std::uint32_t processes = 0;
  bool has_host = false;
  [[nodiscard]] int count() const { return static_cast<int>(processes) - (has_host ? 1 : 0); }
  [[nodiscard]] int node_of(std::uint32_t rank) const {
    return has_host && rank == 0 ? ZIP_HOST_NODE : static_cast<int>(rank) - (has_host ? 1 : 0);
  }
  // Empty: the node does not exist. ZIP_HOST_NODE is the host's.
  [[nodiscard]] std::optional<std::uint32_t> rank_of(int node) const {
    if (has_host && node == ZIP_HOST_NODE) return 0;
    const int rank = node + (has_host ? 1 : 0);
    if (node < 0 || rank >= static_cast<int>(processes)) return {};
    return static_cast<std::uint32_t>(rank);
  }
};

// zip_new_cohort(). Throws Error.
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
