// The table of findings: the meaning, an example and the cure for each id of sim/boot/findings. `margay explain` prints
// it, and docs/findings.md is generated from it.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/boot/findings.hpp"

namespace margay::command {

enum class Severity : std::uint8_t { error, warning };

// One row.
struct FindingText {
  sim::Finding finding;
  Severity severity;
  // One line, no full stop.
  std::string_view title;
  // Sentences.
  std::string_view meaning;
  // A fragment of a C program, or a command line.
  std::string_view example;
  // Sentences.
  std::string_view cure;
};

// All rows, in the order of the enumeration.
[[nodiscard]] const std::array<FindingText, sim::kFindingCount>& finding_texts();

// The output of `margay explain ID`; without an id, the list of all ids. False: unknown id; `out` is the error, with
// the nearest id.
[[nodiscard]] bool explain_finding(std::string_view id, std::string& out);
// The contents of docs/findings.md.
[[nodiscard]] std::string findings_document();

}  // namespace margay::command
