// Strings, sequences, sets, maps and std::unique_ptr as arguments and results: their count, then their elements in
// order.
//
// Elements that travel as their bytes are aligned and copied as a whole. All others are unpacked one by one, and the
// container grows with them: a damaged count is refused before, and a damaged element ends the growth, so no more is
// ever allocated than a constant times the bytes that arrived.
//
// A container of a fixed number of elements is std::array (value.hpp). std::string_view and std::span travel as
// arguments only (parameter.hpp). Containers that are not here travel by define_type() of a class around them.
//
// The packed bytes, after a count of 4 bytes:
//   string, vector, deque, list    the elements; raw ones of a string or vector are aligned and copied as a whole
//   sets                           the keys, in the order of the caller's set
//   maps                           each key, then its value
// and without a count:
//   unique_ptr                     a byte, 0 for null or 1; then the object
// For example a std::vector<std::string> of "ab" and "c" has 4 + (4 + 2) + (4 + 1) = 15 bytes.
//
// Cost: raw elements of a string or vector are one memcpy at each end. All others take a call for each element. The
// receiver allocates once for a string or vector of raw elements. Otherwise it allocates as the container does when it
// grows: a list, a set or a map allocates a node for each element.
//
// Requires of an element what travel.hpp requires of an argument. Throws `error` for more than 2^32 - 1 elements, and
// for damaged bytes ("damaged request: a count exceeds the packed arguments").
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "margay/rmi/value.hpp"

namespace margay::rmi {

// The refusal of a container of these elements. Elements without bytes are refused, because nothing bounds a damaged
// count.
template <class... Element>
constexpr Refusal refusal_of_elements() {
  constexpr Refusal first = first_refusal<Element...>();
  return first == Refusal::none && (Value<Element>::kMinimum + ... + 0) == 0 ? Refusal::empty_elements : first;
}

// Appends `count` elements at `data` without their count; none also take no alignment. `data` may be null if there are
// none.
template <class T>
void pack_elements(Packer& packer, const T* data, std::size_t count) {
  if (count == 0) return;
  if constexpr (Raw<T>) {
    packer.align(alignof(T));
    packer.put(data, count * sizeof(T));
  } else {
    for (std::size_t i = 0; i < count; ++i) pack(packer, data[i]);
  }
}

// The next `count` raw elements where they lie, at a multiple of their alignment but at most of kPackedAlignment.
// `count` comes from take_count(). The bytes stay in the request. Each bool is checked here, because it is read without
// another check. Throws `error` for damaged bytes.
template <Raw T>
[[nodiscard]] const std::byte* take_elements(Unpacker& unpacker, std::size_t count) {
  if (count != 0) unpacker.align(alignof(T));
  const std::byte* at = unpacker.take(count * sizeof(T));
  if constexpr (std::is_same_v<T, bool>)
    for (std::size_t i = 0; i < count; ++i) static_cast<void>(Value<bool>::load(at + i));
  return at;
}

// --- Sequences. ---

// Whole: a sequence with push_back(); contiguous if it has data(). Allocators are default-constructed at the
// destination: an allocator with a state loses it. Cost: 4 bytes for the count, then the elements; raw ones of a
// contiguous sequence are one copy at each end.
template <class Whole>
struct SequenceValue {
  using T = typename Whole::value_type;
  static constexpr Refusal kRefusal = refusal_of_elements<T>();
  static constexpr std::size_t kFixed = 0;
  static constexpr std::size_t kMinimum = sizeof(std::uint32_t);

  static void pack(Packer& packer, const Whole& whole) {
    packer.put_count(whole.size());
    if constexpr (requires { whole.data(); })
      pack_elements(packer, whole.data(), whole.size());
    else
      for (const auto& one : whole) rmi::pack<T>(packer, one);
  }
  // Raw elements arrive as a whole; the size is then known to be in the buffer, so the container is made at once.
  static Whole unpack(Unpacker& unpacker) {
    const std::size_t count = unpacker.take_count(Value<T>::kMinimum);
    if constexpr (Raw<T> && std::is_default_constructible_v<T> && requires(Whole whole) { whole.data(); }) {
      const std::byte* at = take_elements<T>(unpacker, count);
      Whole whole(count, T{});
      if (count != 0) std::memcpy(static_cast<void*>(whole.data()), at, count * sizeof(T));
      return whole;
    } else {
      Whole whole;
      // Raw elements that have no default constructor: aligned as they were packed, then taken one by one.
      if constexpr (Raw<T> && requires { whole.data(); })
        if (count != 0) unpacker.align(alignof(T));
      for (std::size_t i = 0; i < count; ++i) whole.push_back(rmi::unpack<T>(unpacker));
      return whole;
    }
  }
  // As "[i4]".
  static void describe(std::string& text) {
    text += '[';
    Value<T>::describe(text);
    text += ']';
  }
};
// A std::vector<bool> has no data(), so its elements travel one by one, a byte each.
template <class T, class Allocator>
struct Value<std::vector<T, Allocator>> : SequenceValue<std::vector<T, Allocator>> {};
template <class T, class Allocator>
struct Value<std::deque<T, Allocator>> : SequenceValue<std::deque<T, Allocator>> {};
template <class T, class Allocator>
struct Value<std::list<T, Allocator>> : SequenceValue<std::list<T, Allocator>> {};
// As a sequence; only its description differs.
template <class Char, class Traits, class Allocator>
struct Value<std::basic_string<Char, Traits, Allocator>> : SequenceValue<std::basic_string<Char, Traits, Allocator>> {
  static void describe(std::string& text) { text += 's'; }
};

// --- Sets and maps. Ordered ones arrive in order, so that each element is appended in constant time. ---

// Whole: a set or multiset. Its comparison or hash is default-constructed at the destination, so one with a state is
// not for travel. Damaged bytes may hold keys in another order or twice: the hint is then of no use, and the set is
// still a set.
template <class Whole>
struct SetValue {
  using Key = typename Whole::key_type;
  static constexpr Refusal kRefusal = refusal_of_elements<Key>();
  static constexpr std::size_t kFixed = 0;
  static constexpr std::size_t kMinimum = sizeof(std::uint32_t);

