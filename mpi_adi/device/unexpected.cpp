#include "mpi_adi/device/unexpected.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <new>
#include <string>
#include <string_view>

#include "mpi_adi/device/match_bits.hpp"

namespace margay::mpi_adi {

HeapMemory::HeapMemory(std::size_t bytes, std::size_t least_bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (;; bytes = std::max(bytes / 2, least_bytes)) {
    const std::size_t rounded = (bytes + page - 1) / page * page;
    // MAP_NORESERVE: the heap is rarely full, and the operating system should not commit memory for all of it.
    void* const base =
        ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
      if (bytes <= least_bytes) throw std::bad_alloc();
      continue;
    }
    buffer_ = {static_cast<std::byte*>(base), rounded};
    return;
  }
}

HeapMemory::~HeapMemory() {
  ::munmap(buffer_.base, buffer_.bytes);
}

void HeapMemory::empty_all_but_first_page() const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (buffer_.bytes > page) static_cast<void>(::madvise(buffer_.base + page, buffer_.bytes - page, MADV_DONTNEED));
}

Unexpected::Unexpected(const Setup& setup, portals::MatchList& list)
    : setup_(setup),
      list_(list),
      first_(setup.heap_bytes, setup.heap_bytes_min != 0 ? setup.heap_bytes_min : setup.heap_bytes) {
  enlist(first_, portals::MatchList::Start::active);
}

Unexpected::~Unexpected() {
  delist(first_);
  if (second_) delist(*second_);
}

void Unexpected::delist(Heap& heap) {
  list_.remove(heap.short_entry);
  if (heap.long_entry.listed()) list_.remove(heap.long_entry);
}

void Unexpected::enlist(Heap& heap, portals::MatchList::Start start) {
  heap.block.set_owner_tag(setup_.owner, setup_.owner_tag_kind);
  portals::Options both;
  both.save = portals::Save::both;
  if (setup_.catch_alls == CatchAlls::one) {
    heap.short_entry.set({0, ~portals::MatchBits{0}}, heap.block, both);
    list_.append(heap.short_entry, start);
    return;
  }
  // "the matchbits are configured to ignore all bits except the first three, which must be zero": no reply, no ready
  // and no long message. If the heap has no room, the walk ends here, so that the kernel holds the message on its wire
  // instead of giving it to a later entry.
  const portals::Links links{portals::Link::next(), portals::Link::drop(), portals::Link::drop()};
  heap.short_entry.set({0, ~kTypeMask}, heap.block, both, links);
  // "likewise configured to ignore all bits except the first three, the third of which must be set ... overlaid on top
  // of the first catchall entry so that both entries use the same heap list structure".
  portals::Options header_only;
  header_only.save = portals::Save::header;
  header_only.acknowledge = true;
  heap.long_entry.set({kLongBit, ~kTypeMask}, heap.block, header_only, links);
  // The overlay shares the block, so both kinds of messages keep one order of arrival.
  heap.long_entry.overlay(heap.short_entry, header_only);
  list_.append(heap.short_entry, start);
  list_.append(heap.long_entry, start);
}

void Unexpected::define_in_trace(sim::Recorder& recorder) {
  recorder_ = &recorder;
  define_pair(first_, "");
}

void Unexpected::define_pair(const Heap& heap, std::string_view which) {
  const auto define = [&](const portals::MatchEntry& entry, std::string_view text) {
    recorder_->define(sim::DefinitionKind::entry, sim::entry_number(setup_.portal, entry.order()), setup_.portal,
                      std::string(text).append(which));
  };
  define(heap.short_entry, "unexpected short");
  define(heap.long_entry, "unexpected long");
}

portals::ArrivedMessage* Unexpected::find_queued(const portals::Criteria& criteria) {
  // The first heap's messages are older than all of the second's (rule 2), so it is searched first.
  portals::ArrivedMessage* const found = first_.block.find(criteria);
  return found != nullptr || !second_ ? found : second_->block.find(criteria);
}

portals::ArrivedMessage* Unexpected::first() const {
  portals::ArrivedMessage* const found = first_.block.first();
  return found != nullptr || !second_ ? found : second_->block.first();
}

portals::ArrivedMessage* Unexpected::next(const portals::ArrivedMessage& message) const {
  if (!in_first(message)) return second_->block.next(message);
  portals::ArrivedMessage* const found = first_.block.next(message);
  return found != nullptr || !second_ ? found : second_->block.first();
}

bool Unexpected::in_first(const portals::ArrivedMessage& message) const {
  const portals::Buffer memory = first_.memory.buffer();
  const auto* const at = reinterpret_cast<const std::byte*>(&message);
  const std::less<const std::byte*> before;  // orders any two pointers, which the operator < does not
  return !before(at, memory.base) && before(at, memory.base + memory.bytes);
}

void Unexpected::activate(Heap& heap, bool active) {
  for (portals::MatchEntry* const entry : {&heap.short_entry, &heap.long_entry}) {
    // With CatchAlls::one the long entry is not listed.
    if (entry->listed()) active ? list_.activate(*entry) : list_.deactivate(*entry);
  }
}

// If memory for a second heap is lacking, the held message stays on its wire, and change_heap() tries again later.
void Unexpected::open_second() {
  if (!second_) {
    try {
      second_.emplace(setup_.spill_bytes, std::min<std::size_t>(setup_.spill_bytes, first_.block.heap_bytes()));
    } catch (const std::bad_alloc&) {
      return;
    }
    if (counts_ != nullptr) second_->block.count_in(*counts_);
    // Inactive until the first heap's entries are off: at no time do both accept messages (rule 1).
    enlist(*second_, portals::MatchList::Start::inactive);
    if (recorder_ != nullptr) define_pair(*second_, ", second heap");
  }
  activate(first_, false);
  activate(*second_, true);
  spilling_ = true;
  // The second heap must have received a message before it may close (rule 2).
  second_arrivals_ = second_->block.arrivals();
}

// The bookkeeping of an empty heap is one free block, described in the heap's first bytes. So all pages but the first
// can be returned.
void Unexpected::give_memory_back() {
  if (spilling_ && second_->block.queued() == 0) close_second();
  // Tested by used_bytes(), not queued(): a receive may still copy from a message that is off the queue.
  if (second_ && !spilling_ && second_->block.used_bytes() == 0) {
    delist(*second_);
    second_.reset();
  }
  if (first_.block.used_bytes() == 0) first_.memory.empty_all_but_first_page();
}

void Unexpected::close_second() {
  activate(*second_, false);
  activate(first_, true);
  spilling_ = false;
  // Returned at once, because the second heap may be most of this process's memory.
  if (second_->block.used_bytes() == 0) second_->memory.empty_all_but_first_page();
}

void Unexpected::change_heap() {
  if (spilling_) {
    if (second_->block.arrivals() != second_arrivals_ && second_->block.queued() == 0) close_second();
    return;
  }
  // The remainder, not a comparison: if the opening failed for lack of memory, it is tried again after
  // kSpillAfterRounds more rounds.
  if (held_rounds_ != 0 && held_rounds_ % kSpillAfterRounds == 0) open_second();
}

}  // namespace margay::mpi_adi
