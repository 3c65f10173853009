// Tests of the kernel's receiving side with headers that no kernel of margay sends: their sender counts as lost, or the
// message is dropped.
#include <doctest/doctest.h>

#include <array>

#include "portals/memory/block.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/kernel.hpp"
#include "tests/sim/shm_set.hpp"

namespace margay::sim::test {
namespace {

constexpr portals::PortalIndex kReadable = 4;

struct TwoKernels {
  TwoKernels() {
    portals::Options options;
    options.direction = portals::Direction::read_only;
    options.offset_by = portals::OffsetBy::sender;
    REQUIRE(target.table().attach(kReadable, block, options).ok());
  }
  // The get from which a test starts.
  static portals::Header get() {
    portals::Header header;
    header.kind = portals::Kind::get;
    header.destination = {0, 1};
    header.portal = kReadable;
    header.return_portal = 5;
    header.return_length = 8;
    return header;
  }
  // Sends the header as its wire would carry it, without checks.
  void send(const portals::Header& header) {
    REQUIRE(sender.try_send(header, {}));
    for (int round = 0; round < 4; ++round) static_cast<void>(target.progress());
  }

  ShmSet set{2};
  RealClock clock;
  Recorder recorder{clock};
  std::array<std::byte, 64> memory{};
  portals::SingleBlock block{portals::Buffer{memory.data(), memory.size()}};
  Kernel sender{{0, 0}, {{&set.wire(0), &set.wire(0)}}, set.finished(0), recorder};
  Kernel target{{0, 1}, {{&set.wire(1), &set.wire(1)}}, set.finished(1), recorder};
};

TEST_CASE("target: a get without a return portal is malformed, and its sender is lost") {
  TwoKernels kernels;
  portals::Header get = TwoKernels::get();
  get.return_portal = portals::kNoPortal;
  SUBCASE("with no other field set") {
    get.return_length = 0;
  }
  SUBCASE("with a length") {}
  SUBCASE("with match bits for the reply") {
    get.return_match_bits = 7;
  }
  kernels.send(get);
  CHECK(kernels.target.initiator().lost(0));
  CHECK_EQ(kernels.target.initiator().loss(0), "a get without a return portal");
  CHECK_EQ(kernels.block.messages(), 0);
}

TEST_CASE("target: a get beyond the available bytes is dropped, also if the sum of its numbers wraps") {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{65}, kMost - 7, kMost}) {
    for (const std::uint64_t length : {std::uint64_t{65}, std::uint64_t{1} << 63, kMost - 63, kMost}) {
      TwoKernels kernels;
      portals::Header get = TwoKernels::get();
      get.offset = offset;
      get.return_length = length;
      get.return_offset = kMost;
      kernels.send(get);
      CHECK_FALSE(kernels.target.initiator().lost(0));
      CHECK_EQ(kernels.block.messages(), 0);
      CHECK_EQ(kernels.target.registers().delivered(0), 0);
    }
  }
}

}  // namespace
}  // namespace margay::sim::test
