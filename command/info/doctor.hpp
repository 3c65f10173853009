// `margay doctor`: checks this machine for what makes jobs slow or fail, and prints the mend.
#pragma once

#include <string>
#include <vector>

namespace margay::command {

enum class Finding { kOk, kWarn, kFail };

struct Diagnosis {
  Finding finding = Finding::kOk;
  std::string what;
  std::string mend;  // empty when all is well
};

[[nodiscard]] std::vector<Diagnosis> diagnose();

}  // namespace margay::command
