// The part of --check-rma in the bindings: accesses are announced to their targets before they begin
// (mpi_adi/rma/conflicts), and again when they are complete.
#pragma once

#include <string>

#include "mpi/layers.hpp"
#include "mpi/one_sided/arguments.hpp"
#include "mpi_adi/rma/conflicts.hpp"
#include "mpi_adi/rma/window.hpp"

namespace margay::mpi {

// The messages for two accesses that conflict. Pure functions.

// The location of a conflict between two accesses.
struct ConflictLocation {
  // The target, as a rank of the window's group, and the window, as window_text() formats it.
  int target = 0;
  std::string window;
  std::string first_call;  // function of the first access, with its location
};

// Formats "window 0xa0000000", with the name if it has one.
[[nodiscard]] std::string window_text(const Window& window);
// The message for a conflict at the target, which follows the name of the second access's function.
[[nodiscard]] std::string conflict_text(const Conflict& conflict, const AnnouncedAccess& second,
                                        const ConflictLocation& location);
// The message for a conflict in the origin's own memory (WindowCheck::buffers). `second` describes the second access as
// an access to this memory, `announced` as it was announced to its target.
[[nodiscard]] std::string own_conflict_text(const Conflict& conflict, const AnnouncedAccess& second,
                                            const AnnouncedAccess& announced, const std::string& first_call);

// The kind of an access, with the operands of an accumulate.
struct AccessNature {
  AccessKind kind = AccessKind::put;
  // The access is that of a request-based function (MPI 4.0, 12.3.5). It ends with its request if it reads the target,
  // otherwise with its epoch.
  bool with_request = false;
  // The operands of an accumulate, whose `access.buffer` takes the result; null: a put or a get.
  const AccumulateOperands* operands = nullptr;
  OriginData origin = {};
};

// Announces an access, with --check-rma only. Costs a round trip to the target for each kPiecesPerRequest pieces. If
// one part conflicts, the parts announced before it are withdrawn.
[[nodiscard]] bool announce_checked(Call& call, Window& window, Access& access, const AccessNature& nature);
// The last step before an access begins. Returns false, with the error set, if it conflicts with an incomplete access
// (MPI_ERR_RMA_CONFLICT), or the target is lost. Without the check it costs one test. After true the caller begins the
// access, and announces its end later: until then, other accesses are compared with it.
[[nodiscard]] inline bool announce(Call& call, Window& window, Access& access, const AccessNature& nature) {
  return window.check == nullptr || announce_checked(call, window, access, nature);
}

// Sets two fields of `access` from the window's hints: which operations may be mixed by concurrent accumulates of the
// same bytes (mixed_ops), and whether accumulates of one origin are ordered.
void read_hints(const Window& window, AnnouncedAccess& access);

}  // namespace margay::mpi
