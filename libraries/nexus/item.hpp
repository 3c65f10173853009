// A message that has arrived, from its arrival until its handler has returned, and the order of links that change
// methods.
//
// A link's messages by one method arrive in order. When the link changes its method, the sender ends the epoch: the
// last message by the old method is a marker, and later messages by the new one carry the next epoch. The receiver
// holds these until the marker has arrived, and confirms it (Control::drained). If the old method is lost before, the
// sender ends the epoch by the new method (FrameKind::skipped).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "libraries/nexus/module/frame.hpp"
#include "libraries/nexus/traffic.hpp"
#include "libraries/parts/bodies.hpp"
#include "libraries/parts/memory.hpp"

namespace margay::nexus::core {

struct Item {
  std::uint32_t source = 0;  // the context that made the request
  std::uint32_t from = 0;    // the context that sent the message: a forwarder, or the source
  Frame frame;
  std::span<const std::byte> body;
  // Where the body lies: in a heap, in memory of its own, or still at its owner.
  Heap* heap = nullptr;
  portals::ArrivedMessage* in_heap = nullptr;
  Memory memory;
  std::vector<std::byte> bytes;
  std::shared_ptr<const std::vector<std::byte>> shared;  // of one multicast's items
  BodyPlace place;                                       // at its owner
  Fetch* fetch = nullptr;
  bool counts = true;  // in sent = executed: its method is reliable
  // Whether its body is still at its owner, and its fetch has not begun.
  [[nodiscard]] bool is_at_owner() const { return (frame.flags & kIsLong) != 0 && fetch == nullptr; }
};
using OwnedItem = std::unique_ptr<Item>;

// The epochs of the links of all senders.
class LinkOrder {
 public:
  // Whether an item must wait for the end of its link's epoch. The caller then copies the body out of the heap, whose
  // room the awaited marker may need, and calls keep().
  [[nodiscard]] bool is_early(const Item& item) const {
    const auto at = links_.find({item.source, item.frame.link});
    return item.frame.link != 0 && item.frame.epoch > (at == links_.end() ? 0 : at->second.epoch);
  }
  void keep(OwnedItem item) {
    ++kept_;
    kept_bytes_ += bytes_of(*item);
    Sender& sender = links_[{item->source, item->frame.link}];
    const std::uint32_t epoch = item->frame.epoch;
    sender.early.emplace(epoch, std::move(item));
  }
  // Ends an epoch of the item's link. Moves the items that are due now to the end of `out`, in their order.
  void end_epoch(const Item& item, std::vector<OwnedItem>& out) {
    Sender& sender = links_[{item.source, item.frame.link}];
    if (item.frame.epoch < sender.epoch) return;
    sender.epoch = item.frame.epoch + 1;
    while (!sender.early.empty() && sender.early.begin()->first <= sender.epoch) {
      OwnedItem next = std::move(sender.early.begin()->second);
      sender.early.erase(sender.early.begin());
      --kept_;
      kept_bytes_ -= bytes_of(*next);
      out.push_back(std::move(next));
    }
  }
  // The number of items that it keeps.
  [[nodiscard]] std::size_t kept() const { return kept_; }
  // Whether it may keep one more item, if the items have at most `most` bytes together. A first one is always kept, and
  // there is room for markers where requests have none: a marker without room ends the earlier epochs out of order.
  [[nodiscard]] bool has_room(const Item& item, std::size_t most) const {
    const std::size_t bound = item.frame.kind == FrameKind::request ? most : 2 * most;
    return kept_ == 0 || kept_bytes_ + bytes_of(item) <= bound;
  }

 private:
  [[nodiscard]] static std::size_t bytes_of(const Item& item) { return sizeof(Item) + item.body.size(); }
  struct Sender {
    std::uint32_t epoch = 0;
    std::multimap<std::uint32_t, OwnedItem> early;
  };
  std::map<std::pair<std::uint32_t, std::uint16_t>, Sender> links_;
  std::size_t kept_ = 0, kept_bytes_ = 0;
};

}  // namespace margay::nexus::core
