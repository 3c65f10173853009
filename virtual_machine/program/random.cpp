#include "virtual_machine/program/random.hpp"

namespace margay::virtual_machine {

// drand48's initial state is all zeros: libc sets its constants at the first use.
Random::State& Random::state() {
  if (state_ == nullptr) {
    state_ = std::make_unique<State>();
    ::initstate_r(1, state_->table.data(), state_->table.size(), &state_->random);
  }
  return *state_;
}

}  // namespace margay::virtual_machine
