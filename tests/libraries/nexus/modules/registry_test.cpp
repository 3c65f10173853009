// Tests of the registry: the compiled-in modules, and the final choice from file, variables and command line.
#include "libraries/nexus/modules/registry.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

using core::Choice;

TEST_CASE("each compiled-in module is made under its name, with valid traits") {
  const std::vector<std::string> names = core::compiled_modules();
  CHECK(names == std::vector<std::string>{"udp", "multicast", "secure", "compressed"});
  for (const std::string& name : names) {
    const std::unique_ptr<core::Module> module = core::make_compiled(name);
    REQUIRE(module);
    CHECK(module->name() == name);
    CHECK(name.size() <= MARGAY_NEXUS_NAME_MOST);
    CHECK_FALSE(module->description().empty());
  }
  CHECK_FALSE(core::make_compiled("tcp"));
}

TEST_CASE("file, variables and command line, later ones before earlier ones") {
  const FakeRank rank(1, 4);
  std::vector<std::string> words{"prog", "x"};
  Choice choice;
  REQUIRE(core::read_choice(rank, words, choice).ok());
  CHECK(choice.order == std::vector<std::string>{"local", "shm", "tcp"});

  // The program's own choice stands, unless another one replaces it.
  choice.order = {"tcp"};
  REQUIRE(core::read_choice(rank, words, choice).ok());
  CHECK(choice.order == std::vector<std::string>{"tcp"});

  const std::string path = "/tmp/nexus_choice_" + std::to_string(getpid());
  std::FILE* const file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  std::fputs(
      "context 1: modules local udp\ncontext 0: modules shm\n*: parameter udp.lose 1\n"
      "*: parameter udp.repeat 1\n*: off_node secure\n*: forwarder tcp 0 1-3\n*: skip_poll udp 9\n",
      file);
  std::fclose(file);
  setenv("MARGAY_NEXUS_RESOURCES", path.c_str(), 1);
  setenv("MARGAY_NEXUS_PARAMETER", "udp.lose=2", 1);
  words = {"prog", "--nexus-load=fifo=./fifo.so", "x", "--nexus-parameter", "udp.repeat=3"};
  choice = {};
  const portals::Status status = core::read_choice(rank, words, choice);
  CHECK(status.sentence() == "");
  CHECK(words == std::vector<std::string>{"prog", "x"});
  CHECK(choice.order == std::vector<std::string>{"local", "udp", "secure", "fifo"});
  CHECK(choice.load == std::vector<std::string>{"./fifo.so"});
  REQUIRE(choice.parameters["udp"].size() == 2);
  CHECK(choice.parameters["udp"][0].value == "2");
  CHECK(choice.parameters["udp"][1].value == "3");
  CHECK(choice.off_node == std::vector<std::string>{"secure"});
  CHECK(choice.skip_poll["udp"] == 9);
  REQUIRE(choice.forwarding.size() == 1);
  CHECK(choice.forwarding[0].contexts.size() == 3);

  // A forwarder outside of the job.
  words = {"prog", "--nexus-forwarder=tcp=4=1"};
  CHECK_FALSE(core::read_choice(rank, words, choice).ok());
  CHECK(words.size() == 2);
  unlink(path.c_str());
  words = {"prog"};
  CHECK_FALSE(core::read_choice(rank, words, choice).ok());  // the file is missing
  unsetenv("MARGAY_NEXUS_RESOURCES");
  unsetenv("MARGAY_NEXUS_PARAMETER");
}

}  // namespace margay::nexus::test
