#include "mpi_adi/rank/wait_room.hpp"

namespace margay::mpi_adi {

void WaitRoom::end_polling() {
  // A poller is left that is not in a function of the program.
  if (--pollers_ > away_) return;
  // The last round may have completed other threads' waits, too.
  serve();
  hand_on();
}

void WaitRoom::go_away() {
  ++away_;
  // Each poller may be away now, so a guest has to poll.
  if (pollers_ <= away_) hand_on();
}

void WaitRoom::hand_on() {
  if (guests_.empty()) return;
  ++pollers_;  // in the guest's name, so that no newcomer becomes a second poller meanwhile
  // The latest guest may not have gone to sleep yet; its call then needs no system call (sim/shm/summons).
  Guest& next = *guests_.back();
  guests_.pop_back();
  next.summons_.call();
}

void WaitRoom::serve() {
  std::erase_if(guests_, [](Guest* guest) {
    if (!guest->done_(guest->asked_)) return false;
    // Set before the call: the guest reads it when it wakes, without the lock.
    guest->served_ = true;
    guest->summons_.call();
    return true;
  });
}

}  // namespace margay::mpi_adi
