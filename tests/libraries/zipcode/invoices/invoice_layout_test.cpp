// Unit tests of the layout of an invoice: its bytes are those of an envelope and the packed invoice, however they are
// cut.
#include <doctest/doctest.h>

#include <cstdarg>
#include <cstring>
#include <vector>

#include "libraries/zipcode/invoices/invoice_layout.hpp"
#include "libraries/zipcode/invoices/packing.hpp"

namespace {

using namespace margay::zipcode::core;
using LayoutBytes = std::vector<std::byte>;

void layout_invoice(Zip_Invoice& invoice, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  REQUIRE(invoice.append(format, &arguments) == "");
  va_end(arguments);
}

// The letter by two copies.
LayoutBytes copied(const LayoutBytes& envelope, const std::vector<Piece>& pieces, std::uint64_t bytes) {
  LayoutBytes letter = envelope;
  letter.resize(envelope.size() + bytes, std::byte{0xee});
  REQUIRE(pack_pieces(pieces, Conversion::native, std::span(letter).subspan(envelope.size()), true) == "");
  return letter;
}

void check_layout(const Zip_Invoice& invoice, std::size_t envelope_bytes) {
  const LayoutBytes envelope(envelope_bytes, std::byte{0x11});
  std::vector<Piece> pieces;
  std::uint64_t bytes = 0;
  REQUIRE(resolve(invoice, Conversion::native, pieces, bytes) == "");
  const LayoutBytes letter = copied(envelope, pieces, bytes);
  const InvoiceLayout layout(envelope, pieces);
  REQUIRE(layout.bytes() == letter.size());
  for (std::size_t at = 0; at < letter.size(); ++at) {
    for (const std::size_t part : {std::size_t{1}, std::size_t{7}, letter.size() - at}) {
      const std::size_t length = std::min(part, letter.size() - at);
      LayoutBytes target(length);
      layout.gather(nullptr, at, target);
      CHECK(std::memcmp(target.data(), letter.data() + at, length) == 0);
    }
    const margay::portals::Buffer piece = layout.piece(nullptr, at);
    REQUIRE(piece.bytes > 0);
    REQUIRE(at + piece.bytes <= letter.size());
    CHECK(std::memcmp(piece.base, letter.data() + at, piece.bytes) == 0);
  }
}

}  // namespace

TEST_CASE("zipcode invoice layout: the same bytes as a packed letter, from each position") {
  char c = 1;
  int n = 3;
  short s[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  double d[20];
  for (int k = 0; k < 20; ++k) d[k] = 1.5 * k;
  Zip_Invoice invoice;
  layout_invoice(invoice, "%c%10.2d%&.3s%5-c%300-c%2d%c", &c, d, &n, s, nullptr, nullptr, d, &c);
  check_layout(invoice, 16);
  check_layout(invoice, 64);
  Zip_Invoice plain;
  layout_invoice(plain, "%20d", d);
  check_layout(plain, 16);
  Zip_Invoice padded;
  layout_invoice(padded, "%-c%d", nullptr, d);
  check_layout(padded, 16);
}

TEST_CASE("zipcode invoice layout: a scatter writes the variables, and nothing for space without any") {
  double d[6] = {};
  char c = 0;
  Zip_Invoice invoice;
  layout_invoice(invoice, "%c%3.2d%-i", &c, d, nullptr);
  std::vector<Piece> pieces;
  std::uint64_t bytes = 0;
  REQUIRE(resolve(invoice, Conversion::native, pieces, bytes) == "");
  LayoutBytes envelope(8);
  const InvoiceLayout layout(envelope, pieces);
  LayoutBytes source(layout.bytes());
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i + 1);
  // In parts that cut elements.
  for (std::size_t at = 0; at < source.size(); at += 5)
    layout.scatter(nullptr, at, std::span(source).subspan(at, std::min<std::size_t>(5, source.size() - at)));
  CHECK(std::memcmp(envelope.data(), source.data(), 8) == 0);
  CHECK(c == 9);
  CHECK(d[1] == 0);
  for (std::size_t k = 0; k < 3; ++k) CHECK(std::memcmp(&d[2 * k], source.data() + 16 + 8 * k, 8) == 0);
}
