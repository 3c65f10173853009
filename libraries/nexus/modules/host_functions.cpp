#include "libraries/nexus/modules/host_functions.hpp"

#include <array>
#include <cstring>

namespace margay::nexus::core {
namespace {

constexpr std::size_t kLabelMost = 31;
constexpr std::size_t kKeyMost = 64;

CheckedModule& module_of(void* self) {
  return *static_cast<CheckedModule*>(self);
}

}  // namespace

// The functions, with access to the module's state.
struct HostFunctions {
  static int deliver(void* self, std::uint32_t source, const void* header, std::size_t header_bytes, const void* body,
                     std::size_t body_bytes) {
    CheckedModule& module = module_of(self);
    if (!module.fault_.empty()) return 1;
    const char* const wrong = !module.polling_                            ? "outside of poll()"
                              : module.delivered_ == module.deliver_most_ ? "more messages than poll() was asked for"
                              : source >= module.host_.contexts           ? "a message from an invalid context"
                              : header_bytes > MARGAY_NEXUS_HEADER_MOST   ? "a header that is too long"
                              : header == nullptr && header_bytes != 0    ? "a header that is null"
                              : body == nullptr && body_bytes != 0        ? "a body that is null"
                              : body_bytes > module.table_.body_most      ? "a body longer than its body_most"
                                                                          : nullptr;
    if (wrong != nullptr) {
      module.fail("poll", std::string("has delivered ") + wrong);
      return 1;
    }
    ++module.delivered_;
    const Bytes header_view(static_cast<const std::byte*>(header), header_bytes);
    const Bytes body_view(static_cast<const std::byte*>(body), body_bytes);
    return module.services_->deliver(module, source, header_view, body_view) ? 0 : 1;
  }

  static void report_lost(void* self, std::uint32_t source, std::uint64_t messages) {
    CheckedModule& module = module_of(self);
    if (source < module.host_.contexts) return module.services_->report_lost(module, source, messages);
    module.fail("report_lost", "was called for the invalid context " + std::to_string(source));
  }

  static void report_dropped(void* self, std::uint64_t messages, const char* why) {
    CheckedModule& module = module_of(self);
    module.services_->report_dropped(module, messages, why == nullptr ? "" : std::string(why, strnlen(why, 255)));
  }

  static int derive_key(void* self, const char* label, std::uint32_t one, std::uint32_t other, void* key,
                        std::size_t bytes) {
    CheckedModule& module = module_of(self);
    if (label == nullptr || key == nullptr || bytes == 0 || bytes > kKeyMost) return 1;
    const std::size_t length = strnlen(label, kLabelMost + 1);
    if (length > kLabelMost) return 1;
    // The prefix keeps the keys of compiled-in modules from foreign ones.
    const std::string prefixed = "." + std::string(label, length);
    const std::span<std::byte> out(static_cast<std::byte*>(key), bytes);
    return module.services_->derive_key(std::string_view(prefixed).substr(0, kLabelMost), one, other, out) ? 0 : 1;
  }

  static int is_lost(void* self, std::uint32_t context) {
    CheckedModule& module = module_of(self);
    return context < module.host_.contexts && module.services_->is_lost(context) ? 1 : 0;
  }
};

margay_nexus_host make_host(Services& services, CheckedModule& module) {
  margay_nexus_host host{};
  host.version = MARGAY_NEXUS_MODULE_VERSION;
  host.size = sizeof host;
  host.self = &module;
  host.context = services.rank().rank();
  host.contexts = services.rank().size();
  host.node = services.node();
  host.nodes = services.nodes();
  host.session = services.session();
  host.deliver = HostFunctions::deliver;
  host.report_lost = HostFunctions::report_lost;
  host.report_dropped = HostFunctions::report_dropped;
  host.derive_key = HostFunctions::derive_key;
  host.is_lost = HostFunctions::is_lost;
  return host;
}

}  // namespace margay::nexus::core
