// The faults of a simulated run: ranks that die, and links that fail (`margay simulate --kill`, `--down`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "portals/base/status.hpp"
#include "virtual_machine/model/machine.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::virtual_machine {

// A rank that ends, as by SIGKILL. All times are virtual, since the begin of the run.
struct Death {
  std::uint32_t rank = 0;
  std::uint64_t at_ns = 0;
  friend bool operator==(const Death&, const Death&) = default;
};

// A link, by the switches at its ends, that carries no message from a time on, in both directions.
struct DownLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t at_ns = 0;
  friend bool operator==(const DownLink&, const DownLink&) = default;
};

// All faults of a run.
struct Faults {
  std::vector<Death> deaths;  // in the order of their times
  std::vector<DownLink> down_links;
};

// Parses Settings::deaths ("3@2ms") and Settings::down_links ("12-13@2ms" or "12-13", of the machine's first network).
// Error: names the option, the text and the cure: an invalid text, a rank that the run lacks, a link that the network
// lacks. Requires: check_ranks(machine, settings.ranks).
[[nodiscard]] portals::Status parse_faults(const Settings& settings, const Machine& machine, Faults& out);

}  // namespace margay::virtual_machine
