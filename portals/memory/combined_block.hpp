// "The combined block memory descriptor describes a logically contiguous but possibly physically discontinuous block of
// memory ... a message destined for this descriptor will keep filling successive buffers."
#pragma once

#include <span>

#include "portals/base/region.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

class CombinedBlock final : public Descriptor {
 public:
  // Requires: the table and its buffers stay valid while the block is attached.
  explicit CombinedBlock(std::span<const Buffer> table) : Descriptor(DescriptorType::combined_block), memory_(table) {}
  // The same, for a region that has been made already.
  explicit CombinedBlock(const Region& memory) : Descriptor(DescriptorType::combined_block), memory_(memory) {}
  [[nodiscard]] const Region& memory() const { return memory_; }
  [[nodiscard]] std::uint64_t local_offset() const { return local_offset_; }
  void reset_local_offset() { local_offset_ = 0; }

 private:
  friend class Storage;

  // See memory/storage.hpp.
  [[nodiscard]] Passed admit(const Options& options, const Header& header) const;
  void reserve(const Options& options, const Header& header, Verdict& verdict);
  void commit(const Verdict& verdict, const Header& header);
  void give_back(const Verdict& verdict);

  Region memory_;
  std::uint64_t local_offset_ = 0;
};

}  // namespace margay::portals
