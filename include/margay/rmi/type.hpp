// define_type(): the method by which a class of the program travels as an argument or a result (paper, 5.2).
//
// "The infrastructure requires each class that may be transferred as an argument to implement a single method,
// define_type. This method defines the class's data members ...: each data member is defined as either local
// (automatically allocated on the stack) or dynamic (explicitly allocated on the heap)." The same method computes the
// size, packs, unpacks and describes:
//
//   class Track {
//    public:
//     Track() = default;                          // to be unpacked into
//     void define_type(margay::rmi::typer& type) {
//       type.local(name_, points_);               // a string and a count, by value
//       type.dynamic(heights_, points_);          // points_ doubles at heights_, which this class owns
//     }
//     ...
//   };
//
// The rules for define_type():
// - It runs on a const object to pack and on a default-constructed one to unpack, so it lists the same members each
//   time. A member that decides about others, such as a count or a kind, is given to local() before them.
// - A class calls the define_type() of its base classes first. One that only inherits it is a compile-time error.
// - The class is copied or moved on its way, so one with dynamic members has the constructors and the assignment that
//   own pointers need. Its destructor accepts a null pointer with any count: see dynamic().
// - It is called by several threads at once if several nodes are threads of one process, each on an object of its own.
//
// Many classes need none: numbers, trivially copyable classes without pointers, and the standard library's strings,
// containers, pairs, optionals (value.hpp, containers.hpp).
//
// The packed bytes of an object: a byte that depends on the class's name; then its members in the order of
// define_type(), a dynamic one as a count of 4 bytes and its elements. A damaged or foreign object throws `error`, and
// leaks nothing if the destructor keeps the rule above. Objects contain each other at most 1000 deep (kNestingMax),
// because each takes room on the stack.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "margay/rmi/bytes.hpp"
#include "margay/rmi/containers.hpp"
#include "margay/rmi/error.hpp"
#include "margay/rmi/travel.hpp"
#include "margay/rmi/value.hpp"

namespace margay::rmi {

// The argument of define_type(): one pass over the members of an object, to pack them, to unpack them or to describe
// them. A size is the pass of a packer without room. RMI makes it; it lives for one object's pass, and a class must not
// keep it.
class typer {
 public:
  // The action of this pass. A define_type() seldom needs it.
  enum class Pass : std::uint8_t { pack, unpack, describe };

  // A pass that appends to `packer`, reads from `unpacker`, or appends to `description`; each outlives the typer.
  // Throws nothing.
  explicit typer(Packer& packer) : pass_(Pass::pack), packer_(&packer) {}
  explicit typer(Unpacker& unpacker) : pass_(Pass::unpack), unpacker_(&unpacker) {}
  explicit typer(std::string& description) : pass_(Pass::describe), description_(&description) {}

  [[nodiscard]] Pass pass() const { return pass_; }

  // Members that are part of the object: values of any type that can travel, and C arrays of them, packed in the order
  // of the call. When unpacking, each is assigned. Throws `error` for a value that cannot be packed and for damaged
  // bytes. A pointer or a const member is a compile-time error, and so is a type that cannot travel; the error has the
  // cure.
  template <class... T>
  void local(T&... member) {
    (one(member), ...);
  }

  // A member that owns `count` elements at `pointer`, allocated by new[]. `count` is a member that local() was given
  // before, or a constant. When unpacking, `pointer` is overwritten, not freed, with a new array, null for 0 elements:
  // the default constructor leaves it null. If the bytes are damaged it throws `error` and the object is destroyed with
  // each later pointer as the default constructor left it, whatever its count says.
  template <class T, std::integral Count>
  void dynamic(T*& pointer, Count count) {
    using Element = std::remove_const_t<T>;
    check_reason<Element, refusal_of_elements<Element>()>();
    if constexpr (refusal_of_elements<Element>() == Refusal::none) {
      switch (pass_) {
        case Pass::pack:
          return pack_dynamic<Element>(pointer, as_size(count));
        case Pass::unpack:
          pointer = unpack_dynamic<Element>(pointer, static_cast<std::size_t>(count));
          return;
        case Pass::describe:
          Value<Element>::describe(*description_);
          *description_ += "*,";
          return;
      }
    }
  }

 private:
  // Reports, at compile time, a member that cannot travel; the compiler's note leads to the define_type(). True if it
  // can.
  template <class T>
  static constexpr bool check_member() {
    static_assert(!std::is_pointer_v<T>, "margay::rmi: define_type: a pointer is dynamic(pointer, count), not local");
    static_assert(!std::is_const_v<T>, "margay::rmi: define_type: a const member cannot be unpacked");
    if constexpr (std::is_pointer_v<T> || std::is_const_v<T>) {
      return false;
    } else {
      check_reason<T, Value<T>::kRefusal>();
      return Value<T>::kRefusal == Refusal::none;
    }
  }

  // One member of local(). An array travels as its elements, without a count.
  template <class T>
  void one(T& member) {
    if constexpr (std::is_array_v<T>) {
      for (auto& element : member) one(element);
    } else if constexpr (check_member<T>()) {
      switch (pass_) {
        case Pass::pack:
          return rmi::pack(*packer_, member);
        case Pass::unpack:
          member = rmi::unpack<T>(*unpacker_);
          return;
        case Pass::describe:
          Value<T>::describe(*description_);
          *description_ += ',';
          return;
      }
    }
  }

