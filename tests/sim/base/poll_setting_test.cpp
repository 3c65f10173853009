// Tests of the settings of wires' polling as users write them.
#include "sim/base/poll_setting.hpp"

#include <doctest/doctest.h>

#include <array>

namespace margay::sim {
namespace {

TEST_CASE("poll setting: valid forms, and back") {
  struct Row {
    const char* text;
    PollSetting setting;
  };
  for (const Row& row :
       {Row{"1", {PollMode::fixed, 1}}, Row{"20", {PollMode::fixed, 20}},
        Row{"100000000", {PollMode::fixed, kPollIntervalMax}}, Row{"adaptive", {PollMode::adaptive, 1}},
        Row{"block", {PollMode::block, 1}}, Row{"off", {PollMode::off, 1}}}) {
    CAPTURE(row.text);
    PollSetting setting{PollMode::off, 77};
    REQUIRE(parse_poll_setting(row.text, setting).ok());
    CHECK(setting == row.setting);
    CHECK(describe(setting) == row.text);
  }
}

TEST_CASE("poll setting: invalid ones fail and leave the result as it was") {
  for (const char* text : {"", "0", "-1", "+3", "1.5", "20 ", "fixed", "on", "Adaptive", "100000001",
                           "99999999999999999999", "0x10", "unknown"}) {
    CAPTURE(text);
    PollSetting setting{PollMode::block, 1};
    CHECK_FALSE(parse_poll_setting(text, setting).ok());
    CHECK(setting == PollSetting{PollMode::block, 1});
  }
}

TEST_CASE("poll setting: lists of wires, of which the last setting counts") {
  std::vector<NamedPollSetting> list;
  REQUIRE(parse_poll_settings("", list).ok());
  CHECK(list.empty());
  REQUIRE(parse_poll_settings("tcp=20,shm=adaptive,", list).ok());
  REQUIRE(list.size() == 2);
  CHECK(list[0].wire == "tcp");
  CHECK(list[0].setting == PollSetting{PollMode::fixed, 20});
  CHECK(list[1].wire == "shm");
  CHECK(list[1].setting.mode == PollMode::adaptive);
  std::vector<NamedPollSetting> twice;
  REQUIRE(parse_poll_settings("tcp=20,shm=3,tcp=4", twice).ok());
  REQUIRE(twice.size() == 2);
  CHECK(twice[1].wire == "tcp");
  CHECK(twice[1].setting.interval == 4);
  for (const char* text : {"tcp", "20", "=20", "tcp=", "tcp=0", "tcp:20", "tcp=20;shm=1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_poll_settings(text, list).ok());
    CHECK(list.size() == 2);
  }
}

TEST_CASE("poll setting: each mode has a name") {
  for (std::uint8_t mode = 0; mode < kPollModeCount; ++mode) CHECK(name(static_cast<PollMode>(mode)) != "unknown");
  CHECK(name(static_cast<PollMode>(kPollModeCount)) == "unknown");
}

}  // namespace
}  // namespace margay::sim
