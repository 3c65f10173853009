#include "sim/wire/tcp/tcp_uring_ring.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "sim/wire/tcp/tcp_backend.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::sim {

using portals::Status;

namespace {

constexpr std::size_t kBufferRingBytes = TcpUringRing::kBuffers * sizeof(io_uring_buf);
// One mapping for the ring of buffers and the buffers.
constexpr std::size_t kMappedBytes = kBufferRingBytes + TcpUringRing::kBuffers * TcpUringRing::kBufferBytes;

Status refused(const char* step, int error_number) {
  std::string text = std::string("io_uring is refused at ") + step + ": " + std::strerror(error_number);
  if (error_number == EPERM || error_number == EACCES) {
    text += " (a container's seccomp profile, or sysctl kernel.io_uring_disabled)";
  } else if (error_number == ENOSYS) {
    text += " (the operating system has none, or a seccomp profile hides it)";
  } else if (error_number == ENOMEM) {
    text += " (locked memory: ulimit -l)";
  }
  return Status::error(text);
}

}  // namespace

// After a failure nothing is closed or unmapped, because the descriptor may be another file's, and the operating system
// may still write into the buffers.
TcpUringRing::~TcpUringRing() {
  if (failure_ != 0) return;
  if (open_) io_uring_queue_exit(&ring_);
  if (buffers_ != nullptr) munmap(buffers_, kMappedBytes);
}

// SINGLE_ISSUER and DEFER_TASKRUN are not set, because the owner and the message coprocessor drive the ring in turns.
// With COOP_TASKRUN and TASKRUN_FLAG, the operating system sets a flag instead of interrupting the thread. A polling
// thread sees the flag and fetches its completions, for a third of the cost of an interrupt for each. A computing
// thread's completions are delivered when it next enters the operating system, at the latest with the timer interrupt.
// docs/tcp_wire.md has the measurements.
Status TcpUringRing::open() {
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
  parameters.cq_entries = kCompletions;
  const int made = io_uring_queue_init_params(kEntries, &ring_, &parameters);
  if (made < 0) return refused("io_uring_setup", -made);
  open_ = true;
  constexpr unsigned kNeeded = IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE | IORING_FEAT_FAST_POLL;
  // Without these features, completions could be lost, or the operating system could read submitted entries later.
  if ((parameters.features & kNeeded) != kNeeded) return refused("its features", EOPNOTSUPP);
  // A forked child must not keep a reference to the ring.
  io_uring_ring_dontfork(&ring_);
  return provide_buffers();
}

Status TcpUringRing::provide_buffers() {
  void* ring = mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (ring == MAP_FAILED) return refused("the memory of its buffers", errno);
  buffers_ = static_cast<io_uring_buf_ring*>(ring);
  memory_ = static_cast<std::byte*>(ring) + kBufferRingBytes;
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(ring);
  registration.ring_entries = kBuffers;
  registration.bgid = kBufferGroup;
  const int registered = io_uring_register_buf_ring(&ring_, &registration, 0);
  if (registered < 0) return refused("its provided buffers (Linux 5.19 has them)", -registered);
  io_uring_buf_ring_init(buffers_);
  for (unsigned id = 0; id < kBuffers; ++id) give_back(static_cast<std::uint16_t>(id));
  return {};
}

void TcpUringRing::give_back(std::uint16_t id) {
  io_uring_buf_ring_add(buffers_, memory_ + id * kBufferBytes, static_cast<unsigned>(kBufferBytes), id,
                        io_uring_buf_ring_mask(kBuffers), 0);
  // The buffer is visible at once, so the operating system may use it for the next arrival.
  io_uring_buf_ring_advance(buffers_, 1);
}

io_uring_sqe* TcpUringRing::entry() {
  if (failure_ != 0) return nullptr;
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  if (entry != nullptr) return entry;
  // The queue is full. submit() empties it, unless the operating system takes nothing now.
  submit();
  return failure_ == 0 ? io_uring_get_sqe(&ring_) : nullptr;
}

void TcpUringRing::submit() {
  while (unsubmitted()) {
    const int submitted = io_uring_submit(&ring_);
    if (submitted == -EINTR) continue;
    // -EAGAIN, -EBUSY, -ENOMEM: a temporary lack of memory or room; the entries stay queued.
    if (submitted < 0 && submitted != -EAGAIN && submitted != -EBUSY && submitted != -ENOMEM) fail(-submitted);
    return;
  }
}

void TcpUringRing::fail(int error_number) {
  failure_ = error_number;
  munmap(ring_.sq.sqes, ring_.sq.ring_entries * sizeof(io_uring_sqe));
  if (ring_.cq.ring_ptr != ring_.sq.ring_ptr) munmap(ring_.cq.ring_ptr, ring_.cq.ring_sz);
  munmap(ring_.sq.ring_ptr, ring_.sq.ring_sz);
}

io_uring_cqe* TcpUringRing::completion() {
  if (failure_ != 0) return nullptr;
  io_uring_cqe* completion = nullptr;
  return io_uring_peek_cqe(&ring_, &completion) == 0 ? completion : nullptr;
}

void TcpUringRing::wait() {
  submit();
  while (failure_ == 0) {
    io_uring_cqe* completion = nullptr;
    const int waited = io_uring_wait_cqe(&ring_, &completion);
    if (waited == -EINTR) continue;
    if (waited < 0) fail(-waited);
    return;
  }
}

// Tries what the backend does: sends a byte through a pair of sockets into a provided buffer, by a receive that stays
// armed.
Status probe_uring() {
  TcpUringRing ring;
  Status opened = ring.open();
  if (!opened.ok()) return opened;
  int pair[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return refused("its trial (socketpair)", errno);
  Status tried;
  io_uring_sqe* entry = ring.entry();
  io_uring_prep_recv_multishot(entry, pair[0], nullptr, 0, 0);
  entry->flags |= IOSQE_BUFFER_SELECT;
  entry->buf_group = TcpUringRing::kBufferGroup;
  ring.submit();
  const char byte = 'm';
  static_cast<void>(send(pair[1], &byte, 1, MSG_NOSIGNAL));
  pollfd wait{ring.descriptor(), POLLIN, 0};
  const int readable = poll(&wait, 1, 1000);
  io_uring_cqe* completion = readable > 0 ? ring.completion() : nullptr;
  if (completion == nullptr) {
    tried = refused("its trial: no completion arrived", ETIMEDOUT);
  } else if (completion->res != 1 || (completion->flags & IORING_CQE_F_BUFFER) == 0) {
    tried = refused("multishot receive (Linux 6.0 has it)", completion->res < 0 ? -completion->res : EOPNOTSUPP);
  }
  close_if_open(pair[1]);
  close_if_open(pair[0]);
  return tried;
}

}  // namespace margay::sim
