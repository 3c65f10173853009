#include "libraries/zipcode/registrar.hpp"

#include <algorithm>
#include <cstring>

#include "libraries/zipcode/postmaster.hpp"

namespace margay::zipcode::core {

namespace {

constexpr portals::Rank kAdmitter = 0;  // process 0

}  // namespace

std::string form_error(std::uint32_t peer, const std::string& form, const std::string& form_of_0) {
  if (form == form_of_0) return {};
  return "process " + std::to_string(peer) + " calls " + form + ", but process 0 " + form_of_0 +
         "; all processes call the same one";
}

void Registrar::add_started(std::span<const portals::Rank> places) {
  post_.send_system(kAdmitter, Tag::started, std::as_bytes(places));
}

bool Registrar::take_admitted(portals::Rank place, std::string& verdict) {
  return post_.take_system(Tag::admitted, [&](portals::Rank source, Bytes body) {
    if (source != kAdmitter || body.size() < sizeof place || std::memcmp(body.data(), &place, sizeof place) != 0)
      return false;
    const Bytes text = body.subspan(sizeof place);
    verdict.assign(reinterpret_cast<const char*>(text.data()), text.size());
    return true;
  });
}

void Registrar::add_ended(std::span<const portals::Rank> places) {
  for (const portals::Rank each : places) post_.add_ended(each);
  if (post_.rank().rank() == kAdmitter) {
    pass_on_ended(places, kAdmitter);
  } else {
    post_.send_system(kAdmitter, Tag::ended, std::as_bytes(places));
  }
}

std::vector<portals::Rank> Registrar::places_in(Bytes body) const {
  host::Rank& rank = post_.rank();
  std::vector<portals::Rank> places(body.size() / sizeof(portals::Rank));
  if (!places.empty()) std::memcpy(places.data(), body.data(), places.size() * sizeof(portals::Rank));
  std::erase_if(places,
                [&](portals::Rank each) { return each < rank.size() || each >= rank.places() || each == rank.rank(); });
  return places;
}

// Each letter is taken in the round of its arrival: a process that has informed process 0 is known there before any
// later letter of it is.
void Registrar::notify() {
  take_ended();
  if (post_.rank().rank() == kAdmitter) take_newcomers();
  if (server_ != nullptr) server_->serve();
}

void Registrar::take_ended() {
  while (post_.take_system(Tag::ended, [&](portals::Rank source, Bytes body) {
    const std::vector<portals::Rank> places = places_in(body);
    for (const portals::Rank each : places) post_.add_ended(each);
    if (post_.rank().rank() == kAdmitter) pass_on_ended(places, source);
    return true;
  })) {
  }
}

void Registrar::pass_on_ended(std::span<const portals::Rank> places, portals::Rank source) {
  if (places.empty()) return;
  for (const portals::Rank each : places) {
    newcomers_.erase(each);
    later_.erase(each);
  }
  const auto inform = [&](portals::Rank peer) {
    if (peer != source) post_.send_system(peer, Tag::ended, std::as_bytes(places));
  };
  for (portals::Rank peer = 1; peer < post_.rank().size(); ++peer) inform(peer);
  for (const portals::Rank peer : later_) inform(peer);
}

void Registrar::take_newcomers() {
  std::vector<portals::Rank> changed;
  // Those that began with the job send their forms, too, and Zip_init() takes these.
  while (post_.take_system(Tag::form, [&](portals::Rank source, Bytes body) {
    if (source < post_.rank().size()) return false;
    newcomers_[source].form.emplace(reinterpret_cast<const char*>(body.data()), body.size());
    changed.push_back(source);
    return true;
  })) {
  }
  while (post_.take_system(Tag::started, [&](portals::Rank source, Bytes body) {
    for (const portals::Rank each : places_in(body)) {
      newcomers_[each].starter = source;
      changed.push_back(each);
    }
    return true;
  })) {
  }
  for (const portals::Rank each : changed) admit_if_known(each);
}

void Registrar::admit_if_known(portals::Rank place) {
  const auto at = newcomers_.find(place);
  if (at == newcomers_.end() || !at->second.starter.has_value() || !at->second.form.has_value()) return;
  const portals::Rank starter = *at->second.starter;
  const std::string verdict = form_error(place, *at->second.form, form_);
  newcomers_.erase(at);
  if (verdict.empty()) {
    later_.insert(place);
    has_had_later_ = true;
    const std::vector<portals::Rank> ended(post_.ended_places().begin(), post_.ended_places().end());
    if (!ended.empty()) post_.send_system(place, Tag::ended, std::as_bytes(std::span(ended)));
    post_.send_system(place, Tag::form, {});
  }
  std::vector<std::byte> letter(sizeof place + verdict.size());
  std::memcpy(letter.data(), &place, sizeof place);
  if (!verdict.empty()) std::memcpy(letter.data() + sizeof place, verdict.data(), verdict.size());
  post_.send_system(starter, Tag::admitted, letter);
}

}  // namespace margay::zipcode::core
