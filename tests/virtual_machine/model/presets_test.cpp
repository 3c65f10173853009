// Tests of the presets: each is valid, and has the figures that its sources state.
#include "virtual_machine/model/presets.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "virtual_machine/model/network_model.hpp"

namespace {

using namespace margay::virtual_machine;

Machine preset(const std::string& name) {
  Machine machine;
  const margay::portals::Status status = find_machine(name, machine);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  return machine;
}

// A source's figure for a message: its time one way, its time there and back, or its bandwidth.
enum class Measure : std::uint8_t { one_way_us, round_trip_us, megabytes_per_s };

double measured(const NetworkModel& model, Measure measure, std::uint32_t to, std::uint64_t bytes) {
  const double us = static_cast<double>(model.idle_time_ns(0, to, bytes)) / 1e3;
  if (measure == Measure::one_way_us) return us;
  if (measure == Measure::round_trip_us) return us + static_cast<double>(model.idle_time_ns(to, 0, bytes)) / 1e3;
  return static_cast<double>(bytes) / us;
}

}  // namespace

TEST_CASE("each preset is a valid machine of its name with sources, and runs a rank") {
  std::vector<std::string_view> names;
  for (const Preset& one : presets()) {
    CAPTURE(one.name);
    names.push_back(one.name);
    const Machine machine = preset(std::string(one.name));
    CHECK(machine.name == one.name);
    CHECK(check_ranks(machine, 1).ok());
  }
  CHECK(names == std::vector<std::string_view>{"asci-red", "beowulf-cluster", "ideal", "loopback", "origin3800",
                                               "paragon", "sp2", "v2200"});
}

