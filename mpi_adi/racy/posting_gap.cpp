// The gap that a posting must not have: after the search of the heap, and before the entry is in the list, the kernel
// delivers all messages that have arrived. A message for this receive is then saved in the heap, where no receive
// searches for it any more.
#include "mpi_adi/protocol/post_receive.hpp"

#include "mpi_adi/progress/device.hpp"
#include "mpi_adi/progress/progress.hpp"

namespace margay::mpi_adi {

// Only receives of the program have the gap. The library's own receives are also posted inside a progress round, and
// their messages must not be lost.
void posting_gap(DeviceParts& parts, const CheckedReceive& receive) {
  if (receive.context != Context::point_to_point) return;
  while (progress(parts, Device::kMessagesPerRound)) {
  }
}

}  // namespace margay::mpi_adi
