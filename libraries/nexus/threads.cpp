#include "libraries/nexus/threads.hpp"

#include <csignal>
#include <exception>
#include <string>
#include <system_error>

namespace margay::nexus::core {

portals::Status Threads::begin(void (Threads::*function)()) {
  // All signals are blocked in the thread, so that the program's own threads handle them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  portals::Status status;
  try {
    threads_.emplace_back([this, function] {
      context_.host_rank.begin_thread();
      here = {&context_, true, 0};
      try {
        (this->*function)();
      } catch (const std::exception& exception) {
        context_.host_rank.abort(1, exception.what());
      }
      here = {};
    });
  } catch (const std::system_error& error) {
    status = portals::Status::error(std::string("cannot create a thread: ") + error.what() +
                                    "; allow the user more threads, or choose MARGAY_NEXUS_THREADS=0");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

void Threads::start() {
  // The new thread may begin others at once.
  const std::lock_guard guard(mutex_);
  if (const portals::Status status = begin(&Threads::take_messages); !status.ok()) fail("init: " + status.sentence());
}

portals::Status Threads::push(OwnedItem& item, Registered& handler) {
  {
    const std::lock_guard guard(mutex_);
    // stop() joins the threads that exist when it sets stopping_, so none may begin after that.
    if (work_.size() >= idle_ && runners_ < most_ && !stopping_) {
      portals::Status status = begin(&Threads::run_handlers);
      // Those that exist run it.
      if (!status.ok() && runners_ == 0) return status;
      if (status.ok()) ++runners_;
    }
    work_.emplace_back(std::move(item), &handler);
  }
  changed_.notify_one();
  return {};
}

void Threads::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  context_.host_rank.wake(context_.host_rank.rank());
  for (std::thread& each : threads_) each.join();
  threads_.clear();
}

void Threads::take_messages() {
  const host::Call call(context_.host_rank, "nexus: taking thread");
  const auto stopping = [this] {
    const std::lock_guard guard(mutex_);
    return stopping_;
  };
  // Not the loss of a context, but stop() ends this wait: the program's calls report the loss.
  const host::Wait wait{
      .call = call.name(), .peer = context_.host_rank.rank(), .needs_message = false, .messages = 4, .is_idle = true};
  static_cast<void>(host::wait_until(context_.host_rank, wait, [&] {
    context_.take();
    if (context_.methods.any_polled()) context_.poll_modules();
    return stopping();
  }));
}

void Threads::run_handlers() {
  for (;;) {
    std::pair<OwnedItem, Registered*> next;
    {
      std::unique_lock guard(mutex_);
      ++idle_;
      changed_.wait(guard, [this] { return stopping_ || !work_.empty(); });
      --idle_;
      if (work_.empty()) return;
      next = std::move(work_.front());
      work_.pop_front();
    }
    const host::Call call(context_.host_rank, "nexus: handler thread");
    context_.execute(std::move(next.first), *next.second);
    context_.finish_threaded();
  }
}

}  // namespace margay::nexus::core
