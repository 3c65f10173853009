// Tests of the module udp between two contexts of one process: its law, damaged and foreign datagrams, parameters.
#include "libraries/nexus/modules/udp.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "libraries/nexus/modules/bytes.hpp"
#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

using core::Parameter;
using core::Sent;
using core::UdpModule;
using UdpParameters = std::vector<Parameter>;

// One context of two.
struct UdpContext {
  explicit UdpContext(std::uint32_t context, const UdpParameters& parameters = {}, std::uint64_t job = 77)
      : services(context, 2, job) {
    REQUIRE(module.init(services, parameters).ok());
    REQUIRE(module.descriptor(descriptor));
  }
  std::unique_ptr<core::Object> open(const UdpContext& other) {
    std::unique_ptr<core::Object> object;
    const core::Target target{other.services_rank(), other.descriptor};
    CHECK(module.why_not(descriptor, target, 0) == "");
    REQUIRE(module.open({&target, 1}, object).ok());
    return object;
  }
  [[nodiscard]] std::uint32_t services_rank() const { return const_cast<FakeServices&>(services).rank().rank(); }
  // Sends a body; returns whether it was taken.
  bool send(core::Object& object, const std::vector<std::byte>& body) {
    const core::Bytes piece(body);
    std::string why;
    return module.send(object, frame_of(body.size()), {&piece, 1}, why) == Sent::taken;
  }
  int poll(int most = 16) {
    std::string why;
    const int taken = module.poll(most, why);
    CHECK(why == "");
    return taken;
  }
  FakeServices services;
  UdpModule module;
  std::vector<std::byte> descriptor;
};

// A datagram from a stranger to the module with this descriptor.
static void send_datagram(const std::vector<std::byte>& descriptor, const std::vector<std::byte>& bytes) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(core::number_at<std::uint16_t>(descriptor.data() + 2));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  REQUIRE(sendto(socket, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&address), sizeof address) ==
          static_cast<ssize_t>(bytes.size()));
  close(socket);
}

TEST_CASE("udp: messages of each length arrive, in the frames of their header and body") {
  UdpContext a(0);
  UdpContext b(1);
  const auto object = a.open(b);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, core::kUdpPartMost, std::size_t{20000}}) {
    const std::vector<std::byte> body = pattern(bytes);
    REQUIRE(a.send(*object, body));
    REQUIRE(b.poll() == 1);
    CHECK(b.services.delivered.back().source == 0);
    CHECK(b.services.delivered.back().frame == frame_of(bytes));
    CHECK(b.services.delivered.back().body == body);
  }
  CHECK(b.poll() == 0);
  CHECK(statistic(b.module, "delivered") == 4);
}

TEST_CASE("udp: the longest body is taken, a longer one fails") {
  UdpContext a(0);
  UdpContext b(1);
  const auto object = a.open(b);
  const std::uint64_t most = a.module.traits().body_most;
  CHECK(a.send(*object, std::vector<std::byte>(most)));
  CHECK_FALSE(a.send(*object, std::vector<std::byte>(most + 1)));
}

TEST_CASE("udp: sent = delivered + dropped + lost, with frames lost, damaged and repeated on purpose") {
  UdpContext a(0, {{"lose", "7"}, {"damage", "11"}, {"repeat", "5"}});
  UdpContext b(1);
  const auto object = a.open(b);
  const std::uint64_t sent = 400;
  for (std::uint64_t i = 0; i < sent; ++i) {
    REQUIRE(a.send(*object, pattern(i % 3 * core::kUdpPartMost)));
    b.services.refuse = i % 50 == 0;
    b.poll();
  }
  while (b.poll() > 0) continue;
  // The sender's total makes the last losses known, and the answer arrives while it waits.
  CHECK(statistic(a.module, "sent") == sent);
  std::string why;
  a.module.finish();
  b.poll();
  const std::uint64_t delivered = statistic(b.module, "delivered");
  const std::uint64_t dropped = statistic(b.module, "dropped");
  const std::uint64_t lost = statistic(b.module, "lost");
  CHECK(delivered + dropped + lost == sent);
  CHECK(delivered == b.services.delivered.size());
  CHECK(dropped > 0);
  CHECK(lost > 50);
  CHECK(b.services.lost == lost);
  CHECK(statistic(b.module, "repeated") > 0);
  CHECK(statistic(b.module, "unauthenticated") > 0);
  CHECK(b.services.dropped == statistic(b.module, "unauthenticated"));
}

TEST_CASE("udp: both ends know the counts when both end, whoever ends first") {
  UdpContext a(0, {{"lose", "4"}, {"linger_ms", "0"}});
  UdpContext b(1, {{"linger_ms", "0"}});
  const auto to_b = a.open(b);
  for (int i = 0; i < 8; ++i) REQUIRE(a.send(*to_b, pattern(10)));
  a.module.finish();  // its total is in the socket of b
  b.module.finish();  // drops what it has not polled
  CHECK(statistic(b.module, "dropped") == 6);
  CHECK(statistic(b.module, "lost") == 2);
  CHECK(statistic(a.module, "unanswered_totals") == 1);
}

