// Unit tests of the registry of user types, and of the scope of their methods.
#include <doctest/doctest.h>

#include <string>

#include "libraries/zipcode/invoices/user_types.hpp"
#include "libraries/zipcode/methods.hpp"

using namespace margay::zipcode::core;

TEST_CASE("zipcode user types: names and methods are checked, names are unique") {
  UserTypes types;
  const Method good = {ZIP_METHOD_CONVERSION, 0, reinterpret_cast<Zip_function*>(&zip_method_space), nullptr, 0};
  CHECK(types.add({"matrix", &good, &good, &good, &good, 0}) == "");
  CHECK(types.add({"matrix", &good, &good, &good, &good, 0}) ==
        "the type 'matrix' is registered already; unregister it first, or choose another name");
  for (const char* const builtin : {"c", "s", "i", "l", "f", "d"})
    CHECK(types.add({builtin, &good, &good, &good, &good, 0}).find("is that of a built-in type") != std::string::npos);
  for (const char* const name : {"", "2d", "a b", "a(*)", "a-"})
    CHECK(types.add({name, &good, &good, &good, &good, 0}).find("is not a C identifier") != std::string::npos);
  CHECK(types.add({"e", &good, &good, &good, &good, 0}) == "");
  CHECK(types.add({"x", nullptr, &good, &good, &good, 0}) == "the in method is NULL");
  CHECK(types.add({"x", &good, nullptr, &good, &good, 0}) == "the out method is NULL");
  CHECK(types.add({"x", &good, &good, nullptr, &good, 0}) == "the len method is NULL");
  CHECK(types.add({"x", &good, &good, &good, nullptr, 0}) == "the align method is NULL");
  CHECK(types.add({"x", &good, &good, ZIP_ADD, &good, 0}) ==
        "the len method is a typed method instead of a conversion method");
  CHECK(types.find("x") == nullptr);
}

TEST_CASE("zipcode user types: a type that is registered again is another one") {
  UserTypes types;
  const Method good = {ZIP_METHOD_CONVERSION, 0, reinterpret_cast<Zip_function*>(&zip_method_space), nullptr, 0};
  CHECK(types.remove("matrix") == "the type 'matrix' is not registered");
  REQUIRE(types.add({"matrix", &good, &good, &good, &good, 24}) == "");
  const auto first = types.find("matrix");
  REQUIRE(first != nullptr);
  CHECK(first->item_bytes == 24);
  CHECK(types.has(*first));
  CHECK(types.remove("matrix") == "");
  CHECK(!types.has(*first));
  CHECK(types.find("matrix") == nullptr);
  REQUIRE(types.add({"matrix", &good, &good, &good, &good, 24}) == "");
  CHECK(!types.has(*first));
  CHECK(types.has(*types.find("matrix")));
}

TEST_CASE("zipcode user types: the scopes of methods nest") {
  CHECK(zip_method_space() == -1);
  CHECK(zip_method_conversion() == -1);
  {
    const MethodScope outer(100, ZIP_XDR);
    CHECK(zip_method_space() == 100);
    CHECK(zip_method_conversion() == ZIP_XDR);
    {
      const MethodScope inner(5, ZIP_NATIVE);
      CHECK(zip_method_space() == 5);
      CHECK(zip_method_conversion() == ZIP_NATIVE);
    }
    CHECK(zip_method_space() == 100);
  }
  CHECK(zip_method_space() == -1);
}
