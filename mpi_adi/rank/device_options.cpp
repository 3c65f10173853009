#include "mpi_adi/rank/device_options.hpp"

#include <string>

namespace margay::mpi_adi {

using portals::Status;

Status device_options(const sim::Options& options, DeviceOptions& out) {
  const std::string protocol = options.item("protocol", "long", "puma");
  if (protocol == "rendezvous") {
    out.long_protocol = DeviceOptions::LongProtocol::rendezvous;
  } else if (protocol != "puma") {
    return Status::error("--protocol long=" + protocol + ": the long protocols are puma and rendezvous");
  }
  const std::string limit = options.item("protocol", "short_limit");
  std::uint64_t bytes = 0;
  if (!limit.empty()) {
    if (!sim::parse_bytes(limit, bytes)) {
      return Status::error("--protocol short_limit=" + limit + ": a size is a number, with k, m or g behind it");
    }
    out.short_limit_shm = out.short_limit_tcp = bytes;
  }
  return options.bytes("heap_bytes", out.heap_bytes);
}

}  // namespace margay::mpi_adi
