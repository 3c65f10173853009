// The listening half of TcpConnector, and the functions that both halves share. tcp_dial.cpp has the dialing half.
#include "sim/wire/tcp/tcp_connector.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "portals/base/assert.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::sim {

using portals::Status;

TcpConnector::TcpConnector(Peers peers, const JobSecret& secret, const Clock& clock)
    : who_(std::move(peers)),
      world_(has_guests() ? 0 : static_cast<std::uint32_t>(who_.remote.size())),
      secret_(secret),
      clock_(clock),
      // peers_ and dials_ have one element for each number. The elements of peers that are not remote are never used.
      peers_(who_.remote.size()),
      dials_(who_.remote.size()) {
  // A process never dials itself.
  if (who_.self.place < who_.remote.size()) who_.remote[who_.self.place] = false;
  unconnected_ = static_cast<std::size_t>(std::count(who_.remote.begin(), who_.remote.end(), true));
}

TcpConnector::~TcpConnector() {
  for (HalfOpen& half_open : half_open_) close_if_open(half_open.descriptor);
  for (const auto& dial : dials_) {
    if (dial != nullptr) close_if_open(dial->descriptor);
  }
  for (Outcome& outcome : outcomes_) close_if_open(outcome.descriptor);
  close_if_open(listener_);
  close_if_open(spare_);
  close_if_open(timer_);
  close_if_open(epoll_);
}

Status TcpConnector::listen(std::string_view host) {
  Status parsed = parse_host(host, 0, local_);
  if (!parsed.ok()) return parsed;
  // A failed call may have left some of them open.
  for (int* descriptor : {&listener_, &spare_, &timer_, &epoll_}) close_if_open(*descriptor);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return Status::error("cannot make an epoll set: " + descriptor_limit_text(errno));
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timer_ < 0) return Status::error("cannot make a timer: " + descriptor_limit_text(errno));
  if (!watch(timer_, EPOLLIN, mark_of(ConnectorMark::timer, 0))) {
    return Status::error("cannot watch a timer: " + watch_failure_text(errno));
  }
  listener_ = socket(local_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) return Status::error("cannot make a listening socket: " + descriptor_limit_text(errno));
  if (bind(listener_, local_.get(), local_.bytes) != 0 || ::listen(listener_, SOMAXCONN) != 0) {
    return Status::error("cannot listen on " + std::string(host) + ": " + std::strerror(errno) +
                         "; choose an address of this host");
  }
  local_.bytes = sizeof local_.storage;
  if (getsockname(listener_, local_.get(), &local_.bytes) != 0) {
    return Status::error(std::string("cannot read the listening address: ") + std::strerror(errno));
  }
  if (!watch(listener_, EPOLLIN, mark_of(ConnectorMark::listener, 0))) {
    return Status::error("cannot watch for connections: " + watch_failure_text(errno));
  }
  // A copy of any descriptor serves as the spare one, because only its number is needed.
  spare_ = fcntl(timer_, F_DUPFD_CLOEXEC, 0);
  return {};
}

bool TcpConnector::watch(int descriptor, std::uint32_t events, std::uint64_t mark) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = mark;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

bool TcpConnector::rewatch(int descriptor, std::uint32_t events, std::uint64_t mark) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = mark;
  return epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event) == 0;
}

void TcpConnector::progress() {
  if (epoll_ < 0) return;
  std::array<epoll_event, 32> events;
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    // A slot may have been reused since the event. In that case its new handshake finds nothing to read.
    const std::uint64_t mark = events[static_cast<std::size_t>(i)].data.u64;
    const auto index = static_cast<std::uint32_t>(mark);
    switch (static_cast<ConnectorMark>(mark >> 32)) {
      case ConnectorMark::listener:
        accept_some();
        break;
      case ConnectorMark::half_open:
        go_on(index);
        break;
      case ConnectorMark::dial:
        if (dials_[index] != nullptr) go_on(*dials_[index]);
        break;
      case ConnectorMark::timer:
        drain_timer(timer_);
        break;
    }
  }
  // A deadline that passes causes an event of the timer, so a call without events need not test deadlines.
  if (count > 0) expire();
}

