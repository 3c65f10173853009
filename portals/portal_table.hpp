// A process's portal table: for each of its 64 portals a memory descriptor, a match list, or nothing. "Each application
// is allotted a finite number of portals in a portal table, and each entry in the portal table has an associated memory
// descriptor" (paper 001, section 1.2); a match list may stand in the descriptor's place.
#pragma once

#include <array>

#include "portals/base/assert.hpp"
#include "portals/base/status.hpp"
#include "portals/match/match_list.hpp"

namespace margay::portals {

// The table. It refers to the program's descriptors and lists, which must live until they are detached or the table is
// destroyed. Used under the process lock only.
class PortalTable {
 public:
  // Both attach() functions fail for an index past the table, and for a portal that is in use or reserved. This one
  // also fails for options that the descriptor's type does not have. A descriptor may be attached to several portals,
  // each with options of its own; its counters then count the messages of all of them.
  [[nodiscard]] Status attach(PortalIndex index, Descriptor& memory, const Options& options);
  // Attaches a list, without options, because each of its entries has its own.
  [[nodiscard]] Status attach(PortalIndex index, MatchList& list);
  // Empties a portal; no effect on an empty one. Messages that are already decided still complete. Requires: a portal
  // of the table that is not reserved.
  void detach(PortalIndex index);
  // Sets the observer of attach() and detach(); nullptr: none. Portals that are already in use are not reported.
  // Requires: `observer` outlives the table, or is removed by follow(nullptr).
  void follow(StructureObserver* observer) { observer_ = observer; }
  // Excludes a portal from attach() and detach(); its contents stay. The code that makes the table reserves its own
  // portals in this way.
  void reserve(PortalIndex index) {
    MARGAY_ASSERT(index < kPortalCount);
    reserved_ |= std::uint64_t{1} << index;
  }

 private:
  friend class Delivery;
  // One element of the table. At most one of `memory` and `list` is set; both are nullptr while nothing is attached.
  // `options` belong to `memory`.
  struct Portal {
    Descriptor* memory = nullptr;
    MatchList* list = nullptr;
    Options options;
  };
  // Whether something is attached.
  [[nodiscard]] bool in_use(PortalIndex index) const;

  [[nodiscard]] bool is_reserved(PortalIndex index) const { return (reserved_ >> index & 1U) != 0; }
  // The checks that both attach() functions share.
  [[nodiscard]] Status check_free(PortalIndex index) const;

  // The portals, by index. The array is fixed, so that a message finds its portal by one bounds test and one load.
  std::array<Portal, kPortalCount> portals_{};
  std::uint64_t reserved_ = 0;  // bit per portal
  // Not owned; see follow().
  StructureObserver* observer_ = nullptr;
  static_assert(kPortalCount <= 64);
};

// Fails if the paper's list for `type` lacks one of these options; the message names an option to choose instead. A
// combined block treats Save::both, the default, as Save::body.
[[nodiscard]] Status check_options(DescriptorType type, const Options& options);

}  // namespace margay::portals
