#include "libraries/parts/bodies.hpp"

#include <algorithm>
#include <utility>

namespace margay::parts {

Bodies::~Bodies() {
  for (Fetch& each : fetches_) expect(each, false);
  if (!attached_) return;
  rank_.detach(kept_portal_);
  rank_.detach(fetched_portal_);
}

portals::Status Bodies::attach() {
  if (portals::Status status = rank_.attach(kept_portal_, offer_list_); !status.ok()) return status;
  if (portals::Status status = rank_.attach(fetched_portal_, fetch_list_); !status.ok()) {
    rank_.detach(kept_portal_);
    return status;
  }
  attached_ = true;
  return {};
}

std::uint32_t Bodies::offer(std::uint32_t peer, std::uint8_t way, Memory memory, std::size_t bytes) {
  // As many bits as the notice carries.
  const std::uint32_t number = next_offer_++ & ((1U << kBodyNumberBits) - 1);
  Offer& offer = offers_.emplace_back(peer, way, std::move(memory), bytes, number);
  // In the list before the notice is sent, because a get may arrive at once.
  offer_list_.append(offer.entry);
  kept_bytes_ += bytes;
  return number;
}

Fetch* Bodies::fetch(std::uint32_t peer, const BodyPlace& place, std::uint64_t bytes, portals::Header& get) {
  Memory memory;
  try {
    memory = allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  const portals::MatchBits bits = next_fetch_++;
  Fetch& fetch = fetches_.emplace_back(peer, place.way, std::move(memory), bytes, bits);
  fetch_list_.append(fetch.entry_);
  fetching_bytes_ += bytes;
  get.kind = portals::Kind::get;
  get.portal = kept_portal_;
  get.destination = {0, peer};
  get.match_bits = place.number;
  get.return_portal = fetched_portal_;
  get.return_match_bits = bits;
  get.return_length = bytes;
  expect(fetch, peer != rank_.rank());
  return &fetch;
}

void Bodies::expect(Fetch& fetch, bool is_expected) {
  if (fetch.is_expected_ == is_expected) return;
  fetch.is_expected_ = is_expected;
  if (is_expected) {
    rank_.expect_answer(fetch.peer());
    ++expected_;
  } else {
    rank_.count_answer(fetch.peer());
    --expected_;
  }
}

void Bodies::note_arrived() {
  for (Fetch& each : fetches_) {
    if (each.done() || rank_.lost(each.peer())) expect(each, false);
  }
}

void Bodies::end(Fetch& fetch) {
  expect(fetch, false);
  fetching_bytes_ -= fetch.bytes();
  ++ended_;
  fetch_list_.remove(fetch.entry_);
  fetches_.erase(std::ranges::find_if(fetches_, [&fetch](const Fetch& each) { return &each == &fetch; }));
}

void Bodies::free_fetched() {
  for (auto at = offers_.begin(); at != offers_.end();) {
    // A message that is still reserved uses the memory.
    const bool is_fetched =
        at->block.messages() != 0 || rank_.lost(at->peer) || rank_.way_lost(at->peer, static_cast<host::Way>(at->way));
    if (!is_fetched || at->block.reserved_messages() != 0) {
      ++at;
      continue;
    }
    kept_bytes_ -= at->block.memory().bytes;
    offer_list_.remove(at->entry);
    at = offers_.erase(at);
  }
}

}  // namespace margay::parts
