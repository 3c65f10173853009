#include "libraries/rmi/bodies.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace margay::rmi::core {

using portals::Header;

Bodies::~Bodies() {
  if (attached_) rank_.detach(kBodyPortal);
}

portals::Status Bodies::attach() {
  portals::Status status = rank_.attach(kBodyPortal, list_);
  attached_ = status.ok();
  return status;
}

std::uint32_t Bodies::offer(Memory memory, std::size_t bytes) {
  // The entry is in the list before the notice is sent: a get may arrive as soon as the receiver has the number.
  const std::uint32_t number = next_offer_++;
  Offer& offer = offers_.emplace_back(std::move(memory), bytes, match_bits(MessageKind::body, number));
  list_.append(offer.entry);
  return number;
}

Fetch& Bodies::fetch(std::uint32_t node, std::uint32_t number, std::size_t bytes) {
  Memory memory;
  try {
    memory = allocate(bytes);
  } catch (const std::bad_alloc&) {
    rank_.abort(1, "out of memory for a request or result of " + std::to_string(bytes) + " bytes of node " +
                       std::to_string(node) + "; send it in parts");
  }
  const portals::MatchBits bits = match_bits(MessageKind::fetched, next_fetch_++);
  fetches_.emplace_back(node, std::move(memory), bytes, bits);
  Fetch& fetch = fetches_.back();
  // Before the get is sent, because its answer would match nothing.
  list_.append(fetch.entry_);
  Header get = Wire::header(node, kBodyPortal, match_bits(MessageKind::body, number));
  get.kind = portals::Kind::get;
  get.return_portal = kBodyPortal;
  get.return_match_bits = bits;
  // The length of the notice, not of the offer: an offer that differs is found by end().
  get.return_length = bytes;
  wire_.send(get);
  return fetch;
}

void Bodies::end(Fetch& fetch) {
  // A longer answer cannot arrive: the get asked for no more.
  if (fetch.block_.bytes() != fetch.bytes())
    refuse_message(rank_, fetch.node_, "request or result", "it is shorter than announced");
  list_.remove(fetch.entry_);
  const auto at = std::ranges::find_if(fetches_, [&fetch](const Fetch& each) { return &each == &fetch; });
  fetches_.erase(at);
}

void Bodies::free_fetched() {
  for (auto at = offers_.begin(); at != offers_.end();) {
    // A message that is still reserved uses the memory.
    if (at->block.messages() == 0 || at->block.reserved_messages() != 0) {
      ++at;
      continue;
    }
    list_.remove(at->entry);
    at = offers_.erase(at);
  }
}

}  // namespace margay::rmi::core
