// "The independent block memory descriptor describes a table of possibly noncontiguous buffers ... a message ... will
// be deposited in the first available buffer in the buffer descriptor table." Here it is the next one in turn, so that
// rows tell the order of arrival: see release().
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "portals/base/assert.hpp"
#include "portals/base/region.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

// One row of the buffer descriptor table. `memory` may be in pieces (margay's extension: an independent block whose
// buffer is a combined region, so that noncontiguous receives keep their header).
struct IndependentBuffer {
  Region memory;
  Header header;            // saved when the row is `filled`
  std::uint64_t bytes = 0;  // of the body saved here
  enum class State : std::uint8_t { available, reserved, filled } state = State::available;
};

class IndependentBlock final : public Descriptor {
 public:
  // Requires: the table stays valid while the block is attached.
  IndependentBlock(std::span<IndependentBuffer> table, Progression progression)
      : Descriptor(DescriptorType::independent_block), table_(table), progression_(progression) {}

  [[nodiscard]] std::span<const IndependentBuffer> table() const { return table_; }
  [[nodiscard]] Progression progression() const { return progression_; }
  // Gives a filled row back. Linear: rows are used once each in order, a released row only after rewind(). Circular:
  // the next message goes to the row after the last one, once released.
  void release(std::size_t row);
  // Linear: begins with the first row again; rows still filled are passed over. Requires: no row is reserved.
  void rewind();
  // True when no buffer is available: every message would fail here with "no room".
  [[nodiscard]] bool exhausted() const;

  // Calls `watch` back when a buffer is available again. Requires: exhausted(); neither side goes away meanwhile.
  void watch_room(RoomWatch& watch);
  void unwatch_room(RoomWatch& watch);

 private:
  friend class Storage;

  // The row that put() has just filled.
  [[nodiscard]] std::size_t latest_row() const { return (next_ == 0 ? table_.size() : next_) - 1; }
  // See memory/storage.hpp. put() is the twin of admit(), reserve() and commit()
  // (tests/portals/put_whole_test).
  [[nodiscard]] Passed admit(const Options& options, const Header& header) const;
  void reserve(const Options& options, const Header& header, Verdict& verdict);
  void commit(const Verdict& verdict, const Header& header);
  [[nodiscard]] bool put(const Options& options, const Header& header, const Buffer& body);
  void give_back(const Verdict& verdict);

  // The row that the next message gets; table_.size() when there is none.
  [[nodiscard]] std::size_t available() const;
  [[nodiscard, gnu::noinline]] std::size_t available_linear() const;
  void tell_watches();

  std::span<IndependentBuffer> table_;
  std::size_t next_ = 0;
  std::vector<std::size_t> given_back_;  // linear: rows before next_ whose message never came, smallest last
  RoomWatch* watches_ = nullptr;
  Progression progression_;
};

// What an independent block does on a message's way, for portals/memory/storage to inline: a receive of MPI is one such
// block, so each message goes through here. Internal to portals.

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
