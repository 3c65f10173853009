// The module `secure`: a transform that encrypts and authenticates bodies before another method sends them
// (sealing.hpp). The request's header stays readable; its endpoint and handler are authenticated. It is put before a
// method by the program, by a rule for links that leave the node, or where the content is confidential.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libraries/nexus/module/module.hpp"
#include "libraries/nexus/modules/sealing.hpp"

namespace margay::nexus::core {

class SecureModule final : public Module {
 public:
  [[nodiscard]] std::string_view name() const override { return "secure"; }
  [[nodiscard]] std::string_view description() const override { return "encrypted bodies, before another method"; }
  [[nodiscard]] Traits traits() const override;
  [[nodiscard]] portals::Status init(Services& services, std::span<const Parameter> parameters) override;
  [[nodiscard]] bool descriptor(std::vector<std::byte>& out) override;
  [[nodiscard]] std::string why_not(Bytes own, const Target& peer, std::uint32_t content) override;
  [[nodiscard]] portals::Status open(std::span<const Target> peers, std::unique_ptr<Object>& out) override;
  [[nodiscard]] portals::Status encode(Object& object, const Frame& frame, std::span<const Bytes> body,
                                       std::vector<std::byte>& out) override;
  // Fails for a body that is damaged, replayed, or sealed for another endpoint or handler, with the sender in the
  // reason.
  [[nodiscard]] portals::Status decode(std::uint32_t source, const Frame& frame, Bytes body, std::uint64_t limit,
                                       std::vector<std::byte>& out) override;
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> statistics() override;

 private:
  [[nodiscard]] ModuleKey key(std::uint32_t from, std::uint32_t to);

  Services* services_ = nullptr;
  std::map<std::uint32_t, Sealer> sealers_;  // by receiver; shared by the objects to it
  std::map<std::uint32_t, Unsealer> unsealers_;
  std::uint64_t sealed_ = 0;
  std::uint64_t opened_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace margay::nexus::core
