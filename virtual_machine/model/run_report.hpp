// The machine-readable report of a simulated run (`margay simulate --report FILE`), as JSON. docs/simulate.md describes
// its members; those of `margay run --report` have the same names and meanings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/boot/findings.hpp"
#include "virtual_machine/model/changes.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::virtual_machine {

struct ReportedFinding {
  sim::Finding finding = sim::Finding::deadlock;
  // The ranks concerned; empty: the run as a whole.
  std::vector<std::uint32_t> ranks;
  // The first line that was printed about it.
  std::string message;
};

// The messages of one wire of a run with several (`--set way=`), by all ranks.
struct ReportedWay {
  std::string wire;
  std::uint64_t messages = 0;
  // Of their bodies.
  std::uint64_t bytes = 0;
  // Tests for an arrived message, and those that found something.
  std::uint64_t polls = 0;
  std::uint64_t hits = 0;
};

struct RunReport {
  // The exit status of a run that has not ended.
  static constexpr int kNoStatus = -1;

  // The program and its arguments.
  std::string command;
  // As the user has named it.
  std::string machine;
  std::vector<Change> changes;
  std::uint32_t ranks = 0;
  std::uint64_t seed = 0;
  int exit_status = kNoStatus;
  // The reason of a run without a result; empty: the program has run to its end, or to that of a finding.
  std::string error;
  // The latest time of a rank, since the start of all.
  std::uint64_t virtual_ns = 0;
  // Messages, and the bytes of their bodies.
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  // Between ranks.
  std::uint64_t switches = 0;
  // In the order of preference; empty: the run has the wire `virtual` only.
  std::vector<ReportedWay> ways;
  // Of a replay: the trace's folder, and the time of the recorded run; empty: the program has run.
  std::string replay;
  std::uint64_t recorded_ns = 0;
  std::vector<ReportedFinding> findings;
};

// The report of a run with these settings that has not ended. `command`: the program and its arguments.
[[nodiscard]] RunReport begin_report(const Settings& settings, const std::vector<std::string>& command);

// The report as text, and back. Error: not the text of a report.
[[nodiscard]] std::string format_report(const RunReport& report);
[[nodiscard]] portals::Status parse_report(std::string_view text, RunReport& out);

// Replaces the content of the file at `path`; without a path it has no effect. write_reports(): those of several runs,
// as one object with a list. Error: the file cannot be written.
[[nodiscard]] portals::Status write_report(const std::string& path, const RunReport& report);
[[nodiscard]] portals::Status write_reports(const std::string& path, const std::vector<RunReport>& reports);

}  // namespace margay::virtual_machine
