// --check-rma in the bindings: accesses are announced before they begin (mpi_adi/rma/conflicts), and completed.
#pragma once

#include <string>

#include "mpi/layers.hpp"
#include "mpi/one_sided/arguments.hpp"
#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/window.hpp"

namespace margay::mpi {

// What --check-rma says of two accesses that conflict. Pure.

struct ConflictPlace {
  int target = 0;
  std::string window;
  std::string first_call;  // the first's function, and where the program calls it
};

// "window 0xa0000000", with its name where it has one.
[[nodiscard]] std::string words_of_window(const Window& window);
// At the target; behind the name of the second's function.
[[nodiscard]] std::string words_of_conflict(const Conflict& conflict, const AnnouncedAccess& second,
                                            const ConflictPlace& place);
// In the origin's own memory (WindowCheck::buffers). `told`: the second as its target knows it.
[[nodiscard]] std::string words_of_own_conflict(const Conflict& conflict, const AnnouncedAccess& second,
                                                const AnnouncedAccess& told, const std::string& first_call);

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
