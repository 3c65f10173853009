#include "portals/portal_table.hpp"

#include <string>

#include "portals/memory/options.hpp"

namespace margay::portals {

namespace {

Status check_free(PortalIndex index, bool in_use) {
  if (index >= kPortalCount) {
    return Status::error("portal " + std::to_string(index) + " is not in the portal table, which has portals 0 to " +
                         std::to_string(kPortalCount - 1) + "; choose one of those");
  }
  if (in_use) {
    return Status::error("portal " + std::to_string(index) +
                         " already has a memory descriptor or a match list; detach it first or choose another portal");
  }
  return {};
}

}  // namespace

Status check_options(DescriptorType type, const Options& options) {
  const char* const refused = refusal(type, options);
  return refused == nullptr ? Status() : Status::error(refused);
}

Status PortalTable::attach(PortalIndex index, Descriptor& memory, const Options& options) {
  if (Status status = check_free(index, in_use(index)); !status.ok()) return status;
  if (Status status = check_options(memory.type(), options); !status.ok()) {
    return Status::error("portal " + std::to_string(index) + ": " + status.sentence());
  }
  portals_[index] = {&memory, nullptr, options};
  return {};
}

Status PortalTable::attach(PortalIndex index, MatchList& list) {
  if (Status status = check_free(index, in_use(index)); !status.ok()) return status;
  portals_[index] = {nullptr, &list, {}};
  return {};
}

void PortalTable::detach(PortalIndex index) {
  if (index < kPortalCount) portals_[index] = {};
}

bool PortalTable::in_use(PortalIndex index) const {
  return index < kPortalCount && (portals_[index].memory != nullptr || portals_[index].list != nullptr);
}

}  // namespace margay::portals
