// Makes the connections of one rank: listens on one address, dials, and hands out descriptors whose other end has
// proved who it is. Everything waits in one epoll set of its own; nothing blocks.
//
// Invariants
// 1. A stranger costs a slot of a fixed table (64) for at most one second, and no memory before it proved itself.
// 2. A pair ends with one connection. When both dial at once, the lower rank's connection is the one that stays: the
//    lower rank answers the higher's with `another_serves` while its own dial is under way, the higher drops its own.
// 3. Each dialed peer ends in exactly one Outcome: a descriptor or a sentence.
// 4. A dial ends when the peer's host has not answered for kSilenceMaxNs, however often it is tried. A peer that is
//    stopped while its kernel answers is waited for.
// 5. The listener is closed once every rank that may dial has a connection.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/wire/tcp/auth.hpp"
#include "sim/wire/tcp/tcp_silence.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::sim {

inline constexpr std::size_t kHalfOpenMax = 64;
inline constexpr std::uint64_t kHalfOpenNs = 1'000'000'000;
// A dial whose connection ends before its verdict (its acceptor was busy for more than a second, or this rank was) is
// tried again after 10 ms, 20 ms, ... 1.28 s.
inline constexpr std::uint32_t kDialTriesMax = 8;
inline constexpr std::uint64_t kDialPauseNs = 10'000'000;
// "No route to host" passes when a host does not answer for some seconds only: tried again, after this.
inline constexpr std::uint64_t kUnreachedPauseNs = 1'000'000'000;
// Told `another_serves`, this long for that other connection to come.
inline constexpr std::uint64_t kOtherServesNs = 10'000'000'000;

// "Too many open files (this process may have 1024: ulimit -n)"
[[nodiscard]] std::string descriptor_limit_text(int error_number);

class TcpConnector {
 public:
  struct Outcome {
    std::uint32_t peer = 0;
    int descriptor = -1;  // >= 0: connected, nonblocking, the caller's to close
    std::string failure;  // descriptor < 0: a sentence's end
  };

  // `remote[r]`: rank r may dial and be dialed. `secret` and `clock` outlive the connector.
  TcpConnector(std::uint32_t rank, std::vector<bool> remote, const JobSecret& secret, const Clock& clock);
  TcpConnector(const TcpConnector&) = delete;
  TcpConnector& operator=(const TcpConnector&) = delete;
  ~TcpConnector();

  // Listens on `host`, a port of the kernel's choice.
  [[nodiscard]] portals::Status listen(std::string_view host);
  [[nodiscard]] const TcpAddress& local() const { return local_; }
  [[nodiscard]] bool listening() const { return listener_ >= 0; }

  // Begins to connect to `peer`; its outcome comes from take(). No effect when it is under way or connected.
  void dial(std::uint32_t peer, const TcpAddress& address);
  // Goes on with whatever descriptor() is readable for.
  void progress();
  // The next outcome; false: none now. Also for connections that peers dialed.
  [[nodiscard]] bool take(Outcome& outcome);
  // Readable when progress() has something to do.
  [[nodiscard]] int descriptor() const { return epoll_; }
  [[nodiscard]] bool dialing() const { return dialing_ != 0; }
  // descriptor() is readable from then on (on the clock given), for the caller's own business; 0: never.
  void wake_at(std::uint64_t at_ns);

 private:
  enum class Peer : std::uint8_t { unconnected, dialing, connected, failed };
  struct HalfOpen {
    int descriptor = -1;
    std::uint64_t deadline_ns = 0;
    bool on_spare = false;
    Handshake handshake;
  };
  struct Dial {
    std::uint32_t peer = 0;
    TcpAddress address;
    int descriptor = -1;  // -1: waiting for `retry_ns`
    bool connecting = false;
    std::uint32_t tries = 0;
    std::uint64_t retry_ns = 0;
    std::uint64_t answer_by_ns = 0;  // connecting: the peer's host must have answered; 0: no try is under way
    TcpSilence silence;              // of the handshake
    Handshake handshake;
  };
  enum class Drive : std::uint8_t { waiting, decided, ended };

  // False, with errno: no room for it, or the descriptor, or the epoll set itself, is not what it was when it was made.
  [[nodiscard]] bool watch(int descriptor, std::uint32_t events, std::uint64_t mark);
  [[nodiscard]] bool rewatch(int descriptor, std::uint32_t events, std::uint64_t mark);
  [[nodiscard]] Drive drive(int descriptor, Handshake& handshake, std::uint64_t mark);

  void accept_some();
  [[nodiscard]] int accept_one(bool& on_spare);
  void go_on(std::size_t slot);
  [[nodiscard]] Verdict judge(const HalfOpen& half_open);
  void settle(HalfOpen& half_open);
  void drop(HalfOpen& half_open);
  void pause_listener(bool paused);

  void start(Dial& dial);
  void go_on(Dial& dial);
  void hang_up(Dial& dial);
  void retry(Dial& dial, std::string_view reason, std::uint64_t pause_ns);
  void retry_unreached(Dial& dial);
  void look_for_silence(Dial& dial, std::uint64_t now_ns);
  void finish_dial(std::uint32_t peer);
  void fail(std::uint32_t peer, std::string failure);
  void connected(std::uint32_t peer, int descriptor);

  void expire();
  void set_timer();
  void close_listener_if_complete();

  // Constant after construction.
  const std::uint32_t rank_;
  const JobSecret& secret_;
  const Clock& clock_;
  std::vector<bool> remote_;
  int epoll_ = -1;
  int timer_ = -1;
  // Process lock.
  int spare_ = -1;  // given up when descriptors run out, so that who calls can still be named
  int listener_ = -1;
  bool paused_ = false;
  TcpAddress local_;
  std::vector<Peer> peers_;
  std::size_t unconnected_ = 0;  // remote ranks neither connected nor failed
  std::uint64_t wake_at_ns_ = 0;
  std::array<HalfOpen, kHalfOpenMax> half_open_;
  std::size_t half_open_count_ = 0;
  std::size_t dialing_ = 0;
  std::vector<std::unique_ptr<Dial>> dials_;  // indexed by peer, made when dialed
  std::deque<Outcome> outcomes_;
};

}  // namespace margay::sim
