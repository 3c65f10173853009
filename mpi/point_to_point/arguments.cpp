#include "mpi/point_to_point/arguments.hpp"

namespace margay::mpi {

int refuse(Call& call, int peer, int tag) {
  call.failure().concerns(peer, tag, 0);
  return call.failed();
}

void refuse_request(Call& call, Request* device) {
  // The operation continues without a handle; the device frees it when it is complete.
  call.device().free(*device);
  call.error(MPI_ERR_OTHER, "too many requests are alive (2^18); complete or free some first");
}

}  // namespace margay::mpi
