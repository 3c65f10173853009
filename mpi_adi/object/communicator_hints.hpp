// The hints that a communicator takes from an info object (MPI 4.0, 7.4.4): promises of the program. margay keeps and
// tells them; nothing is faster for them.
#pragma once

#include <cstdint>

#include "mpi_adi/object/info.hpp"

namespace margay::mpi_adi {

class CommunicatorHints {
 public:
  // Takes those that it knows, with "true" or "false" as their value; ignores the rest.
  void set_from(const Info& info);
  // Writes all that it knows.
  void tell(Info& info) const;

 private:
  std::uint8_t promised_ = 0;  // a bit for each
};

}  // namespace margay::mpi_adi
