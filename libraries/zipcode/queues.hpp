// Queues of letters whose steps do not visit all letters, so that their cost does not grow with a backlog.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <utility>

#include "margay/portals.hpp"

namespace margay::zipcode::core {

// Items that wait for their wire, by destination. They keep their addresses.
template <typename Item>
class SendQueues {
 public:
  Item& add(portals::Rank destination) { return queues_[destination].emplace_back(); }
  // Removes items that `is_over` returns true for. A wire sends the messages of a pair in their order, so the first
  // item of a destination that is not over is the last one that is tested there.
  template <typename IsOver>
  void sweep(IsOver is_over) {
    for (auto at = queues_.begin(); at != queues_.end();) {
      std::deque<Item>& queue = at->second;
      while (!queue.empty() && is_over(queue.front())) queue.pop_front();
      at = queue.empty() ? queues_.erase(at) : std::next(at);
    }
  }
  [[nodiscard]] bool empty() const { return queues_.empty(); }

 private:
  std::map<portals::Rank, std::deque<Item>> queues_;
};

// Arrived items by context and source. An item has `arrival`, which grows from each to the next one of its source.
template <typename Item>
class ArrivalQueues {
  using Queues = std::map<std::pair<std::uint16_t, portals::Rank>, std::list<Item>>;

 public:
  // The place of an item.
  struct Place {
    typename Queues::iterator queue;
    typename std::list<Item>::iterator item;
  };

  void add(std::uint16_t context, portals::Rank source, Item item) {
    queues_[{context, source}].push_back(std::move(item));
  }
  // The earliest item of a context and a source, or with kAnyRank of any source, that `accepts` returns true for.
  template <typename Accepts>
  [[nodiscard]] std::optional<Place> find(std::uint16_t context, portals::Rank source, Accepts accepts) {
    std::optional<Place> found;
    const bool is_any = source == portals::kAnyRank;
    for (auto queue = queues_.lower_bound({context, is_any ? 0 : source}); queue != queues_.end(); ++queue) {
      if (queue->first.first != context || (!is_any && queue->first.second != source)) break;
      const auto item = std::ranges::find_if(queue->second, accepts);
      if (item == queue->second.end() || (found.has_value() && found->item->arrival < item->arrival)) continue;
      found = Place{queue, item};
    }
    return found;
  }
  void erase(const Place& place) {
    place.queue->second.erase(place.item);
    if (place.queue->second.empty()) queues_.erase(place.queue);
  }
  // Calls `visit(item)` for every item; remove_if() removes those for which it returns true.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, queue] : queues_) std::ranges::for_each(queue, visit);
  }
  template <typename Visit>
  void remove_if(Visit visit) {
    for (auto& [key, queue] : queues_) std::erase_if(queue, visit);
    std::erase_if(queues_, [](const auto& each) { return each.second.empty(); });
  }

 private:
  Queues queues_;
};

}  // namespace margay::zipcode::core
