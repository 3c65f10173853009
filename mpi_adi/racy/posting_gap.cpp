// The gap that a posting must not have: after the search, and before the entry is in the list, the kernel delivers all
// that has arrived. A message for this very receive is saved in the heap then, where no receive searches for it any
// more.
#include "mpi_adi/protocol/post_receive.hpp"

#include "mpi_adi/progress/device.hpp"
#include "mpi_adi/progress/progress.hpp"

namespace margay::mpi_adi {

// In receives of the program only: the library's own are also posted inside a round of progress, and must not be lost.
void posting_gap(DeviceParts& parts, const CheckedReceive& receive) {
  if (receive.context != Context::point_to_point) return;
  while (progress(parts, Device::kMessagesPerRound)) {
  }
}

}  // namespace margay::mpi_adi
