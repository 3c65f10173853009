#include "libraries/nexus/modules/sealing.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "libraries/nexus/modules/bytes.hpp"

namespace margay::nexus::core {
namespace {

static_assert(crypto_secretstream_xchacha20poly1305_KEYBYTES == sizeof(ModuleKey));
static_assert(crypto_secretstream_xchacha20poly1305_HEADERBYTES == kSealedHeaderBytes - 24);
static_assert(crypto_secretstream_xchacha20poly1305_ABYTES == kSealedChunkExtra);

constexpr std::uint64_t kSealedVersion = 0x01'64'65'6c'61'65'73'6d;  // "msealed", version 1
constexpr unsigned char kLastChunk = crypto_secretstream_xchacha20poly1305_TAG_FINAL;

using StreamState = crypto_secretstream_xchacha20poly1305_state;

// The data that the first chunk authenticates: the sealed body's own fields, then the request's header.
std::vector<std::byte> authenticated(const std::byte* sealed, std::span<const std::byte> header) {
  std::vector<std::byte> data(sealed, sealed + 24);
  data.insert(data.end(), header.begin(), header.end());
  return data;
}

// Opens all chunks of `rest` into `out`. False if one is damaged, or if the last one is missing.
bool open_chunks(StreamState& state, std::span<const std::byte> rest, const std::vector<std::byte>& data,
                 std::vector<std::byte>& out) {
  bool first = true;
  for (;;) {
    if (rest.size() < kSealedChunkExtra) return false;
    const std::size_t chunk = std::min(rest.size(), kSealedChunk + kSealedChunkExtra);
    const std::size_t at = out.size();
    out.resize(at + chunk - kSealedChunkExtra);
    unsigned char tag = 0;
    if (crypto_secretstream_xchacha20poly1305_pull(&state, raw(out.data() + at), nullptr, &tag, raw(rest.data()), chunk,
                                                   first ? raw(data.data()) : nullptr, first ? data.size() : 0) != 0) {
      return false;
    }
    first = false;
    rest = rest.subspan(chunk);
    if (tag == kLastChunk) return rest.empty();
  }
}

}  // namespace

void Sealer::seal(std::span<const std::byte> header, std::span<const std::span<const std::byte>> pieces,
                  std::vector<std::byte>& out) {
  plain_.clear();
  for (const std::span<const std::byte> one : pieces) plain_.insert(plain_.end(), one.begin(), one.end());
  out.resize(sealed_bytes(plain_.size()));
  std::byte* at = out.data();
  put_number(at, kSealedVersion);
  put_number(at + 8, session_);
  put_number(at + 16, number_++);
  StreamState state;
  crypto_secretstream_xchacha20poly1305_init_push(&state, raw(at + 24), raw(key_.data()));
  const std::vector<std::byte> data = authenticated(at, header);
  at += kSealedHeaderBytes;
  std::span<const std::byte> rest = plain_;
  bool first = true;
  do {
    const std::span<const std::byte> chunk = rest.first(std::min(rest.size(), kSealedChunk));
    rest = rest.subspan(chunk.size());
    crypto_secretstream_xchacha20poly1305_push(&state, raw(at), nullptr, raw(chunk.data()), chunk.size(),
                                               first ? raw(data.data()) : nullptr, first ? data.size() : 0,
                                               rest.empty() ? kLastChunk : 0);
    at += chunk.size() + kSealedChunkExtra;
    first = false;
  } while (!rest.empty());
  sodium_memzero(&state, sizeof state);
}

std::string Unsealer::unseal(std::span<const std::byte> header, std::span<const std::byte> body,
                             std::vector<std::byte>& out) {
  out.clear();
  if (body.size() < kSealedHeaderBytes + kSealedChunkExtra) {
    return "the body of " + std::to_string(body.size()) + " bytes is shorter than an empty sealed one";
  }
  if (number_at<std::uint64_t>(body.data()) != kSealedVersion) return "the body is not sealed, or by another version";
  const auto session = number_at<std::uint64_t>(body.data() + 8);
  const auto number = number_at<std::uint64_t>(body.data() + 16);
  StreamState state;
  const bool opened =
      number >> 63 == 0 &&
      crypto_secretstream_xchacha20poly1305_init_pull(&state, raw(body.data() + 24), raw(key_.data())) == 0 &&
      open_chunks(state, body.subspan(kSealedHeaderBytes), authenticated(body.data(), header), out);
  sodium_memzero(&state, sizeof state);
  if (!opened) {
    sodium_memzero(out.data(), out.size());
    out.clear();
    return "the body or its header is damaged, or was sealed with another key";
  }
  // Only now are session and number the sender's.
  const auto found = sessions_.find(session);
  if (found != sessions_.end() && !found->second.is_new(number)) {
    out.clear();
    return "body " + std::to_string(number) + " is a replay";
  }
  if (found == sessions_.end() && sessions_.size() == kSessionsMost) {
    out.clear();
    return "the sender has begun " + std::to_string(kSessionsMost) + " times already";
  }
  sessions_[session].note(number);
  return {};
}

}  // namespace margay::nexus::core
