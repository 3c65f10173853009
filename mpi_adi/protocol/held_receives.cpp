#include "mpi_adi/protocol/held_receives.hpp"

#include <algorithm>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/cancel.hpp"
#include "mpi_adi/protocol/receive.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

bool is_wildcard(const portals::Criteria& criteria) {
  return (criteria.ignore_bits & kSourceMask) != 0;
}

// The criteria of a wildcard, limited to a source; MPI_ANY_SOURCE: unchanged.
portals::Criteria from_source(portals::Criteria criteria, int source) {
  if (source == MPI_ANY_SOURCE) return criteria;
  criteria.ignore_bits &= ~kSourceMask;
  criteria.match_bits |= envelope_bits(0, source, 0);
  return criteria;
}

bool equal(const portals::Criteria& a, const portals::Criteria& b) {
  return a.match_bits == b.match_bits && a.ignore_bits == b.ignore_bits;
}

// Whether some message meets both.
bool overlap(const portals::Criteria& a, const portals::Criteria& b) {
  return ((a.match_bits ^ b.match_bits) & ~a.ignore_bits & ~b.ignore_bits) == 0;
}

}  // namespace

HeldReceives::HeldReceives(DeviceParts& parts, WildcardWatch& watch, bool holds)
    : parts_(parts), watch_(watch), holds_(holds) {
  parts_.each_round.push_back(this);
}

bool HeldReceives::hold(ReceiveRequest& request, const CheckedReceive& receive) {
  drop_ended(&request);
  followed_.erase(&request);  // of a cancelled receive
  if (receive.context != Context::point_to_point) return false;
  const portals::Criteria criteria = request.entry.criteria();
  const bool wildcard = is_wildcard(criteria);
  const bool behind = is_behind(criteria, held_.size());
  if (wildcard && !behind && probed_ && equal(probed_->criteria, criteria)) {
    // The probe has made the choice: the receive is one from the source that it found.
    request.entry.set_criteria(from_source(criteria, probed_->source));
    probed_.reset();
    return false;
  }
  if (!holds_ && wildcard) followed_[&request] = ++numbers_;
  if (!holds_ || (!wildcard && !behind)) return false;
  list_held(request);
  request.state = ReceiveState::posted;
  held_.push_back({&request, criteria, wildcard ? ++numbers_ : 0});
  return true;
}

portals::ArrivedMessage* HeldReceives::probe(const portals::Criteria& criteria, bool takes_out) {
  drop_ended();
  // A message that an earlier receive may take is not there for a probe.
  if (is_behind(criteria, held_.size())) return nullptr;
  if (!is_wildcard(criteria)) return parts_.heap.find(criteria);
  if (!probed_ || !equal(probed_->criteria, criteria)) {
    if (!probe_ || !equal(probe_->criteria, criteria)) probe_ = Probe{criteria, ++numbers_};
    if (holds_ && probe_->source == MPI_ANY_SOURCE) return nullptr;
    const portals::ArrivedMessage* const found = parts_.heap.find(from_source(criteria, probe_->source));
    if (found == nullptr) return nullptr;
    probed_ = probe_;
    probed_->source = source_of(found->header.match_bits);
    probe_.reset();
    watch_.matched({parts_.kernel.me().rank, probed_->number, probed_->source, found->header.source.rank,
                    parts_.message_numbers.of(*found)});
  }
  portals::ArrivedMessage* const found = parts_.heap.find(from_source(criteria, probed_->source));
  // The next probe chooses again.
  if (takes_out) probed_.reset();
  return found;
}

void HeldReceives::sent(const portals::Header& header) {
  watch_.sent(parts_.kernel.me().rank, header.destination.rank, header.match_bits & ~kTypeMask);
}

