// Unit tests of packing and unpacking: places and bytes of items, deferred sizes, user types, damaged bodies.
#include <doctest/doctest.h>

#include <cstdarg>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "libraries/zipcode/invoices/packing.hpp"
#include "libraries/zipcode/methods.hpp"

namespace {

using namespace margay::zipcode::core;
using Bytes = std::vector<std::byte>;

// An invoice of a format with its arguments; the error if it is invalid.
std::string make_invoice(Zip_Invoice& invoice, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::string error = invoice.append(format, &arguments);
  va_end(arguments);
  return error;
}

Bytes packed_now(const Zip_Invoice& invoice, Conversion conversion = Conversion::native) {
  std::uint64_t size = 0;
  REQUIRE(packed_size(invoice, conversion, size) == "");
  Bytes space(size, std::byte{0xee});
  std::uint64_t bytes = 0;
  REQUIRE(pack(invoice, conversion, space, true, bytes) == "");
  CHECK(bytes == size);
  return space;
}

template <typename T>
T value_at(const Bytes& space, std::size_t at) {
  T value{};
  REQUIRE(at + sizeof value <= space.size());
  std::memcpy(&value, space.data() + at, sizeof value);
  return value;
}

std::string hex(const Bytes& bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    const char* const digits = "0123456789abcdef";
    text += digits[std::to_integer<int>(b) >> 4];
    text += digits[std::to_integer<int>(b) & 15];
  }
  return text;
}

// A user type of variable length: a counted list of ints.
struct List {
  int count = 0;
  int values[8] = {};
};
int* extra_seen = nullptr;

long list_in(void* item, void* space, void* extra, void* state) {
  List& list = *static_cast<List*>(item);
  extra_seen = static_cast<int*>(extra);
  ++*static_cast<int*>(state);
  int count = 0;
  if (zip_method_space() < 4) return -1;
  std::memcpy(&count, space, 4);
  if (count < 0 || count > 8 || zip_method_space() < 4 + 4 * count) return -2;
  list.count = count;
  std::memcpy(list.values, static_cast<char*>(space) + 4, 4 * static_cast<std::size_t>(count));
  return 4 + 4 * count;
}
long list_len(void* item, void* space, void*, void*) {
  int count = 0;
  if (space != nullptr) {
    if (zip_method_space() < 4) return -1;
    std::memcpy(&count, space, 4);
  } else {
    count = static_cast<List*>(item)->count;
  }
  return 4 + 4 * count;
}
long list_out(void* item, void* space, void*, void*) {
  const List& list = *static_cast<List*>(item);
  CHECK(zip_method_space() == 4 + 4 * list.count);
  std::memcpy(space, &list.count, 4);
  std::memcpy(static_cast<char*>(space) + 4, list.values, 4 * static_cast<std::size_t>(list.count));
  return 4 + 4 * list.count;
}
long align_4(void*, void* space, void*, void*) {
  return -static_cast<long>(reinterpret_cast<std::uintptr_t>(space)) & 3;
}
// Returns what its state holds.
long as_state(void*, void*, void*, void* state) {
  return *static_cast<long*>(state);
}

struct MadeMethod {
  MadeMethod(Zip_conversion_function* function, void* state)
      : method(make_method(ZIP_METHOD_CONVERSION, 0, reinterpret_cast<Zip_function*>(function), state)) {}
  ~MadeMethod() { CHECK(free_method(method) == ""); }
  Method* const method;
};

// The type "list", registered for one test.
struct ListType {
  ListType() {
    REQUIRE(user_types().add({"list", in.method, out.method, len.method, align.method, sizeof(List)}) == "");
  }
  ~ListType() {
    if (is_registered) CHECK(user_types().remove("list") == "");
  }
  bool is_registered = true;
  int unpacked = 0;
  MadeMethod in{list_in, &unpacked}, out{list_out, nullptr}, len{list_len, nullptr}, align{align_4, nullptr};
};

}  // namespace

