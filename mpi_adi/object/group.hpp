// An ordered set of processes.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/base/shared_table.hpp"

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

}  // namespace margay::mpi_adi
