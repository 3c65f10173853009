// Tests of the call number in a collective message: ordered and persistent calls never share a number, numbers wrap,
// and their order is known across the wrap.
#include "collectives/portal/call_number.hpp"

#include <doctest/doctest.h>

#include <set>

namespace margay::collectives {

TEST_CASE("calls in order: each 64th is a gate, and later ones are recognised across the wrap") {
  CHECK_FALSE(CallNumber::in_order(0).is_gate());
  CHECK(CallNumber::in_order(63).is_gate());
  CHECK_FALSE(CallNumber::in_order(64).is_gate());
  for (const std::uint64_t made : {std::uint64_t{5}, (std::uint64_t{1} << 31) - 1, (std::uint64_t{1} << 31) + 3,
                                   (std::uint64_t{1} << 32) - 2, (std::uint64_t{1} << 40) + 7}) {
    CAPTURE(made);
    CHECK(CallNumber::in_order(made).comes_after_calls(made));
    CHECK(CallNumber::in_order(made + 1000).comes_after_calls(made));
    CHECK_FALSE(CallNumber::in_order(made - 1).comes_after_calls(made));
    CHECK_FALSE(CallNumber::in_order(made).is_persistent());
  }
}

TEST_CASE(
    "persistent calls: the first start is a gate, then each 64th; channels and starts are recognised across wraps") {
  CHECK(CallNumber::started(3, 0).is_gate());
  CHECK_FALSE(CallNumber::started(3, 1).is_gate());
  CHECK(CallNumber::started(3, 64).is_gate());
  CHECK(CallNumber::started(CallNumber::kChannelsAhead, 1).is_gate());
  for (const std::uint64_t channel : {std::uint64_t{0}, (std::uint64_t{1} << 20) - 1, (std::uint64_t{1} << 20) + 9}) {
    for (const std::uint64_t starts :
         {std::uint64_t{1}, std::uint64_t{2047}, std::uint64_t{2048}, std::uint64_t{1} << 33}) {
      CAPTURE(channel);
      CAPTURE(starts);
      const CallNumber number = CallNumber::started(channel, starts);
      CHECK(number.is_persistent());
      CHECK(number.channel() == CallNumber::channel_of(channel));
      CHECK(number.comes_after_starts(starts));
      CHECK_FALSE(number.comes_after_starts(starts + 1));
      CHECK(CallNumber::started(channel, starts + 64).comes_after_starts(starts));
      CHECK(number.comes_after_channels(channel));
      CHECK_FALSE(number.comes_after_channels(channel + 1));
      CHECK(CallNumber::of_message(number.word()) == number);
    }
  }
}

TEST_CASE("no two concurrent calls have the same number") {
  std::set<std::uint32_t> words;
  for (std::uint64_t call = 0; call < 200; ++call) CHECK(words.insert(CallNumber::in_order(call).word()).second);
  for (std::uint64_t channel = 0; channel < 200; ++channel) {
    for (std::uint64_t start = 0; start < 200; ++start) {
      CHECK(words.insert(CallNumber::started(channel, start).word()).second);
    }
  }
}

}  // namespace margay::collectives
