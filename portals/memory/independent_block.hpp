// An independent block: a table of buffers, each of which takes one message with its header. "The independent block
// memory descriptor describes a table of possibly noncontiguous buffers ... a message ... will be deposited in the
// first available buffer in the buffer descriptor table" (paper 001, section 1.2). margay uses the next buffer in turn
// instead, so that the rows show the order of arrival: see release(). A posted receive of MPI is a block of one row.
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

// One row of the buffer descriptor table, owned by the program. `memory` may be in pieces: margay's extension, so that
// noncontiguous receives keep their header.
struct IndependentBuffer {
  Region memory;
  // The message's header, valid in a `filled` row.
  Header header;
  // Bytes of the body that are saved here; fewer than header.length where the entry truncates.
  std::uint64_t bytes = 0;
  // available: the next message may take it. reserved: its body is arriving. filled: its message is complete.
  enum class State : std::uint8_t { available, reserved, filled } state = State::available;
};

// The descriptor. Refers to the program's table of rows. Used under the process lock only. Misuse of a row ends the
// process with a message. A message costs constant time in a circular table. In a linear table it costs a scan over
// rows that were not released before rewind().
class IndependentBlock final : public Descriptor {
 public:
  // Requires: the table stays valid while the block is attached.
  IndependentBlock(std::span<IndependentBuffer> table, Progression progression)
      : Descriptor(DescriptorType::independent_block), table_(table), progression_(progression) {}

  // The program's rows, in the order of their use. Read them for headers and states.
  [[nodiscard]] std::span<const IndependentBuffer> table() const { return table_; }
  [[nodiscard]] Progression progression() const { return progression_; }
  // Makes a filled row available. Linear: each row is used once, in order, so a released row is used only after
  // rewind(). Circular: the next message goes to the row after the last used one, once that row is available. Notifies
  // room observers if the row whose turn it is has become available.
  void release(std::size_t row);
  // Linear blocks only: begins with the first row again; rows that are still filled are skipped. Requires: no row is
  // reserved.
  void rewind();
  // Whether no buffer is available, so that every message would fail here with no_room.
  [[nodiscard]] bool exhausted() const;

  // Registers an observer, which is called once when a buffer is available again. Constant time. Requires: exhausted();
  // both outlive the registration.
  void observe_room(RoomObserver& observer);
  // Removes a registered observer. Requires: it has not been called back.
  void unobserve_room(RoomObserver& observer);

 private:
  friend class Storage;

  // The row that the last put() filled. Valid until the next message.
  [[nodiscard]] std::size_t latest_row() const { return (next_ == 0 ? table_.size() : next_) - 1; }
  // The four steps of memory/storage.hpp. put() is the twin of admit(), reserve() and commit()
  // (tests/portals/put_whole_test).
  [[nodiscard]] Passed admit(const Options& options, const Header& header) const;
  void reserve(const Options& options, const Header& header, Verdict& verdict);
  void commit(const Verdict& verdict, const Header& header);
  [[nodiscard]] bool put(const Options& options, const Header& header, const Buffer& body);
  void give_back(const Verdict& verdict);

  // The row that the next message takes; table_.size() when there is none.
  [[nodiscard]] std::size_t available() const;
  // available() of a linear block: a row whose message never arrived, or the next one that is available.
  [[nodiscard, gnu::noinline]] std::size_t available_linear() const;
  // Notifies the observers if a buffer is available.
  void notify_observers();

  // The span is constant after construction; the rows change.
  std::span<IndependentBuffer> table_;
  // The row whose turn is next; table_.size() at the end of a linear table.
  std::size_t next_ = 0;
  // Linear: rows before next_ whose message never arrived, smallest last. They are used first.
  std::vector<std::size_t> given_back_;
  // Head of the list of room observers.
  RoomObserver* observers_ = nullptr;
  Progression progression_;
};

// The steps of an independent block. They are in the header so that portals/memory/storage can inline them, because a
// receive of MPI is one such block, and each message passes here. Internal to portals.

inline std::size_t IndependentBlock::available() const {
  if (progression_ == Progression::circular) [[likely]] {
    // Only this row may be next, because a circular table does not skip a row that is still in use. An empty table has
    // no row at all.
    const bool free = next_ < table_.size() && table_[next_].state == IndependentBuffer::State::available;
    return free ? next_ : table_.size();
  }
  return available_linear();
}

// admit(), reserve() and commit() are put()'s twins.
inline Passed IndependentBlock::admit(const Options& options, const Header& header) const {
  const std::size_t row = available();
  // Room is tested before the direction. So an exhausted block is passed over whatever the message is, and the match
  // index may leave it out.
  if (row == table_.size()) return Passed::no_room;
  if (!direction_fits(options, header)) return Passed::wrong_direction;
  const bool get = header.kind == Kind::get;
  const bool moves = get || has(options.save, Save::body);
  if (!moves || moved_bytes(header) <= table_[row].memory.bytes()) [[likely]]
    return Passed::taken;
  return options.truncate && !get ? Passed::taken : Passed::too_small;
}

// The turn advances at the reservation and not at the completion. So rows are in the order in which messages were
// matched, whichever body is complete first.
inline void IndependentBlock::reserve(const Options& options, const Header& header, Verdict& verdict) {
  // In a circular table, the row that admit() found is next_, so no search is needed.
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
  // The landing is shorter than the body only where the entry truncates.
  if (body || get) verdict.landing = buffer.memory.slice(0, std::min(moved_bytes(header), buffer.memory.bytes()));
}

// The state changes last: a row that is `filled` has its header and its length.
inline void IndependentBlock::commit(const Verdict& verdict, const Header& header) {
  IndependentBuffer& buffer = table_[verdict.row];
  MARGAY_ASSERT(buffer.state == IndependentBuffer::State::reserved);
  buffer.header = header;
  buffer.bytes = verdict.landing.bytes();
  buffer.state = IndependentBuffer::State::filled;
}

// The three functions above at once, for a circular table and a body in one piece that fits.
// tests/portals/put_whole_test compares put() with them. The row is not `reserved` in between, because nothing else
// runs before the copy is done.
inline bool IndependentBlock::put(const Options& options, const Header& header, const Buffer& body) {
  // If a condition fails here, the block is unchanged, and the caller uses the three functions above.
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
