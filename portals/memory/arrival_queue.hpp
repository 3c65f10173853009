// The queue of arrived messages, in order of arrival, and the search in it. Internal to portals.
#pragma once

#include <cstdint>

#include "portals/memory/arrival_index.hpp"

namespace margay::portals {

class ArrivalQueue {
 public:
  // A search looks at so many messages; if the queue is longer, it then uses the index, which is thrown away when the
  // queue falls below half of it. So who receives in the order in which messages came, as most programs do, pays for
  // no index.
  static constexpr std::uint64_t kShort = 16;
  // The same once there is an index: the earliest message is looked at, as it is often the one.
  static constexpr std::uint64_t kLooksBeforeIndex = 1;

  void append(ArrivedNode& node);
  void remove(ArrivedNode& node);
  [[nodiscard]] ArrivedMessage* find(const Criteria& criteria);
  [[nodiscard]] ArrivedNode* first() const { return first_; }
  [[nodiscard]] ArrivedNode* last() const { return last_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t arrivals() const { return arrivals_; }  // ever appended
  [[nodiscard]] const ArrivalIndex& index() const { return index_; }

 private:
  ArrivedNode* first_ = nullptr;
  ArrivedNode* last_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t arrivals_ = 0;
  ArrivalIndex index_;
};

}  // namespace margay::portals
