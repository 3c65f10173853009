#include "libraries/rmi/scheduler.hpp"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <string>
#include <system_error>

namespace margay::rmi::core {
namespace {

constexpr char kName[] = "rmi: communication thread";

// The longest time that exit() waits for the end of the thread. An idle thread of
// blocking_thread tests twice a second whether it must end.
constexpr std::chrono::seconds kEndAtExit{5};

}  // namespace

void CommunicationThread::start() {
  if (!node_.threaded() || thread_.joinable()) return;
  stopping_ = std::stop_source();
  process_ = getpid();
  // All signals are blocked in the thread, so that the program's own threads handle them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string why;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    why = error.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!why.empty())
    fail("rmi::start: cannot create the communication thread: " + why +
         "; allow the user more threads, or choose MARGAY_RMI_SCHEDULER=polling");
}

void CommunicationThread::stop() {
  if (!thread_.joinable()) return;
  {
    const Locked locked(node_);
    stopping_.request_stop();
    node_.sleep.wake();
  }
  thread_.join();
}

void CommunicationThread::stop_soon() {
  // A child of fork() has this object, but no such thread.
  if (!thread_.joinable() || process_ != getpid()) return;
  stopping_.request_stop();
  node_.sleep.end();
  if (ended_.try_acquire_for(kEndAtExit)) return thread_.join();
  node_.rank.abort(1, "node " + std::to_string(node_.here.rank) +
                          " exits without rmi::stop() while a method runs in its communication thread; call stop() "
                          "before exit()");
}

void CommunicationThread::notify() {
  // Not for the replies and waves that the program waits for: a needless switch of threads would delay it.
  if (node_.sleep.asleep() && node_.has_arrivals()) node_.sleep.wake();
}

void CommunicationThread::run() {
  node_.rank.begin_thread();
  // For the calls that methods make here.
  here = &node_.thread_here;
  try {
    if (node_.settings.scheduler == Scheduler::interrupt) {
      run_interrupts();
    } else if (node_.settings.scheduler == Scheduler::blocking_thread) {
      const host::Call call(node_.rank, kName);
      // Not the loss of a node, but stop() ends this wait: the program's calls report the loss.
      node_.serve_until(call.name(), node_.here.rank, Flush::poll, [this] { return stopping_.stop_requested(); });
    } else {
      const host::Call call(node_.rank, kName);
      while (!stopping_.stop_requested()) {
        node_.poll(Flush::poll);
        // Outside of the lock, which the program's thread may want.
        host::run_program(node_.rank, [] { sched_yield(); });
      }
    }
  } catch (const std::exception& exception) {
    node_.rank.abort(1, exception.what());
  }
  here = nullptr;
  ended_.release();
}

void CommunicationThread::run_interrupts() {
  {
    const Locked locked(node_);
    node_.rank.observe_rounds(*this, true);
  }
  for (bool stopping = false; !stopping;) {
    bool sleeping = false;
    {
      const host::Call call(node_.rank, kName);
      node_.poll(Flush::poll);
      // An arrival during the methods of poll() did not wake this thread, because it was awake, so it is taken here.
      // The lock is held from here to begin(), so each later arrival finds the thread asleep, and wakes it.
      node_.take();
      stopping = stopping_.stop_requested();
      sleeping = !stopping && !node_.runnable();
      if (sleeping) node_.sleep.begin();
    }
    if (sleeping) node_.sleep.wait();
  }
  const Locked locked(node_);
  node_.rank.observe_rounds(*this, false);
}

}  // namespace margay::rmi::core
