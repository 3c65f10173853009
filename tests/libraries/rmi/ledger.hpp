// The ledger of all requests of one run of rmi_seeds, which all nodes share: they are threads that run in turn, so it
// needs no lock. It ends the process at the first request that is executed twice, on a wrong node or out of order.
#pragma once

#include <margay/rmi.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/libraries/support/seed_runs.hpp"

namespace margay::rmi::test {

// The destination of a broadcast.
inline constexpr std::uint32_t kAllNodes = ~std::uint32_t{0};

inline void need(bool holds, const std::string& what) {
  if (!holds) testing::end_run("node " + std::to_string(get_node_id()) + ": " + what);
}

// A request's entry in the ledger. It travels as an argument.
struct Ticket {
  std::uint32_t number = 0;
  std::uint32_t fence = 0;  // the first fence that must wait for it: that of the request which led to it
  std::uint32_t depth = 0;  // how many more may follow from it, one after the other
};

class Ledger {
 public:
  Ledger(std::uint32_t nodes, std::uint32_t fences)
      : nodes_(nodes), open_(fences + 2), under_way_(nodes * nodes), failed_(nodes) {}

  // Enters a request of this node for `to`, when its call begins.
  [[nodiscard]] Ticket send(std::uint32_t to, std::uint32_t fence, std::uint32_t depth) {
    const auto number = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({.from = here(), .to = to, .called = ++time_});
    open_[fence] += to == kAllNodes ? nodes_ : 1;
    if (to != kAllNodes) under_way_[here() * nodes_ + to].push_back(number);
    return {number, fence, depth};
  }
  // Enters the return of the request's call. Methods that ran meanwhile may have sent requests before it or after it.
  void sent(const Ticket& ticket) { entries_[ticket.number].returned = ++time_; }
  // Enters the begin of the request's execution on this node, and checks it.
  void begin(const Ticket& ticket) {
    need(ticket.number < entries_.size(), "a request that no node has sent");
    Entry& entry = entries_[ticket.number];
    const std::string name = "request " + std::to_string(ticket.number) + " of node " + std::to_string(entry.from);
    need(entry.to == kAllNodes || entry.to == here(), name + " is for another node");
    need((entry.begun & std::uint32_t{1} << here()) == 0, name + " is executed twice");
    entry.begun |= std::uint32_t{1} << here();
    if (entry.to == kAllNodes) return;
    std::vector<std::uint32_t>& of_pair = under_way_[entry.from * nodes_ + here()];
    std::erase(of_pair, ticket.number);
    for (const std::uint32_t other : of_pair)
      need(entries_[other].returned > entry.called, name + " begins before request " + std::to_string(other));
  }
  // Enters the end of the request's execution, by a return or an exception.
  void finish(const Ticket& ticket) { --open_[ticket.fence]; }
  // Enters the request's exception: the next fence of its sender must throw too.
  void fail(const Ticket& ticket) { failed_[entries_[ticket.number].from].push_back(ticket.fence); }

  [[nodiscard]] std::uint64_t open(std::uint32_t fence) const { return open_[fence]; }
  [[nodiscard]] std::size_t requests() const { return entries_.size(); }
  // Enters the end of this node's fence, and checks it. `threw`: with an exception of a method. The exception may be
  // that of a request of the next fence, whose sender has left this fence earlier.
  void end_fence(std::uint32_t fence, bool threw) {
    std::vector<std::uint32_t>& failed = failed_[here()];
    const auto must = std::erase_if(failed, [fence](std::uint32_t of) { return of <= fence; });
    need(must == 0 || threw, "a fence throws no exception of its requests");
    need(must != 0 || !failed.empty() || early_[here()] || !threw, "a fence throws without a failure");
    early_[here()] = !failed.empty();
    failed.clear();
  }

 private:
  struct Entry {
    std::uint32_t from = 0, to = 0;
    std::uint32_t begun = 0;  // nodes, a bit each
    // Times of the call.
    std::uint64_t called = 0, returned = ~std::uint64_t{0};
  };
  [[nodiscard]] static std::uint32_t here() { return static_cast<std::uint32_t>(get_node_id()); }

  const std::uint32_t nodes_;
  std::vector<Entry> entries_;
  std::uint64_t time_ = 0;
  std::vector<std::uint64_t> open_;                    // by fence: requests that have not ended
  std::vector<std::vector<std::uint32_t>> under_way_;  // by sender and receiver: requests that have not begun
  std::vector<std::vector<std::uint32_t>> failed_;
  std::array<bool, 32> early_{};
};

}  // namespace margay::rmi::test
