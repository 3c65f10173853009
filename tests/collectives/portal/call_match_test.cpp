// Tests of the members' reports of one call, which the judge of --check-types gets in any order: matching calls are
// never reported, and a mismatch names both sides.
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/portal/call_match.hpp"
#include "mpi_adi/abi/handles.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

using mpi_adi::Signature;

Amount of(MPI_Datatype type, std::uint64_t count) {
  if (count == 0) return {};
  return {count * mpi_adi::basic_size_bytes(type), {.kind = Signature::Kind::uniform, .leaf = type}};
}

Amount ints(std::uint64_t count) {
  return of(MPI_INT, count);
}

CallReport report_of(std::uint32_t rank, std::string_view function, std::string_view details = ", here") {
  CallReport report;
  report.record.rank = rank;
  std::ranges::copy(function, report.record.function.begin());
  std::ranges::copy(details, report.record.details.begin());
  return report;
}

// The reports of a call's members: member r sends counts[r][p] ints to member p, which expects as many.
std::vector<CallReport> all_to_all(const std::vector<std::vector<std::uint64_t>>& counts) {
  std::vector<CallReport> reports;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    CallReport& report = reports.emplace_back(report_of(static_cast<std::uint32_t>(rank), "MPI_Alltoallv"));
    for (std::size_t peer = 0; peer < counts.size(); ++peer) {
      add_share(report.sends, static_cast<std::int32_t>(peer), ints(counts[rank][peer]));
      add_share(report.expects, static_cast<std::int32_t>(peer), ints(counts[peer][rank]));
    }
  }
  return reports;
}

// The judge's message about the reports, which have ranks 10, 11 ... of the world.
std::string judge(const std::vector<CallReport>& reports) {
  CallMatch match;
  for (const CallReport& report : reports) {
    if (std::string text = match.add(report, 10 + report.record.rank); !text.empty()) return text;
  }
  return {};
}

std::string judge_turned(std::vector<CallReport> reports) {
  std::ranges::reverse(reports);
  return judge(reports);
}

// The reports of an intercommunicator of two and two ranks; `root` as in CallRecord.
CallReport of_two_groups(std::uint32_t rank, std::int32_t root, std::uint8_t root_group, Amount alike) {
  CallReport report = report_of(rank, "MPI_Bcast");
  report.record.group = rank < 2 ? 0 : 1;
  report.record.root = root;
  report.record.root_group = root_group;
  report.record.alike = alike;
  return report;
}

constexpr std::int32_t kUnknown = CallRecord::kUnknownRoot;

TEST_CASE("matching calls are not reported in any order, and one wrong count is") {
  for (const std::uint64_t seed : testing::Seeds(50)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::size_t members = 1 + random() % 6;
    std::vector<std::vector<std::uint64_t>> counts(members, std::vector<std::uint64_t>(members));
    for (auto& row : counts) {
      for (std::uint64_t& count : row) count = random() % 3;
    }
    std::vector<CallReport> reports = all_to_all(counts);
    std::ranges::shuffle(reports, random);
    CHECK(judge(reports).empty());
    const std::size_t from = random() % members, to = random() % members;
    ++counts[from][to];
    std::vector<CallReport> wrong = all_to_all(counts);
    const auto is_from = [&](const CallReport& report) { return report.record.rank == from; };
    std::ranges::find_if(reports, is_from)->sends = std::ranges::find_if(wrong, is_from)->sends;
    const std::string text = judge(reports);
    const std::string one = std::to_string(10 + from), other = std::to_string(10 + to);
    const std::string sent = std::to_string(counts[from][to]);
    CHECK(text.starts_with("rank " + one + " calls MPI_Alltoallv of " + sent + " x MPI_INT to rank " + other +
                           ", here, where rank " + other + " calls MPI_Alltoallv of "));
    CHECK(text.ends_with(" from rank " + one + ", here"));
  }
}

TEST_CASE("the n-th block sent is the n-th expected block; edges that one side lacks are unknown") {
  CallReport from = report_of(0, "MPI_Neighbor_alltoallw"), to = report_of(1, "MPI_Neighbor_alltoallw");
  for (const std::uint64_t count : {1, 2, 2}) add_share(from.sends, 1, ints(count));
  add_share(from.sends, 2, ints(2));
  for (const std::uint64_t count : {1, 2, 2, 9}) add_share(to.expects, 0, ints(count));
  add_share(to.expects, 1, ints(5));
  CHECK(from.sends.size() == 3);  // the third block of rank 1 is merged with rank 2's
  CHECK(judge({from, to}).empty());
  CHECK(judge({to, from}).empty());
  to.expects[1].amount = of(MPI_FLOAT, 2);
  CHECK(judge({from, to}) ==
        "rank 10 calls MPI_Neighbor_alltoallw of 2 x MPI_INT to rank 11, here, where rank 11 calls "
        "MPI_Neighbor_alltoallw of 2 x MPI_FLOAT from rank 10, here");
  CHECK(judge({to, from}) == judge({from, to}));
}

