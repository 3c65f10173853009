// "The most basic is the single block memory descriptor, which describes a single contiguous block of memory."
#pragma once

#include "portals/base/region.hpp"
#include "portals/base/require.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

class SingleBlock final : public Descriptor {
 public:
  // Requires: the memory stays valid while the block is attached.
  explicit SingleBlock(Buffer memory) : Descriptor(DescriptorType::single_block), memory_(memory) {
    require(memory.base != nullptr || memory.bytes == 0, "a single block's memory has a length and no address");
  }
  [[nodiscard]] Buffer memory() const { return memory_; }
  // Receiver-managed: bytes already used from the beginning; reset to use the block again.
  [[nodiscard]] std::uint64_t local_offset() const { return local_offset_; }
  void reset_local_offset() { local_offset_ = 0; }
  // With Save::header or both: the latest header. One slot: "a single block can only save incoming data" (section 2),
  // so a second message overwrites it. Valid when messages() > 0.
  [[nodiscard]] const Header& saved_header() const { return saved_header_; }

 private:
  friend class Storage;

  // See memory/storage.hpp.
  [[nodiscard]] Passed admit(const Options& options, const Header& header) const;
  void reserve(const Options& options, const Header& header, Verdict& verdict);
  void commit(const Verdict& verdict, const Header& header);
  void give_back(const Verdict& verdict);

  Buffer memory_;
  std::uint64_t local_offset_ = 0;
  Header saved_header_;
};

}  // namespace margay::portals
