#include "libraries/nexus/modules/compression.hpp"

#include <zstd.h>

#include <cstring>

#include "libraries/nexus/modules/bytes.hpp"

namespace margay::nexus::core {
namespace {

constexpr std::uint8_t kCompressedMagic = 'Z';
// The forms of a body.
constexpr std::uint8_t kFormPlain = 0;
constexpr std::uint8_t kFormZstd = 1;

void put_compressed_header(std::byte* at, std::uint8_t form, std::uint64_t plain_bytes) {
  put_number(at, kCompressedMagic);
  put_number(at + 1, form);
  put_number(at + 2, std::uint16_t{0});
  put_number(at + 4, plain_bytes);
}

std::string byte_count(std::uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

}  // namespace

Compression::Compression() : compressor_(ZSTD_createCCtx()), expander_(ZSTD_createDCtx()) {}

Compression::~Compression() {
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(compressor_));
  ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(expander_));
}

std::string Compression::compress(std::span<const std::span<const std::byte>> pieces, int level,
                                  std::vector<std::byte>& out) {
  std::size_t bytes = 0;
  for (const std::span<const std::byte> one : pieces) bytes += one.size();
  if (bytes > kPlainMost)
    return "a body of " + byte_count(bytes) + " exceeds the " + byte_count(kPlainMost) + " of compressed";
  plain_.clear();
  plain_.reserve(bytes);
  for (const std::span<const std::byte> one : pieces) plain_.insert(plain_.end(), one.begin(), one.end());
  if (bytes >= kCompressLeast && compressor_ != nullptr) {
    out.resize(kCompressedHeaderBytes + ZSTD_compressBound(bytes));
    const std::size_t packed =
        ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(compressor_), out.data() + kCompressedHeaderBytes,
                          out.size() - kCompressedHeaderBytes, plain_.data(), bytes, level);
    if (ZSTD_isError(packed) == 0 && packed < bytes) {
      put_compressed_header(out.data(), kFormZstd, bytes);
      out.resize(kCompressedHeaderBytes + packed);
      return {};
    }
  }
  out.resize(kCompressedHeaderBytes + bytes);
  put_compressed_header(out.data(), kFormPlain, bytes);
  if (bytes != 0) std::memcpy(out.data() + kCompressedHeaderBytes, plain_.data(), bytes);
  return {};
}

std::string Compression::expand(std::span<const std::byte> body, std::uint64_t most, std::vector<std::byte>& out) {
  out.clear();
  if (body.size() < kCompressedHeaderBytes)
    return "the body of " + byte_count(body.size()) + " is shorter than its header";
  const auto form = number_at<std::uint8_t>(body.data() + 1);
  if (number_at<std::uint8_t>(body.data()) != kCompressedMagic || form > kFormZstd ||
      number_at<std::uint16_t>(body.data() + 2) != 0) {
    return "the header is damaged";
  }
  const auto plain_bytes = number_at<std::uint64_t>(body.data() + 4);
  const std::span<const std::byte> rest = body.subspan(kCompressedHeaderBytes);
  if (plain_bytes > most || plain_bytes > kPlainMost) {
    return "the header has a length of " + byte_count(plain_bytes) + ", more than the accepted " +
           byte_count(most < kPlainMost ? most : kPlainMost);
  }
  if (form == kFormPlain) {
    if (rest.size() != plain_bytes)
      return "the header has a length of " + byte_count(plain_bytes) + ", but " + byte_count(rest.size()) + " follow";
    out.assign(rest.begin(), rest.end());
    return {};
  }
  if (plain_bytes > rest.size() * kExpansionMost) {
    return "the header has a length of " + byte_count(plain_bytes) + ", which " + byte_count(rest.size()) +
           " of zstd cannot have";
  }
  if (expander_ == nullptr) return "zstd has no memory";
  // A frame with a wrong length fails before it writes beyond `out`.
  out.resize(plain_bytes);
  const std::size_t written =
      ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(expander_), out.data(), out.size(), rest.data(), rest.size());
  if (ZSTD_isError(written) != 0) {
    out.clear();
    return std::string("zstd cannot expand it: ") + ZSTD_getErrorName(written);
  }
  if (written != plain_bytes) {
    out.clear();
    return "the header has a length of " + byte_count(plain_bytes) + ", but " + byte_count(written) +
           " were compressed";
  }
  return {};
}

}  // namespace margay::nexus::core
