// An invoice: items in the order of the format, each a list of elements somewhere in the program's memory.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "libraries/zipcode/invoices/conversion.hpp"
#include "libraries/zipcode/invoices/user_types.hpp"

namespace margay::zipcode::core {

// A count or a stride of an item, fixed or deferred.
struct Size {
  int value = 1;
  // Read at each packing and unpacking; nullptr: `value` counts.
  const int* deferred = nullptr;
  // The largest allowed deferred value.
  int most = std::numeric_limits<int>::max();
};

struct InvoiceItem {
  // A built-in type, or 0 with `user`.
  char builtin = 0;
  std::shared_ptr<const UserType> user;
  Size count;
  Size stride;
  void* data = nullptr;
  void* extra = nullptr;
  bool ignore = false;

  // "%d" or "%matrix", for errors.
  [[nodiscard]] std::string name() const;
};

// An item at its turn: count and stride are read, the position in the body is known. An item of a user type is one
// piece for each of its elements.
struct Piece {
  const InvoiceItem* item = nullptr;
  // Of a built-in type: all of its elements.
  Elements elements;
  // Of a user type: one element; nullptr for reserved space without a pointer.
  std::byte* user_item = nullptr;
  // From the beginning of the body. Bytes before it that belong to no piece are alignment.
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

}  // namespace margay::zipcode::core

// The public name is an opaque structure of C.
struct Zip_Invoice {
  // Appends the items of a format, or one item. Returns an empty string, or an error and the invoice is unchanged.
  [[nodiscard]] std::string append(const char* format, std::va_list* arguments);
  [[nodiscard]] std::string append(const Zip_Item& item);

  [[nodiscard]] const std::vector<margay::zipcode::core::InvoiceItem>& items() const { return items_; }
  // Whether the packed size never changes: neither deferred sizes nor user types.
  [[nodiscard]] bool is_fixed() const { return is_fixed_; }
  [[nodiscard]] bool has_user_types() const { return has_user_types_; }
  // The packed size of a fixed invoice.
  [[nodiscard]] std::uint64_t fixed_bytes(margay::zipcode::core::Conversion conversion) const {
    return conversion == margay::zipcode::core::Conversion::native ? native_bytes_ : xdr_bytes_;
  }

 private:
  void add(margay::zipcode::core::InvoiceItem item);

  std::vector<margay::zipcode::core::InvoiceItem> items_;
  bool is_fixed_ = true;
  bool has_user_types_ = false;
  std::uint64_t native_bytes_ = 0;
  std::uint64_t xdr_bytes_ = 0;
};
