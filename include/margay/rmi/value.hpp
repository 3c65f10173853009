// How a type that needs no define_type() is packed and unpacked: numbers, trivially copyable classes, pairs, tuples,
// arrays, optional, variant. containers.hpp has strings and containers, type.hpp the classes with define_type().
//
// Value<T> describes T:
//   kRefusal           why T cannot travel, or Refusal::none; all below is used only then
//   kFixed             the packed bytes of each T if they are the same for all, else 0
//   kMinimum           the fewest packed bytes of a T; 0 only for a T that has nothing to pack
//   store, load        to and from kFixed bytes, unchecked; of a fixed T
//   pack, unpack       of a T that is not fixed
//   describe           appends the type in short: "i4", "f8", "[s]" (paper, 5.2: "find the type")
//
// Fixed and other types differ for speed: a request whose arguments are all fixed is written and read at offsets that
// the compiler knows, with one check of its length. kMinimum bounds the memory that a damaged count can ask for.
//
// A program adds no Value of its own: its classes have define_type().
//
// The packed bytes, in the byte order of the machine (bytes.hpp has the rules):
//   number, enumeration, class     its bytes, unaligned
//   pair, tuple                    the members in order
//   array                          the elements, without a count
//   optional                       a byte, 0 or 1; then the value if it is 1
//   variant                        a byte, the index; then the alternative
//   monostate                      nothing
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "margay/rmi/bytes.hpp"
#include "margay/rmi/travel.hpp"

namespace margay::rmi {

// The description of a T that cannot travel. Complete, so that the static_assert with the reason is the only error.
template <Refusal Why>
struct Refused {
  static constexpr Refusal kRefusal = Why;
  static constexpr std::size_t kFixed = 0;
  static constexpr std::size_t kMinimum = 1;
};

// The types that no specialisation here or in another header describes. They cannot travel, because a raw type has a
// specialisation.
template <class T>
struct Value : Refused<std::is_reference_v<T> ? Refusal::reference_wrapper : refusal_of<T>()> {};

// A const member or element travels as one that is not.
template <class T>
struct Value<const T> : Value<T> {};

// Appends `value`; the caller's value is only read. Throws `error` if it cannot be packed: more than 2^32 - 1 elements,
// a pointer that is null where elements are. A packer without room is not an error (bytes.hpp).
template <class T>
void pack(Packer& packer, const T& value) {
  if constexpr (Value<T>::kFixed != 0) {
    std::byte* at = packer.take(Value<T>::kFixed);
    if (at != nullptr) Value<T>::store(at, value);
  } else {
    Value<T>::pack(packer, value);
  }
}

// The next value, which the caller owns. Throws `error` ("damaged request: ...") for damaged bytes; nothing is leaked
// then.
template <class T>
[[nodiscard]] T unpack(Unpacker& unpacker) {
  if constexpr (Value<T>::kFixed != 0)
    return Value<T>::load(unpacker.take(Value<T>::kFixed));
  else
    return Value<T>::unpack(unpacker);
}

// The first refusal among several types, or none.
template <class... T>
constexpr Refusal first_refusal() {
  Refusal first = Refusal::none;
  ((first = first == Refusal::none ? Value<T>::kRefusal : first), ...);
  return first;
}

// The sum of the fixed sizes in bytes, or 0 if one of the types has none.
template <class... T>
constexpr std::size_t sum_of_fixed() {
  return ((Value<T>::kFixed != 0) && ...) ? (Value<T>::kFixed + ... + 0) : 0;
}

// --- A value that travels as its bytes. ---

// The letter of a number's type in a description; 'r' for other raw bytes, such as a class.
template <class T>
constexpr char letter_of() {
  if constexpr (std::is_same_v<T, bool>) return 'b';
  if constexpr (std::is_floating_point_v<T>) return 'f';
  if constexpr (std::is_enum_v<T>) return 'e';
  if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? 'i' : 'u';
  return 'r';
}

// Its bytes include padding, which is sent as it is. No conversion: all nodes run one program on one architecture.
template <Raw T>
struct Value<T> {
  static constexpr Refusal kRefusal = Refusal::none;
  static constexpr std::size_t kFixed = sizeof(T);
  static constexpr std::size_t kMinimum = sizeof(T);

  static void store(std::byte* at, const T& value) { std::memcpy(at, &value, sizeof(T)); }
  // A T needs no default constructor. A byte that is no bool is damage: to read it as one would be undefined.
  static T load(const std::byte* at) {
    if constexpr (std::is_same_v<T, bool>)
      if (std::to_integer<unsigned>(*at) > 1) fail("damaged request: a bool is neither 0 nor 1");
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), at, sizeof(T));
    return std::bit_cast<T>(bytes);
  }
  static void describe(std::string& text) { (text += letter_of<T>()) += std::to_string(sizeof(T)); }
};

// --- Pairs and tuples: their members in order. ---

// A pair or tuple. Fixed if its members are, and packed without padding between them. Packed by members also if they
// are raw: std::pair is not trivially copyable, so that it may not travel as its bytes.
template <class Whole, class... Member>
struct ProductValue {
  static constexpr Refusal kRefusal = first_refusal<Member...>();
  static constexpr std::size_t kFixed = sum_of_fixed<Member...>();
  static constexpr std::size_t kMinimum = (Value<Member>::kMinimum + ... + 0);

