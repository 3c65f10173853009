// A model of bodies that both ends carry (sim/shm/read_offer.hpp, shared_body.hpp), small enough to explore completely.
// There are two bodies of three chunks; the second may be offered while the first is carried. Chunks are claimed one or
// two at a time. The sender may be unable to write a chunk, and the receiver may give up in the middle and get the body
// by another method. The sender reuses a body's memory as soon as it may.
// Every step is one access to shared memory (memory_model.hpp). A claim is one exchange: earlier stores of the same
// side are visible before it. Mutants, each without one memory order or one check, must be caught.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "tests/sim/memory_model.hpp"

namespace margay::sim {
namespace {

constexpr int kChunks = 3;
constexpr int kBodies = 2;

enum class Mutant {
  none,
  plain_open,     // the claims may be seen open before the landing that goes with them
  plain_report,   // a chunk may be reported before it is seen
  no_wait,        // the receiver ends the body when no chunk is left to claim
  torn_claim,     // the sender claims by a load and a later store
  forgotten_one,  // a chunk that the sender could not write is carried by neither
  early_end,      // an answer ends all offers, also those behind the one that it answers
  wide_claim,     // two chunks are claimed where one is left
};

// Variables. Each body has a landing of its own; the contents of its chunks are its number.
constexpr int kOffered = 0;
constexpr int kAnswered = 1;  // body, plus kGaveUp
constexpr int kResent = 2;    // body that came another way
constexpr int kLanding = 3;   // the body to which the landing belongs
constexpr int kNumber = 4;    // the claims, one word in the real code: body, from the front, from the back
constexpr int kFront = 5;
constexpr int kBack = 6;
constexpr int kCarried = 7;                          // body * 10 + chunks of the sender that are over, plus kFailed
constexpr int kChunk = 8;                            // + (body - 1) * kChunks + chunk
constexpr int kSource = kChunk + kBodies * kChunks;  // + body - 1: the contents of the sender's memory for this body
constexpr int kVariables = kSource + kBodies;
constexpr int kReused = 9;  // in kSource
constexpr int kGaveUp = 10;
constexpr int kFailed = 5;

constexpr std::size_t kSender = 0, kReceiver = 1;

struct State {
  ModelMemory<kVariables, 4> shared;
  std::array<std::int8_t, 2> step{};
  std::array<std::int8_t, 2> body{1, 1};
  std::int8_t chunk = 0;                     // sender: claimed last
  std::int8_t seen_back = 0;                 // sender: of the claims, as loaded by a torn claim
  std::int8_t landing = 0;                   // sender: as loaded
  std::int8_t failed = 0;                    // sender: carries no more of this body
  std::int8_t offered = 0;                   // sender: body offered last
  std::int8_t freed = 0;                     // sender: the number of finished bodies whose memory it has reused
  std::int8_t mine = 0;                      // receiver: the next chunk that it claimed
  std::int8_t mine_left = 0;                 // receiver: how many it claimed and has not carried
  std::array<std::int8_t, kBodies> ended{};  // the receiver returned the landing
};
static_assert(sizeof(State) == kVariables + 2 * 4 * 3 + 2 + 2 + 2 + 8 + kBodies, "bytes without padding");

class Explorer {
 public:
  explicit Explorer(Mutant mutant) : mutant_(mutant) {}

  // Whether a landing can end with wrong contents, or be written after its end, or both sides can wait for ever.
  bool finds_fault() {
    State start{};
    start.body = {1, 1};
    states_.visit(start);
    while (!states_.empty() && !fault_) expand(states_.take());
    return fault_ || !ended_;
  }
  [[nodiscard]] std::size_t states() const { return states_.size(); }

 private:
  void expand(const State& state) {
    bool can_move = false;
    for (std::size_t who = 0; who < 2; ++who) {
      can_move |= state.shared.drain(who, [&](const auto& memory, const auto& store) {
        if (who == kSender && store.variable >= kChunk && store.variable < kSource) {
          fault_ |= state.ended[static_cast<std::size_t>((store.variable - kChunk) / kChunks)] != 0;
        }
        State next = state;
        next.shared = memory;
        states_.visit(next);
      });
    }
    can_move |= sender(state);
    can_move |= receiver(state);
    if (state.body[0] > kBodies && state.body[1] > kBodies) {
      ended_ = true;
    } else if (!can_move) {
      fault_ = true;
    }
  }

