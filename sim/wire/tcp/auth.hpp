// The mutual handshake of two processes on a new connection: each proves possession of a common secret without
// revealing it. The secret is their job's, or the user's key if they belong to two jobs. A handshake takes and makes
// bytes. Its only I/O is the reading of random nonces. It uses fixed memory and allocates nothing, so a stranger's
// bytes cost no memory. docs/tcp_wire.md has the four messages byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/endpoint.hpp"
#include "sim/base/random.hpp"

namespace margay::sim {

// The job's secret: 256 random bits, one secret for each job. The launcher passes it by file descriptor; it never
// appears in arguments, the environment, logs or traces.
using JobSecret = std::array<std::byte, 32>;

// The version of the messages, which both sides compare. Changes when the messages change.
inline constexpr std::uint32_t kHandshakeVersion = 3;
// Sizes of the four messages, with the sizes of their fields.
// magic 8, version 4, from: job 8 and place 4, to: job 8 and place 4, world 4, nonce 32
inline constexpr std::size_t kHelloBytes = 72;
// The length of version 2's hello, the shortest of all versions. The acceptor reads this many bytes before it knows the
// version.
inline constexpr std::size_t kHelloBytesMin = 56;
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

// The initiators that an acceptor accepts.
enum class Callers : std::uint8_t {
  // Processes of the acceptor's job, at places below the size of the world.
  own_job,
  // Processes of any other job. The size of the world is 0 on both sides.
  other_jobs,
};

// Overwrites a secret in a way that the compiler does not remove.
void wipe(JobSecret& secret);

// One side of one handshake. The driver sends outgoing(), then reads at most wanted() bytes and feeds them, and repeats
// this until the state is not `talking` any more.
class Handshake {
 public:
  enum class State : std::uint8_t {
    talking,
    // Acceptor: the initiator has proved its identity; decide() is due.
    proved,
    // Initiator: verdict() is available. Acceptor: decide() was called, and outgoing() may remain to be sent.
    done,
    // reason() has the cause; the driver must close the connection.
    failed,
  };

  Handshake() = default;
  // Make the initiator's and the acceptor's side. `self`: this process; `peer`: the process that is dialed; `world`:
  // the number of places of the job, 0 between two jobs. `secret` outlives the handshake.
  [[nodiscard]] static Handshake initiate(const JobSecret& secret, const Endpoint& self, const Endpoint& peer,
                                          std::uint32_t world);
  [[nodiscard]] static Handshake accept(const JobSecret& secret, const Endpoint& self, std::uint32_t world,
                                        Callers callers = Callers::own_job);

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
  // The other side's identity. For the acceptor it is an unproved claim until the state is `proved`.
  [[nodiscard]] const Endpoint& peer() const { return initiator_ ? to_ : from_; }
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
  // claims and answers with the acceptor's proof. reads_more() returns whether a hello of this version has been begun;
  // it then sets the length of the whole message. check_claims() returns whether it is a hello for this acceptor.
  [[nodiscard]] bool reads_more();
  void take_hello();
  [[nodiscard]] bool check_claims(std::uint32_t world);
  // Answers an initiator of another version, without a proof.
  void answer_version();
  // The initiator's step: verifies the acceptor's proof, and sends its own.
  void take_answer();
  // The acceptor's step: verifies the initiator's proof.
  void take_proof();
  // The initiator's last step: reads the verdict.
  void take_verdict();
  // Begins to read a message of fixed length.
  void expect(Expect what, std::size_t bytes);
  void fail(std::string_view reason, bool refuted);
  // Fails because the other side does not know the secret.
  void fail_unproved(bool refuted);
  // Makes an answer of the acceptor's nonce and the tag `proof`.
  void put_answer(const Tag& proof);
  // The proof of the side `role`, computed from the secret.
  [[nodiscard]] Tag tag(std::string_view role) const;

  // Not owned. Copies of a Handshake refer to the same secret.
  const JobSecret* secret_ = nullptr;
  Endpoint self_;
  Endpoint from_;  // the initiator
  Endpoint to_;    // the acceptor
  std::uint32_t world_ = 0;
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
  Callers callers_ = Callers::own_job;
  bool initiator_ = false;
  bool refuted_ = false;
  bool same_version_ = true;
};

}  // namespace margay::sim
