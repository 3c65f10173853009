// Unit tests of methods: their kinds, the twelve built-in ones, and the macros that make more.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "libraries/zipcode/methods.hpp"

namespace {

using namespace margay::zipcode::core;

struct Complex {
  double real, imaginary;
};
Complex complex_product(Complex a, Complex b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

ZIP_COMBINE_METHOD(multiply_complex, Complex, a, b, complex_product(a, b));
ZIP_TYPED_METHOD(larger_magnitude, a, b, (a < 0 ? -a : a) < (b < 0 ? -b : b) ? b : a);

// The result of one built-in method on two elements of each type.
template <typename T>
T result_of(Method* method, char type, T a, T b) {
  REQUIRE(typed_error(method, type, 1) == "");
  combine_typed(*method, &a, &b, type, 1);
  return a;
}

template <typename T>
void check_numbers(char type) {
  CHECK(result_of<T>(ZIP_ADD, type, 3, 4) == T{7});
  CHECK(result_of<T>(ZIP_MUL, type, 3, 4) == T{12});
  CHECK(result_of<T>(ZIP_MIN, type, 3, 4) == T{3});
  CHECK(result_of<T>(ZIP_MIN, type, 4, 3) == T{3});
  CHECK(result_of<T>(ZIP_MAX, type, 3, 4) == T{4});
  CHECK(result_of<T>(ZIP_MAX, type, 4, 3) == T{4});
  for (const int a : {0, 5})
    for (const int b : {0, 6}) {
      CHECK(result_of<T>(ZIP_LAND, type, static_cast<T>(a), static_cast<T>(b)) == T(a && b));
      CHECK(result_of<T>(ZIP_LOR, type, static_cast<T>(a), static_cast<T>(b)) == T(a || b));
      CHECK(result_of<T>(ZIP_LXOR, type, static_cast<T>(a), static_cast<T>(b)) == T((a != 0) != (b != 0)));
    }
}

template <typename T>
void check_bits(char type) {
  CHECK(result_of<T>(ZIP_BAND, type, 12, 10) == T{8});
  CHECK(result_of<T>(ZIP_BOR, type, 12, 10) == T{14});
  CHECK(result_of<T>(ZIP_BXOR, type, 12, 10) == T{6});
  // Integers wrap around.
  const T most = std::numeric_limits<T>::max();
  CHECK(result_of<T>(ZIP_ADD, type, most, 1) == std::numeric_limits<T>::min());
  CHECK(result_of<T>(ZIP_MUL, type, most, most) == T{1});
}

void count_items(void*, const void*, int size, int items, void* state) {
  *static_cast<int*>(state) += size * items;
}
void typed_nothing(void*, const void*, char, int, void*) {}
long convert_nothing(void*, void*, void*, void*) {
  return 0;
}
void execute_nothing(void*, int, void*) {}

}  // namespace

TEST_CASE("zipcode methods: the built-in ones on each type") {
  check_numbers<char>('c');
  check_numbers<short>('s');
  check_numbers<int>('i');
  check_numbers<long>('l');
  check_numbers<float>('f');
  check_numbers<double>('d');
  check_bits<char>('c');
  check_bits<short>('s');
  check_bits<int>('i');
  check_bits<long>('l');
}

TEST_CASE("zipcode methods: pairs of value and location") {
  const std::vector<double> one = {5, 2, 1, 7, 4, 9};
  const std::vector<double> other = {5, 1, 3, 8, 2, 3};
  std::vector<double> most = one, least = one;
  combine_typed(*ZIP_MAXLOC, most.data(), other.data(), 'd', 6);
  combine_typed(*ZIP_MINLOC, least.data(), other.data(), 'd', 6);
  CHECK(most == std::vector<double>{5, 1, 3, 8, 4, 9});
  CHECK(least == std::vector<double>{5, 1, 1, 7, 2, 3});
  CHECK(typed_error(ZIP_MAXLOC, 'd', 3).find("the number of elements is 3") != std::string::npos);
}

TEST_CASE("zipcode methods: there are twelve built-in ones") {
  CHECK(zip_builtin_method(-1) == nullptr);
  CHECK(zip_builtin_method(12) == nullptr);
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) CHECK((zip_builtin_method(i) == zip_builtin_method(j)) == (i == j));
}