  // A count as the program has it, which may be signed. A negative one is a mistake of the program, so it throws before
  // its elements are packed. When unpacking, the comparison with the packed count detects it.
  template <std::integral Count>
  static std::size_t as_size(Count count) {
    if (std::cmp_less(count, 0)) fail("define_type: a dynamic member has a negative count");
    return static_cast<std::size_t>(count);
  }

  // The count travels too, although a member has it: what is read must not depend on a member that may be damaged.
  template <class Element>
  void pack_dynamic(const Element* pointer, std::size_t count) {
    if (pointer == nullptr && count != 0) fail("define_type: a dynamic member is null, but its count is not 0");
    packer_->put_count(count);
    pack_elements(*packer_, pointer, count);
  }

  // Elements are unpacked into the array only after `pointer` has it: if one is damaged, the object's destructor frees
  // it.
  template <class Element, class T>
  Element* unpack_dynamic(T*& pointer, std::size_t expected) {
    static_assert(std::is_default_constructible_v<Element>,
                  "margay::rmi: define_type: the elements of a dynamic member need a default constructor");
    const std::size_t count = unpacker_->take_count(Value<Element>::kMinimum);
    if (count != expected) fail("damaged request: a dynamic member has another count than its object");
    if (count == 0) return nullptr;
    if constexpr (Raw<Element>) {
      const std::byte* at = take_elements<Element>(*unpacker_, count);
      auto* elements = new Element[count];
      std::memcpy(static_cast<void*>(elements), at, count * sizeof(Element));
      return elements;
    } else {
      auto* elements = new Element[count]();
      pointer = elements;
      for (std::size_t i = 0; i < count; ++i) elements[i] = rmi::unpack<Element>(*unpacker_);
      return elements;
    }
  }

  Pass pass_;
  union {
    Packer* packer_;
    Unpacker* unpacker_;
    std::string* description_;
  };
};

// --- A class with define_type() as a value. ---

// A byte that depends on T's name. It stands before each object with define_type(), so that bytes of another class are
// damage with a probability of 255 in 256, and an object without members still takes a byte.
template <class T>
constexpr std::uint8_t class_mark() {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char* at = __PRETTY_FUNCTION__; *at != '\0'; ++at)
    hash = (hash ^ static_cast<std::uint8_t>(*at)) * 16777619U;
  return static_cast<std::uint8_t>(hash ^ (hash >> 8) ^ (hash >> 16) ^ (hash >> 24));
}

// A class with define_type(): a mark, then its members. Moved or copied out of unpack(), so it needs one of both.
template <HasDefineType T>
struct Value<T> {
  static constexpr Refusal kRefusal = inherits_define_type<T>()             ? Refusal::inherited_define_type
                                      : !std::is_default_constructible_v<T> ? Refusal::no_default_constructor
                                                                            : Refusal::none;
  // The size is the object's: define_type() may pack other members for other objects.
  static constexpr std::size_t kFixed = 0;
  static constexpr std::size_t kMinimum = 1;

  // define_type() is not const because it also unpacks; here it only reads.
  static void pack(Packer& packer, const T& object) {
    constexpr std::uint8_t kMark = class_mark<T>();
    packer.put(&kMark, sizeof kMark);
    packer.enter();
    typer type(packer);
    const_cast<T&>(object).define_type(type);
    packer.leave();
  }
  // If the bytes are damaged, the object is destroyed half unpacked; dynamic() says in which state.
  static T unpack(Unpacker& unpacker) {
    if (std::to_integer<std::uint8_t>(*unpacker.take(1)) != class_mark<T>())
      fail("damaged request: bytes of another class than the argument's");
    unpacker.enter();
    T object{};
    typer type(unpacker);
    object.define_type(type);
    unpacker.leave();
    return object;
  }
  // Of a default-constructed object. A recursive class ends in dots, because it would never end.
  static void describe(std::string& text) {
    constexpr std::size_t kLong = 200;
    if (text.size() > kLong) {
      text += "...";
      return;
    }
    T object{};
    text += "class(";
    typer type(text);
    object.define_type(type);
    if (text.back() == ',') text.pop_back();
    text += ')';
  }
};

// The packed size of `value` in bytes, as an argument that begins at a multiple of kPackedAlignment. Costs a pass over
// it.
template <class T>
[[nodiscard]] std::size_t packed_size(const T& value) {
  Packer packer({});
  pack(packer, value);
  return packer.size();
}

// The type T in short, such as "class(s,u4,f8*)": letters for a number's kind with its bytes (i signed, u unsigned, f
// floating, b bool, e enum, r other raw bytes), s a string, [x] a sequence, {x} a set, {x:y} a map, (x,y) a pair or
// tuple, x*3 an array, ?x an optional or unique_ptr, <x|y> a variant, x* a dynamic member. For traces and messages.
template <class T>
[[nodiscard]] std::string describe() {
  std::string text;
  Value<T>::describe(text);
  return text;
}

void Failure::define_type(typer& type) {
  type.local(method, what);
}

}  // namespace margay::rmi