  bool go(bool stored, const State& next) {
    if (stored) states_.visit(next);
    return stored;
  }
  static int chunk_of(int body, int chunk) { return kChunk + (body - 1) * kChunks + chunk; }

  // A claim is one locked exchange: all earlier stores of the same side are visible, and it is visible at once.
  static bool may_claim(const State& state, std::size_t who) { return state.shared.buffered[who] == 0; }
  static int value(const State& state, int variable) { return state.shared.values[static_cast<std::size_t>(variable)]; }
  static void set(State& state, int variable, int value) {
    state.shared.values[static_cast<std::size_t>(variable)] = static_cast<std::int8_t>(value);
  }

  bool sender(const State& state) {
    const int body = state.body[kSender];
    bool reused = false;
    if (state.freed + 1 < body && state.step[kSender] == 1) {  // reuses the memory of a finished body
      State reusing = state;
      ++reusing.freed;
      reused = go(reusing.shared.store(kSender, kSource + state.freed, kReused, false), reusing);
    }
    if (body > kBodies) return reused;
    State next = state;
    switch (state.step[kSender]) {
      case 0:  // writes the body, before its offer
        next.step[kSender] = 10;
        return go(next.shared.store(kSender, kSource + state.offered, state.offered + 1, false), next);
      case 10:
        next.step[kSender] = 1;
        ++next.offered;
        return go(next.shared.store(kSender, kOffered, next.offered, true), next);
      case 1:
        return wait_or_claim(state);
      case 2:  // reads the landing
        next.landing = state.shared.load(kSender, kLanding);
        next.step[kSender] = 3;
        return go(true, next);
      case 3: {  // carries the chunk, or cannot
        State failing = next;
        failing.failed = 1;
        failing.step[kSender] = next.step[kSender] = 4;
        states_.visit(failing);
        if (state.landing == 0) return fault_ = true;
        return go(next.shared.store(kSender, chunk_of(state.landing, state.chunk), body, false), next);
      }
      case 4:  // reports the chunk
        next.step[kSender] = 1;
        return go(
            next.shared.store(kSender, kCarried, body * 10 + (kChunks - state.chunk) + (state.failed ? kFailed : 0),
                              mutant_ != Mutant::plain_report),
            next);
      case 5:
      case 6:
      case 7:  // sends the whole body by another method
        next.step[kSender] = static_cast<std::int8_t>(state.step[kSender] + 1);
        return go(next.shared.store(kSender, chunk_of(body, state.step[kSender] - 5), body, false), next);
      case 8:
        pass_body(next, body);
        return go(next.shared.store(kSender, kResent, body, true), next);
      default:  // a torn claim's second half
        next.step[kSender] = 2;
        return go(next.shared.store(kSender, kBack, state.seen_back + 1, false), next);
    }
  }

  bool wait_or_claim(const State& state) {
    const int body = state.body[kSender];
    const int answered = state.shared.load(kSender, kAnswered);
    const bool over = answered % kGaveUp >= body;
    if (over) {
      State next = state;
      if (answered == kGaveUp + body) {
        next.step[kSender] = 5;
      } else {
        const int last = answered % kGaveUp - (answered > kGaveUp ? 1 : 0);
        pass_body(next, mutant_ == Mutant::early_end ? state.offered : last);
      }
      states_.visit(next);
    }
    if (state.offered < kBodies) {  // the next one, behind the open offers
      State next = state;
      next.step[kSender] = 0;
      states_.visit(next);
    }
    const bool tries = state.failed == 0 && !over && body <= state.offered;
    const bool open = value(state, kNumber) == body;
    if (tries && open && may_claim(state, kSender) && value(state, kFront) + value(state, kBack) < kChunks) {
      State next = state;
      const int back = value(state, kBack);
      next.chunk = static_cast<std::int8_t>(kChunks - 1 - back);
      next.step[kSender] = 2;
      if (mutant_ == Mutant::torn_claim) {
        next.seen_back = static_cast<std::int8_t>(back);
        next.step[kSender] = 9;
      } else {
        set(next, kBack, back + 1);
      }
      states_.visit(next);
    }
    return true;  // it polls again
  }

  // The sender is done with all bodies up to this one.
  static void pass_body(State& next, int body) {
    next.step[kSender] = 1;
    next.failed = 0;
    next.body[kSender] = static_cast<std::int8_t>(body + 1);
  }

