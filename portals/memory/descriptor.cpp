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
  if (changed_on_ != nullptr) changed_on_->remove(*this);
}

ChangedList::~ChangedList() {
  while (take() != nullptr) {
  }
}

void ChangedList::remove(Descriptor& descriptor) {
  if (descriptor.changed_on_ != this) return;
  Descriptor* const next = descriptor.next_changed_;
  Descriptor* const previous = descriptor.previous_changed_;
  MARGAY_ASSERT((previous == nullptr ? first_ : previous->next_changed_) == &descriptor);
  MARGAY_ASSERT((next == nullptr ? last_ : next->previous_changed_) == &descriptor);
  (previous == nullptr ? first_ : previous->next_changed_) = next;
  (next == nullptr ? last_ : next->previous_changed_) = previous;
  descriptor.changed_on_ = nullptr;
}

}  // namespace margay::portals
