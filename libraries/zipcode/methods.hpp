// Methods: calls of their functions, and the checks before them (include/margay/zipcode_invoices.h has the C calls).
#pragma once

#include <cstddef>
#include <string>

#include "margay/zipcode_invoices.h"

namespace margay::zipcode::core {

// The bytes of a built-in type in memory; 0: `type` is not a built-in type.
[[nodiscard]] std::size_t builtin_bytes(char type);

// The checks return an empty string, or an error for the user: "the combine method is NULL".

// Whether `method` is of this kind. `role`: its noun in the error, such as "combine" or "len".
[[nodiscard]] std::string kind_error(const Method* method, int kind, const char* role);
// Whether combine() may be called.
[[nodiscard]] std::string combine_error(const Method* method, std::size_t size);
// Combines `items` items of `size` bytes. Requires: no combine_error().
void combine(const Method& method, void* into, const void* from, int size, int items);

// Whether combine_typed() may be called: the method has an operation for this type and this number of items.
[[nodiscard]] std::string typed_error(const Method* method, char type, int items);
// Combines items of a built-in type by a method of kind ZIP_METHOD_TYPED. Requires: no typed_error().
void combine_typed(const Method& method, void* into, const void* from, char type, int items);

// A method in memory of its own, which free_method() frees.
[[nodiscard]] Method* make_method(int kind, int size, Zip_function* function, void* state);
// zip_new_method_of(). Sets `out`, or returns an error.
[[nodiscard]] std::string make_method_of(Method* method, char type, Method*& out);
// Frees a method of the two functions above; returns an error for others.
[[nodiscard]] std::string free_method(Method* method);

}  // namespace margay::zipcode::core
