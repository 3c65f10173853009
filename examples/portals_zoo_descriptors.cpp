// The zoo's memory descriptors, each with each of its options.
#include "portals_zoo.hpp"

using namespace zoo;

namespace {

// --- The single block. ---

void single_block_saves(Zoo& zoo) {
  zoo.say("\n== A single block without a match list: save header, body, or both; acknowledge ==");
  for (const Save save : {Save::header, Save::body, Save::both}) {
    Memory<16> memory;
    SingleBlock block(memory.all());
    zoo.show_memory(memory.all());
    const auto cage = zoo.open(block, {.save = save, .acknowledge = true});
    const auto saved = static_cast<Saved>(save);
    zoo.put(8, deposited(saved, save == Save::header ? 0 : 8).and_acknowledged(), {.match_bits = 0x77});
    zoo.check(block.messages() == 1 && block.bytes() == (save == Save::header ? 0U : 8U), "the counters");
    zoo.check(save == Save::body || block.saved_header().match_bits == 0x77, "the saved header");
  }
}

void single_block_receiver_offset(Zoo& zoo) {
  zoo.say("\n== A single block whose offset the receiver manages: it fills up ==");
  Memory<20> memory;
  SingleBlock block(memory.all());
  zoo.show_memory(memory.all());
  const auto cage = zoo.open(block, {.offset_by = OffsetBy::receiver});
  zoo.put(8, deposited(Saved::both, 8, 0), {.offset = 5});
  zoo.put(8, deposited(Saved::both, 8, 8));
  zoo.put(8, kTooSmall);
  zoo.put(4, deposited(Saved::both, 4, 16));
  zoo.put(4, kNoRoom);
  block.reset_local_offset();
  zoo.put(4, deposited(Saved::both, 4, 0));
}

void single_block_sender_offset(Zoo& zoo) {
  zoo.say("\n== A single block whose offset the sender manages: a window to write into ==");
  Memory<20> memory;
  SingleBlock block(memory.all());
  zoo.show_memory(memory.all());
  const auto cage = zoo.open(block, {.save = Save::body, .offset_by = OffsetBy::sender});
  zoo.put(4, deposited(Saved::body, 4, 12), {.offset = 12});
  zoo.put(4, deposited(Saved::body, 4, 2), {.offset = 2});
  zoo.put(4, kTooSmall, {.offset = 18});
  zoo.put(4, dropped(DropReason::offset_out_of_range), {.offset = 21});
  zoo.get(4, dropped(DropReason::write_only), {.offset = 2});
}

void single_block_read_only(Zoo& zoo) {
  zoo.say("\n== A read-only single block: the kernel replies out of it ==");
  Memory<10> memory;
  std::copy_n(reinterpret_cast<const std::byte*>("0123456789"), 10, memory.bytes.begin());
  zoo.show_memory(memory.all());
  SingleBlock block(memory.all());
  {
    const auto cage = zoo.open(block, {.offset_by = OffsetBy::sender, .direction = Direction::read_only});
    zoo.get(4, replied(4, 3), {.offset = 3});
    zoo.get(8, kTooSmall, {.offset = 3});
    zoo.put(4, dropped(DropReason::read_only), {.offset = 3});
  }
  zoo.say("  The receiver manages the offset: each get reads on.");
  const auto cage = zoo.open(block, {.offset_by = OffsetBy::receiver, .direction = Direction::read_only});
  zoo.get(6, replied(6, 0));
  zoo.get(4, replied(4, 6));
  zoo.get(1, kNoRoom);
}

// --- The dynamic block. ---

void dynamic_block(Zoo& zoo) {
  zoo.say("\n== A dynamic block: a heap, and a queue in order of arrival ==");
  zoo.show_memory({});
  Memory<1024> memory;
  DynamicBlock heap(memory.all());
  const auto cage = zoo.open(heap, {.acknowledge = true});
  zoo.put(10, deposited(Saved::both, 10).and_acknowledged(), {.match_bits = 1});
  zoo.put(20, deposited(Saved::both, 20).and_acknowledged(), {.match_bits = 2});
  zoo.put(1024, kNoRoom);
  zoo.get(10, dropped(DropReason::write_only));
  if (!zoo.keeper()) return;
  zoo.check(heap.queued() == 2 && heap.first()->body.bytes == 10, "the order of the queue");
  ArrivedMessage* const second = heap.find({.match_bits = 2});
  zoo.check(second != nullptr && second->arrival == 2 && second->header.length == 20, "the search of the queue");
}

void dynamic_block_header_only(Zoo& zoo) {
  zoo.say("\n== A dynamic block that saves headers only ==");
  Memory<1024> memory;
  DynamicBlock heap(memory.all());
  const auto cage = zoo.open(heap, {.save = Save::header, .acknowledge = true});
  zoo.put(5000, deposited(Saved::header, 0).and_acknowledged());
  zoo.check(heap.queued() == 1 && heap.first()->header.length == 5000, "the header in the queue");
}

// --- The independent block. ---

void independent_block_linear(Zoo& zoo) {
  zoo.say("\n== An independent block, linear: each buffer once, in order ==");
  TwoBuffers two;
  IndependentBlock block(two.rows, Progression::linear);
  zoo.show_memory(two.memory.all());
  const auto cage = zoo.open(block, {.acknowledge = true});
  zoo.put(8, kTooSmall);
  zoo.put(6, deposited(Saved::both, 6, 0).and_acknowledged());
  zoo.put(3, deposited(Saved::both, 3, 1).and_acknowledged());
  zoo.put(1, kNoRoom);
  zoo.check(block.exhausted(), "the block is exhausted");
  if (zoo.keeper()) block.release(0);
  zoo.say("  Buffer 0 is released, but the list has gone past it; then it is wound back.");
  zoo.put(1, kNoRoom);
  block.rewind();
  zoo.put(2, deposited(Saved::both, 2, 0).and_acknowledged());
}

void independent_block_circular(Zoo& zoo) {
  zoo.say("\n== An independent block, circular, that saves headers only: the turn goes round ==");
  TwoBuffers two;
  IndependentBlock block(two.rows, Progression::circular);
  zoo.show_memory({});
  const auto cage = zoo.open(block, {.save = Save::header});
  zoo.put(100, deposited(Saved::header, 0, 0));
  zoo.put(200, deposited(Saved::header, 0, 1));
  zoo.put(300, kNoRoom);
  if (zoo.keeper()) block.release(1);
  zoo.say("  Buffer 1 is released, but it is buffer 0's turn; then that too.");
  zoo.put(300, kNoRoom);
  if (zoo.keeper()) block.release(0);
  zoo.put(300, deposited(Saved::header, 0, 0));
  zoo.check(block.table()[0].header.length == 300, "the header in its buffer");
}

void independent_block_read_only(Zoo& zoo) {
  zoo.say("\n== A read-only independent block: each get is answered from the next buffer ==");
  TwoBuffers two;
  std::copy_n(reinterpret_cast<const std::byte*>("first.--second.."), 16, two.memory.bytes.begin());
  IndependentBlock block(two.rows, Progression::linear);
  zoo.show_memory(two.memory.all());
  const auto cage = zoo.open(block, {.direction = Direction::read_only});
  zoo.get(5, replied(5, 0));
  zoo.put(5, dropped(DropReason::read_only));
  zoo.get(6, replied(6, 1));
  zoo.get(5, kNoRoom);
}

// --- The combined block. ---

void combined_block(Zoo& zoo) {
  zoo.say("\n== A combined block: three pieces of memory taken as one ==");
  Memory<24> memory;
  const std::array<Buffer, 3> pieces{memory.part(0, 4), memory.part(8, 5), memory.part(18, 6)};
  CombinedBlock block(pieces);
  zoo.show_memory(memory.all());
  {
    const auto cage = zoo.open(block, {.save = Save::body, .acknowledge = true});
    zoo.put(6, deposited(Saved::body, 6, 0).and_acknowledged());
    zoo.put(6, deposited(Saved::body, 6, 6).and_acknowledged());
    zoo.put(4, kTooSmall);
  }
  zoo.say("  The sender manages the offset.");
  {
    const auto cage = zoo.open(block, {.save = Save::body, .offset_by = OffsetBy::sender});
    zoo.put(7, deposited(Saved::body, 7, 3), {.offset = 3});
    zoo.put(1, dropped(DropReason::offset_out_of_range), {.offset = 16});
  }
  zoo.say("  It is read from: the pieces come back as one body.");
  const auto cage =
      zoo.open(block, {.save = Save::body, .offset_by = OffsetBy::sender, .direction = Direction::read_only});
  zoo.get(15, replied(15, 0));
  zoo.put(1, dropped(DropReason::read_only));
}

}  // namespace

namespace zoo {

void show_descriptors(Zoo& zoo) {
  for (const auto exhibit : {single_block_saves, single_block_receiver_offset, single_block_sender_offset,
                             single_block_read_only, dynamic_block, dynamic_block_header_only, independent_block_linear,
                             independent_block_circular, independent_block_read_only, combined_block}) {
    exhibit(zoo);
  }
}

}  // namespace zoo
