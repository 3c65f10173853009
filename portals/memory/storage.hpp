// The steps of a message at a descriptor, for all four types: admit, reserve, then commit or give back; or all at once
// (put). Internal to portals. Independent blocks, which most messages meet, are handled inline; the others by a switch
// out of line.
#pragma once

#include "portals/base/assert.hpp"
#include "portals/base/verdict.hpp"
#include "portals/memory/descriptor.hpp"
#include "portals/memory/independent_block.hpp"

namespace margay::portals {

// The steps, as static functions; a friend of Descriptor, whose counters they advance. Called by the walk and by
// Delivery alone, under the process lock. A step at a single block or a circular table takes constant time. reserve()
// searches the pieces of a combined block and the free blocks of a dynamic block. admit() and reserve() scan the rows
// of a linear table.
class Storage {
 public:
  // Whether the descriptor can take the message now: taken, no_room, too_small, wrong_direction or offset_out_of_range.
  // Changes nothing.
  [[nodiscard]] static Passed admit(const Descriptor& descriptor, const Options& options, const Header& header) {
    // Inline: the likely type needs no call.
    if (const IndependentBlock* const block = independent(descriptor)) [[likely]]
      return block->admit(options, header);
    return admit_other(descriptor, options, header);
  }
  // Reserves the room and fills in the verdict, except its entry. Requires: admit() == taken, and no change since. The
  // room is the message's until commit() or give_back().
  static void reserve(Descriptor& descriptor, const Options& options, const Header& header, Verdict& verdict) {
    MARGAY_DEBUG_ASSERT(admit(descriptor, options, header) == Passed::taken);
    verdict.descriptor = &descriptor;
    if (IndependentBlock* const block = independent(descriptor)) [[likely]] {
      block->reserve(options, header, verdict);
    } else {
      reserve_other(descriptor, options, header, verdict);
    }
  }
  // Makes the message visible once its body is in place: counters and saved header. Requires: reserve() made the
  // verdict.
  static void commit(const Verdict& verdict, const Header& header) {
    MARGAY_DEBUG_ASSERT(verdict.descriptor != nullptr);
    Descriptor& descriptor = *verdict.descriptor;
    descriptor.bytes_ += verdict.landing.bytes();
    // The counters may change before the type's own step, because the caller holds the process lock, and both become
    // visible together.
    ++descriptor.messages_;
    if (IndependentBlock* const block = independent(descriptor)) [[likely]] {
      block->commit(verdict, header);
    } else {
      commit_other(verdict, header);
    }
  }
  // admit, reserve, copy and commit of a put whose whole body is in `body` and that requests no acknowledgment. False:
  // the message needs the separate steps, and nothing changed. Called for the entry that the walk found; for any type
  // but an independent block it returns false at once.
  [[nodiscard]] static bool put(Descriptor& descriptor, const Options& options, const Header& header,
                                const Buffer& body) {
    IndependentBlock* const block = independent(descriptor);
    if (block == nullptr || !block->put(options, header, body)) return false;
    descriptor.bytes_ += body.bytes;
    ++descriptor.messages_;
    return true;
  }
  // The verdict, except its entry, of the message that the last put() placed. Requires: an independent block.
  static void describe_put(Descriptor& descriptor, const Header& header, Verdict& verdict) {
    verdict.descriptor = &descriptor;
    verdict.outcome = Outcome::deposit;
    verdict.saved = Saved::both;
    // put() keeps no verdict, so it is reconstructed from the block.
    verdict.row = static_cast<std::uint32_t>(independent(descriptor)->latest_row());
    verdict.landing = independent(descriptor)->table()[verdict.row].memory.slice(0, header.length);
  }
  // Returns a reservation whose body will not arrive. Requires: reserve() made the verdict, and commit() was not
  // called. The counters of the descriptor do not change, because the message never became visible.
  static void give_back(const Verdict& verdict);

 private:
  // The descriptor as an independent block; nullptr when it is of another type.
  [[nodiscard]] static const IndependentBlock* independent(const Descriptor& descriptor) {
    const bool is = descriptor.type() == DescriptorType::independent_block;
    return is ? static_cast<const IndependentBlock*>(&descriptor) : nullptr;
  }
  [[nodiscard]] static IndependentBlock* independent(Descriptor& descriptor) {
    const bool is = descriptor.type() == DescriptorType::independent_block;
    return is ? static_cast<IndependentBlock*>(&descriptor) : nullptr;
  }
  // The same steps for the other types, out of line, so that the common path stays short.
  [[nodiscard, gnu::noinline]] static Passed admit_other(const Descriptor& descriptor, const Options& options,
                                                         const Header& header);
  [[gnu::noinline]] static void reserve_other(Descriptor& descriptor, const Options& options, const Header& header,
                                              Verdict& verdict);
  [[gnu::noinline]] static void commit_other(const Verdict& verdict, const Header& header);
};

}  // namespace margay::portals