TEST_CASE("udp: a receiver that polls answers the total") {
  UdpContext a(0, {{"linger_ms", "0"}});
  UdpContext b(1);
  const auto to_b = a.open(b);
  const auto to_a = b.open(a);
  for (int i = 0; i < 5; ++i) REQUIRE(a.send(*to_b, pattern(10)));
  while (b.poll() > 0) continue;
  REQUIRE(b.send(*to_a, pattern(3)));
  // One round of both ends, in one thread: b ends first, and its answer and total lie in the socket of a.
  b.module.finish();
  while (a.poll() > 0) continue;
  CHECK(a.services.delivered.size() == 1);
  CHECK(statistic(a.module, "lost") == 0);
  CHECK(statistic(b.module, "unanswered_totals") == 1);
}

TEST_CASE("udp: strangers' datagrams are dropped and counted") {
  UdpContext a(0);
  UdpContext b(1);
  const auto object = a.open(b);
  send_datagram(b.descriptor, {});
  send_datagram(b.descriptor, pattern(30));
  send_datagram(b.descriptor, pattern(3000));
  // A well-formed frame by another job's key, and one for another incarnation.
  UdpContext stranger(0, {}, 78);
  const auto strange = stranger.open(b);
  REQUIRE(stranger.send(*strange, pattern(9)));
  std::vector<std::byte> old = b.descriptor;
  old[8] ^= std::byte{1};
  std::unique_ptr<core::Object> misdirected;
  const core::Target target{1, old};
  REQUIRE(a.module.open({&target, 1}, misdirected).ok());
  REQUIRE(a.send(*misdirected, pattern(9)));
  REQUIRE(a.send(*object, pattern(5)));
  CHECK(b.poll() == 1);
  CHECK(b.services.delivered.size() == 1);
  CHECK(statistic(b.module, "malformed") == 3);
  CHECK(statistic(b.module, "unauthenticated") == 1);
  CHECK(statistic(b.module, "misdirected") == 1);
  CHECK(b.services.dropped == 4);
  // Without a reason, which would be an error of the program.
  CHECK(b.services.dropped_why.empty());
}

TEST_CASE("udp: a message of a context that is not in the job is dropped") {
  UdpContext b(1);
  FakeServices outside(7, 8);
  UdpModule module;
  REQUIRE(module.init(outside, {}).ok());
  std::unique_ptr<core::Object> object;
  const core::Target target{1, b.descriptor};
  REQUIRE(module.open({&target, 1}, object).ok());
  const std::vector<std::byte> body = pattern(4);
  const core::Bytes piece(body);
  std::string why;
  REQUIRE(module.send(*object, frame_of(4), {&piece, 1}, why) == Sent::taken);
  CHECK(b.poll() == 0);
  CHECK(statistic(b.module, "unauthenticated") == 1);
}

TEST_CASE("udp: damaged descriptors, other machines and confidential content are not applicable") {
  UdpContext a(0);
  UdpContext b(1);
  std::unique_ptr<core::Object> object;
  for (std::size_t bytes = 0; bytes < b.descriptor.size(); ++bytes) {
    const core::Target target{1, std::span(b.descriptor).first(bytes)};
    CHECK(a.module.why_not(a.descriptor, target, 0) != "");
    CHECK_FALSE(a.module.open({&target, 1}, object).ok());
  }
  const core::Target good{1, b.descriptor};
  CHECK(a.module.why_not(a.descriptor, good, MARGAY_NEXUS_CONFIDENTIAL) != "");
  const core::Target nobody{2, b.descriptor};
  CHECK(a.module.why_not(a.descriptor, nobody, 0) != "");
  std::vector<std::byte> elsewhere = b.descriptor;
  elsewhere[16] ^= std::byte{1};
  const core::Target far{1, elsewhere};
  CHECK(a.module.why_not(a.descriptor, far, 0) != "");
  const std::array<core::Target, 2> two{good, good};
  CHECK_FALSE(a.module.open(two, object).ok());
}

TEST_CASE("udp: invalid parameters") {
  for (const Parameter& one : UdpParameters{{"address", "somewhere"},
                                            {"address", "192.0.2.1"},
                                            {"linger_ms", "1001"},
                                            {"linger_ms", "10x"},
                                            {"linger_ms", ""},
                                            {"receive_buffer", "-1"},
                                            {"lose", "half"},
                                            {"unknown", "1"}}) {
    CAPTURE(one.name);
    FakeServices services(0, 2);
    UdpModule module;
    CHECK_FALSE(module.init(services, {&one, 1}).ok());
    module.finish();
  }
  UdpContext running(0);
  CHECK_FALSE(running.module.set_parameter({"address", "127.0.0.1"}).ok());
  CHECK(running.module.set_parameter({"linger_ms", "3"}).ok());
  const std::vector<Parameter> all = running.module.parameters();
  CHECK(std::any_of(all.begin(), all.end(),
                    [](const Parameter& one) { return one.name == "linger_ms" && one.value == "3"; }));
}

}  // namespace margay::nexus::test
