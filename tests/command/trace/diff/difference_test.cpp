// Tests of the difference of two runs.
#include "command/trace/diff/difference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/command/hand_made_trace.hpp"

namespace margay::command::test {
namespace {

using Numbers = std::vector<std::uint64_t>;

RunSums two_ranks() {
  RunSums sums;
  sums.folder = "run";
  sums.ranks = 2;
  sums.add(SumSection::totals, "", {{"ranks", 2}, {"time", 1000}, {"calls", 3}, {"messages", 2}, {"bytes", 80}});
  sums.add(SumSection::calls, "MPI_Send", {{"calls", 2}, {"time", 300}, {"waited", 50}, {"sent bytes", 80}});
  sums.add(SumSection::calls, "MPI_Recv", {{"calls", 1}, {"time", 200}, {"waited", 50}});
  sums.add(SumSection::pairs, "0 > 1", {{"messages", 2}, {"bytes", 80}}, 1);
  sums.add(SumSection::ranks, "rank 0", {{"calls", 2}, {"in calls", 300}, {"sent messages", 2}, {"sent bytes", 80}});
  sums.path = {0, 1};
  return sums;
}

const DifferenceSection* section_of(const Difference& difference, SumSection wanted) {
  const auto found = std::find_if(difference.sections.begin(), difference.sections.end(),
                                  [wanted](const DifferenceSection& each) { return each.section == wanted; });
  return found == difference.sections.end() ? nullptr : &*found;
}

TEST_CASE("difference: sums of a trace, by call, pair, rank and protocol") {
  const RunSums sums = sums_of("run", made::pulled().trace);
  CHECK(sums.ranks == 2);
  CHECK_FALSE(sums.is_virtual);
  CHECK(sums.notes.empty());
  const auto& calls = sums.rows(SumSection::calls);
  CHECK(calls.at({0, "MPI_Send"})[0] == 1);
  CHECK(calls.at({0, "MPI_Send"})[3] == 40000);
  CHECK(calls.at({0, "MPI_Recv"})[3] == 0);
  CHECK(sums.rows(SumSection::pairs).at({1, "0 > 1"}) == Numbers{1, 40000});
  CHECK(sums.rows(SumSection::protocols).at({0, "long"}) == Numbers{1, 40000});
  CHECK(sums.rows(SumSection::ranks).at({0, "rank 0"})[3] == 1);
  CHECK(sums.rows(SumSection::ranks).at({1, "rank 1"})[3] == 0);
  const Numbers& totals = sums.rows(SumSection::totals).at({0, ""});
  CHECK(totals[0] == 2);
  CHECK(totals[2] == 2);
  CHECK(totals[5] == 1);
  CHECK(totals[6] == 40000);
}

TEST_CASE("difference: a nested call counts as a part of the call around it") {
  made::HandMade made;
  made.trace.files[0].names = {"MPI_Wait", "MPI_Send"};
  made.add(0, sim::TraceKind::mpi_enter).a = 0;
  made.add(0, sim::TraceKind::mpi_enter).a = 1;
  made.add(0, sim::TraceKind::wait_begin);
  made.add(0, sim::TraceKind::wait_end);
  made.add(0, sim::TraceKind::send_begin, made::kMessage).bytes = 7;
  made.add(0, sim::TraceKind::mpi_leave).a = 1;
  made.add(0, sim::TraceKind::mpi_leave).a = 0;
  const RunSums sums = sums_of("run", made.trace);
  REQUIRE(sums.rows(SumSection::calls).size() == 1);
  CHECK(sums.rows(SumSection::calls).at({0, "MPI_Wait"}) == Numbers{1, 6000, 1000, 7});
}

TEST_CASE("difference: a trace that lacks events is noted") {
  made::HandMade made = made::pulled();
  made.trace.files[1].lost = 3;
  made.trace.files.front().size = 3;
  CHECK(sums_of("run", made.trace).notes.size() == 2);
}

TEST_CASE("difference: equal runs are equal, and their text has no table") {
  const Difference difference = compare(two_ranks(), two_ranks());
  CHECK(difference.has_equal_counts);
  CHECK(difference.has_equal_times);
  CHECK(difference_lines(difference, 20).size() == 3);
}

TEST_CASE("difference: times alone do not make counts differ") {
  RunSums b = two_ranks();
  b.add(SumSection::calls, "MPI_Send", {{"time", 7}});
  const Difference difference = compare(two_ranks(), b);
  CHECK(difference.has_equal_counts);
  CHECK_FALSE(difference.has_equal_times);
}

TEST_CASE("difference: each count and amount makes counts differ") {
  const std::vector<std::pair<SumSection, std::vector<std::size_t>>> counts = {{SumSection::totals, {0, 2, 5, 6}},
                                                                               {SumSection::protocols, {0, 1}},
                                                                               {SumSection::calls, {0, 3}},
                                                                               {SumSection::pairs, {0, 1}},
                                                                               {SumSection::ranks, {0, 3, 4}}};
  for (const auto& [section, measures] : counts) {
    for (const std::size_t measure : measures) {
      RunSums b = two_ranks();
      b.add(section, "new", {});
      CHECK(compare(two_ranks(), b).has_equal_counts);
      b.sections[static_cast<std::size_t>(section)].at({0, "new"})[measure] = 1;
      CHECK_FALSE(compare(two_ranks(), b).has_equal_counts);
      CHECK_FALSE(compare(b, two_ranks()).has_equal_counts);
    }
  }
}

TEST_CASE("difference: rows of one run only have zeros in the other, and the largest difference is first") {
  RunSums a = two_ranks(), b = two_ranks();
  a.add(SumSection::calls, "MPI_Bcast", {{"calls", 1}, {"time", 10}});
  b.add(SumSection::calls, "MPI_Reduce", {{"calls", 1}, {"time", 9000}});
  b.add(SumSection::calls, "MPI_Recv", {{"time", 500}});
  const Difference difference = compare(a, b);
  const DifferenceSection* const calls = section_of(difference, SumSection::calls);
  REQUIRE(calls != nullptr);
  REQUIRE(calls->rows.size() == 4);
  CHECK(calls->rows[0].name == "MPI_Reduce");
  CHECK(calls->rows[0].a == Numbers{0, 0, 0, 0});
  CHECK(calls->rows[1].name == "MPI_Recv");
  CHECK(calls->rows[2].name == "MPI_Bcast");
  CHECK(calls->rows[2].b == Numbers{0, 0, 0, 0});
  CHECK(calls->rows[3].name == "MPI_Send");
}

TEST_CASE("difference: runs of different numbers of ranks are not compared by rank") {
  RunSums b = two_ranks();
  b.ranks = 4;
  b.add(SumSection::totals, "", {{"ranks", 2}});
  const Difference difference = compare(two_ranks(), b);
  CHECK_FALSE(difference.has_equal_counts);
  CHECK(section_of(difference, SumSection::totals) != nullptr);
  CHECK(section_of(difference, SumSection::path_calls) != nullptr);
  for (const SumSection section : {SumSection::pairs, SumSection::ranks, SumSection::path_ranks})
    CHECK(section_of(difference, section) == nullptr);
}

TEST_CASE("difference: a section's text has a line for each measure that differs, of so many rows") {
  RunSums a = two_ranks(), b = two_ranks();
  for (std::uint64_t i = 0; i < 5; ++i)
    b.add(SumSection::pairs, "1 > " + std::to_string(i), {{"messages", 1}, {"bytes", 10 * i}}, 10 + i);
  const auto lines_of = [&](std::size_t rows) { return difference_lines(compare(a, b), rows).size(); };
  // Four of the five new pairs have bytes, and each has a message.
  CHECK(lines_of(3) - lines_of(2) == 2);
  CHECK(lines_of(4) - lines_of(3) == 2);
  // The last row needs no line about further rows.
  CHECK(lines_of(5) == lines_of(4));
  CHECK(lines_of(6) == lines_of(5));
}

TEST_CASE("difference: JSON has all rows, with the names and units of their numbers") {
  RunSums b = two_ranks();
  b.folder = "b \"\x80\"";
  b.path = {1};
  b.add(SumSection::calls, "MPI_Send", {{"calls", 1}, {"time", 7}});
  const std::string text = difference_json(compare(two_ranks(), b));
  CHECK(text.find('\n') == std::string::npos);
  const auto json = nlohmann::json::parse(text);
  CHECK(json["version"] == 1);
  CHECK(json["a"]["folder"] == "run");
  CHECK(json["a"]["ranks"] == 2);
  CHECK(json["a"]["clock"] == "real");
  CHECK(json["b"]["path"] == std::vector<int>{1});
  CHECK(json["equal_counts"] == false);
  CHECK(json["equal_times"] == false);
  for (const auto& section : json["sections"]) {
    for (const auto& row : section["rows"]) {
      CHECK(row["a"].size() == section["measures"].size());
      CHECK(row["b"].size() == section["measures"].size());
    }
    if (section["id"] != "calls") continue;
    CHECK(section["measures"][1]["unit"] == "ns");
    CHECK(section["rows"][0]["name"] == "MPI_Send");
    CHECK(section["rows"][0]["a"] == Numbers{2, 300, 50, 80});
    CHECK(section["rows"][0]["b"] == Numbers{3, 307, 50, 80});
    CHECK(section["rows"].size() == 2);
  }
}

}  // namespace
}  // namespace margay::command::test
