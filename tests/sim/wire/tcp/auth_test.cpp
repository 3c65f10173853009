// Tests of the handshake on hand-made bytes: a peer with the secret is accepted, in pieces of any length; any other
// peer is rejected.
#include "sim/wire/tcp/auth.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace margay::sim {
namespace {

JobSecret secret_made_of(int byte) {
  JobSecret secret;
  secret.fill(static_cast<std::byte>(byte));
  return secret;
}

constexpr std::uint64_t kOwnJob = 0x0102'0304'0506'0708;
constexpr std::uint64_t kOtherJob = 0xf1f2'f3f4'f5f6'f7f8;

Endpoint own_place(std::uint32_t place) {
  return {kOwnJob, place};
}
Endpoint other_place(std::uint32_t place) {
  return {kOtherJob, place};
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
      Handshake initiator = Handshake::initiate(secret, own_place(3), own_place(1), 4);
      Handshake acceptor = Handshake::accept(secret, own_place(1), 4);
      CHECK_EQ(acceptor.wanted(), kHelloBytesMin);  // it does not know the version yet
      CHECK_EQ(carry(initiator, acceptor, piece), kHelloBytes);
      CHECK_EQ(carry(acceptor, initiator, piece), kAnswerBytes);
      CHECK_EQ(carry(initiator, acceptor, piece), kProofBytes);
      REQUIRE(acceptor.state() == Handshake::State::proved);
      CHECK(acceptor.peer() == own_place(3));
      CHECK_EQ(acceptor.wanted(), 0);  // the first frame stays in the socket
      acceptor.decide(verdict);
      CHECK_EQ(carry(acceptor, initiator, piece), kVerdictBytes);
      REQUIRE(initiator.state() == Handshake::State::done);
      CHECK(initiator.verdict() == verdict);
      CHECK(initiator.peer() == own_place(1));
    }
  }
}

TEST_CASE("handshake: another secret is rejected by either side") {
  const JobSecret ours = secret_made_of(5);
  const JobSecret theirs = secret_made_of(6);
  Handshake initiator = Handshake::initiate(ours, own_place(0), own_place(1), 2);
  Handshake acceptor = Handshake::accept(theirs, own_place(1), 2);
  carry(initiator, acceptor);
  carry(acceptor, initiator);
  CHECK(initiator.state() == Handshake::State::failed);
  CHECK(initiator.refuted());
  CHECK(initiator.outgoing().empty());  // it sends its proof only to a peer with a valid proof

  Handshake stranger = Handshake::accept(ours, own_place(1), 2);
  Handshake honest = Handshake::initiate(ours, own_place(0), own_place(1), 2);
  carry(honest, stranger);
  static_cast<void>(take_outgoing(stranger));
  stranger.feed(std::vector<std::byte>(kProofBytes, std::byte{9}));
  CHECK(stranger.state() == Handshake::State::failed);
}

TEST_CASE("handshake: a proof is valid for one handshake, one role and one pair") {
  const JobSecret secret = secret_made_of(5);
  Handshake initiator = Handshake::initiate(secret, own_place(0), own_place(1), 2);
  Handshake acceptor = Handshake::accept(secret, own_place(1), 2);
  const std::vector<std::byte> hello = take_outgoing(initiator);
  acceptor.feed(hello);
  const std::vector<std::byte> answer = take_outgoing(acceptor);
  initiator.feed(answer);
  const std::vector<std::byte> proof = take_outgoing(initiator);

  Handshake replayed = Handshake::accept(secret, own_place(1), 2);
  replayed.feed(hello);
  static_cast<void>(take_outgoing(replayed));
  replayed.feed(proof);
  CHECK(replayed.state() == Handshake::State::failed);

  // The acceptor's own tag, sent back to it, is not accepted as a proof.
  Handshake reflected = Handshake::accept(secret, own_place(1), 2);
  reflected.feed(hello);
  const std::vector<std::byte> its_answer = take_outgoing(reflected);
  reflected.feed(std::span(its_answer).subspan(kAnswerBytes - kProofBytes));
  CHECK(reflected.state() == Handshake::State::failed);

  // The same proof under a hello that claims another rank.
  std::vector<std::byte> forged = hello;
  Handshake wide = Handshake::accept(secret, own_place(1), 2);
  forged[20] = std::byte{1};
  wide.feed(forged);
  CHECK(wide.state() == Handshake::State::failed);
}

