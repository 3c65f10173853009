// A rank's random numbers of libc: rand and random, and the drand48 family. Each rank starts with libc's initial state
// and gets the same numbers as a process of its own.
#pragma once

#include <array>
#include <cstdlib>
#include <memory>

namespace margay::virtual_machine {

// The generators of one rank.
class Random {
 public:
  // The states for libc's reentrant functions (random_r, drand48_r), made at the first use.
  [[nodiscard]] random_data& random_state() { return state().random; }
  [[nodiscard]] drand48_data& drand48_state() { return state().drand48; }

 private:
  // random.random has pointers into table.
  struct State {
    random_data random = {};
    // As libc's: random's trinomial of degree 31.
    std::array<char, 128> table = {};
    drand48_data drand48 = {};
  };

  [[nodiscard]] State& state();

  // Null until the first use.
  std::unique_ptr<State> state_;
};

}  // namespace margay::virtual_machine
