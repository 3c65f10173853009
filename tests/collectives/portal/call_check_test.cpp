// Tests of invalid reports to the judge of --check-types, in any order: it processes the others' reports, ends, and
// reports no finding against correct members.
#include "collectives/portal/call_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <string_view>
#include <vector>

#include "mpi_adi/device/match_bits.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/support/counted_findings.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

constexpr std::uint32_t kMembers = 3;

CallReport report_of(std::uint32_t members) {
  CallReport report;
  report.record.key = {.generation = 1, .context = 40, .leader = 1};
  report.record.members = members;
  std::ranges::copy(std::string_view("MPI_Barrier"), report.record.function.begin());
  return report;
}

struct Sending {
  std::vector<std::byte> message;
  sim::Transmission transmission;
};

void send(sim::Kernel& kernel, const CallReport& report, Sending& sending) {
  sending.message = report.message();
  sim::Transmission& transmission = sending.transmission;
  transmission.header.destination = {0, 0};
  transmission.header.portal = mpi_adi::kCallCheckPortal;
  transmission.header.length = sending.message.size();
  transmission.body = portals::Region(sending.message.data(), sending.message.size());
  transmission.owner_tag_kind = mpi_adi::kOwnerOthers;
  kernel.send(transmission);
}

// The number of findings after `reports` of each rank, each a number of members.
std::uint32_t judged(std::uint64_t seed, const std::vector<std::vector<std::uint32_t>>& reports) {
  std::list<Sending> under_way;
  CollectiveWorld world({.ranks = static_cast<int>(reports.size()), .seed = seed});
  testing::CountedFindings counted;
  sim::SourceLines lines;
  world.portal(0).check_calls(counted.findings, lines);
  CHECK(world.run([&](int rank) {
    for (const std::uint32_t members : reports[static_cast<std::size_t>(rank)])
      send(world.portal(rank).host().kernel(), report_of(members), under_way.emplace_back());
  }));
  return counted.count;
}

}  // namespace

TEST_CASE("a report with another number of members is rejected, and the calls of the others continue") {
  for (const std::uint64_t seed : testing::Seeds(100)) {
    CAPTURE(seed);
    CHECK(judged(seed, {{}, {kMembers, kMembers}, {kMembers - 1}, {kMembers}}) == 0);
    CHECK(judged(seed, {{}, {kMembers, kMembers}, {kMembers + 1, 0}, {kMembers, kMembers}}) == 0);
  }
}

TEST_CASE("each call that differs is a finding, until members call different functions") {
  // Each rank's calls, by their roots; -2 is another function.
  const auto findings_of = [](std::uint64_t seed, const std::vector<std::vector<std::int32_t>>& roots) {
    std::list<Sending> under_way;
    CollectiveWorld world({.ranks = static_cast<int>(roots.size()), .seed = seed});
    testing::CountedFindings counted;
    sim::SourceLines lines;
    world.portal(0).check_calls(counted.findings, lines);
    CHECK(world.run([&](int rank) {
      for (const std::int32_t root : roots[static_cast<std::size_t>(rank)]) {
        CallReport report = report_of(kMembers);
        report.record.root = root;
        if (root == -2) std::ranges::copy(std::string_view("MPI_Bcast"), report.record.function.begin());
        send(world.portal(rank).host().kernel(), report, under_way.emplace_back());
      }
    }));
    return counted.count;
  };
  for (const std::uint64_t seed : testing::Seeds(10)) {
    CAPTURE(seed);
    CHECK(findings_of(seed, {{}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}}) == 0);
    CHECK(findings_of(seed, {{}, {0, 1, 2, 3}, {0, 9, 2, 9}, {0, 1, 2, 3}}) == 2);
    CHECK(findings_of(seed, {{}, {0, 1, 2, 3}, {9, 1, 2, 3}, {0, 1, 9, 3}}) == 2);
    CHECK(findings_of(seed, {{}, {0, -2, 2, 3}, {0, 1, 9, 9}, {0, 1, 2, 3}}) >= 1);
  }
}

TEST_CASE("a member whose slot in a call another one took is not counted in a later call") {
  for (const std::uint64_t seed : testing::Seeds(100)) {
    CAPTURE(seed);
    CHECK(judged(seed, {{}, {kMembers, kMembers}, {kMembers, kMembers}, {kMembers}, {kMembers, kMembers}}) == 0);
  }
}

}  // namespace margay::collectives
