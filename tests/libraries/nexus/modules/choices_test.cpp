// Tests of the choices of modules: their words, their order, what replaces what.
#include "libraries/nexus/modules/choices.hpp"

#include <doctest/doctest.h>

namespace margay::nexus::test {

using core::Choices;
using Words = std::vector<std::string>;

static const Words kUsual{"local", "shm", "tcp"};

static Words chosen(const Choices& choices) {
  Words out;
  CHECK(core::chosen_modules(choices, kUsual, out) == "");
  return out;
}

TEST_CASE("the usual set, and choices that change it") {
  Choices choices;
  CHECK(chosen(choices) == kUsual);
  CHECK(core::add_choice("modules", {"tcp", "local", "udp"}, choices) == "");
  CHECK(chosen(choices) == Words{"tcp", "local", "udp"});
  CHECK(core::add_choice("load", {"fifo", "./fifo.so"}, choices) == "");
  CHECK(core::add_choice("off_node", {"secure"}, choices) == "");
  CHECK(chosen(choices) == Words{"tcp", "local", "udp", "secure", "fifo"});
  CHECK(core::add_choice("order", {"fifo", "udp"}, choices) == "");
  CHECK(chosen(choices) == Words{"fifo", "udp", "tcp", "local", "secure"});
  CHECK(core::add_choice("order", {"shm"}, choices) == "");
  Words out;
  CHECK(core::chosen_modules(choices, kUsual, out) != "");
}

TEST_CASE("invalid words") {
  struct Row {
    const char* key;
    Words words;
  };
  for (const Row& row : std::vector<Row>{{"modules", {}},
                                         {"modules", {"Local"}},
                                         {"modules", {"tcp", "tcp"}},
                                         {"modules", Words(17, "a")},
                                         {"order", {""}},
                                         {"order", {std::string(32, 'a')}},
                                         {"off_node", {"a b"}},
                                         {"load", {"fifo"}},
                                         {"load", {"fifo", "fifo.so"}},
                                         {"load", {"fifo", "/" + std::string(1024, 'a')}},
                                         {"parameter", {"udp", "1"}},
                                         {"parameter", {"udp.", "1"}},
                                         {"parameter", {".x", "1"}},
                                         {"parameter", {"udp.x"}},
                                         {"parameter", {"udp.x", std::string(1024, 'a')}},
                                         {"skip_poll", {"tcp", "0"}},
                                         {"skip_poll", {"tcp", "1000001"}},
                                         {"skip_poll", {"tcp", "2x"}},
                                         {"forwarder", {"tcp", "0"}},
                                         {"forwarder", {"tcp", "-1", "1"}},
                                         {"forwarder", {"tcp", "0", "3-1"}},
                                         {"forwarder", {"tcp", "0", "0-99999"}},
                                         {"forwarder", {"tcp", "0", "0-4294967295"}},
                                         {"methods", {"tcp"}}}) {
    CAPTURE(row.key);
    Choices choices;
    CHECK(core::add_choice(row.key, row.words, choices) != "");
    CHECK_FALSE(choices.modules);
    CHECK(choices.parameters.empty());
    CHECK(choices.forwarders.empty());
  }
}

TEST_CASE("later choices replace earlier ones of the same name only") {
  Choices first;
  Choices later;
  CHECK(core::add_choice("modules", {"local", "tcp"}, first) == "");
  CHECK(core::add_choice("parameter", {"udp.lose", "1"}, first) == "");
  CHECK(core::add_choice("parameter", {"udp.linger_ms", "2"}, first) == "");
  CHECK(core::add_choice("off_node", {"secure"}, first) == "");
  CHECK(core::add_choice("forwarder", {"tcp", "0", "1-2"}, first) == "");
  CHECK(core::add_choice("parameter", {"udp.lose", "9"}, later) == "");
  CHECK(core::add_choice("off_node", {"none"}, later) == "");
  CHECK(core::add_choice("forwarder", {"tcp", "0", "3,5"}, later) == "");
  CHECK(core::add_choice("skip_poll", {"udp", "20"}, later) == "");
  core::add_choices(first, later);
  CHECK(chosen(first) == Words{"local", "tcp"});
  REQUIRE(first.parameters.size() == 2);
  CHECK(first.parameters[0].name == "linger_ms");
  CHECK(first.parameters[1].value == "9");
  REQUIRE(first.off_node);
  CHECK(first.off_node->empty());
  REQUIRE(first.forwarders.size() == 1);
  CHECK(first.forwarders[0].for_contexts == std::vector<std::uint32_t>{3, 5});
  REQUIRE(first.polls.size() == 1);
  CHECK(first.polls[0].each == 20);
}

TEST_CASE("the number of rows is bounded") {
  Choices choices;
  for (std::size_t i = 0; i < core::kChoicesMost; ++i) {
    CHECK(core::add_choice("parameter", {"udp.p" + std::to_string(i), "1"}, choices) == "");
  }
  CHECK(core::add_choice("parameter", {"udp.last", "1"}, choices) != "");
}

}  // namespace margay::nexus::test
