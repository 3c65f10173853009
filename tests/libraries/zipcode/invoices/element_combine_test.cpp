// Unit tests of the combining of invoices: as a collective does it, on packed copies.
#include <doctest/doctest.h>

#include <cstdarg>
#include <cstring>
#include <string>
#include <vector>

#include "libraries/zipcode/invoices/element_combine.hpp"
#include "libraries/zipcode/methods.hpp"

namespace {

using namespace margay::zipcode::core;

struct Values {
  int i = 0;
  double d[5] = {};
  short s[2] = {};
  char c = 0;
};

void combine_invoice(Zip_Invoice& invoice, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  REQUIRE(invoice.append(format, &arguments) == "");
  va_end(arguments);
}

void invoice_of(Zip_Invoice& invoice, Values& values) {
  combine_invoice(invoice, "%i%3.2d%-l%2s%c", &values.i, values.d, nullptr, values.s, &values.c);
}

// Combines the invoices of two members, and unpacks the result at the first.
std::string combine_two(Zip_Invoice& one, Zip_Invoice& other, Conversion conversion, Method* method) {
  ElementCombine combines[2];
  std::vector<std::byte> packed[2];
  for (int k = 0; k < 2; ++k) {
    if (std::string error = combines[k].prepare(k == 0 ? one : other, conversion, method); !error.empty()) return error;
    packed[k].resize(combines[k].bytes());
    if (std::string error = combines[k].pack(packed[k]); !error.empty()) return error;
  }
  const Method whole = combines[0].method();
  REQUIRE(combine_error(&whole, packed[0].size()) == "");
  combine(whole, packed[0].data(), packed[1].data(), static_cast<int>(packed[0].size()), 1);
  if (!combines[0].error().empty()) return combines[0].error();
  return combines[0].unpack(packed[0]);
}

struct Counter {
  double sum;
};
ZIP_COMBINE_METHOD(add_counters, Counter, a, b, (Counter{a.sum + b.sum}));
ZIP_COMBINE_METHOD(take_smaller_short, short, a, b, (b < a ? b : a));

long counter_in(void* item, void* space, void*, void*) {
  std::memcpy(item, space, sizeof(Counter));
  return sizeof(Counter);
}
long counter_out(void* item, void* space, void*, void*) {
  std::memcpy(space, item, sizeof(Counter));
  return sizeof(Counter);
}
long counter_len(void*, void*, void*, void*) {
  return sizeof(Counter);
}
long counter_align(void*, void* space, void*, void*) {
  return -static_cast<long>(reinterpret_cast<std::uintptr_t>(space)) & 7;
}

}  // namespace

TEST_CASE("zipcode element combine: each element by its type, in both representations") {
  for (const Conversion conversion : {Conversion::native, Conversion::xdr}) {
    Values a{2, {1, 100, 2, 100, 3}, {5, -6}, 7}, b{40, {10, 0, 20, 0, 30}, {-1, 2}, 8};
    Zip_Invoice one, other;
    invoice_of(one, a);
    invoice_of(other, b);
    CHECK(combine_two(one, other, conversion, ZIP_ADD) == "");
    CHECK(a.i == 42);
    CHECK(a.d[0] == 11);
    CHECK(a.d[1] == 100);  // between two elements
    CHECK(a.d[2] == 22);
    CHECK(a.d[4] == 33);
    CHECK(a.s[0] == 4);
    CHECK(a.s[1] == -4);
    CHECK(a.c == 15);
    CHECK(b.i == 40);
  }
}

TEST_CASE("zipcode element combine: a count that is combined too does not change the item behind it") {
  int n = 2, m = 2;
  double a[4] = {1, 2, 77, 77}, b[2] = {10, 20};
  Zip_Invoice one, other;
  combine_invoice(one, "%i%&d", &n, &n, a);
  combine_invoice(other, "%i%&d", &m, &m, b);
  CHECK(combine_two(one, other, Conversion::native, ZIP_ADD) == "");
  CHECK(n == 4);
  CHECK(a[0] == 11);
  CHECK(a[1] == 22);
  CHECK(a[2] == 77);
}

