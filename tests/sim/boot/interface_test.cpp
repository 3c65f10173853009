#include "sim/boot/interface.hpp"

#include <doctest/doctest.h>

namespace margay::sim {

TEST_CASE("an address is accepted as such; a name and a network are found among the interfaces") {
  std::string address;
  CHECK(choose_address("127.0.0.1", address).ok());
  CHECK(address == "127.0.0.1");
  CHECK(choose_address("::1", address).ok());
  CHECK(address == "::1");
  REQUIRE(choose_address("lo", address).ok());
  CHECK(address == "127.0.0.1");
  REQUIRE(choose_address("127.0.0.0/8", address).ok());
  CHECK(address == "127.0.0.1");
}

TEST_CASE("an unknown interface is an error that names it and the existing ones") {
  std::string address = "untouched";
  const portals::Status status = choose_address("nosuch0", address);
  REQUIRE_FALSE(status.ok());
  CHECK(status.sentence().find("nosuch0") != std::string::npos);
  CHECK(status.sentence().find("lo (127.0.0.1)") != std::string::npos);
  CHECK(address == "untouched");
  CHECK_FALSE(choose_address("203.0.113.0/24", address).ok());
  CHECK_FALSE(choose_address("127.0.0.0/33", address).ok());
  CHECK_FALSE(choose_address("127.0.0.0/", address).ok());
}

TEST_CASE("without a request the result is one numeric address of this host") {
  std::string address;
  CHECK(choose_address("", address).ok());
  std::string again;
  CHECK(choose_address(address, again).ok());
  CHECK(again == address);
}

}  // namespace margay::sim
