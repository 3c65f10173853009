// Who of a rank's threads is inside: the process lock, and before it, when several threads call, a lock of their own.
#pragma once

#include <cstdint>
#include <thread>

#include "mpi_adi/rank/current.hpp"
#include "sim/shm/biased_lock.hpp"
#include "sim/shm/published.hpp"
#include "sim/shm/thread_lock.hpp"

namespace margay::sim {
class Process;
class Rest;
class ThreadEnds;
}  // namespace margay::sim

namespace margay::mpi_adi {

class RankLock {
 public:
  // All outlive it. `outside`: how a waiting thread yields, which is outside of the lock; `ends`: told of a thread that
  // ends.
  RankLock(sim::Process& process, sim::Rest& outside, sim::ThreadEnds& ends);
  RankLock(const RankLock&) = delete;
  RankLock& operator=(const RankLock&) = delete;

  // With several threads their lock comes first, and its holder is the owner of the process lock.
  void enter() {
    if (threaded()) {
      if (!detail::thread_noted) [[unlikely]]
        note_thread();
      mutex_.lock();
      if (threads_.get() != Threads::many) [[unlikely]]
        return enter_beside_lone_thread();
    }
    process_lock_.owner_enter();
  }
  void leave() {
    if (threaded()) {
      if (beside_lone_thread_ || !mutex_.mine()) [[unlikely]]
        return leave_beside();
      process_lock_.owner_leave();
      mutex_.unlock();
    } else {
      process_lock_.owner_leave();
    }
  }
  // False: another call is inside, perhaps of this very thread, which a signal interrupted, or it is not this thread's.
  [[nodiscard]] bool try_enter();
  // A call of this very thread is inside: a signal's handler asks.
  [[nodiscard]] bool interrupted() const {
    if (threads_.get() == Threads::many) return mutex_.mine();
    return mutex_.mine() || (on_lone_thread() && process_lock_.owner_inside());
  }

  // Several threads call at once from now on. Requires: outside; another thread may be inside, and wait there.
  void allow_threads();
  [[nodiscard]] bool threaded() const { return threads_.get() != Threads::one; }
  // The one that may call as long as several may not: the calling one.
  void begin_lone_thread() { lone_thread_.set(std::this_thread::get_id()); }
  [[nodiscard]] bool on_lone_thread() const { return std::this_thread::get_id() == lone_thread_.get(); }

  // Whether another thread wants the lock that this one has, or this one has it without the others' knowledge.
  [[nodiscard]] bool wanted() const { return mutex_.wanted() || !mutex_.mine(); }
  // Between leave() and enter(): who waits has it first.
  void let_in() { mutex_.let_in(); }
  // How often a thread was inside after another one.
  [[nodiscard]] std::uint32_t turns() const { return mutex_.turns(); }
  // The threads' lock is this thread's.
  [[nodiscard]] bool mine() const { return mutex_.mine(); }

 private:
  void begin_many();
  [[gnu::noinline]] void note_thread();
  [[gnu::noinline]] void enter_beside_lone_thread();
  [[gnu::noinline]] void leave_beside();

  sim::Process& process_;
  sim::BiasedLock& process_lock_;
  sim::Rest& outside_;
  sim::ThreadEnds& ends_;
  sim::ThreadLock mutex_;
  // How the process lock is taken. one: without the threads' lock, which only a thread may do that is alone. asked:
  // another one has come, but the lone thread may be inside that way, or about to be; until it has seen this, others
  // take the coprocessor's side of the process lock.
  enum class Threads : std::uint8_t { one, asked, many };
  sim::Published<Threads> threads_{Threads::one};
  bool beside_lone_thread_ = false;  // the holder of the threads' lock has the coprocessor's side
  sim::Published<std::thread::id> lone_thread_{std::this_thread::get_id()};
};

}  // namespace margay::mpi_adi
