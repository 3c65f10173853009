#include "libraries/host/libraries.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "mpi/process/machine.hpp"
#include "mpi_adi/device/portal_numbers.hpp"
#include "mpi_adi/rank/current.hpp"

namespace margay::libraries {

using portals::Status;

namespace {

std::string text_of(const mpi_adi::LibraryPortals& range) {
  return std::to_string(range.first) + " to " + std::to_string(range.last);
}

// The ranges that a library of this name may use, for a message.
std::string ranges_for(std::string_view library) {
  std::string text;
  for (const mpi_adi::LibraryPortals& range : mpi_adi::kLibraryPortals) {
    if (range.library.empty() || range.library == library) text += (text.empty() ? "" : ", ") + text_of(range);
  }
  return text;
}

// Whether a library of this name may use the portal.
bool may_use(std::string_view library, portals::PortalIndex portal) {
  return std::ranges::any_of(mpi_adi::kLibraryPortals, [&](const mpi_adi::LibraryPortals& range) {
    return portal >= range.first && portal <= range.last && (range.library.empty() || range.library == library);
  });
}

// Part::Release.
void leave_its_process(Part& part) {
  the_libraries().leave(part);
}

}  // namespace

Libraries& the_libraries() {
  return mpi_adi::current_process().part<Libraries>();
}

Status Libraries::check(const host::Library& library) const {
  if (library.name == nullptr || library.name[0] == '\0' || std::strlen(library.name) > host::kNameMost) {
    return Status::error("a library's name has 1 to " + std::to_string(host::kNameMost) + " characters");
  }
  const std::string who = std::string("the library ") + library.name;
  if (library.counters.size() > host::kCountersMost || library.events.size() > host::kEventsMost) {
    return Status::error(who + " has " + std::to_string(library.counters.size()) + " counters and " +
                         std::to_string(library.events.size()) + " events; at most " +
                         std::to_string(host::kCountersMost) + " and " + std::to_string(host::kEventsMost));
  }
  if (parts_.size() == host::kLibrariesMost) {
    return Status::error(who + " is one too many: a rank has at most " + std::to_string(host::kLibrariesMost) +
                         " libraries at once");
  }
  for (const host::NamedPortal& each : library.portals) {
    const std::string portal = "portal " + std::to_string(each.portal);
    if (!may_use(library.name, each.portal)) {
      return Status::error(who + " may not use " + portal + "; choose from " + ranges_for(library.name));
    }
    for (const std::unique_ptr<Part>& part : parts_) {
      if (part->has(each.portal)) {
        return Status::error(who + " may not use " + portal + ", which the library " + part->name() +
                             " has; choose another from " + ranges_for(library.name));
      }
    }
  }
  for (const std::unique_ptr<Part>& part : parts_) {
    if (std::string_view(part->name()) == library.name) {
      return Status::error(who + " has already joined the rank of this process; call end() first");
    }
  }
  return {};
}

std::size_t Libraries::free_slot() const {
  for (std::size_t slot = 0;; ++slot) {
    if (std::ranges::none_of(parts_, [slot](const std::unique_ptr<Part>& part) { return part->slot() == slot; })) {
      return slot;
    }
  }
}

Status Libraries::join(const host::Library& library, bool threads, host::Rank*& out) {
  Part* part = nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (Status status = check(library); !status.ok()) return status;
    if (Status status = mpi::acquire_machine(threads); !status.ok()) return status;
    mpi_adi::MpiRank& rank = *mpi_adi::current_rank();
    rank.enter();
    parts_.push_back(std::make_unique<Part>(rank, library, free_slot(), &leave_its_process));
    part = parts_.back().get();
    rank.leave();
  }
  // Outside the mutex, because it waits for other ranks.
  part->enter("host::join", __builtin_return_address(0));
  Status status = part->open();
  part->leave("host::join");
  if (!status.ok()) {
    leave(*part);
    return status;
  }
  out = part;
  return {};
}

void Libraries::leave(Part& part) {
  {
    const std::lock_guard guard(mutex_);
    std::erase_if(parts_, [&part](const std::unique_ptr<Part>& each) { return each.get() == &part; });
  }
  mpi::release_machine();
}

namespace {

// The host of every process; it has no state of its own.
class TheHost final : public host::Host {
 public:
  [[nodiscard]] Status join(const host::Library& library, bool threads, host::Rank*& out) override {
    return the_libraries().join(library, threads, out);
  }
};

}  // namespace

}  // namespace margay::libraries

extern "C" __attribute__((visibility("default"))) margay::host::Host* MPIX_Margay_host(std::uint32_t version) {
  static margay::libraries::TheHost host;
  return version == margay::host::kVersion ? &host : nullptr;
}
