// The maker of one process's connections: it listens on one address, dials, and returns the descriptors of connections
// whose other end has proved its identity. Its descriptors are in an epoll set of its own. No call blocks, except for
// Peers::number_of.
//
// Peers have numbers. In a job these are their places. A guest, which is a process of another job, has the number that
// number_of returns, and may have another number in its other peers' processes.
//
// Invariants
// 1. A stranger that connects costs a slot of a fixed table (64) for at most one second, and no memory before it has
// proved its identity.
// 2. A pair ends with one connection. When both dial at once, the connection that the lower endpoint dialed stays, in a
// job that of the lower rank. While its own dial is in progress, the lower endpoint answers the higher one's dial with
// `another_serves`, and the higher one drops the connection that it dialed.
// 3. Each dial leads to exactly one Outcome: a descriptor, or the text of a failure.
// 4. A dial fails when the peer's host has not answered for kSilenceMaxNs, however many tries were made. If the peer is
// stopped but its operating system answers, the dial continues to wait.
// 5. In a job the listener is closed once every remote rank is connected or has failed. For guests it stays open.
// 6. number_of() is called only for a process that has proved its identity.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/base/endpoint.hpp"
#include "sim/wire/tcp/auth.hpp"
#include "sim/wire/tcp/tcp_silence.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::sim {

// The most accepted connections without a verdict, and the time that the handshake of each may take.
inline constexpr std::size_t kHalfOpenMax = 64;
inline constexpr std::uint64_t kHalfOpenNs = 1'000'000'000;
// A dial whose connection ends before the verdict, because the acceptor or this rank was busy for more than a second,
// is tried again after 10 ms, 20 ms, ... 1.28 s.
inline constexpr std::uint32_t kDialTriesMax = 8;
inline constexpr std::uint64_t kDialPauseNs = 10'000'000;
// The pause before a new try after "No route to host". This error may be temporary, because a host may be silent for
// some seconds.
inline constexpr std::uint64_t kUnreachedPauseNs = 1'000'000'000;
// The time to wait for the other connection after `another_serves`.
inline constexpr std::uint64_t kOtherServesNs = 10'000'000'000;

// The text of an errno, with the limit of file descriptors that was reached: "Too many open files (RLIMIT_NOFILE of
// this process is ...; raise it with ulimit -n)".
[[nodiscard]] std::string descriptor_limit_text(int error_number);

// The connector of one process's TCP wire. Used under the process lock.
class TcpConnector {
 public:
  // This process and its possible peers.
  struct Peers {
    Endpoint self;
    // By number: whether the peer may dial and be dialed.
    std::vector<bool> remote;
    // Empty: the peers are the other processes of this job. Otherwise they are guests, and the function returns the
    // number of one that has dialed and proved its identity; nullopt: the connection is dropped without a verdict. It
    // may block briefly, and may call forget(), but no other function of the connector.
    std::function<std::optional<std::uint32_t>(const Endpoint&)> number_of = {};
    // Dials from the address that the operating system chooses for the peer, not from the listener's.
    bool any_source = false;
  };
  // The result of a dial, or a connection that a peer dialed.
  struct Outcome {
    std::uint32_t peer = 0;
    // >= 0: a connected, nonblocking socket, which the caller owns.
    int descriptor = -1;
    // descriptor < 0: the cause, as the end of a sentence.
    std::string failure;
  };

  // `secret` and `clock` outlive the connector.
  TcpConnector(Peers peers, const JobSecret& secret, const Clock& clock);
  TcpConnector(const TcpConnector&) = delete;
  TcpConnector& operator=(const TcpConnector&) = delete;
  ~TcpConnector();

  // Listens on `host`, at a port that the operating system chooses. May be called again after a failure.
  [[nodiscard]] portals::Status listen(std::string_view host);
  [[nodiscard]] const TcpAddress& local() const { return local_; }
  [[nodiscard]] bool listening() const { return listener_ >= 0; }

  // Begins to connect to `peer`, which is `endpoint`; take() returns the outcome. No effect when a dial is in progress
  // or the peer is connected.
  void dial(std::uint32_t peer, const Endpoint& endpoint, const TcpAddress& address);
  // Begins anew with the number `peer`, which another process has from now on: ends its dial and its half-open
  // connections, and discards its outcomes.
  void forget(std::uint32_t peer);
  // Handles the events that make descriptor() readable.
  void progress();
  // Returns the next outcome, including those for connections that peers dialed. false: there is none now.
  [[nodiscard]] bool take(Outcome& outcome);
  // A file descriptor that is readable when progress() has something to do.
  [[nodiscard]] int descriptor() const { return epoll_; }
  [[nodiscard]] bool dialing() const { return dialing_ != 0; }
  // Makes descriptor() readable at `at_ns`, by the constructor's clock, for the caller's own purposes; 0: never.
  void wake_at(std::uint64_t at_ns);

