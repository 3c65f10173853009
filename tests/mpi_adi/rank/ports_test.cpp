// Tests of ports on the virtual network, in seeded orders of events: calls and accepts meet in pairs, closed ports
// refuse, lost processes are passed over, foreign requests are ignored.
#include "mpi_adi/rank/ports.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mpi_adi/object/port_name.hpp"
#include "tests/mpi_adi/device_world.hpp"

namespace margay::mpi_adi {

namespace {

constexpr std::uint64_t kJob = 0xc0ffee;
constexpr std::uint64_t kSeeds = 200;

WorldOptions port_options(std::uint32_t ranks, std::uint64_t seed) {
  WorldOptions options;
  options.ranks = ranks;
  options.seed = seed;
  return options;
}

// Ranks with ports. Each rank is at the place of its number.
struct PortWorld {
  PortWorld(std::uint32_t ranks, std::uint64_t seed) : world(port_options(ranks, seed)) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ports.push_back(std::make_unique<Ports>(world.device(rank), world.world(rank), kJob, rank));
    }
  }
  // The end of a call; the world moves until then.
  Meeting end(std::uint32_t rank, std::unique_ptr<PortCall> call) {
    REQUIRE(world.until([&call] { return call->request->complete; }));
    return ports[rank]->end(std::move(call));
  }
  PortCaller next_caller(std::uint32_t rank, const PortName& port) {
    std::optional<PortCaller> caller;
    REQUIRE(world.until([&] { return (caller = ports[rank]->next_caller(port.key)).has_value(); }));
    return *caller;
  }
  // Everything at rest: all messages have arrived, no request is left.
  void check_end() {
    world.settle();
    world.check_accounting();
    for (std::uint32_t rank = 0; rank < world.size(); ++rank) {
      CHECK(world.device(rank).sends_in_use() == 0);
      CHECK(world.device(rank).receives_in_use() == 0);
    }
  }

  VirtualWorld world;
  std::vector<std::unique_ptr<Ports>> ports;
};

}  // namespace

TEST_CASE("ports: callers and accepts meet in pairs, each with a tag of its own") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    constexpr std::uint32_t kRanks = 4;
    PortWorld all(kRanks, seed);
    // Each rank has a port, and calls the port of each other rank.
    std::vector<PortName> names;
    for (const auto& ports : all.ports) names.push_back(ports->open().value());
    std::vector<std::vector<std::pair<std::uint32_t, std::unique_ptr<PortCall>>>> calls(kRanks);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      for (std::uint32_t step = 1; step < kRanks; ++step) {
        const std::uint32_t owner = (rank + step) % kRanks;
        calls[rank].emplace_back(owner, all.ports[rank]->call(names[owner]));
        (void)all.world.step();
      }
    }
    // By the lower and the higher place: the tags of their meetings, of which there are two at a time.
    std::set<std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>> tags;
    std::set<std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>> accepted;
    for (std::uint32_t owner = 0; owner < kRanks; ++owner) {
      for (std::uint32_t count = 1; count < kRanks; ++count) {
        const Meeting meeting = all.ports[owner]->accept(all.next_caller(owner, names[owner]));
        CHECK(meeting.result == PortResult::met);
        CHECK(tags.insert({std::minmax(owner, meeting.place), meeting.tag}).second);
        CHECK(accepted.insert({{owner, meeting.place}, meeting.tag}).second);
      }
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      for (auto& [owner, call] : calls[rank]) {
        const Meeting meeting = all.end(rank, std::move(call));
        CHECK(meeting.result == PortResult::met);
        CHECK(meeting.place == owner);
        CHECK(accepted.erase({{owner, rank}, meeting.tag}) == 1);
      }
    }
    CHECK(accepted.empty());
    all.check_end();
  }
}

TEST_CASE("ports: a port that closes refuses the callers that wait and those that call later") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    PortWorld all(3, seed);
    const PortName port = all.ports[0]->open().value();
    std::unique_ptr<PortCall> early = all.ports[1]->call(port);
    for (std::uint64_t step = 0; step < seed % 20; ++step) (void)all.world.step();
    std::string why;
    CHECK(all.ports[0]->close(port_name_text(port), why) == PortResult::met);
    CHECK(all.ports[0]->close(port_name_text(port), why) == PortResult::not_open);
    CHECK_FALSE(all.ports[0]->is_open(port.key));
    CHECK_FALSE(all.ports[0]->next_caller(port.key).has_value());
    std::unique_ptr<PortCall> late = all.ports[2]->call(port);
    CHECK(all.end(1, std::move(early)).result == PortResult::not_open);
    CHECK(all.end(2, std::move(late)).result == PortResult::not_open);
    all.check_end();
  }
}

