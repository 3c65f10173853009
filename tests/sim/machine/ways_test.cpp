// Tests of the table of ways: lists, and for each pair of ranks the applicable wires and the reasons against the
// others.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sim/machine/ways.hpp"

namespace margay::sim::test {
namespace {

using Order = std::vector<WireId>;

// Rank 0 of three: rank 1 is on its node, rank 2 on another one.
Job job_of_three() {
  Job job;
  job.size = 3;
  job.node_count = 2;
  job.node_of_rank = SharedTable::Numbers{0, 0, 1};
  job.ranks_on_node = 2;
  job.node_segment_fd = 7;  // only tested for its presence
  return job;
}

struct ListRow {
  std::string_view list;
  bool good = false;
  Order order = {};
};

TEST_CASE("ways: a list names each wire once") {
  const std::vector<ListRow> rows = {
      {"", true, {}},
      {"shm", true, {WireId::shm}},
      {"tcp,shm", true, {WireId::tcp, WireId::shm}},
      {"shm,", true, {WireId::shm}},
      {"shm,shm", false},
      {"self", false},
      {"virtual", false},
      {"carrier", false},
      {"shm tcp", false},
      {",tcp", false},
  };
  for (const ListRow& row : rows) {
    CAPTURE(row.list);
    Order order{WireId::self};
    CHECK_EQ(parse_ways(row.list, order).ok(), row.good);
    CHECK(order == (row.good ? row.order : Order{WireId::self}));
  }
}

struct PeerRow {
  Order order;
  std::uint32_t peer = 0;
  Order applicable;
};

TEST_CASE("ways: the applicable wires of each pair, the usual one first") {
  const Job job = job_of_three();
  const std::vector<PeerRow> rows = {
      {{}, 0, {WireId::self}},
      {{}, 1, {WireId::shm}},
      {{}, 2, {WireId::tcp}},
      {{WireId::shm, WireId::tcp}, 0, {WireId::self}},
      {{WireId::shm, WireId::tcp}, 1, {WireId::shm, WireId::tcp}},
      {{WireId::tcp, WireId::shm}, 1, {WireId::tcp, WireId::shm}},
      {{WireId::shm, WireId::tcp}, 2, {WireId::tcp}},
      {{WireId::tcp}, 1, {WireId::tcp}},
      {{WireId::shm}, 2, {}},
  };
  for (const PeerRow& row : rows) {
    CAPTURE(row.peer);
    CHECK(applicable_wires(job, row.order, row.peer) == row.applicable);
    for (std::size_t at = 0; at < kWireCount; ++at) {
      const auto wire = static_cast<WireId>(at);
      const bool applies = std::ranges::find(row.applicable, wire) != row.applicable.end();
      CHECK_EQ(why_not(job, row.order, wire, row.peer).empty(), applies);
    }
  }
}

TEST_CASE("ways: with forwarding, tcp is for the first ranks of nodes, and the wire forward for other pairs") {
  Job job;
  job.size = 5;
  job.node_count = 2;
  job.node_of_rank = SharedTable::Numbers{0, 0, 1, 1, 0};
  job.ranks_on_node = 3;
  job.node_segment_fd = 7;
  job.options.set("forward", "node");
  CHECK(is_forwarding(job));
  CHECK(first_ranks(job) == std::vector<std::uint32_t>{0, 0, 2, 2, 0});
  CHECK(check_ways(job, {}).ok());
  CHECK(applicable_wires(job, {}, 0) == Order{WireId::self});
  CHECK(applicable_wires(job, {}, 1) == Order{WireId::shm});
  CHECK(applicable_wires(job, {}, 2) == Order{WireId::tcp});
  CHECK(applicable_wires(job, {}, 3) == Order{WireId::forward});
  CHECK_EQ(why_not(job, {}, WireId::tcp, 3), "rank 3 is not the first of its node, and --forward node is set");
  CHECK_EQ(why_not(job, {}, WireId::forward, 2), "both ranks are the first of their nodes");
  job.rank = 4;
  CHECK(applicable_wires(job, {}, 2) == Order{WireId::forward});
  CHECK(applicable_wires(job, {}, 0) == Order{WireId::shm});
  CHECK(check_forwarding(job.options).ok());
  job.options.set("way", "shm,tcp");
  CHECK_FALSE(check_forwarding(job.options).ok());
  // A job of one node has nothing to forward.
  job.node_count = 1;
  CHECK_FALSE(is_forwarding(job));
}

TEST_CASE("ways: a job in which a rank is reached by no wire is refused, with the rank and the cure") {
  const Job job = job_of_three();
  CHECK(check_ways(job, {}).ok());
  CHECK(check_ways(job, {WireId::shm, WireId::tcp}).ok());
  const portals::Status status = check_ways(job, {WireId::shm});
  REQUIRE_FALSE(status.ok());
  CHECK(status.sentence().find("rank 2") != std::string::npos);
  CHECK(status.sentence().find("--way") != std::string::npos);
}

}  // namespace
}  // namespace margay::sim::test
