// "Each application is allotted a finite number of portals in a portal table, and each entry in the portal table has an
// associated memory descriptor"; a match list may stand in its place.
#pragma once

#include <array>

#include "portals/base/status.hpp"
#include "portals/match/match_list.hpp"

namespace margay::portals {

class PortalTable {
 public:
  // Both refuse an index past the table, a portal in use, and options that the descriptor's type does not have.
  [[nodiscard]] Status attach(PortalIndex index, Descriptor& memory, const Options& options);
  [[nodiscard]] Status attach(PortalIndex index, MatchList& list);
  // No effect on an empty portal.
  void detach(PortalIndex index);

 private:
  friend class Delivery;
  struct Portal {
    Descriptor* memory = nullptr;
    MatchList* list = nullptr;
    Options options;
  };
  [[nodiscard]] bool in_use(PortalIndex index) const;

  std::array<Portal, kPortalCount> portals_{};
};

// Whether `type` has these options (the paper's lists). A combined block takes Save::both, the default, for Save::body.
[[nodiscard]] Status check_options(DescriptorType type, const Options& options);

}  // namespace margay::portals
