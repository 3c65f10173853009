// Tests of modules and of pointers to member functions on the wire: each kind of pointer is decoded as it was encoded;
// words that name no function are refused.
#include "margay/rmi/method_word.hpp"

#include <doctest/doctest.h>

#include <locale>
#include <string>

namespace margay::rmi::test {
namespace {

struct First {
  long first = 1;
  [[nodiscard]] long get_first() const { return first; }
};
struct Second {
  virtual ~Second() = default;
  virtual long virtual_second() { return second; }
  [[nodiscard]] long get_second() const { return second; }
  long second = 2;
};
struct Both : First, Second {
  long virtual_second() override { return second + 10; }
};
struct Far {
  char gap[100000];
};
struct FarBoth : Far, First {};

const Module& own_module() {
  static const int here = 0;
  static_cast<void>(here);
  const Module* module = module_of_code(raw_method(&First::get_first).function);
  REQUIRE(module != nullptr);
  return *module;
}

template <class Method>
Method there_and_back(Method method, MethodClass of) {
  const EncodedMethod encoded = encode_method(raw_method(method), own_module());
  return method_of<Method>(decode_method(encoded.word, encoded.module, own_module(), of));
}

constexpr MethodClass kBoth{sizeof(Both), true};

std::uint64_t word_of(std::uint64_t offset, std::uint64_t adjustment, std::uint64_t tag) {
  return detail::method_word(offset, adjustment, tag);
}

TEST_CASE("rmi modules: the program is first, and has a build id and code") {
  const Module& program = *modules().front();
  CHECK(program.path.find("test") != std::string::npos);
  CHECK(program.has_code(program.code.begin));
  CHECK_FALSE(program.has_code(program.code.end));
  CHECK(program.tag < kModuleTags);
  CHECK(&own_module() == &program);
  CHECK(module_of_id(program.id) == &program);
  CHECK(module_of_code(0) == nullptr);
  CHECK(module_of_id(program.id + 1) == nullptr);
  CHECK(module_to_read(program.code.begin, 8) == &program);
  CHECK(module_to_read(8, 8) == nullptr);
}

TEST_CASE("rmi modules: a build id is found among notes, and damaged notes yield none") {
  struct {
    ElfW(Nhdr) other{4, 3, 1};
    char other_name[4] = "GNU";
    char other_text[4] = "xyz";
    ElfW(Nhdr) head{4, 3, NT_GNU_BUILD_ID};
    char name[4] = "GNU";
    unsigned char id[4] = {0x01, 0xab, 0xff, 0};
  } notes;
  const char* bytes = reinterpret_cast<const char*>(&notes);
  CHECK(detail::build_id_in(bytes, sizeof notes) == "01abff");
  CHECK(detail::build_id_in(bytes, sizeof notes - 1).empty());
  notes.other.n_descsz = ~0U;
  CHECK(detail::build_id_in(bytes, sizeof notes).empty());
}

TEST_CASE("rmi method word: functions of the own module take one word, with the base class's adjustment") {
  Both both;
  CHECK((both.*there_and_back<long (Both::*)() const>(&Both::get_first, kBoth))() == 1);
  CHECK((both.*there_and_back<long (Both::*)() const>(&Both::get_second, kBoth))() == 2);
  const EncodedMethod encoded =
      encode_method(raw_method(static_cast<long (Both::*)() const>(&Both::get_first)), own_module());
  CHECK_FALSE(encoded.elsewhere);
  CHECK((encoded.word >> 48) == own_module().tag);
  CHECK(static_cast<std::uint16_t>(encoded.word >> 32) == sizeof(Second));  // polymorphic bases are first
}

TEST_CASE("rmi method word: a virtual function is called by the object's class") {
  Both both;
  const auto method = there_and_back<long (Both::*)()>(&Second::virtual_second, kBoth);
  CHECK((both.*method)() == 12);
  check_virtual(raw_method(method), static_cast<const Second*>(&both));
}

TEST_CASE("rmi method word: a function of another library travels with that library's id") {
  using Name = std::string (std::locale::*)() const;
  const EncodedMethod encoded = encode_method(raw_method(Name(&std::locale::name)), own_module());
  CHECK(encoded.elsewhere);
  CHECK((encoded.word >> 48) == kElsewhereTag);
  const Name name = there_and_back<Name>(&std::locale::name, {sizeof(std::locale), false});
  CHECK((std::locale::classic().*name)() == "C");
  CHECK_THROWS_AS(static_cast<void>(decode_method(encoded.word, encoded.module + 1, own_module(), kBoth)), error);
}

TEST_CASE("rmi method word: pointers that cannot travel are refused at the caller") {
  long (First::*none)() const = nullptr;
  CHECK_THROWS_WITH_AS(static_cast<void>(encode_method(raw_method(none), own_module())),
                       "margay::rmi: the method is a null pointer to member", error);
  const auto far = static_cast<long (FarBoth::*)() const>(&First::get_first);
  CHECK_THROWS_WITH_AS(static_cast<void>(encode_method(raw_method(far), own_module())),
                       "margay::rmi: the method's base class lies 100000 bytes inside the object, at most 65535 can "
                       "travel; pass a lambda that calls it",
                       error);
  CHECK_THROWS_WITH_AS(static_cast<void>(encode_method(RawMethod{8, 0}, own_module())),
                       "margay::rmi: the method lies in no loaded module; code made at run time cannot travel", error);
}

void check_refused(std::uint64_t word, MethodClass of, const char* sentence) {
  std::string found;
  try {
    static_cast<void>(decode_method(word, 0, own_module(), of));
  } catch (const error& refused) {
    found = refused.what();
  }
  CHECK(found.find(sentence) != std::string::npos);
}

TEST_CASE("rmi method word: words that name no function of the class are refused") {
  const Module& own = own_module();
  const std::uint64_t inside = (own.code.begin - own.base + 15) & ~std::uint64_t{15};
  check_refused(word_of(0, 0, own.tag), kBoth, "not in the code of");
  check_refused(word_of(inside + 1, 0, own.tag), kBoth, "not in the code of");
  check_refused(word_of(own.code.end - own.base, 0, own.tag), kBoth, "not in the code of");
  check_refused(word_of(inside, sizeof(Both), own.tag), kBoth, "outside of the object");
  check_refused(word_of(inside, 0, own.tag ^ 1U), kBoth, "not in the module of its functor");
  check_refused(word_of(inside, 0, kElsewhereTag), kBoth, "no module has the method's build id");
  check_refused(word_of(8, 0, kVirtualTag), {sizeof(First), false}, "a class without virtual functions");
  check_refused(word_of(0, sizeof(Both) - sizeof(void*) + 1, kVirtualTag), kBoth, "outside of the object");
  check_refused(word_of(4, 0, kVirtualTag), kBoth, "outside of a vtable");
  check_refused(word_of(kVtableBytesMax, 0, kVirtualTag), kBoth, "outside of a vtable");
}

TEST_CASE("rmi method word: a slot that leads to no code is refused") {
  // In place of an object: a pointer to a vtable with null slots, and one to an address outside of all modules.
  static const std::uintptr_t vtable[2] = {0, 0};
  const std::uintptr_t* object = vtable;
  CHECK_THROWS_AS(check_virtual({1, 0}, &object), error);
  CHECK_THROWS_AS(check_virtual({9, 0}, &object), error);
  const std::uintptr_t nowhere = 4096;
  CHECK_THROWS_AS(check_virtual({1, 0}, &nowhere), error);
}

}  // namespace
}  // namespace margay::rmi::test
