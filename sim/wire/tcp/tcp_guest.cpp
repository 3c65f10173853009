// The guests of a TcpWire: numbers for processes of other jobs.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/assert.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"

namespace margay::sim {

using portals::Status;

Status TcpWire::add_guest(std::uint32_t number, const Endpoint& endpoint, std::string_view card) {
  MARGAY_ASSERT(settings_.guests);
  const std::string who = "guest " + std::to_string(number);
  if (number >= settings_.world || number == settings_.rank) return Status::error(who + ": invalid number of a guest");
  if (endpoint.job == settings_.job) return Status::error(who + ": it is a process of this job");
  TcpAddress address;
  if (!card.empty()) {
    if (Status parsed = parse_card(card, address); !parsed.ok()) return Status::error(who + ": " + parsed.sentence());
  }
  if (guests_[number] == endpoint) {
    if (!card.empty() && links_[number] == nullptr) addresses_[number] = address;
    return {};
  }
  if (!has_ended(number)) {
    return Status::error(who + ": the connection of the process that had this number before has not ended");
  }
  // The operating system may still write into the memory of links that were lost in this way.
  if (backend_ != nullptr && !backend_->failure().empty()) return Status::error(who + ": " + backend_->failure());
  forget(number);
  guests_[number] = endpoint;
  addresses_[number] = address;
  return {};
}

// A link that is ready or held may still report something, and its loss is reported before it is closed.
bool TcpWire::has_ended(std::uint32_t number) const {
  MARGAY_ASSERT(settings_.guests && number < settings_.world);
  const TcpLink* link = links_[number].get();
  if (link == nullptr) return true;
  return link->state == TcpLink::State::closed && !link->ready && !link->held && link != answering_ &&
         link->sender.idle();
}

std::optional<std::uint32_t> TcpWire::number_of(const Endpoint& endpoint) {
  if (settings_.guest_of == nullptr) return std::nullopt;
  const std::optional<std::uint32_t> number = settings_.guest_of(endpoint);
  // A number without add_guest() could be that of another guest.
  if (!number || *number >= settings_.world || guests_[*number] != endpoint) return std::nullopt;
  // A process that has ended here does not begin anew. Without this test it would wait for its old connection.
  const TcpLink* link = links_[*number].get();
  if (link != nullptr && link->state == TcpLink::State::closed) return std::nullopt;
  return number;
}

void TcpWire::forget(std::uint32_t number) {
  MARGAY_ASSERT(has_ended(number));
  connector_.forget(number);
  const TcpLink* link = links_[number].get();
  if (link == nullptr) return;
  std::erase(made_, link);
  std::erase(bursts_, link);
  if (last_arrival_ == link) last_arrival_ = nullptr;
  links_[number].reset();
}

}  // namespace margay::sim
