// The combining of the elements of an invoice: a packed invoice as one item, whose method combines two of them element
// by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libraries/zipcode/invoices/packing.hpp"

namespace margay::zipcode::core {

class ElementCombine {
 public:
  ElementCombine() = default;
  // method() refers to this object.
  ElementCombine(const ElementCombine&) = delete;
  ElementCombine& operator=(const ElementCombine&) = delete;

  // Reads the sizes of the invoice, once. Returns an empty string, or an error that names the item which `method`
  // cannot combine. The invoice and the method must live as long as this object.
  [[nodiscard]] std::string prepare(const Zip_Invoice& invoice, Conversion conversion, const Method* method);

  // The bytes of the packed invoice.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Pack and unpack the invoice with the sizes of prepare(). `space` has bytes() bytes.
  [[nodiscard]] std::string pack(std::span<std::byte> space) const;
  [[nodiscard]] std::string unpack(std::span<const std::byte> space) const;
  // The operation on one item of bytes() bytes. After a method has failed for a value that cannot be decoded, error()
  // has the reason and results are undefined.
  [[nodiscard]] Method method();
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  static void combine_items(void* into, const void* from, int size, int items, void* state);
  void combine_one(std::byte* into, const std::byte* from);
  void combine_piece(const Piece& piece, std::byte* into, const std::byte* from);
  // The piece's elements, combined in the machine's representation.
  void combine_elements(const Piece& piece, void* into, const void* from) const;

  const Method* method_ = nullptr;
  Conversion conversion_ = Conversion::native;
  std::vector<Piece> pieces_;
  std::uint64_t bytes_ = 0;
  std::string error_;
};

}  // namespace margay::zipcode::core
