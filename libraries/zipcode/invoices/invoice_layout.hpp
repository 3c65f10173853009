// The layout of a letter that is never built: its envelope and the pieces of an invoice where they lie in the program's
// memory. The wire gathers the letter from it, so that each byte is copied once. For invoices of built-in types in the
// machine's representation; methods of user types and XDR write to memory of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libraries/zipcode/invoices/invoice.hpp"
#include "margay/structures.hpp"

namespace margay::zipcode::core {

class InvoiceLayout final : public portals::Layout {
 public:
  // `envelope` and the variables of the pieces must live and keep their values while regions refer to the layout.
  // Requires: no piece of a user type; the body begins at the envelope's end.
  InvoiceLayout(std::span<const std::byte> envelope, const std::vector<Piece>& pieces);

  // Envelope and body.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // Layout. The base is not used: runs have absolute addresses.
  [[nodiscard]] portals::Buffer piece(std::byte* base, std::uint64_t at) const override;
  void gather(const std::byte* base, std::uint64_t at, std::span<std::byte> target) const override;
  void scatter(std::byte* base, std::uint64_t at, std::span<const std::byte> source) const override;

 private:
  // `count` elements of `width` bytes, one in each `stride` bytes; `data` is nullptr for alignment and reserved space,
  // which are sent as zeros. A run without gaps is one element.
  struct Run {
    std::uint64_t begin = 0;
    std::byte* data = nullptr;
    std::uint64_t width = 0;
    std::uint64_t stride = 0;
    std::uint64_t count = 1;
  };

  void add(std::byte* data, std::uint64_t width, std::uint64_t stride, std::uint64_t count);
  [[nodiscard]] const Run& run_at(std::uint64_t at) const;
  // Calls visit(memory, bytes) for each contiguous part from `at` on; memory is nullptr for zeros.
  template <typename Visit>
  void for_parts(std::uint64_t at, std::uint64_t bytes, Visit visit) const;

  std::vector<Run> runs_;
  std::uint64_t bytes_ = 0;
};

}  // namespace margay::zipcode::core
