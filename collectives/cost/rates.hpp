// What the steps of a collective call take on a machine: what the algorithms' cost formulas are multiplied with (cost).
// Measured by `margay calibrate`, and the same on all ranks of a job: its launcher, or rank 0 where that is not
// margay's, hands them on as text.
#pragma once

#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::collectives {

// All in seconds.
struct Rates {
  // A message from one rank to another, each with a processor of its own: until it is there (α), what of that its
  // sender, or its receiver, is busy with, and a byte of it (β). Who has several under way pays `busy` for each further
  // one.
  struct Way {
    double startup;
    double busy;
    double byte;
    bool operator==(const Way&) const = default;
  };
  Way inside;       // a node
  Way between;      // nodes
  double combined;  // a byte of a reduction (γ)
  // Memory that all ranks of a node see: one rank's look at what another one wrote there, and a byte of it.
  struct Memory {
    double look;
    double byte;
    bool operator==(const Memory&) const = default;
  };
  Memory shared;
  double turn;  // a processor that goes from one rank to another one, where they outnumber processors

  bool operator==(const Rates&) const = default;
};

// Of a machine that was not measured: those of a virtual machine on a Xeon of 2020, TCP over loopback
// (bench/performance.md).
[[nodiscard]] constexpr Rates usual_rates() {
  return {.inside = {.startup = 0.3e-6, .busy = 0.25e-6, .byte = 1 / 11e9},
          .between = {.startup = 4e-6, .busy = 3.5e-6, .byte = 1 / 4e9},
          .combined = 1 / 12e9,
          .shared = {.look = 0.1e-6, .byte = 1 / 10e9},
          .turn = 0.6e-6};
}
// The Intel Paragon of paper 001, under SUNMOS and Puma: a mesh in which each node has one rank, so a node's inside is
// like its outside.
[[nodiscard]] Rates paragon_rates();

// The least and the most that a rate may be: far beyond any machine's, and costs made of them are finite.
inline constexpr double kRateLeast = 1e-15;
inline constexpr double kRateMost = 1e3;
// What is no number is none.
[[nodiscard]] constexpr bool is_rate(double seconds) {
  return seconds >= kRateLeast && seconds <= kRateMost;
}

// "inside=3e-07:1.2e-07:9e-11,between=...,combined=...,shared=1e-07:1e-10,turn=...": a way's start-up, what of it is
// busy, and its byte; of shared memory a look and a byte. In any order, all of them.
[[nodiscard]] std::string to_text(const Rates& rates);
// `out` is as it was where there is an error, which says what is wrong with which of them.
[[nodiscard]] portals::Status parse_rates(std::string_view text, Rates& out);

}  // namespace margay::collectives
