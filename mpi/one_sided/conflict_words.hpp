// What --check-rma says of two accesses that conflict. Pure.
#pragma once

#include <string>

#include "mpi/layers.hpp"
#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/window.hpp"

namespace margay::mpi {

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

}  // namespace margay::mpi
