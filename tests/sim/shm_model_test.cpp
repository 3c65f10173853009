// A model of a channel small enough to look at all that can happen. Every step of producer and consumer is one access
// to shared memory. Stores wait in a buffer before others see them; a plain store may leave it before older ones do, a
// release store only after them (weaker than x86 and than what the orders in sim/shm promise in that respect). The
// explorer visits every reachable state once. Mutants, each with one order or one check missing, must be caught.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace margay::sim {
namespace {

constexpr int kCells = 4;     // at most
constexpr int kBytes = 4;     // at most; of the byte ring; a message's body is one byte
constexpr int kMessages = 9;  // more than twice around

enum class Mutant {
  none,
  plain_cell_publish,  // the cell's word may be seen before its payload and the body
  lap_not_checked,     // the consumer takes any non-zero lap
  no_credit_check,     // the producer never looks whether a cell is free
  early_release,       // the consumer gives the cell back before it has read it
  no_byte_credit,      // the producer never looks whether a byte is free
  early_byte_release,  // the consumer gives the byte back before it has read it
};

// Variables of shared memory.
constexpr int kLap = 0;                   // + cell
constexpr int kPayload = kLap + kCells;   // + cell
constexpr int kBody = kPayload + kCells;  // + byte
constexpr int kCellsConsumed = kBody + kBytes;
constexpr int kBytesConsumed = kCellsConsumed + 1;
constexpr int kVariables = kBytesConsumed + 1;

constexpr int kBuffer = 6;
struct Store {
  std::int8_t variable, value, release;
};
// Small and without padding that differs, so that it can be compared as bytes.
struct State {
  std::array<std::int8_t, kVariables> memory{};
  std::array<std::array<Store, kBuffer>, 2> buffers{};  // of producer and consumer
  std::array<std::int8_t, 2> buffered{};
  std::array<std::int8_t, 2> step{};           // where each stands in its program
  std::array<std::int8_t, 2> number{};         // of the message that each is at
  std::array<std::int8_t, 2> seen_consumed{};  // producer: cells and bytes, as last read
  std::int8_t got = 0;                         // consumer: payload as read

  friend bool operator<(const State& a, const State& b) { return std::memcmp(&a, &b, sizeof a) < 0; }
};

class Explorer {
 public:
  Explorer(Mutant mutant, int cells, int bytes) : mutant_(mutant), cells_(cells), bytes_(bytes) {}

  // Whether a wrong or lost message can be.
  bool finds_fault() {
    State start{};
    visit(start);
    while (!open_.empty() && !fault_) {
      const State state = open_.back();
      open_.pop_back();
      expand(state);
    }
    return fault_ || !ended_;
  }
  [[nodiscard]] std::size_t states() const { return visited_.size(); }

 private:
  void visit(const State& state) {
    if (visited_.insert(state).second) open_.push_back(state);
  }

  void expand(const State& state) {
    bool can_move = producer(state);
    can_move |= consumer(state);
    for (std::size_t who = 0; who < 2; ++who) can_move |= drain(state, who);
    const bool done = state.number[0] == kMessages && state.number[1] == kMessages;
    if (done)
      ended_ = true;
    else if (!can_move)
      fault_ = true;  // stuck
  }

