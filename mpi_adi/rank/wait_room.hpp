// The waits of a rank's threads (MPI_THREAD_MULTIPLE): one thread polls for all, and the others sleep until it finds
// that their condition holds, or passes its role on.
// All functions require the process lock, except Guest::stay().
#pragma once

#include <cstdint>
#include <vector>

#include "sim/shm/summons.hpp"

namespace margay::mpi_adi {

// A thread that waits while another one polls. It lives on the stack of its call.
class Guest {
 public:
  // `done`: the wait's condition, which the polling thread calls under the process lock; it returns true at most once.
  // It must neither wait nor call functions of the program. It outlives the guest.
  template <typename Done>
  explicit Guest(Done& done)
      : done_([](void* asked) { return static_cast<bool>((*static_cast<Done*>(asked))()); }), asked_(&done) {}
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  // Sleeps, outside the process lock, until the guest is taken off the list. True: its condition holds; false: it has
  // to poll from now on.
  [[nodiscard]] bool stay() {
    summons_.wait();
    return served_;
  }

 private:
  friend class WaitRoom;
  // The condition without its type, so that guests of all waits fit one list.
  bool (*done_)(void*);
  void* asked_;
  // Its condition held when it was called; false: it was called to poll. Written under the process lock, before
  // summons_ is called; read without the lock, after summons_.wait().
  bool served_ = false;
  sim::Summons summons_;
};

// The polling threads and the guests of one rank.
class WaitRoom {
 public:
  // Makes a waiting call the polling one. False when another one polls: add() a guest and stay(). `turns`: how often
  // the rank's lock has gone from one thread to another.
  [[nodiscard]] bool begin_polling(std::uint32_t turns) {
    waits_alone_ = turns == turns_ ? waits_alone_ + 1 : 0;
    turns_ = turns;
    // Some poller is not in a function of the program, and polls.
    if (pollers_ > away_) return false;
    ++pollers_;
    return true;
  }
  // Adds a thread that polls already. Two may poll for a while, which does no harm.
  void join_polling() { ++pollers_; }
  // Ends polling: serves once more, and if no poller is left, hands the place to the guest that came last, which may
  // not have gone to sleep yet.
  void end_polling();
  // Around a function of the program that a thread runs, which may be the polling one: another thread polls
  // meanwhile, and perhaps beside it afterwards.
  void go_away();
  void come_back() { --away_; }
  // Adds a guest, before it leaves the rank to stay().
  void add(Guest& guest) { guests_.push_back(&guest); }
  // Whether other threads of the rank have called MPI lately, and so may need the processor on which this one polls.
  [[nodiscard]] bool in_company(std::uint32_t turns) const {
    return !empty() || turns != turns_ || waits_alone_ < kAlone;
  }
  // For a call that tests once, found nothing, and may be repeated at once: whether to yield the processor to other
  // threads first. True at every eighth such test while one of them waits, or as long as they call in between.
  [[nodiscard]] bool poll_gives_way(std::uint32_t turns) {
    polls_alone_ = turns == turns_at_poll_ ? polls_alone_ + 1 : 0;
    turns_at_poll_ = turns;
    if (pollers_ == 0 && empty() && polls_alone_ >= kAlone) return false;
    // A yield costs a system call, so not every test makes one.
    return ++polls_ % kPollsToYield == 0;
  }
  // Wakes the guests whose condition holds.
  void serve();
  // Whether no guest waits.
  [[nodiscard]] bool empty() const { return guests_.empty(); }

 private:
  // Waits or tests of one thread in a row after which no other is expected.
  static constexpr std::uint32_t kAlone = 100;
  static constexpr std::uint32_t kPollsToYield = 8;
  // Makes the latest guest the polling thread, if there is one.
  void hand_on();

  // Threads that poll, those that are away included.
  std::uint32_t pollers_ = 0;
  std::uint32_t away_ = 0;  // threads in a function of the program, each perhaps a poller
  // Of the latest wait, and of the latest test: the lock's turns, and how many came in a row without another thread.
  std::uint32_t turns_ = 0;
  std::uint32_t waits_alone_ = kAlone;
  std::uint32_t polls_ = 0;
  std::uint32_t turns_at_poll_ = 0;
  std::uint32_t polls_alone_ = kAlone;
  std::vector<Guest*> guests_;
};

}  // namespace margay::mpi_adi
