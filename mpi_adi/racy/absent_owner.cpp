// The round of an absent coprocessor: nothing is delivered while the program computes. Messages that arrive meanwhile
// are delivered in the program's next call. So the order of events alone, not their times, decides whether a posting
// loses a message.
#include "mpi_adi/progress/progress.hpp"

namespace margay::mpi_adi {

bool progress_for_absent_owner(DeviceParts& /*parts*/, int /*messages*/) {
  return false;
}

}  // namespace margay::mpi_adi
