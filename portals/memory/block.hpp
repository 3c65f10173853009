// Single and combined blocks: descriptors of one piece of memory, and of several that are filled as one (paper 001,
// section 1.2). Both place each message at an offset, which either the sender's header or the receiver's own counter
// determines.
#pragma once

#include <span>

#include "portals/base/assert.hpp"
#include "portals/base/region.hpp"
#include "portals/base/verdict.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

// "The most basic is the single block memory descriptor, which describes a single contiguous block of memory." The
// program owns block and memory.
class SingleBlock final : public Descriptor {
 public:
  // Requires: the memory stays valid while the block is attached.
  explicit SingleBlock(Buffer memory) : Descriptor(DescriptorType::single_block), memory_(memory) {
    require(memory.base != nullptr || memory.bytes == 0, "a single block's memory has a length and no address");
  }
  // The memory that messages are put into or read from.
  [[nodiscard]] Buffer memory() const { return memory_; }
  // Bytes already used from the beginning, where entries have a receiver-managed offset. Reset it to use the block
  // again.
  [[nodiscard]] std::uint64_t local_offset() const { return local_offset_; }
  // Messages whose bodies are still arriving keep their places. The next message is placed at the beginning.
  void reset_local_offset() { local_offset_ = 0; }
  // The header of the latest message that was saved with Save::header or Save::both. One slot only: "a single block can
  // only save incoming data" (section 2), so a second message overwrites it. Valid when messages() > 0.
  [[nodiscard]] const Header& saved_header() const { return saved_header_; }

 private:
  friend class Storage;

  // The four steps of memory/storage.hpp, here and in the other descriptors.
  [[nodiscard]] Passed admit(const Options& options, const Header& header) const;
  void reserve(const Options& options, const Header& header, Verdict& verdict);
  void commit(const Verdict& verdict, const Header& header);
  void give_back(const Verdict& verdict);

  Buffer memory_;
  std::uint64_t local_offset_ = 0;
  // Written by commit(), so a message that is still arriving does not change it.
  Header saved_header_;
};

// "The combined block memory descriptor describes a logically contiguous but possibly physically discontinuous block of
// memory ... a message destined for this descriptor will keep filling successive buffers." It saves bodies only.
class CombinedBlock final : public Descriptor {
 public:
  // Requires: the table and its buffers stay valid while the block is attached.
  explicit CombinedBlock(std::span<const Buffer> table) : Descriptor(DescriptorType::combined_block), memory_(table) {}
  // The same for a region that exists already. Requires: the region's memory, table and layout stay valid while the
  // block is attached.
  explicit CombinedBlock(const Region& memory) : Descriptor(DescriptorType::combined_block), memory_(memory) {}
  // The memory that messages fill, over all its pieces.
  [[nodiscard]] const Region& memory() const { return memory_; }
  // As in SingleBlock.
  [[nodiscard]] std::uint64_t local_offset() const { return local_offset_; }
  void reset_local_offset() { local_offset_ = 0; }

 private:
  friend class Storage;

  // See memory/storage.hpp.
  [[nodiscard]] Passed admit(const Options& options, const Header& header) const;
  void reserve(const Options& options, const Header& header, Verdict& verdict);
  void commit(const Verdict& verdict, const Header& header);
  void give_back(const Verdict& verdict);

  // A view; the table and its buffers are the program's.
  Region memory_;
  std::uint64_t local_offset_ = 0;
};

// Arithmetic shared by the descriptors. Internal to portals.

// Bytes that a message moves: the body of a deposit, or the bytes that a get requests.
[[nodiscard]] inline std::uint64_t moved_bytes(const Header& header) {
  return header.kind == Kind::get ? header.return_length : header.length;
}

// Whether `save` keeps `part`.
[[nodiscard]] inline bool has(Save save, Save part) {
  return (static_cast<unsigned>(save) & static_cast<unsigned>(part)) != 0;
}

// Whether the entry permits the message's direction: a get reads, everything else writes.
[[nodiscard]] inline bool direction_fits(const Options& options, const Header& header) {
  return (options.direction == Direction::read_only) == (header.kind == Kind::get);
}

// Whether an acknowledgment is sent: the entry and the header both request one, and the message is a put or a reply.
// Gets are answered by their reply, acknowledgments by nothing.
[[nodiscard]] inline bool acknowledges(const Options& options, const Header& header) {
  return options.acknowledge && header.return_portal != kNoPortal &&
         (header.kind == Kind::put || header.kind == Kind::reply);
}

// The result of admit() for memory of `bytes` bytes. `used`: the receiver-managed offset. Changes nothing.
[[nodiscard]] Passed admit_bytes(std::uint64_t bytes, std::uint64_t used, const Options& options, const Header& header);

// Sets the verdict's outcome, offset, landing and acknowledge, and advances a receiver-managed offset. Requires:
// admit_bytes() == taken.
void reserve_bytes(const Region& memory, std::uint64_t& used, const Options& options, const Header& header,
                   Verdict& verdict);

// Undoes reserve_bytes() when nothing was reserved after it; otherwise a gap stays, because later messages already
// have the places after it.
void release_bytes(std::uint64_t& used, const Verdict& verdict);

}  // namespace margay::portals
