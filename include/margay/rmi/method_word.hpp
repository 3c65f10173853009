// A pointer to member function as 8 bytes of a request, and back.
//
// In memory it is two words (Itanium C++ ABI, 2.3): the function's address, or 1 + the offset in the vtable of a
// virtual function; and the adjustment of `this`. On the wire it is, from the lowest bit:
//
//   32 bits  offset of the function in its module, or in the vtable
//   16 bits  adjustment of `this` in bytes
//   16 bits  the tag of the functor's module, which also contains the function: the usual case;
//            kVirtualTag: a virtual function; kElsewhereTag: a function of the module whose id follows in another word
//
// So a damaged or hostile word is never jumped to as it is: the tag must fit, the offset must lie in code of the
// module, the adjustment in the object. Limit: an offset into the middle of a function passes these checks. The
// checksum of a request (request.hpp) detects accidents; a program that does not trust its nodes names methods as
// method<&Class::function>, of which no pointer travels.
//
//   const EncodedMethod sent = encode_method(raw_method(&Counter::add), own);            // at the caller
//   const RawMethod raw = decode_method(sent.word, sent.module, own, {sizeof(Counter), false});
//   (counter.*method_of<void (Counter::*)(int)>(raw))(5);       // after check_virtual(), if Counter is polymorphic
//
// Cost: the usual case is a comparison of the address with the code segment of the functor's module at each end,
// without a look-up. A virtual function costs the receiver two look-ups of modules, unless it was the last one that
// this thread has checked. A function of another module costs the sender a look-up, 8 bytes, and the receiver another
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "margay/rmi/error.hpp"
#include "margay/rmi/module.hpp"

