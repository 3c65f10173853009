// The plan of a spawn request: for each process the program and its file, found before any process starts, so that a
// request is carried out as a whole or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/run/options/run_options.hpp"
#include "command/run/pmi/spawn_order.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// The processes of one command of the request, which become one program of their world.
struct SpawnPart {
  // With the number of processes to start.
  ProgramSpec program;
  std::string path;
  // The number of processes that the request names; more than program.ranks if it permits fewer (info key soft).
  std::uint32_t requested = 0;
};

// Plans the request. `free`: the places that are left. `search_path`: the launcher's PATH. The info keys of
// sim::kSpawnInfoKeys are followed, others are ignored. Each command gets the highest number of processes that it
// permits and that leaves enough places for the lowest numbers of the commands after it. Error: a program cannot be
// run, an info value is wrong, or there are not enough places (`lacks_places`); nothing may be started then.
[[nodiscard]] portals::Status plan_spawn(const SpawnOrder& order, std::uint32_t free, const char* search_path,
                                         std::vector<SpawnPart>& parts, bool& lacks_places);

}  // namespace margay::command
