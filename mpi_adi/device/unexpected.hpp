// Unexpected messages: catch-alls on one heap, and the search of it. MPI messages have the two of figure 1, collective
// ones that of figure 8.
//
// The heap has a limit; what finds no room is held on its wire. That is head-of-line blocking: behind it may be the
// very answer that this process waits for, in a program that MPI calls correct. So when a message has been held for a
// while, whatever else moves, a second, much larger heap is opened: memory stays bounded, and the program goes on. How
// full the first heap is does not matter: it may be fragmented.
// 1. The catch-alls of one of the two heaps are active at a time.
// 2. The second is active from its opening until a message has come to it and none is left: all of its messages came
//    after all of the first's. Not until its first empty round: a round may leave out the wire that holds the message.
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

// Memory for the heap of unexpected messages: reserved in full, pages come when touched.

class HeapMemory {
 public:
  // Rounds `bytes` up to whole pages. Throws std::bad_alloc when the address space refuses it.
  explicit HeapMemory(std::size_t bytes) : HeapMemory(bytes, bytes) {}
  // Halves `bytes` as often as the address space refuses them, to `least_bytes`.
  HeapMemory(std::size_t bytes, std::size_t least_bytes);
  ~HeapMemory();
  HeapMemory(const HeapMemory&) = delete;
  HeapMemory& operator=(const HeapMemory&) = delete;
  // Pages go back to the system; they are zeros when touched again.
  void empty_all_but_first_page() const;
  [[nodiscard]] portals::Buffer buffer() const { return buffer_; }

 private:
  portals::Buffer buffer_;
};

// Rounds of the owner's progress in which one message was held, before the second heap is opened: 0.1 ms and more in
// which the program did not make room for it. A wait that goes to sleep ends the patience at once.
inline constexpr std::uint32_t kSpillAfterRounds = 1000;
// The same while the program computes, and others wait for its windows: the coprocessor's rounds before it sleeps.
inline constexpr std::uint32_t kSpillAfterAbsentRounds = 16;
// The second heap is asked to have this many first heaps at least.
inline constexpr std::size_t kSpillFactor = 15;

class Unexpected {
 public:
  // A short entry, and a long one of which only the header is saved; or one that takes all that comes.
  enum class CatchAlls : std::uint8_t { short_and_long, one };
  struct Setup {
    std::size_t heap_bytes = 0;
    std::size_t heap_bytes_min = 0;  // what it may have where so much is refused; 0: all
    std::size_t spill_bytes = 0;     // of the second heap, whose pages come when touched; less where it is refused
    CatchAlls catch_alls = CatchAlls::short_and_long;
    portals::PortalIndex portal = 0;  // whose list it is
    void* owner = nullptr;            // who is told of changes of the heaps
    std::uint32_t owner_kind = 0;
  };
  // Appends the catch-alls to `list`, which outlives this object. Throws std::bad_alloc when there is no memory for the
  // heap.
  Unexpected(const Setup& setup, portals::MatchList& list);

  ~Unexpected();
  Unexpected(const Unexpected&) = delete;
  Unexpected& operator=(const Unexpected&) = delete;

  [[nodiscard]] portals::PortalIndex portal() const { return setup_.portal; }
  // Posted receives stand before this entry.
  [[nodiscard]] portals::MatchEntry& first_catch_all() { return first_.short_entry; }

  // See DynamicBlock; both heaps. Requires: no message has come.
  void count_in(portals::ArrivalCounts& counts) {
    counts_ = &counts;
    first_.block.count_in(counts);
  }

  // What the catch-alls are called: those of now and, in time, the second heap's. `recorder` outlives this object.
  void define_in_trace(sim::Recorder& recorder);

  // Whether there may be a message.
  [[nodiscard]] bool any() const { return first_.block.queued() != 0 || second_; }
  // See DynamicBlock; over both heaps, in order of arrival.
  [[nodiscard]] portals::ArrivedMessage* find(const portals::Criteria& criteria) {
    if (!any()) [[likely]]
      return nullptr;  // most receives are posted in time
    return find_queued(criteria);
  }
  [[nodiscard]] portals::ArrivedMessage* first() const;
  [[nodiscard]] portals::ArrivedMessage* next(const portals::ArrivedMessage& message) const;
  // Calls `function` with each message that has come since the last call and is still queued, the latest first.
  template <typename Function>
  void for_each_new(Function&& function) {
    for_each_new(first_, function);
    if (second_) for_each_new(*second_, function);
  }
  void unlink(portals::ArrivedMessage& message) { heap_of(message).unlink(message); }
  void release(portals::ArrivedMessage& message) { heap_of(message).release(message); }

