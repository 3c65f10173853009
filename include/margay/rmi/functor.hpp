// The functor (paper, 6.1): writes and executes requests for one class of objects and one type of method.
//
//   offset          bytes written here                                  by
//   0               the head: functor, object, size, flags, checksum    write_head(), last
//   16              the call, the method word, the module's id          write_head(), each if a flag names it
//   behind these    a lambda's captures, then the arguments             store_arguments() or pack_arguments()
//   at the end      zeros up to a multiple of 8                         the same
//
// All is known at compile time but the values: which words the head has, whether the arguments have a fixed size, where
// each lies. So a request with numbers is written and executed by a few moves. Programs and the library call
// request.hpp and execute.hpp, which build on this file.
//
// The order of a request's bytes is fixed in three places that belong together: write_rest() here, write_head() and
// RequestView in request_head.hpp.
//
// The way of a request: write() packs it at the caller, with the functor's hash in its head; the receiver finds the
// functor by the hash (functor_table.hpp) and calls its execute(), which unpacks and calls the method. Both are
// instantiated by the same template, from the types that the caller names, so they cannot disagree in one program.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "margay/rmi/core.hpp"
#include "margay/rmi/method.hpp"
#include "margay/rmi/reply.hpp"
#include "margay/rmi/request_head.hpp"

namespace margay::rmi {

// The parts of a request beside its method and arguments: the destination's object, and how the library treats it.
// Chosen by the library, not by the program. A request has no field for its sender and its destination: the message
// that carries the buffer has both.
struct Envelope {
  std::uint32_t object = 0;  // the id of the object at the destination
  bool atomic = true;        // the method runs as in a monitor of its object (paper, 5.1)
  std::uint64_t call = 0;    // returned by the reply, if a result is wanted
};

// The result of an attempt to write a request. One that does not fit is not an error: the caller asks for `bytes` bytes
// and tries again, so that a buffer that is nearly full costs no count in advance.
struct Written {
  std::size_t bytes = 0;  // of the whole request, written or not: a multiple of kPackedAlignment
  bool fits = false;      // whether the room was large enough; if not, its contents are undefined
};

// The functor of a class of objects and a type of method. Its type's name is its name in the table (functor_table.hpp),
// and execute() is all that the table calls. One functor serves all methods of one type: for &Counter::add and
// &Counter::set, both void (Counter::*)(int), the method word distinguishes them; method<&Counter::add> is a type, and
// so has a functor of its own.
//
// execute(): `request` is for this functor, `object` is an O. `reply`: where the result goes, or null if none is
// wanted. Throws `error` for arguments or a method word that this functor has not written, and whatever the method
// throws.
template <class O, class M>
struct Functor {
  using Object = O;
  using Method = M;
  static void execute(const RequestView& request, void* object, ReplySink* reply);
};

namespace detail {

// The layout of a request with a method of this type, and what follows from it: writing, unpacking, calling. Most
// functions are `always_inline`: they are called in few places, and a call that is left costs as much as writing the
// whole request (bench/rmi_request_bench).
template <class Method, class Parameters>
struct RequestOf;
// The bytes of a request with these parameters, as far as they are known.
template <class Method, class... P>
struct RequestOf<Method, ParameterList<P...>> {
  using List = ParameterList<P...>;
  // The bytes of a lambda's captures, which precede the arguments.
  static constexpr std::size_t kCaptured = MethodOf<Method>::kCaptured;
  // Whether all arguments have a fixed size; then kArgumentBytes is the size of captures and arguments.
  static constexpr bool kFixed = List::kAllFixed;
  static constexpr std::size_t kArgumentBytes = kCaptured + List::kFixed;
  // The exact size of a usual request of fixed size, and a first guess for others. The rare request with a module's id
  // is 8 bytes longer and is written twice if they are missing.
  static constexpr std::size_t first_room(bool reply) {
    return round_up(kRequestHeadBytes + (reply ? 8 : 0) + (MethodOf<Method>::kWord ? 8 : 0) + kArgumentBytes,
                    kPackedAlignment);
  }

