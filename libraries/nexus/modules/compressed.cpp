#include "libraries/nexus/modules/compressed.hpp"

#include "libraries/nexus/modules/datagrams.hpp"

namespace margay::nexus::core {
namespace {

constexpr std::byte kCompressedDescriptor{1};  // the version of compressed bodies

class CompressedObject final : public Object {};

}  // namespace

Traits CompressedModule::traits() const {
  Traits traits;
  traits.bits = MARGAY_NEXUS_TRANSFORM;
  traits.latency_ns = 1000;
  traits.bytes_per_second = 400'000'000;
  traits.body_most = kPlainMost;
  return traits;
}

portals::Status CompressedModule::init(Services&, std::span<const Parameter> parameters) {
  for (const Parameter& one : parameters) {
    if (portals::Status status = set_parameter(one); !status.ok()) return status;
  }
  return {};
}

bool CompressedModule::descriptor(std::vector<std::byte>& out) {
  out.assign(1, kCompressedDescriptor);
  return true;
}

std::string CompressedModule::why_not(Bytes, const Target& peer, std::uint32_t) {
  const bool same = peer.descriptor.size() == 1 && peer.descriptor[0] == kCompressedDescriptor;
  return same ? "" : "the peer compresses by another version, or its descriptor is damaged";
}

portals::Status CompressedModule::open(std::span<const Target>, std::unique_ptr<Object>& out) {
  out = std::make_unique<CompressedObject>();
  return {};
}

portals::Status CompressedModule::encode(Object&, const Frame&, std::span<const Bytes> body,
                                         std::vector<std::byte>& out) {
  if (const std::string error = compression_.compress(body, static_cast<int>(level_), out); !error.empty()) {
    return portals::Status::error("compressed: " + error);
  }
  for (const Bytes piece : body) plain_bytes_ += piece.size();
  compressed_bytes_ += out.size();
  ++compressed_;
  return {};
}

portals::Status CompressedModule::decode(std::uint32_t source, const Frame&, Bytes body, std::uint64_t limit,
                                         std::vector<std::byte>& out) {
  const std::string error = compression_.expand(body, limit, out);
  ++(error.empty() ? expanded_ : refused_);
  if (error.empty()) return {};
  return portals::Status::error("compressed refuses a body from context " + std::to_string(source) + ": " + error);
}

portals::Status CompressedModule::set_parameter(const Parameter& parameter) {
  if (parameter.name != "level") return Module::set_parameter(parameter);
  const std::string error = parse_number(parameter, kLevelLeast, kLevelMost, level_);
  return error.empty() ? portals::Status() : portals::Status::error(error);
}

std::vector<Parameter> CompressedModule::parameters() {
  return {{"level", std::to_string(level_)}};
}

std::vector<std::pair<std::string, std::uint64_t>> CompressedModule::statistics() {
  return {{"compressed", compressed_},
          {"expanded", expanded_},
          {"refused", refused_},
          {"plain_bytes", plain_bytes_},
          {"compressed_bytes", compressed_bytes_}};
}

}  // namespace margay::nexus::core
