#include "libraries/zipcode/invoices/element_combine.hpp"

#include <limits>

#include "libraries/zipcode/methods.hpp"

namespace margay::zipcode::core {

namespace {

// Why the method cannot combine a piece; empty: it can.
std::string piece_error(const Piece& piece, const Method* method) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): prepare() has checked the method
  const bool is_typed = method->kind == ZIP_METHOD_TYPED;
  if (piece.item->user == nullptr) {
    return is_typed ? typed_error(method, piece.elements.type, static_cast<int>(piece.elements.count))
                    : combine_error(method, builtin_bytes(piece.elements.type));
  }
  if (is_typed) {
    return "a typed method cannot combine the user type '" + piece.item->user->name +
           "'; use a method of a Zip_combine_function";
  }
  return combine_error(method, static_cast<std::size_t>(piece.bytes));
}

}  // namespace

std::string ElementCombine::prepare(const Zip_Invoice& invoice, Conversion conversion, const Method* method) {
  const bool is_typed = method != nullptr && method->kind == ZIP_METHOD_TYPED;
  if (std::string error = kind_error(method, is_typed ? ZIP_METHOD_TYPED : ZIP_METHOD_COMBINE, "combine");
      !error.empty())
    return error;
  if (std::string error = resolve(invoice, conversion, pieces_, bytes_); !error.empty()) return error;
  if (bytes_ > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    return "the invoice has " + std::to_string(bytes_) + " bytes; at most " +
           std::to_string(std::numeric_limits<int>::max()) + " can be combined";
  }
  for (const Piece& piece : pieces_) {
    if (std::string error = piece.item->ignore ? std::string() : piece_error(piece, method); !error.empty())
      return piece.item->name() + ": " + error;
  }
  method_ = method;
  conversion_ = conversion;
  return {};
}

std::string ElementCombine::pack(std::span<std::byte> space) const {
  return pack_pieces(pieces_, conversion_, space, true);
}

std::string ElementCombine::unpack(std::span<const std::byte> space) const {
  return unpack_pieces(pieces_, conversion_, space);
}

Method ElementCombine::method() {
  return {ZIP_METHOD_COMBINE, static_cast<int>(bytes_), reinterpret_cast<Zip_function*>(&combine_items), this, 0};
}

void ElementCombine::combine_items(void* into, const void* from, int size, int items, void* state) {
  for (int i = 0; i < items; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * static_cast<std::size_t>(size);
    static_cast<ElementCombine*>(state)->combine_one(static_cast<std::byte*>(into) + at,
                                                     static_cast<const std::byte*>(from) + at);
  }
}

void ElementCombine::combine_one(std::byte* into, const std::byte* from) {
  for (const Piece& piece : pieces_)
    if (!piece.item->ignore) combine_piece(piece, into + piece.offset, from + piece.offset);
}

void ElementCombine::combine_piece(const Piece& piece, std::byte* into, const std::byte* from) {
  // A user type's packed form is the business of its methods, and so is its representation.
  if (piece.item->user != nullptr || conversion_ == Conversion::native || piece.elements.type == 'c') {
    combine_elements(piece, into, from);
    return;
  }
  const std::size_t bytes = builtin_bytes(piece.elements.type);
  std::vector<std::byte> both[2] = {std::vector<std::byte>(piece.elements.count * bytes),
                                    std::vector<std::byte>(piece.elements.count * bytes)};
  const std::byte* const packed[2] = {into, from};
  for (int i = 0; i < 2; ++i) {
    if (std::string why =
            decode(packed[i], conversion_, {piece.elements.type, both[i].data(), piece.elements.count, bytes});
        !why.empty()) {
      error_ = piece.item->name() + ": " + why;
      return;
    }
  }
  combine_elements(piece, both[0].data(), both[1].data());
  encode({piece.elements.type, both[0].data(), piece.elements.count, bytes}, conversion_, into);
}

void ElementCombine::combine_elements(const Piece& piece, void* into, const void* from) const {
  const int count = static_cast<int>(piece.elements.count);
  if (piece.item->user != nullptr) {
    combine(*method_, into, from, static_cast<int>(piece.bytes), 1);
  } else if (method_->kind == ZIP_METHOD_TYPED) {
    combine_typed(*method_, into, from, piece.elements.type, count);
  } else {
    combine(*method_, into, from, static_cast<int>(builtin_bytes(piece.elements.type)), count);
  }
}

}  // namespace margay::zipcode::core
