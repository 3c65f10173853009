#include "portals/memory/descriptor.hpp"

#include "portals/base/assert.hpp"

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

void ChangedList::add(Descriptor& descriptor) {
  if (descriptor.changed_on_ != nullptr) {
    MARGAY_ASSERT(descriptor.changed_on_ == this);
    return;
  }
  descriptor.changed_on_ = this;
  descriptor.next_changed_ = nullptr;
  descriptor.previous_changed_ = last_;
  (last_ == nullptr ? first_ : last_->next_changed_) = &descriptor;
  last_ = &descriptor;
}

void ChangedList::remove(Descriptor& descriptor) {
  if (descriptor.changed_on_ != this) return;
  Descriptor* const next = descriptor.next_changed_;
  Descriptor* const previous = descriptor.previous_changed_;
  (previous == nullptr ? first_ : previous->next_changed_) = next;
  (next == nullptr ? last_ : next->previous_changed_) = previous;
  descriptor.next_changed_ = nullptr;
  descriptor.previous_changed_ = nullptr;
  descriptor.changed_on_ = nullptr;
}

Descriptor* ChangedList::take_first() {
  Descriptor* const taken = first_;
  remove(*taken);
  return taken;
}

}  // namespace margay::portals
