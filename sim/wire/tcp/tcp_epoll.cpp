// The epoll backend. The two sockets that brought something last (the hot links) are read in each round without
// epoll_wait(), because a read without a result costs less than that call. If there are other sockets, each round also
// calls epoll_wait(). If not, only the connector needs epoll_wait(), and only every few rounds call it: the longer
// nothing was found, the fewer.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "portals/base/assert.hpp"
#include "sim/wire/tcp/tcp_backend.hpp"
#include "sim/wire/tcp/tcp_connector.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::sim {
namespace {

using portals::Status;

// The number of hot links, which are read without epoll_wait(). A rank with at most this many links saves most calls of
// epoll_wait(), each of which costs more than the read of a socket that has nothing.
constexpr std::size_t kHotLinks = 2;
// The bounds of the number of rounds from one epoll_wait() to the next, if all links are hot. With 8 rounds throughout,
// a message often arrived during the call, which made messages of 8 bytes 6 % slower. 64 rounds that find nothing take
// 10 us.
constexpr std::uint32_t kRoundsBetweenWaitsMin = 8;
constexpr std::uint32_t kRoundsBetweenWaitsMax = 64;
constexpr int kEventsPerWait = 64;

class EpollBackend final : public TcpBackend {
 public:
  EpollBackend(int epoll, ReadyLinks& ready) : epoll_(epoll), ready_(ready) {}
  ~EpollBackend() override { close_if_open(epoll_); }

  std::string_view name() const override { return "epoll"; }
  Status add(TcpLink& link) override;
  void remove(TcpLink& link) override;
  void start_send(TcpLink& link) override;
  void resume(TcpLink& link) override;
  bool push() override;
  bool needs_push() const override { return !blocked_.empty(); }
  bool progress() override;
  bool connector_ready() override { return std::exchange(connector_ready_, false); }
  int wait_descriptor() const override { return epoll_; }
  bool prepare_wait() override { return connector_ready_; }
  void time_passed() override { rounds_left_ = 0; }

 private:
  // Sends until no batch is left or the socket's buffer is full. Returns whether anything was sent.
  bool send_some(TcpLink& link);
  // Reads a link once. Returns whether anything arrived, or the stream ended.
  bool receive(TcpLink& link);
  bool wait();
  // Calls epoll_wait() without waiting. It fails only if the program has closed or replaced the set.
  int look(std::array<epoll_event, kEventsPerWait>& events);
  // Sets the events that epoll monitors for a link, if they have changed.
  void watch(TcpLink& link);
  // Puts a link first among the hot links.
  void heat(TcpLink& link);

  int epoll_;
  ReadyLinks& ready_;
  std::vector<TcpLink*> blocked_;
  // The hot links; the first one is the link that wait() found last. nullptr: none.
  std::array<TcpLink*, kHotLinks> hot_{};
  std::size_t links_ = 0;
  std::uint32_t rounds_left_ = 0;  // until the next wait()
  std::uint32_t rounds_between_waits_ = kRoundsBetweenWaitsMin;
  bool connector_ready_ = false;
};

Status EpollBackend::add(TcpLink& link) {
  epoll_event event{};
  event.events = link.watched = EPOLLIN;
  event.data.ptr = &link;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, link.descriptor, &event) != 0) {
    return Status::error("its connection cannot be watched: " + watch_failure_text(errno));
  }
  heat(link);
  ++links_;
  return {};
}

void EpollBackend::remove(TcpLink& link) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, link.descriptor, nullptr);
  --links_;
  std::erase(blocked_, &link);
  // The remaining hot links move to the front, because heat() drops the last entry.
  std::fill(std::remove(hot_.begin(), hot_.end(), &link), hot_.end(), nullptr);
}

// Events for a receiver without room, or for a sender that is not blocked, are not monitored, because they would wake a
// sleeping process without need.
void EpollBackend::watch(TcpLink& link) {
  const std::uint32_t events =
      (link.starved ? 0U : std::uint32_t{EPOLLIN}) | (link.blocked ? std::uint32_t{EPOLLOUT} : 0U);
  if (events == link.watched) return;
  epoll_event event{};
  event.events = link.watched = events;
  event.data.ptr = &link;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, link.descriptor, &event) == 0) return;
  link.receiver.end("its connection cannot be watched: " + watch_failure_text(errno));
  ready_.add(link);
}

int EpollBackend::look(std::array<epoll_event, kEventsPerWait>& events) {
  const int count = epoll_wait(epoll_, events.data(), kEventsPerWait, 0);
  if (count < 0 && errno != EINTR && failure_.empty()) {
    failure_ = "the connections of this process cannot be watched: " + watch_failure_text(errno);
    connector_ready_ = true;
  }
  return count;
}

