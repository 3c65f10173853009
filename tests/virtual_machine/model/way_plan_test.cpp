// The plan of a run's wires: the networks that they use between two ranks, and lists that no run can use.
#include "virtual_machine/model/way_plan.hpp"

#include <doctest/doctest.h>

#include "virtual_machine/model/presets.hpp"

namespace margay::virtual_machine {
namespace {

using sim::WireId;

Machine machine_of(const char* name) {
  Machine machine;
  REQUIRE(find_machine(name, machine).ok());
  return machine;
}

std::string error_of(const char* list, const Machine& machine, std::uint32_t ranks) {
  WayPlan plan;
  const portals::Status status = WayPlan::make(list, machine, ranks, plan);
  CHECK(plan.empty());
  return status.ok() ? std::string() : status.sentence();
}

TEST_CASE("wires use memory inside a node, and the machine's two networks between nodes") {
  Machine machine = machine_of("sp2");
  machine.nodes_per_partition = 2;
  machine.processors_per_node = 2;
  const NetworkModel model(machine, 6);
  WayPlan plan;
  REQUIRE(WayPlan::make("tcp,shm", machine, 6, plan).ok());
  CHECK(plan.order() == std::vector{WireId::tcp, WireId::shm});
  CHECK(WayPlan::network(WireId::shm, model, 0, 1) == kInMemory);
  CHECK(WayPlan::network(WireId::tcp, model, 0, 1) == 1U);
  CHECK(WayPlan::network(WireId::shm, model, 0, 3) == 0U);
  CHECK(WayPlan::network(WireId::tcp, model, 3, 0) == 1U);
  CHECK_FALSE(WayPlan::network(WireId::shm, model, 3, 4).has_value());
  CHECK(WayPlan::network(WireId::tcp, model, 4, 3) == 1U);
}

TEST_CASE("an empty list gives an empty plan") {
  WayPlan plan;
  CHECK(WayPlan::make("", machine_of("paragon"), 64, plan).ok());
  CHECK(plan.empty());
}

TEST_CASE("lists that no run can use are errors that name the wire or the ranks") {
  const Machine sp2 = machine_of("sp2");
  CHECK(error_of("carrier", sp2, 2).find("carrier") != std::string::npos);
  CHECK(error_of("self", sp2, 2).find("self") != std::string::npos);
  CHECK(error_of("shm,", sp2, 2).empty() == false);
  CHECK(error_of("shm,shm", sp2, 2).find("twice") != std::string::npos);
  CHECK(error_of("tcp", machine_of("paragon"), 2).find("paragon") != std::string::npos);
  CHECK(error_of("shm", sp2, 17).find("0 and 16") != std::string::npos);
}

TEST_CASE("the last change gives the list") {
  CHECK(way_list({}).empty());
  CHECK(way_list({{"way", "shm"}, {"seed", "1"}, {"way", "tcp"}}) == "tcp");
}

}  // namespace
}  // namespace margay::virtual_machine