 private:
  enum class Peer : std::uint8_t { unconnected, dialing, connected, failed };
  // An accepted connection whose initiator has not proved itself.
  struct HalfOpen {
    int descriptor = -1;
    // The time by which the handshake must be over.
    std::uint64_t deadline_ns = 0;
    // The connection uses the spare descriptor, so it can only be refused.
    bool on_spare = false;
    // The initiator's number, once it has proved its identity.
    std::optional<std::uint32_t> peer;
    Handshake handshake;
  };
  // A connection that this process opens.
  struct Dial {
    std::uint32_t peer = 0;
    Endpoint endpoint;
    TcpAddress address;
    // -1: the dial waits until retry_ns.
    int descriptor = -1;
    bool connecting = false;
    std::uint32_t tries = 0;
    std::uint64_t retry_ns = 0;
    // While connecting: the time by which the peer's host must have answered; 0: start() sets it anew.
    std::uint64_t answer_by_ns = 0;
    // Detects a silent host during the handshake.
    TcpSilence silence;
    Handshake handshake;
  };
  // The result of drive(). waiting: the handshake waits for the socket. decided: the handshake has a result. ended: the
  // connection has ended.
  enum class Drive : std::uint8_t { waiting, decided, ended };

  // watch() adds a descriptor to the epoll set; rewatch() changes its events there. Both return false, with errno, if
  // there is no room, or if the program has closed or replaced the descriptor or the epoll set. drive() continues a
  // handshake.
  [[nodiscard]] bool watch(int descriptor, std::uint32_t events, std::uint64_t mark);
  [[nodiscard]] bool rewatch(int descriptor, std::uint32_t events, std::uint64_t mark);
  [[nodiscard]] Drive drive(int descriptor, Handshake& handshake, std::uint64_t mark);

  // The listening half: accept, drive the handshake, judge, settle or drop. accept_some() accepts connections until
  // none waits or the table is full. go_on() continues a handshake after an event. find_number() determines the number
  // of a proved initiator; false: it has none, or may not connect. settle() ends a connection whose verdict has been
  // sent; drop() closes a connection without a result, and frees its slot. pause_listener() sets whether the listener's
  // events are ignored, as they are while the table is full or no descriptor is free.
  void accept_some();
  [[nodiscard]] int accept_one(bool& on_spare);
  void go_on(std::size_t slot);
  [[nodiscard]] bool find_number(HalfOpen& half_open);
  // The verdict for a proved initiator (invariant 2).
  [[nodiscard]] Verdict judge(const HalfOpen& half_open);
  void settle(HalfOpen& half_open);
  void drop(HalfOpen& half_open);
  void pause_listener(bool paused);

  // The dialing half: start, drive, retry or end. start() opens a socket and begins to connect, at the first try and at
  // each later one. go_on() continues after an event. hang_up() closes the socket. retry() closes it and sets the time
  // of the next try, `pause_ns` from now (0: a pause that doubles with each try); after the last try the dial fails
  // with `reason`. retry_unreached() does not count as a try. fail() and add_connection() determine the
  // pair's Outcome: a failure, or a descriptor.
  void start(Dial& dial);
  [[nodiscard]] bool bind_to_own_address(int descriptor, std::string& failure) const;
  void go_on(Dial& dial);
  void hang_up(Dial& dial);
  void retry(Dial& dial, std::string_view reason, std::uint64_t pause_ns);
  void retry_unreached(Dial& dial);
  void look_for_silence(Dial& dial, std::uint64_t now_ns);
  void finish_dial(std::uint32_t peer);
  void fail(std::uint32_t peer, std::string failure);
  void add_connection(std::uint32_t peer, int descriptor);

  // Deadlines. expire() handles every deadline that has passed; set_timer() arms the timer for the next one.
  void expire();
  void set_timer();
  void close_listener_if_complete();
  [[nodiscard]] bool has_guests() const { return who_.number_of != nullptr; }

  // Constant after construction.
  Peers who_;
  // The size of the world in handshakes.
  const std::uint32_t world_;
  const JobSecret& secret_;
  const Clock& clock_;
  int epoll_ = -1;
  int timer_ = -1;
  // A spare file descriptor. It is closed when descriptors run out, so that a dialing peer can still be accepted, and
  // refused with that reason.
  int spare_ = -1;
  int listener_ = -1;
  bool paused_ = false;
  TcpAddress local_;
  std::vector<Peer> peers_;
  // Number of remote peers that are neither connected nor failed.
  std::size_t unconnected_ = 0;
  std::uint64_t wake_at_ns_ = 0;
  std::array<HalfOpen, kHalfOpenMax> half_open_;
  std::size_t half_open_count_ = 0;
  std::size_t dialing_ = 0;
  // By peer; nullptr unless a dial is in progress.
  std::vector<std::unique_ptr<Dial>> dials_;
  std::deque<Outcome> outcomes_;
};

}  // namespace margay::sim
