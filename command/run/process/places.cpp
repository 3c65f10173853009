#include "command/run/process/places.hpp"

#include <algorithm>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::command {

Places::Places(std::uint32_t ranks, std::uint32_t places, std::function<bool(std::uint32_t)> is_at_rest)
    : running_{ranks}, uses_(places), used_(ranks), is_at_rest_(std::move(is_at_rest)) {
  MARGAY_ASSERT(ranks <= places);
  std::fill_n(uses_.begin(), ranks, Use{State::in_use, 0});
}

bool Places::is_free(std::uint32_t place) const {
  const Use& use = uses_[place];
  if (use.state == State::empty) return true;
  // A world's places become free together: a process that starts reads from the board which places its world has.
  if (use.state != State::ended || use.world == 0 || running_[use.world] != 0) return false;
  return is_at_rest_ == nullptr || is_at_rest_(place);
}

std::uint32_t Places::free() const {
  std::uint32_t count = 0;
  for (std::uint32_t place = 0; place < uses_.size(); ++place) count += is_free(place) ? 1 : 0;
  return count;
}

bool Places::some_may_end() const {
  for (std::uint32_t place = 0; place < uses_.size(); ++place) {
    const Use& use = uses_[place];
    const bool is_of_further_world = use.world != 0 && (use.state == State::in_use || use.state == State::ended);
    if (is_of_further_world && !is_free(place)) return true;
  }
  return false;
}

std::vector<std::uint32_t> Places::take(std::uint32_t count) {
  std::vector<std::uint32_t> taken;
  for (std::uint32_t place = 0; place < uses_.size() && taken.size() < count; ++place) {
    if (is_free(place)) taken.push_back(place);
  }
  MARGAY_ASSERT(taken.size() == count);
  const auto world = static_cast<std::uint32_t>(running_.size());
  running_.push_back(count);
  for (const std::uint32_t place : taken) {
    uses_[place] = {State::in_use, world};
    used_ = std::max(used_, place + 1);
  }
  return taken;
}

std::optional<std::uint32_t> Places::take_for_guest() {
  for (auto place = static_cast<std::uint32_t>(uses_.size()); place-- > used_;) {
    if (uses_[place].state != State::empty) continue;
    uses_[place].state = State::guest;
    return place;
  }
  return std::nullopt;
}

void Places::on_end(std::uint32_t place, bool may_be_succeeded) {
  Use& use = uses_[place];
  MARGAY_ASSERT(use.state == State::in_use);
  use.state = may_be_succeeded ? State::ended : State::retired;
  --running_[use.world];
}

void Places::retire(std::uint32_t place) {
  Use& use = uses_[place];
  if (use.state == State::ended) use.state = State::retired;
}

}  // namespace margay::command
