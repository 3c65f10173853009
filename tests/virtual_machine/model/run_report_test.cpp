// Tests of the report of a simulated run as text and as a file.
#include "virtual_machine/model/run_report.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace margay::virtual_machine {
namespace {

RunReport some_report() {
  Settings settings;
  settings.machine = "paragon";
  settings.ranks = 9216;
  settings.seed = 5;
  settings.changes = {{"short_limit", "4k"}, {"collective", "allreduce=tree"}};
  RunReport report = begin_report(settings, {"./a.out", "-x"});
  report.virtual_ns = 12'345'678'901'234;
  report.messages = 3;
  report.bytes = 1ULL << 40;
  report.switches = 7;
  return report;
}

std::string text_of_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a report's text gives back the report") {
  RunReport report = some_report();
  report.exit_status = 1;
  report.error = "rank 3 died";
  report.findings = {{sim::Finding::deadlock, {0, 2}, "deadlock: all ranks wait"}};
  report.ways = {{"tcp", 5, 1 << 20, 90, 4}, {"shm", 1, 2, 3, 1}};
  RunReport read;
  REQUIRE(parse_report(format_report(report), read).ok());
  CHECK_EQ(format_report(read), format_report(report));
  CHECK_EQ(read.command, "./a.out -x");
  CHECK_EQ(read.virtual_ns, report.virtual_ns);
  CHECK_EQ(read.bytes, report.bytes);
  CHECK_EQ(read.exit_status, 1);
  REQUIRE_EQ(read.ways.size(), 2);
  CHECK_EQ(read.ways[0].wire, "tcp");
  CHECK_EQ(read.ways[1].polls, 3);
  REQUIRE_EQ(read.findings.size(), 1);
  CHECK_EQ(read.findings[0].finding, sim::Finding::deadlock);
}

TEST_CASE("the members of a report, and those that are omitted") {
  RunReport report = some_report();
  nlohmann::json json = nlohmann::json::parse(format_report(report));
  CHECK_EQ(json.at("version"), 1);
  CHECK_EQ(json.at("machine"), "paragon");
  CHECK_EQ(json.at("set"), nlohmann::json({{"short_limit", "4k"}, {"collective", "allreduce=tree"}}));
  CHECK_EQ(json.at("findings"), nlohmann::json::array());
  CHECK_FALSE(json.contains("exit_status"));
  CHECK_FALSE(json.contains("error"));
  report.exit_status = 0;
  report.findings = {{sim::Finding::no_finalize, {3}, "a \xff byte"}};
  json = nlohmann::json::parse(format_report(report));
  CHECK_EQ(json.at("exit_status"), 0);
  CHECK_EQ(json.at("findings")[0].at("id"), "no-finalize");
  CHECK_EQ(json.at("findings")[0].at("ranks"), nlohmann::json({3}));
}

TEST_CASE("another text is no report") {
  for (const char* text : {"", "{}", "[]", R"({"version": 1, "runs": []})", "ranks"}) {
    CAPTURE(text);
    RunReport report;
    CHECK_FALSE(parse_report(text, report).ok());
  }
}

TEST_CASE("a report replaces the file's content; a path that cannot be written is an error") {
  const std::string path = "/tmp/run_report_test." + std::to_string(::getpid());
  std::ofstream(path) << std::string(10'000, 'x');
  REQUIRE(write_report(path, some_report()).ok());
  CHECK_EQ(text_of_file(path), format_report(some_report()));
  REQUIRE(write_reports(path, {some_report(), some_report()}).ok());
  const nlohmann::json json = nlohmann::json::parse(text_of_file(path));
  REQUIRE_EQ(json.at("runs").size(), 2);
  CHECK_EQ(json.at("runs")[1], nlohmann::json::parse(format_report(some_report())));
  std::remove(path.c_str());
  CHECK(write_report("", some_report()).ok());
  for (const char* bad : {"/there/is/none", "/dev/full"}) {
    const portals::Status status = write_report(bad, some_report());
    REQUIRE_FALSE(status.ok());
    CHECK(status.sentence().find(bad) != std::string::npos);
  }
}

}  // namespace margay::virtual_machine