namespace margay::rmi {

// Tags that no module has, because a module's tag is less than kModuleTags.
inline constexpr std::uint16_t kVirtualTag = kModuleTags;
inline constexpr std::uint16_t kElsewhereTag = kModuleTags + 1;
static_assert(kElsewhereTag == std::numeric_limits<std::uint16_t>::max());

// The largest offset in a vtable: a class of 8,192 virtual functions. Bounds what a damaged word may reach.
inline constexpr std::uint32_t kVtableBytesMax = 1U << 16;

// A pointer to member function as it is in memory.
struct RawMethod {
  std::uintptr_t function = 0;    // an address, or 1 + an offset in bytes in the vtable: functions have even addresses
  std::ptrdiff_t adjustment = 0;  // bytes from the object to the base class that declares the method
};

// The same on the wire.
struct EncodedMethod {
  std::uint64_t word = 0;
  std::uint64_t module = 0;  // the module's id, if it travels
  bool elsewhere = false;    // whether it does
};

// The properties of the class that declares the method, for the decoder: known at compile time, never sent.
struct MethodClass {
  std::size_t bytes;  // sizeof the class: the adjustment stays inside
  bool polymorphic;   // whether it may have virtual functions
};

// Whether pointers to member functions have the layout above. On ARM the bit for virtual is in the adjustment; not
// ported, so programs there use method<&Class::function> and lambdas.
#if defined(__x86_64__)
inline constexpr bool kPointersTravel = true;
#else
inline constexpr bool kPointersTravel = false;
#endif

// The two words of `method`, and back. By memcpy: the language has no other way to the words of a pointer to member.
template <class Method>
[[nodiscard]] RawMethod raw_method(Method method) {
  static_assert(kPointersTravel || sizeof(Method) == 0,
                "margay::rmi: pointers to members travel on x86-64 only; pass method<&Class::function>");
  static_assert(sizeof(Method) == sizeof(RawMethod),
                "margay::rmi: not a pointer to member function of the Itanium C++ ABI");
  RawMethod raw;
  std::memcpy(static_cast<void*>(&raw), &method, sizeof raw);
  return raw;
}
template <class Method>
[[nodiscard]] Method method_of(RawMethod raw) {
  static_assert(sizeof(Method) == sizeof(RawMethod),
                "margay::rmi: not a pointer to member function of the Itanium C++ ABI");
  Method method;
  std::memcpy(static_cast<void*>(&method), &raw, sizeof raw);
  return method;
}

namespace detail {

// A word from its three parts. Requires: each fits its bits.
inline std::uint64_t method_word(std::uint64_t offset, std::uint64_t adjustment, std::uint64_t tag) {
  return offset | adjustment << 32 | tag << 48;
}

// Encodes the rare cases: virtual functions, functions of other modules, and pointers that cannot travel. Throws
// `error` for those: a null pointer, an adjustment of more than 64 KiB or a negative one, code outside of all modules,
// an offset of more than 4 GiB. The messages name the cure, usually a lambda.
[[gnu::noinline]] inline EncodedMethod encode_unusual(RawMethod raw) {
  if (raw.function == 0) fail("the method is a null pointer to member");
  if (raw.adjustment < 0 || raw.adjustment > std::numeric_limits<std::uint16_t>::max())
    fail("the method's base class lies " + std::to_string(raw.adjustment) +
         " bytes inside the object, at most 65535 can travel; pass a lambda that calls it");
  const auto adjustment = static_cast<std::uint64_t>(raw.adjustment);
  if ((raw.function & 1) != 0) {
    if (raw.function - 1 >= kVtableBytesMax) fail("the method is a damaged pointer to member");
    return {method_word(raw.function - 1, adjustment, kVirtualTag)};
  }
  const Module* module = module_of_code(raw.function);
  if (module == nullptr) fail("the method lies in no loaded module; code made at run time cannot travel");
  const std::uintptr_t offset = raw.function - module->base;
  if (offset > std::numeric_limits<std::uint32_t>::max())
    fail("the method lies more than 4 GiB inside its module " + module->path + "; pass a lambda that calls it");
  return {method_word(offset, adjustment, kElsewhereTag), module->id, true};
}

// The module with this id, for a word with kElsewhereTag. Throws `error` if this process has none, as when a node has
// another version of a library.
[[nodiscard, gnu::noinline]] inline const Module& module_elsewhere(std::uint64_t id) {
  const Module* module = module_of_id(id);
  if (module == nullptr)
    fail(
        "damaged request, or its sender has loaded a library that this node has not: no module has the method's build "
        "id");
  return *module;
}

// Decodes the rare cases, with all checks. The offset in a vtable is bounded here; what lies there is checked by
// check_virtual(), because that needs the object. The usual tag is decoded here too if is_usual_word() was false: for a
// function outside of the largest code segment, or to find the error.
[[nodiscard, gnu::noinline]] inline RawMethod decode_unusual(std::uint64_t word, std::uint64_t module_id,
                                                             const Module& own, MethodClass of) {
  const auto offset = static_cast<std::uint32_t>(word);
  const auto adjustment = static_cast<std::uint16_t>(word >> 32);
  const auto tag = static_cast<std::uint16_t>(word >> 48);
  if (adjustment >= of.bytes) fail("damaged request: the method's base class lies outside of the object");
  if (tag == kVirtualTag) {
    if (!of.polymorphic) fail("damaged request: a virtual method of a class without virtual functions");
    // check_virtual() reads a pointer to a vtable there.
    if (adjustment + sizeof(void*) > of.bytes)
      fail("damaged request: the method's base class lies outside of the object");
    if (offset >= kVtableBytesMax || offset % sizeof(void*) != 0)
      fail("damaged request: an offset outside of a vtable");
    return {std::uintptr_t{offset} + 1, adjustment};
  }
  if (tag != own.tag && tag != kElsewhereTag)
    fail(
        "damaged request, or nodes whose libraries were loaded in another order: the method is not in the module of "
        "its "
        "functor");
  const Module& module = tag == own.tag ? own : module_elsewhere(module_id);
  const std::uintptr_t function = module.base + offset;
  if (!module.has_code(function) || (function & 1) != 0)
    fail("damaged request: the method's offset is not in the code of " + module.path);
  return {function, adjustment};
}

}  // namespace detail

// Whether `method` is encoded by usual_word(): an ordinary function in the largest code segment of the functor's
// module. All others go to detail::encode_unusual(). Inline, because each request with a pointer to member comes here.
[[nodiscard]] inline bool is_usual(RawMethod method, const Module& own) {
  return (method.function & 1) == 0 && own.code.contains(method.function) &&
         method.function - own.base <= std::numeric_limits<std::uint32_t>::max() &&
         static_cast<std::uintptr_t>(method.adjustment) <= std::numeric_limits<std::uint16_t>::max();
}
// The word of such a method. Requires: is_usual().
[[nodiscard]] inline std::uint64_t usual_word(RawMethod method, const Module& own) {
  return detail::method_word(method.function - own.base, static_cast<std::uint64_t>(method.adjustment), own.tag);
}

// Whether `word` names an ordinary function in the functor's module, with all checks. The last one excludes odd
// addresses, which would be read as virtual functions.
[[nodiscard]] inline bool is_usual_word(std::uint64_t word, const Module& own, MethodClass of) {
  return word >> 48 == own.tag && static_cast<std::uint16_t>(word >> 32) < of.bytes &&
         own.code.contains(own.base + static_cast<std::uint32_t>(word)) && (word & 1) == (own.base & 1);
}
// The pointer that such a word names. Requires: is_usual_word().
[[nodiscard]] inline RawMethod usual_method(std::uint64_t word, const Module& own) {
  return {own.base + static_cast<std::uint32_t>(word), static_cast<std::uint16_t>(word >> 32)};
}

// `method` for the wire. `own`: the module of the functor. Throws `error` for a null pointer, for a function outside of
// all modules, and for an adjustment or offset that is too large to travel.
[[nodiscard]] inline EncodedMethod encode_method(RawMethod method, const Module& own) {
  if (is_usual(method, own)) return {usual_word(method, own)};
  return detail::encode_unusual(method);
}

// The pointer that a word names in this process. Throws `error` for a word that names none: see the head of this file.
// A virtual function's slot is checked by check_virtual(), which needs the object.
[[nodiscard]] inline RawMethod decode_method(std::uint64_t word, std::uint64_t module_id, const Module& own,
                                             MethodClass of) {
  if (is_usual_word(word, own, of)) return usual_method(word, own);
  return detail::decode_unusual(word, module_id, own, of);
}

// Throws `error` unless the slot of a decoded virtual method is readable and leads to code. `subobject`: the object,
// with the adjustment added. Ordinary functions pass at once. Limit: a slot of a neighbouring vtable passes, because
// vtables have no length in memory.
inline void check_virtual(RawMethod method, const void* subobject) {
  if ((method.function & 1) == 0) return;
  struct Checked {
    std::uintptr_t vtable = 0;
    std::uintptr_t function = 0;
  };
  // Each thread keeps the last method that passed, because a program mostly calls one method of one class many times.
  static thread_local Checked last;  // the same method of the same class, mostly
  std::uintptr_t vtable = 0;
  std::memcpy(&vtable, subobject, sizeof vtable);
  if (last.vtable == vtable && last.function == method.function) return;
  const std::uintptr_t slot = vtable + method.function - 1;
  if (module_to_read(slot, sizeof slot) == nullptr) fail("damaged request: an offset outside of a vtable");
  std::uintptr_t function = 0;
  std::memcpy(&function, reinterpret_cast<const void*>(slot), sizeof function);
  if (module_of_code(function) == nullptr) fail("damaged request: an offset outside of a vtable");
  last = {vtable, method.function};
}

}  // namespace margay::rmi