TEST_CASE("zipcode packing: the paper's examples 1 and 2") {
  int i = 20;
  double array[20];
  for (int k = 0; k < 20; ++k) array[k] = k;
  Zip_Invoice one;
  REQUIRE(make_invoice(one, "%i%10.2d", &i, array) == "");
  const Bytes first = packed_now(one);
  CHECK(first.size() == 8 + 10 * 8);
  CHECK(value_at<int>(first, 0) == 20);
  CHECK(value_at<int>(first, 4) == 0);  // alignment
  for (std::size_t k = 0; k < 10; ++k) CHECK(value_at<double>(first, 8 + 8 * k) == 2.0 * static_cast<double>(k));

  int len = 10, stride = 2;
  Zip_Invoice two;
  REQUIRE(make_invoice(two, "%i%&.&d", &i, &len, &stride, array) == "");
  CHECK(packed_now(two) == first);
  len = 5;
  stride = 1;
  const Bytes second = packed_now(two);
  CHECK(second.size() == 8 + 5 * 8);
  for (std::size_t k = 0; k < 5; ++k) CHECK(value_at<double>(second, 8 + 8 * k) == static_cast<double>(k));
}

TEST_CASE("zipcode packing: natural alignment of each type, and nothing after the last item") {
  char c = 1;
  short s = 2;
  int i = 3;
  long l = 4;
  float f = 5;
  double d = 6;
  Zip_Invoice invoice;
  REQUIRE(make_invoice(invoice, "%c%s%c%i%c%l%c%f%c%d%3c", &c, &s, &c, &i, &c, &l, &c, &f, &c, &d, "xyz") == "");
  const Bytes space = packed_now(invoice);
  CHECK(value_at<char>(space, 0) == 1);
  CHECK(value_at<short>(space, 2) == 2);
  CHECK(value_at<int>(space, 8) == 3);
  CHECK(value_at<long>(space, 16) == 4);
  CHECK(value_at<float>(space, 28) == 5);
  CHECK(value_at<double>(space, 40) == 6);
  CHECK(value_at<char>(space, 50) == 'z');
  CHECK(space.size() == 51);
  // The first bytes, with alignment as zeros.
  CHECK(hex({space.begin(), space.begin() + 16}) == "01000200010000000300000001000000");
}

TEST_CASE("zipcode packing: in XDR, units of four bytes, big-endian") {
  const char text[5] = {'a', 'b', 'c', 'd', 'e'};
  short s[2] = {-2, 258};
  int i = -3;
  long l = -4;
  float f = 1;
  double d = -2;
  Zip_Invoice invoice;
  REQUIRE(make_invoice(invoice, "%5c%2s%i%l%f%d", text, s, &i, &l, &f, &d) == "");
  const Bytes space = packed_now(invoice, Conversion::xdr);
  CHECK(hex(space) ==
        "6162636465000000"
        "fffffffe00000102"
        "fffffffd"
        "fffffffffffffffc"
        "3f800000"
        "c000000000000000");
  char text_2[5] = {};
  short s_2[2] = {};
  int i_2 = 0;
  long l_2 = 0;
  float f_2 = 0;
  double d_2 = 0;
  Zip_Invoice other;
  REQUIRE(make_invoice(other, "%5c%2s%i%l%f%d", text_2, s_2, &i_2, &l_2, &f_2, &d_2) == "");
  std::uint64_t bytes = 0;
  CHECK(unpack(other, Conversion::xdr, space, bytes) == "");
  CHECK(bytes == space.size());
  CHECK(std::memcmp(text, text_2, 5) == 0);
  CHECK(s_2[0] == -2);
  CHECK(s_2[1] == 258);
  CHECK(i_2 == -3);
  CHECK(l_2 == -4);
  CHECK(f_2 == 1);
  CHECK(d_2 == -2);
  // A value that a short cannot hold.
  Bytes damaged = space;
  damaged[8] = std::byte{0};
  CHECK(unpack(other, Conversion::xdr, damaged, bytes) ==
        "item 2 (%s): element 0 has the value 16777214, which no short can hold");
}