bool TcpConnector::take(Outcome& outcome) {
  if (outcomes_.empty()) return false;
  outcome = std::move(outcomes_.front());
  outcomes_.pop_front();
  return true;
}

// Continues a handshake as far as possible without waiting.
TcpConnector::Drive TcpConnector::drive(int descriptor, Handshake& handshake, std::uint64_t mark) {
  for (;;) {
    while (!handshake.outgoing().empty()) {
      const auto out = handshake.outgoing();
      const ssize_t sent = send(descriptor, out.data(), out.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        handshake.sent(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN) {
        return rewatch(descriptor, EPOLLOUT, mark) ? Drive::waiting : Drive::ended;
      } else if (errno != EINTR) {
        return Drive::ended;
      }
    }
    if (handshake.state() != Handshake::State::talking) return Drive::decided;
    std::array<std::byte, kAnswerBytes> bytes;
    // Reads no more than wanted(), because the bytes after the handshake are frames, which the link reads.
    const ssize_t got = recv(descriptor, bytes.data(), handshake.wanted(), 0);
    if (got > 0) {
      handshake.feed({bytes.data(), static_cast<std::size_t>(got)});
    } else if (got < 0 && errno == EAGAIN) {
      return rewatch(descriptor, EPOLLIN, mark) ? Drive::waiting : Drive::ended;
    } else if (got == 0 || errno != EINTR) {
      return Drive::ended;
    }
  }
}

void TcpConnector::accept_some() {
  // Accepts until no connection waits, because one event may stand for many connections.
  while (listener_ >= 0) {
    const auto free_slot =
        std::find_if(half_open_.begin(), half_open_.end(), [](const HalfOpen& h) { return h.descriptor < 0; });
    // The table is full, so dialing ranks wait in the operating system's queue.
    if (free_slot == half_open_.end()) return pause_listener(true);
    bool on_spare = false;
    const int descriptor = accept_one(on_spare);
    if (descriptor < 0) return;
    tune_socket(descriptor);
    free_slot->descriptor = descriptor;
    free_slot->deadline_ns = clock_.now_ns() + kHalfOpenNs;
    free_slot->on_spare = on_spare;
    free_slot->peer.reset();
    free_slot->handshake =
        Handshake::accept(secret_, who_.self, world_, has_guests() ? Callers::other_jobs : Callers::own_job);
    ++half_open_count_;
    const auto slot = static_cast<std::size_t>(free_slot - half_open_.begin());
    if (!watch(descriptor, EPOLLIN, mark_of(ConnectorMark::half_open, slot))) return drop(*free_slot);
    set_timer();
    go_on(slot);
  }
}

// Accepts one connection. If no file descriptor is free, uses the spare one, for one connection at a time, so that the
// dialing rank is identified and refused with the reason.
int TcpConnector::accept_one(bool& on_spare) {
  for (;;) {
    const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) return descriptor;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    const bool exhausted = errno == EMFILE || errno == ENFILE;
    if (exhausted && spare_ >= 0) {
      close_if_open(spare_);
      on_spare = true;
      continue;
    }
    if (exhausted) pause_listener(true);
    // The connection for which the spare descriptor was closed has ended in the meantime, so the spare is made again.
    if (on_spare) spare_ = fcntl(timer_, F_DUPFD_CLOEXEC, 0);
    return -1;
  }
}

void TcpConnector::pause_listener(bool paused) {
  if (listener_ < 0 || paused_ == paused) return;
  const std::uint32_t events = paused ? 0U : static_cast<std::uint32_t>(EPOLLIN);
  // rewatch() fails if the program has closed the listener or the epoll set. After that no connection is accepted, and
  // the dialing ranks report a failure.
  if (!rewatch(listener_, events, mark_of(ConnectorMark::listener, 0))) return;
  paused_ = paused;
  set_timer();
}

