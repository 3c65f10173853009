// A model of a channel, small enough to explore completely. Every step of producer and consumer is one access to shared
// memory (memory_model.hpp). The explorer visits every reachable state once. Mutants, each without one memory order or
// one check, must be caught.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "tests/sim/memory_model.hpp"

namespace margay::sim {
namespace {

constexpr int kCells = 4;     // at most
constexpr int kBytes = 4;     // at most; of the byte ring; a message's body is one byte
constexpr int kMessages = 9;  // more than twice around

enum class Mutant {
  none,
  plain_cell_publish,  // the cell's word may be seen before its payload and the body
  lap_not_checked,     // the consumer accepts any non-zero lap
  no_credit_check,     // the producer never tests whether a cell is free
  early_release,       // the consumer gives the cell back before it has read it
  no_byte_credit,      // the producer never tests whether a byte is free
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
struct State {
  ModelMemory<kVariables, kBuffer> shared;
  std::array<std::int8_t, 2> step{};           // the position of each in its program
  std::array<std::int8_t, 2> number{};         // of each one's current message
  std::array<std::int8_t, 2> seen_consumed{};  // producer: cells and bytes, as last read
  std::int8_t got = 0;                         // consumer: payload as read
};

class Explorer {
 public:
  Explorer(Mutant mutant, int cells, int bytes) : mutant_(mutant), cells_(cells), bytes_(bytes) {}

  // Whether a wrong or lost message is possible.
  bool finds_fault() {
    State start{};
    states_.visit(start);
    while (!states_.empty() && !fault_) expand(states_.take());
    return fault_ || !ended_;
  }
  [[nodiscard]] std::size_t states() const { return states_.size(); }

 private:
  void expand(const State& state) {
    bool can_move = producer(state);
    can_move |= consumer(state);
    for (std::size_t who = 0; who < 2; ++who) {
      can_move |= state.shared.drain(who, [&](const auto& memory, const auto& /*store*/) {
        State next = state;
        next.shared = memory;
        states_.visit(next);
      });
    }
    const bool done = state.number[0] == kMessages && state.number[1] == kMessages;
    if (done)
      ended_ = true;
    else if (!can_move)
      fault_ = true;  // stuck
  }

  [[nodiscard]] std::int8_t lap_of(int number) const { return static_cast<std::int8_t>(number / cells_ + 1); }
  static int value_of(int number) { return 10 + number; }

  // CellProducer and ByteProducer: read the credit when it is used up, write body, write payload, publish the lap.
  bool producer(const State& state) {
    const int number = state.number[0];
    if (number == kMessages) return false;
    State next = state;
    bool stored = true;
    switch (state.step[0]) {
      case 0:
        if (mutant_ != Mutant::no_credit_check && number - state.seen_consumed[0] >= cells_) {
          next.seen_consumed[0] = state.shared.load(0, kCellsConsumed);
        } else {
          next.step[0] = 1;
        }
        break;
      case 1:
        if (mutant_ != Mutant::no_byte_credit && number - state.seen_consumed[1] >= bytes_) {
          next.seen_consumed[1] = state.shared.load(0, kBytesConsumed);
        } else {
          next.step[0] = 2;
        }
        break;
      case 2:
        stored = next.shared.store(0, kBody + number % bytes_, value_of(number), false);
        next.step[0] = 3;
        break;
      case 3:
        stored = next.shared.store(0, kPayload + number % cells_, value_of(number), false);
        next.step[0] = 4;
        break;
      default:
        stored = next.shared.store(0, kLap + number % cells_, lap_of(number), mutant_ != Mutant::plain_cell_publish);
        next.step[0] = 0;
        ++next.number[0];
        break;
    }
    if (!stored) return false;
    states_.visit(next);
    return true;
  }

  void check(int read, int number) { fault_ |= read != value_of(number); }

  // CellConsumer and ByteConsumer: read the lap, read payload and body, return byte and cell.
  bool consumer(const State& state) {
    const int number = state.number[1];
    if (number == kMessages) return false;
    State next = state;
    bool stored = true;
    const std::int8_t lap = state.shared.load(1, kLap + number % cells_);
    switch (state.step[1]) {
      case 0:
        if (mutant_ == Mutant::lap_not_checked ? lap != 0 : lap == lap_of(number)) next.step[1] = 1;
        break;
      case 1:
        if (mutant_ == Mutant::early_release) stored = next.shared.store(1, kCellsConsumed, number + 1, true);
        if (mutant_ == Mutant::early_byte_release) stored = next.shared.store(1, kBytesConsumed, number + 1, true);
        next.step[1] = 2;
        break;
      case 2:
        check(state.shared.load(1, kPayload + number % cells_), number);
        next.step[1] = 3;
        break;
      case 3:
        check(state.shared.load(1, kBody + number % bytes_), number);
        next.step[1] = 4;
        break;
      case 4:
        stored = next.shared.store(1, kBytesConsumed, number + 1, true);
        next.step[1] = 5;
        break;
      default:
        stored = next.shared.store(1, kCellsConsumed, number + 1, true);
        next.step[1] = 0;
        ++next.number[1];
        break;
    }
    if (!stored) return false;
    states_.visit(next);
    return true;
  }

  Mutant mutant_;
  int cells_;
  int bytes_;
  StateSet<State> states_;
  bool fault_ = false;
  bool ended_ = false;
};
static_assert(sizeof(State) == kVariables + 2 * kBuffer * 3 + 2 + 2 + 2 + 2 + 1, "bytes without padding");

// The smaller number, of cells or of bytes, holds the producer back.
constexpr std::array<std::array<int, 2>, 3> kShapes = {{{2, 4}, {4, 2}, {2, 2}}};

TEST_CASE("ring model: no fault is reachable") {
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
