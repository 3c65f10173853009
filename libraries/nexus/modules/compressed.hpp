// The module `compressed`: a transform that compresses bodies by zstd before another method sends them
// (compression.hpp). Put before `secure`, because sealed bodies do not shrink.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libraries/nexus/module/module.hpp"
#include "libraries/nexus/modules/compression.hpp"

namespace margay::nexus::core {

class CompressedModule final : public Module {
 public:
  [[nodiscard]] std::string_view name() const override { return "compressed"; }
  [[nodiscard]] std::string_view description() const override {
    return "bodies compressed by zstd, before another method";
  }
  [[nodiscard]] Traits traits() const override;
  [[nodiscard]] portals::Status init(Services& services, std::span<const Parameter> parameters) override;
  [[nodiscard]] bool descriptor(std::vector<std::byte>& out) override;
  [[nodiscard]] std::string why_not(Bytes own, const Target& peer, std::uint32_t content) override;
  [[nodiscard]] portals::Status open(std::span<const Target> peers, std::unique_ptr<Object>& out) override;
  [[nodiscard]] portals::Status encode(Object& object, const Frame& frame, std::span<const Bytes> body,
                                       std::vector<std::byte>& out) override;
  // Fails for a body that is damaged, or whose plain length is wrong or exceeds `limit`, with the sender in the reason.
  [[nodiscard]] portals::Status decode(std::uint32_t source, const Frame& frame, Bytes body, std::uint64_t limit,
                                       std::vector<std::byte>& out) override;
  [[nodiscard]] portals::Status set_parameter(const Parameter& parameter) override;
  [[nodiscard]] std::vector<Parameter> parameters() override;
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> statistics() override;

 private:
  Compression compression_;
  std::uint64_t level_ = kLevelUsual;
  // Bytes before and after compression, and bodies.
  std::uint64_t plain_bytes_ = 0;
  std::uint64_t compressed_bytes_ = 0;
  std::uint64_t compressed_ = 0;
  std::uint64_t expanded_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace margay::nexus::core
