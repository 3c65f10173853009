#include "portals/base/header.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "portals/base/verdict.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/base/header");

TEST_CASE("'user data (twelve bytes)'") {
  CHECK(Header{}.user_data.size() == 12);
}

TEST_CASE("a message requests no answer by default") {
  CHECK(Header{}.return_portal == kNoPortal);
}

TEST_CASE("every value has a distinct name") {
  std::set<std::string> names;
  for (std::uint8_t kind = 0; kind < kKindCount; ++kind) names.emplace(name(static_cast<Kind>(kind)));
  CHECK(names.size() == kKindCount);
  names.clear();
  for (unsigned saved = 0; saved < 4; ++saved) names.emplace(name(static_cast<Saved>(saved)));
  CHECK(names.size() == 4);
  names.clear();
  for (unsigned reason = 0; reason < kDropReasonCount; ++reason) names.emplace(name(static_cast<DropReason>(reason)));
  CHECK(names.size() == kDropReasonCount);
  CHECK(names.count("unknown reason") == 0);
  names.clear();
  for (unsigned passed = 0; passed <= static_cast<unsigned>(Passed::taken); ++passed) {
    names.emplace(name(static_cast<Passed>(passed)));
  }
  CHECK(names.size() == 7);
  // A value from a broken wire has a name too.
  CHECK_FALSE(name(static_cast<Kind>(200)).empty());
  CHECK_FALSE(name(static_cast<DropReason>(200)).empty());
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
