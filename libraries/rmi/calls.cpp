#include "libraries/rmi/calls.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace margay::rmi::core {

std::uint64_t Calls::begin(std::uint32_t node) {
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Slot& slot = slots_[number];
  slot.state = State::awaited;
  slot.node = node;
  slot.bytes = 0;
  // With the turn from 1 on, no number is 0, and a reply that is repeated later finds another turn.
  ++slot.turn;
  return std::uint64_t{slot.turn} * kCalls + number;
}

bool Calls::frees_some(bool resumes) const {
  return std::ranges::any_of(slots_, [resumes](const Slot& slot) {
    return slot.state == State::abandoned || (resumes && slot.resumption.resume != nullptr);
  });
}

std::vector<std::uint32_t> Calls::held() const {
  std::vector<std::uint32_t> nodes;
  for (const Slot& slot : slots_) {
    const bool has_handle = slot.state == State::awaited || slot.state == State::done;
    if (has_handle && slot.resumption.resume == nullptr) nodes.push_back(slot.node);
  }
  return nodes;
}

void Calls::end(std::uint64_t call) {
  State& state = slot(call).state;
  // The reply needs the slot as its receiver: an unawaited reply is damage, and would end the job.
  if (state == State::awaited)
    state = State::abandoned;
  else
    free(call);
}

void Calls::free(std::uint64_t call) {
  Slot& freed = slot(call);
  freed.state = State::free;
  // Memory of long replies is not kept.
  if (freed.capacity != kReplyMost) freed.reply = nullptr, freed.capacity = 0;
  free_.push_back(static_cast<std::uint32_t>(call % kCalls));
}

Calls::Slot* Calls::awaiting(std::uint64_t call, std::uint32_t node) {
  Slot& found = slot(call);
  const bool awaits = found.state == State::awaited || found.state == State::abandoned;
  // With a fetch the notice is here already, so a second reply is damage.
  return awaits && found.node == node && found.turn == call / kCalls && found.fetch == nullptr ? &found : nullptr;
}

void Calls::complete(std::uint64_t call) {
  Slot& completed = slot(call);
  if (completed.state == State::abandoned)
    free(call);
  else
    completed.state = State::done;
  // Not resumed here: this is inside, and perhaps in a wait of a method.
  if (completed.resumption.resume != nullptr) resumable_.push_back(call);
}

Calls::Resumption Calls::take_resumption() {
  const std::uint64_t call = resumable_.front();
  resumable_.pop_front();
  return std::exchange(slot(call).resumption, {});
}

Calls::Resumption Calls::give_up(std::uint64_t call) {
  if (slot(call).resumption.resume == nullptr) return {};
  // Its place in the queue too: the coroutine's frame ends with the caller.
  std::erase(resumable_, call);
  return std::exchange(slot(call).resumption, {});
}

bool Calls::arrive(std::uint64_t call, std::uint32_t node, std::span<const std::byte> bytes) {
  Slot* const found = awaiting(call, node);
  if (found == nullptr) return false;
  // At least kReplyMost bytes, so that the slot's memory serves all later replies that are not fetched.
  if (found->capacity == 0 || found->capacity < bytes.size()) {
    found->capacity = std::max(bytes.size(), kReplyMost);
    found->reply = allocate(found->capacity);
  }
  std::memcpy(found->reply.get(), bytes.data(), bytes.size());
  found->bytes = bytes.size();
  complete(call);
  return true;
}

bool Calls::arrive_long(std::uint64_t call, std::uint32_t node, std::uint32_t number, std::size_t bytes) {
  Slot* const found = awaiting(call, node);
  if (found == nullptr) return false;
  found->fetch = &bodies_.fetch(node, number, bytes);
  found->bytes = bytes;
  fetching_.push_back(call);
  return true;
}

void Calls::take_fetched() {
  std::erase_if(fetching_, [this](std::uint64_t call) {
    Slot& fetched = slot(call);
    if (!fetched.fetch->done()) return false;
    fetched.reply = std::move(fetched.fetch->memory());
    fetched.capacity = fetched.bytes;
    bodies_.end(*std::exchange(fetched.fetch, nullptr));
    complete(call);
    return true;
  });
}

}  // namespace margay::rmi::core
