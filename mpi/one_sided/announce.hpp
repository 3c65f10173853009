// --check-rma in the bindings: accesses are announced before they begin (mpi_adi/rma/check), and completed.
#pragma once

#include "mpi/one_sided/arguments.hpp"

namespace margay::mpi {

// What an access does, beside where.
struct AccessNature {
  AccessKind kind = AccessKind::put;
  bool with_request = false;
  // Of an accumulate; `access.buffer` is the result's.
  const AccumulateOperands* operands = nullptr;
  OriginData origin = {};
};

[[nodiscard]] bool announce_checked(Call& call, Window& window, Access& access, const AccessNature& nature);
// Last before the access begins. False: it conflicts with one that is not complete, an error; or the target is lost.
[[nodiscard]] inline bool announce(Call& call, Window& window, Access& access, const AccessNature& nature) {
  return window.check == nullptr || announce_checked(call, window, access, nature);
}

// What accumulates to a window ask of its hints.
void read_hints(const Window& window, AnnouncedAccess& access);

}  // namespace margay::mpi
