#include "libraries/nexus/modules/datagrams.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace margay::nexus::core {
namespace {

std::string socket_error(const char* step) {
  return std::string(step) + " failed: " + std::strerror(errno);
}

bool is_nth(std::uint64_t count, std::uint64_t n) {
  return n != 0 && count % n == 0;
}

}  // namespace

std::string Datagrams::open(sockaddr_in& address, bool shared, int receive_buffer) {
  socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return socket_error("socket()");
  const int on = 1;
  if (shared && setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) {
    return socket_error("setsockopt(SO_REUSEADDR)");
  }
  // The system may give less.
  static_cast<void>(setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer));
  socklen_t bytes = sizeof address;
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    return socket_error("bind()") + ", address " + text.data() + "; set the parameter address to one of this node's";
  }
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return socket_error("getsockname()");
  return {};
}

void Datagrams::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

int Datagrams::send_bytes(std::size_t bytes, const sockaddr_in& address) {
  for (;;) {
    if (sendto(socket_, out_.data(), bytes, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
               sizeof address) >= 0) {
      ++counts_.sent_frames;
      return 0;
    }
    if (errno != EINTR) return errno;
  }
}

int Datagrams::send_data(const UdpFrame& frame, const DatagramPeer& peer) {
  const std::uint64_t count = ++data_frames_;
  if (is_nth(count, faults.lose)) return 0;
  const std::size_t bytes = encode_udp(frame, peer.key, out_);
  if (is_nth(count, faults.damage)) out_[bytes - 1] ^= std::byte{1};
  const int error = send_bytes(bytes, peer.address);
  if (error == 0 && is_nth(count, faults.repeat)) static_cast<void>(send_bytes(bytes, peer.address));
  return error;
}

Sent Datagrams::send(DatagramPeer& peer, std::span<const Bytes> pieces, std::string& why) {
  message_.clear();
  for (const Bytes piece : pieces) message_.insert(message_.end(), piece.begin(), piece.end());
  UdpFrame frame;
  frame.message_bytes = static_cast<std::uint32_t>(message_.size());
  frame.parts = udp_parts(frame.message_bytes);
  frame.from = context_;
  frame.to = peer.context;
  frame.number = peer.next;
  frame.from_session = session_;
  frame.to_session = peer.session;
  for (std::uint16_t part = 0; part < frame.parts; ++part) {
    const std::size_t begin = udp_part_begin(part);
    frame.part = part;
    frame.part_bytes = Bytes(message_).subspan(begin, std::min(kUdpPartMost, message_.size() - begin));
    const int error = send_data(frame, peer);
    if (error == 0) continue;
    if (part == 0 && (error == EAGAIN || error == ENOBUFS)) return Sent::full;
    // The frames before this one are on their way: the number is used.
    if (error == EAGAIN || error == ENOBUFS) break;
    why = std::string("sendto() failed: ") + std::strerror(error);
    return Sent::failed;
  }
  ++peer.next;
  ++counts_.sent;
  return Sent::taken;
}

void Datagrams::send_control(const DatagramPeer& peer, UdpKind kind, std::uint64_t number,
                             std::span<const std::byte> bytes) {
  UdpFrame frame;
  frame.kind = kind;
  frame.from = context_;
  frame.to = peer.context;
  frame.number = number;
  frame.from_session = session_;
  frame.to_session = peer.session;
  frame.message_bytes = static_cast<std::uint32_t>(bytes.size());
  frame.part_bytes = bytes;
  // If it is lost, as any datagram may be, the other side waits its bounded time.
  static_cast<void>(send_bytes(encode_udp(frame, peer.key, out_), peer.address));
}

UdpIncoming* Datagrams::sender_of(const UdpFrame& frame) {
  const auto found = senders_.find({frame.from, frame.from_session});
  if (found != senders_.end()) return &found->second;
  const auto first = senders_.lower_bound({frame.from, 0});
  const auto last = senders_.upper_bound({frame.from, ~std::uint64_t{0}});
  if (static_cast<std::size_t>(std::distance(first, last)) >= kSessionsOfSender) return nullptr;
  return &senders_[{frame.from, frame.from_session}];
}

