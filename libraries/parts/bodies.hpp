// Long bodies of a library's messages. The sender keeps a body at one portal under a number, which the message's header
// contains, and the receiver gets the body into another portal. The receiver therefore allocates exactly the body's
// length, and heaps need no room for long bodies. A body is fetched once, and then freed. Each function requires that
// the thread is inside.
#pragma once

#include <cstdint>
#include <list>

#include "libraries/parts/memory.hpp"
#include "margay/host.hpp"

namespace margay::parts {

// Where a body lies: its number at its owner, and the way of its request, which carries the body, too.
inline constexpr unsigned kBodyNumberBits = 20;
struct BodyPlace {
  std::uint32_t number = 0;
  std::uint8_t way = 0;
};

// A body that this context fetches from another one.
class Fetch {
 public:
  Fetch(std::uint32_t peer, std::uint8_t way, Memory memory, std::size_t bytes, portals::MatchBits bits)
      : peer_(peer),
        way_(way),
        memory_(std::move(memory)),
        block_(portals::Buffer{memory_.get(), bytes}),
        entry_({.match_bits = bits, .source_rank = peer}, block_, {.offset_by = portals::OffsetBy::sender}) {}
  [[nodiscard]] bool done() const { return block_.messages() != 0; }
  [[nodiscard]] std::uint32_t peer() const { return peer_; }
  [[nodiscard]] std::uint8_t way() const { return way_; }
  [[nodiscard]] std::size_t bytes() const { return block_.memory().bytes; }
  // Bytes that have arrived, once it is done: fewer than announced if the sender's notice was damaged.
  [[nodiscard]] std::size_t arrived() const { return block_.bytes(); }
  [[nodiscard]] Memory& memory() { return memory_; }

 private:
  friend class Bodies;
  std::uint32_t peer_;
  std::uint8_t way_;
  Memory memory_;
  portals::SingleBlock block_;
  portals::MatchEntry entry_;
  // The host expects the owner's answer (host::Rank::expect_answer).
  bool is_expected_ = false;
};

class Bodies {
 public:
  // `kept`, `fetched`: the portals, which the library has named.
  Bodies(host::Rank& rank, portals::PortalIndex kept, portals::PortalIndex fetched)
      : rank_(rank), kept_portal_(kept), fetched_portal_(fetched) {}
  ~Bodies();
  Bodies(const Bodies&) = delete;
  Bodies& operator=(const Bodies&) = delete;
  // Attaches both portals; the destructor detaches them.
  [[nodiscard]] portals::Status attach();

  // Keeps a body until `peer` has fetched it by `way`. Returns its number.
  [[nodiscard]] std::uint32_t offer(std::uint32_t peer, std::uint8_t way, Memory memory, std::size_t bytes);
  // Prepares a fetch; the header of the get for its owner. nullptr: no memory. Until the body is here, the host wakes
  // the owner, which may be computing.
  [[nodiscard]] Fetch* fetch(std::uint32_t peer, const BodyPlace& place, std::uint64_t bytes, portals::Header& get);
  // Frees a fetch; the caller has moved the memory out.
  void end(Fetch& fetch);
  // Frees bodies that were fetched, and those of lost peers and ways. Notes bodies that have arrived.
  void sweep() {
    if (!offers_.empty()) [[unlikely]]
      free_fetched();
    if (expected_ != 0) [[unlikely]]
      note_arrived();
  }
  // Whether nothing is kept or fetched; whether something is fetched; the bytes that are kept.
  [[nodiscard]] bool idle() const { return offers_.empty() && fetches_.empty(); }
  [[nodiscard]] bool is_fetching() const { return !fetches_.empty(); }
  // The bytes of all bodies that are being fetched; the number of fetches that have ended.
  [[nodiscard]] std::uint64_t fetching_bytes() const { return fetching_bytes_; }
  [[nodiscard]] std::uint64_t ended() const { return ended_; }
  [[nodiscard]] std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  struct Offer {
    Offer(std::uint32_t to, std::uint8_t by, Memory kept, std::size_t bytes, portals::MatchBits bits)
        : peer(to),
          way(by),
          memory(std::move(kept)),
          block(portals::Buffer{memory.get(), bytes}),
          entry({.match_bits = bits, .source_rank = to}, block,
                {.offset_by = portals::OffsetBy::sender, .direction = portals::Direction::read_only}) {}
    std::uint32_t peer;
    std::uint8_t way;
    Memory memory;
    portals::SingleBlock block;
    portals::MatchEntry entry;
  };
  void free_fetched();
  void note_arrived();
  void expect(Fetch& fetch, bool is_expected);

  host::Rank& rank_;
  const portals::PortalIndex kept_portal_, fetched_portal_;
  // Lists, because entries refer to their members and must not move.
  std::list<Offer> offers_;
  std::list<Fetch> fetches_;
  std::uint32_t next_offer_ = 0, next_fetch_ = 0;
  std::size_t kept_bytes_ = 0;
  std::uint64_t fetching_bytes_ = 0, ended_ = 0;
  std::size_t expected_ = 0;  // fetches whose owner's answer the host expects
  // Declared after their entries, which leave them when they end.
  portals::MatchList offer_list_, fetch_list_;
  bool attached_ = false;
};

}  // namespace margay::parts
