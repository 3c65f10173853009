// What the functions about invoices and mailers have in common. Functions throw Error, and require that the thread is
// inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "libraries/zipcode/error.hpp"
#include "libraries/zipcode/invoices/invoice.hpp"
#include "libraries/zipcode/program_call.hpp"
#include "libraries/zipcode/session.hpp"

namespace margay::zipcode::core {

[[nodiscard]] inline const Zip_Invoice& given(const Zip_Invoice* invoice) {
  if (invoice == nullptr) fail("the invoice is NULL; was it freed?");
  return *invoice;
}

[[nodiscard]] inline Conversion conversion_of(const ZIP_MAILER& mailer) {
  return mailer.conversion == ZIP_XDR ? Conversion::xdr : Conversion::native;
}

// A size as the int of the program.
[[nodiscard]] inline int as_int(std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  if (bytes > kMost) fail("the invoice has " + std::to_string(bytes) + " bytes; at most " + std::to_string(kMost));
  return static_cast<int>(bytes);
}

// Runs `function`, which returns an error or an empty string: outside if the invoice has user types, whose methods may
// call Zipcode. What the caller has read of the session may have changed then.
template <typename Function>
void run_methods(Session& session, const Zip_Invoice& invoice, Function function) {
  std::string error;
  if (!invoice.has_user_types()) {
    error = function();
  } else {
    std::exception_ptr thrown;
    run_outside(session.rank, [&] {
      try {
        error = function();
      } catch (...) {
        thrown = std::current_exception();
      }
    });
    if (thrown != nullptr) std::rethrow_exception(thrown);
  }
  if (!error.empty()) fail(error);
}

// Memory that the program may free by free().
struct FreeMemory {
  void operator()(char* memory) const { std::free(memory); }
};
using FreedMemory = std::unique_ptr<char, FreeMemory>;

// Records that an invoice was packed. `copies`: of each byte before the wire copies it.
void record_packed(Session& session, std::uint64_t bytes, std::uint32_t copies);
// Packs an invoice into new memory of `bytes`. Throws Error and std::bad_alloc.
[[nodiscard]] FreedMemory pack_new(Session& session, const Zip_Invoice& invoice, Conversion conversion, int& bytes);
// Unpacks an invoice, and returns the bytes that it has read.
int unpack_from(Session& session, const Zip_Invoice& invoice, Conversion conversion, std::span<const std::byte> space);

}  // namespace margay::zipcode::core
