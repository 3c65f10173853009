#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "command/run/pmi/pmi_server.hpp"
#include "sim/boot/pmi_client.hpp"

using namespace margay;
using namespace margay::command;

namespace {

// Starts all processes but those of the program "none"; the places are numbered from 10 on.
std::string answer_to(const SpawnOrder& order) {
  std::vector<int> codes;
  std::vector<std::uint32_t> places;
  for (const SpawnCommand& command : order.commands) {
    if (command.program == "none")
      return spawn_answer(std::vector<int>(order.processes(), -1), {}, "program none: x=y");
    for (std::uint32_t i = 0; i < command.processes; ++i) {
      codes.push_back(0);
      places.push_back(static_cast<std::uint32_t>(10 + places.size()));
    }
  }
  return spawn_answer(codes, places, {});
}

// A server of several clients in one thread; it answers a byte at a time, so that clients must join pieces.
class Service {
 public:
  explicit Service(std::uint32_t ranks)
      : server_("kvs_test", std::vector<std::uint32_t>(ranks, 0), std::vector<std::uint32_t>(ranks, 0)) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      int ends[2];
      REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
      server_ends_.push_back(ends[0]);
      client_ends_.push_back(ends[1]);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) threads_.emplace_back([this, rank] { serve(rank); });
  }
  ~Service() {
    for (int end : client_ends_) ::shutdown(end, SHUT_RDWR);
    for (std::thread& thread : threads_) thread.join();
    for (int end : client_ends_) ::close(end);
    for (int end : server_ends_) ::close(end);
  }
  [[nodiscard]] int client_end(std::uint32_t rank) const { return client_ends_[rank]; }

 private:
  void serve(std::uint32_t rank) {
    std::string unread;
    char byte = 0;
    while (::read(server_ends_[rank], &byte, 1) == 1) {
      if (byte != '\n') {
        unread += byte;
        continue;
      }
      PmiOutcome outcome;
      {
        const std::lock_guard lock(mutex_);
        outcome = server_.take_line(rank, unread);
        if (outcome.spawn) outcome.replies.push_back({rank, answer_to(*outcome.spawn) + "\n"});
        if (!outcome.kill.empty()) outcome.replies.push_back({rank, kill_answer("") + "\n"});
        for (const PmiReply& reply : outcome.replies) {
          for (char c : reply.line) CHECK(::write(server_ends_[reply.rank], &c, 1) == 1);
        }
      }
      unread.clear();
    }
  }

  PmiServer server_;
  std::mutex mutex_;
  std::vector<int> server_ends_;
  std::vector<int> client_ends_;
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("cards of any length pass between ranks") {
  Service service(2);
  const std::string long_card(5000, 'c');
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      sim::PmiClient client(service.client_end(rank), rank, 2);
      CHECK(client.put_card(rank == 0 ? long_card : std::string("127.0.0.1:4001")).ok());
      CHECK(client.barrier().ok());
      std::string card;
      CHECK(client.get_card(0, card).ok());
      CHECK(card == long_card);
      CHECK(client.get_card(1, card).ok());
      CHECK(card == "127.0.0.1:4001");
      CHECK_FALSE(client.get_card(2, card).ok());
      std::uint32_t appnum = 9;
      CHECK(client.appnum(appnum).ok());
      CHECK(appnum == 0);
      CHECK(client.finalize().ok());
      CHECK(client.finalize().ok());
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST_CASE("names are published, looked up and withdrawn") {
  Service service(1);
  sim::PmiClient client(service.client_end(0), 0, 1);
  std::string port;
  CHECK_FALSE(client.lookup_name("ocean", port).ok());
  CHECK(client.publish("ocean", "tag#0$port#4000$").ok());
  CHECK(client.lookup_name("ocean", port).ok());
  CHECK(port == "tag#0$port#4000$");
  CHECK_FALSE(client.publish("ocean", "other").ok());
  CHECK(client.unpublish("ocean", "other").sentence().find("another_port") != std::string::npos);
  CHECK(client.lookup_name("ocean", port).ok());
  CHECK(client.unpublish("ocean", "tag#0$port#4000$").ok());
  CHECK_FALSE(client.unpublish("ocean", "tag#0$port#4000$").ok());
}

TEST_CASE("a value that is too long is rejected before it is sent") {
  Service service(1);
  sim::PmiClient client(service.client_end(0), 0, 1);
  CHECK(client.put("k", std::string(1024, 'v')).ok());
  CHECK(client.put("l", std::string(1025, 'v')).sentence().find("1025 bytes") != std::string::npos);
  CHECK(client.put("k", "again").sentence().find("duplicate") != std::string::npos);
}

TEST_CASE("a launcher that exits or sends invalid answers is an error, not a hang") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  SUBCASE("closed") {
    ::shutdown(ends[0], SHUT_RDWR);
  }
  SUBCASE("nonsense") {
    CHECK(::write(ends[0], "what?\n", 6) == 6);
  }
  SUBCASE("another answer") {
    CHECK(::write(ends[0], "cmd=barrier_out\n", 16) == 16);
  }
  SUBCASE("no end of line") {
    const std::string endless(20000, 'x');
    CHECK(::write(ends[0], endless.data(), endless.size()) > 16384);
  }
  sim::PmiClient client(ends[1], 3, 4);
  CHECK_FALSE(client.barrier().ok());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a client requests processes, and gets their codes and places, or the reason for a refusal") {
  Service service(1);
  sim::PmiClient client(service.client_end(0), 0, 1);
  sim::Spawned started;
  sim::SpawnLines request;
  request.commands = {{2, "a", {"-x y=z", ""}, {{"wdir", "/tmp"}}}, {1, "b", {}, {}}};
  request.preput = {{sim::kParentPortKey, "port"}};
  CHECK(client.spawn(request, started).ok());
  CHECK(started.codes == std::vector<int>{0, 0, 0});
  CHECK(started.places == std::vector<std::uint32_t>{10, 11, 12});
  request.commands[1].program = "none";
  CHECK(client.spawn(request, started).sentence() == "program none: x:y");
  CHECK(started.codes == std::vector<int>{-1, -1, -1});
  CHECK(started.places.empty());
  request.commands[1].arguments = {"two\nlines"};
  CHECK(client.spawn(request, started).sentence().find("none has a control character") != std::string::npos);
  request.commands[1].arguments = {std::string(sim::kMaxPmiLineBytes, 'a')};
  CHECK(client.spawn(request, started).sentence().find("none has more than 16320 bytes") != std::string::npos);
  request.commands.assign(sim::kMaxSpawnCommands + 1, {1, "a", {}, {}});
  CHECK(client.spawn(request, started).sentence().find("257 commands are more than the 256") == 0);
  // The longest lines arrive, and the connection is still in order.
  request.commands.assign(sim::kMaxSpawnCommands, {0, "a", {}, {}});
  request.commands[0] = {1, "a", {"", std::string(16320, 'a')}, {}};
  CHECK(client.spawn(request, started).ok());
  CHECK(client.kill({10, 12}).ok() == false);
  CHECK(client.put("k", "v").ok());
}
