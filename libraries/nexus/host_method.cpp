#include "libraries/nexus/host_method.hpp"

#include <cstring>

#include "libraries/nexus/host_ways.hpp"

namespace margay::nexus::core {
namespace {

// A descriptor: "a node number and a globally unique session number" (paper 003, 3.1).
struct Address {
  std::uint64_t session = 0;
  std::uint32_t context = 0;
  std::uint32_t node = 0;
};

struct Facts {
  std::string_view name, description, wire;
  Traits traits;
};
constexpr std::uint32_t kSure = MARGAY_NEXUS_ORDERED | MARGAY_NEXUS_RELIABLE;
// The hints are usual values of this kind of machine; `margay info` measures.
constexpr Facts kFacts[] = {
    {"local", "this context itself", "self", {kSure | MARGAY_NEXUS_SECURE, 100, 20, 10'000'000'000}},
    {"shm", "shared memory inside a node", "shm", {kSure | MARGAY_NEXUS_SECURE, 300, 20, 8'000'000'000}},
    {"tcp", "a TCP connection", "tcp", {kSure, 6'000, 1'000, 4'000'000'000}}};

struct HostObject final : Object {
  HostObject(std::uint32_t to, std::uint8_t by) : peer(to), way(by) {}
  std::uint32_t peer;
  std::uint8_t way;
};

class HostMethod final : public Module {
 public:
  HostMethod(const Facts& facts, Traffic& traffic) : facts_(facts), traffic_(traffic) {}
  [[nodiscard]] std::string_view name() const override { return facts_.name; }
  [[nodiscard]] std::string_view description() const override { return facts_.description; }
  [[nodiscard]] Traits traits() const override { return facts_.traits; }

  [[nodiscard]] portals::Status init(Services& services, std::span<const Parameter> parameters) override {
    services_ = &services;
    return parameters.empty() ? portals::Status() : set_parameter(parameters.front());
  }
  [[nodiscard]] bool descriptor(std::vector<std::byte>& out) override {
    const Address mine{services_->session(), services_->rank().rank(), services_->node()};
    out.resize(sizeof mine);
    std::memcpy(out.data(), &mine, sizeof mine);
    return true;
  }
  [[nodiscard]] std::string why_not(Bytes /*own*/, const Target& peer, std::uint32_t /*content*/) override {
    Address theirs;
    if (peer.descriptor.size() != sizeof theirs) return "its descriptor is damaged";
    std::memcpy(&theirs, peer.descriptor.data(), sizeof theirs);
    if (theirs.session != services_->session()) return "its descriptor is of another job";
    if (theirs.context != peer.context) return "its descriptor is of another context";
    host::Rank& rank = services_->rank();
    if (rank.lost(peer.context)) return "the context is lost (" + rank.loss(peer.context) + ")";
    HostWay way = find_host_way(rank, peer.context, facts_.wire);
    if (way.why_not.empty() && way_lost(rank, peer.context, way.way)) return "the wire is lost";
    return std::move(way.why_not);
  }
  [[nodiscard]] portals::Status open(std::span<const Target> peers, std::unique_ptr<Object>& out) override {
    HostWay way = find_host_way(services_->rank(), peers.front().context, facts_.wire);
    if (!way.why_not.empty()) return portals::Status::error(std::move(way.why_not));
    out = std::make_unique<HostObject>(peers.front().context, way.way);
    return {};
  }
  [[nodiscard]] Sent send(Object& object, const Frame& frame, std::span<const Bytes> body, std::string& why) override {
    const auto& to = static_cast<const HostObject&>(object);
    host::Rank& rank = services_->rank();
    if (rank.lost(to.peer) || way_lost(rank, to.peer, to.way)) {
      why = rank.lost(to.peer) ? rank.loss(to.peer) : "the wire is lost";
      return Sent::failed;
    }
    traffic_.send(to.peer, to.way, frame, body);
    return Sent::taken;
  }

 private:
  const Facts& facts_;
  Traffic& traffic_;
  Services* services_ = nullptr;
};

}  // namespace

std::unique_ptr<Module> make_host_method(std::string_view name, Traffic& traffic) {
  for (const Facts& facts : kFacts) {
    if (facts.name == name) return std::make_unique<HostMethod>(facts, traffic);
  }
  return nullptr;
}

host::Way way_of(const Object& object) {
  return static_cast<host::Way>(static_cast<const HostObject&>(object).way);
}

}  // namespace margay::nexus::core
