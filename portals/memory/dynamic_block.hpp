// A dynamic block: a heap from which the kernel allocates each arriving message, and a queue of the messages in it. "A
// dynamic block memory descriptor describes a contiguous block of heap memory. The Puma kernel maintains a list of free
// memory blocks and a list of messages that have arrived" (paper 001, section 1.2). MPI keeps unexpected messages in
// one.
#pragma once

#include <cstdint>
#include <memory>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"
#include "portals/base/structure_observer.hpp"
#include "portals/memory/arrived_message.hpp"
#include "portals/memory/descriptor.hpp"

namespace margay::portals {

// The descriptor. Used under the process lock only. Functions that take a message end the process with an explanation
// when the message is not this block's or has been released.
class DynamicBlock final : public Descriptor {
 public:
  // Allocates messages, headers and bodies alike, from `heap` by first fit; the bookkeeping lies there too. Pages are
  // touched only when used. Requires: the heap is aligned to 64 bytes and stays valid while the block lives.
  explicit DynamicBlock(Buffer heap);
  ~DynamicBlock() override;

  // Counts this block's messages and bytes in `counts`, which several blocks may share and other threads may read.
  // Counting costs the same without this call. The destruction of the block does not change the counts. Requires: no
  // message has arrived yet; `counts` outlives the block.
  void count_in(ArrivalCounts& counts);

  // Sets the observer of messages that leave; nullptr: none. Requires: `observer` outlives the block, or is removed by
  // follow(nullptr).
  void follow(StructureObserver* observer);

  // The oldest queued message that meets `criteria`, complete or not; nullptr when none does. The cost does not grow
  // with the queue, except for the first search with a shape of criteria, which indexes a long queue in linear time.
  [[nodiscard]] ArrivedMessage* find(const Criteria& criteria);
  // The queue in arrival order: the oldest message, and the one after `message`; nullptr at the end and for a message
  // that is off the queue.
  [[nodiscard]] ArrivedMessage* first() const;
  [[nodiscard]] ArrivedMessage* next(const ArrivedMessage& message) const;
  // The queue backwards: the latest message, and the one before `message`; nullptr as above.
  [[nodiscard]] ArrivedMessage* last() const;
  [[nodiscard]] ArrivedMessage* previous(const ArrivedMessage& message) const;
  // Takes a message off the queue, so that no search finds it; its memory stays until release(). Requires: it is
  // queued.
  void unlink(ArrivedMessage& message);
  // Frees a message's memory, and takes the message off the queue if it is queued. Adjacent free blocks are joined.
  // Requires: message.complete.
  void release(ArrivedMessage& message);

  // Messages on the queue. This function and the next four take constant time.
  [[nodiscard]] std::uint64_t queued() const;
  // Messages ever queued: the number of the latest one (ArrivedMessage::arrival).
  [[nodiscard]] std::uint64_t arrivals() const;
  // Size of the heap in bytes.
  [[nodiscard]] std::uint64_t heap_bytes() const;
  // Bytes allocated now, bookkeeping included.
  [[nodiscard]] std::uint64_t used_bytes() const;
  // The most that was ever allocated.
  [[nodiscard]] std::uint64_t high_water_bytes() const;

 private:
  friend class Storage;

  // See memory/storage.hpp.
  [[nodiscard]] Passed admit(const Options& options, const Header& header) const;
  void reserve(const Options& options, const Header& header, Verdict& verdict);
  void commit(const Verdict& verdict, const Header& header);
  void give_back(const Verdict& verdict);
  // Frees a message, whatever its state.
  void discard(ArrivedMessage& message);
  // Ends the process when the message is not this block's, or is released.
  void require_own(const ArrivedMessage& message) const;

  // Heap, queue and counts, so that this header does not include theirs.
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::portals
