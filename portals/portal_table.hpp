// "Each application is allotted a finite number of portals in a portal table, and each entry in the portal table has an
// associated memory descriptor"; a match list may stand in its place.
#pragma once

#include <array>

#include "portals/base/assert.hpp"
#include "portals/base/status.hpp"
#include "portals/match/match_list.hpp"

namespace margay::portals {

class PortalTable {
 public:
  // Both refuse an index past the table, a portal in use, and options that the descriptor's type does not have.
  [[nodiscard]] Status attach(PortalIndex index, Descriptor& memory, const Options& options);
  [[nodiscard]] Status attach(PortalIndex index, MatchList& list);
  // No effect on an empty portal. Requires: one of the table's, and not reserved.
  void detach(PortalIndex index);
  // From now on `watch` is called for each portal that is attached or detached; nullptr: nobody. What is attached now
  // is not reported. Requires: `watch` outlives the table, or takes its leave.
  void follow(StructureWatch* watch) { watch_ = watch; }
  // What is attached to it stays: the portal is of whoever made the table, and not for its user.
  void reserve(PortalIndex index) {
    MARGAY_ASSERT(index < kPortalCount);
    reserved_ |= std::uint64_t{1} << index;
  }

 private:
  friend class Delivery;
  struct Portal {
    Descriptor* memory = nullptr;
    MatchList* list = nullptr;
    Options options;
  };
  [[nodiscard]] bool in_use(PortalIndex index) const;

  [[nodiscard]] bool is_reserved(PortalIndex index) const { return (reserved_ >> index & 1U) != 0; }
  [[nodiscard]] Status check_free(PortalIndex index) const;

  std::array<Portal, kPortalCount> portals_{};
  std::uint64_t reserved_ = 0;  // bit per portal
  StructureWatch* watch_ = nullptr;
  static_assert(kPortalCount <= 64);
};

// Whether `type` has these options (the paper's lists). A combined block takes Save::both, the default, for Save::body.
[[nodiscard]] Status check_options(DescriptorType type, const Options& options);

}  // namespace margay::portals
