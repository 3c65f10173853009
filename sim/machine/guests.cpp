#include "sim/machine/guests.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/boot/interface.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/boot/user_key.hpp"
#include "sim/machine/cards.hpp"
#include "sim/machine/ways.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"

namespace margay::sim {

using portals::Status;

Guests::Guests(const Job& job, TransmissionList& finished, const Clock& clock,
               std::function<void(std::uint32_t place, Wire& wire)> admit, std::function<void()> count)
    : job_(job), finished_(finished), clock_(clock), admit_(std::move(admit)), count_(std::move(count)) {}

Guests::~Guests() = default;

std::string Guests::address() const {
  return wire_ == nullptr ? std::string() : wire_->card();
}

Status Guests::check() const {
  if (job_.launcher != Launcher::margay || job_.pmi == nullptr) {
    return Status::error("this job was not started by margay run, whose launcher admits processes of other jobs");
  }
  if (job_.process_ranks > 1) {
    return Status::error("the ranks of this job are threads (margay run --threads); start it without this option");
  }
  if (is_forwarding(job_)) {
    return Status::error("this job forwards messages (margay run --forward); start it without this option");
  }
  if (job_.size == job_.initial_ranks()) {
    return Status::error("this job has no empty place for a process of another job; start it with --places");
  }
  return {};
}

Status Guests::open(bool& is_new) {
  is_new = wire_ == nullptr;
  if (!is_new) return {};
  if (Status status = check(); !status.ok()) return status;
  TcpWire::Settings settings;
  settings.rank = job_.rank;
  settings.world = job_.size;
  settings.job = job_.job_id;
  settings.guests = true;
  settings.place = self().place;
  if (Status status = choose_tcp(job_, settings); !status.ok()) return status;
  // Another job may be on another host, which does not reach this one's loopback address.
  if (Status status = choose_address(job_.tcp_interface, settings.bind_host); !status.ok()) return status;
  settings.any_source = job_.tcp_interface.empty();
  if (Status status = user_key(settings.secret); !status.ok()) return status;
  settings.guest_of = [this](const Endpoint& endpoint) -> std::optional<std::uint32_t> {
    std::uint32_t place = 0;
    refused_ = !find(endpoint, {}, place).ok();
    return refused_ ? std::nullopt : std::optional(place);
  };
  auto wire = std::make_unique<TcpWire>(std::move(settings), finished_, clock_);
  if (Status status = wire->open(); !status.ok()) return status;
  wire_ = std::move(wire);
  return {};
}

Status Guests::find(const Endpoint& endpoint, std::string_view address, std::uint32_t& place) {
  if (const auto known = by_endpoint_.find(endpoint); known != by_endpoint_.end()) {
    place = known->second;
    if (address.empty()) return {};
    note_address(place, address);
    return wire_->add_guest(place, endpoint, address);
  }
  if (Status status = job_.pmi->find_guest(endpoint, place); !status.ok()) return status;
  if (place >= job_.size || place == job_.rank) return Status::error("the launcher gave an invalid place to a guest");
  // The launcher gives a place again only when no process needs its former guest.
  if (by_place_.contains(place)) return Status::error("the launcher gave two guests one place");
  if (Status status = wire_->add_guest(place, endpoint, address); !status.ok()) {
    static_cast<void>(job_.pmi->release_guest(place));
    return status;
  }
  by_place_.emplace(place, Guest{endpoint});
  by_endpoint_.emplace(endpoint, place);
  note_address(place, address);
  admit_(place, *wire_);
  return {};
}

Endpoint Guests::order_key(std::uint32_t place) const {
  const auto guest = by_place_.find(place);
  if (guest == by_place_.end()) return {job_.job_id, place};
  return {guest->second.endpoint.job, rank_of_endpoint_place(guest->second.endpoint.place)};
}

void Guests::note_address(std::uint32_t place, std::string_view address) {
  by_place_.at(place).on_this_host = have_same_host(wire_->card(), address);
  count_();
}

std::uint32_t Guests::on_this_host() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(by_place_, [](const auto& guest) { return guest.second.on_this_host; }));
}

bool Guests::has_left(std::uint32_t place) const {
  return contains(place) && wire_->has_ended(place);
}

bool Guests::is_release_due() {
  if (wire_ == nullptr || keeps_ != 0) return false;
  const bool refused = std::exchange(refused_, false);
  return std::exchange(ends_seen_, wire_->ends()) != wire_->ends() || refused;
}

std::vector<std::uint32_t> Guests::release_unused(const std::function<bool(std::uint32_t place)>& is_in_use) {
  std::vector<std::uint32_t> released;
  for (auto guest = by_place_.begin(); keeps_ == 0 && guest != by_place_.end();) {
    const std::uint32_t place = guest->first;
    if (!wire_->has_ended(place) || is_in_use(place)) {
      ++guest;
      continue;
    }
    by_endpoint_.erase(guest->second.endpoint);
    guest = by_place_.erase(guest);
    static_cast<void>(job_.pmi->release_guest(place));
    released.push_back(place);
  }
  if (!released.empty()) count_();
  return released;
}

}  // namespace margay::sim
