#include "libraries/zipcode/invoices/packing.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libraries/zipcode/methods.hpp"

namespace margay::zipcode::core {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 4;

long call(const Method& method, void* item, void* space, void* extra, long left, Conversion conversion) {
  const MethodScope scope(left, static_cast<int>(conversion));
  return reinterpret_cast<Zip_conversion_function*>(method.function)(item, space, extra, method.state);
}

std::string method_error(const InvoiceItem& item, const char* role, long result, const std::string& why) {
  return std::string("the method ") + role + " of '" + item.user->name + "' returned " + std::to_string(result) + why;
}

long as_space(std::uint64_t bytes) {
  return static_cast<long>(std::min<std::uint64_t>(bytes, std::numeric_limits<long>::max()));
}

// Walks the items of an invoice: resolves each piece at its turn.
class Walk {
 public:
  // The bytes of a piece of a user type that is unpacked: `in` returns them.
  static constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

  Walk(const Zip_Invoice& invoice, Conversion conversion) : invoice_(invoice), conversion_(conversion) {}
  // For unpack(): before run(); and in visit(), the bytes that `in` has read.
  void set_unpacking() { is_unpacking_ = true; }
  void set_unpacked(std::uint64_t bytes) { unpacked_ = bytes; }

  // Calls visit(piece) -> error for each piece. `packed`: the body that is unpacked, in which the lengths of skipped
  // items are; empty: the invoice is packed.
  template <typename Visit>
  std::string run(std::span<const std::byte> packed, Visit visit) {
    const std::vector<InvoiceItem>& items = invoice_.items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (std::string error = one(items[i], packed, visit); !error.empty())
        return "item " + std::to_string(i + 1) + " (" + items[i].name() + "): " + error;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t bytes() const { return offset_; }

 private:
  // Reads a size. `least`: 0 for a count, 1 for a stride.
  static std::string read_size(const Size& size, const char* noun, int least, int& value) {
    value = size.deferred == nullptr ? size.value : *size.deferred;
    if (value < least) {
      return std::string("the ") + noun + " is " + std::to_string(value) +
             (least == 0 ? "; it must not be negative" : "; it must be positive");
    }
    if (value > size.most) {
      return std::string("the ") + noun + " is " + std::to_string(value) + ", but at most " +
             std::to_string(size.most) + " is allowed";
    }
    return {};
  }

  template <typename Visit>
  std::string one(const InvoiceItem& item, std::span<const std::byte> packed, Visit& visit) {
    int count = 0;
    int stride = 0;
    if (std::string error = read_size(item.count, "count", 0, count); !error.empty()) return error;
    if (std::string error = read_size(item.stride, "stride", 1, stride); !error.empty()) return error;
    if (item.user != nullptr) return user(item, static_cast<std::size_t>(count), stride, packed, visit);
    if (count == 0) return {};
    const std::uint64_t alignment = packed_alignment(item.builtin, conversion_);
    Piece piece;
    piece.item = &item;
    piece.elements = {item.builtin, static_cast<std::byte*>(item.data), static_cast<std::size_t>(count),
                      builtin_bytes(item.builtin) * static_cast<std::size_t>(stride)};
    piece.offset = (offset_ + alignment - 1) / alignment * alignment;
    piece.bytes = packed_bytes(item.builtin, piece.elements.count, conversion_);
    offset_ = piece.offset + piece.bytes;
    return visit(std::as_const(piece));
  }

  template <typename Visit>
  std::string user(const InvoiceItem& item, std::size_t count, int stride, std::span<const std::byte> packed,
                   Visit& visit) {
    if (!user_types().has(*item.user))
      return "the type '" + item.user->name + "' was unregistered; the invoice can only be freed";
    for (std::size_t i = 0; i < count; ++i) {
      Piece piece;
      piece.item = &item;
      if (item.data != nullptr) {
        piece.user_item =
            static_cast<std::byte*>(item.data) + i * static_cast<std::size_t>(stride) * item.user->item_bytes;
      }
      if (std::string error = place(item, packed, piece); !error.empty()) return error;
      if (std::string error = visit(std::as_const(piece)); !error.empty()) return error;
      // unpack() learns the length from `in`, which it calls in visit().
      offset_ = piece.offset + (piece.bytes == kUnknown ? unpacked_ : piece.bytes);
    }
    return {};
  }

  // Sets offset and bytes of a piece of a user type. While unpacking, the bytes are kUnknown unless the piece is
  // skipped.
  std::string place(const InvoiceItem& item, std::span<const std::byte> packed, Piece& piece) {
    // A position, not an address in memory.
    void* const position = reinterpret_cast<void*>(static_cast<std::uintptr_t>(offset_));
    const long added = call(*item.user->align, piece.user_item, position, item.extra, 0, conversion_);
    if (added < 0 || added > kAlignMost)
      return method_error(item, "align", added, "; 0 to " + std::to_string(kAlignMost) + " is allowed");
    piece.offset = offset_ + static_cast<std::uint64_t>(added);
    if (is_unpacking_ && !item.ignore) {
      piece.bytes = kUnknown;
      return {};
    }
    if (is_unpacking_ && piece.offset > packed.size()) return "the letter or buffer ends before it";
    // The methods read packed items only; their type has one kind of pointer.
    std::byte* const space = is_unpacking_ ? const_cast<std::byte*>(packed.data()) + piece.offset : nullptr;
    const long left = is_unpacking_ ? as_space(packed.size() - piece.offset) : 0;
    const long bytes = call(*item.user->len, piece.user_item, space, item.extra, left, conversion_);
    if (bytes < 0 || static_cast<std::uint64_t>(bytes) > kMost - piece.offset)
      return method_error(item, "len", bytes, "");
    piece.bytes = static_cast<std::uint64_t>(bytes);
    return {};
  }

  const Zip_Invoice& invoice_;
  const Conversion conversion_;
  bool is_unpacking_ = false;
  std::uint64_t unpacked_ = 0;
  // The end of the piece before.
  std::uint64_t offset_ = 0;
};

std::string pack_piece(const Piece& piece, Conversion conversion, std::byte* body) {
  std::byte* const space = body + piece.offset;
  if (piece.item->user == nullptr) {
    encode(piece.elements, conversion, space);
    return {};
  }
  const long left = as_space(piece.bytes);
  const long written = call(*piece.item->user->out, piece.user_item, space, piece.item->extra, left, conversion);
  if (written >= 0 && static_cast<std::uint64_t>(written) == piece.bytes) return {};
  return method_error(*piece.item, "out", written, ", but len had returned " + std::to_string(piece.bytes));
}

std::string unpack_user(const Piece& piece, Conversion conversion, std::span<const std::byte> space,
                        std::uint64_t& bytes) {
  if (piece.offset > space.size()) return "the letter or buffer ends before it";
  const std::uint64_t left = space.size() - piece.offset;
  // As above: the method only reads.
  std::byte* const from = const_cast<std::byte*>(space.data()) + piece.offset;
  const long read = call(*piece.item->user->in, piece.user_item, from, piece.item->extra, as_space(left), conversion);
  if (read < 0) return method_error(*piece.item, "in", read, "");
  if (static_cast<std::uint64_t>(read) > left)
    return method_error(*piece.item, "in", read, ", but only " + std::to_string(left) + " bytes are left");
  bytes = static_cast<std::uint64_t>(read);
  return {};
}

// A piece with known bytes, while unpacking.
std::string end_error(const Piece& piece, std::span<const std::byte> space) {
  if (piece.offset <= space.size() && piece.bytes <= space.size() - piece.offset) return {};
  const std::uint64_t left = piece.offset <= space.size() ? space.size() - piece.offset : 0;
  return "it needs " + std::to_string(piece.bytes) + " bytes, but the letter or buffer has only " +
         std::to_string(left) + " left";
}

void clear(std::byte* body, std::uint64_t begin, std::uint64_t end) {
  if (begin < end) std::memset(body + begin, 0, static_cast<std::size_t>(end - begin));
}

// Packs a piece behind one that ended at `end`, and moves `end`.
std::string pack_behind(const Piece& piece, Conversion conversion, std::byte* body, bool is_new, std::uint64_t& end) {
  clear(body, end, piece.offset);
  end = piece.offset + piece.bytes;
  if (!piece.item->ignore) return pack_piece(piece, conversion, body);
  if (is_new) clear(body, piece.offset, end);
  return {};
}

}  // namespace

std::string resolve(const Zip_Invoice& invoice, Conversion conversion, std::vector<Piece>& pieces,
                    std::uint64_t& bytes) {
  pieces.clear();
  Walk walk(invoice, conversion);
  std::string error = walk.run({}, [&](const Piece& piece) {
    pieces.push_back(piece);
    return std::string();
  });
  bytes = walk.bytes();
  return error;
}

std::string packed_size(const Zip_Invoice& invoice, Conversion conversion, std::uint64_t& bytes) {
  if (invoice.is_fixed()) {
    bytes = invoice.fixed_bytes(conversion);
    return {};
  }
  Walk walk(invoice, conversion);
  std::string error = walk.run({}, [](const Piece&) { return std::string(); });
  bytes = walk.bytes();
  return error;
}

std::string pack(const Zip_Invoice& invoice, Conversion conversion, std::span<std::byte> space, bool is_new,
                 std::uint64_t& bytes) {
  // The size first, so that nothing is written if it does not fit. A method that runs in between may change a deferred
  // size, so each piece is compared again.
  if (std::string error = packed_size(invoice, conversion, bytes); !error.empty()) return error;
  if (bytes > space.size())
    return "the invoice needs " + std::to_string(bytes) + " bytes, but the space has " + std::to_string(space.size());
  std::uint64_t end = 0;
  Walk walk(invoice, conversion);
  return walk.run({}, [&](const Piece& piece) -> std::string {
    if (piece.offset > bytes || piece.bytes > bytes - piece.offset)
      return "its size changed during the packing; a method must not change deferred sizes";
    return pack_behind(piece, conversion, space.data(), is_new, end);
  });
}

std::string unpack(const Zip_Invoice& invoice, Conversion conversion, std::span<const std::byte> space,
                   std::uint64_t& bytes) {
  Walk walk(invoice, conversion);
  walk.set_unpacking();
  std::string error = walk.run(space, [&](const Piece& piece) -> std::string {
    if (piece.bytes == Walk::kUnknown) {
      std::uint64_t read = 0;
      std::string why = unpack_user(piece, conversion, space, read);
      walk.set_unpacked(read);
      return why;
    }
    if (std::string why = end_error(piece, space); !why.empty()) return why;
    if (piece.item->ignore) return {};
    return decode(space.data() + piece.offset, conversion, piece.elements);
  });
  bytes = walk.bytes();
  return error;
}

std::string pack_pieces(const std::vector<Piece>& pieces, Conversion conversion, std::span<std::byte> space,
                        bool is_new) {
  std::uint64_t end = 0;
  for (const Piece& piece : pieces) {
    if (std::string error = pack_behind(piece, conversion, space.data(), is_new, end); !error.empty())
      return piece.item->name() + ": " + error;
  }
  return {};
}

std::string unpack_pieces(const std::vector<Piece>& pieces, Conversion conversion, std::span<const std::byte> space) {
  for (const Piece& piece : pieces) {
    if (piece.item->ignore) continue;
    std::uint64_t read = 0;
    std::string error = piece.item->user != nullptr ? unpack_user(piece, conversion, space, read)
                                                    : decode(space.data() + piece.offset, conversion, piece.elements);
    if (!error.empty()) return piece.item->name() + ": " + error;
  }
  return {};
}

}  // namespace margay::zipcode::core
