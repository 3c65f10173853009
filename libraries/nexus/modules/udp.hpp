// The module `udp`: messages in datagrams of at most 1,400 bytes, without acknowledgment, window or order. It loses
// what the network loses, and counts it: sent = delivered + dropped + lost, for each sender and receiver. Each frame
// has a tag by a key of the two contexts, so datagrams from outside of the job are dropped.
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

class UdpModule final : public Module, private DatagramSink {
 public:
  [[nodiscard]] std::string_view name() const override { return "udp"; }
  [[nodiscard]] std::string_view description() const override { return "datagrams, which may be lost"; }
  [[nodiscard]] Traits traits() const override;
  [[nodiscard]] portals::Status init(Services& services, std::span<const Parameter> parameters) override;
  // Sends its totals to the contexts that it has sent to, and waits for their answers, at most linger_ms milliseconds.
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
  void take_answer(const UdpFrame& frame) override;
  [[nodiscard]] const ModuleKey* key_of(std::uint32_t source) override;

  // The key of the messages between this context and `peer`, in one direction.
  [[nodiscard]] ModuleKey key(std::uint32_t peer, bool to_peer);
  // Sends the total to each peer that has not answered. Returns whether there is one.
  bool send_totals();
  // Reports the losses and drops that were found since the last report.
  void report();

  Services* services_ = nullptr;
  // Parameters. The first two are used by init().
  std::string address_text_ = "127.0.0.1";
  std::uint64_t receive_buffer_ = std::uint64_t{4} << 20;
  std::uint64_t linger_ms_ = 50;
  DatagramFaults faults_;

  std::optional<Datagrams> datagrams_;
  std::vector<std::byte> descriptor_;
  // By context and session. Objects refer to them; they stay until the end, because they have the counts.
  std::map<std::pair<std::uint32_t, std::uint64_t>, DatagramPeer> peers_;
  std::map<std::uint32_t, ModuleKey> keys_;  // of arriving messages, by sender
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> reported_lost_;
  std::uint64_t reported_refused_ = 0;
  bool finishing_ = false;
};

}  // namespace margay::nexus::core
