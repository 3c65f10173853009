#include "libraries/zipcode/invoices/invoice.hpp"

#include <string_view>
#include <utility>

#include "libraries/zipcode/invoices/format.hpp"
#include "libraries/zipcode/methods.hpp"

namespace margay::zipcode::core {

namespace {

// The habits of printf(), and the type that is meant.
std::string hint_for(std::string_view type) {
  const std::pair<std::string_view, const char*> habits[] = {{"lf", "; 'd' is a double"},
                                                             {"ld", "; 'l' is a long"},
                                                             {"hd", "; 's' is a short"},
                                                             {"u", "; 'i' is an int"},
                                                             {"li", "; 'l' is a long"},
                                                             {"x", "; 'i' is an int"},
                                                             {"p", ""},
                                                             {"double", "; 'd' is a double"}};
  for (const auto& [habit, hint] : habits)
    if (habit == type) return hint;
  return {};
}

// Sets the type of an item by its name. Returns an empty string or an error.
std::string set_type(std::string_view name, InvoiceItem& item) {
  if (name.size() == 1 && builtin_bytes(name[0]) != 0) {
    item.builtin = name[0];
    return {};
  }
  item.user = user_types().find(name);
  if (item.user != nullptr) return {};
  return "the type '" + std::string(name) + "' is not registered" + hint_for(name);
}

// Whether an item may have its pointers and fixed sizes.
std::string item_error(const InvoiceItem& item) {
  if (item.count.deferred == nullptr && item.count.value < 0)
    return "the count is " + std::to_string(item.count.value) + "; it must not be negative";
  if (item.stride.deferred == nullptr && item.stride.value <= 0)
    return "the stride is " + std::to_string(item.stride.value) + "; it must be positive";
  const bool is_empty = item.count.deferred == nullptr && item.count.value == 0;
  if (item.data == nullptr && !item.ignore && !is_empty)
    return "the pointer to the items is NULL; only reserved space ('-') may have none";
  const bool is_array = item.count.deferred != nullptr || item.count.value > 1;
  if (is_array && item.user != nullptr && item.user->item_bytes == 0) {
    return "the bytes from one '" + item.user->name +
           "' to the next are unknown; register the type by zip_register_invoice_array_type()";
  }
  return {};
}

// NOLINTBEGIN(clang-analyzer-valist.Uninitialized): the functions of invoice_calls.cpp begin the list
// Takes the arguments of a count or a stride. Returns an error for the address NULL.
std::string take_size(const Amount& amount, const char* noun, std::va_list& arguments, Size& size) {
  switch (amount.from) {
    case Amount::From::format:
      size.value = amount.value;
      return {};
    case Amount::From::argument:
      size.value = va_arg(arguments, int);
      return {};
    default:
      size.deferred = va_arg(arguments, const int*);
      if (size.deferred == nullptr) return std::string("the address of the ") + noun + " ('&') is NULL";
      return {};
  }
}

// Takes the arguments of a specification, all of them in any case.
std::string take_item(const Specification& spec, std::va_list& arguments, InvoiceItem& item) {
  std::string error = take_size(spec.count, "count", arguments, item.count);
  std::string next = take_size(spec.stride, "stride", arguments, item.stride);
  if (error.empty()) error = std::move(next);
  item.data = va_arg(arguments, void*);
  if (spec.has_extra) item.extra = va_arg(arguments, void*);
  item.ignore = spec.ignore;
  return error.empty() ? item_error(item) : error;
}
// NOLINTEND(clang-analyzer-valist.Uninitialized)

}  // namespace

std::string InvoiceItem::name() const {
  return "%" + (user != nullptr ? user->name : std::string(1, builtin));
}

}  // namespace margay::zipcode::core

std::string Zip_Invoice::append(const char* format, std::va_list* arguments) {
  using namespace margay::zipcode::core;
  if (format == nullptr) return "the format is NULL";
  std::vector<Specification> specs;
  if (std::string error = parse_format(format, specs); !error.empty()) return "invalid format: " + error;
  std::vector<InvoiceItem> items(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (std::string error = set_type(specs[i].type, items[i]); !error.empty())
      return "invalid format: " + with_caret(error, format, specs[i].type_begin);
    if (std::string error = take_item(specs[i], *arguments, items[i]); !error.empty())
      return "invalid argument: " + with_caret(error, format, specs[i].begin);
  }
  items_.reserve(items_.size() + items.size());
  for (InvoiceItem& item : items) add(std::move(item));
  return {};
}

std::string Zip_Invoice::append(const Zip_Item& from) {
  using namespace margay::zipcode::core;
  if (from.type == nullptr) return "the item's type is NULL";
  InvoiceItem item;
  if (std::string error = set_type(from.type, item); !error.empty()) return error;
  if (from.extra != nullptr && item.user == nullptr)
    return "the extra pointer is only for user types, and '" + item.name().substr(1) + "' is a built-in type";
  if (from.count_at != nullptr && from.count != 0) return "the item has both a count and count_at";
  if (from.stride_at != nullptr && from.stride != 0) return "the item has both a stride and stride_at";
  if (from.count_most < 0 || (from.count_most > 0 && from.count_at == nullptr))
    return "count_most is the largest value of count_at; it must be positive, and there must be a count_at";
  item.count.value = from.count == 0 ? 1 : from.count;
  item.count.deferred = from.count_at;
  if (from.count_most > 0) item.count.most = from.count_most;
  item.stride.value = from.stride == 0 ? 1 : from.stride;
  item.stride.deferred = from.stride_at;
  item.data = from.data;
  item.extra = from.extra;
  item.ignore = from.ignore != 0;
  if (std::string error = item_error(item); !error.empty()) return error;
  add(std::move(item));
  return {};
}

void Zip_Invoice::add(margay::zipcode::core::InvoiceItem item) {
  using namespace margay::zipcode::core;
  has_user_types_ = has_user_types_ || item.user != nullptr;
  // A deferred stride does not change the packed size, but may become invalid.
  is_fixed_ = is_fixed_ && item.user == nullptr && item.count.deferred == nullptr && item.stride.deferred == nullptr;
  if (is_fixed_ && item.count.value > 0) {
    for (const auto& [bytes, conversion] :
         {std::pair{&native_bytes_, Conversion::native}, std::pair{&xdr_bytes_, Conversion::xdr}}) {
      const std::uint64_t alignment = packed_alignment(item.builtin, conversion);
      const auto count = static_cast<std::uint64_t>(item.count.value);
      *bytes = (*bytes + alignment - 1) / alignment * alignment + packed_bytes(item.builtin, count, conversion);
    }
  }
  items_.push_back(std::move(item));
}
