// Tests of network.json, the file of a run's networks and their loads.
#include "virtual_machine/model/network_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/virtual_machine/model/round_machine.hpp"

namespace {

using namespace margay::virtual_machine;
using namespace margay::virtual_machine::test;

// All nodes send to node 0.
NetworkFile file_of(Machine machine, std::uint32_t ranks) {
  NetworkModel model(std::move(machine), ranks);
  LinkLoads loads(model.channel_counts(), 0);
  model.record_to(&loads);
  for (std::uint32_t rank = 1; rank < ranks; ++rank) model.transfer(rank, 0, 100 * rank, 0);
  return network_file_of(model, loads);
}

std::size_t count_of(const NetworkFile& file, ChannelKind kind) {
  return static_cast<std::size_t>(std::count_if(file.channels.begin(), file.channels.end(),
                                                [&](const auto& channel) { return channel.kind == kind; }));
}

}  // namespace

TEST_CASE("a file has all links of a network, and the ports with messages") {
  const struct {
    const char* topology;
    Machine machine;
    std::size_t links;
  } kRows[] = {{"crossbar", machine_of(network_of(Topology::crossbar)), 0},
               // 2 directions of 4 rows of 3 and of 4 columns of 3.
               {"mesh", mesh_of({4, 4}), 48},
               {"torus", machine_of(network_of(Topology::torus, {4, 4})), 64},
               {"hypercube", machine_of(network_of(Topology::hypercube)), 64},
               // 4 levels of 8 switches: 2 ports upwards each, and back.
               {"fat_tree", machine_of(network_of(Topology::fat_tree)), 96}};
  for (const auto& row : kRows) {
    CAPTURE(row.topology);
    const NetworkFile file = file_of(row.machine, 16);
    CHECK(file.nodes == 16);
    REQUIRE(file.networks.size() == 1);
    CHECK(file.networks[0].topology == row.topology);
    CHECK(count_of(file, ChannelKind::link) == row.links);
    CHECK(count_of(file, ChannelKind::injection) == 15);
    CHECK(count_of(file, ChannelKind::ejection) == 1);
    std::uint64_t received = 0;
    for (const NetworkFile::Load& load : file.loads)
      if (file.channels[load.channel].kind == ChannelKind::ejection) received += load.bucket.bytes;
    CHECK(received == 100 * 15 * 16 / 2);
  }
}

TEST_CASE("a text gives back the file that it was made of") {
  const NetworkFile file = file_of(mesh_of({3, 2}), 6);
  NetworkFile read;
  REQUIRE(parse_network_file(format_network_file(file), read).ok());
  CHECK(format_network_file(read) == format_network_file(file));
  CHECK(read.machine == "test");
  CHECK(read.networks[0].shape == std::vector<std::uint32_t>{3, 2});
  CHECK(read.channels.size() == file.channels.size());
  CHECK(read.loads.size() == file.loads.size());
}

TEST_CASE("a damaged file is an error") {
  const nlohmann::json whole = nlohmann::json::parse(format_network_file(file_of(mesh_of({3, 2}), 6)));
  const struct {
    const char* what;
    const char* place;
    nlohmann::json value;
  } kRows[] = {{"another format", "/format", 2},
               {"no bucket", "/bucket_ns", 0},
               {"a network that is not there", "/channels/network/0", 1},
               {"a kind that is not there", "/channels/kind/0", 3},
               {"a switch beyond the last", "/channels/from/0", 6},
               {"a channel beyond the last", "/loads/channel/0", 1000},
               {"a bucket beyond the last", "/loads/bucket/0", 256},
               {"a text", "/channels/to", "none"},
               {"a fraction", "/loads/bytes/0", 1.5},
               {"a negative number", "/loads/bytes/0", -1},
               {"a number that is too large", "/channels/from/0", std::uint64_t{1} << 32},
               {"a column that is too short", "/loads/bytes", {1}},
               {"no networks", "/networks", nullptr}};
  for (const auto& row : kRows) {
    CAPTURE(row.what);
    nlohmann::json damaged = whole;
    damaged[nlohmann::json::json_pointer(row.place)] = row.value;
    NetworkFile read;
    CHECK_FALSE(parse_network_file(damaged.dump(), read).ok());
  }
  NetworkFile read;
  CHECK_FALSE(parse_network_file("", read).ok());
  CHECK_FALSE(parse_network_file("[]", read).ok());
}
