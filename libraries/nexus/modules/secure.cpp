#include "libraries/nexus/modules/secure.hpp"

#include <algorithm>
#include <array>

#include "libraries/nexus/modules/bytes.hpp"

namespace margay::nexus::core {
namespace {

constexpr std::byte kSecureDescriptor{1};  // the version of sealed bodies

class SecureObject final : public Object {
 public:
  explicit SecureObject(Sealer& to) : sealer(to) {}
  Sealer& sealer;
};

// The fields of a header that are the same for sender and receiver, whichever methods carry the message.
std::array<std::byte, 12> sealed_header(const Frame& frame) {
  std::array<std::byte, 12> bytes{};
  put_number(bytes.data(), static_cast<std::uint8_t>(frame.kind));
  put_number(bytes.data() + 1, frame.handler & 0xFFFFFF);
  put_number(bytes.data() + 4, frame.endpoint);
  put_number(bytes.data() + 8, std::uint32_t{frame.generation});
  return bytes;
}

}  // namespace

Traits SecureModule::traits() const {
  Traits traits;
  traits.bits = MARGAY_NEXUS_TRANSFORM | MARGAY_NEXUS_SECURE;
  traits.latency_ns = 2000;
  traits.bytes_per_second = 1'000'000'000;
  traits.body_most = std::uint64_t{1} << 30;
  return traits;
}

portals::Status SecureModule::init(Services& services, std::span<const Parameter> parameters) {
  services_ = &services;
  if (!parameters.empty()) return set_parameter(parameters.front());  // it has none
  ModuleKey key{};
  const std::uint32_t self = services.rank().rank();
  if (services.derive_key("secure", self, self, key)) return {};
  return portals::Status::error("the job has no secret to derive keys from");
}

bool SecureModule::descriptor(std::vector<std::byte>& out) {
  out.assign(1, kSecureDescriptor);
  return true;
}

std::string SecureModule::why_not(Bytes, const Target& peer, std::uint32_t) {
  if (peer.context >= services_->rank().size()) return "context " + std::to_string(peer.context) + " is not in the job";
  const bool same = peer.descriptor.size() == 1 && peer.descriptor[0] == kSecureDescriptor;
  return same ? "" : "the peer seals by another version, or its descriptor is damaged";
}

ModuleKey SecureModule::key(std::uint32_t from, std::uint32_t to) {
  ModuleKey pair{};
  // init() has seen that the job has a secret.
  static_cast<void>(services_->derive_key("secure", std::min(from, to), std::max(from, to), pair));
  return direction_key(pair, from, to);
}

portals::Status SecureModule::open(std::span<const Target> peers, std::unique_ptr<Object>& out) {
  if (peers.size() != 1) return portals::Status::error("secure seals for one context; each of several has its own key");
  const std::uint32_t peer = peers[0].context;
  auto sealer = sealers_.find(peer);
  if (sealer == sealers_.end()) sealer = sealers_.emplace(peer, key(services_->rank().rank(), peer)).first;
  out = std::make_unique<SecureObject>(sealer->second);
  return {};
}

portals::Status SecureModule::encode(Object& object, const Frame& frame, std::span<const Bytes> body,
                                     std::vector<std::byte>& out) {
  static_cast<SecureObject&>(object).sealer.seal(sealed_header(frame), body, out);
  ++sealed_;
  return {};
}

portals::Status SecureModule::decode(std::uint32_t source, const Frame& frame, Bytes body, std::uint64_t limit,
                                     std::vector<std::byte>& out) {
  std::string error;
  out.clear();
  if (source >= services_->rank().size()) {
    error = "the sender is not in the job";
  } else if (body.size() > sealed_bytes(std::min(limit, traits().body_most))) {
    error = "the body of " + std::to_string(body.size()) + " bytes exceeds the accepted " + std::to_string(limit);
  } else {
    auto unsealer = unsealers_.find(source);
    if (unsealer == unsealers_.end()) {
      unsealer = unsealers_.emplace(source, key(source, services_->rank().rank())).first;
    }
    error = unsealer->second.unseal(sealed_header(frame), body, out);
  }
  ++(error.empty() ? opened_ : refused_);
  if (error.empty()) return {};
  return portals::Status::error("secure refuses a body from context " + std::to_string(source) + ": " + error);
}

std::vector<std::pair<std::string, std::uint64_t>> SecureModule::statistics() {
  return {{"sealed", sealed_}, {"opened", opened_}, {"refused", refused_}};
}

}  // namespace margay::nexus::core