  static void store(std::byte* at, const Whole& whole) {
    std::apply([&](const Member&... member) { ((Value<Member>::store(at, member), at += Value<Member>::kFixed), ...); },
               whole);
  }
  // Braces: the members are loaded from left to right.
  static Whole load(const std::byte* at) {
    return Whole{Value<Member>::load(std::exchange(at, at + Value<Member>::kFixed))...};
  }
  static void pack(Packer& packer, const Whole& whole) {
    std::apply([&](const Member&... member) { (rmi::pack(packer, member), ...); }, whole);
  }
  static Whole unpack([[maybe_unused]] Unpacker& unpacker) { return Whole{rmi::unpack<Member>(unpacker)...}; }
  static void describe(std::string& text) {
    text += '(';
    ((Value<Member>::describe(text), text += ','), ...);
    if constexpr (sizeof...(Member) != 0) text.pop_back();
    text += ')';
  }
};
template <class First, class Second>
struct Value<std::pair<First, Second>>
    : ProductValue<std::pair<First, Second>, std::remove_const_t<First>, std::remove_const_t<Second>> {};
template <class... Member>
struct Value<std::tuple<Member...>> : ProductValue<std::tuple<Member...>, std::remove_const_t<Member>...> {};

// --- std::array: its elements, together if they travel as their bytes. ---

// Fixed if its elements are, without a count, because the size is part of the type. An element needs no default
// constructor.
template <class T, std::size_t Size>
struct Value<std::array<T, Size>> {
  using Whole = std::array<T, Size>;
  static constexpr Refusal kRefusal = Value<T>::kRefusal;
  static constexpr std::size_t kFixed = Size * Value<T>::kFixed;
  static constexpr std::size_t kMinimum = Size * Value<T>::kMinimum;

  static void store(std::byte* at, const Whole& whole) {
    if constexpr (Raw<T>)
      std::memcpy(at, whole.data(), kFixed);
    else
      for (const T& one : whole) Value<T>::store(std::exchange(at, at + Value<T>::kFixed), one);
  }
  static Whole load(const std::byte* at) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Whole{Value<T>::load(at + I * Value<T>::kFixed)...};
    }
    (std::make_index_sequence<Size>());
  }
  static void pack(Packer& packer, const Whole& whole) {
    for (const T& one : whole) rmi::pack(packer, one);
  }
  static Whole unpack([[maybe_unused]] Unpacker& unpacker) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Whole{(static_cast<void>(I), rmi::unpack<T>(unpacker))...};
    }
    (std::make_index_sequence<Size>());
  }
  static void describe(std::string& text) {
    Value<T>::describe(text);
    (text += '*') += std::to_string(Size);
  }
};

// --- std::optional and std::variant: the bool or the index, then the value. ---

// Never fixed, also not for a fixed T: an empty one takes a byte only.
template <class T>
struct Value<std::optional<T>> {
  static constexpr Refusal kRefusal = Value<T>::kRefusal;
  static constexpr std::size_t kFixed = 0;
  static constexpr std::size_t kMinimum = 1;

  static void pack(Packer& packer, const std::optional<T>& value) {
    rmi::pack(packer, value.has_value());
    if (value) rmi::pack(packer, *value);
  }
  static std::optional<T> unpack(Unpacker& unpacker) {
    if (!rmi::unpack<bool>(unpacker)) return std::nullopt;
    return rmi::unpack<T>(unpacker);
  }
  static void describe(std::string& text) {
    text += '?';
    Value<T>::describe(text);
  }
};

// Nothing at all; for variants that may be empty.
template <>
struct Value<std::monostate> : ProductValue<std::tuple<>> {
  static void pack(Packer& /*packer*/, std::monostate /*nothing*/) {}
  static std::monostate unpack(Unpacker& /*unpacker*/) { return {}; }
};

// Packs the index in a byte, then the alternative. pack() throws `error` for a variant that an exception left without a
// value; unpack() for an index beyond the alternatives.
template <class... Member>
struct Value<std::variant<Member...>> {
  using Whole = std::variant<Member...>;
  static constexpr Refusal kRefusal = first_refusal<Member...>();
  static constexpr std::size_t kFixed = 0;
  static constexpr std::size_t kMinimum = 1;
  static_assert(sizeof...(Member) < 256, "margay::rmi: a variant of at most 255 types can travel");

  static void pack(Packer& packer, const Whole& value) {
    if (value.valueless_by_exception()) fail("a std::variant without a value cannot travel");
    rmi::pack(packer, static_cast<std::uint8_t>(value.index()));
    std::visit([&]<class T>(const T& member) { rmi::pack(packer, member); }, value);
  }
  static Whole unpack(Unpacker& unpacker) {
    const std::size_t index = rmi::unpack<std::uint8_t>(unpacker);
    std::optional<Whole> value;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)((I == index && (value.emplace(std::in_place_index<I>, rmi::unpack<Member>(unpacker)), true)) || ...);
    }
    (std::index_sequence_for<Member...>());
    if (!value) fail("damaged request: a variant has no alternative of the packed index");
    return *std::move(value);
  }
  static void describe(std::string& text) {
    text += '<';
    ((Value<Member>::describe(text), text += '|'), ...);
    text.back() = '>';
  }
};

}  // namespace margay::rmi
