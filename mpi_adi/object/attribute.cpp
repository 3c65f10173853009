#include "mpi_adi/object/attribute.hpp"

#include <algorithm>
#include <utility>

namespace margay::mpi_adi {

Attribute* AttributeList::find(const Keyval& keyval) {
  for (Attribute& attribute : attributes_) {
    if (attribute.keyval.get() == &keyval) return &attribute;
  }
  return nullptr;
}

void AttributeList::append(KeyvalPtr keyval, AttributeValue value) {
  attributes_.push_back({std::move(keyval), value});
}

void AttributeList::remove(const Keyval& keyval) {
  std::erase_if(attributes_, [&keyval](const Attribute& attribute) { return attribute.keyval.get() == &keyval; });
}

// Uses the oldest freed slot whose key is deleted, so that was_freed() recognizes a freed handle as long as possible.
std::uint32_t KeyvalTable::unused_slot() {
  const auto expired =
      std::find_if(freed_.begin(), freed_.end(), [this](std::uint32_t slot) { return slots_[slot].living.expired(); });
  if (expired != freed_.end()) {
    const std::uint32_t slot = *expired;
    freed_.erase(expired);
    // The slot gets a new generation, so handles of its earlier key find nothing.
    slots_[slot].generation = (slots_[slot].generation + 1) & kGenerationMask;
    return slot;
  }
  const auto slot = static_cast<std::uint32_t>(slots_.size());
  if (slot <= kSlotMask) slots_.push_back({});
  return slot;
}

KeyvalPtr KeyvalTable::add(const Keyval& keyval) {
  const std::uint32_t slot = unused_slot();
  if (slot > kSlotMask) return nullptr;
  auto made = std::make_shared<Keyval>(keyval);
  made->handle = make_keyval(keyval.owner, slot | slots_[slot].generation << kSlotBits);
  slots_[slot].held = made;
  slots_[slot].living = made;
  return made;
}

KeyvalPtr KeyvalTable::find(int handle) const {
  const std::uint32_t slot = keyval_index(handle) & kSlotMask;
  if (handle_kind(handle) != HandleKind::direct || object_type(handle) != ObjectType::keyval || slot >= slots_.size())
    return nullptr;
  // lock() fails if the key was deleted with its last attribute.
  KeyvalPtr found = slots_[slot].living.lock();
  return found != nullptr && found->handle == handle ? found : nullptr;
}

bool KeyvalTable::was_freed(int handle) const {
  const std::uint32_t index = keyval_index(handle);
  const std::uint32_t slot = index & kSlotMask;
  return handle_kind(handle) == HandleKind::direct && object_type(handle) == ObjectType::keyval &&
         slot < slots_.size() && slots_[slot].generation == index >> kSlotBits && slots_[slot].held == nullptr;
}

std::vector<int> KeyvalTable::living() const {
  std::vector<int> handles;
  for (const Slot& slot : slots_) {
    if (slot.held != nullptr) handles.push_back(slot.held->handle);
  }
  return handles;
}

void KeyvalTable::free_keyval(Keyval& keyval) {
  const std::uint32_t slot = keyval_index(keyval.handle) & kSlotMask;
  keyval.freed = true;
  // The slot stays in this list until a new key takes it, which is possible once the last attribute of this key is
  // deleted.
  freed_.push_back(slot);
  slots_[slot].held.reset();
}

}  // namespace margay::mpi_adi
