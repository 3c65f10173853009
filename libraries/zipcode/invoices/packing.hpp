// Packing and unpacking of invoices in a run of bytes, without letters and mailers. Methods of user types run inside
// these functions, so the caller is outside of the process lock.
//
// Every function returns an empty string, or an error for the user that names the item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libraries/zipcode/invoices/invoice.hpp"

namespace margay::zipcode::core {

// The most bytes that align may ask for.
inline constexpr long kAlignMost = 4095;

// The pieces of the invoice as they would be packed now: every deferred size is read once. `bytes`: the packed size.
[[nodiscard]] std::string resolve(const Zip_Invoice& invoice, Conversion conversion, std::vector<Piece>& pieces,
                                  std::uint64_t& bytes);
// The packed size alone.
[[nodiscard]] std::string packed_size(const Zip_Invoice& invoice, Conversion conversion, std::uint64_t& bytes);

// Packs into the beginning of `space`; `bytes`: the packed size. An invoice that does not fit is an error, and `space`
// is unchanged. Alignment is set to zero; reserved space too if `is_new`, otherwise it is left as it is.
[[nodiscard]] std::string pack(const Zip_Invoice& invoice, Conversion conversion, std::span<std::byte> space,
                               bool is_new, std::uint64_t& bytes);

// Unpacks item by item, so that a deferred size may be an item before it. Never reads past the end of `space`; bytes
// behind the last item are ignored. `bytes`: the bytes up to the end of the last item. After an error, the items before
// the named one are unpacked.
[[nodiscard]] std::string unpack(const Zip_Invoice& invoice, Conversion conversion, std::span<const std::byte> space,
                                 std::uint64_t& bytes);

// The same for pieces that are resolved already, for a body of at least their size.
[[nodiscard]] std::string pack_pieces(const std::vector<Piece>& pieces, Conversion conversion,
                                      std::span<std::byte> space, bool is_new);
[[nodiscard]] std::string unpack_pieces(const std::vector<Piece>& pieces, Conversion conversion,
                                        std::span<const std::byte> space);

}  // namespace margay::zipcode::core
