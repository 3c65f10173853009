// Tests of the ranks' PMI connections: lines that are read while an earlier one is carried out.
#include "command/run/pmi/pmi_channels.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace margay::command {

TEST_CASE("an order that collects the end of its own rank takes each of its lines once") {
  Poller poller;
  PmiServer server("kvs_t", {0}, {0});
  std::vector<std::string> errors;
  int orders = 0;
  PmiChannels* all = nullptr;
  const auto order = [&](std::uint32_t rank, const PmiOutcome&) {
    // The first order finds that its rank has ended, and reads what the rank has left.
    if (++orders == 1) all->drain(rank);
    return spawn_answer({-1}, {}, "the process has ended");
  };
  PmiChannels channels(
      poller, server, 1, [&](std::uint32_t, const PmiOutcome& outcome) { errors.push_back(outcome.error); }, order);
  all = &channels;
  int end = -1;
  REQUIRE(channels.open(0, end).ok());
  const std::string request = "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\nspawnssofar=1\nendcmd\n";
  const std::string lines =
      "cmd=barrier_in\n" + request + "cmd=put kvsname=kvs_t key=k value=v\n" + request + "cmd=ini";
  REQUIRE(::send(end, lines.data(), lines.size(), 0) == static_cast<ssize_t>(lines.size()));
  ::shutdown(end, SHUT_WR);
  CHECK(channels.on_readable(0));
  CHECK(orders == 2);
  CHECK(errors.empty());
  CHECK_FALSE(channels.on_readable(0));
  ::close(end);
}

}  // namespace margay::command
