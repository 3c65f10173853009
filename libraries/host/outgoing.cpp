#include "libraries/host/outgoing.hpp"

#include <new>
#include <type_traits>

namespace margay::host {

// The access to the record inside an Outgoing.
class HostAccess {
 public:
  // The record; made at the first call.
  [[nodiscard]] static sim::Transmission& record(Outgoing& message) {
    if (!message.has_record_) new (message.record_) sim::Transmission;
    message.has_record_ = true;
    return *std::launder(reinterpret_cast<sim::Transmission*>(message.record_));
  }
  // The record, or nullptr if the message was never sent.
  [[nodiscard]] static const sim::Transmission* record_if_any(const Outgoing& message) {
    if (!message.has_record_) return nullptr;
    return std::launder(reinterpret_cast<const sim::Transmission*>(message.record_));
  }
  // Nothing destroys the record.
  static_assert(sizeof(sim::Transmission) <= Outgoing::kRecordBytes && alignof(sim::Transmission) <= 16);
  static_assert(std::is_trivially_destructible_v<sim::Transmission>);
};

}  // namespace margay::host

namespace margay::libraries {

using host::HostAccess;

sim::Transmission& record_of(host::Outgoing& message) {
  return HostAccess::record(message);
}

host::SendState state_of(const host::Outgoing& message) {
  const sim::Transmission* const record = HostAccess::record_if_any(message);
  if (record == nullptr || record->state == sim::Transmission::State::idle) return host::SendState::idle;
  // Until it has come off the list of finished ones, the kernel still refers to it.
  if (!record->given_back) return host::SendState::queued;
  return record->state == sim::Transmission::State::failed ? host::SendState::failed : host::SendState::sent;
}

}  // namespace margay::libraries