  static void pack(Packer& packer, const Whole& whole) {
    packer.put_count(whole.size());
    for (const Key& key : whole) rmi::pack(packer, key);
  }
  static Whole unpack(Unpacker& unpacker) {
    Whole whole;
    const std::size_t count = unpacker.take_count(Value<Key>::kMinimum);
    for (std::size_t i = 0; i < count; ++i) whole.emplace_hint(whole.end(), rmi::unpack<Key>(unpacker));
    return whole;
  }
  // As "{i4}".
  static void describe(std::string& text) {
    text += '{';
    Value<Key>::describe(text);
    text += '}';
  }
};
template <class... Of>
struct Value<std::set<Of...>> : SetValue<std::set<Of...>> {};
template <class... Of>
struct Value<std::multiset<Of...>> : SetValue<std::multiset<Of...>> {};
template <class... Of>
struct Value<std::unordered_set<Of...>> : SetValue<std::unordered_set<Of...>> {};
template <class... Of>
struct Value<std::unordered_multiset<Of...>> : SetValue<std::unordered_multiset<Of...>> {};

// Whole: a map or multimap: each key, then its value. As sets otherwise.
template <class Whole>
struct MapValue {
  using Key = typename Whole::key_type;
  using Mapped = typename Whole::mapped_type;
  static constexpr Refusal kRefusal = refusal_of_elements<Key, Mapped>();
  static constexpr std::size_t kFixed = 0;
  static constexpr std::size_t kMinimum = sizeof(std::uint32_t);

  static void pack(Packer& packer, const Whole& whole) {
    packer.put_count(whole.size());
    for (const auto& [key, mapped] : whole) {
      rmi::pack(packer, key);
      rmi::pack(packer, mapped);
    }
  }
  static Whole unpack(Unpacker& unpacker) {
    Whole whole;
    const std::size_t count = unpacker.take_count(Value<Key>::kMinimum + Value<Mapped>::kMinimum);
    for (std::size_t i = 0; i < count; ++i) {
      // In two statements, because the order of two arguments of one call is the compiler's choice.
      Key key = rmi::unpack<Key>(unpacker);
      Mapped mapped = rmi::unpack<Mapped>(unpacker);
      whole.emplace_hint(whole.end(), std::move(key), std::move(mapped));
    }
    return whole;
  }
  // As "{s:i4}".
  static void describe(std::string& text) {
    text += '{';
    Value<Key>::describe(text);
    text += ':';
    Value<Mapped>::describe(text);
    text += '}';
  }
};
template <class... Of>
struct Value<std::map<Of...>> : MapValue<std::map<Of...>> {};
template <class... Of>
struct Value<std::multimap<Of...>> : MapValue<std::multimap<Of...>> {};
template <class... Of>
struct Value<std::unordered_map<Of...>> : MapValue<std::unordered_map<Of...>> {};
template <class... Of>
struct Value<std::unordered_multimap<Of...>> : MapValue<std::unordered_multimap<Of...>> {};

// --- std::unique_ptr to one object: present or not, then the object. The receiver owns a new one. ---

// Whether a unique_ptr to T travels. An object of a polymorphic class may be of a derived one and would be cut.
template <class T>
inline constexpr bool kUniqueTravels = !std::is_array_v<T> && (!std::is_polymorphic_v<T> || std::is_final_v<T>);

// A byte for null or not, then the object. The caller's pointer is moved from, as in an ordinary call (converted(),
// parameter.hpp); its object is destroyed when the request has been written. A chain of such pointers is bounded by
// kNestingMax, if its class has define_type().
template <class T>
requires kUniqueTravels<T>
struct Value<std::unique_ptr<T, std::default_delete<T>>> {
  using Target = std::remove_const_t<T>;
  static constexpr Refusal kRefusal = Value<Target>::kRefusal;
  static constexpr std::size_t kFixed = 0;
  static constexpr std::size_t kMinimum = 1;

  static void pack(Packer& packer, const std::unique_ptr<T>& pointer) {
    rmi::pack(packer, pointer != nullptr);
    if (pointer != nullptr) rmi::pack<Target>(packer, *pointer);
  }
  static std::unique_ptr<T> unpack(Unpacker& unpacker) {
    if (!rmi::unpack<bool>(unpacker)) return nullptr;
    return std::make_unique<Target>(rmi::unpack<Target>(unpacker));
  }
  static void describe(std::string& text) {
    text += '?';
    Value<Target>::describe(text);
  }
};

}  // namespace margay::rmi
