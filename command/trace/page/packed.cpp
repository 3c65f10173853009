#include "command/trace/page/packed.hpp"

#include <sodium.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

namespace margay::command {

namespace {

// zlib's default, 6, takes 5 times as long for stories and makes them an eighth smaller.
constexpr int kLevel = 2;

// zlib counts in 32 bits, so longer input is fed in pieces.
std::vector<unsigned char> gzip(std::span<const std::byte> bytes) {
  // Added to the window's bits: selects a gzip header.
  constexpr int kGzip = 16;
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, MAX_WBITS + kGzip, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::vector<unsigned char> out;
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  // zlib's pointer lacks const, but it only reads.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  std::size_t left = bytes.size();
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && left > 0) {
      stream.avail_in = static_cast<uInt>(left < kMost ? left : kMost);
      left -= stream.avail_in;
    }
    const std::size_t before = out.size();
    // deflateBound() holds for input in one piece. Where it falls short, the next round makes more room.
    out.resize(before + deflateBound(&stream, stream.avail_in) + 64);
    stream.next_out = out.data() + before;
    stream.avail_out = static_cast<uInt>(out.size() - before);
    state = deflate(&stream, left == 0 ? Z_FINISH : Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::string packed(std::span<const std::byte> bytes) {
  const std::vector<unsigned char> compressed = gzip(bytes);
  std::string text(sodium_base64_ENCODED_LEN(compressed.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), compressed.data(), compressed.size(), sodium_base64_VARIANT_ORIGINAL);
  // The terminating zero.
  text.pop_back();
  return text;
}

std::size_t PackedBlobs::add(std::span<const std::byte> bytes) {
  // A copy, since the caller may reuse its bytes before the other thread reads them.
  return add_pending([copy = std::vector(bytes.begin(), bytes.end())] { return packed(copy); });
}

std::size_t PackedBlobs::add(std::function<std::string()> make) {
  return add_pending([make = std::move(make)] {
    const std::string text = make();
    return packed(std::as_bytes(std::span(text)));
  });
}

std::size_t PackedBlobs::add_pending(std::function<std::string()> packs) {
  const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  // Bounds the threads, and the memory of blobs in progress.
  while (blobs_.size() - taken_ >= most) static_cast<void>(at(taken_));
  blobs_.push_back({{}, std::async(std::launch::async, std::move(packs))});
  return blobs_.size() - 1;
}

const std::string& PackedBlobs::at(std::size_t number) {
  for (; taken_ <= number; ++taken_) blobs_[taken_].text = blobs_[taken_].pending.get();
  return blobs_[number].text;
}

}  // namespace margay::command
