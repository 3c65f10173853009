#include "mpi_adi/rank/wait_room.hpp"

namespace margay::mpi_adi {

void WaitRoom::end_polling() {
  if (--pollers_ > away_) return;
  // Its last round may have brought others something, too.
  serve();
  hand_on();
}

void WaitRoom::go_away() {
  ++away_;
  if (pollers_ <= away_) hand_on();
}

void WaitRoom::hand_on() {
  if (guests_.empty()) return;
  ++pollers_;  // the other's, from now on
  Guest& next = *guests_.back();
  guests_.pop_back();
  next.summons_.call();
}

void WaitRoom::serve() {
  std::erase_if(guests_, [](Guest* guest) {
    if (!guest->done_(guest->asked_)) return false;
    guest->served_ = true;
    guest->summons_.call();
    return true;
  });
}

}  // namespace margay::mpi_adi
