// Sealed bodies: libsodium's secretstream (XChaCha20-Poly1305) around a body. Each body is a stream of its own, so that
// a lost or refused body does not affect later ones, and long bodies are sealed in chunks. The request's header is
// authenticated with the body, but stays readable. docs/nexus_modules.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libraries/nexus/modules/keys.hpp"
#include "libraries/nexus/modules/number_window.hpp"

namespace margay::nexus::core {

// Version and reserved bytes 8, session 8, number 8, header of the stream 24.
inline constexpr std::size_t kSealedHeaderBytes = 48;
// Plain bytes of a chunk; the last one has fewer or as many. Each chunk is 17 bytes longer when sealed.
inline constexpr std::size_t kSealedChunk = 65536;
inline constexpr std::size_t kSealedChunkExtra = 17;

// The length of the sealed form of a body of `plain_bytes` bytes.
[[nodiscard]] constexpr std::size_t sealed_bytes(std::size_t plain_bytes) {
  const std::size_t chunks = plain_bytes == 0 ? 1 : (plain_bytes + kSealedChunk - 1) / kSealedChunk;
  return kSealedHeaderBytes + plain_bytes + chunks * kSealedChunkExtra;
}

// The sending side of one pair. One thread.
class Sealer {
 public:
  // `key`: of the messages of this pair, in this direction.
  explicit Sealer(const ModuleKey& key) : key_(key), session_(random_session()) {}
  // Writes the sealed form of the body whose pieces are `pieces` to `out`. `header`: the request's header, which the
  // receiver must have unchanged.
  void seal(std::span<const std::byte> header, std::span<const std::span<const std::byte>> pieces,
            std::vector<std::byte>& out);

 private:
  const ModuleKey key_;
  const std::uint64_t session_;  // one incarnation of the sender
  std::uint64_t number_ = 0;     // of the next body
  std::vector<std::byte> plain_;
};

// The receiving side of one pair. One thread.
class Unsealer {
 public:
  // The most incarnations of a sender. The bodies of a further one are refused, so that memory is bounded.
  static constexpr std::size_t kSessionsMost = 64;

  explicit Unsealer(const ModuleKey& key) : key_(key) {}
  // Writes the plain form of `body`, which may have any content, to `out`. Returns an error that names the damage, the
  // wrong key or the replay, or an empty string; `out` is then complete. A refused body changes nothing.
  [[nodiscard]] std::string unseal(std::span<const std::byte> header, std::span<const std::byte> body,
                                   std::vector<std::byte>& out);

 private:
  const ModuleKey key_;
  std::map<std::uint64_t, NumberWindow> sessions_;  // at most kSessionsMost
};

}  // namespace margay::nexus::core