TEST_CASE("zipcode packing: a deferred count may be an item before it") {
  int n = 3;
  double array[6] = {1, 2, 3, 4, 5, 6};
  Zip_Invoice sent;
  REQUIRE(make_invoice(sent, "%i%&d", &n, &n, array) == "");
  const Bytes three = packed_now(sent);
  n = 5;
  const Bytes five = packed_now(sent);
  CHECK(three.size() == 8 + 3 * 8);
  CHECK(five.size() == 8 + 5 * 8);

  int m = 0;
  double target[6] = {};
  Zip_Invoice received;
  REQUIRE(received.append(Zip_Item{"i", &m, 0, 0, nullptr, nullptr, 0, 0, nullptr}) == "");
  REQUIRE(received.append(Zip_Item{"d", target, 0, 0, &m, nullptr, 6, 0, nullptr}) == "");
  std::uint64_t bytes = 0;
  CHECK(unpack(received, Conversion::native, three, bytes) == "");
  CHECK(m == 3);
  CHECK(target[2] == 3);
  CHECK(target[3] == 0);
  CHECK(unpack(received, Conversion::native, five, bytes) == "");
  CHECK(m == 5);
  CHECK(target[4] == 5);
  // A count beyond the array, a negative one, and one beyond the letter: the item before is unpacked, and no more.
  Bytes damaged = five;
  const std::pair<int, const char*> counts[] = {
      {7, "item 2 (%d): the count is 7, but at most 6 is allowed"},
      {-1, "item 2 (%d): the count is -1; it must not be negative"},
      {6, "item 2 (%d): it needs 48 bytes, but the letter or buffer has only 40 left"}};
  for (const auto& [count, error] : counts) {
    std::memcpy(damaged.data(), &count, sizeof count);
    target[5] = 99;
    CHECK(unpack(received, Conversion::native, damaged, bytes) == error);
    CHECK(m == count);
    CHECK(target[5] == 99);
  }
}

TEST_CASE("zipcode packing: reserved space is neither packed nor unpacked") {
  int i = 1, j = 2;
  double d = 3;
  Zip_Invoice whole, first, last;
  REQUIRE(make_invoice(whole, "%i%d%i", &i, &d, &j) == "");
  REQUIRE(make_invoice(first, "%i%-d%-i", &i, nullptr, nullptr) == "");
  REQUIRE(make_invoice(last, "%-i%d%i", nullptr, &d, &j) == "");
  const Bytes all = packed_now(whole);
  // Two invoices fill one letter.
  Bytes space = packed_now(first);
  CHECK(space.size() == all.size());
  CHECK(value_at<double>(space, 8) == 0);  // reserved, in new space
  std::uint64_t bytes = 0;
  CHECK(pack(last, Conversion::native, space, false, bytes) == "");
  CHECK(space == all);
  // And read it in two steps.
  i = j = 0;
  d = 0;
  CHECK(unpack(first, Conversion::native, all, bytes) == "");
  CHECK(bytes == all.size());
  CHECK(i == 1);
  CHECK(d == 0);
  CHECK(j == 0);
  i = 0;
  CHECK(unpack(last, Conversion::native, all, bytes) == "");
  CHECK(i == 0);
  CHECK(d == 3);
  CHECK(j == 2);
}

