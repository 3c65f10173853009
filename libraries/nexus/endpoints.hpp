// The endpoints of one context: each is an entry in the match list of portal 32, overlaid on the one heap of requests.
// The kernel thus finds the endpoint of a request by its index, at the same cost for one endpoint and for 100,000, and
// drops a request for a destroyed endpoint as "no match".
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libraries/nexus/library.hpp"
#include "margay/nexus/endpoint.hpp"

namespace margay::nexus::core {

// An endpoint's place. Its number is used again for another endpoint, with the next generation.
struct Slot {
  Endpoint* endpoint = nullptr;  // nullptr: destroyed
  std::uint16_t generation = 0;
  std::uint32_t running = 0;  // handlers
  portals::MatchEntry entry;
};

class Endpoints {
 public:
  // `heap`: where requests queue.
  explicit Endpoints(portals::DynamicBlock& heap);
  // The list of portal 32. Its first entry takes orders of Nexus.
  [[nodiscard]] portals::MatchList& list() { return list_; }
  // Adds an endpoint. Returns its number; 0: there are kEndpointsMost. Inside.
  [[nodiscard]] std::uint32_t add(Endpoint& endpoint, std::uint16_t& generation);
  void remove(std::uint32_t number);
  // The slot of an existing endpoint; nullptr: it was destroyed or never existed.
  [[nodiscard]] Slot* find(std::uint32_t number, std::uint16_t generation);
  [[nodiscard]] std::size_t size() const { return alive_; }

 private:
  portals::DynamicBlock& heap_;
  portals::MatchEntry control_;
  std::vector<std::unique_ptr<Slot>> slots_;  // of number i + 1
  std::vector<std::uint32_t> free_;           // numbers
  std::size_t alive_ = 0;
  // Declared after its entries, which leave it when it ends.
  portals::MatchList list_;
};

}  // namespace margay::nexus::core
