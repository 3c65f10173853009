// The writing of a request at the caller (paper, 6.1). method.hpp has the kinds of methods, request_head.hpp the bytes.
//
//   post<Counter>(writer, Envelope{.object = id}, &Counter::add, 5);                  // async_rmi
//   post_call<Counter>(writer, Envelope{.object = id, .call = c}, &Counter::total);   // sync_rmi: the result returns
//
// A request of fixed size is written in one pass into the room that the writer has. Another one is packed into that
// room, and only if it does not fit is it packed once more, into room of the size that the first pass has counted.
//
// These functions send nothing themselves: the writer's reserve() and commit() may send its buffer (core.hpp).
//
// A compile error, not an exception, reports each mistake that types show. The errors have the argument's position and
// the cure (travel.hpp), and the code behind them is left out, so that no other error follows.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "margay/rmi/functor.hpp"

namespace margay::rmi {

namespace detail {

// Reports, at compile time, a call that cannot be made: a method of another class, a wrong number of arguments, an
// argument or a wanted result that cannot travel. True if it can. Every front function asks first and leaves out its
// own code if not, so that a programmer reads these errors and no others.
template <class Object, bool kReply, class Method, class... Argument>
constexpr bool check_call() {
  if constexpr (!check_method<Object, Method>()) {
    return false;
  } else {
    constexpr bool arguments = check_arguments<Argument...>(typename MethodOf<Method>::Parameters());
    if constexpr (kReply)
      return check_travel<kResult, ResultOf<Method>, refusal_of_result<ResultOf<Method>>()>() && arguments;
    else
      return arguments;
  }
}

// write_request() and write_call().
template <class Object, bool kReply, class Method, class... Argument>
Written write(std::span<std::byte> room, const Envelope& envelope, const Method& method, Argument&&... argument) {
  if constexpr (check_call<Object, kReply, Method, Argument...>())
    return with_converted(
        typename MethodOf<Method>::Parameters(),
        [&](const auto&... converted) {
          return RequestFor<Method>::template write<Object, kReply>(room, envelope, method, converted...);
        },
        std::forward<Argument>(argument)...);
  else
    return {};
}

// Writes a request into the room that its first attempt has asked for. Out of line, because it is rare.
template <class Request, class Object, bool kReply, class Method, class... Packed>
[[gnu::noinline]] Written write_again(std::span<std::byte> room, const Envelope& envelope, const Method& method,
                                      const Packed&... converted) {
  const Written written = Request::template write<Object, kReply>(room, envelope, method, converted...);
  if (!written.fits) fail("the writer's room is smaller than was asked for");
  return written;
}

// post() and post_call(). Arguments are converted once, also if the request is written twice: a conversion may move.
template <class Object, bool kReply, class Room, class Method, class... Argument>
[[gnu::always_inline]] inline std::size_t post(Room& writer, const Envelope& envelope, const Method& method,
                                               Argument&&... argument) {
  if constexpr (check_call<Object, kReply, Method, Argument...>())
    return with_converted(
        typename MethodOf<Method>::Parameters(),
        [&](const auto&... converted) {
          using Request = RequestFor<Method>;
          Written written = Request::template write<Object, kReply>(writer.reserve(Request::first_room(kReply)),
                                                                    envelope, method, converted...);
          if (!written.fits) [[unlikely]]
            written =
                write_again<Request, Object, kReply>(writer.reserve(written.bytes), envelope, method, converted...);
          writer.commit(written.bytes);
          return written.bytes;
        },
        std::forward<Argument>(argument)...);
  else
    return 0;
}

}  // namespace detail

// --- At the caller. ---

// The type of a room for requests: core::Writer, or a class of a test with the same reserve() and commit().
template <class T>
concept RequestWriter = requires(T& writer, std::size_t bytes) {
  // Room for at least so many bytes, until the next call of either.
  { writer.reserve(bytes) } -> std::convertible_to<std::span<std::byte>>;
  writer.commit(bytes);
};

// Writes a request for `method` with copies of the arguments into `room`, which is aligned to kPackedAlignment. Returns
// its size; if that exceeds the room, the request is not written and the room's contents are undefined. `Object`: the
// class of the object at the destination. Throws `error` for what cannot travel and only a run can see: a null method,
// more than 2^32 elements. An argument that cannot travel by its type is a compile-time error.
template <class Object, class Method, class... Argument>
[[nodiscard]] Written write_request(std::span<std::byte> room, const Envelope& envelope, Method method,
                                    Argument&&... argument) {
  return detail::write<Object, false>(room, envelope, method, std::forward<Argument>(argument)...);
}
// The same for a method whose result, which must be able to travel, is wanted: the head has the envelope's call.
template <class Object, class Method, class... Argument>
[[nodiscard]] Written write_call(std::span<std::byte> room, const Envelope& envelope, Method method,
                                 Argument&&... argument) {
  return detail::write<Object, true>(room, envelope, method, std::forward<Argument>(argument)...);
}

// Reserves room, writes a request and commits it. Returns its size in bytes.
//
// Arguments are copied into the request, so the caller may change or free its own at once. An argument of a type that
// can only be moved, as std::unique_ptr, is moved from the caller as in an ordinary call; all others are left as they
// are, rvalues too. If it throws, nothing is committed; an argument that can only be moved is lost.
//
// Threads: those of the writer.
template <class Object, RequestWriter Room, class Method, class... Argument>
std::size_t post(Room& writer, const Envelope& envelope, Method method, Argument&&... argument) {
  return detail::post<Object, false>(writer, envelope, method, std::forward<Argument>(argument)...);
}
// The same for a method whose result is wanted. The reply has the envelope's call. The caller must be ready for the
// reply before commit(), which may execute a request to the own node.
template <class Object, RequestWriter Room, class Method, class... Argument>
std::size_t post_call(Room& writer, const Envelope& envelope, Method method, Argument&&... argument) {
  return detail::post<Object, true>(writer, envelope, method, std::forward<Argument>(argument)...);
}

}  // namespace margay::rmi