TEST_CASE("ports: callers of one port are served in the order in which they arrived") {
  PortWorld all(3, 1);
  const PortName port = all.ports[0]->open().value();
  std::vector<std::unique_ptr<PortCall>> calls;
  for (const std::uint32_t caller : {2U, 1U, 2U}) {
    calls.push_back(all.ports[caller]->call(port));
    all.world.settle();
  }
  for (const std::uint32_t caller : {2U, 1U, 2U}) CHECK(all.next_caller(0, port).place == caller);
  // Taken off the queue, but not answered: the death of the port's process ends the calls.
  for (const auto& call : calls) CHECK_FALSE(call->request->complete);
  all.world.network().lose(0);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CHECK(all.end(i == 1 ? 1 : 2, std::move(calls[i])).result == PortResult::owner_lost);
  }
}

TEST_CASE("ports: a caller that is lost is passed over") {
  PortWorld all(3, 1);
  const PortName port = all.ports[0]->open().value();
  std::unique_ptr<PortCall> lost = all.ports[1]->call(port);
  all.world.settle();
  std::unique_ptr<PortCall> alive = all.ports[2]->call(port);
  all.world.settle();
  all.world.network().lose(1);
  all.world.settle();
  CHECK(all.next_caller(0, port).place == 2);
  CHECK_FALSE(all.ports[0]->next_caller(port.key).has_value());
}

TEST_CASE("ports: requests of a wrong length or with an unknown key do no harm") {
  PortWorld all(2, 1);
  const PortName port = all.ports[0]->open().value();
  Datatype bytes = byte_type();
  const std::vector<std::byte> body = pattern(400, 1);
  for (const std::int64_t length : {0, 1, 8, 15, 17, 400}) {
    Request& send = *all.world.device(1).start_send(
        {SendMode::standard, body.data(), length, &bytes, 0, 0, &all.world.world(1), Context::point_to_point});
    REQUIRE(all.world.until([&send] { return send.complete; }));
    all.world.device(1).free(send);
  }
  all.world.settle();
  CHECK_FALSE(all.ports[0]->next_caller(port.key).has_value());
  PortName unknown = port;
  unknown.key ^= 1;
  CHECK(all.end(1, all.ports[1]->call(unknown)).result == PortResult::not_open);
  std::unique_ptr<PortCall> call = all.ports[1]->call(port);
  (void)all.ports[0]->accept(all.next_caller(0, port));
  CHECK(all.end(1, std::move(call)).result == PortResult::met);
  all.check_end();
}

TEST_CASE("ports: names of this process, of others, of other jobs, and of no port") {
  PortWorld all(2, 1);
  Ports& ports = *all.ports[0];
  const PortName own = ports.open().value();
  const PortName theirs = all.ports[1]->open().value();
  struct Row {
    std::string text;
    PortResult own;    // of find_own()
    PortResult other;  // of find_other()
  };
  const std::vector<Row> rows{
      {port_name_text(own), PortResult::met, PortResult::own},
      {port_name_text(theirs), PortResult::other_process, PortResult::met},
      {port_name_text({kJob, 0, own.key + 1}), PortResult::not_open, PortResult::not_open},
      {port_name_text({kJob + 1, 0, own.key}), PortResult::other_job, PortResult::other_job},
      {port_name_text({kJob, 2, own.key}), PortResult::other_process, PortResult::malformed},
      {port_name_text({kJob, 0xffff'ffff, own.key}), PortResult::other_process, PortResult::malformed},
      {"", PortResult::malformed, PortResult::malformed},
      {"nowhere", PortResult::malformed, PortResult::malformed},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    PortName name;
    std::string why;
    CHECK(ports.find_own(row.text, name, why) == row.own);
    CHECK((row.own == PortResult::malformed) == !why.empty());
    why.clear();
    CHECK(ports.find_other(row.text, name, why) == row.other);
    CHECK((row.other == PortResult::malformed) == !why.empty());
  }
  all.check_end();
}

TEST_CASE("ports: the number of open ports is bounded") {
  PortWorld all(1, 1);
  std::set<std::uint64_t> keys;
  for (std::size_t i = 0; i < kOpenPortsMax; ++i) keys.insert(all.ports[0]->open().value().key);
  CHECK(keys.size() == kOpenPortsMax);
  CHECK_FALSE(all.ports[0]->open().has_value());
}

}  // namespace margay::mpi_adi
