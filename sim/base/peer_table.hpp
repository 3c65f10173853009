// What a process has for each of its peers, made when it first has to do with one of them: a rank among thousands hears
// of few. Cost of an access: one load more than a vector's; of an empty table, 8 bytes for each 32 peers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace margay::sim {

template <typename Each>
class PeerTable {
 public:
  explicit PeerTable(std::uint32_t peers) : peers_(peers), chunks_((peers + kChunk - 1) / kChunk) {}

  [[nodiscard]] std::uint32_t size() const { return peers_; }
  // To be changed. Requires: peer < size().
  [[nodiscard]] Each& operator[](std::uint32_t peer) {
    auto& chunk = chunks_[peer / kChunk];
    if (chunk == nullptr) [[unlikely]]
      make(chunk);
    return (*chunk)[peer % kChunk];
  }
  // To be read: as Each{} where nothing was changed yet.
  [[nodiscard]] const Each& at(std::uint32_t peer) const {
    static const Each kNone{};
    const auto& chunk = chunks_[peer / kChunk];
    return chunk == nullptr ? kNone : (*chunk)[peer % kChunk];
  }
  // function(peer, each) of those that may have been changed.
  template <typename Function>
  void for_each(Function&& function) const {
    for (std::uint32_t peer = 0; peer < peers_; ++peer) {
      const auto& chunk = chunks_[peer / kChunk];
      if (chunk == nullptr) {
        peer += kChunk - 1;
      } else {
        function(peer, (*chunk)[peer % kChunk]);
      }
    }
  }

 private:
  static constexpr std::uint32_t kChunk = 32;
  using Chunk = std::array<Each, kChunk>;
  [[gnu::noinline]] static void make(std::unique_ptr<Chunk>& chunk) { chunk = std::make_unique<Chunk>(); }

  std::uint32_t peers_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace margay::sim
