#include "libraries/nexus/modules/multicast.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "libraries/nexus/modules/bytes.hpp"

namespace margay::nexus::core {
namespace {

// The bytes of a descriptor: version 2, port 2, group 4, interface 4.
constexpr std::uint16_t kGroupDescriptorVersion = 1;
constexpr std::size_t kGroupDescriptorBytes = 12;
// Groups 239.77.*.* are for use within an organization (RFC 2365). A job's group and port follow from its number; jobs
// that share both drop each other's datagrams by their tags.
constexpr std::uint32_t kGroupPrefix = 0xEF4D0000;
constexpr std::uint16_t kGroupPortLeast = 20000;
constexpr std::uint16_t kGroupPorts = 10000;

// A message: number of contexts 4, the contexts 4 each, header, body.
class MulticastObject final : public Object {
 public:
  explicit MulticastObject(std::span<const Target> peers) : contexts(4 * (1 + peers.size())) {
    put_number(contexts.data(), static_cast<std::uint32_t>(peers.size()));
    for (std::size_t i = 0; i < peers.size(); ++i) put_number(contexts.data() + 4 * (1 + i), peers[i].context);
  }
  std::vector<std::byte> contexts;
};

std::string option_error(const char* option) {
  return std::string("setsockopt(") + option + ") failed: " + std::strerror(errno) +
         "; set the parameter interface to an address of this node whose network has multicast";
}

std::string join_group(int socket, in_addr group, in_addr interface) {
  ip_mreqn request{};
  request.imr_multiaddr = group;
  request.imr_address = interface;
  if (setsockopt(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) != 0) {
    return option_error("IP_ADD_MEMBERSHIP");
  }
  if (setsockopt(socket, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request) != 0) {
    return option_error("IP_MULTICAST_IF");
  }
  const int on = 1;
  if (setsockopt(socket, IPPROTO_IP, IP_MULTICAST_LOOP, &on, sizeof on) != 0) {
    return option_error("IP_MULTICAST_LOOP");
  }
  // Not beyond the network that the interface is in.
  if (setsockopt(socket, IPPROTO_IP, IP_MULTICAST_TTL, &on, sizeof on) != 0) return option_error("IP_MULTICAST_TTL");
  return {};
}

}  // namespace

Traits MulticastModule::traits() const {
  Traits traits;
  traits.bits = MARGAY_NEXUS_MULTICAST;
  traits.latency_ns = 10000;
  traits.poll_cost_ns = 400;
  traits.bytes_per_second = 400'000'000;
  traits.body_most = kUdpMessageMost - kFrameBytes - 4 * (1 + kMulticastMost);
  return traits;
}

portals::Status MulticastModule::init(Services& services, std::span<const Parameter> parameters) {
  services_ = &services;
  for (const Parameter& one : parameters) {
    if (portals::Status status = set_parameter(one); !status.ok()) return status;
  }
  in_addr interface {};
  if (!parse_ipv4(interface_text_, interface)) {
    return portals::Status::error("invalid value \"" + interface_text_ +
                                  "\" of the parameter interface; it is an IPv4 " +
                                  "address of this node, such as 127.0.0.1");
  }
  const std::uint64_t job = services.session();
  group_.address.sin_family = AF_INET;
  group_.address.sin_addr.s_addr = htonl(kGroupPrefix | static_cast<std::uint32_t>(job & 0xFFFF));
  group_.address.sin_port = htons(static_cast<std::uint16_t>(kGroupPortLeast + (job >> 16) % kGroupPorts));
  group_.context = kEveryContext;
  group_.session = job;
  if (!services.derive_key("multicast", kEveryContext, kEveryContext, group_key_)) {
    return portals::Status::error("the job has no key for multicast");
  }
  const std::uint32_t context = services.rank().rank();
  group_.key = direction_key(group_key_, context, kEveryContext);
  datagrams_.emplace(context, kEveryContext, random_session(), job);
  sockaddr_in bound = group_.address;
  std::string error = datagrams_->open(bound, true, static_cast<int>(receive_buffer_));
  if (error.empty()) error = join_group(datagrams_->socket(), group_.address.sin_addr, interface);
  if (!error.empty()) {
    datagrams_.reset();
    return portals::Status::error(error);
  }
  datagrams_->faults = faults_;
  descriptor_.resize(kGroupDescriptorBytes);
  put_number(descriptor_.data(), kGroupDescriptorVersion);
  put_number(descriptor_.data() + 2, ntohs(group_.address.sin_port));
  std::memcpy(descriptor_.data() + 4, &group_.address.sin_addr, 4);
  std::memcpy(descriptor_.data() + 8, &interface, 4);
  return {};
}

bool MulticastModule::descriptor(std::vector<std::byte>& out) {
  out = descriptor_;
  return !out.empty();
}

std::string MulticastModule::why_not(Bytes, const Target& peer, std::uint32_t content) {
  if (peer.descriptor.size() != kGroupDescriptorBytes || peer.context >= services_->rank().size() ||
      std::memcmp(peer.descriptor.data(), descriptor_.data(), 8) != 0) {
    return "the peer is in another group, or its descriptor is damaged";
  }
  if ((content & MARGAY_NEXUS_CONFIDENTIAL) != 0) return "the content is confidential, and multicast is readable";
  const bool leaves = peer.descriptor[8] != std::byte{127};
  if ((content & MARGAY_NEXUS_OFF_NODE) != 0 && services_->nodes() > 1 &&
      leaves != (descriptor_[8] != std::byte{127})) {
    return "the peer's interface is in another network; set the parameter multicast.interface in all contexts";
  }
  return {};
}

portals::Status MulticastModule::open(std::span<const Target> peers, std::unique_ptr<Object>& out) {
  if (peers.empty() || peers.size() > kMulticastMost) {
    return portals::Status::error("multicast reaches 1 to " + std::to_string(kMulticastMost) + " contexts, and not " +
                                  std::to_string(peers.size()));
  }
  out = std::make_unique<MulticastObject>(peers);
  return {};
}

Sent MulticastModule::send(Object& object, const Frame& frame, std::span<const Bytes> body, std::string& why) {
  const FrameBytes header = core::encode(frame);
  const std::vector<std::byte>& contexts = static_cast<MulticastObject&>(object).contexts;
  std::vector<Bytes> pieces{contexts, header};
  std::size_t bytes = contexts.size() + header.size();
  for (const Bytes piece : body) {
    bytes += piece.size();
    pieces.push_back(piece);
  }
  if (bytes > kUdpMessageMost) {
    why = "the body exceeds the " + std::to_string(traits().body_most) + " bytes of multicast";
    return Sent::failed;
  }
  return datagrams_->send(group_, pieces, why);
}

const ModuleKey* MulticastModule::key_of(std::uint32_t source) {
  if (source >= services_->rank().size()) return nullptr;
  const auto found = keys_.find(source);
  if (found != keys_.end()) return &found->second;
  return &keys_.emplace(source, direction_key(group_key_, source, kEveryContext)).first->second;
}

MessageFate MulticastModule::take(std::uint32_t source, std::span<const std::byte> message) {
  if (message.size() < 4) return MessageFate::dropped;
  const auto count = number_at<std::uint32_t>(message.data());
  if (count > kMulticastMost || message.size() < 4 * (1 + std::size_t{count}) + kFrameBytes)
    return MessageFate::dropped;
  bool is_ours = false;
  for (std::size_t i = 0; i < count; ++i) {
    is_ours = is_ours || number_at<std::uint32_t>(message.data() + 4 * (1 + i)) == services_->rank().rank();
  }
  if (!is_ours) return MessageFate::passed;
  if (finishing_) return MessageFate::dropped;
  message = message.subspan(4 * (1 + std::size_t{count}));
  return services_->deliver(*this, source, message.first(kFrameBytes), message.subspan(kFrameBytes))
             ? MessageFate::delivered
             : MessageFate::dropped;
}

int MulticastModule::poll(int most, std::string& why) {
  const int taken = datagrams_->poll(most, *this, why);
  const DatagramCounts& counts = datagrams_->counts();
  if (const std::uint64_t refused = counts.malformed + counts.unauthenticated; refused != reported_refused_) {
    // Whoever reaches the group can send such datagrams, so they are no error of the program.
    services_->report_dropped(*this, refused - reported_refused_, {});
    reported_refused_ = refused;
  }
  return taken;
}

void MulticastModule::answer_total(const UdpFrame& frame, const UdpIncoming& incoming, const sockaddr_in&) {
  const std::uint64_t lost = incoming.law().lost;
  std::uint64_t& reported = reported_lost_[{frame.from, frame.from_session}];
  if (lost <= reported) return;
  services_->report_lost(*this, frame.from, lost - reported);
  reported = lost;
}

void MulticastModule::drain() {
  std::string why;
  while (datagrams_->poll(64, *this, why) > 0) continue;
}

void MulticastModule::finish() {
  if (!datagrams_) return;
  finishing_ = true;
  // One datagram for all, without answers: these would be as many as contexts.
  if (group_.next != 0) datagrams_->send_control(group_, UdpKind::total, group_.next, {});
  drain();
  datagrams_->close();
}

portals::Status MulticastModule::set_parameter(const Parameter& parameter) {
  std::string error;
  if (parameter.name == "interface") {
    if (datagrams_) return portals::Status::error("the parameter interface is fixed once the context has begun");
    interface_text_ = parameter.value;
  } else if (parameter.name == "receive_buffer") {
    error = datagrams_ ? "the parameter receive_buffer is fixed once the context has begun"
                       : parse_number(parameter, 4096, std::uint64_t{1} << 30, receive_buffer_);
  } else if (set_fault(faults_, parameter, error)) {
    if (datagrams_) datagrams_->faults = faults_;
  } else {
    return Module::set_parameter(parameter);
  }
  return error.empty() ? portals::Status() : portals::Status::error(error);
}

std::vector<Parameter> MulticastModule::parameters() {
  return {{"interface", interface_text_},
          {"receive_buffer", std::to_string(receive_buffer_)},
          {"lose", std::to_string(faults_.lose)},
          {"damage", std::to_string(faults_.damage)},
          {"repeat", std::to_string(faults_.repeat)}};
}

std::vector<std::pair<std::string, std::uint64_t>> MulticastModule::statistics() {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  if (!datagrams_) return all;
  add_datagram_statistics(*datagrams_, all);
  all.emplace_back("passed", datagrams_->law().passed);
  return all;
}

}  // namespace margay::nexus::core