TEST_CASE("handshake: each flipped bit of each message is detected") {
  const JobSecret secret = secret_made_of(5);
  for (std::size_t bit = 0; bit < 8 * kHelloBytes; ++bit) {
    Handshake initiator = Handshake::initiate(secret, own_place(0), own_place(1), 4);
    Handshake acceptor = Handshake::accept(secret, own_place(1), 4);
    std::vector<std::byte> hello = take_outgoing(initiator);
    hello[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    acceptor.feed(hello);
    if (acceptor.state() == Handshake::State::talking) carry(acceptor, initiator);
    if (acceptor.state() == Handshake::State::talking) carry(initiator, acceptor);
    CAPTURE(bit);
    CHECK((acceptor.state() == Handshake::State::failed || initiator.state() == Handshake::State::failed));
  }
  for (std::size_t bit = 0; bit < 8 * (kAnswerBytes + kProofBytes); ++bit) {
    Handshake initiator = Handshake::initiate(secret, own_place(0), own_place(1), 4);
    Handshake acceptor = Handshake::accept(secret, own_place(1), 4);
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
  const Endpoint self = own_place(1);
  constexpr Callers kOwn = Callers::own_job;
  constexpr Callers kOthers = Callers::other_jobs;
  struct Case {
    const char* what;
    Endpoint from, to;
    std::uint32_t world;
    Callers callers;
    std::uint32_t acceptors_world;
    bool valid;
  };
  for (const Case& one : {
           Case{"a rank of this job", own_place(0), self, 4, kOwn, 4, true},
           Case{"the last rank", own_place(3), self, 4, kOwn, 4, true},
           Case{"another rank is dialed", own_place(0), own_place(2), 4, kOwn, 4, false},
           Case{"the same place of another job is dialed", own_place(0), other_place(1), 4, kOwn, 4, false},
           Case{"another size", own_place(0), self, 5, kOwn, 4, false},
           Case{"the acceptor itself", self, self, 4, kOwn, 4, false},
           Case{"a rank out of range", own_place(4), self, 4, kOwn, 4, false},
           Case{"the highest number", own_place(0xffff'ffff), self, 4, kOwn, 4, false},
           Case{"a process of another job", other_place(0), self, 4, kOwn, 4, false},
           Case{"the same place in another job", other_place(1), self, 4, kOwn, 4, false},
           Case{"a guest at a wire of this job", other_place(0), self, 0, kOwn, 4, false},
           Case{"a guest", other_place(0), self, 0, kOthers, 0, true},
           Case{"a guest at the same place", other_place(1), self, 0, kOthers, 0, true},
           Case{"a guest at any place", other_place(0xffff'ffff), self, 0, kOthers, 0, true},
           Case{"a job that differs in the upper half", {kOwnJob ^ 1ULL << 63, 0}, self, 0, kOthers, 0, true},
           Case{"a rank of this job as a guest", own_place(0), self, 0, kOthers, 0, false},
           Case{"the acceptor as its guest", self, self, 0, kOthers, 0, false},
           Case{"a guest that dials another place", other_place(0), own_place(2), 0, kOthers, 0, false},
           Case{"a guest that dials its own job", other_place(0), other_place(1), 0, kOthers, 0, false},
           Case{"a guest with a world", other_place(0), self, 4, kOthers, 0, false},
       }) {
    CAPTURE(one.what);
    Handshake initiator = Handshake::initiate(secret, one.from, one.to, one.world);
    Handshake acceptor = Handshake::accept(secret, self, one.acceptors_world, one.callers);
    carry(initiator, acceptor);
    if (one.valid) {
      carry(acceptor, initiator);
      carry(initiator, acceptor);
      REQUIRE(acceptor.state() == Handshake::State::proved);
      CHECK(acceptor.peer() == one.from);
      continue;
    }
    CHECK(acceptor.state() == Handshake::State::failed);
    CHECK_FALSE(acceptor.reason().empty());
    CHECK(acceptor.outgoing().empty());
  }
}

TEST_CASE("handshake: a job with the identity 0 works") {
  const JobSecret secret = secret_made_of(5);
  Handshake initiator = Handshake::initiate(secret, {0, 0}, {0, 1}, 2);
  Handshake acceptor = Handshake::accept(secret, {0, 1}, 2);
  carry(initiator, acceptor);
  carry(acceptor, initiator);
  carry(initiator, acceptor);
  CHECK(acceptor.state() == Handshake::State::proved);
}

// The bytes of one handshake are valid in no other one: not of another job, and not between other places.
TEST_CASE("handshake: tags are valid between two jobs only") {
  const JobSecret key = secret_made_of(5);
  const Endpoint from = other_place(2);
  const Endpoint to = own_place(1);
  Handshake initiator = Handshake::initiate(key, from, to, 0);
  Handshake acceptor = Handshake::accept(key, to, 0, Callers::other_jobs);
  const std::vector<std::byte> hello = take_outgoing(initiator);
  acceptor.feed(hello);
  const std::vector<std::byte> answer = take_outgoing(acceptor);
  initiator.feed(answer);
  const std::vector<std::byte> proof = take_outgoing(initiator);
  acceptor.feed(proof);
  REQUIRE(acceptor.state() == Handshake::State::proved);

  // Each changed byte of the identities and of the world's size makes the acceptor's tag invalid for this initiator.
  for (std::size_t at = 12; at < kHelloBytes - 32; ++at) {
    CAPTURE(at);
    std::vector<std::byte> changed = hello;
    changed[at] ^= std::byte{0x40};
    const auto job_at = [&changed](std::size_t offset) {
      Endpoint endpoint;
      std::memcpy(&endpoint.job, changed.data() + offset, 8);
      std::memcpy(&endpoint.place, changed.data() + offset + 8, 4);
      return endpoint;
    };
    std::uint32_t world = 0;
    std::memcpy(&world, changed.data() + 36, 4);
    // This acceptor accepts the changed claims.
    Handshake other = Handshake::accept(key, job_at(24), world, Callers::other_jobs);
    other.feed(changed);
    REQUIRE(other.state() == Handshake::State::talking);
    Handshake dialer = Handshake::initiate(key, from, to, 0);
    static_cast<void>(take_outgoing(dialer));
    dialer.feed(take_outgoing(other));
    CHECK(dialer.state() == Handshake::State::failed);
    CHECK(dialer.outgoing().empty());
    other.feed(proof);
    CHECK(other.state() == Handshake::State::failed);
  }
  // A recorded answer, replayed to an initiator of a third job.
  Handshake third = Handshake::initiate(key, {3, 2}, to, 0);
  static_cast<void>(take_outgoing(third));
  third.feed(answer);
  CHECK(third.state() == Handshake::State::failed);
  CHECK(third.reason().find("user's key") != std::string_view::npos);
}

TEST_CASE("handshake: another version is answered, so that its side can name it") {
  const JobSecret secret = secret_made_of(5);
  Handshake initiator = Handshake::initiate(secret, own_place(0), own_place(1), 2);
  Handshake acceptor = Handshake::accept(secret, own_place(1), 2);
  carry(initiator, acceptor);
  std::vector<std::byte> answer = take_outgoing(acceptor);
  answer[8] = std::byte{kHandshakeVersion + 1};
  initiator.feed(answer);
  REQUIRE(initiator.state() == Handshake::State::failed);
  CHECK(initiator.refuted());
  CHECK(initiator.reason().find("version") != std::string_view::npos);
}

TEST_CASE("handshake: an initiator of another version gets the whole answer, and is not accepted") {
  const JobSecret secret = secret_made_of(5);
  struct Case {
    std::byte version;
    std::size_t bytes;
  };
  // Version 2 has a hello of 56 bytes; a later version may have a longer one.
  for (const Case& one :
       {Case{std::byte{1}, 56}, Case{std::byte{2}, 56}, Case{std::byte{4}, 72}, Case{std::byte{9}, 130}}) {
    for (const std::size_t piece : {1U, 56U, 200U}) {
      CAPTURE(one.bytes);
      std::vector<std::byte> hello(one.bytes, std::byte{3});
      std::memcpy(hello.data(), "margay\r\n", 8);
      hello[8] = one.version;
      hello[9] = hello[10] = hello[11] = std::byte{0};
      Handshake acceptor = Handshake::accept(secret, own_place(1), 4);
      std::vector<std::byte> answer;
      for (std::size_t at = 0; at < hello.size() && acceptor.state() == Handshake::State::talking;) {
        const std::size_t taken = std::min({piece, acceptor.wanted(), hello.size() - at});
        acceptor.feed(std::span(hello).subspan(at, taken));
        at += taken;
        if (answer.empty()) answer = take_outgoing(acceptor);
      }
      REQUIRE_EQ(answer.size(), kAnswerBytes);
      CHECK(std::memcmp(answer.data(), "margay\r\n", 8) == 0);
      CHECK(answer[8] == std::byte{kHandshakeVersion});
      CHECK(std::all_of(answer.end() - 32, answer.end(), [](std::byte byte) { return byte == std::byte{0}; }));
      // The connection stays open, so that the answer is not lost, but at most kAnswerBytes more are read.
      CHECK(acceptor.state() == Handshake::State::talking);
      acceptor.feed(std::vector<std::byte>(acceptor.wanted()));
      CHECK(acceptor.state() == Handshake::State::failed);
    }
  }
}

TEST_CASE("handshake: hostile bytes, one at a time, end an acceptor of guests before it computes anything") {
  const JobSecret key = secret_made_of(5);
  Handshake honest = Handshake::initiate(key, other_place(0), own_place(1), 0);
  const std::vector<std::byte> hello = take_outgoing(honest);
  // Wrong from byte `wrong` on. Bytes of the nonce may have any value.
  for (std::size_t wrong = 0; wrong < kHelloBytes - 32; ++wrong) {
    // Any job and any place may dial; another version gets an answer.
    if (wrong >= 8 && wrong < 24) continue;
    CAPTURE(wrong);
    Handshake acceptor = Handshake::accept(key, own_place(1), 0, Callers::other_jobs);
    for (std::size_t at = 0; at < kHelloBytes && acceptor.state() == Handshake::State::talking; ++at) {
      CHECK_GE(acceptor.wanted(), 1);
      acceptor.feed(std::vector<std::byte>{hello[at] ^ (at >= wrong ? std::byte{0x80} : std::byte{0})});
    }
    CHECK(acceptor.state() == Handshake::State::failed);
    CHECK(acceptor.outgoing().empty());
  }
}

TEST_CASE("handshake: random bytes end in a state, never in an accepted stranger") {
  const JobSecret secret = secret_made_of(5);
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    Handshake side = random() % 2 == 0 ? Handshake::accept(secret, own_place(1), 4)
                                       : Handshake::initiate(secret, own_place(0), own_place(1), 4);
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