TEST_CASE("zipcode methods: an unsuitable method is an error that names the reason") {
  CHECK(typed_error(nullptr, 'd', 1) == "the combine method is NULL");
  CHECK(typed_error(ZIP_ADD, 'x', 1) == "'x' is not a built-in type (c, s, i, l, f, d)");
  for (Method* const bitwise : {ZIP_BAND, ZIP_BOR, ZIP_BXOR})
    for (const char type : {'f', 'd'})
      CHECK(typed_error(bitwise, type, 1).find("a bitwise method cannot combine floating-point") == 0);
  CHECK(combine_error(ZIP_ADD, 8).find("is a typed method instead of a combine method; zip_new_method_of") !=
        std::string::npos);
  CHECK(combine_error(multiply_complex, 16) == "");
  CHECK(combine_error(multiply_complex, 8) == "the combine method is for items of 16 bytes, but the items have 8");
  CHECK(typed_error(multiply_complex, 'd', 1) == "the combine method is a combine method instead of a typed method");
  const Method empty{};
  CHECK(kind_error(&empty, ZIP_METHOD_EXECUTE, "execute") == "the execute method has no function; was it freed?");
  Method unknown = *multiply_complex;
  unknown.kind = 77;
  CHECK(combine_error(&unknown, 16) == "the combine method is not a valid method instead of a combine method");
}

TEST_CASE("zipcode methods: those of the macros") {
  Complex a[2] = {{1, 2}, {0, 1}};
  const Complex b[2] = {{3, 4}, {0, 1}};
  combine(*multiply_complex, a, b, sizeof(Complex), 2);
  CHECK(a[0].real == -5);
  CHECK(a[0].imaginary == 10);
  CHECK(a[1].real == -1);
  CHECK(result_of<char>(larger_magnitude, 'c', 3, -4) == -4);
  CHECK(result_of<short>(larger_magnitude, 's', 3, -4) == -4);
  CHECK(result_of<int>(larger_magnitude, 'i', -5, 4) == -5);
  CHECK(result_of<long>(larger_magnitude, 'l', 3, -4) == -4);
  CHECK(result_of<float>(larger_magnitude, 'f', 3, -4) == -4);
  CHECK(result_of<double>(larger_magnitude, 'd', 3, -4.5) == -4.5);
}

TEST_CASE("zipcode methods: the kind follows from the function, and the state is passed") {
  // The four C functions behind zip_new_method() are made of this.
  int calls = 0;
  Method* method = make_method(ZIP_METHOD_COMBINE, 0, reinterpret_cast<Zip_function*>(&count_items), &calls);
  REQUIRE(method != nullptr);
  int a = 0;
  combine(*method, &a, &a, 4, 3);
  CHECK(calls == 12);
  CHECK(combine_error(method, 999) == "");
  CHECK(free_method(method) == "");
  CHECK(free_method(nullptr) == "the method is NULL");
  CHECK(free_method(multiply_complex).find("was made by neither zip_new_method()") != std::string::npos);
  CHECK(free_method(ZIP_ADD).find("was made by neither zip_new_method()") != std::string::npos);
  // Overloads of C++; in C it is a generic selection.
  for (const auto& [made, kind] : {std::pair{zip_new_method(count_items, nullptr), ZIP_METHOD_COMBINE},
                                   std::pair{zip_new_method(typed_nothing, nullptr), ZIP_METHOD_TYPED},
                                   std::pair{zip_new_method(convert_nothing, nullptr), ZIP_METHOD_CONVERSION},
                                   std::pair{zip_new_method(execute_nothing, nullptr), ZIP_METHOD_EXECUTE}}) {
    CHECK(kind_error(made, kind, "new") == "");
    CHECK(free_method(made) == "");
  }
}

TEST_CASE("zipcode methods: a typed one as a combine method of one type") {
  Method* add = nullptr;
  REQUIRE(make_method_of(ZIP_ADD, 'd', add) == "");
  double a[3] = {1, 2, 3};
  const double b[3] = {10, 20, 30};
  CHECK(combine_error(add, 8) == "");
  CHECK(combine_error(add, 4) == "the combine method is for items of 8 bytes, but the items have 4");
  combine(*add, a, b, 8, 3);
  CHECK(a[0] == 11);
  CHECK(a[2] == 33);
  CHECK(free_method(add) == "");
  // An item of MAXLOC is a pair.
  Method* most = nullptr;
  REQUIRE(make_method_of(ZIP_MAXLOC, 'i', most) == "");
  CHECK(combine_error(most, 8) == "");
  int pairs[4] = {5, 1, 6, 2};
  const int others[4] = {7, 3, 6, 1};
  combine(*most, pairs, others, 8, 2);
  CHECK(std::vector<int>(pairs, pairs + 4) == std::vector<int>{7, 3, 6, 1});
  CHECK(free_method(most) == "");
  Method* none = nullptr;
  CHECK(make_method_of(ZIP_BXOR, 'd', none) != "");
  CHECK(make_method_of(ZIP_ADD, 'q', none) != "");
  CHECK(make_method_of(multiply_complex, 'd', none) != "");
  CHECK(make_method_of(nullptr, 'd', none) != "");
  CHECK(none == nullptr);
}
