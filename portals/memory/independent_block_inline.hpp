// What an independent block does on a message's way, for portals/memory/storage to inline: a receive of MPI is one such
// block, so each message goes through here. Internal to portals.
#pragma once

#include <algorithm>

#include "portals/base/assert.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/independent_block.hpp"

namespace margay::portals {

inline std::size_t IndependentBlock::available() const {
  if (progression_ == Progression::circular) [[likely]] {
    // The turn is this row's: a circular list does not pass over a row that is still in use.
    const bool free = next_ < table_.size() && table_[next_].state == IndependentBuffer::State::available;
    return free ? next_ : table_.size();
  }
  return available_linear();
}

// put()'s twins, this and the next two.
inline Passed IndependentBlock::admit(const Options& options, const Header& header) const {
  const std::size_t row = available();
  // Before the direction: an exhausted block is passed over whatever the message is, which lets the match index leave
  // it out.
  if (row == table_.size()) return Passed::no_room;
  if (!direction_fits(options, header)) return Passed::wrong_direction;
  const bool get = header.kind == Kind::get;
  const bool moves = get || has(options.save, Save::body);
  if (!moves || moved_bytes(header) <= table_[row].memory.bytes()) [[likely]]
    return Passed::taken;
  return options.truncate && !get ? Passed::taken : Passed::too_small;
}

inline void IndependentBlock::reserve(const Options& options, const Header& header, Verdict& verdict) {
  // admit() found it: the next one of a circular table is not looked for again.
  const bool circular = progression_ == Progression::circular;
  const std::size_t row = circular ? next_ : available_linear();
  IndependentBuffer& buffer = table_[row];
  MARGAY_ASSERT(buffer.state == IndependentBuffer::State::available);
  buffer.state = IndependentBuffer::State::reserved;
  if (circular) [[likely]] {
    next_ = row + 1 == table_.size() ? 0 : row + 1;
  } else if (!given_back_.empty()) {
    given_back_.pop_back();
  } else {
    next_ = row + 1;
  }
  const bool body = has(options.save, Save::body);
  const bool get = header.kind == Kind::get;
  verdict.outcome = get ? Outcome::reply : Outcome::deposit;
  verdict.saved = body && !get ? Saved::both : Saved::header;
  verdict.acknowledge = acknowledges(options, header);
  verdict.row = static_cast<std::uint32_t>(row);
  // Shorter than what comes only where the entry truncates.
  if (body || get) verdict.landing = buffer.memory.slice(0, std::min(moved_bytes(header), buffer.memory.bytes()));
}

inline void IndependentBlock::commit(const Verdict& verdict, const Header& header) {
  IndependentBuffer& buffer = table_[verdict.row];
  MARGAY_ASSERT(buffer.state == IndependentBuffer::State::reserved);
  buffer.header = header;
  buffer.bytes = verdict.landing.bytes();
  buffer.state = IndependentBuffer::State::filled;
}

// The three above at once; tests/portals/put_whole_test holds it to them.
inline bool IndependentBlock::put(const Options& options, const Header& header, const Buffer& body) {
  if (options.direction != Direction::write_only || !has(options.save, Save::body)) return false;
  if (progression_ != Progression::circular || next_ >= table_.size()) return false;
  IndependentBuffer& buffer = table_[next_];
  if (buffer.state != IndependentBuffer::State::available) return false;
  if (!buffer.memory.contiguous() || body.bytes > buffer.memory.bytes()) return false;
  copy_bytes(buffer.memory.single().base, body.base, body.bytes);
  buffer.header = header;
  buffer.bytes = body.bytes;
  buffer.state = IndependentBuffer::State::filled;
  if (++next_ == table_.size()) next_ = 0;
  return true;
}

}  // namespace margay::portals
