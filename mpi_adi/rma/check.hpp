// --check-rma: what a window keeps for it, as a target and as an origin.
//
// Each access is announced at its target before it begins, and its completion before the call that completes it
// returns: by asks that are answered, whichever way the access itself takes. The target is where accesses of all
// origins meet, its device answers while it computes, and the answer names the first of the two at the second's call.
// Lists that origins send when they synchronise would cost less and come too late: of passive epochs they cannot say
// what was complete before what.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_adi/rma/conflicts.hpp"

namespace margay::mpi_adi {

enum class Completed : std::int32_t {
  reads,       // here: MPI_Win_flush_local
  all,         // there, too
  one_access,  // a read, whose request says so
};

struct WindowCheck {
  // What of this origin's a target still has.
  struct Open {
    bool reads = false;
    bool others = false;
  };

  ConflictTable announced;  // as a target
  // As an origin: its own memory, by address, that accesses read (kind: get) or write (kind: put) and that is not its
  // own again. `origin` is the target.
  ConflictTable buffers;
  std::uint32_t fences = 0;
  std::uint64_t last_number = 0;
  std::uint32_t lines = 0;  // printed
  std::vector<Open> open;   // by target
};

}  // namespace margay::mpi_adi
