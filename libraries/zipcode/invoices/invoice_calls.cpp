// Invoices: the functions of zipcode_invoices.h that make, size and free them.
#include <cstdarg>
#include <limits>
#include <memory>
#include <new>

#include "libraries/zipcode/call.hpp"
#include "libraries/zipcode/invoices/packed_call.hpp"
#include "libraries/zipcode/invoices/packing.hpp"

namespace margay::zipcode::core {

namespace {

// Runs `append(invoice)`, which returns an error or an empty string. Returns 0, or -1 after the report of an error.
template <typename Append>
int append_to(const char* name, Zip_Invoice* invoice, Append append) {
  std::string error;
  try {
    error = invoice == nullptr ? "the invoice is NULL" : append(*invoice);
  } catch (const std::bad_alloc&) {
    error = "out of memory";
  }
  if (error.empty()) return 0;
  report(std::string(name) + ": " + error);
  return -1;
}

// Makes an invoice, to which `append` appends. Sets *inv to it, or to NULL.
template <typename Append>
int make(const char* name, Zip_Invoice** inv, Append append) {
  if (inv == nullptr) {
    report(std::string(name) + ": the address of the invoice is NULL");
    return -1;
  }
  std::unique_ptr<Zip_Invoice> made(new (std::nothrow) Zip_Invoice);
  *inv = nullptr;
  if (append_to(name, made.get(), append) != 0) return -1;
  *inv = made.release();
  return 0;
}

void set_conversion(ZIP_MAILER& mailer, int conversion) {
  mailer.conversion = conversion;
  for (const auto& child : mailer.children) set_conversion(*child, conversion);
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

int zip_new_invoice(Zip_Invoice** inv, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int result =
      make("zip_new_invoice", inv, [&](Zip_Invoice& invoice) { return invoice.append(format, &arguments); });
  va_end(arguments);
  return result;
}

int zip_vnew_invoice(Zip_Invoice** inv, const char* format, std::va_list arguments) {
  // A parameter of this type may be a pointer.
  std::va_list copy;
  va_copy(copy, arguments);
  const int result = make("zip_vnew_invoice", inv, [&](Zip_Invoice& invoice) { return invoice.append(format, &copy); });
  va_end(copy);
  return result;
}

int zip_empty_invoice(Zip_Invoice** inv) {
  return make("zip_empty_invoice", inv, [](Zip_Invoice&) { return std::string(); });
}

int zip_add_item(Zip_Invoice* inv, const Zip_Item* item) {
  return append_to("zip_add_item", inv, [&](Zip_Invoice& invoice) {
    return item == nullptr ? std::string("the item is NULL") : invoice.append(*item);
  });
}

int zip_add_format(Zip_Invoice* inv, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int result =
      append_to("zip_add_format", inv, [&](Zip_Invoice& invoice) { return invoice.append(format, &arguments); });
  va_end(arguments);
  return result;
}

void zip_free_invoice(Zip_Invoice** inv) {
  if (inv == nullptr) return report("zip_free_invoice: the address of the invoice is NULL");
  if (*inv == nullptr) return report("zip_free_invoice: the invoice is NULL; was it freed already?");
  delete *inv;
  *inv = nullptr;
}

int zip_sizeof_invoice(ZIP_MAILER* mailer, Zip_Invoice* inv) {
  return call("zip_sizeof_invoice", -1, [&](Session& session) {
    const Zip_Invoice& invoice = given(inv);
    const Conversion conversion = conversion_of(session.open_mailer(mailer));
    std::uint64_t bytes = 0;
    run_methods(session, invoice, [&] { return packed_size(invoice, conversion, bytes); });
    return as_int(bytes);
  });
}

int zip_set_conversion(ZIP_MAILER* mailer, int conversion) {
  return call_int("zip_set_conversion", [&](Session& session) {
    ZIP_MAILER& open = session.open_mailer(mailer);
    if (conversion != ZIP_NATIVE && conversion != ZIP_XDR)
      fail("unknown conversion " + std::to_string(conversion) + "; use ZIP_NATIVE or ZIP_XDR");
    set_conversion(open, conversion);
  });
}
