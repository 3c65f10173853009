// The io_uring backend.
//
// The backend reads in two ways. Headers and short bodies arrive by one receive that stays armed (multishot) into
// provided buffers, and are copied from there to the receiver. While a long body is arriving, and directly after it,
// each read is a single receive into exactly the memory that the receiver names, so that bodies are stored without a
// copy. Single receives are also used when the provided buffers have run out. The change to single receives cancels the
// armed receive.
//
// Invariants
// 1. A link has at most one read operation and one send operation in the operating system.
// 2. A single receive is submitted only when the receiver has processed all its bytes, so the memory that the receiver
// names stays valid.
// 3. remove() returns only when the operating system has completed every operation of the link. If the ring has failed,
// this cannot be known, and the memory that the operations name is kept.
// 4. No operation belongs to a thread that has ended (thread_ends()). Such an operation would stay armed. Once it could
// continue, a worker thread of the operating system would cancel it. On a busy machine this may take seconds.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "portals/base/assert.hpp"
#include "sim/wire/tcp/tcp_backend.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"
#include "sim/wire/tcp/tcp_uring_ring.hpp"

namespace margay::sim {
namespace {

using portals::Status;

// When a link keeps this many provided buffers, its armed receive is cancelled.
constexpr std::size_t kChunksMax = 4;

// The kind of an operation, in the low bits of its completion's user data. The other bits are the address of the link's
// Operations.
enum class Tag : std::uint64_t { connector, read_once, read_armed, send, cancel };
constexpr std::uint64_t kTagMask = 7;

// A provided buffer that has not been copied completely.
struct Chunk {
  std::uint16_t buffer = 0;
  std::size_t at = 0;
  std::size_t bytes = 0;
};

// One link's operations. The address must be stable and aligned to 8 bytes, because completions contain it.
struct Operations {
  explicit Operations(TcpLink& owner) : link(owner) {}

  TcpLink& link;
  enum class Read : std::uint8_t { none, once, armed, withdrawing } read = Read::none;
  bool sending = false;
  // The threads that submitted the read and the send. The operating system carries an operation out in its thread.
  std::thread::id reader;
  std::thread::id sender;
  bool removing = false;
  // Whether it is in to_arm_.
  bool listed = false;
  bool no_buffers = false;
  // The stream has ended. The end is reported once the chunks have been copied.
  bool ending = false;
  int end_result = 0;
  // Number of operations that have not completed.
  std::size_t in_kernel = 0;
  msghdr send_message{};
  msghdr read_message{};
  std::array<iovec, kTargetsMax> read_pieces{};
  std::deque<Chunk> chunks;
};

std::uint64_t mark(const Operations& operations, Tag tag) {
  return reinterpret_cast<std::uintptr_t>(&operations) | static_cast<std::uint64_t>(tag);
}

class UringBackend final : public TcpBackend {
 public:
  UringBackend(int connector, ReadyLinks& ready) : connector_(connector), ready_(ready) {}

  Status open() { return ring_.open(); }
  std::string_view name() const override { return "io_uring"; }
  Status add(TcpLink& link) override;
  void remove(TcpLink& link) override;
  void start_send(TcpLink& link) override;
  void resume(TcpLink& link) override;
  bool push() override { return reap(); }
  bool needs_push() const override { return true; }
  bool progress() override;
  void thread_ends() override;
  bool connector_ready() override { return std::exchange(connector_ready_, false); }
  int wait_descriptor() const override { return ring_.descriptor(); }
  bool prepare_wait() override;

 private:
  static Operations& of(TcpLink& link) { return *static_cast<Operations*>(link.operations); }
  [[nodiscard]] io_uring_sqe* entry(Operations& operations);
  void arm_all();
  // Submits the next read of a link, if it needs one. false: the submission queue is full, and the caller must try
  // again later.
  bool arm(Operations& operations);
  bool arm_once(Operations& operations, std::size_t pieces);
  void withdraw(Operations& operations, Tag what);
  void withdraw_read(Operations& operations);
  void withdraw(std::uint64_t marked);
  [[nodiscard]] bool has_operations_of(std::thread::id thread) const;
  void wish_to_arm(Operations& operations);
  void watch_connector();
  void send_next(Operations& operations);

