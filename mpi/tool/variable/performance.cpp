#include "mpi/tool/variable/performance.hpp"

namespace margay::mpi {

// One table of all parts, so that an index identifies a variable.
const std::vector<PerformanceVariable>& performance_variables() {
  static const auto* const all = [] {  // never destroyed, like the tool's state
    auto* const result = new std::vector<PerformanceVariable>;
    for (const auto part :
         {message_variables(), window_variables(), queue_variables(), kernel_variables(), process_variables()}) {
      result->insert(result->end(), part.begin(), part.end());
    }
    return result;
  }();
  return *all;
}

}  // namespace margay::mpi
