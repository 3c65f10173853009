// The aggregation buffers that one thread of a node fills, one for each destination (paper, 6.3). Written without the
// lock, by that thread alone; Outbox opens and closes them.
//
// A writer's countdown and room change with each request, which programs write inline (core.hpp): all other facts of a
// buffer are computed from them or kept beside, in a lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libraries/rmi/library.hpp"
#include "libraries/rmi/wire.hpp"
#include "margay/rmi/core.hpp"

namespace margay::rmi::core {

// A closed buffer: its memory, and the facts of its header. `parity`: the sender's at its closing, for fences.
struct Filled {
  Memory memory;
  std::size_t bytes = 0;     // used
  std::size_t capacity = 0;  // kBufferMost, unless it has one long request
  std::uint32_t count = 0;   // requests
  std::uint32_t number = 0;  // of the destination's buffers, from 0
  bool parity = false;
  Flush why = Flush::full;  // of a buffer that is sent
};

// The buffers of the program's thread or of the communication thread.
class Buffers {
 public:
  // No buffer is open, so that each destination's first request calls Outbox::open().
  explicit Buffers(std::uint32_t nodes) : writers_(nodes), lanes_(nodes) {}

  // The writers by destination, for core::Here; and the destination of a writer. Their addresses do not change.
  [[nodiscard]] Writer* writers() { return writers_.data(); }
  [[nodiscard]] std::uint32_t number_of(const Writer& writer) const {
    return static_cast<std::uint32_t>(&writer - writers_.data());
  }
  // The destination's present room, which may be empty. It changes with each request that the thread writes.
  [[nodiscard]] std::span<std::byte> room(std::uint32_t node) const {
    return {writers_[node].next_, writers_[node].end_};
  }
  // Requests in the buffer that is being filled. Computed from the writer's countdown, so that a request costs one
  // counter.
  [[nodiscard]] std::uint32_t filling(std::uint32_t node) const {
    return lanes_[node].counted + lanes_[node].began - writers_[node].left_;
  }
  // Continues to fill a buffer that has reached the factor: the own node's, inside a method, where its requests must
  // wait. From then on each request reaches the factor, so that the first one after the method executes them all.
  void continue_filling(std::uint32_t node) {
    Lane& lane = lanes_[node];
    lane.counted += lane.began - writers_[node].left_;
    writers_[node].left_ = lane.began = 1;
  }
  // Calls `flush(node)`, which closes the buffer, for each destination with requests that are not sent.
  template <typename Function>
  void for_each_filling(Function&& flush) {
    if (dirty_.empty()) return;
    dirty_.swap(swept_);
    dirty_.clear();
    for (const std::uint32_t node : swept_) lanes_[node].listed = false;
    for (const std::uint32_t node : swept_) {
      if (filling(node) != 0) flush(node);
      // An open buffer without requests takes one without Outbox::open().
      if (lanes_[node].open != nullptr && !std::exchange(lanes_[node].listed, true)) dirty_.push_back(node);
    }
  }

 private:
  friend class Outbox;
  // A destination, beside its writer, which is apart because programs write to it for each request.
  struct Lane {
    std::uint32_t began = 0;    // Writer::left_ of the open buffer when it was empty
    std::uint32_t counted = 0;  // requests before continue_filling()
    std::size_t capacity = 0;
    Memory open;          // the buffer that is being filled, or nullptr
    bool listed = false;  // in dirty_
  };
  // Both of one size since construction, by destination.
  std::vector<Writer> writers_;
  std::vector<Lane> lanes_;
  // The destinations with an open buffer, and the last list of them, which a sweep reads while it makes the next
  // one. So a sweep costs no time for nodes to which nothing was sent.
  std::vector<std::uint32_t> dirty_, swept_;
};

}  // namespace margay::rmi::core
