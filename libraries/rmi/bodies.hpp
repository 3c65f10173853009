// Requests and replies that are longer than a buffer: their sender keeps them at portal 52 under a number, sends the
// number in a header, and the receiver gets them from there. Each function requires that the thread is inside.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>

#include "libraries/rmi/library.hpp"
#include "libraries/rmi/wire.hpp"

namespace margay::rmi::core {

// A body that this node fetches from another one.
class Fetch {
 public:
  // For Bodies. `node`: the only one that may send the body.
  Fetch(std::uint32_t node, Memory memory, std::size_t bytes, portals::MatchBits bits)
      : node_(node),
        memory_(std::move(memory)),
        block_(portals::Buffer{memory_.get(), bytes}),
        entry_({.match_bits = bits, .source_rank = node}, block_, {.offset_by = portals::OffsetBy::sender}) {}

  // Whether all of it is there.
  [[nodiscard]] bool done() const { return block_.messages() != 0; }
  [[nodiscard]] std::size_t bytes() const { return block_.memory().bytes; }
  // The body. Requires: done(), and that Bodies::end() has not been called.
  [[nodiscard]] Memory& memory() { return memory_; }

 private:
  friend class Bodies;
  std::uint32_t node_;
  Memory memory_;
  portals::SingleBlock block_;
  portals::MatchEntry entry_;
};

class Bodies {
 public:
  Bodies(host::Rank& rank, Wire& wire) : rank_(rank), wire_(wire) {}
  ~Bodies();
  Bodies(const Bodies&) = delete;
  Bodies& operator=(const Bodies&) = delete;
  [[nodiscard]] portals::Status attach();

  // Keeps a body until it has been fetched once. Returns its number.
  [[nodiscard]] std::uint32_t offer(Memory memory, std::size_t bytes);
  // Asks for the body of this number at `node`. Ends the job if there is no memory for it.
  [[nodiscard]] Fetch& fetch(std::uint32_t node, std::uint32_t number, std::size_t bytes);
  // Ends a fetch that is done. Ends the job if the answer is shorter than announced.
  void end(Fetch& fetch);
  // Frees the bodies that have been fetched.
  void sweep() {
    if (!offers_.empty()) [[unlikely]]
      free_fetched();
  }
  // Whether a fetch is done that has not ended.
  [[nodiscard]] bool any_fetched() const {
    return std::ranges::any_of(fetches_, [](const Fetch& fetch) { return fetch.done(); });
  }
  // Whether nothing is kept and nothing fetched.
  [[nodiscard]] bool idle() const { return offers_.empty() && fetches_.empty(); }

 private:
  struct Offer {
    Offer(Memory kept, std::size_t bytes, portals::MatchBits bits)
        : memory(std::move(kept)),
          block(portals::Buffer{memory.get(), bytes}),
          entry({.match_bits = bits}, block,
                {.offset_by = portals::OffsetBy::sender, .direction = portals::Direction::read_only}) {}
    Memory memory;
    portals::SingleBlock block;
    portals::MatchEntry entry;
  };
  void free_fetched();

  host::Rank& rank_;
  Wire& wire_;
  std::list<Offer> offers_;
  std::list<Fetch> fetches_;
  std::uint32_t next_offer_ = 0;
  std::uint32_t next_fetch_ = 0;
  // Declared after its entries, which leave it when it ends.
  portals::MatchList list_;
  bool attached_ = false;
};

}  // namespace margay::rmi::core