TEST_CASE("what the papers state is checked against the presets") {
  constexpr std::uint64_t kLong = 16'000'000;
  const struct {
    const char* machine;
    std::uint32_t ranks;
    // The receiver; the sender is rank 0.
    std::uint32_t to;
    std::uint64_t bytes;
    Measure measure;
    double stated;
    const char* source;
  } kRows[] = {
      {"paragon", 1024, 1, 0, Measure::one_way_us, 25, "SUNMOS, as published"},
      {"paragon", 1024, 1023, 0, Measure::one_way_us, 25, "the same from corner to corner: wormhole routing"},
      {"paragon", 1024, 1, kLong, Measure::megabytes_per_s, 160, "SUNMOS, as published"},
      {"asci-red", 9216, 4, 0, Measure::one_way_us, 15, "as published"},
      {"asci-red", 9216, 4, kLong, Measure::megabytes_per_s, 400, "as published"},
      {"sp2", 24, 1, 0, Measure::one_way_us, 83, "paper 003, section 3.3: Nexus over MPL"},
      {"sp2", 24, 15, 0, Measure::one_way_us, 83, "the same, the last node of the partition"},
      {"sp2", 24, 1, kLong, Measure::megabytes_per_s, 36, "paper 003, section 3.3: MPL"},
      {"sp2", 24, 16, 0, Measure::one_way_us, 2000, "paper 003, section 4: TCP"},
      {"sp2", 24, 23, kLong, Measure::megabytes_per_s, 8, "paper 003, sections 3.3 and 4: TCP"},
      {"origin3800", 48, 4, 0, Measure::round_trip_us, 17, "paper 004, table 1: between nodes"},
      {"origin3800", 48, 1, 0, Measure::round_trip_us, 17, "paper 004, table 1: inside a node"},
      {"v2200", 16, 1, 0, Measure::round_trip_us, 16, "paper 004, table 1"},
      {"beowulf-cluster", 10, 2, 0, Measure::round_trip_us, 197, "paper 004, table 1"},
      {"beowulf-cluster", 10, 2, kLong, Measure::megabytes_per_s, 125, "paper 004, section 7: 1 Gb/s"},
      {"loopback", 2, 1, 0, Measure::one_way_us, 0.3, "usual_rates(), inside a node"},
      {"loopback", 2, 1, kLong, Measure::megabytes_per_s, 11'000, "usual_rates(), inside a node"},
      {"ideal", 2, 1, kLong, Measure::one_way_us, 0, "by definition"},
  };
  for (const auto& row : kRows) {
    CAPTURE(row.machine);
    CAPTURE(row.source);
    const NetworkModel model(preset(row.machine), row.ranks);
    const double value = measured(model, row.measure, row.to, row.bytes);
    CHECK(value >= row.stated * 0.9);
    CHECK(value <= row.stated * 1.1);
  }
}

TEST_CASE("the presets have the sizes and the further figures of their sources") {
  const Machine red = preset("asci-red");
  CHECK(red.nodes * red.processors_per_node == 9216);
  CHECK(red.networks[0].shape == std::vector<std::uint32_t>{38, 32, 2});
  CHECK(red.networks[0].link_bytes_per_s == 400e6);
  const Machine paragon = preset("paragon");
  CHECK(paragon.networks[0].topology == Topology::mesh);
  CHECK(paragon.networks[0].link_bytes_per_s == 200e6);
  const Machine sp2 = preset("sp2");
  REQUIRE(sp2.networks.size() == 2);
  CHECK(sp2.networks[0].poll_ns == 15'000);
  CHECK(sp2.networks[1].poll_ns > 100'000);
  CHECK(preset("origin3800").nodes * preset("origin3800").processors_per_node == 48);
  CHECK(preset("origin3800").networks[0].topology == Topology::hypercube);
  CHECK(preset("v2200").nodes * preset("v2200").processors_per_node == 16);
  CHECK(preset("v2200").networks[0].topology == Topology::crossbar);
  CHECK(preset("beowulf-cluster").nodes == 5);
  // Computation: the ratios of one processor's times for the same loop, paper 004, table 3.
  const double cluster = preset("beowulf-cluster").cpu_scale;
  CHECK(preset("v2200").cpu_scale / cluster == doctest::Approx(10.008 / 0.964).epsilon(0.05));
  CHECK(preset("origin3800").cpu_scale / cluster == doctest::Approx(2.301 / 0.964).epsilon(0.05));
}

TEST_CASE("an unknown machine is an error with the presets, and with the nearest name") {
  Machine machine;
  machine.name = "unchanged";
  const std::string error = find_machine("paragn", machine).sentence();
  for (const Preset& one : presets()) CHECK(error.find(one.name) != std::string::npos);
  CHECK(error.find("did you mean paragon?") != std::string::npos);
  CHECK(find_machine("x", machine).sentence().find("did you mean") == std::string::npos);
  CHECK_FALSE(find_machine("", machine).ok());
  CHECK(machine.name == "unchanged");
}

TEST_CASE("a machine file is read by its path; what cannot be read is an error that names it") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("margay_presets_test." + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "mine").string();
  std::string text;
  REQUIRE(read_machine_text("sp2", text).ok());
  std::ofstream(path) << text;
  std::string again;
  REQUIRE(read_machine_text(path, again).ok());
  CHECK(again == text);
  Machine machine;
  CHECK(find_machine(path, machine).ok());
  CHECK(machine.name == "sp2");
  CHECK(machine.networks.size() == 2);

  std::ofstream(path) << "name = 1\n";
  const std::string wrong = find_machine(path, machine).sentence();
  CHECK(wrong.starts_with(path + ":1:"));
  // Its text is not parsed: it would be an empty machine.
  std::ofstream(path) << std::string((1U << 20) + 1, '#');
  CHECK_FALSE(find_machine(path, machine).sentence().starts_with(path));
  std::ofstream(path) << std::string(1U << 20, '#');
  CHECK(find_machine(path, machine).sentence().starts_with(path));
  std::filesystem::remove(path);
  for (const std::string& name : {path, folder.string() + "/", path + ".toml", std::string("/dev/null/x")}) {
    CAPTURE(name);
    CHECK(find_machine(name, machine).sentence().find(name) != std::string::npos);
  }
  CHECK(is_machine_file("mine.toml"));
  CHECK(is_machine_file("./mine"));
  CHECK_FALSE(is_machine_file("paragon"));
  std::filesystem::remove_all(folder);
}
