#include "portals/portal_table.hpp"

#include <string>

#include "portals/base/assert.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

Status check_options(DescriptorType type, const Options& options) {
  const char* const refused = refusal(type, options);
  return refused == nullptr ? Status() : Status::error(refused);
}

Status PortalTable::check_free(PortalIndex index) const {
  if (index >= kPortalCount) {
    return Status::error("portal " + std::to_string(index) + " is not in the portal table, which has portals 0 to " +
                         std::to_string(kPortalCount - 1) + "; choose one of those");
  }
  // Tested before in_use(): the message for a portal in use suggests detach(), which a reserved portal does not permit.
  if (is_reserved(index)) {
    return Status::error("portal " + std::to_string(index) + " is margay's own; choose another portal");
  }
  if (in_use(index)) {
    return Status::error("portal " + std::to_string(index) +
                         " already has a memory descriptor or a match list; detach it first or choose another portal");
  }
  return {};
}

// The options are checked here, once, and not at each message.
Status PortalTable::attach(PortalIndex index, Descriptor& memory, const Options& options) {
  if (Status status = check_free(index); !status.ok()) return status;
  if (Status status = check_options(memory.type(), options); !status.ok()) {
    return Status::error("portal " + std::to_string(index) + ": " + status.sentence());
  }
  portals_[index] = {&memory, nullptr, options};
  if (observer_ != nullptr) observer_->attached(index, &memory, nullptr);
  return {};
}

Status PortalTable::attach(PortalIndex index, MatchList& list) {
  if (Status status = check_free(index); !status.ok()) return status;
  portals_[index] = {nullptr, &list, {}};
  if (observer_ != nullptr) observer_->attached(index, nullptr, &list);
  return {};
}

void PortalTable::detach(PortalIndex index) {
  // Requirements and not a Status, because the caller attached the portal itself, so a violation is a defect of the
  // program.
  require(index < kPortalCount, "detach() of a portal past the table, which has portals 0 to 63; choose one of those");
  require(!is_reserved(index),
          "detach() of portal 63, which is margay's own, for barrier(), settle() and finish(); leave it");
  // Observers are notified of changes only.
  const bool was_in_use = in_use(index);
  portals_[index] = {};
  if (observer_ != nullptr && was_in_use) observer_->detached(index);
}

bool PortalTable::in_use(PortalIndex index) const {
  return index < kPortalCount && (portals_[index].memory != nullptr || portals_[index].list != nullptr);
}

}  // namespace margay::portals
