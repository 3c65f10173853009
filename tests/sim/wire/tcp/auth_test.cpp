// Tests of the handshake on hand-made bytes: a peer with the secret is accepted, in pieces of any length; any other
// peer is rejected.
#include "sim/wire/tcp/auth.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace margay::sim {
namespace {

JobSecret secret_made_of(int byte) {
  JobSecret secret;
  secret.fill(static_cast<std::byte>(byte));
  return secret;
}

std::vector<std::byte> take_outgoing(Handshake& from) {
  const auto out = from.outgoing();
  std::vector<std::byte> bytes(out.begin(), out.end());
  from.sent(bytes.size());
  return bytes;
}

// Carries outgoing bytes to the other side, `piece` at a time; returns their number.
std::size_t carry(Handshake& from, Handshake& to, std::size_t piece = 1000) {
  const std::vector<std::byte> bytes = take_outgoing(from);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    to.feed(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
  }
  return bytes.size();
}

TEST_CASE("handshake: both sides prove themselves, also in single bytes, and the verdict arrives") {
  const JobSecret secret = secret_made_of(5);
  for (const std::size_t piece : {1U, 7U, 1000U}) {
    for (const Verdict verdict : {Verdict::welcome, Verdict::another_serves, Verdict::no_descriptor}) {
      Handshake initiator = Handshake::initiate(secret, 3, 1, 4);
      Handshake acceptor = Handshake::accept(secret, 1, 4);
      CHECK_EQ(acceptor.wanted(), kHelloBytes);
      CHECK_EQ(carry(initiator, acceptor, piece), kHelloBytes);
      CHECK_EQ(carry(acceptor, initiator, piece), kAnswerBytes);
      CHECK_EQ(carry(initiator, acceptor, piece), kProofBytes);
      REQUIRE(acceptor.state() == Handshake::State::proved);
      CHECK_EQ(acceptor.peer(), 3);
      CHECK_EQ(acceptor.wanted(), 0);  // the first frame stays in the socket
      acceptor.decide(verdict);
      CHECK_EQ(carry(acceptor, initiator, piece), kVerdictBytes);
      REQUIRE(initiator.state() == Handshake::State::done);
      CHECK(initiator.verdict() == verdict);
      CHECK_EQ(initiator.peer(), 1);
    }
  }
}

TEST_CASE("handshake: another secret is rejected by either side") {
  const JobSecret ours = secret_made_of(5);
  const JobSecret theirs = secret_made_of(6);
  Handshake initiator = Handshake::initiate(ours, 0, 1, 2);
  Handshake acceptor = Handshake::accept(theirs, 1, 2);
  carry(initiator, acceptor);
  carry(acceptor, initiator);
  CHECK(initiator.state() == Handshake::State::failed);
  CHECK(initiator.refuted());
  CHECK(initiator.outgoing().empty());  // it sends its proof only to a peer with a valid proof

  Handshake stranger = Handshake::accept(ours, 1, 2);
  Handshake honest = Handshake::initiate(ours, 0, 1, 2);
  carry(honest, stranger);
  static_cast<void>(take_outgoing(stranger));
  stranger.feed(std::vector<std::byte>(kProofBytes, std::byte{9}));
  CHECK(stranger.state() == Handshake::State::failed);
}

TEST_CASE("handshake: a proof is valid for one handshake, one role and one pair") {
  const JobSecret secret = secret_made_of(5);
  Handshake initiator = Handshake::initiate(secret, 0, 1, 2);
  Handshake acceptor = Handshake::accept(secret, 1, 2);
  const std::vector<std::byte> hello = take_outgoing(initiator);
  acceptor.feed(hello);
  const std::vector<std::byte> answer = take_outgoing(acceptor);
  initiator.feed(answer);
  const std::vector<std::byte> proof = take_outgoing(initiator);

  Handshake replayed = Handshake::accept(secret, 1, 2);
  replayed.feed(hello);
  static_cast<void>(take_outgoing(replayed));
  replayed.feed(proof);
  CHECK(replayed.state() == Handshake::State::failed);

  // The acceptor's own tag, sent back to it, is not accepted as a proof.
  Handshake reflected = Handshake::accept(secret, 1, 2);
  reflected.feed(hello);
  const std::vector<std::byte> its_answer = take_outgoing(reflected);
  reflected.feed(std::span(its_answer).subspan(kAnswerBytes - kProofBytes));
  CHECK(reflected.state() == Handshake::State::failed);

  // The same proof under a hello that claims another rank.
  std::vector<std::byte> forged = hello;
  Handshake wide = Handshake::accept(secret, 1, 2);
  forged[12] = std::byte{1};
  wide.feed(forged);
  CHECK(wide.state() == Handshake::State::failed);
}

TEST_CASE("handshake: each flipped bit of each message is detected") {
  const JobSecret secret = secret_made_of(5);
  for (std::size_t bit = 0; bit < 8 * kHelloBytes; ++bit) {
    Handshake initiator = Handshake::initiate(secret, 0, 1, 4);
    Handshake acceptor = Handshake::accept(secret, 1, 4);
    std::vector<std::byte> hello = take_outgoing(initiator);
    hello[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    acceptor.feed(hello);
    if (acceptor.state() == Handshake::State::talking) carry(acceptor, initiator);
    if (acceptor.state() == Handshake::State::talking) carry(initiator, acceptor);
    CAPTURE(bit);
    CHECK((acceptor.state() == Handshake::State::failed || initiator.state() == Handshake::State::failed));
  }
  for (std::size_t bit = 0; bit < 8 * (kAnswerBytes + kProofBytes); ++bit) {
    Handshake initiator = Handshake::initiate(secret, 0, 1, 4);
    Handshake acceptor = Handshake::accept(secret, 1, 4);
    carry(initiator, acceptor);
    std::vector<std::byte> answer = take_outgoing(acceptor);
    if (bit < 8 * kAnswerBytes) {
      answer[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      initiator.feed(answer);
      CHECK(initiator.state() == Handshake::State::failed);
      continue;
    }
    initiator.feed(answer);
    std::vector<std::byte> proof = take_outgoing(initiator);
    proof[bit / 8 - kAnswerBytes] ^= static_cast<std::byte>(1 << bit % 8);
    acceptor.feed(proof);
    CHECK(acceptor.state() == Handshake::State::failed);
  }
}

TEST_CASE("handshake: an invalid hello is rejected before anything is computed") {
  const JobSecret secret = secret_made_of(5);
  struct Case {
    std::uint32_t rank, peer, world;
  };
  for (const Case wrong : {Case{0, 2, 4}, Case{0, 1, 5}, Case{1, 1, 4}, Case{4, 1, 4}, Case{0xffff'ffff, 1, 4}}) {
    Handshake initiator = Handshake::initiate(secret, wrong.rank, wrong.peer, wrong.world);
    Handshake acceptor = Handshake::accept(secret, 1, 4);
    carry(initiator, acceptor);
    CHECK(acceptor.state() == Handshake::State::failed);
    CHECK_FALSE(acceptor.reason().empty());
    CHECK(acceptor.outgoing().empty());
  }
}

TEST_CASE("handshake: another version is answered, so that its side can name it") {
  const JobSecret secret = secret_made_of(5);
  Handshake initiator = Handshake::initiate(secret, 0, 1, 2);
  Handshake acceptor = Handshake::accept(secret, 1, 2);
  carry(initiator, acceptor);
  std::vector<std::byte> answer = take_outgoing(acceptor);
  answer[8] = std::byte{kHandshakeVersion + 1};
  initiator.feed(answer);
  REQUIRE(initiator.state() == Handshake::State::failed);
  CHECK(initiator.reason().find("version") != std::string_view::npos);
}

TEST_CASE("handshake: random bytes end in a state, never in an accepted stranger") {
  const JobSecret secret = secret_made_of(5);
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    Handshake side = random() % 2 == 0 ? Handshake::accept(secret, 1, 4) : Handshake::initiate(secret, 0, 1, 4);
    while (side.state() == Handshake::State::talking) {
      static_cast<void>(take_outgoing(side));
      std::vector<std::byte> bytes(random() % 100 + 1);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      side.feed(bytes);
    }
    CHECK(side.state() == Handshake::State::failed);
  }
}

}  // namespace
}  // namespace margay::sim
