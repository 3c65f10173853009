// What moves a link's bytes between its socket and its sender and receiver. Two of them, epoll and io_uring, chosen by
// name; everything above is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"
#include "sim/wire/tcp/tcp_receiver.hpp"
#include "sim/wire/tcp/tcp_sender.hpp"
#include "sim/wire/tcp/tcp_silence.hpp"

namespace margay::sim {

enum class TcpBackendChoice : std::uint8_t { automatic, uring, epoll };
[[nodiscard]] std::string_view name(TcpBackendChoice choice);
// "uring", "epoll", "auto". Errors: anything else.
[[nodiscard]] portals::Status parse_backend(std::string_view text, TcpBackendChoice& choice);
// Which of the two a choice comes to, and why.
struct TcpBackendTaken {
  bool uring = false;
  std::string_view reason;
};
[[nodiscard]] TcpBackendTaken backend_for(TcpBackendChoice choice);

// One peer. The wire owns it; it stays where it is from the first send or the first connection on.
struct TcpLink {
  TcpLink(std::uint32_t peer_rank, portals::ProcessId source, portals::ProcessId self, TransmissionList& finished)
      : peer(peer_rank), sender(finished), receiver(peer_rank, source, self) {}

  enum class State : std::uint8_t { connecting, connected, closed };

  const std::uint32_t peer;
  TcpSender sender;
  TcpReceiver receiver;
  int descriptor = -1;
  State state = State::connecting;
  bool wanted = false;       // this rank has something to send there
  bool long_bodies = false;  // so long a body as comes in segments has been given to it
  // The wire's lists.
  bool ready = false;  // its receiver may have an arrival
  bool held = false;   // its next arrival waits for push()
  TcpLink* next_ready = nullptr;
  // When its last short message left (the wire's count of looks, and its clock's), and whether later ones wait.
  std::uint64_t sent_at_look = ~std::uint64_t{0};
  std::uint64_t sent_ticks = 0;
  std::uint32_t burst_messages = 0;  // since then
  bool in_burst = false;
  TcpSilence silence;
  // The backend's own.
  bool blocked = false;  // the socket takes no more now
  bool starved = false;  // the receiver has no room
  std::uint32_t watched = 0;
  void* operations = nullptr;
};

// Links whose receivers may have arrivals, each once, oldest first.
class ReadyLinks {
 public:
  void add(TcpLink& link) {
    if (link.ready || link.held) return;
    link.ready = true;
    link.next_ready = nullptr;
    (last_ == nullptr ? first_ : last_->next_ready) = &link;
    last_ = &link;
  }
  [[nodiscard]] TcpLink* front() const { return first_; }
  void pop() {
    first_->ready = false;
    first_ = first_->next_ready;
    if (first_ == nullptr) last_ = nullptr;
  }

 private:
  TcpLink* first_ = nullptr;
  TcpLink* last_ = nullptr;
};

// Every call under the process lock, by whichever thread has it. Nothing blocks, except remove() and thread_ends() for
// operations of the kernel's that have to be withdrawn.
class TcpBackend {
 public:
  TcpBackend() = default;
  TcpBackend(const TcpBackend&) = delete;
  TcpBackend& operator=(const TcpBackend&) = delete;
  virtual ~TcpBackend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // Begins to read a connected link. Errors: no room in the kernel's set.
  [[nodiscard]] virtual portals::Status add(TcpLink& link) = 0;
  // Afterwards neither this nor the kernel touches the link, its buffers or its landing memory.
  virtual void remove(TcpLink& link) = 0;
  // The link's sender has something and nothing of it may be leaving: starts on it.
  virtual void start_send(TcpLink& link) = 0;
  // The receiver has room again.
  virtual void resume(TcpLink& link) = 0;
  // Goes on with sends that the sockets would not take. Returns whether anything moved.
  virtual bool push() = 0;
  // push() may have something to do.
  [[nodiscard]] virtual bool wants_push() const = 0;
  // Reads what has come, at most once from each link, and adds those links to the ready ones. Requires: no link is
  // ready, so that every receiver has looked at what it has. Returns whether anything came.
  virtual bool progress() = 0;
  // See Wire::time_passed.
  virtual void time_passed() {}
  // See Wire::thread_ends. May block for the answer of the operating system.
  virtual void thread_ends() {}
  // "", or why no link can be served any more: a sentence's end. Then connector_ready() is said once more.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  // Since the last call, the connector's descriptor was seen readable.
  [[nodiscard]] virtual bool connector_ready() = 0;

  [[nodiscard]] virtual int wait_descriptor() const = 0;
  // Before a sleep on it; true: something is there.
  [[nodiscard]] virtual bool prepare_wait() = 0;

 protected:
  std::string failure_;
};

// `connector` is readable when connections are to be made. Both fail with a sentence that says what is refused.
[[nodiscard]] portals::Status make_epoll_backend(int connector, ReadyLinks& ready, std::unique_ptr<TcpBackend>& made);
[[nodiscard]] portals::Status make_uring_backend(int connector, ReadyLinks& ready, std::unique_ptr<TcpBackend>& made);
// Whether this kernel, and whatever confines this process, lets it use all that the io_uring backend needs.
[[nodiscard]] portals::Status probe_uring();

// "connection reset", from the number that an I/O call returned.
[[nodiscard]] std::string io_failure_text(int error_number);

}  // namespace margay::sim
