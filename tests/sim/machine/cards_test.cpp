// Tests of the comparison of cards.
#include "sim/machine/cards.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace margay::sim::test {
namespace {

TEST_CASE("two cards have the same host whatever their ports") {
  struct Row {
    std::string_view one;
    std::string_view other;
    bool same;
  };
  for (const Row& row : {
           Row{"tcp#127.0.0.1:41234", "tcp#127.0.0.1:41234", true},
           Row{"tcp#127.0.0.1:41234", "tcp#127.0.0.1:9", true},
           Row{"tcp#127.0.0.1:41234", "tcp#127.0.0.11:41234", false},
           Row{"tcp#[::1]:41234", "tcp#[::1]:41235", true},
           Row{"tcp#[::1]:41234", "tcp#[::2]:41234", false},
           Row{"tcp#127.0.0.1:41234", "", false},
           Row{"", "", false},
       }) {
    CAPTURE(row.one);
    CAPTURE(row.other);
    CHECK_EQ(have_same_host(row.one, row.other), row.same);
    CHECK_EQ(have_same_host(row.other, row.one), row.same);
  }
}

}  // namespace
}  // namespace margay::sim::test
