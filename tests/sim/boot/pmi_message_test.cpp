#include <doctest/doctest.h>

#include <random>

#include "sim/boot/pmi_message.hpp"

using margay::sim::format_process_mapping;
using margay::sim::from_pmi_word;
using margay::sim::parse_process_mapping;
using margay::sim::PmiMessage;
using margay::sim::to_pmi_word;

namespace {

PmiMessage parsed(std::string_view line) {
  PmiMessage message;
  REQUIRE_MESSAGE(PmiMessage::parse(line, message).ok(), line);
  return message;
}

bool refused(std::string_view line) {
  PmiMessage message;
  return !PmiMessage::parse(line, message).ok();
}

}  // namespace

TEST_CASE("the PMI lines of a real exchange are read") {
  const PmiMessage put = parsed("cmd=put kvsname=kvs_25629_0_195764537_vm key=card0 value=shm#/x;tcp#127.0.0.1:4000");
  CHECK(put.command() == "put");
  CHECK(put.text("value") == "shm#/x;tcp#127.0.0.1:4000");
  const PmiMessage missing = parsed("cmd=get_result rc=-1 msg=key_nosuch_not_found value=unknown");
  int rc = 0;
  CHECK(missing.number("rc", rc));
  CHECK(rc == -1);
  CHECK(parsed("cmd=get_result rc=0 msg=success value=(vector,(0,1,1))").text("value") == "(vector,(0,1,1))");
}

TEST_CASE("PMI lines are read leniently") {
  CHECK(parsed("rc=0  pmi_version=1 cmd=response_to_init unknown=x").command() == "response_to_init");
  CHECK(parsed("cmd=finalize_ack\r").command() == "finalize_ack");
  CHECK(parsed("cmd=abort exitcode=3 error_msg=it went wrong").text("error_msg") == "it went wrong");
  CHECK(parsed("cmd=put key=a value=b=c=d").text("value") == "b=c=d");
  CHECK(parsed("endcmd").command() == "endcmd");
  CHECK(parsed("mcmd=spawn").is_block());
  CHECK(parsed("key=value").command().empty());
}

TEST_CASE("invalid PMI lines are rejected") {
  CHECK(refused(""));
  CHECK(refused("   "));
  CHECK(refused("no_equals_sign"));
  CHECK(refused("=value"));
  CHECK(refused(std::string_view("cmd=put key=a\0b value=c", 23)));
  CHECK(refused("cmd=\x01"));
  CHECK(refused("cmd=put value=" + std::string(margay::sim::kMaxPmiLineBytes, 'x')));
  std::string many = "cmd=x";
  for (int i = 0; i < 100; ++i) many += " k" + std::to_string(i) + "=v";
  CHECK(refused(many));
}

TEST_CASE("an invalid number, or one out of range, is not read") {
  int number = 7;
  for (const char* line : {"cmd=x n=", "cmd=x n=1x", "cmd=x n=99999999999999", "cmd=x n=+1", "cmd=x m=1"}) {
    CHECK_FALSE(parsed(line).number("n", number));
  }
  CHECK(number == 7);
}

TEST_CASE("random bytes are parsed or rejected, without other faults") {
  std::mt19937 random(7);
  constexpr std::string_view kAlphabet = "cmd=put keyvalue0123456789 \n\r\0()-,\xff";
  for (int round = 0; round < 20000; ++round) {
    std::string line;
    const std::size_t length = random() % 80;
    for (std::size_t i = 0; i < length; ++i) line += kAlphabet[random() % kAlphabet.size()];
    PmiMessage message;
    if (PmiMessage::parse(line, message).ok()) CHECK(message.text("cmd") == message.text("cmd"));
    std::vector<std::uint32_t> nodes;
    if (parse_process_mapping(line, 8, nodes).ok()) CHECK(nodes.size() == 8);
  }
}

TEST_CASE("a process mapping is repeated until every rank is placed") {
  using Nodes = std::vector<std::uint32_t>;
  Nodes nodes;
  REQUIRE(parse_process_mapping("(vector,(0,1,1))", 2, nodes).ok());
  CHECK(nodes == Nodes{0, 0});
  REQUIRE(parse_process_mapping("(vector,(0,2,2))", 6, nodes).ok());
  CHECK(nodes == Nodes{0, 0, 1, 1, 0, 0});
  REQUIRE(parse_process_mapping("(vector,(0,1,2),(1,2,1))", 4, nodes).ok());
  CHECK(nodes == Nodes{0, 0, 1, 2});
  REQUIRE(parse_process_mapping("(vector, (5,1,1), (3,1,1))", 3, nodes).ok());
  CHECK(nodes == Nodes{0, 1, 0});
  for (const char* bad : {"", "(vector)", "(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(0,1))", "(vector,(0,1,1)",
                          "(vector,(0,1,1))x", "(matrix,(0,1,1))", "(vector,(-1,1,1))", "(vector,(0,99999999999,1))"}) {
    CHECK_FALSE(parse_process_mapping(bad, 2, nodes).ok());
  }
}

TEST_CASE("huge blocks cost no more than the ranks") {
  std::vector<std::uint32_t> nodes;
  REQUIRE(parse_process_mapping("(vector,(4294967295,4294967295,4294967295))", 3, nodes).ok());
  CHECK(nodes == std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("the mapping generated from a plan is read back as that plan") {
  for (const std::vector<std::uint32_t>& plan :
       {std::vector<std::uint32_t>{0}, {0, 0, 0, 0}, {0, 0, 1, 1}, {0, 0, 1}, {0, 1, 1, 2, 2}, {0, 1, 0, 1}}) {
    std::vector<std::uint32_t> nodes;
    const std::string text = format_process_mapping(plan);
    REQUIRE(parse_process_mapping(text, static_cast<std::uint32_t>(plan.size()), nodes).ok());
    CHECK_MESSAGE(nodes == plan, text);
  }
}

TEST_CASE("any text is one word of a line, and is read back") {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  for (const std::string& text : {std::string(), std::string("plain-1.2/x"), std::string("a b=c%41\n"), every}) {
    const std::string word = to_pmi_word(text);
    CHECK(from_pmi_word(word) == text);
    PmiMessage line;
    REQUIRE(PmiMessage::parse("cmd=x why=" + word + " rc=-1", line).ok());
    CHECK(line.text("why") == word);
    CHECK(line.text("rc") == "-1");
  }
  // Words of other implementations.
  for (const char* const word : {"%", "a%", "%4", "%zz", "100%_of"}) CHECK(from_pmi_word(word) == word);
}
