#include "mpi_adi/rank/describe_choices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/protocol/select.hpp"
#include "mpi_adi/rank/device_options.hpp"

namespace margay::mpi_adi {

namespace {

struct ModeRow {
  SendMode mode;
  std::string_view name;
};
constexpr std::array kModes = {ModeRow{SendMode::standard, "standard"}, ModeRow{SendMode::synchronous, "synchronous"},
                               ModeRow{SendMode::ready, "ready"}, ModeRow{SendMode::buffered, "buffered"}};

std::string_view words_of(SendMode mode, SendShape shape) {
  if (mode == SendMode::ready) return "header and body, into the receive that must be there; else dropped and counted";
  switch (shape) {
    case SendShape::short_message:
      return "header and body at once; unexpected ones wait in the receiver's heap";
    case SendShape::long_message:
      return "header and body; what no receive awaits is not kept, and pulled later";
    case SendShape::rendezvous:
      return "header only; the receiver pulls the body";
    case SendShape::ready_long:
      break;  // of ready ones
  }
  return {};
}

std::string in_bytes(std::uint64_t bytes) {
  return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} bytes", bytes);
}

void add_wire(std::vector<std::string>& lines, std::string_view title, std::uint64_t limit,
              DeviceOptions::LongProtocol long_protocol) {
  lines.push_back(std::string(title));
  const auto add = [&](const std::string& sizes, std::uint64_t bytes) {
    for (const ModeRow& row : kModes) {
      const ProtocolChoice choice = select_protocol(row.mode, bytes, limit, long_protocol);
      lines.push_back(fmt::format("  {:<16} {:<12} {:<19} {:<12} {}", sizes, row.name, sim::name(choice.protocol),
                                  sim::name(choice.reason), words_of(row.mode, choice.shape)));
    }
  };
  add("up to " + in_bytes(limit), limit);
  add("above", limit + 1);
}

}  // namespace

std::vector<std::string> describe_choices(const sim::Options& options) {
  DeviceOptions device;
  if (const portals::Status status = device_options(options, device); !status.ok()) return {status.sentence()};
  std::vector<std::string> lines{
      "point-to-point (by bytes, mode and wire; --protocol short_limit=BYTES, long=rendezvous)"};
  add_wire(lines, "inside a node", short_limit_of(device, sim::WireId::shm), device.long_protocol);
  add_wire(lines, "between nodes", short_limit_of(device, sim::WireId::tcp), device.long_protocol);
  return lines;
}

std::vector<std::string> describe_choices(unsigned /*ranks*/, bool /*crowded*/) {
  return describe_choices(sim::Options::from_environment(environ));
}

}  // namespace margay::mpi_adi