  // Packs captures and arguments behind a head of `before` bytes. Returns the bytes that they take, without the
  // alignment at their end. A room that is too small for the head is an empty one: the packer then only counts.
  static std::size_t pack_arguments(std::span<std::byte> room, std::size_t before, const Method& method,
                                    const typename Parameter<P>::Packed&... argument) {
    Packer packer(room.size() > before ? room.subspan(before) : std::span<std::byte>());
    if constexpr (kCaptured != 0) packer.put(&method, kCaptured);
    (Parameter<P>::pack(packer, argument), ...);
    const std::size_t bytes = packer.size();
    packer.align(kPackedAlignment);
    return bytes;
  }
  // The same for arguments of fixed size, into room that is there. The last word is cleared first, because the unused
  // bytes at the end must be zero; the arguments then overwrite the rest of it.
  static void store_arguments(std::byte* at, [[maybe_unused]] const Method& method,
                              const typename Parameter<P>::Packed&... argument) {
    if constexpr (kArgumentBytes % kPackedAlignment != 0) {
      constexpr std::uint64_t kZero = 0;
      std::memcpy(at + kArgumentBytes / kPackedAlignment * kPackedAlignment, &kZero, sizeof kZero);
    }
    if constexpr (kCaptured != 0) std::memcpy(std::exchange(at, at + kCaptured), &method, kCaptured);
    (Parameter<P>::store(std::exchange(at, at + Parameter<P>::kFixed), argument), ...);
  }

  // Writes the request if it fits; the caller's arguments are converted already. Throws `error` for a method or an
  // argument that cannot travel, if only a run can see it.
  template <class Object, bool kReply>
  [[gnu::always_inline]] static Written write(std::span<std::byte> room, const Envelope& envelope, const Method& method,
                                              const typename Parameter<P>::Packed&... argument) {
    const FunctorEntry& functor = Registration<Functor<Object, Method>>::entry();
    const auto flags = static_cast<std::uint8_t>((kReply ? kReplyWanted : 0) | (envelope.atomic ? 0 : kNonAtomic));
    std::array<std::uint64_t, (kReply ? 1 : 0) + (MethodOf<Method>::kWord ? 1 : 0)> extra;
    if constexpr (kReply) extra[0] = envelope.call;
    if constexpr (MethodOf<Method>::kWord) {
      const RawMethod raw = raw_method(method);
      const Module& own = functor.module();
      if (!is_usual(raw, own)) [[unlikely]]
        return write_unusual<Object, kReply>(room, envelope, method, flags, argument...);
      extra.back() = usual_word(raw, own);
      return write_rest(room, functor.hash(), envelope.object, flags | kMethodWord, extra, method, argument...);
    } else {
      return write_rest(room, functor.hash(), envelope.object, flags, extra, method, argument...);
    }
  }

  // Unpacks a request's method and arguments, calls the method, and passes its result, if it has one, to `then`: the
  // arguments live until then, because a result may refer to them. All is unpacked before the method is called, so a
  // damaged request has no effect on the object. The bytes must be used up exactly: bytes that are left over mean that
  // sender and receiver disagree about the parameters.
  template <class Object, class Then>
  [[gnu::always_inline]] static void call(const RequestView& request, Object& object, const Then& then) {
    Unpacker unpacker(request.arguments());
    Method method = take_method(request, unpacker, object);
    if constexpr (kFixed) {
      if (unpacker.left() != List::kFixed) fail("damaged request: its arguments have another size than the method's");
      [[maybe_unused]] const std::byte* at = unpacker.take(List::kFixed);
      std::tuple<typename Parameter<P>::Stored...> arguments{
          Parameter<P>::load(std::exchange(at, at + Parameter<P>::kFixed))...};
      apply(object, method, arguments, then);
    } else {
      std::tuple<typename Parameter<P>::Stored...> arguments{Parameter<P>::unpack(unpacker)...};
      unpacker.finish();
      apply(object, method, arguments, then);
    }
  }

 private:
  // Head and arguments, with the words that `flags` names. Arguments first, because the head has their size.
  template <std::size_t Extra>
  [[gnu::always_inline]] static Written write_rest(std::span<std::byte> room, std::uint32_t functor,
                                                   std::uint32_t object, int flags,
                                                   const std::array<std::uint64_t, Extra>& extra, const Method& method,
                                                   const typename Parameter<P>::Packed&... argument) {
    constexpr std::size_t kBefore = kRequestHeadBytes + 8 * Extra;
    std::size_t arguments = kArgumentBytes;
    if constexpr (!kFixed) arguments = pack_arguments(room, kBefore, method, argument...);
    const std::size_t bytes = round_up(kBefore + arguments, kPackedAlignment);
    if (bytes > room.size()) return {bytes, false};
    if constexpr (kFixed) store_arguments(room.data() + kBefore, method, argument...);
    if (bytes > std::numeric_limits<std::uint32_t>::max()) fail("the arguments of a request have more than 4 GiB");
    write_head(room.data(), functor, object, bytes, bytes - kBefore - arguments, static_cast<std::uint8_t>(flags),
               extra);
    return {bytes, true};
  }

