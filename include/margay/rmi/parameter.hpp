// A parameter of a method: the conversion of an argument into it (paper, 5.2: arguments are passed by value).
//
// The caller converts the argument to the parameter's type without reference and packs that. The callee unpacks it into
// storage of its own, which lives until the method returns, and passes it as the method takes it: T and T&& by move,
// const T& as it lies there. So the method sees a copy in each mode, also between threads of one process and on the own
// node.
//
// Two types are views at both ends: std::span<const T> and std::string_view travel as their elements, and the method
// gets a view of the packed bytes where they lie, if those are raw and aligned to at most kPackedAlignment, otherwise
// of a vector that RMI owns. The view is valid until the method returns.
//
// The parameter, what travels, and what the method gets:
//   int, Track, const Track&, Track&&    the value; a copy that RMI owns
//   std::unique_ptr<T>                   the object; a new one, which the method owns if it takes the pointer by value
//   std::span<const T>                   the elements; a view of them. The argument may be a vector, an array or a span
//   std::string_view                     the characters; a view of them
//   T&, T*, std::span<T>                 a compile-time error (travel.hpp)
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "margay/rmi/type.hpp"

namespace margay::rmi {

// Parameter<P> describes a parameter of type P, as declared:
//   Packed             the type that arguments are converted to
//   Stored             the callee's storage
//   kRefusal, kFixed   as Value has them
//   pack, unpack       to and from the packed bytes; store, load if kFixed is not 0
//   pass               Stored as P
template <class P>
struct Parameter {
  using Packed = std::remove_cvref_t<P>;
  using Stored = Packed;
  static constexpr bool kMutable = std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>;
  static constexpr Refusal kRefusal = kMutable ? Refusal::mutable_reference : Value<Packed>::kRefusal;
  static constexpr std::size_t kFixed = Value<Packed>::kFixed;

  static void store(std::byte* at, const Packed& value) { Value<Packed>::store(at, value); }
  static Stored load(const std::byte* at) { return Value<Packed>::load(at); }
  static void pack(Packer& packer, const Packed& value) { rmi::pack(packer, value); }
  static Stored unpack(Unpacker& unpacker) { return rmi::unpack<Packed>(unpacker); }
  // A value and an rvalue reference are both an rvalue of the storage.
  static std::conditional_t<std::is_reference_v<P>, P, Packed&&> pass(Stored& stored) {
    return static_cast<std::conditional_t<std::is_reference_v<P>, P, Packed&&>>(stored);
  }
};

// A view of elements: its count, then its elements as a container's. `View` is constructed from a pointer and a count.
// The elements are packed once, straight from the caller's memory; in place, they are not copied at the destination
// either.
template <class View, class T>
struct ViewParameter {
  using Packed = View;
  // Whether the elements are used where they lie.
  static constexpr bool kInPlace = Raw<T> && alignof(T) <= kPackedAlignment;
  using Stored = std::conditional_t<kInPlace, View, std::vector<T>>;
  static constexpr Refusal kRefusal = refusal_of_elements<T>();
  static constexpr std::size_t kFixed = 0;

  static void pack(Packer& packer, const View& view) {
    packer.put_count(view.size());
    pack_elements(packer, view.data(), view.size());
  }
  static Stored unpack(Unpacker& unpacker) {
    if constexpr (kInPlace) {
      const std::size_t count = unpacker.take_count(sizeof(T));
      return View(reinterpret_cast<const T*>(take_elements<T>(unpacker, count)), count);
    } else {
      return rmi::unpack<std::vector<T>>(unpacker);
    }
  }
  static View pass(Stored& stored) { return View(stored.data(), stored.size()); }
};

// A span of a fixed number of elements would need a check of the count; such a parameter is a std::array.
template <class T>
struct Parameter<std::span<const T>> : ViewParameter<std::span<const T>, T> {};
template <class Char, class Traits>
struct Parameter<std::basic_string_view<Char, Traits>> : ViewParameter<std::basic_string_view<Char, Traits>, Char> {};
// References to views: what they refer to is RMI's storage.
template <class T>
struct Parameter<const std::span<const T>&> : Parameter<std::span<const T>> {};
template <class Char, class Traits>
struct Parameter<const std::basic_string_view<Char, Traits>&> : Parameter<std::basic_string_view<Char, Traits>> {};

// --- A list of parameters, and its arguments. ---

// Several parameters, in order. A type without values, by which templates pass a method's parameters to one another.
template <class... P>
struct ParameterList {
  static constexpr std::size_t kCount = sizeof...(P);
  // Whether each has a fixed size, and the sum.
  static constexpr bool kAllFixed = ((Parameter<P>::kFixed != 0) && ...);
  static constexpr std::size_t kFixed = kAllFixed ? (Parameter<P>::kFixed + ... + 0) : 0;
};

// The argument as the parameter's Packed type: itself if it has that type, else a converted value. A value that can
// only be moved is moved from the argument, as in a call.
template <class P, class Argument>
[[nodiscard]] decltype(auto) converted(Argument&& argument) {
  using Packed = typename Parameter<P>::Packed;
  if constexpr (std::is_same_v<std::remove_cvref_t<Argument>, Packed> && std::is_copy_constructible_v<Packed>) {
    return static_cast<const Packed&>(argument);
  } else {
    // By static_cast, because the method's declaration has the type: a call would convert just so.
    return static_cast<Packed>(std::forward<Argument>(argument));
  }
}

// Calls `use` with each argument converted for its parameter; the converted values live until it returns.
template <class... P, class Use, class... Argument>
[[gnu::always_inline]] inline decltype(auto) with_converted(ParameterList<P...> /*list*/, Use&& use,
                                                            Argument&&... argument) {
  return use(converted<P>(std::forward<Argument>(argument))...);
}

// --- Compile-time checks of a call. ---

namespace detail {

// One argument: whether the parameter can travel, and only then whether the argument converts to it, so that one
// mistake is one error.
template <std::size_t Position, class P, class Argument>
constexpr bool check_argument() {
  constexpr bool ok = check_travel<Position, P, Parameter<P>::kRefusal>();
  if constexpr (ok) {
    constexpr bool converts = std::is_convertible_v<Argument, typename Parameter<P>::Packed>;
    return check_travel < Position, P, converts ? Refusal::none : Refusal::not_convertible > ();
  } else {
    return false;
  }
}

// Checks each argument, not only up to the first that fails: a programmer sees all mistakes of a call at once.
template <class... P, class... Argument, std::size_t... I>
constexpr bool check_each(ParameterList<P...> /*list*/, std::index_sequence<I...> /*positions*/,
                          const std::type_identity<Argument>&... /*arguments*/) {
  return (static_cast<int>(check_argument<I + 1, P, Argument>()) & ...) != 0;  // reports each, not the first alone
}

}  // namespace detail

// Reports, at compile time, the arguments that cannot travel, by position from 1, and a wrong number of arguments. True
// if all can: the caller then leaves out its own code, so that these errors are the only ones.
template <class... Argument, class... P>
constexpr bool check_arguments(ParameterList<P...> list) {
  static_assert(sizeof...(P) == sizeof...(Argument), "margay::rmi: the method takes another number of arguments");
  if constexpr (sizeof...(P) == 0)
    return sizeof...(Argument) == 0;
  else if constexpr (sizeof...(P) == sizeof...(Argument))
    return detail::check_each(list, std::index_sequence_for<P...>(), std::type_identity<Argument>()...);
  else
    return false;
}

}  // namespace margay::rmi
