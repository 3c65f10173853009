// Atomic operations on elements of a window that several processes update at once. Each updates one element, by one
// instruction or by a loop around a compare-and-swap.
//
// Memory orders. MPI orders the accumulates of one origin to one element (MPI 4.0, 11.7.2). An origin issues them in
// that order, and each is one access to the element's word, so coherence of the word suffices for this, with any memory
// order. The memory orders serve the other elements. An update is a release: a process that reads the updated value
// also sees what the origin wrote before (an element put, then a flag added to). It is an acquire as well: this process
// does not read older values of other elements afterwards. So flush and unlock need no barrier of their own for
// accumulates. On x86 the instruction does all of this anyway.
//
// Acquire and release also bind the compiler: it moves no plain access of the program, of whatever type, past these
// functions in the direction that the order excludes.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace margay::sim {

// Whether an element of `width` bytes at `address` is updated by one atomic instruction. All other elements are updated
// under sim/shm/accumulate_lock. These include misaligned ones, because an atomic instruction that crosses a cache line
// locks the whole bus, and the operating system may forbid it.
[[nodiscard]] inline bool is_atomic_element(const void* address, std::size_t width) {
  if (width != 1 && width != 2 && width != 4 && width != 8) return false;
  return reinterpret_cast<std::uintptr_t>(address) % width == 0;
}

// Types whose width is_atomic_element() accepts, including pairs such as {float, int}.
template <typename T>
concept AtomicElement = std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
// Types for which the processor has read-modify-write instructions of its own.
template <typename T>
concept AtomicInteger = AtomicElement<T> && std::integral<T> && !std::same_as<T, bool>;

namespace detail {

// The unsigned integer of the same width: elements are read, written and compared as bits.
template <AtomicElement T>
using ElementBits =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// The element as an atomic integer. Another process may access it at the same time.
template <AtomicElement T>
[[nodiscard]] std::atomic_ref<ElementBits<T>> element_at(T* at) {
  static_assert(std::atomic_ref<ElementBits<T>>::is_always_lock_free);
  return std::atomic_ref<ElementBits<T>>(*reinterpret_cast<ElementBits<T>*>(at));
}
// The representation of a value, padding included, and the reverse. memcpy, because T may be a pair or a floating-point
// number.
template <AtomicElement T>
[[nodiscard]] ElementBits<T> bits_of(const T& value) {
  ElementBits<T> bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
template <AtomicElement T>
[[nodiscard]] T value_of(ElementBits<T> bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

}  // namespace detail

// All functions below require is_atomic_element(at, sizeof(T)).

// Reads an element.
template <AtomicElement T>
[[nodiscard]] T load_element(T* at) {
  // Acquire: pairs with the releases below, see above.
  return detail::value_of<T>(detail::element_at(at).load(std::memory_order_acquire));
}
// Writes an element.
template <AtomicElement T>
void store_element(T* at, T value) {
  // Release: pairs with the acquire of the function that reads this value, see above.
  detail::element_at(at).store(detail::bits_of(value), std::memory_order_release);
}
// Writes `value`; returns the old one.
template <AtomicElement T>
T swap_element(T* at, T value) {
  // Acquire and release, see above; pairs with the other functions of this file.
  return detail::value_of<T>(detail::element_at(at).exchange(detail::bits_of(value), std::memory_order_acq_rel));
}
// Replaces `expected` by `value`; they are compared bit by bit. Returns the old value, which equals `expected` on
// success.
template <AtomicElement T>
T compare_and_swap(T* at, T expected, T value) {
  detail::ElementBits<T> found = detail::bits_of(expected);
  // Acquire and release, see above. On failure nothing is written, so acquire alone: pairs with the release of the
  // write that is found.
  detail::element_at(at).compare_exchange_strong(found, detail::bits_of(value), std::memory_order_acq_rel,
                                                 std::memory_order_acquire);
  return detail::value_of<T>(found);
}

// Replaces the element by `f(element)`; returns the old value. `f` must have no side effects, because it is called
// again when another process has updated the element meanwhile.
template <AtomicElement T, typename F>
T fetch_update(T* at, F f) {
  const std::atomic_ref<detail::ElementBits<T>> element = detail::element_at(at);
  // Relaxed, no partner: the exchange verifies the value.
  detail::ElementBits<T> seen = element.load(std::memory_order_relaxed);
  for (;;) {
    const T before = detail::value_of<T>(seen);
    const T after = f(before);
    // Acquire and release, see above; pairs with the other functions of this file. Relaxed where it fails: tried again.
    if (element.compare_exchange_weak(seen, detail::bits_of(after), std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
      return before;
    }
  }
}

// The functions below do the same for integers. On x86 fetch_add() is one instruction; the other three are one only if
// the result is not used.

// Adds `value`, modulo the type's range; returns the old value.
template <AtomicInteger T>
T fetch_add(T* at, T value) {
  // Acquire and release, see above; pairs with the other functions of this file.
  return std::atomic_ref<T>(*at).fetch_add(value, std::memory_order_acq_rel);
}
// Bitwise and, or, exclusive or; each returns the old value.
template <AtomicInteger T>
T fetch_and(T* at, T value) {
  // Acquire and release, see above; pairs with the other functions of this file.
  return std::atomic_ref<T>(*at).fetch_and(value, std::memory_order_acq_rel);
}
template <AtomicInteger T>
T fetch_or(T* at, T value) {
  // Acquire and release, see above; pairs with the other functions of this file.
  return std::atomic_ref<T>(*at).fetch_or(value, std::memory_order_acq_rel);
}
template <AtomicInteger T>
T fetch_xor(T* at, T value) {
  // Acquire and release, see above; pairs with the other functions of this file.
  return std::atomic_ref<T>(*at).fetch_xor(value, std::memory_order_acq_rel);
}

}  // namespace margay::sim