  // A request for a virtual function or one of another module than the functor's. Out of line, to keep the usual case
  // short. Throws `error` for one that cannot travel.
  template <class Object, bool kReply>
  [[gnu::noinline]] static Written write_unusual(std::span<std::byte> room, const Envelope& envelope,
                                                 const Method& method, std::uint8_t flags,
                                                 const typename Parameter<P>::Packed&... argument) {
    const FunctorEntry& functor = Registration<Functor<Object, Method>>::entry();
    const EncodedMethod encoded = encode_unusual(raw_method(method));
    std::array<std::uint64_t, (kReply ? 2 : 1)> extra{envelope.call};
    extra.back() = encoded.word;
    if (!encoded.elsewhere)
      return write_rest(room, functor.hash(), envelope.object, flags | kMethodWord, extra, method, argument...);
    std::array<std::uint64_t, extra.size() + 1> more{};
    std::copy(extra.begin(), extra.end(), more.begin());
    more.back() = encoded.module;
    return write_rest(room, functor.hash(), envelope.object, flags | kMethodWord | kModuleWord, more, method,
                      argument...);
  }

  // The call itself, with each argument from its storage as the parameter takes it.
  template <class Object, class Then>
  [[gnu::always_inline]] static void apply(Object& object, Method& method,
                                           std::tuple<typename Parameter<P>::Stored...>& arguments, const Then& then) {
    std::apply(
        [&](typename Parameter<P>::Stored&... stored) {
          if constexpr (std::is_void_v<typename MethodOf<Method>::Result>) {
            MethodOf<Method>::call(object, method, Parameter<P>::pass(stored)...);
            then();
          } else {
            then(MethodOf<Method>::call(object, method, Parameter<P>::pass(stored)...));
          }
        },
        arguments);
  }

  // The method of a request: decoded from its word, or from the captures at the begin of the arguments, or from
  // nothing. Throws `error` before anything is called: the word comes from another node, so its function must lie in
  // code, and the slot of a virtual one must lead to code.
  template <class Object>
  [[gnu::always_inline]] static Method take_method(const RequestView& request, [[maybe_unused]] Unpacker& unpacker,
                                                   [[maybe_unused]] Object& object) {
    if (((request.flags() & kMethodWord) != 0) != MethodOf<Method>::kWord)
      fail("damaged request: its flags do not fit its functor");
    if constexpr (MethodOf<Method>::kWord) {
      using Class = ReceiverOf<Method>;
      constexpr MethodClass kClass{sizeof(Class), std::is_polymorphic_v<Class>};
      const Module& own = Registration<Functor<Object, Method>>::entry().module();
      const std::uint64_t word = request.method();
      RawMethod raw;
      if (is_usual_word(word, own, kClass)) [[likely]]
        raw = usual_method(word, own);
      else
        raw = decode_unusual(word, (request.flags() & kModuleWord) != 0 ? request.module() : 0, own, kClass);
      if constexpr (std::is_polymorphic_v<Class>) {
        const auto* whole = reinterpret_cast<const std::byte*>(static_cast<const Class*>(&object));
        check_virtual(raw, whole + raw.adjustment);
      }
      return method_of<Method>(raw);
    } else if constexpr (kCaptured != 0) {
      return Value<Method>::load(unpacker.take(kCaptured));
    } else {
      return Method{};
    }
  }
};

// The layout of a request for this method.
template <class Method>
using RequestFor = RequestOf<Method, typename MethodOf<Method>::Parameters>;

}  // namespace detail

// A result that cannot travel is dropped: the method may still be called asynchronously. A wanted one is damage,
// because a call that wants it does not compile.
template <class O, class M>
void Functor<O, M>::execute(const RequestView& request, void* address, ReplySink* reply) {
  using Result = ResultOf<M>;
  using Request = detail::RequestFor<M>;
  Object& object = *static_cast<Object*>(address);
  if (request.wants_reply() && reply == nullptr) fail("a request wants a reply, but has no room for it");
  if constexpr (std::is_void_v<Result>) {
    Request::call(request, object, [&] {
      if (request.wants_reply()) write_done(*reply);
    });
  } else if constexpr (refusal_of_result<Result>() == Refusal::none) {
    Request::call(request, object, [&](const Result& result) {
      if (request.wants_reply()) write_result<Result>(*reply, result);
    });
  } else {
    if (request.wants_reply()) fail("damaged request: a result is wanted that cannot travel");
    Request::call(request, object, [](auto&& /*result*/) {});
  }
}

}  // namespace margay::rmi
