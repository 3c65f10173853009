// How the threads of a rank wait at once (MPI_THREAD_MULTIPLE): one of them polls for all, the others sleep until it
// finds that what they wait for has come, or hands its place on.
//
// Everything under the process lock, but Guest::stay().
#pragma once

#include <cstdint>
#include <vector>

#include "sim/shm/summons.hpp"

namespace margay::mpi_adi {

// A thread that waits for what another one may see. On the stack of its call.
class Guest {
 public:
  // `done`: asked under the process lock, by whichever thread polls; true at most once. It calls nothing that waits,
  // and nothing of the program's. It outlives the guest.
  template <typename Done>
  explicit Guest(Done& done)
      : done_([](void* asked) { return static_cast<bool>((*static_cast<Done*>(asked))()); }), asked_(&done) {}
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  // Outside the process lock, until the guest is taken off the list. True: what it waits for has come; false: it polls
  // from now on.
  [[nodiscard]] bool stay() {
    summons_.wait();
    return served_;
  }

 private:
  friend class WaitRoom;
  bool (*done_)(void*);
  void* asked_;
  bool served_ = false;
  sim::Summons summons_;
};

class WaitRoom {
 public:
  // A call that waits begins to poll. False: another one does; add() the guest and stay. `turns`: how often the process
  // lock has gone from one thread to another.
  [[nodiscard]] bool begin_polling(std::uint32_t turns) {
    waits_alone_ = turns == turns_ ? waits_alone_ + 1 : 0;
    turns_ = turns;
    if (pollers_ > away_) return false;
    ++pollers_;
    return true;
  }
  // The same, of a thread that polls already: two may for a while, which is no harm.
  void join_polling() { ++pollers_; }
  // Serves once more and hands the place on, if this was the last one that polled: to who came last, and may not sleep
  // yet.
  void end_polling();
  // A thread that may be polling runs a function of the program's, and comes back: another one polls meanwhile, and
  // perhaps beside it afterwards.
  void go_away();
  void come_back() { --away_; }
  void add(Guest& guest) { guests_.push_back(&guest); }
  // Whether other threads of the rank have called MPI lately, and so may have to run where this one polls.
  [[nodiscard]] bool in_company(std::uint32_t turns) const {
    return !empty() || turns != turns_ || waits_alone_ < kAlone;
  }
  // A call looked in vain, and may be asked again at once. Whether others get the processor first: at every eighth such
  // look while one of them waits, or as long as they come in between.
  [[nodiscard]] bool look_gives_way(std::uint32_t turns) {
    looks_alone_ = turns == turns_at_look_ ? looks_alone_ + 1 : 0;
    turns_at_look_ = turns;
    if (pollers_ == 0 && empty() && looks_alone_ >= kAlone) return false;
    return ++looks_ % kLooksToYield == 0;
  }
  // Something may have come: calls those whose wait is over.
  void serve();
  [[nodiscard]] bool empty() const { return guests_.empty(); }

 private:
  static constexpr std::uint32_t kAlone = 100;  // waits or looks of one thread after which no other one is expected
  static constexpr std::uint32_t kLooksToYield = 8;
  void hand_on();

  std::uint32_t pollers_ = 0;
  std::uint32_t away_ = 0;  // threads in a function of the program's, each perhaps one of the pollers
  std::uint32_t turns_ = 0;
  std::uint32_t waits_alone_ = kAlone;
  std::uint32_t looks_ = 0;
  std::uint32_t turns_at_look_ = 0;
  std::uint32_t looks_alone_ = kAlone;
  std::vector<Guest*> guests_;
};

}  // namespace margay::mpi_adi
