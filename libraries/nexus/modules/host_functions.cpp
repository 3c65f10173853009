#include "libraries/nexus/modules/host_functions.hpp"

#include <array>
#include <cstring>

#include "libraries/nexus/modules/keys.hpp"

namespace margay::nexus::core {
namespace {

constexpr std::size_t kLabelMost = 31;
constexpr std::size_t kKeyMost = 64;

}  // namespace

// The functions of the table, whose first argument is a HostTable.
struct HostTable::Functions {
  static int deliver(void* self, std::uint32_t source, const void* header, std::size_t header_bytes, const void* body,
                     std::size_t body_bytes) {
    HostTable& host = *static_cast<HostTable*>(self);
    if (host.faults_.is_off()) return 1;
    const char* const wrong = !host.is_polling_                         ? "outside of poll()"
                              : host.delivered_ == host.most_           ? "more messages than poll() was asked for"
                              : source >= host.table_.contexts          ? "a message from an invalid context"
                              : header_bytes > MARGAY_NEXUS_HEADER_MOST ? "a header that is too long"
                              : header == nullptr && header_bytes != 0  ? "a header that is null"
                              : body == nullptr && body_bytes != 0      ? "a body that is null"
                              : body_bytes > host.body_most_            ? "a body longer than its body_most"
                                                                        : nullptr;
    if (wrong != nullptr) {
      host.faults_.fail("poll", std::string("has delivered ") + wrong);
      return 1;
    }
    ++host.delivered_;
    const Bytes header_view(static_cast<const std::byte*>(header), header_bytes);
    const Bytes body_view(static_cast<const std::byte*>(body), body_bytes);
    return host.services_->deliver(host.module_, source, header_view, body_view) ? 0 : 1;
  }

  static void report_lost(void* self, std::uint32_t source, std::uint64_t messages) {
    HostTable& host = *static_cast<HostTable*>(self);
    if (source < host.table_.contexts) return host.services_->report_lost(host.module_, source, messages);
    host.faults_.fail("report_lost", "was called for the invalid context " + std::to_string(source));
  }

  static void report_dropped(void* self, std::uint64_t messages, const char* why) {
    HostTable& host = *static_cast<HostTable*>(self);
    const std::string reason = why == nullptr ? "" : std::string(why, strnlen(why, MARGAY_NEXUS_WHY_BYTES));
    host.services_->report_dropped(host.module_, messages, reason);
  }

  static int derive_key(void* self, const char* label, std::uint32_t one, std::uint32_t other, void* key,
                        std::size_t bytes) {
    HostTable& host = *static_cast<HostTable*>(self);
    if (label == nullptr || key == nullptr || bytes == 0 || bytes > kKeyMost) return 1;
    const std::size_t length = strnlen(label, kLabelMost + 1);
    if (length > kLabelMost) return 1;
    ModuleKey pair{};
    if (!host.services_->derive_key({label, length}, one, other, pair)) return 1;
    // Another key than that of a compiled-in module with this label.
    std::memcpy(key, foreign_key(pair).data(), bytes);
    return 0;
  }

  static int is_lost(void* self, std::uint32_t context) {
    HostTable& host = *static_cast<HostTable*>(self);
    return context < host.table_.contexts && host.services_->is_lost(context) ? 1 : 0;
  }
};

const margay_nexus_host* HostTable::begin(Services& services) {
  services_ = &services;
  table_.version = MARGAY_NEXUS_MODULE_VERSION;
  table_.size = sizeof table_;
  table_.self = this;
  table_.context = services.rank().rank();
  table_.contexts = services.rank().size();
  table_.node = services.node();
  table_.nodes = services.nodes();
  table_.session = services.session();
  table_.deliver = Functions::deliver;
  table_.report_lost = Functions::report_lost;
  table_.report_dropped = Functions::report_dropped;
  table_.derive_key = Functions::derive_key;
  table_.is_lost = Functions::is_lost;
  return &table_;
}

void HostTable::begin_poll(int most) {
  is_polling_ = true;
  delivered_ = 0;
  most_ = most;
}

int HostTable::end_poll() {
  is_polling_ = false;
  return delivered_;
}

}  // namespace margay::nexus::core