  bool reap();
  bool complete(std::uint64_t marked, int result, std::uint32_t flags);
  void complete_send(Operations& operations, int result);
  void complete_read_once(Operations& operations, int result);
  void complete_read_armed(Operations& operations, int result, std::uint32_t flags);
  void end(Operations& operations, int result);
  bool feed_all();
  bool feed(Operations& operations);
  void fail();

  const int connector_;
  ReadyLinks& ready_;
  TcpUringRing ring_;
  std::vector<Operations*> all_;
  std::vector<Operations*> to_arm_;
  std::vector<Operations*> with_chunks_;
  bool connector_watched_ = false;
  std::thread::id connector_watcher_;
  // thread_ends() is running, so the ending thread submits no send.
  bool thread_ends_ = false;
  bool connector_ready_ = false;
};

Status UringBackend::add(TcpLink& link) {
  // remove() deletes it. After a failure of the ring it is leaked on purpose (invariant 3).
  auto* operations = new Operations(link);
  link.operations = operations;
  all_.push_back(operations);
  wish_to_arm(*operations);
  return {};
}

void UringBackend::remove(TcpLink& link) {
  Operations& operations = of(link);
  operations.removing = true;
  withdraw_read(operations);
  if (operations.sending) withdraw(operations, Tag::send);
  // Invariant 3.
  while (operations.in_kernel != 0 && ring_.failure() == 0) {
    ring_.wait();
    reap();
  }
  for (const Chunk& chunk : operations.chunks) ring_.give_back(chunk.buffer);
  std::erase(all_, &operations);
  std::erase(to_arm_, &operations);
  std::erase(with_chunks_, &operations);
  link.operations = nullptr;
  if (ring_.failure() == 0) delete &operations;
}

io_uring_sqe* UringBackend::entry(Operations& operations) {
  io_uring_sqe* entry = ring_.entry();
  if (entry != nullptr) ++operations.in_kernel;
  return entry;
}

void UringBackend::wish_to_arm(Operations& operations) {
  if (std::exchange(operations.listed, true)) return;
  to_arm_.push_back(&operations);
}

void UringBackend::resume(TcpLink& link) {
  link.starved = false;
  wish_to_arm(of(link));
}

// ---- sending

void UringBackend::start_send(TcpLink& link) {
  Operations& operations = of(link);
  // The previous send has usually completed by now.
  if (operations.sending) static_cast<void>(reap());
  // If it has not, its completion sends the next batch (invariant 1).
  if (!operations.sending) send_next(operations);
  ring_.submit();
}

void UringBackend::send_next(Operations& operations) {
  const auto batch = operations.link.sender.batch();
  if (batch.empty()) return;
  io_uring_sqe* entry = thread_ends_ ? nullptr : this->entry(operations);
  operations.link.blocked = entry == nullptr;
  if (entry == nullptr) return wish_to_arm(operations);
  // MSG_WAITALL: the operating system continues a partial send itself.
  constexpr int kFlags = MSG_NOSIGNAL | MSG_WAITALL;
  if (batch.size() == 1) {
    io_uring_prep_send(entry, operations.link.descriptor, batch[0].iov_base, batch[0].iov_len, kFlags);
  } else {
    operations.send_message = msghdr{};
    operations.send_message.msg_iov = const_cast<iovec*>(batch.data());
    operations.send_message.msg_iovlen = batch.size();
    io_uring_prep_sendmsg(entry, operations.link.descriptor, &operations.send_message, kFlags);
  }
  io_uring_sqe_set_data64(entry, mark(operations, Tag::send));
  operations.sending = true;
  operations.sender = std::this_thread::get_id();
}

void UringBackend::complete_send(Operations& operations, int result) {
  operations.sending = false;
  TcpLink& link = operations.link;
  if (result > 0) link.sender.sent(static_cast<std::size_t>(result));
  if (operations.removing) return;
  // ECANCELED: the thread that submitted the send ends, and another thread sends the batch again.
  if (result >= 0 || result == -EINTR || result == -EAGAIN || result == -ECANCELED || result == -ENOBUFS) {
    return send_next(operations);
  }
  link.receiver.suspect(io_failure_text(-result));
  link.sender.fail();
  ready_.add(link);
}

// ---- reading

void UringBackend::arm_all() {
  // The list is swapped out, because either step below may put a link on it again.
  std::vector<Operations*> wished;
  wished.swap(to_arm_);
  for (Operations* operations : wished) {
    operations->listed = false;
    if (operations->link.blocked && !operations->sending) send_next(*operations);
    if (!arm(*operations)) wish_to_arm(*operations);
  }
}

bool UringBackend::arm(Operations& operations) {
  TcpLink& link = operations.link;
  // If chunks are left, feed_all() puts the link on the list again once they have been copied.
  if (link.receiver.ended() || !operations.chunks.empty()) return true;
  const bool needs_own = link.receiver.needs_exact() || operations.no_buffers;
  if (operations.read == Operations::Read::armed && needs_own) withdraw(operations, Tag::read_armed);
  if (operations.read != Operations::Read::none) return true;
  const std::size_t pieces = link.receiver.targets(operations.read_pieces);
  link.starved = pieces == 0;
  // resume() puts the link on the list again.
  if (pieces == 0) return true;
  if (needs_own) return arm_once(operations, pieces);
  io_uring_sqe* entry = this->entry(operations);
  if (entry == nullptr) return false;
  io_uring_prep_recv_multishot(entry, link.descriptor, nullptr, 0, 0);
  entry->flags |= IOSQE_BUFFER_SELECT;
  entry->buf_group = TcpUringRing::kBufferGroup;
  io_uring_sqe_set_data64(entry, mark(operations, Tag::read_armed));
  operations.read = Operations::Read::armed;
  operations.reader = std::this_thread::get_id();
  return true;
}

bool UringBackend::arm_once(Operations& operations, std::size_t pieces) {
  io_uring_sqe* entry = this->entry(operations);
  if (entry == nullptr) return false;
  operations.no_buffers = false;
  if (pieces == 1) {
    io_uring_prep_recv(entry, operations.link.descriptor, operations.read_pieces[0].iov_base,
                       operations.read_pieces[0].iov_len, 0);
  } else {
    operations.read_message = msghdr{};
    operations.read_message.msg_iov = operations.read_pieces.data();
    operations.read_message.msg_iovlen = pieces;
    io_uring_prep_recvmsg(entry, operations.link.descriptor, &operations.read_message, 0);
  }
  io_uring_sqe_set_data64(entry, mark(operations, Tag::read_once));
  operations.read = Operations::Read::once;
  operations.reader = std::this_thread::get_id();
  return true;
}

void UringBackend::withdraw(Operations& operations, Tag what) {
  withdraw(mark(operations, what));
  const bool armed = operations.read == Operations::Read::armed;
  if (what == Tag::read_armed && armed) operations.read = Operations::Read::withdrawing;
}

void UringBackend::withdraw_read(Operations& operations) {
  if (operations.read == Operations::Read::none) return;
  withdraw(operations, operations.read == Operations::Read::once ? Tag::read_once : Tag::read_armed);
}

// Cancels an operation. The completion of the cancellation is ignored; the operation's own completion counts.
void UringBackend::withdraw(std::uint64_t marked) {
  io_uring_sqe* entry = ring_.entry();
  // Repeats while the operating system takes no entries for lack of memory.
  while (entry == nullptr) {
    if (ring_.failure() != 0) return;
    reap();
    entry = ring_.entry();
  }
  io_uring_prep_cancel64(entry, marked, 0);
  io_uring_sqe_set_data64(entry, static_cast<std::uint64_t>(Tag::cancel));
}

bool UringBackend::has_operations_of(std::thread::id thread) const {
  const auto is_of = [thread](const Operations* operations) {
    return (operations->read != Operations::Read::none && operations->reader == thread) ||
           (operations->sending && operations->sender == thread);
  };
  return (connector_watched_ && connector_watcher_ == thread) || std::ranges::any_of(all_, is_of);
}

void UringBackend::thread_ends() {
  const std::thread::id thread = std::this_thread::get_id();
  if (!has_operations_of(thread)) return;
  thread_ends_ = true;
  for (Operations* operations : all_) {
    if (operations->reader == thread) withdraw_read(*operations);
    if (operations->sending && operations->sender == thread) withdraw(*operations, Tag::send);
  }
  if (connector_watched_ && connector_watcher_ == thread) withdraw(static_cast<std::uint64_t>(Tag::connector));
  // Invariant 4.
  while (has_operations_of(thread) && ring_.failure() == 0) {
    ring_.wait();
    reap();
  }
  thread_ends_ = false;
}

void UringBackend::complete_read_once(Operations& operations, int result) {
  operations.read = Operations::Read::none;
  TcpLink& link = operations.link;
  if (operations.removing) return;
  if (result > 0) {
    link.receiver.commit(static_cast<std::size_t>(result));
    ready_.add(link);
  } else if (result != -EINTR && result != -EAGAIN && result != -ECANCELED) {
    return end(operations, result);
  }
  wish_to_arm(operations);
}

void UringBackend::complete_read_armed(Operations& operations, int result, std::uint32_t flags) {
  if ((flags & IORING_CQE_F_BUFFER) != 0) {
    const auto buffer = static_cast<std::uint16_t>(flags >> IORING_CQE_BUFFER_SHIFT);
    if (result > 0 && !operations.removing) {
      if (operations.chunks.empty()) with_chunks_.push_back(&operations);
      operations.chunks.push_back({buffer, 0, static_cast<std::size_t>(result)});
    } else {
      ring_.give_back(buffer);
    }
  }
  if ((flags & IORING_CQE_F_MORE) == 0) operations.read = Operations::Read::none;
  if (operations.removing) return;
  // ENOBUFS: all provided buffers are in use, so the next read is a single receive.
  if (result == -ENOBUFS) {
    operations.no_buffers = true;
  } else if (result <= 0 && result != -EINTR && result != -EAGAIN && result != -ECANCELED) {
    return end(operations, result);
  } else if (operations.chunks.size() >= kChunksMax && operations.read == Operations::Read::armed) {
    withdraw(operations, Tag::read_armed);
  }
  if (operations.read == Operations::Read::none) wish_to_arm(operations);
}

// Ends a link's stream. The end is reported after the bytes in the provided buffers.
void UringBackend::end(Operations& operations, int result) {
  operations.end_result = result;
  operations.ending = true;
  if (!operations.chunks.empty()) return;
  operations.link.receiver.end(result == 0 ? std::string() : io_failure_text(-result));
  ready_.add(operations.link);
}

bool UringBackend::feed_all() {
  std::vector<Operations*> fed;
  fed.swap(with_chunks_);
  bool came = false;
  for (Operations* operations : fed) {
    // A receiver with an arrival that has not been taken, or is held, gets its bytes later.
    if (!operations->link.ready && !operations->link.held) came |= feed(*operations);
    if (!operations->chunks.empty()) {
      with_chunks_.push_back(operations);
    } else if (operations->ending) {
      end(*operations, operations->end_result);
    } else {
      wish_to_arm(*operations);
    }
  }
  return came;
}

// Copies from the provided buffers to the places that the receiver names. Returns whether any byte was copied.
bool UringBackend::feed(Operations& operations) {
  const std::size_t pieces = operations.link.receiver.targets(operations.read_pieces);
  std::size_t fed = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    auto* to = static_cast<std::byte*>(operations.read_pieces[i].iov_base);
    std::size_t room = operations.read_pieces[i].iov_len;
    while (room != 0 && !operations.chunks.empty()) {
      Chunk& chunk = operations.chunks.front();
      const std::size_t bytes = std::min(room, chunk.bytes - chunk.at);
      std::memcpy(to, ring_.buffer(chunk.buffer, chunk.bytes).data() + chunk.at, bytes);
      to += bytes, room -= bytes, fed += bytes, chunk.at += bytes;
      if (chunk.at != chunk.bytes) continue;
      ring_.give_back(chunk.buffer);
      operations.chunks.pop_front();
    }
  }
  if (fed == 0) return false;
  operations.link.receiver.commit(fed, true);
  ready_.add(operations.link);
  return true;
}

// ---- completions

bool UringBackend::reap() {
  bool moved = false;
  while (io_uring_cqe* found = ring_.completion()) {
    const std::uint64_t marked = found->user_data;
    const int result = found->res;
    const std::uint32_t flags = found->flags;
    ring_.release(found);
    moved |= complete(marked, result, flags);
  }
  if (ring_.unsubmitted()) ring_.submit();
  return moved;
}

// Handles one completion. Returns whether anything moved. An event of the connector does not count, because its timer
// also runs in a process that only waits.
bool UringBackend::complete(std::uint64_t marked, int result, std::uint32_t flags) {
  const auto tag = static_cast<Tag>(marked & kTagMask);
  if (tag == Tag::cancel) return false;
  if (tag == Tag::connector) {
    connector_watched_ = false;
    connector_ready_ = true;
    return false;
  }
  Operations& operations = *reinterpret_cast<Operations*>(marked & ~kTagMask);
  if ((flags & IORING_CQE_F_MORE) == 0) --operations.in_kernel;
  switch (tag) {
    case Tag::send:
      complete_send(operations, result);
      return true;
    case Tag::read_once:
      complete_read_once(operations, result);
      return true;
    case Tag::read_armed:
      complete_read_armed(operations, result, flags);
      return true;
    case Tag::connector:
    // These two do not belong to a link.
    case Tag::cancel:
      break;
  }
  return false;
}

void UringBackend::watch_connector() {
  if (connector_watched_) return;
  io_uring_sqe* entry = ring_.entry();
  if (entry == nullptr) return;
  io_uring_prep_poll_add(entry, connector_, POLLIN);
  io_uring_sqe_set_data64(entry, static_cast<std::uint64_t>(Tag::connector));
  connector_watched_ = true;
  connector_watcher_ = std::this_thread::get_id();
}

bool UringBackend::progress() {
  if (!to_arm_.empty()) arm_all();
  if (!connector_watched_) watch_connector();
  if (ring_.unsubmitted()) ring_.submit();
  bool came = reap();
  if (!with_chunks_.empty()) came |= feed_all();
  if (ring_.failure() != 0 && failure_.empty()) fail();
  return came;
}

void UringBackend::fail() {
  failure_ = "this process's io_uring does not serve it any more: " + watch_failure_text(ring_.failure());
  connector_ready_ = true;
}

// Before a sleep on the ring's descriptor, every operation must have been submitted, and no bytes may be left in this
// backend.
bool UringBackend::prepare_wait() {
  if (!to_arm_.empty()) arm_all();
  if (!connector_watched_) watch_connector();
  if (ring_.unsubmitted()) ring_.submit();
  const auto ready = [](const Operations* operations) { return !operations->link.held; };
  return connector_ready_ || ring_.has_completion() || std::any_of(with_chunks_.begin(), with_chunks_.end(), ready);
}

}  // namespace

Status make_uring_backend(int connector, ReadyLinks& ready, std::unique_ptr<TcpBackend>& made) {
  auto backend = std::make_unique<UringBackend>(connector, ready);
  Status opened = backend->open();
  if (opened.ok()) made = std::move(backend);
  return opened;
}

}  // namespace margay::sim
