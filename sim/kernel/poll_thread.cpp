#include "sim/kernel/poll_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::sim {

struct PollThread::Impl {
  explicit Impl(Published<std::uint32_t>& flag) : due(flag) {}
  Published<std::uint32_t>& due;
  int descriptor = -1;
  std::function<void()> wake;
  // An eventfd: written after a poll, and to stop the thread.
  int control = -1;
  Published<std::uint32_t> stopping{};
  pthread_t thread{};
  bool running = false;

  static void* begin(void* self) {
    static_cast<Impl*>(self)->run();
    return nullptr;
  }
  void run();
  void ring() const {
    const std::uint64_t one = 1;
    static_cast<void>(!write(control, &one, sizeof one));
  }
};

void PollThread::Impl::run() {
  while (stopping.get() == 0) {
    // While the wire is due, only `control` ends the wait.
    const bool is_due = due.get() != 0;
    pollfd descriptors[2] = {{control, POLLIN, 0}, {descriptor, POLLIN, 0}};
    if (::poll(descriptors, is_due ? 1 : 2, -1) < 0) continue;
    if (descriptors[0].revents != 0) {
      std::uint64_t rings = 0;
      static_cast<void>(!read(control, &rings, sizeof rings));
    } else if (descriptors[1].revents != 0) {
      due.set(1);
      wake();
    }
  }
}

PollThread::PollThread() : impl_(std::make_unique<Impl>(due_)) {}

PollThread::~PollThread() {
  if (impl_->running) {
    impl_->stopping.set(1);
    impl_->ring();
    pthread_join(impl_->thread, nullptr);
  }
  if (impl_->control >= 0) close(impl_->control);
}

portals::Status PollThread::start(int descriptor, std::function<void()> wake) {
  MARGAY_ASSERT(!impl_->running && descriptor >= 0 && wake);
  impl_->descriptor = descriptor;
  impl_->wake = std::move(wake);
  impl_->control = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (impl_->control < 0) {
    return portals::Status::error(std::string("cannot open a descriptor for the thread that blocks on the wire: ") +
                                  std::strerror(errno) + "; raise the limit on open files (ulimit -n)");
  }
  // The program's own threads handle signals. A thread inherits its creator's mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&impl_->thread, nullptr, &Impl::begin, impl_.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    return portals::Status::error(std::string("cannot create the thread that blocks on the wire: ") +
                                  std::strerror(error) + "; poll it at an interval instead");
  }
  impl_->running = true;
  return {};
}

void PollThread::polled() {
  if (due_.get() == 0) return;
  due_.set(0);
  impl_->ring();
}

}  // namespace margay::sim