void TcpConnector::go_on(std::size_t slot) {
  HalfOpen& half_open = half_open_[slot];
  if (half_open.descriptor < 0) return;
  const std::uint64_t mark = mark_of(ConnectorMark::half_open, slot);
  Drive result = drive(half_open.descriptor, half_open.handshake, mark);
  if (result == Drive::decided && half_open.handshake.state() == Handshake::State::proved) {
    if (!find_number(half_open)) return drop(half_open);
    half_open.handshake.decide(judge(half_open));
    result = drive(half_open.descriptor, half_open.handshake, mark);
  }
  if (result == Drive::waiting) return;
  if (result == Drive::decided && half_open.handshake.state() == Handshake::State::done) return settle(half_open);
  drop(half_open);
}

// A process that may not connect, or that has failed before, gets no verdict.
bool TcpConnector::find_number(HalfOpen& half_open) {
  const Endpoint& endpoint = half_open.handshake.peer();
  const std::optional<std::uint32_t> peer = has_guests() ? who_.number_of(endpoint) : endpoint.place;
  if (!peer || *peer >= peers_.size() || !who_.remote[*peer] || peers_[*peer] == Peer::failed) return false;
  half_open.peer = peer;
  return true;
}

Verdict TcpConnector::judge(const HalfOpen& half_open) {
  const std::uint32_t peer = *half_open.peer;
  if (peers_[peer] == Peer::connected) return Verdict::another_serves;
  // The lower endpoint's own dial stays (invariant 2).
  if (peers_[peer] == Peer::dialing && who_.self < half_open.handshake.peer()) return Verdict::another_serves;
  return half_open.on_spare ? Verdict::no_descriptor : Verdict::welcome;
}

// Ends an accepted connection whose verdict has been sent. half_open.peer has a value, because find_number() preceded
// the verdict.
void TcpConnector::settle(HalfOpen& half_open) {
  const std::uint32_t peer = *half_open.peer;
  const Verdict verdict = half_open.handshake.verdict();
  if (verdict == Verdict::no_descriptor) fail(peer, "cannot accept its connection: " + descriptor_limit_text(EMFILE));
  // The pair may have got another connection since judge(). A welcome connection replaces this rank's own dial, to
  // which the peer answers `another_serves` (invariant 2).
  if (verdict != Verdict::welcome || peers_[peer] != Peer::unconnected) {
    if (verdict != Verdict::welcome || peers_[peer] != Peer::dialing) return drop(half_open);
  }
  const int descriptor = half_open.descriptor;
  half_open.descriptor = -1;
  --half_open_count_;
  // A slot is free again.
  pause_listener(false);
  add_connection(peer, descriptor);
}

void TcpConnector::drop(HalfOpen& half_open) {
  close_if_open(half_open.descriptor);
  --half_open_count_;
  if (half_open.on_spare) spare_ = fcntl(timer_, F_DUPFD_CLOEXEC, 0);
  half_open.on_spare = false;
  pause_listener(false);
}

void TcpConnector::add_connection(std::uint32_t peer, int descriptor) {
  MARGAY_ASSERT(peers_[peer] == Peer::unconnected || peers_[peer] == Peer::dialing);
  finish_dial(peer);
  // The backend monitors the descriptor from now on.
  epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
  peers_[peer] = Peer::connected;
  --unconnected_;
  outcomes_.push_back({peer, descriptor, {}});
  close_listener_if_complete();
}

void TcpConnector::fail(std::uint32_t peer, std::string failure) {
  if (peers_[peer] == Peer::connected || peers_[peer] == Peer::failed) return;
  finish_dial(peer);
  peers_[peer] = Peer::failed;
  --unconnected_;
  outcomes_.push_back({peer, -1, std::move(failure)});
  close_listener_if_complete();
}