TEST_CASE("zipcode element combine: methods for one type need elements of its size") {
  short a[3] = {1, 5, 3}, b[3] = {2, 4, -3};
  Zip_Invoice one, other, mixed;
  combine_invoice(one, "%3s", a);
  combine_invoice(other, "%3s", b);
  CHECK(combine_two(one, other, Conversion::xdr, take_smaller_short) == "");
  CHECK(a[0] == 1);
  CHECK(a[1] == 4);
  CHECK(a[2] == -3);
  double d = 0;
  combine_invoice(mixed, "%s%d", a, &d);
  ElementCombine combine;
  CHECK(combine.prepare(mixed, Conversion::native, take_smaller_short) ==
        "%d: the combine method is for items of 2 bytes, but the items have 8");
}

TEST_CASE("zipcode element combine: elements that a method cannot combine are errors before anything is sent") {
  double d[3] = {};
  Zip_Invoice invoice;
  combine_invoice(invoice, "%3d", d);
  ElementCombine combine;
  CHECK(combine.prepare(invoice, Conversion::native, nullptr) == "the combine method is NULL");
  CHECK(combine.prepare(invoice, Conversion::native, ZIP_BAND).find("%d: a bitwise method") == 0);
  CHECK(combine.prepare(invoice, Conversion::native, ZIP_MINLOC).find("%d: ZIP_MAXLOC and ZIP_MINLOC need pairs") == 0);
  const Method convert = {ZIP_METHOD_CONVERSION, 0, reinterpret_cast<Zip_function*>(&counter_in), nullptr, 0};
  CHECK(combine.prepare(invoice, Conversion::native, &convert) ==
        "the combine method is a conversion method instead of a combine method");
  int n = -1;
  Zip_Invoice deferred;
  combine_invoice(deferred, "%&d", &n, d);
  CHECK(combine.prepare(deferred, Conversion::native, ZIP_ADD) ==
        "item 1 (%d): the count is -1; it must not be negative");
}

TEST_CASE("zipcode element combine: user types in their packed form") {
  const auto method = [](Zip_conversion_function* function) {
    return Method{ZIP_METHOD_CONVERSION, 0, reinterpret_cast<Zip_function*>(function), nullptr, 0};
  };
  const Method in = method(counter_in), out = method(counter_out), len = method(counter_len),
               align = method(counter_align);
  REQUIRE(user_types().add({"counter", &in, &out, &len, &align, sizeof(Counter)}) == "");
  Counter a[2] = {{1}, {2}}, b[2] = {{30}, {40}};
  Zip_Invoice one, other;
  combine_invoice(one, "%-c%2counter", nullptr, a);
  combine_invoice(other, "%-c%2counter", nullptr, b);
  CHECK(combine_two(one, other, Conversion::native, add_counters) == "");
  CHECK(a[0].sum == 31);
  CHECK(a[1].sum == 42);
  CHECK(combine_two(one, other, Conversion::native, ZIP_ADD) ==
        "%counter: a typed method cannot combine the user type 'counter'; use a method of a Zip_combine_function");
  CHECK(user_types().remove("counter") == "");
}

TEST_CASE("zipcode element combine: a damaged value is reported") {
  short a = 1, b = 2;
  Zip_Invoice one, other;
  combine_invoice(one, "%s", &a);
  combine_invoice(other, "%s", &b);
  ElementCombine combine;
  REQUIRE(combine.prepare(one, Conversion::xdr, ZIP_ADD) == "");
  std::vector<std::byte> good(4), bad(4, std::byte{0x7f});
  REQUIRE(combine.pack(good) == "");
  const Method whole = combine.method();
  margay::zipcode::core::combine(whole, good.data(), bad.data(), 4, 1);
  CHECK(combine.error() == "%s: element 0 has the value 2139062143, which no short can hold");
}
