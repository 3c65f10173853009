// Datagrams of a module: a nonblocking UDP socket that sends messages in frames and puts arrived frames together, with
// the law of the messages. The modules udp and multicast have one each. One thread.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libraries/nexus/module/module.hpp"
#include "libraries/nexus/modules/keys.hpp"
#include "libraries/nexus/modules/udp_incoming.hpp"

namespace margay::nexus::core {

// Injected faults, for tests and lessons: every n-th data frame is lost, damaged or duplicated. 0: none.
struct DatagramFaults {
  std::uint64_t lose = 0;
  std::uint64_t damage = 0;
  std::uint64_t repeat = 0;
};

// Counts of one module in one context.
struct DatagramCounts {
  std::uint64_t sent = 0;             // messages
  std::uint64_t sent_frames = 0;      // without those lost on purpose
  std::uint64_t arrived_frames = 0;   // of any content
  std::uint64_t malformed = 0;        // datagrams that are no frames
  std::uint64_t unauthenticated = 0;  // frames with a wrong tag: damaged, or from outside of the job
  std::uint64_t misdirected = 0;      // for another context, or another incarnation of this one
};

// A peer's address, and the number of the next message to it.
struct DatagramPeer {
  sockaddr_in address{};
  std::uint32_t context = 0;
  std::uint64_t session = 0;  // of its module
  ModuleKey key{};            // of the messages to it
  std::uint64_t next = 0;     // equals the number of messages sent
  // From its answer to the total.
  std::optional<MessageLaw> answer;
};

// The receiver of arrived messages.
class DatagramSink {
 public:
  DatagramSink() = default;
  DatagramSink(const DatagramSink&) = delete;
  DatagramSink& operator=(const DatagramSink&) = delete;
  virtual ~DatagramSink() = default;
  // A complete message of an authenticated sender.
  virtual MessageFate take(std::uint32_t source, std::span<const std::byte> message) = 0;
  // A total, which `incoming` has, and where it came from; and an answer. Both verified.
  virtual void answer_total(const UdpFrame& frame, const UdpIncoming& incoming, const sockaddr_in& from) = 0;
  virtual void take_answer(const UdpFrame& frame) = 0;
  // The key of the messages from `source`; nullptr: it is not in the job.
  [[nodiscard]] virtual const ModuleKey* key_of(std::uint32_t source) = 0;
};

class Datagrams {
 public:
  // The most incarnations of a sender whose messages are counted. Frames of further ones are misdirected.
  static constexpr std::size_t kSessionsOfSender = 16;
  // Frames that one poll reads for each message that it may deliver.
  static constexpr int kFramesForMessage = 64;

  // `to`: the number of the receiver in arriving frames: this context, or kEveryContext; `to_session` likewise.
  Datagrams(std::uint32_t context, std::uint32_t to, std::uint64_t session, std::uint64_t to_session)
      : context_(context), to_(to), session_(session), to_session_(to_session) {}
  ~Datagrams() { close(); }
  Datagrams(const Datagrams&) = delete;
  Datagrams& operator=(const Datagrams&) = delete;

  // Makes the socket, bound to `address`; `shared`: other sockets may be bound to it. Sets `address` to the bound one.
  [[nodiscard]] std::string open(sockaddr_in& address, bool shared, int receive_buffer);
  void close();
  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] std::uint64_t session() const { return session_; }

  // Sends a message in frames. `full`: the socket took none of it. A message of which the socket took only a part is
  // lost at the receiver. Requires: at most kUdpMessageMost bytes.
  [[nodiscard]] Sent send(DatagramPeer& peer, std::span<const Bytes> pieces, std::string& why);
  // Sends a frame of another kind.
  void send_control(const DatagramPeer& peer, UdpKind kind, std::uint64_t number, std::span<const std::byte> bytes);

  // Reads frames until `most` messages are taken or the socket is empty. Returns the number of messages. Negative: the
  // socket has failed, with the reason.
  [[nodiscard]] int poll(int most, DatagramSink& sink, std::string& why);

  // By sender and its session.
  using Senders = std::map<std::pair<std::uint32_t, std::uint64_t>, UdpIncoming>;
  [[nodiscard]] const Senders& senders() const { return senders_; }
  // The sum over all senders.
  [[nodiscard]] MessageLaw law() const;
  [[nodiscard]] std::uint64_t repeated() const;
  [[nodiscard]] const DatagramCounts& counts() const { return counts_; }
  DatagramFaults faults;

 private:
  // One datagram. Returns whether a message was taken.
  bool take_datagram(std::span<const std::byte> datagram, const sockaddr_in& from, DatagramSink& sink);
  [[nodiscard]] UdpIncoming* sender_of(const UdpFrame& frame);
  // Sends one frame of data. Returns 0 or errno.
  [[nodiscard]] int send_data(const UdpFrame& frame, const DatagramPeer& peer);
  [[nodiscard]] int send_bytes(std::size_t bytes, const sockaddr_in& address);

  const std::uint32_t context_;
  const std::uint32_t to_;
  const std::uint64_t session_;
  const std::uint64_t to_session_;
  int socket_ = -1;
  std::uint64_t data_frames_ = 0;  // for faults
  DatagramCounts counts_;
  Senders senders_;
  std::vector<std::byte> message_;
  std::array<std::byte, kUdpFrameMost> out_{};
  // One byte more than a frame, to detect longer datagrams.
  std::array<std::byte, kUdpFrameMost + 1> in_{};
};

// Parses an IPv4 address such as 127.0.0.1.
[[nodiscard]] bool parse_ipv4(const std::string& text, in_addr& out);
// Parses a whole decimal number from `least` to `most`. Returns an error that names the parameter, or an empty string.
[[nodiscard]] std::string parse_number(const Parameter& parameter, std::uint64_t least, std::uint64_t most,
                                       std::uint64_t& out);
// Sets one of the faults, which are parameters of the same names. Returns whether it is one; `error` as above.
[[nodiscard]] bool set_fault(DatagramFaults& faults, const Parameter& parameter, std::string& error);
// Adds the counts and the law to a module's statistics.
void add_datagram_statistics(const Datagrams& datagrams,
                             std::vector<std::pair<std::string, std::uint64_t>>& statistics);

}  // namespace margay::nexus::core
