// "A dynamic block memory descriptor describes a contiguous block of heap memory. The Puma kernel maintains a list of
// free memory blocks and a list of messages that have arrived."
#pragma once

#include <cstdint>
#include <memory>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "portals/base/structure_watch.hpp"
#include "portals/memory/arrived_message.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

class DynamicBlock final : public Descriptor {
 public:
  // The block takes its messages, headers and bodies alike, out of `heap` by first fit; the bookkeeping lives there
  // too. Requires: heap is 64-byte aligned and stays valid while the block lives. Pages are touched only when used.
  explicit DynamicBlock(Buffer heap);
  ~DynamicBlock() override;

  // From now on what lies here is added to these counts, those of other blocks too, at once: an addition for each
  // message that comes or goes. Requires: nothing has come yet; they outlive the block. What is left at the block's end
  // stays.
  void count_in(ArrivalCounts& counts);

  // From now on `watch` is called for each message that leaves; nullptr: nobody. Requires: `watch` outlives the block,
  // or takes its leave.
  void follow(StructureWatch* watch);

  // The earliest arrived message that meets `criteria`, or nullptr. Its cost does not grow with the queue.
  [[nodiscard]] ArrivedMessage* find(const Criteria& criteria);
  // In arrival order: the first message, and the one after `message`; nullptr at the end.
  [[nodiscard]] ArrivedMessage* first() const;
  [[nodiscard]] ArrivedMessage* next(const ArrivedMessage& message) const;
  // The other way: the latest message, and the one before `message`.
  [[nodiscard]] ArrivedMessage* last() const;
  [[nodiscard]] ArrivedMessage* previous(const ArrivedMessage& message) const;
  // Takes a message off the queue; its memory stays until release().
  void unlink(ArrivedMessage& message);
  // Frees the memory (and takes the message off the queue when it is still on it). Neighbouring free blocks join.
  // Requires: message.complete.
  void release(ArrivedMessage& message);

  [[nodiscard]] std::uint64_t queued() const;            // messages on the queue
  [[nodiscard]] std::uint64_t arrivals() const;          // messages that ever came onto it
  [[nodiscard]] std::uint64_t heap_bytes() const;        // size of the heap
  [[nodiscard]] std::uint64_t used_bytes() const;        // bytes taken, bookkeeping included
  [[nodiscard]] std::uint64_t high_water_bytes() const;  // most ever taken

 private:
  friend class Storage;

  // See memory/storage.hpp.
  [[nodiscard]] Passed admit(const Options& options, const Header& header) const;
  void reserve(const Options& options, const Header& header, Verdict& verdict);
  void commit(const Verdict& verdict, const Header& header);
  void give_back(const Verdict& verdict);
  void discard(ArrivedMessage& message);
  void require_own(const ArrivedMessage& message) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::portals
