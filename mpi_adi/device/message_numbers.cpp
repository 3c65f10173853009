#include "mpi_adi/device/message_numbers.hpp"

#include "mpi_adi/device/portal_numbers.hpp"
#include "mpi_adi/device/receive_request.hpp"

namespace margay::mpi_adi {

void MessageNumbers::matched(void* self, const portals::Verdict& verdict, const portals::Header& header,
                             std::uint64_t sequence) {
  if (header.portal != kReceivePortal) return;
  if (verdict.message != nullptr) {
    static_cast<MessageNumbers*>(self)->unexpected_[verdict.message] = sequence;
  } else if (verdict.descriptor->owner_kind() == kOwnerReceive) {
    static_cast<ReceiveRequest*>(verdict.descriptor->owner())->message = sequence;
  }
}

std::uint64_t MessageNumbers::take(const portals::ArrivedMessage& message) {
  const auto found = unexpected_.find(&message);
  if (found == unexpected_.end()) return 0;
  const std::uint64_t number = found->second;
  unexpected_.erase(found);
  return number;
}

}  // namespace margay::mpi_adi
