// Unit tests of the representations of built-in types: sizes, strides, and both directions of XDR.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "libraries/zipcode/invoices/conversion.hpp"
#include "libraries/zipcode/methods.hpp"

namespace {

using namespace margay::zipcode::core;

// Packs every other element of `values`, and unpacks them into every third one of an array.
template <typename T>
void check_round_trip(char type, Conversion conversion, const std::vector<T>& values) {
  std::vector<T> apart(values.size() * 2, T{55});
  for (std::size_t i = 0; i < values.size(); ++i) apart[2 * i] = values[i];
  std::vector<std::byte> space(packed_bytes(type, values.size(), conversion));
  encode({type, reinterpret_cast<std::byte*>(apart.data()), values.size(), 2 * sizeof(T)}, conversion, space.data());
  std::vector<T> target(values.size() * 3, T{66});
  CHECK(decode(space.data(), conversion,
               {type, reinterpret_cast<std::byte*>(target.data()), values.size(), 3 * sizeof(T)}) == "");
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(std::memcmp(&target[3 * i], &values[i], sizeof(T)) == 0);
    CHECK(target[3 * i + 1] == T{66});
    CHECK(target[3 * i + 2] == T{66});
  }
}

template <typename T>
void check_limits(char type) {
  using Limits = std::numeric_limits<T>;
  for (const Conversion conversion : {Conversion::native, Conversion::xdr}) {
    check_round_trip<T>(type, conversion,
                        {Limits::lowest(), Limits::min(), T{0}, T{1}, static_cast<T>(-1), Limits::max()});
    check_round_trip<T>(type, conversion, {T{3}});
    check_round_trip<T>(type, conversion, {});
  }
}

}  // namespace

TEST_CASE("zipcode conversion: every type survives both representations, at any stride") {
  check_limits<char>('c');
  check_limits<short>('s');
  check_limits<int>('i');
  check_limits<long>('l');
  check_limits<float>('f');
  check_limits<double>('d');
}

TEST_CASE("zipcode conversion: sizes and alignments") {
  struct Row {
    char type;
    std::uint64_t native, xdr;
  };
  for (const Row& row :
       {Row{'c', 5, 8}, Row{'s', 10, 20}, Row{'i', 20, 20}, Row{'l', 40, 40}, Row{'f', 20, 20}, Row{'d', 40, 40}}) {
    CHECK(packed_bytes(row.type, 5, Conversion::native) == row.native);
    CHECK(packed_bytes(row.type, 5, Conversion::xdr) == row.xdr);
    CHECK(packed_alignment(row.type, Conversion::native) == builtin_bytes(row.type));
    CHECK(packed_alignment(row.type, Conversion::xdr) == 4);
  }
  // More bytes than 32 bits hold.
  CHECK(packed_bytes('d', 2147483647, Conversion::native) == 17179869176);
}
