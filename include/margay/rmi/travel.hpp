// The types that may travel as arguments and results, and the compile-time errors for all others.
//
// Arguments are passed by value (paper, 5.2): a node never holds a pointer or reference to another's memory. So these
// are refused: references to non-const, pointers (arrays decay to them), function and member pointers, views of
// non-const elements, iterators, shared ownership, and classes that are neither trivially copyable nor have
// define_type().
//
// For `async_rmi(1, shelf, &Shelf::move, 4, 5)` with `void move(int from, int& to)` a compiler prints
//
//   error: static assertion failed: margay::rmi: argument 2 cannot travel; the next error has the reason
//   error: static assertion failed: margay::rmi: reference to non-const: arguments are copies; take a value or a const
//   ...
//
// and the line of the call in its notes. In two parts, because the text of a static_assert is a literal: ten positions
// and fifteen reasons instead of their product.
//
// Limit: a trivially copyable class without define_type() travels as its bytes, and a pointer *inside* it cannot be
// seen and arrives invalid. The same holds for a lambda that captures by reference. A class with a pointer needs
// define_type().
//
// All of this happens at compile time. The order of the checks of a call is: the method (method.hpp), the number of
// arguments, each argument (parameter.hpp), and the result if it is wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace margay::rmi {

class typer;

// Why a type cannot travel. check_travel() has a sentence for each.
enum class Refusal : std::uint8_t {
  none,                    // It can.
  mutable_reference,       // T& as a parameter
  pointer,                 // T*, nullptr_t
  function,                // a function or a pointer to one
  member_pointer,          // a pointer to member
  mutable_view,            // std::span of non-const elements
  nested_view,             // a span or string_view in a container, in a class, or as a result
  reference_wrapper,       // std::reference_wrapper, std::initializer_list
  iterator,                // an iterator
  shared_pointer,          // std::shared_ptr, std::weak_ptr
  unique_pointer,          // std::unique_ptr of an array, of a polymorphic class, with its own deleter
  empty_elements,          // a container of elements that take no bytes
  inherited_define_type,   // define_type() of a base class only: own members would be lost
  no_default_constructor,  // define_type(), but nothing to unpack into
  no_define_type,          // not trivially copyable, and no public define_type(typer&)
  not_convertible,         // the argument does not convert to the parameter's type
};

// A class with a public `void define_type(typer&)`, its own or an inherited one. Such a class never travels as its
// bytes, also if it is trivially copyable.
template <class T>
concept HasDefineType = requires(T& object, typer& type) {
  object.define_type(type);
};

// The class that declares a member function, from a pointer to it: not the class by whose name the pointer was formed.
template <class T>
struct DeclaringClass {};
template <class Class, class Function>
struct DeclaringClass<Function Class::*> {
  using type = Class;
};

// Whether T has define_type() from a base class only. Such a T would silently travel without its own members. An
// overloaded define_type() cannot be examined and counts as T's own.
template <class T>
constexpr bool inherits_define_type() {
  if constexpr (requires { &T::define_type; })
    return !std::is_same_v<typename DeclaringClass<decltype(&T::define_type)>::type, T>;
  else
    return false;
}

// Classes of the standard library that are trivially copyable and yet refer to memory elsewhere.
template <class T>
inline constexpr Refusal kRefersElsewhere = std::input_or_output_iterator<T> ? Refusal::iterator : Refusal::none;
template <class T>
inline constexpr Refusal kRefersElsewhere<std::reference_wrapper<T>> = Refusal::reference_wrapper;
template <class T>
inline constexpr Refusal kRefersElsewhere<std::initializer_list<T>> = Refusal::reference_wrapper;
template <class T, std::size_t Extent>
inline constexpr Refusal kRefersElsewhere<std::span<T, Extent>> =
    std::is_const_v<T> ? Refusal::nested_view : Refusal::mutable_view;
template <class Char, class Traits>
inline constexpr Refusal kRefersElsewhere<std::basic_string_view<Char, Traits>> = Refusal::nested_view;
template <class T>
inline constexpr Refusal kRefersElsewhere<std::shared_ptr<T>> = Refusal::shared_pointer;
template <class T>
inline constexpr Refusal kRefersElsewhere<std::weak_ptr<T>> = Refusal::shared_pointer;
template <class T, class Deleter>
inline constexpr Refusal kRefersElsewhere<std::unique_ptr<T, Deleter>> = Refusal::unique_pointer;

// The refusal of a type that no specialisation of Value (value.hpp) describes, or none if it travels as its bytes. `T`:
// an object type without const. The order matters: a pointer to a function is a pointer, and a view or an iterator is
// trivially copyable.
template <class T>
constexpr Refusal refusal_of() {
  if constexpr (std::is_function_v<std::remove_pointer_t<T>>)
    return Refusal::function;
  else if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T> || std::is_array_v<T>)
    return Refusal::pointer;
  else if constexpr (std::is_member_pointer_v<T>)
    return Refusal::member_pointer;
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
    return Refusal::none;
  else if constexpr (kRefersElsewhere<T> != Refusal::none)
    return kRefersElsewhere<T>;
  else if constexpr (std::is_trivially_copyable_v<T>)
    return Refusal::none;
  else
    return Refusal::no_define_type;
}