bool Datagrams::take_datagram(std::span<const std::byte> datagram, const sockaddr_in& from, DatagramSink& sink) {
  ++counts_.arrived_frames;
  const std::optional<UdpFrame> frame = decode_udp(datagram);
  if (!frame) {
    ++counts_.malformed;
    return false;
  }
  const ModuleKey* const key = sink.key_of(frame->from);
  if (key == nullptr || !verify_udp(datagram, *key)) {
    ++counts_.unauthenticated;
    return false;
  }
  const bool is_ours = frame->to == to_ && frame->to_session == to_session_;
  if (is_ours && frame->kind == UdpKind::total_answer) {
    sink.take_answer(*frame);
    return false;
  }
  UdpIncoming* const incoming = is_ours ? sender_of(*frame) : nullptr;
  if (incoming == nullptr) {
    ++counts_.misdirected;
    return false;
  }
  if (frame->kind == UdpKind::total) {
    incoming->end_at(frame->number);
    sink.answer_total(*frame, *incoming, from);
  } else if (incoming->accept(*frame) == UdpAccepted::complete) {
    incoming->count(sink.take(frame->from, incoming->message()));
    return true;
  }
  return false;
}

int Datagrams::poll(int most, DatagramSink& sink, std::string& why) {
  int taken = 0;
  for (int frames = 0; taken < most && frames < most * kFramesForMessage; ++frames) {
    sockaddr_in from{};
    socklen_t from_bytes = sizeof from;
    const ssize_t bytes =
        recvfrom(socket_, in_.data(), in_.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &from_bytes);
    if (bytes >= 0) {
      if (take_datagram({in_.data(), static_cast<std::size_t>(bytes)}, from, sink)) ++taken;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR && errno != ECONNREFUSED) {
      why = socket_error("recvfrom()");
      return -1;
    }
  }
  return taken;
}

MessageLaw Datagrams::law() const {
  MessageLaw sum;
  for (const auto& [sender, incoming] : senders_) {
    const MessageLaw one = incoming.law();
    sum.delivered += one.delivered;
    sum.dropped += one.dropped;
    sum.passed += one.passed;
    sum.lost += one.lost;
  }
  return sum;
}

std::uint64_t Datagrams::repeated() const {
  std::uint64_t sum = 0;
  for (const auto& [sender, incoming] : senders_) sum += incoming.repeated();
  return sum;
}

bool parse_ipv4(const std::string& text, in_addr& out) {
  return inet_pton(AF_INET, text.c_str(), &out) == 1;
}

std::string parse_number(const Parameter& parameter, std::uint64_t least, std::uint64_t most, std::uint64_t& out) {
  std::uint64_t value = 0;
  const char* const end = parameter.value.data() + parameter.value.size();
  const auto [at, code] = std::from_chars(parameter.value.data(), end, value);
  if (code != std::errc() || at != end || value < least || value > most) {
    return "invalid value \"" + parameter.value.substr(0, 40) + "\" of the parameter " + parameter.name +
           "; it is a number from " + std::to_string(least) + " to " + std::to_string(most);
  }
  out = value;
  return {};
}

bool set_fault(DatagramFaults& faults, const Parameter& parameter, std::string& error) {
  std::uint64_t* const fault = parameter.name == "lose"     ? &faults.lose
                               : parameter.name == "damage" ? &faults.damage
                               : parameter.name == "repeat" ? &faults.repeat
                                                            : nullptr;
  if (fault == nullptr) return false;
  error = parse_number(parameter, 0, ~std::uint64_t{0}, *fault);
  return true;
}

void add_datagram_statistics(const Datagrams& datagrams,
                             std::vector<std::pair<std::string, std::uint64_t>>& statistics) {
  const DatagramCounts& counts = datagrams.counts();
  const MessageLaw law = datagrams.law();
  statistics.insert(statistics.end(), {{"sent", counts.sent},
                                       {"delivered", law.delivered},
                                       {"dropped", law.dropped},
                                       {"lost", law.lost},
                                       {"repeated", datagrams.repeated()},
                                       {"sent_frames", counts.sent_frames},
                                       {"arrived_frames", counts.arrived_frames},
                                       {"malformed", counts.malformed},
                                       {"unauthenticated", counts.unauthenticated},
                                       {"misdirected", counts.misdirected}});
}

}  // namespace margay::nexus::core
