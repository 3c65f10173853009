// A table of a process's data about each peer. Memory is allocated at the first contact with a peer, because a rank
// among thousands communicates with few. An access costs one load more than in a vector. An empty table takes 8 bytes
// for each 32 peers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace margay::sim {

// An immutable table of numbers that many objects share: thousands of ranks in one process have the same data about all
// others. Reading costs as much as from a vector. Copying costs one change of a reference count.
class SharedTable {
 public:
  using Numbers = std::vector<std::uint32_t>;

  SharedTable() = default;
  SharedTable(Numbers numbers)  // NOLINT(google-explicit-constructor): it is the same table
      : numbers_(std::make_shared<const Numbers>(std::move(numbers))),
        first_(numbers_->data()),
        size_(numbers_->size()) {}
  SharedTable(std::initializer_list<std::uint32_t> numbers) : SharedTable(Numbers(numbers)) {}

  // As a vector of const elements. Index without a check.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint32_t operator[](std::size_t at) const { return first_[at]; }
  [[nodiscard]] std::uint32_t front() const { return first_[0]; }
  [[nodiscard]] const std::uint32_t* begin() const { return first_; }
  [[nodiscard]] const std::uint32_t* end() const { return first_ + size_; }
  [[nodiscard]] const std::uint32_t* data() const { return first_; }
  // The same as a vector; valid as long as any copy of this lives.
  [[nodiscard]] const Numbers& numbers() const {
    static const Numbers kNone;
    return numbers_ != nullptr ? *numbers_ : kNone;
  }
  // Whether this is a copy of `other`, or `other` of this.
  [[nodiscard]] bool is_same(const SharedTable& other) const { return numbers_ == other.numbers_; }
  // Copies are equal without a comparison of their elements.
  friend bool operator==(const SharedTable& one, const SharedTable& other) {
    return one.is_same(other) || one.numbers() == other.numbers();
  }

 private:
  // Shared by all copies; nullptr: empty.
  std::shared_ptr<const Numbers> numbers_;
  // Copies of the vector's pointer and size, so that reading does not go through the shared pointer.
  const std::uint32_t* first_ = nullptr;
  std::size_t size_ = 0;
};

// A table with an Each for each peer, in chunks of 32. Elements never move, so references to them stay valid as long as
// the table. Used by one thread at a time, or under the process lock.
template <typename Each>
class PeerTable {
 public:
  // For `peers` peers; no elements are allocated.
  explicit PeerTable(std::uint32_t peers) : peers_(peers), chunks_((peers + kChunk - 1) / kChunk) {}

  // Number of peers, allocated or not.
  [[nodiscard]] std::uint32_t size() const { return peers_; }
  // An element to be changed; allocates its chunk. Requires: peer < size().
  [[nodiscard]] Each& operator[](std::uint32_t peer) {
    auto& chunk = chunks_[peer / kChunk];
    if (chunk == nullptr) [[unlikely]]
      make(chunk);
    return (*chunk)[peer % kChunk];
  }
  // An element to be read; Each{} where nothing was allocated. Requires: peer < size().
  [[nodiscard]] const Each& at(std::uint32_t peer) const {
    static const Each kNone{};
    const auto& chunk = chunks_[peer / kChunk];
    return chunk == nullptr ? kNone : (*chunk)[peer % kChunk];
  }
  // Calls function(peer, each) for all elements of allocated chunks, in ascending order of peers. An element of an
  // allocated chunk may still have its initial value.
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
  // Elements that are allocated together: neighbours in rank are often peers too.
  static constexpr std::uint32_t kChunk = 32;
  using Chunk = std::array<Each, kChunk>;
  // Out of line: happens once per chunk.
  [[gnu::noinline]] static void make(std::unique_ptr<Chunk>& chunk) { chunk = std::make_unique<Chunk>(); }

  // Ranks of the job, this one included.
  std::uint32_t peers_;
  // One pointer for each kChunk peers; nullptr: no peer of the chunk has had contact.
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace margay::sim