  // Messages in the heaps, and bytes that they take; the heaps' bytes.
  [[nodiscard]] std::uint64_t queued() const { return first_.block.queued() + (second_ ? second_->block.queued() : 0); }
  [[nodiscard]] std::uint64_t used_bytes() const {
    return first_.block.used_bytes() + (second_ ? second_->block.used_bytes() : 0);
  }
  [[nodiscard]] std::uint64_t size_bytes() const {
    return first_.block.heap_bytes() + (second_ ? second_->block.heap_bytes() : 0);
  }
  // Most bytes that the heaps ever held, both together.
  [[nodiscard]] std::uint64_t high_water_bytes() const {
    return first_.block.high_water_bytes() + (second_ ? second_->block.high_water_bytes() : 0);
  }

  // Called once a round: opens the second heap, or goes back to the first. `held_rounds`: of the message that has been
  // held the longest; 0: none is held.
  void relieve(std::uint32_t held_rounds) {
    held_rounds_ = held_rounds;
    if (spilling_ || held_rounds != 0) [[unlikely]]
      change_heap();
  }
  // The program is about to sleep: rounds become rare.
  void relieve_sleeper() {
    if (!spilling_ && held_rounds_ != 0) open_second();
  }
  // Called once a round of a program that is not there and whose windows others use: behind what is held may be what
  // they wait for. Without windows the sender waits until the program comes, which is what bounds the memory.
  void relieve_absent(std::uint32_t held_rounds) {
    held_rounds_ = held_rounds;
    if (!spilling_ && held_rounds >= kSpillAfterAbsentRounds) open_second();
  }
  // A message was held in the latest round.
  [[nodiscard]] bool holding() const { return held_rounds_ != 0; }
  [[nodiscard]] bool spilling() const { return spilling_; }
  [[nodiscard]] std::size_t spill_bytes() const { return setup_.spill_bytes; }

  // The second heap goes if it is empty, and an empty first one keeps its first page; both are as good as new.
  void give_memory_back();

 private:
  struct Heap {
    explicit Heap(std::size_t bytes, std::size_t least_bytes) : memory(bytes, least_bytes), block(memory.buffer()) {}
    HeapMemory memory;
    portals::DynamicBlock block;
    portals::MatchEntry short_entry;
    portals::MatchEntry long_entry;
    std::uint64_t seen = 0;  // arrivals that for_each_new() has looked at
  };
  template <typename Function>
  static void for_each_new(Heap& heap, Function& function) {
    const portals::ArrivedMessage* message = heap.block.last();
    const std::uint64_t seen = std::exchange(heap.seen, message == nullptr ? heap.seen : message->arrival);
    for (; message != nullptr && message->arrival > seen; message = heap.block.previous(*message)) function(*message);
  }
  [[nodiscard, gnu::noinline]] portals::ArrivedMessage* find_queued(const portals::Criteria& criteria);
  void change_heap();
  void delist(Heap& heap);
  void enlist(Heap& heap, portals::MatchList::Start start);
  void open_second();
  void close_second();
  void define_pair(const Heap& heap, std::string_view which);
  void activate(Heap& heap, bool active);
  [[nodiscard]] bool in_first(const portals::ArrivedMessage& message) const;
  [[nodiscard]] portals::DynamicBlock& heap_of(const portals::ArrivedMessage& message) {
    return in_first(message) ? first_.block : second_->block;
  }

  const Setup setup_;
  portals::MatchList& list_;
  portals::ArrivalCounts* counts_ = nullptr;
  sim::Recorder* recorder_ = nullptr;  // nullptr: no trace
  Heap first_;
  std::optional<Heap> second_;
  bool spilling_ = false;
  std::uint64_t second_arrivals_ = 0;  // of the second heap, when it was opened
  std::uint32_t held_rounds_ = 0;      // as of the latest round
};

}  // namespace margay::mpi_adi