void TcpConnector::forget(std::uint32_t peer) {
  finish_dial(peer);
  for (HalfOpen& half_open : half_open_) {
    if (half_open.descriptor >= 0 && half_open.peer == peer) drop(half_open);
  }
  for (Outcome& outcome : outcomes_) {
    if (outcome.peer == peer) close_if_open(outcome.descriptor);
  }
  std::erase_if(outcomes_, [peer](const Outcome& outcome) { return outcome.peer == peer; });
  if (peers_[peer] == Peer::connected || peers_[peer] == Peer::failed) ++unconnected_;
  peers_[peer] = Peer::unconnected;
}

void TcpConnector::close_listener_if_complete() {
  // Another guest may connect at any time.
  if (unconnected_ != 0 || has_guests()) return;
  close_if_open(listener_);
  close_if_open(spare_);
}

void TcpConnector::wake_at(std::uint64_t at_ns) {
  wake_at_ns_ = at_ns;
  set_timer();
}

// Drops half-open connections whose time is over, starts dials whose pause is over, and checks the other dials for
// silent hosts.
void TcpConnector::expire() {
  const std::uint64_t now_ns = clock_.now_ns();
  // The caller looks at its own purposes now.
  if (wake_at_ns_ <= now_ns) wake_at_ns_ = 0;
  // The timer is set again even if nothing else waits: it may have been due for a connection that has ended since then,
  // before wake_at_ns_.
  if (half_open_count_ == 0 && dialing_ == 0 && !paused_) return set_timer();
  for (HalfOpen& half_open : half_open_) {
    if (half_open.descriptor >= 0 && half_open.deadline_ns <= now_ns) drop(half_open);
  }
  for (std::size_t peer = 0; dialing_ != 0 && peer < dials_.size(); ++peer) {
    Dial* dial = dials_[peer].get();
    if (dial == nullptr) continue;
    if (dial->descriptor >= 0) {
      look_for_silence(*dial, now_ns);
    } else if (dial->retry_ns <= now_ns) {
      start(*dial);
    }
  }
  if (half_open_count_ < kHalfOpenMax) pause_listener(false);
  set_timer();
}

// Arms the timer for the next deadline. When the timer is due, descriptor() is readable, which also wakes a sleeping
// process.
void TcpConnector::set_timer() {
  const std::uint64_t now_ns = clock_.now_ns();
  std::uint64_t next_ns = wake_at_ns_;
  const auto consider = [&next_ns](std::uint64_t at_ns) { next_ns = next_ns == 0 ? at_ns : std::min(next_ns, at_ns); };
  // A paused listener is tried again after a while, because descriptors may have become free.
  if (paused_) consider(now_ns + kHalfOpenNs);
  if (half_open_count_ != 0) {
    for (const HalfOpen& half_open : half_open_) {
      if (half_open.descriptor >= 0) consider(half_open.deadline_ns);
    }
  }
  for (std::size_t peer = 0; dialing_ != 0 && peer < dials_.size(); ++peer) {
    if (dials_[peer] == nullptr) continue;
    consider(dials_[peer]->descriptor < 0 ? dials_[peer]->retry_ns : now_ns + kSilenceCheckNs);
  }
  if (next_ns == 0) return arm_timer(timer_, 0);
  arm_timer(timer_, next_ns > now_ns ? next_ns - now_ns : 1);
}

std::string descriptor_limit_text(int error_number) {
  std::string text = std::strerror(error_number);
  rlimit limit{};
  if (error_number == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    text += " (RLIMIT_NOFILE of this process is " + std::to_string(limit.rlim_cur) + "; raise it with ulimit -n)";
  } else if (error_number == ENFILE) {
    text += " (the host's limit, /proc/sys/fs/file-max)";
  }
  return text;
}

}  // namespace margay::sim
