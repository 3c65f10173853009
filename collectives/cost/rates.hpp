// The rates of a machine: the times of the steps of collective calls. Cost formulas count the steps, and multiply them
// by these times. `margay calibrate` measures them. They are the same on all ranks of a job: the launcher, or rank 0
// under another launcher, distributes them as text.
#pragma once

#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::collectives {

// All rates in seconds.
struct Rates {
  // A message between two ranks with a processor each. `startup`: the time until it has arrived (α). `busy`: the part
  // of this time for which its sender or its receiver is busy; a rank with several messages in progress pays it for
  // each further one. `byte`: the time of a byte (β).
  struct Message {
    double startup;
    double busy;
    double byte;
    bool operator==(const Message&) const = default;
  };
  Message inside;   // inside a node
  Message between;  // between nodes
  double combined;  // a byte of a reduction (γ)
  // Shared memory of a node: a poll that finds what another rank wrote, and a byte.
  struct Memory {
    double poll;
    double byte;
    bool operator==(const Memory&) const = default;
  };
  Memory shared;
  // The switch of a processor from one rank to another, where ranks outnumber processors.
  double turn;

  bool operator==(const Rates&) const = default;
};

// The rates of a machine that was not measured: those of a virtual machine on a Xeon of 2020, TCP over loopback
// (bench/performance.md).
[[nodiscard]] constexpr Rates usual_rates() {
  return {.inside = {.startup = 0.3e-6, .busy = 0.25e-6, .byte = 1 / 11e9},
          .between = {.startup = 4e-6, .busy = 3.5e-6, .byte = 1 / 4e9},
          .combined = 1 / 12e9,
          .shared = {.poll = 0.1e-6, .byte = 1 / 10e9},
          .turn = 0.6e-6};
}
// The rates of the Intel Paragon of paper 001, under SUNMOS and Puma: a mesh with one rank on each node, so the rates
// inside a node are those between nodes.
[[nodiscard]] Rates paragon_rates();

// Bounds of a rate. They are far beyond any machine's rates, but costs computed from them stay finite.
inline constexpr double kRateLeast = 1e-15;
inline constexpr double kRateMost = 1e3;
// Whether `seconds` is a valid rate; false for NaN.
[[nodiscard]] constexpr bool is_rate(double seconds) {
  return seconds >= kRateLeast && seconds <= kRateMost;
}

// Formats "inside=3e-07:1.2e-07:9e-11,between=...,combined=...,shared=1e-07:1e-10,turn=...". The values of `inside` and
// `between` are start-up, busy part and byte; those of `shared` are poll and byte.
[[nodiscard]] std::string to_text(const Rates& rates);
// Parses that form, with all names in any order. On failure `out` is unchanged, and the message names the wrong entry.
[[nodiscard]] portals::Status parse_rates(std::string_view text, Rates& out);

}  // namespace margay::collectives
