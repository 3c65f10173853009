// Unexpected messages: the catch-alls with their heap, and the search of it. MPI messages have the two catch-alls of
// figure 1, collective ones that of figure 8.
//
// The heap has a limit; a message that finds no room is held on its wire. That is head-of-line blocking: behind it may
// be the very answer that this process waits for, in a program that is correct MPI. So when a message has been held for
// a while, whatever else moves, a second, much larger heap is opened: memory stays bounded, and the program continues.
// How full the first heap is does not matter, because it may be fragmented.
// 1. The catch-alls of one of the two heaps are active at a time.
// 2. The second is active from its opening until it has received a message and is empty again, so all of its messages
//    arrived after all of the first's. It stays active through rounds in which it is empty before that: a round may
//    leave out the wire that holds the message.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "portals/base/region.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::mpi_adi {

// Memory for a heap of unexpected messages. The address range is reserved in full; pages are allocated when touched.

class HeapMemory {
 public:
  // Rounds `bytes` up to whole pages. Throws std::bad_alloc when the address space has no such range.
  explicit HeapMemory(std::size_t bytes) : HeapMemory(bytes, bytes) {}
  // The same, but halves `bytes` until the address space has room, down to `least_bytes`.
  HeapMemory(std::size_t bytes, std::size_t least_bytes);
  ~HeapMemory();
  HeapMemory(const HeapMemory&) = delete;
  HeapMemory& operator=(const HeapMemory&) = delete;
  // Returns the pages to the operating system; they are zero when touched again. The first page keeps the heap's
  // bookkeeping.
  void empty_all_but_first_page() const;
  [[nodiscard]] portals::Buffer buffer() const { return buffer_; }

 private:
  portals::Buffer buffer_;
};

// Rounds of the owner's progress in which one message was held, before the second heap opens: at least 0.1 ms in which
// the program made no room for it. A wait that goes to sleep opens it at once.
inline constexpr std::uint32_t kSpillAfterRounds = 1000;
// The same while the program computes and others wait for its windows: the number of the coprocessor's rounds before it
// sleeps.
inline constexpr std::uint32_t kSpillAfterAbsentRounds = 16;
// The second heap's least size, in first heaps.
inline constexpr std::size_t kSpillFactor = 15;

// The catch-alls of one portal's match list, with one or two heaps. Under the process lock.
class Unexpected {
 public:
  // short_and_long: one entry for short messages, and one for long messages, which saves only the header. one: a single
  // entry that accepts every message.
  enum class CatchAlls : std::uint8_t { short_and_long, one };
  // The sizes and the place of an Unexpected.
  struct Setup {
    std::size_t heap_bytes = 0;
    std::size_t heap_bytes_min = 0;  // accepted where the address space is limited; 0: heap_bytes
    // Of the second heap, whose pages are allocated when touched; less where the address space refuses it.
    std::size_t spill_bytes = 0;
    CatchAlls catch_alls = CatchAlls::short_and_long;
    portals::PortalIndex portal = 0;  // the portal of the list
    void* owner = nullptr;            // owner tag of the heaps' descriptors: notified of their changes
    std::uint32_t owner_tag_kind = 0;
  };
  // Appends the catch-alls to `list`, which must outlive this object. Throws std::bad_alloc when there is no memory for
  // the first heap.
  Unexpected(const Setup& setup, portals::MatchList& list);

  ~Unexpected();
  Unexpected(const Unexpected&) = delete;
  Unexpected& operator=(const Unexpected&) = delete;

  // The portal of its list, which messages that are held for it carry.
  [[nodiscard]] portals::PortalIndex portal() const { return setup_.portal; }
  // The position in the list before which posted receives stand.
  [[nodiscard]] portals::MatchEntry& first_catch_all() { return first_.short_entry; }

  // Counts arrivals in `counts`, for both heaps. See DynamicBlock. Requires: no message has arrived.
  void count_in(portals::ArrivalCounts& counts) {
    counts_ = &counts;
    first_.block.count_in(counts);
  }

  // Names the catch-alls in the trace: the present ones now, those of the second heap when it opens. `recorder` must
  // outlive this object.
  void define_in_trace(sim::Recorder& recorder);

  // Whether a message may be queued; false is certain.
  [[nodiscard]] bool any() const { return first_.block.queued() != 0 || second_; }
  // The earliest queued message that meets the criteria, or nullptr. See DynamicBlock. Searches both heaps, in the
  // order of arrival.
  [[nodiscard]] portals::ArrivedMessage* find(const portals::Criteria& criteria) {
    if (!any()) [[likely]]
      return nullptr;  // most receives are posted in time
    return find_queued(criteria);
  }
  // The queued messages, in the order of arrival; nullptr at the end.
  [[nodiscard]] portals::ArrivedMessage* first() const;
  [[nodiscard]] portals::ArrivedMessage* next(const portals::ArrivedMessage& message) const;
  // Calls `function` for each message that arrived since the last such call and is still queued, the latest first.
  template <typename Function>
  void for_each_new(Function&& function) {
    for_each_new(first_, function);
    if (second_) for_each_new(*second_, function);
  }
  // Take a message off the queue, and free it. See DynamicBlock.
  void unlink(portals::ArrivedMessage& message) { heap_of(message).unlink(message); }
  void release(portals::ArrivedMessage& message) { heap_of(message).release(message); }

