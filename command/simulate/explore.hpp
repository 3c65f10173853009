// `margay simulate --explore N`: runs schedules of a program until one has a finding or another result.
#pragma once

#include <cstdint>

#include "command/simulate/program_start.hpp"
#include "command/trace/story/event_text.hpp"

namespace margay::command {

inline constexpr std::uint64_t kSchedulesMax = 1'000'000'000;
inline constexpr std::uint64_t kScheduleSecondsMax = 1'000'000;

struct ExploreOrder {
  std::uint64_t schedules = 0;
  // Of this machine's time, for each schedule.
  std::uint64_t limit_seconds = 60;

  [[nodiscard]] bool is_wanted() const { return schedules != 0; }
};

// Sets what an order of an exploration needs if the command line has left it open: computation without time, so that
// schedules can be repeated, and delays. Called before check_order().
void prepare_exploration(SimulateOrder& order);

// Runs the schedules of an order that has been checked, and prints a report. Returns the exit status: 0 if no schedule
// has a finding or another result than the first one, and 1 otherwise, or after an error, which has been printed.
// `call_site`: for the report's stories.
[[nodiscard]] int explore(const ExploreOrder& explored, const SimulateOrder& order, const CallSite& call_site);

}  // namespace margay::command
