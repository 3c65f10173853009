#include "libraries/host/libraries.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "libraries/host/outgoing.hpp"
#include "mpi/process/machine.hpp"
#include "mpi/process/threads.hpp"
#include "mpi_adi/device/portal_numbers.hpp"
#include "mpi_adi/rank/current.hpp"
#include "sim/boot/job.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/machine/process.hpp"

namespace margay::libraries {

using portals::Status;

namespace {

std::string text_of(const mpi_adi::LibraryPortals& range) {
  return std::to_string(range.first) + " to " + std::to_string(range.last);
}

// The ranges that a library of this name may use, for a message: its own ones, and those without a library's name.
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

// The name is part of messages, of the job board and of trace files, so it has printable characters only.
bool is_name(const char* name) {
  const std::string_view text = name == nullptr ? std::string_view() : std::string_view(name);
  return !text.empty() && text.size() <= host::kNameMost && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// Checks that portals, match bits, counters and events have names, and that the names of counters fit the job board and
// differ. The launcher adds up the ranks' counters by their names.
Status check_texts(const host::Library& library) {
  const std::string who = std::string("the library ") + library.name;
  for (const host::NamedPortal& each : library.portals) {
    if (each.name == nullptr) return Status::error(who + ": portal " + std::to_string(each.portal) + " has no name");
  }
  for (const host::NamedBits& bits : library.bits) {
    const bool is_own =
        std::ranges::find(library.portals, bits.portal, &host::NamedPortal::portal) != library.portals.end();
    if (bits.name == nullptr || !is_own) {
      return Status::error(who + ": match bits of portal " + std::to_string(bits.portal) +
                           (is_own ? " have no name" : ", which it has not named"));
    }
  }
  for (const char* event : library.events) {
    if (event == nullptr) return Status::error(who + ": an event has no sentence");
  }
  // Too many counters are an error of Libraries::check().
  if (library.counters.size() > host::kCountersMost) return {};
  std::set<std::string_view> names;
  for (const char* counter : library.counters) {
    if (counter == nullptr || counter[0] == '\0' || std::strlen(counter) >= sizeof(sim::BoardCounter::name)) {
      return Status::error(who + ": a counter's name has 1 to " + std::to_string(sizeof(sim::BoardCounter::name) - 1) +
                           " bytes");
    }
    if (!names.insert(counter).second) return Status::error(who + ": two counters have the name " + counter);
  }
  return {};
}

// Whether the library may join a process that was started in this way. A library addresses its peers by their places,
// which are ranks only for those that began with the job. The launcher passes the name of the library that has started
// a process.
Status check_start(const sim::Job& job, const host::Library& library) {
  if (!job.spawned) return {};
  std::string starter;
  bool found = false;
  if (Status status = job.pmi->lookup(kStarterKey, starter, found); !status.ok()) return status;
  if (found && library.spans_places && starter == library.name) return {};
  const std::string by = found ? "the library " + starter : "MPI_Comm_spawn";
  return Status::error(std::string("the library ") + library.name + " cannot join a process that " + by +
                       " has started: start it with `margay run`");
}

// Part::Release.
void leave_its_process(Part& part) {
  the_libraries().leave(part);
}

}  // namespace

Libraries& the_libraries() {
  return mpi_adi::current_process().part<Libraries>();
}

// The name is checked first, because the messages of the other checks contain it.
Status Libraries::check(const host::Library& library) const {
  if (!is_name(library.name)) {
    return Status::error("a library's name has 1 to " + std::to_string(host::kNameMost) +
                         " letters, digits, '_' and '-'");
  }
  if (Status status = check_texts(library); !status.ok()) return status;
  const std::string who = std::string("the library ") + library.name;
  if (library.counters.size() > host::kCountersMost || library.events.size() > host::kEventsMost ||
      library.bits.size() > host::kNamedBitsMost) {
    return Status::error(who + " has " + std::to_string(library.counters.size()) + " counters, " +
                         std::to_string(library.events.size()) + " events and " + std::to_string(library.bits.size()) +
                         " named bits; at most " + std::to_string(host::kCountersMost) + ", " +
                         std::to_string(host::kEventsMost) + " and " + std::to_string(host::kNamedBitsMost));
  }
  if (parts_.size() == host::kLibrariesMost) {
    return Status::error(who + " is one too many: a rank has at most " + std::to_string(host::kLibrariesMost) +
                         " libraries at once");
  }
  const auto are_two_counters = [&library](std::size_t one, std::size_t other) {
    return std::max(one, other) < library.counters.size() && one != other;
  };
  const std::string two_counters = " are two different ones of its " + std::to_string(library.counters.size());
  for (const host::EqualCounters& pair : library.equal) {
    if (!are_two_counters(pair.one, pair.other)) return Status::error(who + ": equal counters" + two_counters);
  }
  const auto [dividend, divisor] = library.quotient;
  if (dividend != divisor && !are_two_counters(dividend, divisor))
    return Status::error(who + ": the counters of a quotient" + two_counters);
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

std::size_t Libraries::slot_for(mpi_adi::MpiRank& rank, std::string_view library) const {
  const auto is_free = [this](std::size_t slot) {
    return std::ranges::none_of(parts_, [slot](const std::unique_ptr<Part>& part) { return part->slot() == slot; });
  };
  const auto& places = rank.board().libraries;
  std::size_t found = places.size();
  for (std::size_t slot = 0; slot < places.size(); ++slot) {
    if (!is_free(slot)) continue;
    const std::string_view name = places[slot].name.data();
    if (name == library) return slot;
    // A place that no library has used is better than one whose counts would be lost.
    if (found == places.size() || (name.empty() && places[found].name[0] != '\0')) found = slot;
  }
  return found;
}

Status Libraries::join(const host::Library& library, bool threads, const void* caller, host::Rank*& out) {
  Part* part = nullptr;
  {
    // One critical section, so that two libraries that join at the same time get different portals and slots.
    const std::lock_guard guard(mutex_);
    if (Status status = check(library); !status.ok()) return status;
    if (Status status = mpi::acquire_machine(threads); !status.ok()) return status;
    mpi_adi::MpiRank& rank = *mpi_adi::current_rank();
    if (Status status = check_start(rank.process().job(), library); !status.ok()) {
      // Parents in MPI_Comm_spawn then get the reason from the launcher, if the process ends.
      sim::set_name(rank.board().failed_call, lasting_name(library.name, "join"));
      sim::set_text(rank.board().message, status.sentence());
      mpi::release_machine(mpi::User::library);
      return status;
    }
    rank.enter();
    parts_.push_back(std::make_unique<Part>(rank, library, slot_for(rank, library.name), &leave_its_process));
    part = parts_.back().get();
    rank.leave();
  }
  // Outside the mutex, because it waits for other ranks.
  const char* const call = lasting_name(library.name, "join");
  part->enter(call, caller);
  Status status = part->open();
  part->leave(call);
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
  // Outside the mutex, because the last user waits until the wires are drained.
  mpi::release_machine(mpi::User::library);
}

namespace {

// The host of every process; it has no state of its own. Libraries call it by virtual functions, so that they need one
// symbol of libmpi only.
class TheHost final : public host::Host {
 public:
  [[nodiscard]] Status join(const host::Library& library, bool threads, const void* caller, host::Rank*& out) override {
    return the_libraries().join(library, threads, caller, out);
  }
  int run_ranks(int argc, char** argv, int (*entry)(int, char**)) override {
    return mpi::run_ranks_as_threads(argc, argv, entry);
  }
  void check_end(const host::Outgoing& message) override {
    portals::require(state_of(message) != host::SendState::queued,
                     "a library destroys a message that is still under way; keep it until state() is not queued");
  }
};

}  // namespace

}  // namespace margay::libraries

extern "C" __attribute__((visibility("default"))) margay::host::Host* MPIX_Margay_host(std::uint32_t version) {
  static margay::libraries::TheHost host;
  return version == margay::host::kVersion ? &host : nullptr;
}
