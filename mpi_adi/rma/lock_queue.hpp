// A target's lock, shared or exclusive, in the order in which it was asked for: nobody starves. Members that are served
// by messages only; under the process lock.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

namespace margay::mpi_adi {

class LockQueue {
 public:
  // True: granted at once.
  [[nodiscard]] bool request(int member, bool exclusive) {
    if (waiting_.empty() && fits(exclusive)) {
      grant(member, exclusive);
      return true;
    }
    waiting_.push_back({member, exclusive});
    return false;
  }
  [[nodiscard]] bool holds(int member) const { return std::ranges::find(holders_, member) != holders_.end(); }
  // Gives up what `member` holds or waits for. `granted(member)` of each that has the lock now.
  template <typename Granted>
  void release(int member, Granted granted) {
    std::erase_if(waiting_, [member](const Asked& asked) { return asked.member == member; });
    if (const auto held = std::ranges::find(holders_, member); held != holders_.end()) {
      holders_.erase(held);
      if (holders_.empty()) exclusive_ = false;
    }
    while (!waiting_.empty() && fits(waiting_.front().exclusive)) {
      const Asked next = waiting_.front();
      waiting_.pop_front();
      grant(next.member, next.exclusive);
      granted(next.member);
    }
  }

 private:
  struct Asked {
    int member;
    bool exclusive;
  };
  [[nodiscard]] bool fits(bool exclusive) const { return holders_.empty() || (!exclusive && !exclusive_); }
  void grant(int member, bool exclusive) {
    holders_.push_back(member);
    exclusive_ = exclusive;
  }

  std::deque<Asked> waiting_;
  std::vector<int> holders_;
  bool exclusive_ = false;
};

}  // namespace margay::mpi_adi
