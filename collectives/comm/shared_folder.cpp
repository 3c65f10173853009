#include "collectives/comm/shared_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/select/perform.hpp"
#include "sim/trace/folder.hpp"

namespace margay::collectives {

namespace {

struct Place {
  std::array<std::uint8_t, 16> host{};
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::uint64_t found = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

Place place_of(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return {};
  return {sim::host_identity(), about.st_dev, about.st_ino, 1};
}

}  // namespace

int color_of_folder(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const std::string& path, int& color) {
  Place mine = place_of(path);
  std::vector<Place> all(static_cast<std::size_t>(communicator.size()));
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
