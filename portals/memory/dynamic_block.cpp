#include "portals/memory/dynamic_block.hpp"

#include <new>

#include "portals/base/assert.hpp"
#include "portals/memory/arrival_queue.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/heap.hpp"

namespace margay::portals {

namespace {

// The body begins after the node, at a cache line.
constexpr std::uint64_t kNodeBytes = Heap::rounded(sizeof(ArrivedNode));
static_assert(alignof(ArrivedNode) <= Heap::kGrain);

// Bytes that the message takes in the heap. Saturates, because the sender may write any length into its header; such a
// message then finds no room.
std::uint64_t block_bytes(const Options& options, const Header& header) {
  const std::uint64_t body = has(options.save, Save::body) ? header.length : 0;
  return body > ~std::uint64_t{0} - kNodeBytes ? ~std::uint64_t{0} : kNodeBytes + body;
}

}  // namespace

struct DynamicBlock::Impl {
  explicit Impl(Buffer memory) : heap(memory) {}

  std::byte* allocate(std::uint64_t bytes) {
    // The heap rounds up, so the difference is what the block really takes.
    const std::uint64_t before = heap.used();
    std::byte* const block = heap.allocate(bytes);
    counts->bytes += heap.used() - before;
    return block;
  }
  void free(std::byte* block, std::uint64_t bytes) {
    const std::uint64_t before = heap.used();
    heap.free(block, bytes);
    MARGAY_ASSERT(counts->bytes >= before - heap.used());
    // Subtracts the difference, as allocate() adds it, so that the counts return to 0.
    counts->bytes -= before - heap.used();
  }
  void append(ArrivedNode& node) {
    queue.append(node);
    ++counts->messages;
  }
  void remove(ArrivedNode& node) {
    queue.remove(node);
    MARGAY_ASSERT(counts->messages != 0);
    --counts->messages;
  }

  Heap heap;
  ArrivalQueue queue;
  ArrivalCounts own_counts;
  // Never null: counting costs the same with and without count_in().
  ArrivalCounts* counts = &own_counts;
  StructureObserver* observer = nullptr;
};

DynamicBlock::DynamicBlock(Buffer heap) : Descriptor(DescriptorType::dynamic_block) {
  require(heap.base != nullptr || heap.bytes == 0, "a dynamic block's heap has a length and no address");
  require(reinterpret_cast<std::uintptr_t>(heap.base) % Heap::kGrain == 0,
          "a dynamic block's heap must begin at a multiple of 64 bytes; declare it alignas(64), or take it from "
          "std::aligned_alloc(64, bytes)");
  impl_ = std::make_unique<Impl>(heap);
}

DynamicBlock::~DynamicBlock() {
  if (impl_->observer != nullptr) impl_->observer->gone(*this);
}

void DynamicBlock::follow(StructureObserver* observer) {
  impl_->observer = observer;
}

void DynamicBlock::count_in(ArrivalCounts& counts) {
  MARGAY_ASSERT(impl_->queue.size() == 0);
  impl_->counts = &counts;
}

ArrivedMessage* DynamicBlock::find(const Criteria& criteria) {
  return impl_->queue.find(criteria);
}

ArrivedMessage* DynamicBlock::first() const {
  ArrivedNode* const node = impl_->queue.first();
  return node == nullptr ? nullptr : &node->message;
}

ArrivedMessage* DynamicBlock::next(const ArrivedMessage& message) const {
  require_own(message);
  ArrivedNode* const node = ArrivedNode::of(message).next;
  return node == nullptr ? nullptr : &node->message;
}

ArrivedMessage* DynamicBlock::last() const {
  ArrivedNode* const node = impl_->queue.last();
  return node == nullptr ? nullptr : &node->message;
}

ArrivedMessage* DynamicBlock::previous(const ArrivedMessage& message) const {
  require_own(message);
  ArrivedNode* const node = ArrivedNode::of(message).previous;
  return node == nullptr ? nullptr : &node->message;
}

void DynamicBlock::unlink(ArrivedMessage& message) {
  require_own(message);
  require(ArrivedNode::of(message).queued,
          "unlink() of a message that is off the queue already; only release() may follow");
  impl_->remove(ArrivedNode::of(message));
  if (impl_->observer != nullptr) [[unlikely]]
    impl_->observer->unqueued(message);
}

// release() clears `home`, which stays cleared until the heap reuses the memory, so a second release is nearly always
// detected.
void DynamicBlock::require_own(const ArrivedMessage& message) const {
  require(ArrivedNode::of(message).home == &impl_->queue,
          "the message is not this dynamic block's, or has been released; take it from first(), next() or find(), and "
          "release it once");
}

void DynamicBlock::release(ArrivedMessage& message) {
  require_own(message);
  require(message.complete, "release() of a message whose body is still on its way; wait until it is complete");
  discard(message);
}

// Frees a message, queued or not, complete or not. Its callers, release() and give_back(), have made their checks.
void DynamicBlock::discard(ArrivedMessage& message) {
  ArrivedNode& node = ArrivedNode::of(message);
  // Reported first, while the message is intact, because the observer may read its header.
  if (impl_->observer != nullptr) [[unlikely]]
    impl_->observer->released(message);
  if (node.queued) impl_->remove(node);
  const std::uint64_t bytes = node.block_bytes;
  // Cleared before the memory is free, so that a second release is detected (require_own).
  node.home = nullptr;
  impl_->free(reinterpret_cast<std::byte*>(&node), bytes);
}

std::uint64_t DynamicBlock::queued() const {
  return impl_->queue.size();
}
std::uint64_t DynamicBlock::arrivals() const {
  return impl_->queue.arrivals();
}
std::uint64_t DynamicBlock::heap_bytes() const {
  return impl_->heap.capacity();
}
std::uint64_t DynamicBlock::used_bytes() const {
  return impl_->heap.used();
}
std::uint64_t DynamicBlock::high_water_bytes() const {
  return impl_->heap.high_water();
}

Passed DynamicBlock::admit(const Options& options, const Header& header) const {
  if (!direction_fits(options, header)) return Passed::wrong_direction;
  // Never too_small: a message that is longer than the whole heap also fails with no_room.
  return impl_->heap.can_hold(block_bytes(options, header)) ? Passed::taken : Passed::no_room;
}

void DynamicBlock::reserve(const Options& options, const Header& header, Verdict& verdict) {
  const std::uint64_t bytes = block_bytes(options, header);
  std::byte* const block = impl_->allocate(bytes);
  MARGAY_ASSERT(block != nullptr);
  // Queued at once, before the body: matching is decided in order of arrival, so a later receive must find this
  // message.
  ArrivedNode& node = *new (block) ArrivedNode;
  node.block_bytes = bytes;
  node.home = &impl_->queue;
  ArrivedMessage& message = node.message;
  message.header = header;
  const bool body = has(options.save, Save::body);
  message.saved = body ? Saved::both : Saved::header;
  message.complete = !body;
  if (body) message.body = {block + kNodeBytes, header.length};
  impl_->append(node);
  verdict.outcome = Outcome::deposit;
  verdict.saved = message.saved;
  verdict.acknowledge = acknowledges(options, header);
  verdict.landing = Region(message.body);
  verdict.message = &message;
}

// A program may have taken a header-only message off the queue, or even released it, before complete() is called. For
// such a message, the verdict's pointer must not be followed.
void DynamicBlock::commit(const Verdict& verdict, const Header& /*header*/) {
  if (verdict.saved == Saved::both) verdict.message->complete = true;
}

void DynamicBlock::give_back(const Verdict& verdict) {
  discard(*verdict.message);
}

}  // namespace margay::portals
