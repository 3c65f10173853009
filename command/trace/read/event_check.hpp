// A check whether a recorder could have written an event. It serves files that their ranks did not close, because the
// ranks still run or were killed.
#pragma once

#include <cstdint>
#include <string>

#include "sim/trace/event.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

// State of the check over one file's events. Every number of an event that readers use as an index or a time is
// compared with the header.
class EventCheck {
 public:
  // `header`: that of the events' file.
  explicit EventCheck(const sim::TraceHeader& header);
  // Returns "" or the fault, as "its kind is 900", with numbers as they are in the file. Requires: called once for each
  // event, in the file's order; `number` counts all events that were ever recorded.
  [[nodiscard]] std::string fault_of(const sim::TraceEvent& event, std::uint64_t number);

 private:
  [[nodiscard]] std::string fault_of_time(const sim::TraceEvent& event, std::uint64_t number);

  // Ranks that the job can have; names in the file's table of calls.
  std::uint32_t size_;
  std::uint32_t names_;
  // Number of the newest event.
  std::uint64_t newest_;
  // No event is earlier than first_ticks_, the first anchor. Only the newest event may be later than last_ticks_, the
  // last anchor plus the longest distance between two anchors.
  std::uint64_t first_ticks_;
  std::uint64_t last_ticks_;
  // Highest time so far.
  std::uint64_t latest_ = 0;
};

}  // namespace margay::command
