// The dialing half of TcpConnector.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

#include <cerrno>
#include <cstring>

#include "sim/wire/tcp/tcp_connector.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::sim {

namespace {

bool is_loopback(const TcpAddress& address) {
  if (address.family() == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr);
  }
  constexpr std::uint32_t kLoopbackNet = 127;
  return ntohl(reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr.s_addr) >> 24 == kLoopbackNet;
}

// The cure of a failed connect(), as the end of a sentence: if one of the two addresses serves its own host only, or no
// network has both.
std::string address_hint(const TcpAddress& own, const TcpAddress& other, int error_number) {
  if (is_loopback(own) == is_loopback(other)) {
    const bool unreachable = error_number == ENETUNREACH || error_number == EHOSTUNREACH;
    return unreachable ? "; if its host has several networks, choose the common one by --iface there" : "";
  }
  return "; a loopback address serves its own host only, so start the job that uses " +
         std::string(is_loopback(own) ? "this one, " + address_text(own) : "it") + ", with another --iface";
}

}  // namespace

void TcpConnector::dial(std::uint32_t peer, const Endpoint& endpoint, const TcpAddress& address) {
  if (peers_[peer] != Peer::unconnected) return;
  peers_[peer] = Peer::dialing;
  ++dialing_;
  dials_[peer] = std::make_unique<Dial>();
  dials_[peer]->peer = peer;
  dials_[peer]->endpoint = endpoint;
  dials_[peer]->address = address;
  start(*dials_[peer]);
  // Later dials need not set the timer, because it is armed while a dial is in progress.
  if (dialing_ == 1) set_timer();
}

// Binds a socket to the address at which this rank listens, with a port of the operating system's choice.
bool TcpConnector::bind_to_own_address(int descriptor, std::string& failure) const {
  const int yes = 1;
  // This option defers the choice of a port to connect(), so that many dials do not exhaust the local ports.
  static_cast<void>(setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes));
  TcpAddress from = local_;
  if (from.family() == AF_INET) {
    reinterpret_cast<sockaddr_in&>(from.storage).sin_port = 0;
  } else {
    reinterpret_cast<sockaddr_in6&>(from.storage).sin6_port = 0;
  }
  if (bind(descriptor, from.get(), from.bytes) == 0) return true;
  failure = "cannot use the address " + address_text(from) + ": " + std::strerror(errno);
  return false;
}

// Opens a socket, binds it if necessary, and begins to connect.
void TcpConnector::start(Dial& dial) {
  dial.connecting = false;
  if (dial.address.family() != local_.family()) {
    return fail(dial.peer, "its address " + address_text(dial.address) + " is of another family than " +
                               address_text(local_) + ", this rank's; choose one by --iface");
  }
  dial.descriptor = socket(dial.address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (dial.descriptor < 0) return fail(dial.peer, "cannot make a socket: " + descriptor_limit_text(errno));
  tune_socket(dial.descriptor);
  if (std::string failure; !who_.any_source && !bind_to_own_address(dial.descriptor, failure)) {
    return fail(dial.peer, std::move(failure));
  }
  if (!watch(dial.descriptor, EPOLLOUT, mark_of(ConnectorMark::dial, dial.peer))) {
    return fail(dial.peer, "its connection cannot be watched: " + watch_failure_text(errno));
  }
  dial.connecting = true;
  if (dial.answer_by_ns == 0) dial.answer_by_ns = clock_.now_ns() + kSilenceMaxNs;
  dial.silence = {};
  dial.handshake = Handshake::initiate(secret_, who_.self, dial.endpoint, world_);
  go_on(dial);
}

void TcpConnector::go_on(Dial& dial) {
  if (dial.descriptor < 0) return;
  if (dial.connecting) {
    // Another connect() returns the state. SO_ERROR would make a temporary "no route" final.
    if (::connect(dial.descriptor, dial.address.get(), dial.address.bytes) != 0 && errno != EISCONN) {
      if (errno == EINPROGRESS || errno == EALREADY || errno == EINTR) return;
      // A host that is silent for some seconds only also causes this error.
      if (errno == EHOSTUNREACH && clock_.now_ns() < dial.answer_by_ns) return retry_unreached(dial);
      if (errno == ECONNRESET || errno == ECONNABORTED) return retry(dial, std::strerror(errno), 0);
      const int error_number = errno;
      return fail(dial.peer, "cannot connect to " + address_text(dial.address) + ": " + std::strerror(error_number) +
                                 address_hint(local_, dial.address, error_number));
    }
    dial.connecting = false;
  }
  switch (drive(dial.descriptor, dial.handshake, mark_of(ConnectorMark::dial, dial.peer))) {
    case Drive::waiting:
      return;
    case Drive::ended:
      return retry(dial, "it closed the connection during the handshake", 0);
    case Drive::decided:
      break;
  }
  if (dial.handshake.state() == Handshake::State::failed) {
    return fail(dial.peer, std::string(dial.handshake.reason()) + " (" + address_text(dial.address) + ")");
  }
  switch (dial.handshake.verdict()) {
    case Verdict::welcome: {
      const int descriptor = dial.descriptor;
      dial.descriptor = -1;
      return add_connection(dial.peer, descriptor);
    }
    case Verdict::another_serves:
      return retry(dial, "it waited for another connection, which was not opened", kOtherServesNs);
    case Verdict::no_descriptor:
      return fail(dial.peer, "it has no file descriptor left for this connection");
  }
}

void TcpConnector::hang_up(Dial& dial) {
  close_if_open(dial.descriptor);
}

void TcpConnector::retry(Dial& dial, std::string_view reason, std::uint64_t pause_ns) {
  hang_up(dial);
  if (++dial.tries > kDialTriesMax) {
    return fail(dial.peer, std::string(reason) + " (" + address_text(dial.address) + ", tried " +
                               std::to_string(dial.tries) + " times)");
  }
  // The pause doubles with each try.
  if (pause_ns == 0) pause_ns = kDialPauseNs << (dial.tries - 1);
  dial.retry_ns = clock_.now_ns() + pause_ns;
  // The peer's host has answered, so the next try gets the full time.
  dial.answer_by_ns = 0;
  set_timer();
}

void TcpConnector::retry_unreached(Dial& dial) {
  hang_up(dial);
  dial.retry_ns = clock_.now_ns() + kUnreachedPauseNs;
  set_timer();
}

// Fails a dial whose host is silent. After a failure the caller's reference to the dial is invalid.
void TcpConnector::look_for_silence(Dial& dial, std::uint64_t now_ns) {
  bool silent = now_ns >= dial.answer_by_ns;
  if (!dial.connecting) {
    TcpAnswers answers;
    silent = read_answers(dial.descriptor, answers) && dial.silence.look(answers, now_ns);
  }
  if (silent) fail(dial.peer, silence_text() + " (" + address_text(dial.address) + ")");
}

// Removes the dial in any state. Afterwards the caller's reference to the dial is invalid.
void TcpConnector::finish_dial(std::uint32_t peer) {
  if (dials_[peer] == nullptr) return;
  hang_up(*dials_[peer]);
  dials_[peer].reset();
  --dialing_;
}

}  // namespace margay::sim