TEST_CASE("zipcode packing: a space that is too small stays unchanged, and a short body is never overrun") {
  for (const Conversion conversion : {Conversion::native, Conversion::xdr}) {
    char c = 7;
    double d[2] = {1, 2};
    Zip_Invoice invoice;
    REQUIRE(make_invoice(invoice, "%c%2d", &c, d) == "");
    const Bytes all = packed_now(invoice, conversion);
    for (std::size_t size = 0; size < all.size(); ++size) {
      Bytes space(size, std::byte{0xee});
      std::uint64_t bytes = 0;
      CHECK(pack(invoice, conversion, space, true, bytes) ==
            "the invoice needs " + std::to_string(all.size()) + " bytes, but the space has " + std::to_string(size));
      CHECK(space == Bytes(size, std::byte{0xee}));
      // The copy has exactly this length, so that a sanitizer sees a read behind it.
      const Bytes cut(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK(unpack(invoice, conversion, cut, bytes) != "");
    }
  }
}

TEST_CASE("zipcode packing: an item without elements occupies nothing") {
  int n = 0;
  char c = 5;
  double d[2] = {};
  Zip_Invoice invoice;
  REQUIRE(make_invoice(invoice, "%c%&d%*i%c", &c, &n, d, 0, nullptr, &c) == "");
  CHECK(hex(packed_now(invoice)) == "0505");
  n = 1;
  CHECK(packed_now(invoice).size() == 17);
}

TEST_CASE("zipcode packing: a user type with an extra pointer, in arrays, and skipped") {
  ListType type;
  List lists[3] = {{2, {1, 2}}, {9, {}}, {1, {7}}};
  int extra = 0;
  char c = 1;
  Zip_Invoice invoice;
  REQUIRE(make_invoice(invoice, "%c%2.2list(*)%c", &c, lists, &extra, &c) == "");
  const Bytes space = packed_now(invoice);
  CHECK(hex(space) ==
        "01000000"
        "02000000"
        "01000000"
        "02000000"
        "01000000"
        "07000000"
        "01");
  CHECK(type.unpacked == 0);

  List targets[3];
  char last = 0;
  Zip_Invoice received;
  REQUIRE(make_invoice(received, "%c%2.2list(*)%c", &c, targets, &extra, &last) == "");
  std::uint64_t bytes = 0;
  CHECK(unpack(received, Conversion::native, space, bytes) == "");
  CHECK(bytes == space.size());
  CHECK(type.unpacked == 2);
  CHECK(extra_seen == &extra);
  CHECK(targets[0].count == 2);
  CHECK(targets[0].values[1] == 2);
  CHECK(targets[1].count == 0);
  CHECK(targets[2].values[0] == 7);
  CHECK(last == 1);
  // Skipped: the lengths are read from the packed items.
  last = 0;
  Zip_Invoice skipping;
  REQUIRE(make_invoice(skipping, "%c%2-list%c", &c, nullptr, &last) == "");
  CHECK(unpack(skipping, Conversion::native, space, bytes) == "");
  CHECK(bytes == space.size());
  CHECK(last == 1);
  CHECK(type.unpacked == 2);
  // Cut anywhere, it is an error or, behind the last list, a missing char.
  for (std::size_t size = 0; size < space.size(); ++size) {
    const Bytes cut(space.begin(), space.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(unpack(received, Conversion::native, cut, bytes) != "");
  }
  CHECK(zip_method_space() == -1);
  CHECK(zip_method_conversion() == -1);
}

TEST_CASE("zipcode packing: an invoice with an unregistered type can only be freed") {
  ListType type;
  List list;
  Zip_Invoice invoice;
  REQUIRE(make_invoice(invoice, "%list", &list) == "");
  REQUIRE(user_types().remove("list") == "");
  type.is_registered = false;
  std::uint64_t bytes = 0;
  const std::string gone = "item 1 (%list): the type 'list' was unregistered; the invoice can only be freed";
  CHECK(packed_size(invoice, Conversion::native, bytes) == gone);
  // Nor by another type of this name.
  REQUIRE(user_types().add({"list", type.in.method, type.out.method, type.len.method, type.align.method, 0}) == "");
  type.is_registered = true;
  CHECK(packed_size(invoice, Conversion::native, bytes) == gone);
}

TEST_CASE("zipcode packing: methods that lie are errors that name them") {
  long in = 4, out = 4, len = 4, align = 0;
  const MadeMethod methods[] = {{as_state, &in}, {as_state, &out}, {as_state, &len}, {as_state, &align}};
  REQUIRE(user_types().add({"liar", methods[0].method, methods[1].method, methods[2].method, methods[3].method, 4}) ==
          "");
  int item = 0;
  Zip_Invoice invoice;
  REQUIRE(make_invoice(invoice, "%liar", &item) == "");
  std::uint64_t bytes = 0;
  Bytes space(8);
  CHECK(pack(invoice, Conversion::native, space, true, bytes) == "");
  out = 3;
  CHECK(pack(invoice, Conversion::native, space, true, bytes) ==
        "item 1 (%liar): the method out of 'liar' returned 3, but len had returned 4");
  len = -5;
  CHECK(pack(invoice, Conversion::native, space, true, bytes) ==
        "item 1 (%liar): the method len of 'liar' returned -5");
  len = std::numeric_limits<long>::max();
  CHECK(pack(invoice, Conversion::native, space, true, bytes) != "");
  for (const long wrong : {-1L, kAlignMost + 1}) {
    align = wrong;
    CHECK(packed_size(invoice, Conversion::native, bytes) ==
          "item 1 (%liar): the method align of 'liar' returned " + std::to_string(wrong) + "; 0 to 4095 is allowed");
  }
  align = 8;
  CHECK(unpack(invoice, Conversion::native, std::span(space).first(7), bytes) ==
        "item 1 (%liar): the letter or buffer ends before it");
  align = 4;
  in = 5;
  CHECK(unpack(invoice, Conversion::native, space, bytes) ==
        "item 1 (%liar): the method in of 'liar' returned 5, but only 4 bytes are left");
  in = -7;
  CHECK(unpack(invoice, Conversion::native, space, bytes) == "item 1 (%liar): the method in of 'liar' returned -7");
  CHECK(user_types().remove("liar") == "");
}

TEST_CASE(
    "zipcode packing: a method that changes a deferred size is an error, and nothing is written behind the space") {
  struct Growing {
    int n = 2;
    static long out(void* item, void* space, void*, void*) {
      ++static_cast<Growing*>(item)->n;
      std::memset(space, 0, 4);
      return 4;
    }
    static long length(void*, void*, void*, void*) { return 4; }
    static long none(void*, void*, void*, void*) { return 0; }
  };
  const MadeMethod in(Growing::length, nullptr), out(Growing::out, nullptr), len(Growing::length, nullptr),
      align(Growing::none, nullptr);
  REQUIRE(user_types().add({"growing", in.method, out.method, len.method, align.method, 0}) == "");
  Growing growing;
  int values[8] = {};
  Zip_Invoice invoice;
  REQUIRE(make_invoice(invoice, "%growing%&i", &growing, &growing.n, values) == "");
  Bytes space(12, std::byte{0xee});
  std::uint64_t bytes = 0;
  CHECK(pack(invoice, Conversion::native, space, true, bytes) ==
        "item 2 (%i): its size changed during the packing; a method must not change deferred sizes");
  CHECK(growing.n == 3);
  CHECK(user_types().remove("growing") == "");
}

TEST_CASE("zipcode packing: resolved pieces pack and unpack as the invoice does") {
  ListType type;
  List list = {1, {5}};
  int n = 2;
  double array[6] = {1, 2, 3, 4, 5, 6};
  Zip_Invoice invoice;
  REQUIRE(make_invoice(invoice, "%i%&.3d%list%2-i%c", &n, &n, array, &list, nullptr, "x") == "");
  for (const Conversion conversion : {Conversion::native, Conversion::xdr}) {
    std::vector<Piece> pieces;
    std::uint64_t bytes = 0;
    REQUIRE(resolve(invoice, conversion, pieces, bytes) == "");
    CHECK(pieces.size() == 5);
    Bytes space(bytes, std::byte{0xee});
    CHECK(pack_pieces(pieces, conversion, space, true) == "");
    CHECK(space == packed_now(invoice, conversion));
  }
  // The sizes are those of resolve(), whatever the variables are now.
  char c = 0;
  Zip_Invoice target;
  REQUIRE(make_invoice(target, "%i%&.3d%list%2-i%c", &n, &n, array, &list, nullptr, &c) == "");
  std::vector<Piece> pieces;
  std::uint64_t bytes = 0;
  REQUIRE(resolve(target, Conversion::native, pieces, bytes) == "");
  Bytes space = packed_now(invoice);
  const int many = 1000;
  std::memcpy(space.data(), &many, sizeof many);
  CHECK(unpack_pieces(pieces, Conversion::native, space) == "");
  CHECK(n == 1000);
  CHECK(c == 'x');
}