void HeldReceives::completed(const ReceiveRequest& request) {
  const portals::MatchBits bits = envelope_bits(request.tag, request.source, request.communicator->context);
  // After the probed message's receive, the next probe chooses again.
  if (probed_ && ((bits ^ probed_->criteria.match_bits) & ~probed_->criteria.ignore_bits) == 0) probed_.reset();
  // A held receive that is complete has taken a ready message.
  const auto held = std::find_if(held_.begin(), held_.end(), [&](const Held& at) { return at.request == &request; });
  if (held != held_.end() && held->number != 0) followed_[&request] = held->number;
  if (const auto found = followed_.find(&request); found != followed_.end()) {
    watch_.matched({parts_.kernel.me().rank, found->second, request.source, request.peer, request.sequence});
    followed_.erase(found);
  }
  watch_.received(parts_.kernel.me().rank, request.peer, bits);
}

std::vector<WildcardChoice> HeldReceives::choices() const {
  std::vector<WildcardChoice> all;
  const auto add = [&](std::uint32_t number, const portals::Criteria& criteria) {
    if (std::vector<int> found = sources(criteria); !found.empty()) all.push_back({number, criteria, std::move(found)});
  };
  for (std::size_t at = 0; at < held_.size(); ++at) {
    if (held_[at].number != 0 && !is_behind(held_[at].criteria, at)) add(held_[at].number, held_[at].criteria);
  }
  if (probe_ && probe_->source == MPI_ANY_SOURCE && !is_behind(probe_->criteria, held_.size()))
    add(probe_->number, probe_->criteria);
  return all;
}

std::vector<int> HeldReceives::sources(const portals::Criteria& criteria) const {
  std::vector<int> found;
  for (const portals::ArrivedMessage* at = parts_.heap.first(); at != nullptr; at = parts_.heap.next(*at)) {
    if (!criteria.accepts(at->header)) continue;
    const int source = source_of(at->header.match_bits);
    if (std::find(found.begin(), found.end(), source) == found.end()) found.push_back(source);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void HeldReceives::choose(std::uint32_t number, int source) {
  if (probe_ && probe_->number == number) {
    probe_->source = source;
    return;
  }
  chosen_ = number;
  chosen_source_ = source;
}

void HeldReceives::notify() {
  drop_ended();
  if (chosen_ == 0) return;
  const auto at = std::find_if(held_.begin(), held_.end(), [&](const Held& held) { return held.number == chosen_; });
  chosen_ = 0;
  if (at == held_.end()) return;
  const Held held = *at;
  held_.erase(at);
  portals::ArrivedMessage* const message = parts_.heap.find(from_source(held.criteria, chosen_source_));
  MARGAY_ASSERT(message != nullptr);
  unlist(*held.request);
  followed_[held.request] = held.number;
  take_unexpected(parts_, *held.request, *message);
  release_followers();
}

void HeldReceives::release_followers() {
  for (std::size_t at = 0; at < held_.size();) {
    const Held held = held_[at];
    if (held.number != 0 || is_behind(held.criteria, at)) {
      ++at;
      continue;
    }
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
    unlist(*held.request);
    held.request->entry.set_criteria(held.criteria);
    if (portals::ArrivedMessage* const message = parts_.heap.find(held.criteria); message != nullptr) {
      take_unexpected(parts_, *held.request, *message);
    } else {
      list_entry(parts_, *held.request);
    }
  }
}

void HeldReceives::list_held(ReceiveRequest& request) {
  portals::Criteria ready = request.entry.criteria();
  ready.ignore_bits &= ~kReadyBit;
  ready.match_bits |= kReadyBit;
  request.entry.set_criteria(ready);
  list_entry(parts_, request);
}

void HeldReceives::unlist(ReceiveRequest& request) {
  MARGAY_ASSERT(*parts_.posted_receives != 0);
  --*parts_.posted_receives;
  parts_.receive_list.remove(request.entry);
}

void HeldReceives::drop_ended(const ReceiveRequest* reused) {
  const std::size_t before = held_.size();
  std::erase_if(held_, [&](const Held& held) { return held.request == reused || !is_unmatched(*held.request); });
  if (held_.size() != before) release_followers();
}

bool HeldReceives::is_behind(const portals::Criteria& criteria, std::size_t until) const {
  return std::any_of(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(until),
                     [&](const Held& held) { return overlap(held.criteria, criteria); });
}

}  // namespace margay::mpi_adi
