// The input and output of links: a backend moves bytes between a link's socket and the link's sender and receiver.
// There are two backends, epoll and io_uring, chosen by name. The parts above are the same for both.
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

// The backend that `--wire-tcp` requests.
enum class TcpBackendChoice : std::uint8_t { automatic, uring, epoll };
[[nodiscard]] std::string_view name(TcpBackendChoice choice);
// Parses "uring", "epoll" or "auto"; fails for anything else.
[[nodiscard]] portals::Status parse_backend(std::string_view text, TcpBackendChoice& choice);
// The backend that a choice selects, and the reason.
struct TcpBackendTaken {
  bool uring = false;
  std::string_view reason;
};
[[nodiscard]] TcpBackendTaken backend_for(TcpBackendChoice choice);

// The connection to one peer, with its state. The wire owns it and makes it at the first use; its address does not
// change.
struct TcpLink {
  TcpLink(std::uint32_t peer_rank, portals::ProcessId source, portals::ProcessId self, TransmissionList& finished)
      : peer(peer_rank), sender(finished), receiver(peer_rank, source, self) {}

  // closed is final, because a pair connects only once.
  enum class State : std::uint8_t { connecting, connected, closed };

  // Rank of the other side.
  const std::uint32_t peer;
  TcpSender sender;
  TcpReceiver receiver;
  // The socket; -1: none.
  int descriptor = -1;
  State state = State::connecting;
  // This rank sends to the peer or monitors it. So it has dialed the peer, unless the peer had connected before.
  bool wanted = false;
  // A body that is long enough for segments has been queued here.
  bool long_bodies = false;
  // The link is in ReadyLinks: its receiver may have an arrival.
  bool ready = false;
  // The link's next arrival is held until push().
  bool held = false;
  // The next link in ReadyLinks.
  TcpLink* next_ready = nullptr;
  // When the last short message left: the wire's count of calls (TcpWire::calls_), and the time in ticks.
  std::uint64_t sent_at_call = ~std::uint64_t{0};
  std::uint64_t sent_ticks = 0;
  // The number of short messages since then. They wait, to leave together, while `in_burst`.
  std::uint32_t burst_messages = 0;
  bool in_burst = false;
  TcpSilence silence;
  // The fields from here to `operations` belong to the backend. blocked: a batch waits, because the socket's buffer
  // (epoll) or the submission queue (io_uring) was full.
  bool blocked = false;
  // The link is not read, because the receiver has no room.
  bool starved = false;
  // Events that epoll monitors on the socket.
  std::uint32_t watched = 0;
  // The io_uring backend's operations on this link.
  void* operations = nullptr;
};

// A queue of the links whose receivers may have arrivals, oldest first. A link is in it at most once.
class ReadyLinks {
 public:
  // Adds a link, unless it is in the queue already, or its next arrival is held.
  void add(TcpLink& link) {
    if (link.ready || link.held) return;
    link.ready = true;
    link.next_ready = nullptr;
    (last_ == nullptr ? first_ : last_->next_ready) = &link;
    last_ = &link;
  }
  // The oldest; nullptr when there is none.
  [[nodiscard]] TcpLink* front() const { return first_; }
  // Removes the oldest. Requires: there is one.
  void pop() {
    first_->ready = false;
    first_ = first_->next_ready;
    if (first_ == nullptr) last_ = nullptr;
  }

 private:
  TcpLink* first_ = nullptr;
  TcpLink* last_ = nullptr;
};

// The interface of both backends. Every call is made under the process lock, by any thread. No call blocks, except
// remove() and thread_ends() when operations in the operating system have to be cancelled.
class TcpBackend {
 public:
  TcpBackend() = default;
  TcpBackend(const TcpBackend&) = delete;
  TcpBackend& operator=(const TcpBackend&) = delete;
  virtual ~TcpBackend() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // Begins to read a connected link. Fails when the operating system's set has no room.
  [[nodiscard]] virtual portals::Status add(TcpLink& link) = 0;
  // Ends input and output of a link. Afterwards neither the backend nor the operating system accesses the link, its
  // buffers or its landing memory.
  virtual void remove(TcpLink& link) = 0;
  // Starts to send the batch of the link's sender. No effect if the sender has none, or if a send of this link is in
  // progress.
  virtual void start_send(TcpLink& link) = 0;
  // Reads the link again, because its receiver has room.
  virtual void resume(TcpLink& link) = 0;
  // Continues sends for which a socket had no room. Returns whether anything moved.
  virtual bool push() = 0;
  // Whether push() may have something to do.
  [[nodiscard]] virtual bool needs_push() const = 0;
  // Reads arrived bytes, at most once from each link, and adds the links with new bytes to ReadyLinks. Requires: no
  // link is ready, that is, every receiver has processed its bytes. Returns whether anything arrived.
  virtual bool progress() = 0;
  // See Wire::time_passed.
  virtual void time_passed() {}
  // See Wire::thread_ends. May block for the answer of the operating system.
  virtual void thread_ends() {}
  // The reason why the backend cannot serve any link any more, as the end of a sentence; empty while it serves links.
  // After the failure, connector_ready() returns true once.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  // Whether the connector's descriptor was readable since the last call.
  [[nodiscard]] virtual bool connector_ready() = 0;

  // A file descriptor that is readable when a link or the connector has an event.
  [[nodiscard]] virtual int wait_descriptor() const = 0;
  // Called before a sleep on wait_descriptor(). true: something is here already, so the process must not sleep.
  [[nodiscard]] virtual bool prepare_wait() = 0;

 protected:
  std::string failure_;
};

// Both make a backend that also monitors `connector`, the connector's descriptor. A failure names the refused
// operation.
[[nodiscard]] portals::Status make_epoll_backend(int connector, ReadyLinks& ready, std::unique_ptr<TcpBackend>& made);
[[nodiscard]] portals::Status make_uring_backend(int connector, ReadyLinks& ready, std::unique_ptr<TcpBackend>& made);
// Whether the operating system, and the sandbox of this process, permit everything that the io_uring backend needs.
[[nodiscard]] portals::Status probe_uring();

// The text for an errno of input or output, for example "connection reset".
[[nodiscard]] std::string io_failure_text(int error_number);

}  // namespace margay::sim
