// A compressed body: a header of 12 bytes with the length of the plain body, and a zstd frame, or the plain bytes if
// compression does not pay. docs/nexus_modules.md has the bytes. Compressed bodies come from other processes, so their
// lengths are checked before memory is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace margay::nexus::core {

inline constexpr std::size_t kCompressedHeaderBytes = 12;
// Shorter bodies stay plain: zstd's own header would take what it saves.
inline constexpr std::size_t kCompressLeast = 128;
// The longest plain body.
inline constexpr std::uint64_t kPlainMost = std::uint64_t{1} << 30;
// A zstd block of at least 4 bytes has at most 128 KiB. A header that claims more is wrong, so a short body cannot
// cause a large allocation.
inline constexpr std::uint64_t kExpansionMost = 32768;
// zstd's levels: 1 is the fastest. 3 is zstd's own default.
inline constexpr int kLevelLeast = 1;
inline constexpr int kLevelMost = 19;
inline constexpr int kLevelUsual = 3;

// Compresses bodies, and expands them. Keeps zstd's working memory between calls. One thread.
class Compression {
 public:
  Compression();
  ~Compression();
  Compression(const Compression&) = delete;
  Compression& operator=(const Compression&) = delete;

  // Writes the compressed form of the body whose pieces are `pieces` to `out`. Returns an error, or an empty string.
  // Requires: kLevelLeast <= level <= kLevelMost.
  [[nodiscard]] std::string compress(std::span<const std::span<const std::byte>> pieces, int level,
                                     std::vector<std::byte>& out);
  // Writes the plain form of `body`, which may have any content, to `out`. Returns an error that names the damage, or
  // an empty string; `out` is then complete. `most`: the longest accepted plain body, at most kPlainMost.
  [[nodiscard]] std::string expand(std::span<const std::byte> body, std::uint64_t most, std::vector<std::byte>& out);

 private:
  void* compressor_ = nullptr;  // a ZSTD_CCtx; zstd.h stays out of this header
  void* expander_ = nullptr;    // a ZSTD_DCtx
  std::vector<std::byte> plain_;
};

}  // namespace margay::nexus::core
