// "The independent block memory descriptor describes a table of possibly noncontiguous buffers ... a message ... will
// be deposited in the first available buffer in the buffer descriptor table." Here it is the next one in turn, so that
// rows tell the order of arrival: see release().
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "portals/base/region.hpp"
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
  // See memory/storage.hpp; in independent_block_inline.hpp. put() is the twin of admit(), reserve() and commit()
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

}  // namespace margay::portals
