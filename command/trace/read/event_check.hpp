// Whether an event of a file without a checksum (its rank runs yet, or was killed) can be what a recorder wrote.
#pragma once

#include <cstdint>
#include <string>

#include "sim/trace/event.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

class EventCheck {
 public:
  // By the header of the events' file.
  explicit EventCheck(const sim::TraceHeader& header);
  // Requires: called with the file's events in their order, `number` among all that were ever recorded. Empty, or what
  // cannot be, as "its kind is 900"; its numbers are told as they lie in the file.
  [[nodiscard]] std::string fault_of(const sim::TraceEvent& event, std::uint64_t number);

 private:
  [[nodiscard]] std::string fault_of_time(const sim::TraceEvent& event, std::uint64_t number);

  std::uint32_t size_;
  std::uint32_t names_;
  std::uint64_t newest_;       // the number of the newest event
  std::uint64_t first_ticks_;  // nothing was recorded earlier,
  std::uint64_t last_ticks_;   // and nothing but the newest event later
  std::uint64_t latest_ = 0;   // time of the events so far
};

}  // namespace margay::command
