// A model of memory that two threads share, for models small enough to explore completely. Stores wait in a buffer
// before the other thread sees them; a plain store may leave it before older ones do, a release store only after them
// (weaker than x86 and than the guarantees of the orders in sim/shm in that respect).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace margay::sim {

// Bytes without padding, so that states can be compared as bytes.
template <int Variables, int Depth>
struct ModelMemory {
  struct Store {
    std::int8_t variable, value, release;
  };

  std::array<std::int8_t, Variables> values{};
  std::array<std::array<Store, Depth>, 2> buffers{};
  std::array<std::int8_t, 2> buffered{};

  // A thread sees its own stores at once, the latest first.
  [[nodiscard]] std::int8_t load(std::size_t who, int variable) const {
    for (int i = buffered[who] - 1; i >= 0; --i) {
      const Store& store = buffers[who][static_cast<std::size_t>(i)];
      if (store.variable == variable) return store.value;
    }
    return values[static_cast<std::size_t>(variable)];
  }
  // Returns false if the buffer is full, so that a store has to leave it first.
  bool store(std::size_t who, int variable, int value, bool release) {
    if (buffered[who] == Depth) return false;
    buffers[who][static_cast<std::size_t>(buffered[who]++)] = {
        static_cast<std::int8_t>(variable), static_cast<std::int8_t>(value), static_cast<std::int8_t>(release)};
    return true;
  }
  // Calls `visit(memory, store)` for each store of `who` that may become visible next: any plain one that no older
  // store to the same variable precedes, a release one only as the oldest. Returns false if there is none.
  template <typename Visit>
  bool drain(std::size_t who, Visit visit) const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(buffered[who]); ++i) {
      const Store store = buffers[who][i];
      bool may = store.release == 0 || i == 0;
      for (std::size_t older = 0; older < i; ++older) may &= buffers[who][older].variable != store.variable;
      if (!may) continue;
      ModelMemory next = *this;
      next.values[static_cast<std::size_t>(store.variable)] = store.value;
      auto& buffer = next.buffers[who];
      for (std::size_t j = i; j + 1 < Depth; ++j) buffer[j] = buffer[j + 1];
      buffer[Depth - 1] = Store{};
      --next.buffered[who];
      visit(next, store);
    }
    return buffered[who] != 0;
  }
};

// All reached states, and those whose successors have not been explored.
template <typename State>
class StateSet {
 public:
  void visit(const State& state) {
    if (visited_.insert(state).second) open_.push_back(state);
  }
  [[nodiscard]] bool empty() const { return open_.empty(); }
  State take() {
    const State state = open_.back();
    open_.pop_back();
    return state;
  }
  [[nodiscard]] std::size_t size() const { return visited_.size(); }

 private:
  struct Less {
    bool operator()(const State& a, const State& b) const { return std::memcmp(&a, &b, sizeof a) < 0; }
  };
  std::set<State, Less> visited_;
  std::vector<State> open_;
};

}  // namespace margay::sim
