// Methods and functors (paper, 6.1).
//
// "All RMI requests are encapsulated internally by a functor. A functor stores an RMI's class, method and argument
// information, and allows the request to be stored, communicated, and subsequently executed. ... Derived functors are
// specialized based on number of arguments and whether the return value is needed." Here a functor is a type,
// Functor<Object, Method>, and its static execute() is the paper's method; the stored part is the request
// (request.hpp).
//
// A method is one of
//   &Class::function           a pointer to member; it travels as method_word.hpp says
//   method<&Class::function>   the same as a type: nothing of it travels. Also for a function that takes a reference
//                              to the object as its first parameter
//   [](Object& object, int x)  a callable object; its captures, trivially copyable, travel as bytes. Captures by
//                              reference cannot be detected, and arrive invalid
//
// A cast chooses among functions of one name, as everywhere in C++: static_cast<void (Set::*)(int)>(&Set::insert).
//
// The object's class, Object, is the static type that it was registered with; the method may be that of a public base
// class. Default arguments are not part of a function's type, so a call names all arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "margay/rmi/functor_table.hpp"
#include "margay/rmi/method_word.hpp"
#include "margay/rmi/parameter.hpp"

namespace margay::rmi {

// A method as a type. Its name is part of the functor's name, and so of the functor's hash.
template <auto Function>
struct NamedMethod {};

// `async_rmi(node, object, method<&Counter::add>, 5)`. Its request is 8 bytes smaller than with &Counter::add, and no
// damaged request can call another function.
template <auto Function>
inline constexpr NamedMethod<Function> method{};

// --- The signature of a function: its class or first parameter, its result, its parameters. ---

template <class C, class R, class... P>
struct Signature {
  using Receiver = C;
  using Result = R;
  using Parameters = ParameterList<P...>;
};

// The signature of a member function, or of a function whose first parameter is the object. Const members take a const
// object. Members for rvalues (&&) or volatile objects have none, because a registered object is neither.
template <class Function>
struct SignatureOf {};
template <class C, class R, class... P>
struct SignatureOf<R (C::*)(P...)> : Signature<C, R, P...> {};
template <class C, class R, class... P>
struct SignatureOf<R (C::*)(P...) const> : Signature<const C, R, P...> {};
template <class C, class R, class... P>
struct SignatureOf<R (C::*)(P...)&> : Signature<C, R, P...> {};
template <class C, class R, class... P>
struct SignatureOf<R (C::*)(P...) const&> : Signature<const C, R, P...> {};
template <class C, class R, class... P>
struct SignatureOf<R (C::*)(P...) noexcept> : Signature<C, R, P...> {};
template <class C, class R, class... P>
struct SignatureOf<R (C::*)(P...) const noexcept> : Signature<const C, R, P...> {};
template <class C, class R, class... P>
struct SignatureOf<R (C::*)(P...)& noexcept> : Signature<C, R, P...> {};
template <class C, class R, class... P>
struct SignatureOf<R (C::*)(P...) const& noexcept> : Signature<const C, R, P...> {};
template <class C, class R, class... P>
struct SignatureOf<R (*)(C&, P...)> : Signature<C, R, P...> {};
template <class C, class R, class... P>
struct SignatureOf<R (*)(C&, P...) noexcept> : Signature<C, R, P...> {};

// The signature of a callable object: its operator()'s, the first parameter being the object.
template <class Call>
struct CallSignature {};
template <class C, class R, class O, class... P>
struct CallSignature<Signature<C, R, O&, P...>> : Signature<O, R, P...> {};

// SignatureOf<Function> as the Signature that it derives from.
template <class C, class R, class... P>
std::type_identity<Signature<C, R, P...>> signature_in(const Signature<C, R, P...>*);
template <class Function>
using BaseSignature = typename decltype(signature_in(static_cast<const SignatureOf<Function>*>(nullptr)))::type;

// --- The kinds of methods. ---

// MethodOf<Method>: Receiver, Result, Parameters of a method, and
//   kWord       whether a method word travels
//   kCaptured   the bytes of a callable object that travel
//   call        calls it on an object
template <class Method>
struct MethodOf {};

// A pointer to member function: the functor has the type, the request the value, in 8 bytes.
template <class Method>
requires std::is_member_function_pointer_v<Method>
struct MethodOf<Method> : SignatureOf<Method> {
  static constexpr bool kWord = true;
  static constexpr std::size_t kCaptured = 0;

