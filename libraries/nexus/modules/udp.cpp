#include "libraries/nexus/modules/udp.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "libraries/nexus/modules/bytes.hpp"
#include "libraries/nexus/modules/this_machine.hpp"

namespace margay::nexus::core {
namespace {

// The bytes of a descriptor: version 2, port 2, address 4, session 8, machine 8.
constexpr std::uint16_t kUdpDescriptorVersion = 1;
constexpr std::size_t kUdpDescriptorBytes = 24;
// While it waits for answers, totals are sent again so often.
constexpr int kTotalAgainMs = 5;

struct UdpDescriptor {
  sockaddr_in address{};
  std::uint64_t session = 0;
  std::uint64_t machine = 0;
};

std::optional<UdpDescriptor> read_udp_descriptor(Bytes bytes) {
  if (bytes.size() != kUdpDescriptorBytes || number_at<std::uint16_t>(bytes.data()) != kUdpDescriptorVersion) {
    return std::nullopt;
  }
  UdpDescriptor read;
  read.address.sin_family = AF_INET;
  read.address.sin_port = htons(number_at<std::uint16_t>(bytes.data() + 2));
  std::memcpy(&read.address.sin_addr, bytes.data() + 4, 4);
  read.session = number_at<std::uint64_t>(bytes.data() + 8);
  read.machine = number_at<std::uint64_t>(bytes.data() + 16);
  if (read.address.sin_port == 0) return std::nullopt;
  return read;
}

class UdpObject final : public Object {
 public:
  explicit UdpObject(DatagramPeer& to) : peer(to) {}
  DatagramPeer& peer;
};

bool is_loopback(const sockaddr_in& address) {
  return (ntohl(address.sin_addr.s_addr) >> 24) == 127;
}

}  // namespace

Traits UdpModule::traits() const {
  Traits traits;
  traits.latency_ns = 8000;
  traits.poll_cost_ns = 400;
  traits.bytes_per_second = 500'000'000;
  traits.body_most = kUdpMessageMost - kFrameBytes;
  return traits;
}

portals::Status UdpModule::init(Services& services, std::span<const Parameter> parameters) {
  services_ = &services;
  for (const Parameter& one : parameters) {
    if (portals::Status status = set_parameter(one); !status.ok()) return status;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (!parse_ipv4(address_text_, address.sin_addr)) {
    return portals::Status::error("invalid value \"" + address_text_ + "\" of the parameter address; it is an IPv4 " +
                                  "address of this node, such as 127.0.0.1");
  }
  const std::uint32_t context = services.rank().rank();
  const std::uint64_t session = random_session();
  datagrams_.emplace(context, context, session, session);
  if (const std::string error = datagrams_->open(address, false, static_cast<int>(receive_buffer_)); !error.empty()) {
    datagrams_.reset();
    return portals::Status::error(error);
  }
  datagrams_->faults = faults_;
  descriptor_.resize(kUdpDescriptorBytes);
  put_number(descriptor_.data(), kUdpDescriptorVersion);
  put_number(descriptor_.data() + 2, ntohs(address.sin_port));
  std::memcpy(descriptor_.data() + 4, &address.sin_addr, 4);
  put_number(descriptor_.data() + 8, session);
  put_number(descriptor_.data() + 16, this_machine());
  return {};
}

bool UdpModule::descriptor(std::vector<std::byte>& out) {
  out = descriptor_;
  return !out.empty();
}

std::string UdpModule::why_not(Bytes, const Target& peer, std::uint32_t content) {
  const std::optional<UdpDescriptor> theirs = read_udp_descriptor(peer.descriptor);
  if (!theirs) return "the descriptor is damaged";
  if (peer.context >= services_->rank().size()) return "context " + std::to_string(peer.context) + " is not in the job";
  if ((content & MARGAY_NEXUS_CONFIDENTIAL) != 0) return "the content is confidential; put secure before udp";
  if (is_loopback(theirs->address) && theirs->machine != this_machine()) {
    return "the peer listens on its machine's loopback; set its parameter udp.address";
  }
  return {};
}

ModuleKey UdpModule::key(std::uint32_t peer, bool to_peer) {
  const std::uint32_t self = services_->rank().rank();
  ModuleKey pair{};
  // The arguments are valid, so it succeeds.
  static_cast<void>(services_->derive_key("udp", std::min(self, peer), std::max(self, peer), pair));
  return to_peer ? direction_key(pair, self, peer) : direction_key(pair, peer, self);
}

const ModuleKey* UdpModule::key_of(std::uint32_t source) {
  if (source >= services_->rank().size()) return nullptr;
  const auto found = keys_.find(source);
  return found != keys_.end() ? &found->second : &keys_.emplace(source, key(source, false)).first->second;
}

portals::Status UdpModule::open(std::span<const Target> peers, std::unique_ptr<Object>& out) {
  if (peers.size() != 1) return portals::Status::error("udp reaches one context; multicast reaches several");
  const std::optional<UdpDescriptor> theirs = read_udp_descriptor(peers[0].descriptor);
  if (!theirs) return portals::Status::error("the descriptor is damaged");
  DatagramPeer& peer = peers_[{peers[0].context, theirs->session}];
  peer.address = theirs->address;
  peer.context = peers[0].context;
  peer.session = theirs->session;
  peer.key = key(peer.context, true);
  out = std::make_unique<UdpObject>(peer);
  return {};
}

Sent UdpModule::send(Object& object, const Frame& frame, std::span<const Bytes> body, std::string& why) {
  const FrameBytes header = core::encode(frame);
  std::vector<Bytes> pieces{header};
  std::size_t bytes = header.size();
  for (const Bytes piece : body) {
    bytes += piece.size();
    pieces.push_back(piece);
  }
  if (bytes > kUdpMessageMost) {
    why = "a body of " + std::to_string(bytes - header.size()) + " bytes exceeds the " +
          std::to_string(traits().body_most) + " of udp";
    return Sent::failed;
  }
  return datagrams_->send(static_cast<UdpObject&>(object).peer, pieces, why);
}

MessageFate UdpModule::take(std::uint32_t source, std::span<const std::byte> message) {
  // At the end nobody takes messages. A message shorter than a header is no sender's of this version.
  if (finishing_ || message.size() < kFrameBytes) return MessageFate::dropped;
  return services_->deliver(*this, source, message.first(kFrameBytes), message.subspan(kFrameBytes))
             ? MessageFate::delivered
             : MessageFate::dropped;
}

int UdpModule::poll(int most, std::string& why) {
  const int taken = datagrams_->poll(most, *this, why);
  report();
  return taken;
}

// Whoever reaches the socket can send such datagrams, so they are counted but are no error of the program.
void UdpModule::report() {
  const DatagramCounts& counts = datagrams_->counts();
  const std::uint64_t refused = counts.malformed + counts.unauthenticated;
  if (refused == reported_refused_) return;
  services_->report_dropped(*this, refused - reported_refused_, {});
  reported_refused_ = refused;
}

void UdpModule::answer_total(const UdpFrame& frame, const UdpIncoming& incoming, const sockaddr_in& from) {
  const MessageLaw law = incoming.law();
  std::uint64_t& reported = reported_lost_[{frame.from, frame.from_session}];
  if (law.lost > reported) {
    services_->report_lost(*this, frame.from, law.lost - reported);
    reported = law.lost;
  }
  std::array<std::byte, 24> counts{};
  put_number(counts.data(), law.delivered);
  put_number(counts.data() + 8, law.dropped);
  put_number(counts.data() + 16, law.lost);
  // To where the total came from: this context may never have sent to that one.
  DatagramPeer back;
  back.address = from;
  back.context = frame.from;
  back.session = frame.from_session;
  back.key = key(frame.from, true);
  datagrams_->send_control(back, UdpKind::total_answer, frame.number, counts);
}

void UdpModule::take_answer(const UdpFrame& frame) {
  const auto peer = peers_.find({frame.from, frame.from_session});
  if (peer == peers_.end() || frame.number != peer->second.next) return;
  MessageLaw law;
  law.delivered = number_at<std::uint64_t>(frame.part_bytes.data());
  law.dropped = number_at<std::uint64_t>(frame.part_bytes.data() + 8);
  law.lost = number_at<std::uint64_t>(frame.part_bytes.data() + 16);
  if (law.sum() == frame.number) peer->second.answer = law;
}

bool UdpModule::send_totals() {
  bool waiting = false;
  for (auto& [name, peer] : peers_) {
    if (peer.next == 0 || peer.answer || services_->is_lost(peer.context)) continue;
    datagrams_->send_control(peer, UdpKind::total, peer.next, {});
    waiting = true;
  }
  return waiting;
}

void UdpModule::finish() {
  if (!datagrams_) return;
  finishing_ = true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(linger_ms_);
  // The first round in any case: it sends the totals, and takes those of others that have arrived.
  for (;;) {
    const bool waiting = send_totals();
    std::string why;
    while (datagrams_->poll(64, *this, why) > 0) continue;
    report();
    if (!waiting || std::chrono::steady_clock::now() >= end) break;
    pollfd descriptor{datagrams_->socket(), POLLIN, 0};
    static_cast<void>(::poll(&descriptor, 1, kTotalAgainMs));
  }
  datagrams_->close();
}

portals::Status UdpModule::set_parameter(const Parameter& parameter) {
  std::string error;
  if (parameter.name == "address") {
    if (datagrams_) return portals::Status::error("the parameter address of udp is fixed once the context has begun");
    address_text_ = parameter.value;
  } else if (parameter.name == "receive_buffer") {
    error = datagrams_ ? "the parameter receive_buffer of udp is fixed once the context has begun"
                       : parse_number(parameter, 4096, std::uint64_t{1} << 30, receive_buffer_);
  } else if (parameter.name == "linger_ms") {
    error = parse_number(parameter, 0, 1000, linger_ms_);
  } else if (set_fault(faults_, parameter, error)) {
    if (datagrams_) datagrams_->faults = faults_;
  } else {
    return Module::set_parameter(parameter);
  }
  return error.empty() ? portals::Status() : portals::Status::error(error);
}

std::vector<Parameter> UdpModule::parameters() {
  return {{"address", address_text_},
          {"receive_buffer", std::to_string(receive_buffer_)},
          {"linger_ms", std::to_string(linger_ms_)},
          {"lose", std::to_string(faults_.lose)},
          {"damage", std::to_string(faults_.damage)},
          {"repeat", std::to_string(faults_.repeat)}};
}

std::vector<std::pair<std::string, std::uint64_t>> UdpModule::statistics() {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  if (datagrams_) add_datagram_statistics(*datagrams_, all);
  std::uint64_t unanswered = 0;
  for (const auto& [name, peer] : peers_) unanswered += peer.next != 0 && !peer.answer ? 1 : 0;
  all.emplace_back("unanswered_totals", unanswered);
  return all;
}

}  // namespace margay::nexus::core
