#include "libraries/zipcode/invoices/invoice_layout.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "libraries/zipcode/methods.hpp"

namespace margay::zipcode::core {

namespace {

// What piece() returns for zeros. Never written: a layout of an invoice is the source of a message.
constexpr std::size_t kZeros = 256;
std::array<std::byte, kZeros> zeros{};

}  // namespace

InvoiceLayout::InvoiceLayout(std::span<const std::byte> envelope, const std::vector<Piece>& pieces) {
  // The envelope is read only.
  add(const_cast<std::byte*>(envelope.data()), envelope.size(), envelope.size(), 1);
  for (const Piece& piece : pieces) {
    const std::uint64_t begin = envelope.size() + piece.offset;
    if (begin > bytes_) add(nullptr, begin - bytes_, 0, 1);
    const std::uint64_t width = builtin_bytes(piece.elements.type);
    if (piece.item->ignore) {
      add(nullptr, piece.bytes, 0, 1);
    } else if (piece.elements.stride == width) {
      add(piece.elements.data, piece.bytes, piece.bytes, 1);
    } else {
      add(piece.elements.data, width, piece.elements.stride, piece.elements.count);
    }
  }
}

void InvoiceLayout::add(std::byte* data, std::uint64_t width, std::uint64_t stride, std::uint64_t count) {
  if (width == 0 || count == 0) return;
  runs_.push_back({bytes_, data, width, stride, count});
  bytes_ += width * count;
}

const InvoiceLayout::Run& InvoiceLayout::run_at(std::uint64_t at) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), at,
                                      [](std::uint64_t place, const Run& run) { return place < run.begin; });
  return *(after - 1);
}

portals::Buffer InvoiceLayout::piece(std::byte*, std::uint64_t at) const {
  const Run& run = run_at(at);
  const std::uint64_t in_run = at - run.begin;
  if (run.data == nullptr)
    return {zeros.data(), static_cast<std::size_t>(std::min<std::uint64_t>(kZeros, run.width - in_run))};
  const std::uint64_t in_element = in_run % run.width;
  return {run.data + in_run / run.width * run.stride + in_element, static_cast<std::size_t>(run.width - in_element)};
}

template <typename Visit>
void InvoiceLayout::for_parts(std::uint64_t at, std::uint64_t bytes, Visit visit) const {
  if (bytes == 0) return;
  for (const Run* run = &run_at(at); bytes > 0; ++run) {
    std::uint64_t element = (at - run->begin) / run->width;
    std::uint64_t in_element = (at - run->begin) % run->width;
    for (; element < run->count && bytes > 0; ++element, in_element = 0) {
      const std::uint64_t part = std::min(bytes, run->width - in_element);
      visit(run->data == nullptr ? nullptr : run->data + element * run->stride + in_element,
            static_cast<std::size_t>(part));
      bytes -= part;
      at += part;
    }
  }
}

void InvoiceLayout::gather(const std::byte*, std::uint64_t at, std::span<std::byte> target) const {
  std::byte* to = target.data();
  for_parts(at, target.size(), [&](const std::byte* from, std::size_t part) {
    if (from == nullptr) {
      std::memset(to, 0, part);
    } else {
      std::memcpy(to, from, part);
    }
    to += part;
  });
}

void InvoiceLayout::scatter(std::byte*, std::uint64_t at, std::span<const std::byte> source) const {
  const std::byte* from = source.data();
  for_parts(at, source.size(), [&](std::byte* to, std::size_t part) {
    if (to != nullptr) std::memcpy(to, from, part);
    from += part;
  });
}

}  // namespace margay::zipcode::core