  // Messages queued in the heaps, bytes in use, and the size of both.
  [[nodiscard]] std::uint64_t queued() const { return first_.block.queued() + (second_ ? second_->block.queued() : 0); }
  [[nodiscard]] std::uint64_t used_bytes() const {
    return first_.block.used_bytes() + (second_ ? second_->block.used_bytes() : 0);
  }
  [[nodiscard]] std::uint64_t size_bytes() const {
    return first_.block.heap_bytes() + (second_ ? second_->block.heap_bytes() : 0);
  }
  // An upper bound of the bytes in use at any time: the sum of both heaps' high-water marks.
  [[nodiscard]] std::uint64_t high_water_bytes() const {
    return first_.block.high_water_bytes() + (second_ ? second_->block.high_water_bytes() : 0);
  }

  // Opens the second heap, or returns to the first. Called once a round of progress. `held_rounds`: rounds for which
  // the longest held message has waited; 0: none is held.
  void relieve(std::uint32_t held_rounds) {
    held_rounds_ = held_rounds;
    if (spilling_ || held_rounds != 0) [[unlikely]]
      change_heap();
  }
  // Opens the second heap at once if a message is held: the program is about to sleep, so rounds become rare.
  void relieve_sleeper() {
    if (!spilling_ && held_rounds_ != 0) open_second();
  }
  // Opens the second heap for a program that computes while others use its windows: behind the held message may be the
  // access that they wait for. Called once a round of the coprocessor. Without windows the sender waits until the
  // program returns to MPI, which bounds the memory.
  void relieve_absent(std::uint32_t held_rounds) {
    held_rounds_ = held_rounds;
    if (!spilling_ && held_rounds >= kSpillAfterAbsentRounds) open_second();
  }
  // Whether a message was held in the latest round.
  [[nodiscard]] bool holding() const { return held_rounds_ != 0; }
  // Whether the second heap's catch-alls are active.
  [[nodiscard]] bool spilling() const { return spilling_; }
  // The size that the second heap is asked to have.
  [[nodiscard]] std::size_t spill_bytes() const { return setup_.spill_bytes; }

  // Frees the second heap if it is empty, and all pages but the first of an empty first heap; both are as good as new.
  void give_memory_back();

 private:
  // A block of memory with its catch-alls. The entries refer to the block, so a Heap never moves.
  struct Heap {
    explicit Heap(std::size_t bytes, std::size_t least_bytes) : memory(bytes, least_bytes), block(memory.buffer()) {}
    HeapMemory memory;
    portals::DynamicBlock block;
    portals::MatchEntry short_entry;
    portals::MatchEntry long_entry;
    std::uint64_t seen = 0;  // arrival number of the latest message that for_each_new() has visited
  };
  template <typename Function>
  static void for_each_new(Heap& heap, Function& function) {
    const portals::ArrivedMessage* message = heap.block.last();
    const std::uint64_t seen = std::exchange(heap.seen, message == nullptr ? heap.seen : message->arrival);
    for (; message != nullptr && message->arrival > seen; message = heap.block.previous(*message)) function(*message);
  }
  // The rare part of find(): the first heap, then the second.
  [[nodiscard, gnu::noinline]] portals::ArrivedMessage* find_queued(const portals::Criteria& criteria);
  // Applies rule 2, and opens the second heap after kSpillAfterRounds.
  void change_heap();
  // Takes a heap's catch-alls out of the list; enlist() appends them.
  void delist(Heap& heap);
  void enlist(Heap& heap, portals::MatchList::Start start);
  // Makes the second heap, if it can, and its catch-alls the active ones.
  void open_second();
  // Returns to the first heap. Requires: the second one's queue is empty.
  void close_second();
  void define_pair(const Heap& heap, std::string_view which);
  void activate(Heap& heap, bool active);
  // Whether a message is in the first heap, by its address.
  [[nodiscard]] bool in_first(const portals::ArrivedMessage& message) const;
  [[nodiscard]] portals::DynamicBlock& heap_of(const portals::ArrivedMessage& message) {
    return in_first(message) ? first_.block : second_->block;
  }

  const Setup setup_;
  portals::MatchList& list_;
  portals::ArrivalCounts* counts_ = nullptr;  // nullptr: arrivals are not counted elsewhere
  sim::Recorder* recorder_ = nullptr;         // nullptr: no trace
  Heap first_;
  std::optional<Heap> second_;
  bool spilling_ = false;
  std::uint64_t second_arrivals_ = 0;  // of the second heap, when it was opened
  std::uint32_t held_rounds_ = 0;      // as of the latest round
};

}  // namespace margay::mpi_adi
