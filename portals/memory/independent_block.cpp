#include "portals/memory/independent_block.hpp"

#include <algorithm>
#include <functional>

#include "portals/base/assert.hpp"
#include "portals/memory/window.hpp"

namespace margay::portals {

using State = IndependentBuffer::State;

std::size_t IndependentBlock::available() const {
  if (progression_ == Progression::circular) {
    // The turn is this row's: a circular list does not pass over a row that is still in use.
    return next_ < table_.size() && table_[next_].state == State::available ? next_ : table_.size();
  }
  if (!given_back_.empty()) return given_back_.back();
  std::size_t row = next_;
  while (row < table_.size() && table_[row].state != State::available) ++row;
  return row;
}

Passed IndependentBlock::admit(const Options& options, const Header& header) const {
  const std::size_t row = available();
  // Before the direction: an exhausted block is passed over whatever the message is, which lets the match index leave
  // it out.
  if (row == table_.size()) return Passed::no_room;
  if (!direction_fits(options, header)) return Passed::wrong_direction;
  const bool moves = header.kind == Kind::get || has(options.save, Save::body);
  return moves && moved_bytes(header) > table_[row].memory.bytes() ? Passed::too_small : Passed::taken;
}

void IndependentBlock::reserve(const Options& options, const Header& header, Verdict& verdict) {
  const std::size_t row = available();
  IndependentBuffer& buffer = table_[row];
  MARGAY_ASSERT(buffer.state == State::available);
  buffer.state = State::reserved;
  if (!given_back_.empty()) {
    given_back_.pop_back();
  } else {
    next_ = row + 1;
    if (next_ == table_.size() && progression_ == Progression::circular) next_ = 0;
  }
  const bool body = has(options.save, Save::body);
  const bool get = header.kind == Kind::get;
  verdict.outcome = get ? Outcome::reply : Outcome::deposit;
  verdict.saved = body && !get ? Saved::both : Saved::header;
  verdict.acknowledge = acknowledges(options, header);
  verdict.row = static_cast<std::uint32_t>(row);
  if (body || get) verdict.landing = buffer.memory.slice(0, moved_bytes(header));
}

void IndependentBlock::commit(const Verdict& verdict, const Header& header) {
  IndependentBuffer& buffer = table_[verdict.row];
  MARGAY_ASSERT(buffer.state == State::reserved);
  buffer.header = header;
  buffer.bytes = verdict.landing.bytes();
  buffer.state = State::filled;
}

void IndependentBlock::give_back(const Verdict& verdict) {
  const std::size_t row = verdict.row;
  MARGAY_ASSERT(table_[row].state == State::reserved);
  table_[row].state = State::available;
  const std::size_t following = row + 1 == table_.size() && progression_ == Progression::circular ? 0 : row + 1;
  if (next_ == following) {
    next_ = row;
  } else if (progression_ == Progression::linear) {
    given_back_.insert(std::lower_bound(given_back_.begin(), given_back_.end(), row, std::greater<>()), row);
  }
  tell_watches();
}

void IndependentBlock::release(std::size_t row) {
  MARGAY_ASSERT(row < table_.size() && table_[row].state == State::filled);
  table_[row].state = State::available;
  tell_watches();
}

void IndependentBlock::rewind() {
  MARGAY_ASSERT(progression_ == Progression::linear);
  next_ = 0;
  given_back_.clear();
  tell_watches();
}

void IndependentBlock::watch_room(RoomWatch& watch) {
  watch.previous = nullptr;
  watch.next = watches_;
  if (watches_ != nullptr) watches_->previous = &watch;
  watches_ = &watch;
}

void IndependentBlock::unwatch_room(RoomWatch& watch) {
  (watch.previous == nullptr ? watches_ : watch.previous->next) = watch.next;
  if (watch.next != nullptr) watch.next->previous = watch.previous;
  watch.next = nullptr;
  watch.previous = nullptr;
}

void IndependentBlock::tell_watches() {
  if (watches_ == nullptr || exhausted()) return;
  while (watches_ != nullptr) {
    RoomWatch& watch = *watches_;
    unwatch_room(watch);
    watch.has_room(watch);
  }
}

}  // namespace margay::portals
