// The table of findings: what each id of sim/boot/findings means, an example, the cure. `margay explain` prints it, and
// docs/findings.md is made from it.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/boot/findings.hpp"

namespace margay::command {

enum class Severity : std::uint8_t { error, warning };

struct FindingText {
  sim::Finding finding;
  Severity severity;
  std::string_view title;    // one line, no full stop
  std::string_view meaning;  // sentences
  std::string_view example;  // a fragment of a program in C, or a command line
  std::string_view cure;     // sentences
};

// In the order of the enumeration.
[[nodiscard]] const std::array<FindingText, sim::kFindingCount>& finding_texts();

// The text of `margay explain ID`; without an id the list of all ids. False: unknown id, `out` is the error, with the
// nearest id.
[[nodiscard]] bool explain_finding(std::string_view id, std::string& out);
// The content of docs/findings.md.
[[nodiscard]] std::string findings_document();

}  // namespace margay::command