  bool receiver(const State& state) {
    const int body = state.body[kReceiver];
    if (body > kBodies) return false;
    State next = state;
    switch (state.step[kReceiver]) {
      case 0:  // sees the offer
        if (state.shared.load(kReceiver, kOffered) < body) return true;
        next.step[kReceiver] = 1;
        return go(true, next);
      case 1:
        next.step[kReceiver] = 2;
        return go(next.shared.store(kReceiver, kLanding, body, false), next);
      case 2:  // opens the claims: one word, released
        if (mutant_ != Mutant::plain_open && !may_claim(state, kReceiver)) return false;
        set(next, kNumber, body);
        set(next, kFront, 0);
        set(next, kBack, 0);
        next.step[kReceiver] = 3;
        return go(true, next);
      case 3: {  // claims the next chunk, or two; or gives up
        if (!may_claim(state, kReceiver)) return false;
        State closing = state;
        set(closing, kFront, kChunks);
        closing.step[kReceiver] = 7;
        states_.visit(closing);
        const int left = kChunks - value(state, kFront) - value(state, kBack);
        if (left <= 0) {
          next.step[kReceiver] = 5;
          return go(true, next);
        }
        next.mine = state.shared.values[kFront];
        next.step[kReceiver] = 4;
        for (int count = 1; count <= (mutant_ == Mutant::wide_claim ? 2 : std::min(left, 2)); ++count) {
          next.mine_left = static_cast<std::int8_t>(count);
          set(next, kFront, next.mine + count);
          states_.visit(next);
        }
        return true;
      }
      case 4:
        if (state.mine >= kChunks) return fault_ = true;  // beyond the landing
        --next.mine_left;
        ++next.mine;
        if (next.mine_left == 0) next.step[kReceiver] = 3;
        return go(next.shared.store(kReceiver, chunk_of(body, state.mine), read_body(state), false), next);
      case 5:
        return look_at_rest(state);
      case 6:
        return end(state, body);
      case 7:
        next.step[kReceiver] = 8;
        return go(next.shared.store(kReceiver, kAnswered, body + kGaveUp, true), next);
      default:
        if (state.shared.load(kReceiver, kResent) < body) return true;
        return end(state, 0);
    }
  }

  // The contents that the receiver reads from the sender's memory of the body.
  static int read_body(const State& state) { return state.shared.load(kReceiver, kSource + state.body[kReceiver] - 1); }

  bool look_at_rest(const State& state) {
    const int body = state.body[kReceiver];
    const int back = value(state, kBack);
    const int carried = state.shared.load(kReceiver, kCarried);
    const bool failed = carried % 10 > kFailed;
    State next = state;
    next.step[kReceiver] = 6;
    if (back == 0 || mutant_ == Mutant::no_wait) return go(true, next);
    if (carried / 10 != body) return true;
    if (failed && mutant_ != Mutant::forgotten_one) {
      return go(
          next.shared.store(kReceiver, chunk_of(body, kChunks - (carried % 10 - kFailed)), read_body(state), false),
          next);
    }
    if (!failed && carried % 10 != back) return true;
    return go(true, next);
  }

  // `answer`: the body's number, or 0 if it was answered before.
  bool end(const State& state, int answer) {
    const int body = state.body[kReceiver];
    State next = state;
    if (answer != 0 && !next.shared.store(kReceiver, kAnswered, answer, true)) return false;
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      fault_ |= state.shared.load(kReceiver, chunk_of(body, chunk)) != body;
    }
    next.ended[static_cast<std::size_t>(body - 1)] = 1;
    next.step[kReceiver] = 0;
    ++next.body[kReceiver];
    return go(true, next);
  }

  Mutant mutant_;
  StateSet<State> states_;
  bool fault_ = false;
  bool ended_ = false;
};

TEST_CASE("shared body model: no fault is reachable") {
  Explorer explorer(Mutant::none);
  CHECK_FALSE(explorer.finds_fault());
  CHECK_GT(explorer.states(), 1000);
}

TEST_CASE("shared body model: every mutant is caught") {
  for (const Mutant mutant : {Mutant::plain_open, Mutant::plain_report, Mutant::no_wait, Mutant::torn_claim,
                              Mutant::forgotten_one, Mutant::early_end, Mutant::wide_claim}) {
    CAPTURE(static_cast<int>(mutant));
    CHECK(Explorer(mutant).finds_fault());
  }
}

}  // namespace
}  // namespace margay::sim
