#include <doctest/doctest.h>

#include "mpi_adi/rma/bits.hpp"
#include "mpi_adi/rma/rma.hpp"
#include "tests/mpi_adi/hand_made.hpp"
#include "tests/mpi_adi/window_requests.hpp"

using namespace margay::mpi_adi;
using namespace margay::mpi_adi::test;

namespace {

// A window of two members. The test creates rank 1's messages.
class TargetWindow {
 public:
  explicit TargetWindow(bool dynamic) : memory(dynamic) {
    window.communicator = &hand.comm();
    window.targets.resize(2);
    for (int rank = 0; rank < 2; ++rank) window.target(rank).world_rank = static_cast<std::uint32_t>(rank);
    window.control = WindowControl(control_, 2);
    window.target(0).control = window.control;
    window.base = memory.begin();
    window.size = GuardedMemory::kBytes;
    window.memory = memory.exposed();
    rma.attach(window);
  }
  ~TargetWindow() { rma.detach(window); }
  TargetWindow(const TargetWindow&) = delete;
  TargetWindow& operator=(const TargetWindow&) = delete;

  void put(margay::portals::PortalIndex portal, margay::portals::MatchBits bits, const std::vector<std::byte>& body) {
    margay::portals::Header header = HandMade::header(margay::portals::Kind::put, portal, bits);
    header.length = body.size();
    hand.inject(header, body);
    hand.settle();
  }

  GuardedMemory memory;
  HandMade hand;
  Window window;
  Rma rma{parts_of(hand.device()), nullptr, [](std::uint32_t, std::uint64_t) {}};

 private:
  alignas(64) std::byte control_[256] = {};
};

}  // namespace

TEST_CASE("no request from a member accesses memory outside of the window") {
  std::mt19937_64 random(11);
  for (const bool dynamic : {false, true}) {
    TargetWindow target(dynamic);
    for (int i = 0; i < 3'000; ++i) {
      std::vector<std::byte> body = random_request(random, target.memory.origin());
      WindowRequestHead head;
      if (body.size() >= sizeof head) {
        std::memcpy(&head, body.data(), sizeof head);
        head.origin = random() % 16 == 0 ? static_cast<int>(random()) : 1;
        std::memcpy(body.data(), &head, sizeof head);
      }
      target.put(kWindowPortal, window_request_bits(target.window, head.kind), body);
      // In some cases a body that the request announced.
      if (i % 3 == 0) target.put(kPutPortal, head.reply_bits, std::vector<std::byte>(random() % 64));
      REQUIRE(target.memory.is_intact());
    }
    CHECK(target.memory.begin()[2048] != std::byte{0x5a});  // some were carried out
  }
}