// A type that travels as its bytes in memory, padding included. Its bytes mean the same on all nodes, because they run
// one program; the objects to which they refer, by an index or a handle, need not.
template <class T>
concept Raw = !std::is_const_v<T> && !std::is_reference_v<T> && !HasDefineType<T> && refusal_of<T>() == Refusal::none;

// The position of a result in the errors below; arguments count from 1, the object and the method not counted.
inline constexpr std::size_t kResult = 0;

// Reports, at compile time, the position of an argument that cannot travel. The next error has the reason. The
// compiler's note names the parameter's type: it is a template argument.
template <std::size_t Position, class Parameter, Refusal Why>
constexpr void check_position() {
  constexpr bool ok = Why == Refusal::none;
  static_assert(ok || Position != kResult, "margay::rmi: the result cannot travel; the next error has the reason");
  static_assert(ok || Position != 1, "margay::rmi: argument 1 cannot travel; the next error has the reason");
  static_assert(ok || Position != 2, "margay::rmi: argument 2 cannot travel; the next error has the reason");
  static_assert(ok || Position != 3, "margay::rmi: argument 3 cannot travel; the next error has the reason");
  static_assert(ok || Position != 4, "margay::rmi: argument 4 cannot travel; the next error has the reason");
  static_assert(ok || Position != 5, "margay::rmi: argument 5 cannot travel; the next error has the reason");
  static_assert(ok || Position != 6, "margay::rmi: argument 6 cannot travel; the next error has the reason");
  static_assert(ok || Position != 7, "margay::rmi: argument 7 cannot travel; the next error has the reason");
  static_assert(ok || Position != 8, "margay::rmi: argument 8 cannot travel; the next error has the reason");
  static_assert(ok || Position <= 8,
                "margay::rmi: argument 9 or a later one cannot travel; the next error has the reason");
}

// Reports, at compile time, why `Parameter` cannot travel, with the cure. Also for members of define_type() and
// elements of a pvector, which have no position.
template <class Parameter, Refusal Why>
constexpr void check_reason() {
  static_assert(Why != Refusal::mutable_reference,
                "margay::rmi: reference to non-const: arguments are copies; take a value or a const reference");
  static_assert(Why != Refusal::pointer,
                "margay::rmi: raw pointer (an array decays to one): an address means nothing on another node; take "
                "std::vector, std::span<const T>, std::string or std::string_view");
  static_assert(
      Why != Refusal::function,
      "margay::rmi: function pointer: an address means nothing on another node; send the function as the method");
  static_assert(Why != Refusal::member_pointer,
                "margay::rmi: member pointer: an address means nothing on another node; send it as the method");
  static_assert(Why != Refusal::mutable_view,
                "margay::rmi: std::span of non-const elements refers to the caller's memory; take std::span<const T>");
  static_assert(Why != Refusal::nested_view,
                "margay::rmi: std::span or std::string_view inside another type or as a result would dangle; take "
                "std::vector or std::string");
  static_assert(
      Why != Refusal::reference_wrapper,
      "margay::rmi: std::reference_wrapper or std::initializer_list refers to the caller's memory; take a value");
  static_assert(Why != Refusal::iterator, "margay::rmi: iterator: it refers to the caller's memory; take the elements");
  static_assert(Why != Refusal::shared_pointer,
                "margay::rmi: std::shared_ptr: nodes share no objects; take a value or std::unique_ptr");
  static_assert(Why != Refusal::unique_pointer,
                "margay::rmi: std::unique_ptr travels only to one object of a class that is not polymorphic, with the "
                "default deleter; take std::vector or a value");
  static_assert(Why != Refusal::empty_elements,
                "margay::rmi: elements that take no bytes cannot be counted safely; take their number");
  static_assert(Why != Refusal::inherited_define_type,
                "margay::rmi: define_type() is a base class's and omits this class's members; add a define_type() that "
                "calls the base class's first");
  static_assert(Why != Refusal::no_default_constructor,
                "margay::rmi: a class with define_type() needs a default constructor, to be unpacked into");
  static_assert(
      Why != Refusal::no_define_type,
      "margay::rmi: the class is not trivially copyable and has no public void define_type(margay::rmi::typer&); "
      "add it, with each member local() or dynamic()");
  static_assert(
      Why != Refusal::not_convertible,
      "margay::rmi: the argument does not convert to the parameter's type, or is an lvalue of a type that can "
      "only be moved (std::move it)");
}

// Both reports. True if `Parameter` can travel, so that a caller may leave out the code that would add errors of its
// own.
template <std::size_t Position, class Parameter, Refusal Why>
constexpr bool check_travel() {
  check_position<Position, Parameter, Why>();
  check_reason<Parameter, Why>();
  return Why == Refusal::none;
}

}  // namespace margay::rmi
