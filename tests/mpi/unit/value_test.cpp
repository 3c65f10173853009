// Tests of conversions of values between words and the program's memory, and of strings with their lengths.
#include "mpi/tool/variable/value.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace margay::mpi {
namespace {

template <typename T>
T stored(ValueType type, Word word) {
  T out{};
  store_word(type, word, &out);
  return out;
}

template <typename T>
Word loaded(ValueType type, T value) {
  return load_word(type, &value);
}

TEST_CASE("each type is stored and loaded in its own units") {
  CHECK(stored<int>(ValueType::integer, 3) == 3);
  CHECK(stored<unsigned long long>(ValueType::count, 1ULL << 40) == 1ULL << 40);
  CHECK(stored<double>(ValueType::seconds, 1'500'000'000) == doctest::Approx(1.5));
  CHECK(stored<double>(ValueType::share, 250'000) == doctest::Approx(0.25));
  CHECK(loaded(ValueType::integer, 3) == 3);
  CHECK(loaded(ValueType::count, 1ULL << 40) == 1ULL << 40);
  CHECK(loaded(ValueType::seconds, 1.5) == 1'500'000'000);
  CHECK(element_bytes(ValueType::integer) == sizeof(int));
  CHECK(element_bytes(ValueType::text) == 1);
  CHECK(mpi_type(ValueType::share) == MPI_DOUBLE);
}

TEST_CASE("numbers outside of a word's range are loaded as the nearest value") {
  CHECK(loaded(ValueType::seconds, -1.0) == 0);
  CHECK(loaded(ValueType::seconds, std::numeric_limits<double>::quiet_NaN()) == 0);
  CHECK(loaded(ValueType::seconds, std::numeric_limits<double>::infinity()) == std::numeric_limits<Word>::max());
}

TEST_CASE("a negative integer keeps its value, so it never becomes an enumeration's first item") {
  for (const int value : {-1, -5, std::numeric_limits<int>::min()})
    CHECK(stored<int>(ValueType::integer, loaded(ValueType::integer, value)) == value);
}

TEST_CASE("a string is returned completely, truncated, or only as its length") {
  char out[6] = ".....";
  int length = sizeof out;
  give_text("heap", out, &length);
  CHECK(std::string(out) == "heap");
  CHECK(length == 5);
  length = 3;
  give_text("heap", out, &length);
  CHECK(std::string(out) == "he");
  CHECK(length == 5);
  length = 0;
  give_text("wire", out, &length);
  CHECK(std::string(out) == "he");
  CHECK(length == 5);
  length = -4;
  give_text("wire", out, &length);
  CHECK(std::string(out) == "he");
  length = 6;
  give_text("wire", nullptr, &length);
  CHECK(length == 5);
  give_text("wire", out, nullptr);
  CHECK(std::string(out) == "he");
}

}  // namespace
}  // namespace margay::mpi
