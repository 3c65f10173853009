// Tests of the wire contract over TCP, and of properties of TCP's wire only, on both backends with real sockets.
#include "sim/wire/tcp/tcp_wire.hpp"

#include "tests/sim/tcp_set.hpp"
#include "tests/sim/wire_contract.hpp"

namespace margay::sim::test {
namespace {

TEST_CASE("wire contract: tcp") {
  with_each_backend([](TcpBackendChoice backend) {
    run_wire_contract([backend](std::uint32_t ranks) { return std::make_unique<TcpSet>(ranks, backend); });
  });
}

}  // namespace
}  // namespace margay::sim::test
