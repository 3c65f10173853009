// Unit tests of invoices: their arguments, the builder, and the errors of both.
#include <doctest/doctest.h>

#include <cstdarg>
#include <string>

#include "libraries/zipcode/invoices/invoice.hpp"
#include "libraries/zipcode/methods.hpp"

namespace {

using namespace margay::zipcode::core;

// The error of a format with these arguments: its first line, and the position of the caret.
std::string refused(std::size_t& caret, const char* format, ...) {
  Zip_Invoice invoice;
  std::va_list arguments;
  va_start(arguments, format);
  const std::string error = invoice.append(format, &arguments);
  va_end(arguments);
  CHECK(invoice.items().empty());
  const std::size_t last = error.rfind('\n');
  caret = last == std::string::npos ? 999 : error.size() - last - 4;
  return error.substr(0, error.find('\n'));
}

std::string accepted(Zip_Invoice& invoice, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::string error = invoice.append(format, &arguments);
  va_end(arguments);
  return error;
}

long nothing_converted(void*, void*, void*, void*) {
  return 0;
}

}  // namespace

TEST_CASE("zipcode invoice: the arguments in the order of the format") {
  Method* method = make_method(ZIP_METHOD_CONVERSION, 0, reinterpret_cast<Zip_function*>(&nothing_converted), nullptr);
  REQUIRE(user_types().add({"thing", method, method, method, method, 24}) == "");
  int count = 3, stride = 4, things = 0, extra = 0;
  double d = 0;
  Zip_Invoice invoice;
  REQUIRE(accepted(invoice, "%*.*d%&.&thing(*)%-i", 5, 6, &d, &count, &stride, &things, &extra, nullptr) == "");
  REQUIRE(invoice.items().size() == 3);
  const InvoiceItem& first = invoice.items()[0];
  CHECK(first.builtin == 'd');
  CHECK(first.count.value == 5);
  CHECK(first.stride.value == 6);
  CHECK(first.data == &d);
  const InvoiceItem& second = invoice.items()[1];
  CHECK(second.name() == "%thing");
  CHECK(second.count.deferred == &count);
  CHECK(second.stride.deferred == &stride);
  CHECK(second.data == &things);
  CHECK(second.extra == &extra);
  CHECK(invoice.items()[2].ignore);
  CHECK(invoice.items()[2].data == nullptr);
  CHECK(!invoice.is_fixed());
  CHECK(invoice.has_user_types());
  CHECK(user_types().remove("thing") == "");
  CHECK(free_method(method) == "");
}

TEST_CASE("zipcode invoice: invalid arguments are errors at their specification") {
  std::size_t caret = 0;
  int i = 0;
  CHECK(refused(caret, "%i%d", &i, nullptr) ==
        "invalid argument: the pointer to the items is NULL; only reserved space ('-') may have none");
  CHECK(caret == 2);
  CHECK(refused(caret, "%i%*i", &i, -1, &i) == "invalid argument: the count is -1; it must not be negative");
  CHECK(caret == 2);
  CHECK(refused(caret, "%.*i", 0, &i) == "invalid argument: the stride is 0; it must be positive");
  CHECK(caret == 0);
  CHECK(refused(caret, "%&i", nullptr, &i) == "invalid argument: the address of the count ('&') is NULL");
  CHECK(refused(caret, "%.&i", nullptr, &i) == "invalid argument: the address of the stride ('&') is NULL");
  CHECK(refused(caret, nullptr) == "the format is NULL");
  CHECK(refused(caret, "%i%.") ==
        "invalid format: expected a stride after '.' (a positive integer, '*' or '&') and not "
        "the end of the format");
  CHECK(caret == 4);
}

TEST_CASE("zipcode invoice: an unknown type is an error at the type, with the type that is meant") {
  std::size_t caret = 0;
  CHECK(refused(caret, "%2matrix", nullptr) == "invalid format: the type 'matrix' is not registered");
  CHECK(caret == 2);
  const std::pair<const char*, const char*> habits[] = {
      {"%lf", "'d' is a double"}, {"%ld", "'l' is a long"}, {"%hd", "'s' is a short"}, {"%u", "'i' is an int"}};
  for (const auto& [format, hint] : habits) CHECK(refused(caret, format, nullptr).find(hint) != std::string::npos);
}

TEST_CASE("zipcode invoice: an array of a type whose bytes in memory are unknown is an error") {
  Method* method = make_method(ZIP_METHOD_CONVERSION, 0, reinterpret_cast<Zip_function*>(&nothing_converted), nullptr);
  REQUIRE(user_types().add({"sized", method, method, method, method, 0}) == "");
  int i = 0;
  std::size_t caret = 0;
  CHECK(refused(caret, "%2sized", &i).find("register the type by zip_register_invoice_array_type()") !=
        std::string::npos);
  CHECK(refused(caret, "%&sized", &i, &i).find("are unknown") != std::string::npos);
  Zip_Invoice invoice;
  CHECK(accepted(invoice, "%sized", &i) == "");
  CHECK(user_types().remove("sized") == "");
  CHECK(free_method(method) == "");
}

TEST_CASE("zipcode invoice: the builder appends items and formats; an error leaves the invoice as it is") {
  Zip_Invoice invoice;
  double d[4] = {};
  int n = 2;
  Zip_Item item{};
  item.type = "d";
  item.data = d;
  CHECK(invoice.append(item) == "");
  item.count = 4;
  item.stride = 3;
  CHECK(invoice.append(item) == "");
  CHECK(invoice.is_fixed());
  CHECK(invoice.fixed_bytes(Conversion::native) == 40);
  CHECK(accepted(invoice, "%i%c", &n, "x") == "");
  CHECK(invoice.fixed_bytes(Conversion::native) == 45);
  CHECK(invoice.fixed_bytes(Conversion::xdr) == 48);
  CHECK(invoice.items().size() == 4);
  CHECK(invoice.items()[0].count.value == 1);
  CHECK(invoice.items()[0].stride.value == 1);
  CHECK(invoice.items()[1].count.value == 4);
  CHECK(invoice.items()[1].stride.value == 3);

  const auto with = [&](auto change) {
    Zip_Item other{};
    other.type = "d";
    other.data = d;
    change(other);
    return invoice.append(other);
  };
  CHECK(with([](Zip_Item& one) { one.type = nullptr; }) == "the item's type is NULL");
  CHECK(with([](Zip_Item& one) { one.type = "e"; }) == "the type 'e' is not registered");
  CHECK(with([](Zip_Item& one) { one.data = nullptr; }) ==
        "the pointer to the items is NULL; only reserved space ('-') may have none");
  CHECK(with([](Zip_Item& one) { one.count = -1; }) == "the count is -1; it must not be negative");
  CHECK(with([](Zip_Item& one) { one.stride = -1; }) == "the stride is -1; it must be positive");
  CHECK(with([&](Zip_Item& one) { one.count_at = &n, one.count = 1; }) == "the item has both a count and count_at");
  CHECK(with([&](Zip_Item& one) { one.stride_at = &n, one.stride = 1; }) == "the item has both a stride and stride_at");
  CHECK(with([&](Zip_Item& one) { one.extra = &n; }) ==
        "the extra pointer is only for user types, and 'd' is a built-in type");
  CHECK(with([&](Zip_Item& one) { one.count_most = 3; }).find("count_most is the largest value") == 0);
  CHECK(accepted(invoice, "%i%q", &n, &n) != "");
  CHECK(invoice.items().size() == 4);
}
