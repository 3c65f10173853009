#include "sim/wire/tcp/auth.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "portals/base/assert.hpp"

namespace margay::sim {
namespace {

static_assert(crypto_auth_hmacsha256_KEYBYTES == sizeof(JobSecret));
static_assert(crypto_auth_hmacsha256_BYTES == kProofBytes);

// The line end in it detects a transport that rewrites text.
constexpr std::string_view kMagic = "margay\r\n";
constexpr std::string_view kInitiatorRole = "margay handshake: initiator";
constexpr std::string_view kAcceptorRole = "margay handshake: acceptor ";
// Offsets of a hello's fields.
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kFromAt = 12;
constexpr std::size_t kToAt = 24;
constexpr std::size_t kWorldAt = 36;
constexpr std::size_t kNonceAt = 40;
static_assert(kNonceAt + 32 == kHelloBytes && kHelloBytes <= kAnswerBytes);
static_assert(kMagic.size() == 8 && kInitiatorRole.size() == kAcceptorRole.size());

// Writes a value in little-endian order, whatever the host's order.
void put_u32(std::byte* at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint32_t get_u32(const std::byte* at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(at[i]) << (8 * i);
  return value;
}

void put_endpoint(std::byte* at, const Endpoint& endpoint) {
  put_u32(at, static_cast<std::uint32_t>(endpoint.job));
  put_u32(at + 4, static_cast<std::uint32_t>(endpoint.job >> 32));
  put_u32(at + 8, endpoint.place);
}

Endpoint get_endpoint(const std::byte* at) {
  return {get_u32(at) | static_cast<std::uint64_t>(get_u32(at + 4)) << 32, get_u32(at + 8)};
}

bool magic_at(const std::byte* at) {
  return std::memcmp(at, kMagic.data(), kMagic.size()) == 0;
}

const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

}  // namespace

void wipe(JobSecret& secret) {
  sodium_memzero(secret.data(), secret.size());
}

Handshake Handshake::initiate(const JobSecret& secret, const Endpoint& self, const Endpoint& peer,
                              std::uint32_t world) {
  Handshake made;
  made.secret_ = &secret;
  made.self_ = made.from_ = self;
  made.to_ = peer;
  made.world_ = world;
  made.initiator_ = true;
  // A fresh nonce for each handshake, so that a recorded proof is worthless.
  fill_random(made.initiator_nonce_);
  std::byte* out = made.out_.data();
  std::memcpy(out, kMagic.data(), kMagic.size());
  put_u32(out + kVersionAt, kHandshakeVersion);
  put_endpoint(out + kFromAt, self);
  put_endpoint(out + kToAt, peer);
  put_u32(out + kWorldAt, world);
  std::memcpy(out + kNonceAt, made.initiator_nonce_.data(), made.initiator_nonce_.size());
  made.out_bytes_ = kHelloBytes;
  made.expect(Expect::answer, kAnswerBytes);
  return made;
}

Handshake Handshake::accept(const JobSecret& secret, const Endpoint& self, std::uint32_t world, Callers callers) {
  Handshake made;
  made.secret_ = &secret;
  made.self_ = made.to_ = self;
  made.world_ = world;
  made.callers_ = callers;
  // The remainder follows if the version is this one.
  made.expect(Expect::hello, kHelloBytesMin);
  return made;
}

// Every message of a version has a fixed length, so a stranger's bytes do not determine how much is read.
void Handshake::expect(Expect what, std::size_t bytes) {
  MARGAY_ASSERT(bytes <= in_.size());
  expect_ = what;
  expected_ = bytes;
  in_bytes_ = 0;
  state_ = State::talking;
}

void Handshake::sent(std::size_t bytes) {
  MARGAY_ASSERT(bytes <= out_bytes_ - out_sent_);
  out_sent_ += bytes;
}

// The failure is final: no later bytes change the state.
void Handshake::fail(std::string_view reason, bool refuted) {
  state_ = State::failed;
  reason_ = reason;
  refuted_ = refuted;
}

void Handshake::fail_unproved(bool refuted) {
  fail(from_.job == to_.job ? "it did not prove that it knows the job's secret"
                            : "it did not prove that it knows the user's key",
       refuted);
}

void Handshake::feed(std::span<const std::byte> bytes) {
  // The two sides send in turns. Bytes that a side sends before its turn stay in the socket.
  MARGAY_ASSERT(outgoing().empty());
  const std::size_t taken = std::min(bytes.size(), wanted());
  if (taken == 0) return;
  std::memcpy(in_.data() + in_bytes_, bytes.data(), taken);
  in_bytes_ += taken;
  if (in_bytes_ < expected_) return;
  if (expect_ == Expect::hello && reads_more()) return feed(bytes.subspan(taken));
  switch (expect_) {
    case Expect::hello:
      return take_hello();
    case Expect::answer:
      return take_answer();
    case Expect::proof:
      return take_proof();
    case Expect::verdict:
      return take_verdict();
  }
}

bool Handshake::reads_more() {
  const bool begun = magic_at(in_.data()) && get_u32(in_.data() + kVersionAt) == kHandshakeVersion;
  if (!begun || in_bytes_ == kHelloBytes) return false;
  expected_ = kHelloBytes;
  return true;
}

// A stranger's claims are compared before anything is computed from them. An initiator of another version gets an
// answer too, so that it can report the difference.
void Handshake::take_hello() {
  if (!magic_at(in_.data())) return fail("it does not speak margay's handshake", false);
  same_version_ = get_u32(in_.data() + kVersionAt) == kHandshakeVersion;
  if (!same_version_) return answer_version();
  from_ = get_endpoint(in_.data() + kFromAt);
  to_ = get_endpoint(in_.data() + kToAt);
  if (!check_claims(get_u32(in_.data() + kWorldAt))) return;
  std::memcpy(initiator_nonce_.data(), in_.data() + kNonceAt, initiator_nonce_.size());
  fill_random(acceptor_nonce_);
  put_answer(tag(kAcceptorRole));
  expect(Expect::proof, kProofBytes);
}

bool Handshake::check_claims(std::uint32_t world) {
  const bool is_foreign = from_.job != self_.job;
  std::string_view wrong;
  if (world != world_) {
    wrong = "it belongs to a job of another size";
  } else if (to_ != self_) {
    wrong = "it expects another process";
  } else if (from_ == self_) {
    wrong = "it claims the identity of the process that it dials";
  } else if (callers_ == Callers::own_job && is_foreign) {
    wrong = "it belongs to another job";
  } else if (callers_ == Callers::own_job && from_.place >= world_) {
    wrong = "it claims an invalid rank";
  } else if (callers_ == Callers::other_jobs && !is_foreign) {
    wrong = "it belongs to this job, and connects as if it belonged to another one";
  }
  if (!wrong.empty()) fail(wrong, false);
  return wrong.empty();
}

// The fields of another version are unknown, so nothing is computed from them, and the answer has a tag of zeros. Up to
// kAnswerBytes more are read, because closing the connection with unread bytes of a longer hello could discard the
// answer.
void Handshake::answer_version() {
  fill_random(acceptor_nonce_);
  put_answer(Tag{});
  expect(Expect::proof, kAnswerBytes);
}

void Handshake::put_answer(const Tag& proof) {
  std::byte* out = out_.data();
  std::memcpy(out, kMagic.data(), kMagic.size());
  put_u32(out + kVersionAt, kHandshakeVersion);
  std::memcpy(out + 12, acceptor_nonce_.data(), acceptor_nonce_.size());
  std::memcpy(out + 44, proof.data(), proof.size());
  out_bytes_ = kAnswerBytes;
  out_sent_ = 0;
}

void Handshake::take_answer() {
  if (!magic_at(in_.data())) return fail("the process at its address does not speak margay's handshake", true);
  if (get_u32(in_.data() + 8) != kHandshakeVersion) {
    return fail("it speaks another version of margay's handshake: start all processes with the same margay", true);
  }
  std::memcpy(acceptor_nonce_.data(), in_.data() + 12, acceptor_nonce_.size());
  const Tag theirs = tag(kAcceptorRole);
  // Compared in constant time, so that timing reveals nothing about the tag.
  if (sodium_memcmp(theirs.data(), in_.data() + 44, theirs.size()) != 0) {
    return fail_unproved(true);
  }
  // The initiator makes its proof only now, after it has verified the acceptor's.
  const Tag mine = tag(kInitiatorRole);
  std::memcpy(out_.data(), mine.data(), mine.size());
  out_bytes_ = kProofBytes;
  out_sent_ = 0;
  expect(Expect::verdict, kVerdictBytes);
}

void Handshake::take_proof() {
  // An initiator of another version is refused here and not at its hello, so that it detects the difference in the
  // answer.
  if (!same_version_) return fail("it speaks another version of margay's handshake", false);
  const Tag theirs = tag(kInitiatorRole);
  if (sodium_memcmp(theirs.data(), in_.data(), theirs.size()) != 0) {
    return fail_unproved(false);
  }
  state_ = State::proved;
}

void Handshake::take_verdict() {
  const std::uint32_t code = get_u32(in_.data());
  if (code < static_cast<std::uint32_t>(Verdict::welcome) ||
      code > static_cast<std::uint32_t>(Verdict::no_descriptor)) {
    return fail("it ended the handshake with an invalid verdict", true);
  }
  verdict_ = static_cast<Verdict>(code);
  state_ = State::done;
}

void Handshake::decide(Verdict verdict) {
  MARGAY_ASSERT(state_ == State::proved);
  verdict_ = verdict;
  put_u32(out_.data(), static_cast<std::uint32_t>(verdict));
  out_bytes_ = kVerdictBytes;
  out_sent_ = 0;
  // The verdict is still to be sent, so the driver continues while outgoing() is not empty.
  state_ = State::done;
}

// The proof of one side. It covers role, version, both identities, the size of the world and both nonces, so it is
// valid for one side of one handshake of one pair only.
Handshake::Tag Handshake::tag(std::string_view role) const {
  constexpr std::size_t kRoleBytes = kInitiatorRole.size();
  std::array<std::byte, kRoleBytes + 32 + 64> text;
  std::memcpy(text.data(), role.data(), kRoleBytes);
  std::byte* at = text.data() + kRoleBytes;
  put_u32(at, kHandshakeVersion);
  put_endpoint(at + 4, from_);
  put_endpoint(at + 16, to_);
  put_u32(at + 28, world_);
  std::memcpy(at + 32, initiator_nonce_.data(), initiator_nonce_.size());
  std::memcpy(at + 64, acceptor_nonce_.data(), acceptor_nonce_.size());
  Tag made;
  crypto_auth_hmacsha256(reinterpret_cast<unsigned char*>(made.data()), raw(text.data()), text.size(),
                         raw(secret_->data()));
  return made;
}

}  // namespace margay::sim
