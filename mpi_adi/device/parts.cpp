#include "mpi_adi/device/parts.hpp"

#include <unistd.h>

#include <algorithm>

#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"

namespace margay::mpi_adi {

namespace {

std::uint64_t or_default(std::uint64_t value, std::uint64_t otherwise) {
  return value == 0 ? otherwise : value;
}

// Drained each round: room for what comes between two. What finds none waits on its wire.
constexpr std::size_t kCancelHeapBytes = std::size_t{64} << 10;

}  // namespace

std::size_t heap_bytes_of(const DeviceOptions& options) {
  return std::max<std::size_t>(or_default(options.heap_bytes, sim::kHeapBytes), sim::kHeapBytesMin);
}

std::size_t spill_bytes_of(const DeviceOptions& options, std::uint32_t ranks) {
  return std::max(kSpillFactor * heap_bytes_of(options), memory_share(ranks));
}

std::size_t memory_share(std::uint32_t ranks) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  if (pages <= 0) return 0;
  const std::size_t memory = static_cast<std::size_t>(pages) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return memory / 2 / ranks;
}

std::array<std::uint64_t, sim::kWireCount> short_limits_of(const DeviceOptions& options) {
  const std::uint64_t shm = or_default(options.short_limit_shm, sim::kShortLimitBytesShm);
  std::array<std::uint64_t, sim::kWireCount> limits{};
  limits[static_cast<std::size_t>(sim::WireId::self)] = shm;
  limits[static_cast<std::size_t>(sim::WireId::shm)] = shm;
  limits[static_cast<std::size_t>(sim::WireId::tcp)] = or_default(options.short_limit_tcp, sim::kShortLimitBytesTcp);
  limits[static_cast<std::size_t>(sim::WireId::virtual_)] = or_default(options.short_limit_virtual, shm);
  // A default may be too much for a small heap; all ranks have the same options.
  for (std::uint64_t& limit : limits) limit = std::min(limit, sim::short_limit_max(heap_bytes_of(options)));
  return limits;
}

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
            .owner_kind = kOwnerHeap},
           receive_list),
      cancel_memory(kCancelHeapBytes),
      cancels(cancel_memory.buffer()) {
  short_limits = short_limits_of(options);
  short_limit_least = *std::min_element(short_limits.begin(), short_limits.end());

  heaps.push_back(&heap);
  if (recorder().on()) {
    define_portals_in_trace(recorder(), heap.size_bytes());
    heap.define_in_trace(recorder());
  }
  kernel.set_match_probe({.matched = MessageNumbers::matched, .context = &message_numbers});
  const auto attach = [this](portals::PortalIndex portal, portals::MatchList& list) {
    MARGAY_ASSERT(kernel.table().attach(portal, list).ok());
  };
  attach(kReceivePortal, receive_list);
  attach(kAcknowledgmentPortal, acknowledgment_list);
  attach(kReadPortal, read_list);
  kernel.hold_when_no_room(kReceivePortal);
  cancels.set_owner(this, kOwnerCancel);
  portals::Options header_only;
  header_only.save = portals::Save::header;
  cancel_entry.set({0, ~portals::MatchBits{0}}, cancels, header_only);
  cancel_list.append(cancel_entry);
  attach(kCancelPortal, cancel_list);
  kernel.hold_when_no_room(kCancelPortal);
}

void DeviceParts::set_short_limit(sim::WireId wire, std::uint64_t bytes) {
  MARGAY_ASSERT(bytes <= sim::short_limit_max(heap_bytes_of(options)));
  short_limits[static_cast<std::size_t>(wire)] = bytes;
  short_limit_least = *std::min_element(short_limits.begin(), short_limits.end());
}

DeviceParts::~DeviceParts() {
  kernel.set_match_probe({});
  kernel.table().detach(kReceivePortal);
  kernel.table().detach(kAcknowledgmentPortal);
  kernel.table().detach(kReadPortal);
  kernel.table().detach(kCancelPortal);
  cancel_list.remove(cancel_entry);
}

}  // namespace margay::mpi_adi
