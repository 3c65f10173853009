// The mutual handshake of two ranks on a new connection: each proves possession of the job's secret without revealing
// it. Pure: bytes in, bytes out, fixed memory, no allocation, so that a stranger's bytes cost nothing. docs/tcp_wire.md
// has the four messages byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/random.hpp"

namespace margay::sim {

// The job's secret: 256 random bits, one per job, handed down by file descriptor; never in arguments, environment, logs
// or traces.
using JobSecret = std::array<std::byte, 32>;

// Sizes of the four messages, by their fields.
inline constexpr std::uint32_t kHandshakeVersion = 2;
// magic 8, version 4, from 4, to 4, world 4, nonce 32
inline constexpr std::size_t kHelloBytes = 56;
// magic 8, version 4, nonce 32, tag 32
inline constexpr std::size_t kAnswerBytes = 76;
inline constexpr std::size_t kProofBytes = 32;  // tag
inline constexpr std::size_t kVerdictBytes = 4;

// The acceptor's answer to an initiator that has proved itself.
enum class Verdict : std::uint32_t {
  welcome = 1,
  // The pair has, or is opening, another connection: close this one and wait for that.
  another_serves = 2,
  // The acceptor has no file descriptor left for it.
  no_descriptor = 3,
};

// Overwrites a secret in a way that the compiler does not remove.
void wipe(JobSecret& secret);

// One side of one handshake. The driver sends outgoing() first, then reads at most wanted() bytes and feeds them, until
// the state is not `talking` any more.
class Handshake {
 public:
  enum class State : std::uint8_t {
    talking,
    // Acceptor: the initiator's claim is true; decide() is due.
    proved,
    // Initiator: verdict() is available. Acceptor: decided; outgoing() may remain.
    done,
    // reason() explains it; the connection is to be closed.
    failed,
  };

  Handshake() = default;
  // `secret` outlives the handshake.
  // The two sides. `rank`: this process; `peer`: the rank that is dialed; `world`: ranks of the job.
  [[nodiscard]] static Handshake initiate(const JobSecret& secret, std::uint32_t rank, std::uint32_t peer,
                                          std::uint32_t world);
  [[nodiscard]] static Handshake accept(const JobSecret& secret, std::uint32_t rank, std::uint32_t world);

  [[nodiscard]] State state() const { return state_; }
  // The bytes to send next; empty: none.
  [[nodiscard]] std::span<const std::byte> outgoing() const {
    return {out_.data() + out_sent_, out_bytes_ - out_sent_};
  }
  // Reports that the first `bytes` of outgoing() have left.
  void sent(std::size_t bytes);
  // Bytes that the message being read still lacks; 0 unless `talking`. A driver that reads no more than this leaves the
  // first frame in the socket.
  [[nodiscard]] std::size_t wanted() const { return state_ == State::talking ? expected_ - in_bytes_ : 0; }
  // Takes at most wanted() of `bytes`, which may be anything. Requires: outgoing() is empty.
  void feed(std::span<const std::byte> bytes);

  // Acceptor, in `proved`: sets the answer to the initiator.
  void decide(Verdict verdict);
  // Initiator, in `done`.
  [[nodiscard]] Verdict verdict() const { return verdict_; }
  // The other side's rank. For the acceptor a claim, which is true only from `proved` on.
  [[nodiscard]] std::uint32_t peer() const { return initiator_ ? to_ : from_; }
  // In `failed`: the end of a sentence; static.
  [[nodiscard]] std::string_view reason() const { return reason_; }
  // Initiator, in `failed`: the other side answered, and wrongly, so trying again is useless.
  [[nodiscard]] bool refuted() const { return refuted_; }

 private:
  using Nonce = std::array<std::byte, 32>;
  using Tag = std::array<std::byte, 32>;
  // The message that is being read.
  enum class Expect : std::uint8_t { hello, answer, proof, verdict };

  // One step for each message that is read completely. take_hello() is the acceptor's: it checks the claims, and
  // answers with its own proof.
  void take_hello();
  // The initiator's: verifies the acceptor's proof, and sends its own.
  void take_answer();
  // The acceptor's: verifies the initiator's proof.
  void take_proof();
  // The initiator's last step.
  void take_verdict();
  // Begins to read a message of fixed length.
  void expect(Expect what, std::size_t bytes);
  void fail(std::string_view reason, bool refuted);
  // The proof of one side, computed from the secret.
  [[nodiscard]] Tag tag(std::string_view role) const;

  // Not owned: copies of a Handshake refer to the same secret.
  const JobSecret* secret_ = nullptr;
  std::uint32_t self_ = 0;
  std::uint32_t world_ = 0;
  std::uint32_t from_ = 0;  // the initiator's rank
  std::uint32_t to_ = 0;    // the acceptor's rank
  Nonce initiator_nonce_{};
  Nonce acceptor_nonce_{};
  // The message being read, and the one being sent; kAnswerBytes is the longest.
  std::array<std::byte, kAnswerBytes> in_{};
  std::array<std::byte, kAnswerBytes> out_{};
  std::size_t in_bytes_ = 0;
  std::size_t expected_ = 0;
  std::size_t out_bytes_ = 0;
  std::size_t out_sent_ = 0;
  std::string_view reason_;
  Verdict verdict_ = Verdict::welcome;
  State state_ = State::failed;
  Expect expect_ = Expect::hello;
  bool initiator_ = false;
  bool refuted_ = false;
  bool same_version_ = true;
};

}  // namespace margay::sim