TEST_CASE(
    "an empty amount matches an empty one of any type, packed bytes match anything, and hashes of mixed types differ") {
  CallReport from = report_of(0, "MPI_Gatherv"), to = report_of(1, "MPI_Gatherv");
  from.sends = {{1, 1, {}}};
  to.expects = {{0, 2, of(MPI_FLOAT, 0)}};
  CHECK(judge({from, to}).empty());
  from.sends[0].amount = {8, {.kind = Signature::Kind::packed}};
  to.expects[0].amount = ints(2);
  CHECK(judge({from, to}).empty());
  from.sends[0].amount = {};
  CHECK(
      judge({from, to}) ==
      "rank 10 calls MPI_Gatherv of nothing to rank 11, here, where rank 11 calls MPI_Gatherv of 2 x MPI_INT from rank "
      "10, here");
  from.sends[0].amount = {24, {.kind = Signature::Kind::mixed, .hash = 1}};
  to.expects[0].amount = {24, {.kind = Signature::Kind::mixed, .hash = 2}};
  CHECK(judge({from, to}) ==
        "rank 10 calls MPI_Gatherv of elements of several types (24 bytes) to rank 11, here, where rank 11 calls "
        "MPI_Gatherv of other elements of several types (24 bytes) from rank 10, here");
}

TEST_CASE("counts that must be equal on all members are reported with their index, and one list serves all") {
  std::vector<CallReport> reports;
  for (const std::uint32_t rank : {0, 1, 2}) {
    CallReport& report = reports.emplace_back(report_of(rank, "MPI_Allgatherv"));
    report.record.expects_alike = true;
    add_share(report.sends, 0, ints(rank));
    report.sends[0].peers = 3;
    for (const std::int32_t peer : {0, 1, 2}) add_share(report.expects, peer, ints(static_cast<std::uint64_t>(peer)));
  }
  CHECK(judge(reports).empty());
  CHECK(judge_turned(reports).empty());
  reports[1].expects[2].amount = ints(3);
  CHECK(judge(reports) ==
        "rank 10 calls MPI_Allgatherv of 2 x MPI_INT as recvcounts[2], here, where rank 11 calls MPI_Allgatherv of 3 x "
        "MPI_INT as recvcounts[2], here");
  reports[1].expects.clear();  // omitted, as if too long
  CHECK(judge(reports).empty());
  reports[1].sends[0].amount = ints(7);
  CHECK(
      judge(reports) ==
      "rank 11 calls MPI_Allgatherv of 7 x MPI_INT to rank 10, here, where rank 10 calls MPI_Allgatherv of 1 x MPI_INT "
      "from rank 11, here");
}

TEST_CASE("with two groups one member is the root, which members of its own group do not know") {
  const std::vector<CallReport> right{of_two_groups(0, kUnknown, 0, {}), of_two_groups(1, 1, 0, ints(4)),
                                      of_two_groups(2, 1, 0, ints(4)), of_two_groups(3, 1, 0, ints(4))};
  std::vector<int> order{0, 1, 2, 3};
  do {
    std::vector<CallReport> reports;
    for (const int at : order) reports.push_back(right[static_cast<std::size_t>(at)]);
    CHECK(judge(reports).empty());
    const auto last = std::ranges::find_if(reports, [](const CallReport& report) { return report.record.rank == 3; });
    last->record.root = 0;
    CHECK_FALSE(judge(reports).empty());
    last->record.root = 1;
    last->record.alike = ints(5);
    CHECK_FALSE(judge(reports).empty());
    last->record = of_two_groups(3, kUnknown, 1, {}).record;
    CHECK_FALSE(judge(reports).empty());
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("a report is one message; shares beyond its bound are omitted, and truncated messages are invalid") {
  CallReport report = all_to_all({{1, 2}, {3, 4}})[1];
  report.record.root = 5;
  std::vector<std::byte> message = report.message();
  std::optional<CallReport> read = CallReport::read({message.data(), message.size()});
  REQUIRE(read);
  CHECK(read->record.root == 5);
  CHECK(read->sends.size() == 2);
  CHECK(read->expects.size() == 2);
  CHECK(read->expects[1].first == 1);
  CHECK(read->expects[1].amount.fits(ints(4)));
  CHECK_FALSE(CallReport::read({message.data(), message.size() - 1}));
  CHECK_FALSE(CallReport::read({message.data(), sizeof(CallRecord) - 1}));
  report.sends[0].peers = 0;
  message = report.message();
  CHECK_FALSE(CallReport::read({message.data(), message.size()}));
  report.sends.assign(CallReport::kBytesMax / sizeof(Share), {});
  message = report.message();
  CHECK(message.size() == sizeof(CallRecord));
  read = CallReport::read({message.data(), message.size()});
  REQUIRE(read);
  CHECK((read->sends.empty() && read->expects.empty()));
}

TEST_CASE("the first two calls that differ are named, and the first call of another function") {
  const auto with_root = [](std::uint32_t rank, std::int32_t root) {
    CallReport report = report_of(rank, "MPI_Bcast");
    report.record.root = root;
    return report;
  };
  CallMatch match;
  CHECK(match.add(with_root(0, 0), 10).empty());
  CHECK(match.add(with_root(1, 1), 11) == "rank 10 calls MPI_Bcast, here, where rank 11 calls MPI_Bcast, here");
  CHECK(match.add(with_root(2, 1), 12).empty());
  CHECK(!match.out_of_step());
  CHECK(match.add(report_of(3, "MPI_Barrier"), 13) ==
        "rank 10 calls MPI_Bcast, here, where rank 13 calls MPI_Barrier, here");
  REQUIRE(match.differing().size() == 2);
  CHECK((match.differing()[0].by == 10 && match.differing()[1].by == 13));
  CHECK(match.out_of_step());
  CHECK(match.add(report_of(4, "MPI_Barrier"), 14).empty());
  CHECK(match.seen() == 5);
}

}  // namespace
}  // namespace margay::collectives
