#include "mpi_adi/rank/device_options.hpp"

#include <cstdint>
#include <string>

#include "mpi_adi/device/parts.hpp"
#include "sim/base/limits.hpp"

namespace margay::mpi_adi {

using portals::Status;

Status device_options(const sim::Options& options, DeviceOptions& out) {
  const std::string protocol = options.item("protocol", "long", "puma");
  if (protocol == "rendezvous") {
    out.long_protocol = DeviceOptions::LongProtocol::rendezvous;
  } else if (protocol != "puma") {
    return Status::error("--protocol long=" + protocol + ": the long protocols are puma and rendezvous");
  }
  const std::string strided = options.item("rma", "strided", "combined");
  if (strided != "combined" && strided != "paper") {
    return Status::error("--rma strided=" + strided +
                         ": the values are combined (one message for all blocks) and paper (a message for each block)");
  }
  out.a_message_a_block = strided == "paper";
  // Read before the short limit, because the limit's bound depends on the heap.
  if (Status status = options.bytes("heap_bytes", out.heap_bytes); !status.ok()) return status;
  // Only a size that the user sets can be too small, never the default.
  if (options.has("heap_bytes") && out.heap_bytes < sim::kHeapBytesMin) {
    return Status::error("MARGAY_HEAP_BYTES=" + options.text("heap_bytes") +
                         ": too small for a message; the minimum is " + std::to_string(sim::kHeapBytesMin) + " bytes");
  }
  const std::string limit = options.item("protocol", "short_limit");
  if (limit.empty()) return {};
  std::uint64_t bytes = 0;
  if (!sim::parse_bytes(limit, bytes)) {
    return Status::error("--protocol short_limit=" + limit + " is not a size; write bytes, or a number with k, m or g");
  }
  const std::uint64_t most = sim::short_limit_max(heap_bytes_of(out));
  if (bytes < 1 || bytes > most) {
    return Status::error("--protocol short_limit=" + limit + " is not from 1 to " + std::to_string(most) +
                         " bytes, a quarter of the heap");
  }
  // The virtual wire's option stays 0, which selects the limit of shared memory.
  out.short_limit_shm = out.short_limit_tcp = bytes;
  return {};
}

}  // namespace margay::mpi_adi
