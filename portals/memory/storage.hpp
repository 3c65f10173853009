// What happens to a descriptor on a message's way, for whichever type it is: admit, reserve, then commit or give back;
// or all at once (put). Internal to portals. Independent blocks, which most messages meet, are done inline.
#pragma once

#include "portals/base/assert.hpp"
#include "portals/base/verdict.hpp"
#include "portals/memory/descriptor.hpp"
#include "portals/memory/independent_block.hpp"

namespace margay::portals {

class Storage {
 public:
  // Whether the message can go there: taken, no_room, too_small, wrong_direction or offset_out_of_range. Changes
  // nothing.
  [[nodiscard]] static Passed admit(const Descriptor& descriptor, const Options& options, const Header& header) {
    if (const IndependentBlock* const block = independent(descriptor)) [[likely]]
      return block->admit(options, header);
    return admit_other(descriptor, options, header);
  }
  // Takes the room and fills the verdict in, all but its entry. Requires: admit() == taken, and nothing since.
  static void reserve(Descriptor& descriptor, const Options& options, const Header& header, Verdict& verdict) {
    MARGAY_DEBUG_ASSERT(admit(descriptor, options, header) == Passed::taken);
    verdict.descriptor = &descriptor;
    if (IndependentBlock* const block = independent(descriptor)) [[likely]] {
      block->reserve(options, header, verdict);
    } else {
      reserve_other(descriptor, options, header, verdict);
    }
  }
  // The body is in place: counters and saved header. Requires: reserve() made the verdict.
  static void commit(const Verdict& verdict, const Header& header) {
    MARGAY_DEBUG_ASSERT(verdict.descriptor != nullptr);
    Descriptor& descriptor = *verdict.descriptor;
    descriptor.bytes_ += verdict.landing.bytes();
    ++descriptor.messages_;
    if (IndependentBlock* const block = independent(descriptor)) [[likely]] {
      block->commit(verdict, header);
    } else {
      commit_other(verdict, header);
    }
  }
  // admit, reserve, copy and commit of a put that is whole in `body` and wants no acknowledgment. False: another case,
  // nothing happened.
  [[nodiscard]] static bool put(Descriptor& descriptor, const Options& options, const Header& header,
                                const Buffer& body) {
    IndependentBlock* const block = independent(descriptor);
    if (block == nullptr || !block->put(options, header, body)) return false;
    descriptor.bytes_ += body.bytes;
    ++descriptor.messages_;
    return true;
  }
  // The verdict of the message that put() has just placed, but for its entry.
  static void tell_put(Descriptor& descriptor, const Header& header, Verdict& verdict) {
    verdict.descriptor = &descriptor;
    verdict.outcome = Outcome::deposit;
    verdict.saved = Saved::both;
    verdict.row = static_cast<std::uint32_t>(independent(descriptor)->latest_row());
    verdict.landing = independent(descriptor)->table()[verdict.row].memory.slice(0, header.length);
  }
  // The body will not come.
  static void give_back(const Verdict& verdict);

 private:
  // nullptr: of another type.
  [[nodiscard]] static const IndependentBlock* independent(const Descriptor& descriptor) {
    const bool is = descriptor.type() == DescriptorType::independent_block;
    return is ? static_cast<const IndependentBlock*>(&descriptor) : nullptr;
  }
  [[nodiscard]] static IndependentBlock* independent(Descriptor& descriptor) {
    const bool is = descriptor.type() == DescriptorType::independent_block;
    return is ? static_cast<IndependentBlock*>(&descriptor) : nullptr;
  }
  [[nodiscard, gnu::noinline]] static Passed admit_other(const Descriptor& descriptor, const Options& options,
                                                         const Header& header);
  [[gnu::noinline]] static void reserve_other(Descriptor& descriptor, const Options& options, const Header& header,
                                              Verdict& verdict);
  [[gnu::noinline]] static void commit_other(const Verdict& verdict, const Header& header);
};

}  // namespace margay::portals
