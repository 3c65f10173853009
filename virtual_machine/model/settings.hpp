// The settings of a simulated run, as `margay simulate` passes them to the process that runs it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::virtual_machine {

// The variable by which the settings reach the process.
inline constexpr const char* kSettingsVariable = "MARGAY_SIMULATE";

// The value of `wildcards` without a choice.
inline constexpr const char* kLowestSources = "lowest";

// The virtual time of a rank's computation between two calls of the library.
enum class Compute : std::uint8_t {
  measured,  // its processor time, times `cpu_scale`
  calls,     // `call_ns` for each call of MPI: a run depends on the settings alone
};

// Another value for a part of a run (changes.hpp).
struct Change {
  std::string name;
  std::string value;

  friend bool operator==(const Change&, const Change&) = default;
};

// All settings of one run.
struct Settings {
  std::uint32_t ranks = 1;
  std::string machine = "ideal";  // a preset's name or a file's path
  std::uint64_t seed = 0;         // the order of ranks that continue at the same time
  // Each message arrives later by a time from 0 to this one, drawn from the seed.
  std::uint64_t delay_ns = 0;
  Compute compute = Compute::measured;
  // With Compute::measured: virtual time for each second of processor time, times the machine's own factor.
  double cpu_scale = 1;
  // Virtual time that each call of MPI adds; 0 with Compute::measured.
  std::uint64_t call_ns = 0;
  // The addresses of each rank's stack; pages are allocated when they are touched.
  std::uint64_t stack_bytes = std::uint64_t{8} << 20;
  // The trace's folder; empty: none.
  std::string trace_dir;
  // Not empty: each receive from MPI_ANY_SOURCE waits until no rank can continue. It then takes the message of the
  // source that "RANK:NUMBER=SOURCE,..." gives, and otherwise of the lowest one (virtual_machine/world/wildcards).
  std::string wildcards;
  std::string wildcard_log;                     // a file; empty: none
  bool summary = false;                         // print times and counts at the end
  std::vector<Change> changes;                  // to the machine and the library's options, in this order
  std::string report;                           // the file of the run's report; empty: none
  std::vector<std::string> deaths, down_links;  // of parse_faults()
};

// The most ranks of a run that chooses the messages of wildcards: each rank has a clock with a number for each rank.
inline constexpr std::uint32_t kWildcardRanksMax = 4096;

// The sources of wildcards, by rank and number of the wildcard.
using GivenSources = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;
// Parses Settings::wildcards. Error: names the option, the text and the cure.
[[nodiscard]] portals::Status parse_wildcards(const Settings& settings, GivenSources& out);

// The settings as text, and back. parse_settings() fails for a text that format_settings() did not make; `out` is then
// unspecified.
[[nodiscard]] std::string format_settings(const Settings& settings);
[[nodiscard]] portals::Status parse_settings(std::string_view text, Settings& out);

}  // namespace margay::virtual_machine