void EpollBackend::heat(TcpLink& link) {
  if (hot_[0] == &link) return;
  const auto where = std::find(hot_.begin(), hot_.end() - 1, &link);
  std::move_backward(hot_.begin(), where, where + 1);
  hot_[0] = &link;
}

void EpollBackend::start_send(TcpLink& link) {
  if (link.blocked) return;
  static_cast<void>(send_some(link));
  if (link.blocked) blocked_.push_back(&link);
}

bool EpollBackend::send_some(TcpLink& link) {
  bool moved = false;
  link.blocked = false;
  for (;;) {
    const auto batch = link.sender.batch();
    if (batch.empty()) break;
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(batch.data());
    message.msg_iovlen = batch.size();
    // A batch of one piece needs no msghdr.
    const ssize_t sent = batch.size() == 1 ? send(link.descriptor, batch[0].iov_base, batch[0].iov_len, MSG_NOSIGNAL)
                                           : sendmsg(link.descriptor, &message, MSG_NOSIGNAL);
    if (sent > 0) {
      link.sender.sent(static_cast<std::size_t>(sent));
      moved = true;
      if (link.sender.idle()) break;
    } else if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) {
      link.blocked = true;
      break;
    } else if (errno != EINTR) {
      // Bytes that the peer sent before are still to be read, so the reading side will find the end of the stream.
      link.receiver.suspect(io_failure_text(errno));
      link.sender.fail();
      ready_.add(link);
      break;
    }
  }
  watch(link);
  return moved;
}

// A socket whose buffer was full is tried again only when epoll reports that a large part of the buffer is free. An
// attempt in each round would lock the socket while acknowledgments arrive, and would send many small pieces.
bool EpollBackend::push() {
  if (blocked_.empty()) return false;
  bool moved = false;
  std::array<epoll_event, kEventsPerWait> events;
  const int count = look(events);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    auto* link = static_cast<TcpLink*>(event.data.ptr);
    if (link != nullptr && link->blocked && (event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0)
      moved |= send_some(*link);
  }
  std::erase_if(blocked_, [](const TcpLink* link) { return !link->blocked; });
  return moved;
}

void EpollBackend::resume(TcpLink& link) {
  link.starved = false;
  watch(link);
}

bool EpollBackend::progress() {
  bool came = false;
  for (TcpLink* link : hot_) {
    if (link != nullptr && !link->starved) came |= receive(*link);
  }
  // Only wait() polls links that are not hot, so it is due in each round if there are such links.
  if (hot_[0] != nullptr && links_ <= kHotLinks && rounds_left_-- != 0) return came;
  const bool found = wait();
  rounds_between_waits_ = found ? kRoundsBetweenWaitsMin : std::min(2 * rounds_between_waits_, kRoundsBetweenWaitsMax);
  rounds_left_ = rounds_between_waits_ - 1;
  return came || found;
}

// Reads every link that epoll reports, unless the link has been read in this round already.
bool EpollBackend::wait() {
  std::array<epoll_event, kEventsPerWait> events;
  const int count = look(events);
  bool came = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    auto* link = static_cast<TcpLink*>(event.data.ptr);
    if (link == nullptr) {
      connector_ready_ = came = true;
    } else if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !link->ready && receive(*link)) {
      heat(*link);
      came = true;
    }
  }
  return came;
}

bool EpollBackend::receive(TcpLink& link) {
  std::array<iovec, kTargetsMax> pieces;
  const std::size_t count = link.receiver.targets(pieces);
  // Without room in the receiver, the socket is not monitored until resume().
  if (count == 0) {
    link.starved = true;
    watch(link);
    return false;
  }
  ssize_t got = -1;
  do {
    got = count == 1 ? recv(link.descriptor, pieces[0].iov_base, pieces[0].iov_len, 0)
                     : readv(link.descriptor, pieces.data(), static_cast<int>(count));
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return false;
  if (got > 0) {
    link.receiver.commit(static_cast<std::size_t>(got));
  } else {
    link.receiver.end(got == 0 ? std::string() : io_failure_text(errno));
  }
  ready_.add(link);
  return true;
}

}  // namespace

Status make_epoll_backend(int connector, ReadyLinks& ready, std::unique_ptr<TcpBackend>& made) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return Status::error("cannot make an epoll set: " + descriptor_limit_text(errno));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, connector, &event) != 0) {
    Status refused = Status::error("cannot watch for connections: " + watch_failure_text(errno));
    close_if_open(epoll);
    return refused;
  }
  made = std::make_unique<EpollBackend>(epoll, ready);
  return {};
}

}  // namespace margay::sim
