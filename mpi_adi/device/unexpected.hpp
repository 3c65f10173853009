// The heap of a portal's unexpected messages, with its catch-alls and its search. Point-to-point messages have the two
// catch-alls of figure 1, collective messages the single catch-all of figure 8.
//
// The heap has a limit, and a message without room is held on its wire. That is head-of-line blocking: even in a
// correct MPI program, the answer for which this process waits may be queued behind the held message. So after a
// message has been held for a while, a second, much larger heap is opened, even if other messages still move. Memory
// stays bounded, and the program continues. The fill level of the first heap is not a criterion, because that heap may
// be fragmented.
// 1. At any time, the catch-alls of exactly one heap are active.
// 2. The second heap's catch-alls are active from its opening until it has received a message and is empty again, or
//    until a dormant process gives memory back. So all of its messages arrived after those of the first heap. Being
//    empty alone does not close it: the held message may arrive some rounds later, because a round may skip the wire
//    that holds it.
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
  // Rounds `bytes` up to whole pages. Throws std::bad_alloc when the address space has no free range of that size.
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

// The second heap opens after a message has been held for this many rounds of the owner's progress. These rounds take
// at least 0.1 ms together, in which the program has made no room. A wait that goes to sleep opens it at once.
inline constexpr std::uint32_t kSpillAfterRounds = 1000;
// The corresponding number of the coprocessor's rounds, while the program computes and other ranks wait for its
// windows. The coprocessor makes as many rounds before it sleeps.
inline constexpr std::uint32_t kSpillAfterAbsentRounds = 16;
// The least size that the second heap is requested to have, as a multiple of the first heap's.
inline constexpr std::size_t kSpillFactor = 15;

// The catch-alls of one portal's match list, with one or two heaps. Under the process lock.
class Unexpected {
 public:
  // short_and_long: an entry for short messages, and an entry for long messages that saves only the header. one: a
  // single entry that accepts every message.
  enum class CatchAlls : std::uint8_t { short_and_long, one };
  // The sizes, the portal and the owner of an Unexpected.
  struct Setup {
    std::size_t heap_bytes = 0;
    std::size_t heap_bytes_min = 0;  // the least size accepted if the address space is limited; 0: heap_bytes
    // The size of the second heap; it is smaller if the address space has no free range of that size. Its pages are
    // allocated when touched.
    std::size_t spill_bytes = 0;
    CatchAlls catch_alls = CatchAlls::short_and_long;
    portals::PortalIndex portal = 0;  // the portal of the list
    void* owner = nullptr;            // owner tag of the heaps' descriptors: notified of their changes
    std::uint32_t owner_tag_kind = 0;
  };
  // Appends the catch-alls to `list`, which must outlive this object. Throws std::bad_alloc when memory is lacking for
  // the first heap.
  Unexpected(const Setup& setup, portals::MatchList& list);

  ~Unexpected();
  Unexpected(const Unexpected&) = delete;
  Unexpected& operator=(const Unexpected&) = delete;

  // The portal of the match list. Held messages for this heap are found by this number in their headers.
  [[nodiscard]] portals::PortalIndex portal() const { return setup_.portal; }
  // The first catch-all of the list. Posted receives are inserted before it.
  [[nodiscard]] portals::MatchEntry& first_catch_all() { return first_.short_entry; }

  // Counts arrivals in `counts`, for both heaps. See DynamicBlock. Requires: no message has arrived.
  void count_in(portals::ArrivalCounts& counts) {
    counts_ = &counts;
    first_.block.count_in(counts);
  }

  // Names the catch-alls in the trace: the first heap's now, the second heap's when it opens. `recorder` must outlive
  // this object.
  void define_in_trace(sim::Recorder& recorder);

  // False if no message is queued; true if one may be.
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
  // unlink() takes a message off the queue; release() frees its memory. See DynamicBlock.
  void unlink(portals::ArrivedMessage& message) { heap_of(message).unlink(message); }
  void release(portals::ArrivedMessage& message) { heap_of(message).release(message); }

  // Sums over both heaps: queued messages, bytes in use, size.
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

  // Opens the second heap, or returns to the first. Called in each round of progress in which a message is held, and in
  // later rounds until none is held and the second heap is closed. `held_rounds`: the number of rounds for which the
  // oldest held message has waited; 0: none is held.
  void relieve(std::uint32_t held_rounds) {
    held_rounds_ = held_rounds;
    if (spilling_ || held_rounds != 0) [[unlikely]]
      change_heap();
  }
  // Opens the second heap at once if a message is held: the program is about to sleep, so rounds become rare.
  void relieve_sleeper() {
    if (!spilling_ && held_rounds_ != 0) open_second();
  }
  // Opens the second heap for a program that computes while other ranks use its windows: the access for which they wait
  // may be queued behind the held message. Called in each round of the coprocessor, if the process has windows. Without
  // windows the sender waits until the program returns to MPI, which bounds the memory.
  void relieve_absent(std::uint32_t held_rounds) {
    held_rounds_ = held_rounds;
    if (!spilling_ && held_rounds >= kSpillAfterAbsentRounds) open_second();
  }
  // Whether a message was held in the latest round.
  [[nodiscard]] bool holding() const { return held_rounds_ != 0; }
  // Whether the second heap's catch-alls are active.
  [[nodiscard]] bool spilling() const { return spilling_; }
  // The requested size of the second heap.
  [[nodiscard]] std::size_t spill_bytes() const { return setup_.spill_bytes; }

  // Frees the second heap if it is empty, and all pages but the first of an empty first heap.
  void give_memory_back();

 private:
  // A block of memory with its catch-alls. The entries refer to the block, so a Heap never moves.
  struct Heap {
    explicit Heap(std::size_t bytes, std::size_t least_bytes) : memory(bytes, least_bytes), block(memory.buffer()) {}
    HeapMemory memory;
    portals::DynamicBlock block;
    // The catch-all for short messages; with CatchAlls::one, for all. The long one is listed only if there are two.
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
  // Closes the second heap by rule 2, or opens it after each kSpillAfterRounds rounds with a held message.
  void change_heap();
  // Takes a heap's catch-alls out of the list; enlist() appends them.
  void delist(Heap& heap);
  void enlist(Heap& heap, portals::MatchList::Start start);
  // Makes the second heap, if memory suffices, and activates its catch-alls instead of the first heap's.
  void open_second();
  // Returns to the first heap. Requires: the second one's queue is empty.
  void close_second();
  // Gives both entries of a heap a name in the trace; `which` is appended to it.
  void define_pair(const Heap& heap, std::string_view which);
  // Activates or deactivates the entries, which keep their places in the list.
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
  std::uint64_t second_arrivals_ = 0;  // arrivals in the second heap when it was last opened
  std::uint32_t held_rounds_ = 0;      // as of the latest round
};

}  // namespace margay::mpi_adi
