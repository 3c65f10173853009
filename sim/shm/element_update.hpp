// One element of memory that several processes update at once: what was there becomes what a function makes of it, and
// no other update comes between.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace margay::sim {

namespace detail {

template <typename Word, typename Change>
void update_word(std::byte* at, std::byte* old, Change& change) {
  std::atomic_ref<Word> word(*reinterpret_cast<Word*>(at));
  // Acquire and release: an origin's accumulates are seen in their order, and what it wrote before by who sees them.
  Word before = word.load(std::memory_order_acquire);
  for (;;) {
    Word after = before;
    change(reinterpret_cast<std::byte*>(&after));
    if (word.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_acquire)) break;
  }
  if (old != nullptr) std::memcpy(old, &before, sizeof before);
}

}  // namespace detail

// `change(value)` works on `bytes` of memory aligned for any type; it may run several times. What was there before goes
// to `old`, unless it is null.
template <typename Change>
void update_element(std::byte* at, std::uint32_t bytes, std::byte* old, Change&& change) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
  if (aligned && bytes == 8) return detail::update_word<std::uint64_t>(at, old, change);
  if (aligned && bytes == 4) return detail::update_word<std::uint32_t>(at, old, change);
  if (aligned && bytes == 2) return detail::update_word<std::uint16_t>(at, old, change);
  if (bytes == 1) return detail::update_word<std::uint8_t>(at, old, change);
  alignas(16) std::byte value[64];
  std::memcpy(value, at, bytes);
  if (old != nullptr) std::memcpy(old, value, bytes);
  change(value);
  std::memcpy(at, value, bytes);
}

}  // namespace margay::sim
