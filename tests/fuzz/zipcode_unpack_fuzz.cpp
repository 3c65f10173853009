// libFuzzer target: the unpacking of Zipcode's letters. The input is an invoice, four bytes an item, and a body.
// Nothing is read behind the body or written outside of the variables, and what was unpacked packs to the same bytes.
// Corpus: tests/fuzz/zipcode_unpack_corpus.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "libraries/zipcode/invoices/element_combine.hpp"
#include "libraries/zipcode/invoices/invoice_layout.hpp"
#include "libraries/zipcode/invoices/packing.hpp"
#include "libraries/zipcode/methods.hpp"
#include "portals/base/assert.hpp"

namespace {

using namespace margay::zipcode::core;

constexpr int kCountMost = 9;
constexpr int kStrideMost = 3;

// A user type: a counted string of at most 15 characters.
struct Text {
  char length;
  char characters[15];
};

long text_in(void* item, void* space, void*, void*) {
  Text& text = *static_cast<Text*>(item);
  const char* const from = static_cast<const char*>(space);
  if (zip_method_space() < 1 || from[0] < 0 || from[0] > 15 || zip_method_space() < 1 + from[0]) return -1;
  std::memcpy(&text, from, 1 + static_cast<std::size_t>(from[0]));
  return 1 + from[0];
}
long text_out(void* item, void* space, void*, void*) {
  const Text& text = *static_cast<const Text*>(item);
  std::memcpy(space, &text, 1 + static_cast<std::size_t>(text.length));
  return 1 + text.length;
}
long text_len(void* item, void* space, void*, void*) {
  if (space != nullptr && zip_method_space() < 1) return -1;
  const char length = space != nullptr ? *static_cast<const char*>(space) : static_cast<const Text*>(item)->length;
  return length < 0 || length > 15 ? -1 : 1 + length;
}
long text_align(void*, void* space, void*, void*) {
  return static_cast<long>(reinterpret_cast<std::uintptr_t>(space) & 1);
}

void register_text() {
  static Method methods[4];
  Zip_conversion_function* const functions[] = {text_in, text_out, text_len, text_align};
  for (int i = 0; i < 4; ++i)
    methods[i] = {ZIP_METHOD_CONVERSION, 0, reinterpret_cast<Zip_function*>(functions[i]), nullptr, 0};
  static const bool is_registered =
      user_types().add({"text", &methods[0], &methods[1], &methods[2], &methods[3], sizeof(Text)}).empty();
  MARGAY_ASSERT(is_registered);
}

// The variables of one item, each in memory of its own, so that a sanitizer sees a write behind it. Zeroed: every Text
// is valid.
struct Variables {
  std::unique_ptr<std::byte[]> memory;
  std::unique_ptr<int> count = std::make_unique<int>(1);
};

// Items of four bytes: type, count, stride, reserved. A count above kCountMost is deferred: the int that an earlier
// item unpacks, or a constant.
void add_item(const std::uint8_t* four, std::vector<Variables>& variables, std::vector<int*>& ints,
              Zip_Invoice& invoice) {
  const char* const types[] = {"c", "s", "i", "l", "f", "d", "text"};
  Zip_Item item{};
  item.type = types[four[0] % 7];
  const std::size_t bytes = four[0] % 7 == 6 ? sizeof(Text) : builtin_bytes(item.type[0]);
  Variables& own = variables.emplace_back();
  own.memory = std::make_unique<std::byte[]>(bytes * kCountMost * kStrideMost);
  item.data = own.memory.get();
  if (four[1] >= 1 && four[1] <= kCountMost) {
    item.count = four[1];
  } else {
    item.count_at = ints.empty() ? own.count.get() : ints[four[1] % ints.size()];
    item.count_most = kCountMost;
  }
  item.stride = 1 + four[2] % kStrideMost;
  // The length of a skipped text comes from the body, but that of a packed one would come from the variable.
  item.ignore = four[0] % 7 != 6 && four[3] % 4 == 1;
  MARGAY_ASSERT(invoice.append(item).empty());
  if (four[0] % 7 == 2 && !item.ignore) ints.push_back(reinterpret_cast<int*>(own.memory.get()));
}

void check_again(const Zip_Invoice& invoice, Conversion conversion, std::uint64_t bytes) {
  std::vector<Piece> pieces;
  std::uint64_t size = 0;
  MARGAY_ASSERT(resolve(invoice, conversion, pieces, size).empty());
  // Overlapping counts may have changed after their use; then the sizes differ.
  if (size != bytes) return;
  std::vector<std::byte> one(size), other(size, std::byte{1});
  std::uint64_t packed = 0;
  MARGAY_ASSERT(pack(invoice, conversion, one, true, packed).empty() && packed == size);
  MARGAY_ASSERT(pack_pieces(pieces, conversion, other, true).empty() && one == other);
  MARGAY_ASSERT(unpack(invoice, conversion, one, packed).empty() && packed == size);
  MARGAY_ASSERT(pack(invoice, conversion, other, true, packed).empty() && one == other);
  if (conversion == Conversion::native && !invoice.has_user_types()) {
    const InvoiceLayout layout({}, pieces);
    MARGAY_ASSERT(layout.bytes() == size);
    layout.gather(nullptr, 0, other);
    MARGAY_ASSERT(one == other);
  }
}

void check_combine(const Zip_Invoice& invoice, Conversion conversion, const std::vector<std::byte>& body) {
  ElementCombine combine;
  if (!combine.prepare(invoice, conversion, ZIP_ADD).empty() || combine.bytes() > body.size()) return;
  // Both are a member's packed invoice, one of them damaged.
  std::vector<std::byte> into(combine.bytes());
  std::vector<std::byte> from(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(combine.bytes()));
  MARGAY_ASSERT(combine.pack(into).empty());
  const Method whole = combine.method();
  margay::zipcode::core::combine(whole, into.data(), from.data(), static_cast<int>(into.size()), 1);
  if (combine.error().empty()) MARGAY_ASSERT(combine.unpack(into).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  register_text();
  if (bytes < 2) return 0;
  const Conversion conversion = data[0] % 2 == 0 ? Conversion::native : Conversion::xdr;
  const std::size_t items = std::min<std::size_t>(data[1] % 16, (bytes - 2) / 4);
  Zip_Invoice invoice;
  std::vector<Variables> variables;
  std::vector<int*> ints;
  for (std::size_t i = 0; i < items; ++i) add_item(data + 2 + 4 * i, variables, ints, invoice);
  // A copy of exactly its length.
  const std::byte* const begin = reinterpret_cast<const std::byte*>(data) + 2 + 4 * items;
  const std::vector<std::byte> body(begin, reinterpret_cast<const std::byte*>(data) + bytes);
  std::uint64_t read = 0;
  const std::string error = unpack(invoice, conversion, body, read);
  if (error.empty()) {
    MARGAY_ASSERT(read <= body.size());
    // Counts are now those of the body, and may exceed the arrays: then packing is refused as well.
    std::uint64_t size = 0;
    if (packed_size(invoice, conversion, size).empty()) check_again(invoice, conversion, read);
  } else {
    MARGAY_ASSERT(error.find("item ") == 0);
  }
  check_combine(invoice, conversion, body);
  return 0;
}
