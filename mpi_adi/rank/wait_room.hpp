// The waits of a rank's threads (MPI_THREAD_MULTIPLE): one thread polls for all. The others sleep until the polling
// thread finds that their condition holds, or passes its role on.
// All functions require the process lock, except WaitingThread::stay().
#pragma once

#include <cstdint>
#include <vector>

#include "sim/shm/oneshot_wakeup.hpp"

namespace margay::mpi_adi {

// A thread that waits while another thread polls. The object lives on the stack of the waiting call.
class WaitingThread {
 public:
  // `done`: the wait's condition. The polling thread calls it under the process lock, and not again after it has
  // returned true. `done` must neither wait nor call functions of the program, and must outlive this object.
  template <typename Done>
  explicit WaitingThread(Done& done)
      : done_([](void* asked) { return static_cast<bool>((*static_cast<Done*>(asked))()); }), asked_(&done) {}
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;

  // Sleeps, outside the process lock, until this object is taken off the list. True: the condition holds. False: the
  // calling thread has to poll from now on.
  [[nodiscard]] bool stay() {
    wakeup_.wait();
    return served_;
  }

 private:
  friend class WaitRoom;
  // The condition without its type, so that the objects of all waits fit one list.
  bool (*done_)(void*);
  void* asked_;
  // True: wakeup_ was called because the condition held. False: it was called to make the thread poll. Written under
  // the process lock, before wakeup_ is called; read without the lock, after wakeup_.wait().
  bool served_ = false;
  sim::OneShotWakeup wakeup_;
};

// The polling threads and the waiting threads of one rank.
class WaitRoom {
 public:
  // Makes a waiting call the polling one. False if another call polls; the caller then calls add() with a
  // WaitingThread, and then stay() of that object. `turns`: the number of times that the rank's lock has gone from one
  // thread to another.
  [[nodiscard]] bool begin_polling(std::uint32_t turns) {
    waits_alone_ = turns == turns_ ? waits_alone_ + 1 : 0;
    turns_ = turns;
    // At least one poller is not in a function of the program, so it polls.
    if (pollers_ > away_) return false;
    ++pollers_;
    return true;
  }
  // Counts a thread that polls already. For a while two threads may poll, which does no harm.
  void join_polling() { ++pollers_; }
  // Ends polling. If no other thread polls, serves once more, and makes the latest waiting thread the polling thread,
  // because it may not have gone to sleep yet.
  void end_polling();
  // begin_callback() and end_callback() enclose a function of the program, which the polling thread may run. Another
  // thread polls meanwhile, and perhaps both afterwards.
  void begin_callback();
  void end_callback() { --away_; }
  // Adds a waiting thread, before it leaves the rank and calls stay().
  void add(WaitingThread& thread) { waiting_threads_.push_back(&thread); }
  // Whether other threads of the rank have called MPI lately, so that they may need the processor on which this thread
  // polls.
  [[nodiscard]] bool in_company(std::uint32_t turns) const {
    return !empty() || turns != turns_ || waits_alone_ < kAlone;
  }
  // Whether a call that tested once and found nothing yields the processor to other threads before it returns, because
  // the program may repeat it at once. True at every eighth such test, while another thread waits or as long as other
  // threads call in between.
  [[nodiscard]] bool should_yield_after_poll(std::uint32_t turns) {
    polls_alone_ = turns == turns_at_poll_ ? polls_alone_ + 1 : 0;
    turns_at_poll_ = turns;
    if (pollers_ == 0 && empty() && polls_alone_ >= kAlone) return false;
    // A yield costs a system call, so not every test makes one.
    return ++polls_ % kPollsToYield == 0;
  }
  // Wakes the waiting threads whose condition holds.
  void serve();
  // Whether no thread waits.
  [[nodiscard]] bool empty() const { return waiting_threads_.empty(); }

 private:
  // After so many waits or tests in a row by one thread, no other thread is expected to call.
  static constexpr std::uint32_t kAlone = 100;
  static constexpr std::uint32_t kPollsToYield = 8;
  // Makes the latest waiting thread the polling thread, if there is one.
  void hand_on();

  // Threads that poll, including pollers that are away.
  std::uint32_t pollers_ = 0;
  std::uint32_t away_ = 0;  // threads in a function of the program; each may be a poller
  // The lock's turns at the latest wait, and the number of waits in a row during which no other thread had the lock.
  // The names with `poll` have the same for tests.
  std::uint32_t turns_ = 0;
  std::uint32_t waits_alone_ = kAlone;
  std::uint32_t polls_ = 0;
  std::uint32_t turns_at_poll_ = 0;
  std::uint32_t polls_alone_ = kAlone;
  std::vector<WaitingThread*> waiting_threads_;
};

}  // namespace margay::mpi_adi
