#include "mpi_adi/protocol/select.hpp"

#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

WorldOptions no_devices() {
  WorldOptions options;
  options.devices = 0;
  return options;
}

TEST_CASE("the protocol follows from mode, size, limit and option") {
  using sim::TraceChoice;
  using sim::TraceProtocol;
  VirtualWorld world(no_devices());
  DeviceOptions options;
  options.short_limit_virtual = 1000;
  options.short_limit_shm = 500;
  const DeviceParts puma(world.kernel(0), options);
  const auto is = [](const ProtocolChoice& choice, SendShape shape, TraceProtocol protocol, TraceChoice reason) {
    return choice.shape == shape && choice.protocol == protocol && choice.reason == reason;
  };
  const auto choose = [&puma](SendMode mode, std::uint64_t bytes, std::uint32_t peer = 1) {
    return select_protocol(puma, mode, bytes, peer);
  };
  CHECK(is(choose(SendMode::standard, 1000), SendShape::short_message, TraceProtocol::short_send,
           TraceChoice::fits_short));
  CHECK(is(choose(SendMode::standard, 1001), SendShape::long_message, TraceProtocol::long_send,
           TraceChoice::above_short));
  CHECK(is(choose(SendMode::standard, 501, 0), SendShape::long_message, TraceProtocol::long_send,
           TraceChoice::above_short));  // to this rank itself: the shared memory's limit
  CHECK(is(choose(SendMode::synchronous, 1001), SendShape::long_message, TraceProtocol::synchronous_long,
           TraceChoice::mode));
  CHECK(is(choose(SendMode::ready, 1000), SendShape::short_message, TraceProtocol::ready_short, TraceChoice::mode));
  CHECK(is(choose(SendMode::ready, 1001), SendShape::ready_long, TraceProtocol::ready_long, TraceChoice::mode));
  CHECK(is(choose(SendMode::buffered, 1001), SendShape::long_message, TraceProtocol::buffered, TraceChoice::mode));
}

TEST_CASE("the rendezvous option changes long messages, except ready ones") {
  VirtualWorld world(no_devices());
  DeviceOptions options;
  options.long_protocol = DeviceOptions::LongProtocol::rendezvous;
  const DeviceParts parts(world.kernel(0), options);
  CHECK(select_protocol(parts, SendMode::standard, 1 << 20, 1).shape == SendShape::rendezvous);
  CHECK(select_protocol(parts, SendMode::standard, 1 << 20, 1).reason == sim::TraceChoice::option);
  CHECK(select_protocol(parts, SendMode::standard, 10, 1).shape == SendShape::short_message);
  CHECK(select_protocol(parts, SendMode::ready, 1 << 20, 1).shape == SendShape::ready_long);
}

TEST_CASE("a short message always fits in an empty heap") {
  VirtualWorld world(no_devices());
  DeviceOptions options;
  options.heap_bytes = 64 * 1024;
  options.short_limit_tcp = 1 << 20;
  const DeviceParts parts(world.kernel(0), options);
  CHECK(parts.short_limits[static_cast<std::size_t>(sim::WireId::tcp)] == 16 * 1024);
}

}  // namespace
}  // namespace margay::mpi_adi
