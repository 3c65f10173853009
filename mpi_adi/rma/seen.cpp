// What a trace is told of accesses and synchronisations.
#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/rma/bits.hpp"
#include "mpi_adi/rma/epoch.hpp"
#include "mpi_adi/rma/rma.hpp"

namespace margay::mpi_adi {

static_assert(static_cast<int>(sim::TraceAccess::put) == static_cast<int>(sim::CountedAccess::kPut) &&
              static_cast<int>(sim::TraceAccess::get) == static_cast<int>(sim::CountedAccess::kGet));

void Rma::record_access(const Window& window, const Access& access, sim::TraceAccess call, WindowWay way,
                        std::uint64_t bytes) {
  sim::TraceEvent event;
  event.reason = static_cast<std::uint8_t>(way);
  event.bytes = bytes;
  event.detail = access.offset;
  event.a = static_cast<std::uint32_t>(call);
  event.b = static_cast<std::uint32_t>(access_epoch(window, access.target));
  record(window, sim::TraceKind::window_access, access.target, event);
}

void Rma::record(const Window& window, sim::TraceKind kind, int target, sim::TraceEvent event) {
  define_in_trace(parts_.recorder(), *window.communicator);  // its name is the window's
  event.kind = kind;
  event.source = parts_.kernel.me().rank;
  if (target >= 0) event.destination = window.targets[static_cast<std::size_t>(target)].world_rank;
  event.match_bits = window_bits(window);
  parts_.recorder().record(event);
}

}  // namespace margay::mpi_adi