  static std::int8_t load(const State& state, std::size_t who, int variable) {
    // One's own stores are seen at once, the latest first.
    for (int i = state.buffered[who] - 1; i >= 0; --i) {
      const Store& store = state.buffers[who][static_cast<std::size_t>(i)];
      if (store.variable == variable) return store.value;
    }
    return state.memory[static_cast<std::size_t>(variable)];
  }
  static bool store(State& state, std::size_t who, int variable, int value, bool release) {
    if (state.buffered[who] == kBuffer) return false;
    state.buffers[who][static_cast<std::size_t>(state.buffered[who]++)] = {
        static_cast<std::int8_t>(variable), static_cast<std::int8_t>(value), static_cast<std::int8_t>(release)};
    return true;
  }
  // A store becomes visible: any plain one that no older store to the same variable precedes, a release one only as the
  // oldest.
  bool drain(const State& state, std::size_t who) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.buffered[who]); ++i) {
      const Store store = state.buffers[who][i];
      bool may = store.release == 0 || i == 0;
      for (std::size_t older = 0; older < i; ++older) may &= state.buffers[who][older].variable != store.variable;
      if (!may) continue;
      State next = state;
      next.memory[static_cast<std::size_t>(store.variable)] = store.value;
      auto& buffer = next.buffers[who];
      for (std::size_t j = i; j + 1 < kBuffer; ++j) buffer[j] = buffer[j + 1];
      buffer[kBuffer - 1] = Store{};
      --next.buffered[who];
      visit(next);
    }
    return state.buffered[who] != 0;
  }

  [[nodiscard]] std::int8_t lap_of(int number) const { return static_cast<std::int8_t>(number / cells_ + 1); }
  static int value_of(int number) { return 10 + number; }

  // CellProducer and ByteProducer: look for credit when it is used up, write body, write payload, publish the lap.
  bool producer(const State& state) {
    const int number = state.number[0];
    if (number == kMessages) return false;
    State next = state;
    bool stored = true;
    switch (state.step[0]) {
      case 0:
        if (mutant_ != Mutant::no_credit_check && number - state.seen_consumed[0] >= cells_) {
          next.seen_consumed[0] = load(state, 0, kCellsConsumed);
        } else {
          next.step[0] = 1;
        }
        break;
      case 1:
        if (mutant_ != Mutant::no_byte_credit && number - state.seen_consumed[1] >= bytes_) {
          next.seen_consumed[1] = load(state, 0, kBytesConsumed);
        } else {
          next.step[0] = 2;
        }
        break;
      case 2:
        stored = store(next, 0, kBody + number % bytes_, value_of(number), false);
        next.step[0] = 3;
        break;
      case 3:
        stored = store(next, 0, kPayload + number % cells_, value_of(number), false);
        next.step[0] = 4;
        break;
      default:
        stored = store(next, 0, kLap + number % cells_, lap_of(number), mutant_ != Mutant::plain_cell_publish);
        next.step[0] = 0;
        ++next.number[0];
        break;
    }
    if (!stored) return false;
    visit(next);
    return true;
  }

  void check(int read, int number) { fault_ |= read != value_of(number); }

  // CellConsumer and ByteConsumer: look at the lap, read payload and body, give byte and cell back.
  bool consumer(const State& state) {
    const int number = state.number[1];
    if (number == kMessages) return false;
    State next = state;
    bool stored = true;
    const std::int8_t lap = load(state, 1, kLap + number % cells_);
    switch (state.step[1]) {
      case 0:
        if (mutant_ == Mutant::lap_not_checked ? lap != 0 : lap == lap_of(number)) next.step[1] = 1;
        break;
      case 1:
        if (mutant_ == Mutant::early_release) stored = store(next, 1, kCellsConsumed, number + 1, true);
        if (mutant_ == Mutant::early_byte_release) stored = store(next, 1, kBytesConsumed, number + 1, true);
        next.step[1] = 2;
        break;
      case 2:
        check(load(state, 1, kPayload + number % cells_), number);
        next.step[1] = 3;
        break;
      case 3:
        check(load(state, 1, kBody + number % bytes_), number);
        next.step[1] = 4;
        break;
      case 4:
        stored = store(next, 1, kBytesConsumed, number + 1, true);
        next.step[1] = 5;
        break;
      default:
        stored = store(next, 1, kCellsConsumed, number + 1, true);
        next.step[1] = 0;
        ++next.number[1];
        break;
    }
    if (!stored) return false;
    visit(next);
    return true;
  }

  Mutant mutant_;
  int cells_;
  int bytes_;
  std::set<State> visited_;
  std::vector<State> open_;
  bool fault_ = false;
  bool ended_ = false;
};
static_assert(sizeof(State) == kVariables + 2 * kBuffer * 3 + 2 + 2 + 2 + 2 + 1, "bytes without padding");

// Cells and bytes: whichever is fewer holds the producer back.
constexpr std::array<std::array<int, 2>, 3> kShapes = {{{2, 4}, {4, 2}, {2, 2}}};

TEST_CASE("ring model: nothing wrong is reachable") {
  for (const auto& [cells, bytes] : kShapes) {
    Explorer explorer(Mutant::none, cells, bytes);
    CHECK_FALSE(explorer.finds_fault());
    CHECK_GT(explorer.states(), 1000);
  }
}

TEST_CASE("ring model: every mutant is caught") {
  for (const Mutant mutant : {Mutant::plain_cell_publish, Mutant::lap_not_checked, Mutant::no_credit_check,
                              Mutant::early_release, Mutant::no_byte_credit, Mutant::early_byte_release}) {
    CAPTURE(static_cast<int>(mutant));
    bool caught = false;
    for (const auto& [cells, bytes] : kShapes) caught |= Explorer(mutant, cells, bytes).finds_fault();
    CHECK(caught);
  }
}

}  // namespace
}  // namespace margay::sim
