#include "mpi_adi/device/parts.hpp"

#include <algorithm>

#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"

namespace margay::mpi_adi {

namespace {

// Room for the cancel questions that arrive between two progress rounds; each round answers all of them. A question
// without room is held on its wire.
constexpr std::size_t kCancelHeapBytes = std::size_t{64} << 10;

}  // namespace

std::string_view name(ReceiveState state) {
  switch (state) {
    case ReceiveState::idle:
      return "idle";
    case ReceiveState::posted:
      return "posted";
    case ReceiveState::claiming:
      return "body arriving";
    case ReceiveState::pulling:
      return "pulling";
    case ReceiveState::complete:
      return "complete";
  }
  return "unknown";
}

DeviceParts::DeviceParts(sim::Kernel& the_kernel, const DeviceOptions& the_options)
    : kernel(the_kernel),
      options(the_options),
      heap({.heap_bytes = heap_bytes_of(the_options),
            .spill_bytes = spill_bytes_of(the_options, the_kernel.ranks()),
            .portal = kReceivePortal,
            .owner_tag_kind = kOwnerHeap},
           receive_list),
      cancel_memory(kCancelHeapBytes),
      cancels(cancel_memory.buffer()) {
  for (std::size_t wire = 0; wire < short_limits.size(); ++wire) {
    short_limits[wire] = short_limit_of(options, static_cast<sim::WireId>(wire));
  }
  // The least limit lets a small send skip the look-up of its wire.
  short_limit_least = *std::min_element(short_limits.begin(), short_limits.end());

  heaps.push_back(&heap);
  if (recorder().on()) {
    define_portals_in_trace(recorder(), heap.size_bytes());
    heap.define_in_trace(recorder());
  }
  // The probe is always set, because recording may begin later. The kernel calls it only while a trace records.
  kernel.target().set_match_probe({.matched = MessageNumbers::matched, .context = &message_numbers});
  const auto attach = [this](portals::PortalIndex portal, portals::MatchList& list) {
    MARGAY_ASSERT(kernel.table().attach(portal, list).ok());
  };
  attach(kReceivePortal, receive_list);
  attach(kAcknowledgmentPortal, acknowledgment_list);
  attach(kReadPortal, read_list);
  // An unexpected message without room must wait: dropping it would lose data that MPI guarantees.
  kernel.target().hold_when_no_room(kReceivePortal);
  cancels.set_owner_tag(this, kOwnerCancel);
  portals::Options header_only;
  header_only.save = portals::Save::header;
  // Matches every question. The match bits of a question name the send; they are read from the saved header later.
  cancel_entry.set({0, ~portals::MatchBits{0}}, cancels, header_only);
  cancel_list.append(cancel_entry);
  attach(kCancelPortal, cancel_list);
  kernel.target().hold_when_no_room(kCancelPortal);
}

void DeviceParts::set_short_limit(sim::WireId wire, std::uint64_t bytes) {
  MARGAY_ASSERT(bytes <= sim::short_limit_max(heap_bytes_of(options)));
  short_limits[static_cast<std::size_t>(wire)] = bytes;
  short_limit_least = *std::min_element(short_limits.begin(), short_limits.end());
}

DeviceParts::~DeviceParts() {
  // The callback's context is destroyed with this object, while the kernel lives on.
  kernel.target().set_match_probe({});
  kernel.table().detach(kReceivePortal);
  kernel.table().detach(kAcknowledgmentPortal);
  kernel.table().detach(kReadPortal);
  kernel.table().detach(kCancelPortal);
  // The entry is destroyed before the list, so the entry is removed from the list here.
  cancel_list.remove(cancel_entry);
}

}  // namespace margay::mpi_adi
