// The mutual handshake of two ranks on a new connection: each proves possession of the job's secret without revealing
// it. A handshake takes and makes bytes. Its only I/O is the reading of random nonces. It uses fixed memory and
// allocates nothing, so a stranger's bytes cost no memory. docs/tcp_wire.md has the four messages byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/random.hpp"

namespace margay::sim {

// The job's secret: 256 random bits, one secret for each job. The launcher passes it by file descriptor; it never
// appears in arguments, the environment, logs or traces.
using JobSecret = std::array<std::byte, 32>;

// The version of the messages, which both sides compare. Changes when the messages change.
inline constexpr std::uint32_t kHandshakeVersion = 2;
// Sizes of the four messages, with the sizes of their fields.
// magic 8, version 4, from 4, to 4, world 4, nonce 32
inline constexpr std::size_t kHelloBytes = 56;
// magic 8, version 4, nonce 32, tag 32
inline constexpr std::size_t kAnswerBytes = 76;
inline constexpr std::size_t kProofBytes = 32;  // tag
inline constexpr std::size_t kVerdictBytes = 4;

// The acceptor's answer to an initiator that has proved itself.
enum class Verdict : std::uint32_t {
  welcome = 1,
  // The pair has, or is opening, another connection. The initiator must close this one and wait for the other.
  another_serves = 2,
  // The acceptor has no file descriptor left for this connection.
  no_descriptor = 3,
};

// Overwrites a secret in a way that the compiler does not remove.
void wipe(JobSecret& secret);

// One side of one handshake. The driver sends outgoing(), then reads at most wanted() bytes and feeds them, and repeats
// this until the state is not `talking` any more.
class Handshake {
 public:
  enum class State : std::uint8_t {
    talking,
    // Acceptor: the initiator has proved its rank; decide() is due.
    proved,
    // Initiator: verdict() is available. Acceptor: decide() was called, and outgoing() may remain to be sent.
    done,
    // reason() has the cause; the driver must close the connection.
    failed,
  };

  Handshake() = default;
  // Make the initiator's and the acceptor's side. `rank`: this process; `peer`: the rank that is dialed; `world`: the
  // number of ranks of the job. `secret` outlives the handshake.
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
  // The number of bytes that the message being read still lacks; 0 unless `talking`. The driver must not read more,
  // because the bytes after the handshake are frames.
  [[nodiscard]] std::size_t wanted() const { return state_ == State::talking ? expected_ - in_bytes_ : 0; }
  // Takes at most wanted() of `bytes`, which may have any content. Requires: outgoing() is empty.
  void feed(std::span<const std::byte> bytes);

  // Acceptor, in `proved`: sets the answer to the initiator.
  void decide(Verdict verdict);
  // Initiator, in `done`: the acceptor's verdict.
  [[nodiscard]] Verdict verdict() const { return verdict_; }
  // The other side's rank. For the acceptor it is an unproved claim until the state is `proved`.
  [[nodiscard]] std::uint32_t peer() const { return initiator_ ? to_ : from_; }
  // In `failed`: the end of a sentence; static.
  [[nodiscard]] std::string_view reason() const { return reason_; }
  // Initiator, in `failed`: the other side gave a wrong answer, so to try again is useless.
  [[nodiscard]] bool refuted() const { return refuted_; }

 private:
  using Nonce = std::array<std::byte, 32>;
  using Tag = std::array<std::byte, 32>;
  // The message that is being read.
  enum class Expect : std::uint8_t { hello, answer, proof, verdict };

  // One step for each message, called when it has been read completely. take_hello(), the acceptor's step, checks the
  // claims and answers with the acceptor's proof.
  void take_hello();
  // The initiator's step: verifies the acceptor's proof, and sends its own.
  void take_answer();
  // The acceptor's step: verifies the initiator's proof.
  void take_proof();
  // The initiator's last step: reads the verdict.
  void take_verdict();
  // Begins to read a message of fixed length.
  void expect(Expect what, std::size_t bytes);
  void fail(std::string_view reason, bool refuted);
  // The proof of the side `role`, computed from the secret.
  [[nodiscard]] Tag tag(std::string_view role) const;

  // Not owned. Copies of a Handshake refer to the same secret.
  const JobSecret* secret_ = nullptr;
  std::uint32_t self_ = 0;
  std::uint32_t world_ = 0;
  std::uint32_t from_ = 0;  // the initiator's rank
  std::uint32_t to_ = 0;    // the acceptor's rank
  Nonce initiator_nonce_{};
  Nonce acceptor_nonce_{};
  // The message being read, and the message being sent. kAnswerBytes is the length of the longest message.
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
