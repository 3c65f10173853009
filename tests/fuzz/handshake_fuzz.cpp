// A libFuzzer target for the handshake's parser, as acceptor and as initiator, on any bytes in any pieces. The first
// byte chooses the role (bit 0: acceptor), the accepted callers (bit 1: those of other jobs) and the length of the
// pieces. A stranger's bytes must never end in an accepted connection.
// Corpus: tests/fuzz/handshake_corpus.
#include <cstddef>
#include <cstdint>
#include <span>

#include "portals/base/assert.hpp"
#include "sim/wire/tcp/auth.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::sim;
  if (bytes == 0) return 0;
  JobSecret secret{};
  const bool accepting = (data[0] & 1) != 0;
  const bool guests = (data[0] & 2) != 0;
  const std::size_t piece = 1 + data[0] / 4;
  const Endpoint self{7, 1};
  Handshake side =
      accepting ? guests ? Handshake::accept(secret, self, 0, Callers::other_jobs) : Handshake::accept(secret, self, 4)
                : Handshake::initiate(secret, {7, 0}, self, 4);
  std::span<const std::byte> left(reinterpret_cast<const std::byte*>(data + 1), bytes - 1);
  while (!left.empty() && side.state() == Handshake::State::talking) {
    side.sent(side.outgoing().size());
    const std::size_t now = left.size() < piece ? left.size() : piece;
    side.feed(left.first(now));
    left = left.subspan(now);
  }
  // Both nonces are fresh in each run, so no fixed input contains a right tag.
  MARGAY_ASSERT(side.state() == Handshake::State::talking || side.state() == Handshake::State::failed);
  return 0;
}
