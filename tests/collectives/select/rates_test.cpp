// Tests of rates as text: written rates are read back, and incomplete ones are rejected with their name.
#include "collectives/cost/rates.hpp"

#include <string>

#include <doctest/doctest.h>

namespace margay::collectives {

TEST_CASE("rates are read back as they were written") {
  for (const Rates& rates : {usual_rates(), paragon_rates()}) {
    Rates read{};
    REQUIRE(parse_rates(to_text(rates), read).ok());
    CHECK(read == rates);
  }
  Rates read{};
  CHECK(parse_rates("turn=1e-6,shared=2:3,combined=4,between=5:6:7,inside=8:9:10", read).ok());
  CHECK(read.turn == 1e-6);
  CHECK(read.shared == Rates::Memory{2, 3});
  CHECK(read.between == Rates::Message{5, 6, 7});
  CHECK(read.inside == Rates::Message{8, 9, 10});
}

TEST_CASE("incomplete rates are rejected, by name") {
  const std::string others = "combined=1,shared=1:1,turn=1,between=1:1:1";
  Rates rates = usual_rates();
  const auto message_of = [&](const std::string& text) { return parse_rates(text, rates).sentence(); };
  CHECK(message_of("").find("'inside': it is missing") != std::string::npos);
  CHECK(message_of(others).find("'inside': it is missing") != std::string::npos);
  CHECK(message_of(others + ",inside=1:1:1,turn=2").find("'turn=2': it occurs twice") != std::string::npos);
  CHECK(message_of(others + ",inside=1:1:1,speed=2").find("'speed=2': the names are inside, between") !=
        std::string::npos);
  for (const char* wrong : {"inside=1:1", "inside=1:1:", "inside=1:1:1001", "inside=9e-16:1:1", "inside=1e308:1:1",
                            "inside=1:1:0", "inside=-1:1:1", "inside=1:nan:1", "inside=inf:1:1", "inside=1:1:1e999",
                            "inside=1:1:1s", "inside", "inside=::"}) {
    CAPTURE(wrong);
    CHECK(message_of(others + "," + wrong).find("it takes 3 numbers of seconds, each from 1e-15 to 1000, with") !=
          std::string::npos);
  }
  CHECK(message_of(others + ",inside=1:2:3:4").find("'4' is one number too many") != std::string::npos);
  CHECK(rates == usual_rates());
}

}  // namespace margay::collectives