  template <class Object, class... A>
  static decltype(auto) call(Object& object, Method function, A&&... argument) {
    return (object.*function)(std::forward<A>(argument)...);
  }
};

// A method as a type: the functor has all of it. Without a base class, of which g++ would warn for a class in an
// unnamed namespace.
template <auto Function>
requires requires {
  typename SignatureOf<decltype(Function)>::Receiver;
}
// A method as a type: the functor has all of it, and the request nothing. Written without a base class, because g++
// warns of one for a class in an unnamed namespace.
struct MethodOf<NamedMethod<Function>> {
  using Receiver = typename SignatureOf<decltype(Function)>::Receiver;
  using Result = typename SignatureOf<decltype(Function)>::Result;
  using Parameters = typename SignatureOf<decltype(Function)>::Parameters;
  static constexpr bool kWord = false;
  static constexpr std::size_t kCaptured = 0;

  template <class Object, class... A>
  static decltype(auto) call(Object& object, NamedMethod<Function> /*named*/, A&&... argument) {
    if constexpr (std::is_member_function_pointer_v<decltype(Function)>)
      return (object.*Function)(std::forward<A>(argument)...);
    else
      return Function(object, std::forward<A>(argument)...);
  }
};

// A callable object with one operator(), which may be mutable: each request has a copy. A generic lambda has no
// signature before it is called, and so is none.
template <class Method>
requires std::is_class_v<Method> && requires {
  typename BaseSignature<decltype(&Method::operator())>::Receiver;
}
// A callable object with one operator(), which may be mutable: each request has a copy. A generic lambda has no
// signature before it is called, so it cannot be a method.
struct MethodOf<Method> : CallSignature<BaseSignature<decltype(&Method::operator())>> {
  static constexpr bool kWord = false;
  static constexpr std::size_t kCaptured = std::is_empty_v<Method> ? 0 : sizeof(Method);
  static_assert(std::is_trivially_copyable_v<Method>,
                "margay::rmi: the method captures what is not trivially copyable; pass it as an argument");

  template <class Object, class... A>
  static decltype(auto) call(Object& object, Method& function, A&&... argument) {
    return function(object, std::forward<A>(argument)...);
  }
};

// Whether a type is one of the three kinds.
template <class Method>
concept IsMethod = requires {
  typename MethodOf<Method>::Receiver;
};

// The class of objects that `Method` is for, without const: the default of a request's Object.
template <class Method>
using ReceiverOf = std::remove_const_t<typename MethodOf<Method>::Receiver>;

// Reports, at compile time, a method that cannot be called on an Object. True if it can. The conversion of pointers is
// the test, because it allows public base classes and excludes the removal of const.
template <class Object, class Method>
constexpr bool check_method() {
  static_assert(
      IsMethod<Method>,
      "margay::rmi: the method is none: pass &Class::function, method<&Class::function>, or a lambda whose first "
      "parameter is a reference to the object and whose parameters have types (no auto)");
  if constexpr (IsMethod<Method>) {
    constexpr bool fits = std::is_convertible_v<Object*, typename MethodOf<Method>::Receiver*>;
    static_assert(fits, "margay::rmi: the method is not one of the object's class or of a public base class");
    return fits;
  } else {
    return false;
  }
}

// The result of a method as it travels: a copy, without reference. A method that returns T& or const T& (paper, 4: the
// listing of pvector::operator[]) gives the caller a T.
template <class Method>
using ResultOf = std::remove_cvref_t<typename MethodOf<Method>::Result>;

// Why a result cannot travel, or none.
template <class Result>
constexpr Refusal refusal_of_result() {
  if constexpr (std::is_void_v<Result>)
    return Refusal::none;
  else
    return Value<Result>::kRefusal;
}

}  // namespace margay::rmi
