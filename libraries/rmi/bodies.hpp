// Requests and replies that are longer than a buffer: their sender keeps them at portal 52 under a number, sends the
// number in a header, and the receiver gets them from there. Each function requires that the thread is inside, except
// idle().
//
// Three messages for each: notice, get, and the answer with the body. So the receiver allocates the memory when it
// knows the length, and no mailbox needs room for a body of any size (README, Decisions). A body is fetched once and
// freed when it has left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>

#include "libraries/rmi/library.hpp"
#include "libraries/rmi/wire.hpp"

namespace margay::rmi::core {

// A body that this node fetches from another one: its memory, and the entry at portal 52 that the answer matches.
class Fetch {
 public:
  // For Bodies. `node`: the only one that may send the body. `bits`: unique among this node's fetches, so that answers
  // are not confused.
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

// The long bodies of one node, kept and fetched. Addresses of fetches are stable until end(). Numbers of offers and
// fetches wrap after 2^32, far beyond those that are open at once.
class Bodies {
 public:
  Bodies(host::Rank& rank, Wire& wire) : rank_(rank), wire_(wire) {}
  ~Bodies();
  Bodies(const Bodies&) = delete;
  Bodies& operator=(const Bodies&) = delete;
  // Attaches portal 52. Once, before any other function; the destructor detaches it.
  [[nodiscard]] portals::Status attach();

  // Keeps a body until it has been fetched once. Returns the number for the notice. `bytes` of `memory` are the body.
  [[nodiscard]] std::uint32_t offer(Memory memory, std::size_t bytes);
  // Asks for the body of this number at `node`, and returns at once. Ends the job with "out of memory for a request or
  // result of N bytes of node M" if it cannot be allocated. The length came from the notice.
  [[nodiscard]] Fetch& fetch(std::uint32_t node, std::uint32_t number, std::size_t bytes);
  // Ends a fetch that is done, and frees it; the caller has moved the memory out. Ends the job if the answer is shorter
  // than announced.
  void end(Fetch& fetch);
  // Frees the bodies that have been fetched. Called in each round of a wait, so that the empty case is one comparison.
  void sweep() {
    if (!offers_.empty()) [[unlikely]]
      free_fetched();
  }
  // Whether a fetch is done that has not ended.
  [[nodiscard]] bool any_fetched() const {
    return std::ranges::any_of(fetches_, [](const Fetch& fetch) { return fetch.done(); });
  }
  // Whether nothing is kept and nothing is fetched. stop() waits for it: another node may still need a body.
  [[nodiscard]] bool idle() const { return offers_.empty() && fetches_.empty(); }

 private:
  // A kept body. Its entry accepts any source, because only the receiver of the notice has the number.
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
  // Frees the offers whose answers have left. One that the host still reads is kept.
  void free_fetched();

  host::Rank& rank_;
  Wire& wire_;
  // Lists, because entries refer to their members and must not move.
  std::list<Offer> offers_;
  std::list<Fetch> fetches_;
  std::uint32_t next_offer_ = 0;
  std::uint32_t next_fetch_ = 0;
  // Declared after its entries, which leave it when it ends.
  portals::MatchList list_;
  bool attached_ = false;
};

}  // namespace margay::rmi::core
