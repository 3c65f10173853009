#include "libraries/nexus/endpoints.hpp"

namespace margay::nexus::core {

Endpoints::Endpoints(portals::DynamicBlock& heap) : heap_(heap) {
  control_.set({.match_bits = endpoint_bits(kControlEndpoint, 0), .ignore_bits = kBelowGeneration}, heap_, {});
  list_.append(control_);
}

std::uint32_t Endpoints::add(Endpoint& endpoint, std::uint16_t& generation) {
  std::uint32_t number = 0;
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
  } else {
    if (slots_.size() == kEndpointsMost) return 0;
    slots_.push_back(std::make_unique<Slot>());
    number = static_cast<std::uint32_t>(slots_.size());
  }
  Slot& slot = *slots_[number - 1];
  slot.endpoint = &endpoint;
  generation = slot.generation;
  slot.entry.set({.match_bits = endpoint_bits(number, generation), .ignore_bits = kBelowGeneration}, heap_, {});
  list_.append(slot.entry);
  ++alive_;
  return number;
}

void Endpoints::remove(std::uint32_t number) {
  Slot& slot = *slots_[number - 1];
  list_.remove(slot.entry);
  slot.endpoint = nullptr;
  --alive_;
  // After 65,536 endpoints of one number, a request for the first one would reach a new one, so the number is retired.
  if (++slot.generation != 0) free_.push_back(number);
}

Slot* Endpoints::find(std::uint32_t number, std::uint16_t generation) {
  if (number == 0 || number > slots_.size()) return nullptr;
  Slot& slot = *slots_[number - 1];
  return slot.endpoint != nullptr && slot.generation == generation ? &slot : nullptr;
}

}  // namespace margay::nexus::core
