// The module `multicast`: one datagram reaches all contexts of a startpoint that is bound to several endpoints, by UDP
// multicast on this machine's loopback, or on a network (parameter interface). All contexts of a job join one group;
// each message names the contexts for which it is. It loses as `udp` does, under the same law for each receiver:
// sent = delivered + passed + dropped + lost, where the passed messages were for other contexts.
//
// The tag proves that the sender belongs to the job. Which context of the job has sent is not proven, because all have
// the group's key.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libraries/nexus/module/module.hpp"
#include "libraries/nexus/modules/datagrams.hpp"

namespace margay::nexus::core {

// The most contexts of one startpoint.
inline constexpr std::size_t kMulticastMost = 1024;

class MulticastModule final : public Module, private DatagramSink {
 public:
  [[nodiscard]] std::string_view name() const override { return "multicast"; }
  [[nodiscard]] std::string_view description() const override {
    return "datagrams to several contexts, which may be lost";
  }
  [[nodiscard]] Traits traits() const override;
  [[nodiscard]] portals::Status init(Services& services, std::span<const Parameter> parameters) override;
  // Sends its total to the group, and takes the messages and totals that have arrived. Does not wait.
  void finish() override;
  [[nodiscard]] bool descriptor(std::vector<std::byte>& out) override;
  [[nodiscard]] std::string why_not(Bytes own, const Target& peer, std::uint32_t content) override;
  [[nodiscard]] portals::Status open(std::span<const Target> peers, std::unique_ptr<Object>& out) override;
  [[nodiscard]] Sent send(Object& object, const Frame& frame, std::span<const Bytes> body, std::string& why) override;
  [[nodiscard]] int poll(int most, std::string& why) override;
  [[nodiscard]] int wait_descriptor() override { return datagrams_ ? datagrams_->socket() : -1; }
  [[nodiscard]] portals::Status set_parameter(const Parameter& parameter) override;
  [[nodiscard]] std::vector<Parameter> parameters() override;
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> statistics() override;

 private:
  MessageFate take(std::uint32_t source, std::span<const std::byte> message) override;
  void answer_total(const UdpFrame& frame, const UdpIncoming& incoming, const sockaddr_in& from) override;
  void take_answer(const UdpFrame& frame) override { static_cast<void>(frame); }
  [[nodiscard]] const ModuleKey* key_of(std::uint32_t source) override;
  // Reads messages and totals that have arrived.
  void drain();

  Services* services_ = nullptr;
  std::string interface_text_ = "127.0.0.1";
  std::uint64_t receive_buffer_ = std::uint64_t{4} << 20;
  DatagramFaults faults_;

  std::optional<Datagrams> datagrams_;
  std::vector<std::byte> descriptor_;
  DatagramPeer group_;
  ModuleKey group_key_{};
  std::map<std::uint32_t, ModuleKey> keys_;  // by sender
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> reported_lost_;
  std::uint64_t reported_refused_ = 0;
  bool finishing_ = false;
};

}  // namespace margay::nexus::core
