#include "mpi_adi/device/message_numbers.hpp"

#include <utility>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/portal_numbers.hpp"
#include "mpi_adi/device/receive_request.hpp"

namespace margay::mpi_adi {

void MessageNumbers::matched(void* self, const portals::Verdict& verdict, const portals::Header& header,
                             std::uint64_t sequence) {
  // The numbers of other messages, such as replies to pulls and answers, are not needed, because these messages do not
  // begin a receive.
  if (header.kind != portals::Kind::put) return;
  if (header.portal != kReceivePortal && !is_library_portal(header.portal)) return;
  if (verdict.message != nullptr) {
    static_cast<MessageNumbers*>(self)->keep(*verdict.message, sequence);
  } else if (verdict.descriptor->owner_tag_kind() == kOwnerReceive) {
    static_cast<ReceiveRequest*>(verdict.descriptor->owner())->sequence = sequence;
  }
}

void MessageNumbers::keep(const portals::ArrivedMessage& message, std::uint64_t number) {
  // At most half full, so searches stay short and always meet a free slot, where they end.
  if (2 * (used_ + 1) > slots_.size()) grow();
  Slot& slot = slots_[find(&message)];
  if (slot.message == nullptr) ++used_;
  slot = {&message, number};
}

std::uint64_t MessageNumbers::of(const portals::ArrivedMessage& message) const {
  return used_ == 0 ? 0 : slots_[find(&message)].number;
}

std::uint64_t MessageNumbers::take(const portals::ArrivedMessage& message) {
  if (used_ == 0) return 0;
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = find(&message);
  if (slots_[hole].message == nullptr) return 0;
  const std::uint64_t number = slots_[hole].number;
  --used_;
  // Deletion by backward shift, which makes tombstones unnecessary: an entry behind the hole whose search would end at
  // the hole moves into it. An entry whose home lies behind the hole stays.
  for (std::size_t at = (hole + 1) & mask; slots_[at].message != nullptr; at = (at + 1) & mask) {
    if (((at - home(slots_[at].message)) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
  return number;
}

std::size_t MessageNumbers::home(const portals::ArrivedMessage* message) const {
  // Fibonacci hashing: the addresses of one heap differ in the middle bits, and the product's upper half depends on all
  // of them.
  constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(message) * kGolden;
  return static_cast<std::size_t>(mixed >> 32U) & (slots_.size() - 1);
}

std::size_t MessageNumbers::find(const portals::ArrivedMessage* message) const {
  std::size_t at = home(message);
  while (slots_[at].message != nullptr && slots_[at].message != message) at = (at + 1) & (slots_.size() - 1);
  return at;
}

void MessageNumbers::grow() {
  constexpr std::size_t kFirst = 64;
  std::vector<Slot> old(slots_.empty() ? kFirst : 2 * slots_.size());
  std::swap(old, slots_);
  used_ = 0;
  // Each entry has a new home in the larger table.
  for (const Slot& slot : old) {
    if (slot.message != nullptr) keep(*slot.message, slot.number);
  }
}

}  // namespace margay::mpi_adi
