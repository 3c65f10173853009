#include "portals/memory/descriptor.hpp"

namespace margay::portals {

std::string_view name(DescriptorType type) {
  switch (type) {
    case DescriptorType::single_block:
      return "single block";
    case DescriptorType::dynamic_block:
      return "dynamic block";
    case DescriptorType::independent_block:
      return "independent block";
    case DescriptorType::combined_block:
      return "combined block";
  }
  return "unknown descriptor";
}

Descriptor::~Descriptor() {
  // The list links descriptors without owning them, and would otherwise lead into freed memory.
  if (changed_on_ != nullptr) changed_on_->remove(*this);
}

// Descriptors may outlive the list; each is unlinked, so that its destructor does not access the destroyed list.
ChangedList::~ChangedList() {
  while (take() != nullptr) {
  }
}

void ChangedList::remove(Descriptor& descriptor) {
  // The links are stale when the descriptor is on no list: take() does not reset them.
  if (descriptor.changed_on_ != this) return;
  Descriptor* const next = descriptor.next_changed_;
  Descriptor* const previous = descriptor.previous_changed_;
  MARGAY_ASSERT((previous == nullptr ? first_ : previous->next_changed_) == &descriptor);
  MARGAY_ASSERT((next == nullptr ? last_ : next->previous_changed_) == &descriptor);
  (previous == nullptr ? first_ : previous->next_changed_) = next;
  (next == nullptr ? last_ : next->previous_changed_) = previous;
  descriptor.changed_on_ = nullptr;
}

const char* refusal(DescriptorType type, const Options& options) {
  if (options.truncate && type != DescriptorType::independent_block) {
    // The other types' links handle a body that is too long.
    return "only an independent block truncates; with another type, a message that does not fit follows the entry's "
           "links; leave Options::truncate off, or choose an independent block";
  }
  switch (type) {
    // Has every option but truncate.
    case DescriptorType::single_block:
      return nullptr;
    case DescriptorType::dynamic_block:
      if (options.save == Save::body)
        return "a dynamic block saves the header, or both; choose Save::header or Save::both";
      if (options.offset_by == OffsetBy::sender) {
        return "a dynamic block places messages itself and has no sender-managed offset; choose OffsetBy::receiver";
      }
      if (options.direction == Direction::read_only) {
        return "a dynamic block is always written and cannot be read from; choose Direction::write_only, or a single "
               "block";
      }
      return nullptr;
    case DescriptorType::independent_block:
      if (options.save == Save::body) {
        return "an independent block saves the header, or both; choose Save::header or Save::both";
      }
      if (options.offset_by == OffsetBy::sender) {
        return "an independent block has no sender-managed offset; choose OffsetBy::receiver, or a single or combined "
               "block";
      }
      return nullptr;
    case DescriptorType::combined_block:
      if (options.save == Save::header) return "a combined block always saves the body; choose Save::body";
      return nullptr;
  }
  return "invalid descriptor type";
}

}  // namespace margay::portals
