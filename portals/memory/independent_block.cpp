#include "portals/memory/independent_block.hpp"

#include <algorithm>
#include <functional>

#include "portals/base/assert.hpp"

namespace margay::portals {

using State = IndependentBuffer::State;

bool IndependentBlock::exhausted() const {
  return available() == table_.size();
}

// After rewind(), rows that the program has not released are skipped.
std::size_t IndependentBlock::available_linear() const {
  // Rows whose message never arrived are used first, the earliest of them before the others.
  if (!given_back_.empty()) return given_back_.back();
  std::size_t row = next_;
  while (row < table_.size() && table_[row].state != State::available) ++row;
  return row;
}

void IndependentBlock::give_back(const Verdict& verdict) {
  const std::size_t row = verdict.row;
  MARGAY_ASSERT(row < table_.size() && table_[row].state == State::reserved);
  table_[row].state = State::available;
  const std::size_t following = row + 1 == table_.size() && progression_ == Progression::circular ? 0 : row + 1;
  // If the row was the last one taken, the turn steps back to it. Otherwise a circular table reaches it again by
  // itself, and a linear one, which does not, lists it.
  if (next_ == following) {
    next_ = row;
  } else if (progression_ == Progression::linear) {
    given_back_.insert(std::lower_bound(given_back_.begin(), given_back_.end(), row, std::greater<>()), row);
  }
  // The row may be the one whose turn it is, so an exhausted block may have room again.
  notify_observers();
}

void IndependentBlock::release(std::size_t row) {
  require(row < table_.size(), "release() of a row that the independent block's table does not have");
  require(table_[row].state == State::filled,
          "release() of a row that holds no message; look at its state, which is filled once a message is there, and "
          "release it once");
  table_[row].state = State::available;
  notify_observers();
}

void IndependentBlock::rewind() {
  require(progression_ == Progression::linear,
          "a circular independent block wraps by itself; release() its rows instead of rewind()");
  const auto reserved = [](const IndependentBuffer& row) { return row.state == State::reserved; };
  require(std::none_of(table_.begin(), table_.end(), reserved),
          "rewind() of an independent block while a body is on its way into it; wait until no row is reserved");
  next_ = 0;
  given_back_.clear();
  notify_observers();
}

void IndependentBlock::observe_room(RoomObserver& observer) {
  MARGAY_ASSERT(exhausted());
  observer.previous = nullptr;
  observer.next = observers_;
  if (observers_ != nullptr) observers_->previous = &observer;
  observers_ = &observer;
}

void IndependentBlock::unobserve_room(RoomObserver& observer) {
  MARGAY_ASSERT((observer.previous == nullptr ? observers_ : observer.previous->next) == &observer);
  (observer.previous == nullptr ? observers_ : observer.previous->next) = observer.next;
  if (observer.next != nullptr) observer.next->previous = observer.previous;
  observer.next = nullptr;
  observer.previous = nullptr;
}

void IndependentBlock::notify_observers() {
  // A released row need not be the one whose turn it is.
  if (observers_ == nullptr || exhausted()) return;
  while (observers_ != nullptr) {
    // The observer leaves the list first, because the callback may register it again or destroy it.
    RoomObserver& observer = *observers_;
    unobserve_room(observer);
    observer.has_room(observer);
  }
}

}  // namespace margay::portals
