#include "command/run/process/guests.hpp"

#include <algorithm>
#include <iterator>

namespace margay::command {

std::optional<std::uint32_t> Guests::find(const sim::Endpoint& guest, std::uint32_t holder) {
  auto found = guests_.find(guest);
  if (found == guests_.end()) {
    std::optional<std::uint32_t> place;
    if (!free_.empty()) {
      place = free_.back();
      free_.pop_back();
    } else {
      place = take_place_();
    }
    if (!place) return std::nullopt;
    found = guests_.emplace(guest, Guest{*place, {}}).first;
  }
  found->second.holders.insert(holder);
  return found->second.place;
}

bool Guests::release(std::uint32_t place, std::uint32_t holder) {
  const auto found = std::ranges::find_if(guests_, [&](const auto& each) { return each.second.place == place; });
  if (found == guests_.end() || found->second.holders.erase(holder) == 0) return false;
  free_if_unused(found);
  return true;
}

void Guests::on_end(std::uint32_t holder) {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    guest = guest->second.holders.erase(holder) == 0 ? std::next(guest) : free_if_unused(guest);
  }
}

Guests::Found Guests::free_if_unused(Found guest) {
  if (!guest->second.holders.empty()) return std::next(guest);
  free_.push_back(guest->second.place);
  return guests_.erase(guest);
}

}  // namespace margay::command
