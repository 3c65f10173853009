// Methods and user types: the functions of zipcode_invoices.h that know no mailer.
#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/invoices/user_types.hpp"
#include "libraries/zipcode/methods.hpp"

namespace margay::zipcode::core {

namespace {

// 0; or -1 after the report of an error.
int reported(const char* name, const std::string& error) {
  if (error.empty()) return 0;
  report(std::string(name) + ": " + error);
  return -1;
}

int register_type(const char* call, const char* name, const Method* in, const Method* out, const Method* len,
                  const Method* align, std::size_t item_bytes) {
  if (name == nullptr) return reported(call, "the name is NULL");
  return reported(call, user_types().add({name, in, out, len, align, item_bytes}));
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

Method* zip_new_method_of(Method* method, char type) {
  Method* made = nullptr;
  static_cast<void>(reported("zip_new_method_of", make_method_of(method, type, made)));
  return made;
}

void zip_free_method(Method** method) {
  const char* const kCall = "zip_free_method";
  if (method == nullptr) {
    static_cast<void>(reported(kCall, "the address of the method is NULL"));
  } else if (reported(kCall, free_method(*method)) == 0) {
    *method = nullptr;
  }
}

int zip_register_invoice_type(const char* name, Method* in, Method* out, Method* len, Method* align) {
  return register_type("zip_register_invoice_type", name, in, out, len, align, 0);
}

int zip_register_invoice_array_type(const char* name, Method* in, Method* out, Method* len, Method* align,
                                    size_t item_bytes) {
  const char* const kCall = "zip_register_invoice_array_type";
  if (item_bytes == 0) return reported(kCall, "the bytes of an item are 0");
  return register_type(kCall, name, in, out, len, align, item_bytes);
}

int zip_unregister_invoice_type(const char* name) {
  const char* const kCall = "zip_unregister_invoice_type";
  if (name == nullptr) return reported(kCall, "the name is NULL");
  return reported(kCall, user_types().remove(name));
}
