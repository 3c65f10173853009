// Tests of the resource database: a table of good and bad texts, patterns, files.
#include "libraries/nexus/modules/resources.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace margay::nexus::test {

using core::Choices;

// The chosen modules for context 5 on the host gpu7, or "error".
static std::string modules_for(const std::string& text) {
  Choices choices;
  if (!core::parse_resources(text, 5, "gpu7", choices).empty()) return "error";
  std::string names;
  std::vector<std::string> modules;
  if (choices.modules) modules = *choices.modules;
  for (const std::string& one : modules) names += one + " ";
  return names;
}

TEST_CASE("lines for this context and host, the last one of each key") {
  CHECK(modules_for("") == "");
  CHECK(modules_for("# nothing\n\n   \t\n") == "");
  CHECK(modules_for("*: modules local tcp") == "local tcp ");
  CHECK(modules_for("*:modules\tlocal   tcp  \r\n") == "local tcp ");
  CHECK(modules_for("*: modules local\n*: modules shm\n") == "shm ");
  CHECK(modules_for("context 5: modules local") == "local ");
  CHECK(modules_for("context 0-4,6-9: modules local") == "");
  CHECK(modules_for("context 0-2,4-6: modules local") == "local ");
  CHECK(modules_for("host gpu*: modules local") == "local ");
  CHECK(modules_for("host cpu*: modules local") == "");
  CHECK(modules_for("host gpu? context 5: modules local") == "local ");
  CHECK(modules_for("context 6 host gpu?: modules local") == "");
}

TEST_CASE("each bad line is an error, also if it is for another context") {
  for (const std::string line : {"modules local",
                                 ": modules local",
                                 "*:",
                                 "*: unknown x",
                                 "*: modules",
                                 "* *: modules local",
                                 "everyone: modules local",
                                 "context: modules local",
                                 "context x: modules local",
                                 "context 3-1: modules local",
                                 "context 1,: modules local",
                                 "context -1: modules local",
                                 "context 99999999999: modules local",
                                 "context 1 context 2: modules local",
                                 "context 1 place x: modules local",
                                 "context 1 host a host b: modules local",
                                 "context 9: modules local local",
                                 "host x: parameter udp 1",
                                 "context 9: load fifo fifo.so",
                                 "context 9: forwarder tcp 0"}) {
    CAPTURE(line);
    Choices choices;
    const std::string error = core::parse_resources("*: modules tcp\n" + line + "\n", 5, "gpu7", choices);
    CHECK(error.substr(0, 8) == "line 2: ");
    CHECK_FALSE(choices.modules);  // all or nothing
  }
  CHECK(modules_for("*: modules " + std::string(core::kResourceLineMost, 'a')) == "error");
  CHECK(modules_for(std::string("*: modules a\0b", 14)) == "error");
  CHECK(modules_for(std::string(core::kResourcesMost + 1, '\n')) == "error");
}

TEST_CASE("all keys") {
  Choices choices;
  CHECK(core::parse_resources("*: parameter udp.linger_ms 20\n*: load fifo /lib/fifo.so\n*: forwarder tcp 0 1-3\n"
                              "*: skip_poll tcp 20\n*: off_node secure\n*: order tcp\n",
                              0, "", choices) == "");
  CHECK(choices.parameters.size() == 1);
  CHECK(choices.loads.at(0).path == "/lib/fifo.so");
  CHECK(choices.forwarders.at(0).for_contexts.size() == 3);
  CHECK(choices.polls.at(0).each == 20);
  CHECK(choices.off_node->at(0) == "secure");
  CHECK(choices.order->at(0) == "tcp");
}

TEST_CASE("patterns") {
  CHECK(core::matches_pattern("*", ""));
  CHECK(core::matches_pattern("a*b*c", "aXbYbZc"));
  CHECK(core::matches_pattern("??", "ab"));
  CHECK(core::matches_pattern("a**", "a"));
  CHECK_FALSE(core::matches_pattern("", "a"));
  CHECK_FALSE(core::matches_pattern("a*b", "abc"));
  CHECK_FALSE(core::matches_pattern("?", ""));
  // Exponential for matchers that try each star again.
  CHECK_FALSE(core::matches_pattern(std::string(200, '*') + "b", std::string(4000, 'a')));
}

TEST_CASE("files: a good one, a missing one, a folder, a FIFO") {
  const std::string folder = "/tmp/nexus_resources_" + std::to_string(getpid());
  REQUIRE(mkdir(folder.c_str(), 0700) == 0);
  const std::string path = folder + "/good";
  std::FILE* file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  std::fputs("*: modules local\n", file);
  std::fclose(file);
  Choices choices;
  CHECK(core::read_resources(path, 0, "", choices) == "");
  CHECK(choices.modules);
  const std::string fifo = folder + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const std::string& bad : {folder + "/missing", folder, fifo}) {
    // The error names the file.
    CHECK(core::read_resources(bad, 0, "", choices).find(bad) != std::string::npos);
  }
  unlink(fifo.c_str());
  unlink(path.c_str());
  rmdir(folder.c_str());
}

}  // namespace margay::nexus::test
