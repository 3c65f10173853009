// Tests of messages that arrived while their receive was neither searching nor in the list, from a hand-made trace.
#include "command/trace/story/fate.hpp"

#include <doctest/doctest.h>

#include "command/trace/names/names.hpp"
#include "command/trace/story/event_text.hpp"
#include "command/trace/story/format.hpp"
#include "tests/command/hand_made_trace.hpp"

namespace margay::command::test {
namespace {

using made::HandMade;
using made::kMessage;
using made::kRequest;
using made::kTag7;

constexpr std::uint64_t kTag8 = std::uint64_t{8} << 32U;
constexpr std::uint64_t kAnyTag = std::uint64_t{0x7fff'ffff} << 32U;
constexpr MessageIdentity kOther{0, 1, 4};

struct Posting : HandMade {
  Posting() { add(1, sim::TraceKind::mpi_enter).a = 1; }
  void post(std::uint64_t bits, std::uint32_t request = kRequest, std::uint64_t ignored = 0) {
    sim::TraceEvent& event = add(1, sim::TraceKind::post_receive, {0, 1, 0});
    event.match_bits = bits;
    event.detail = ignored;
    event.a = request;
  }
  void miss(std::uint32_t request = kRequest) { add(1, sim::TraceKind::search_miss, {0, 1, 0}).a = request; }
  void comes(MessageIdentity message, std::uint64_t bits, std::uint32_t owner) {
    add(1, sim::TraceKind::kernel_arrive, message, portals::Kind::put, 0, bits).bytes = 4;
    add(1, sim::TraceKind::kernel_match, message, portals::Kind::put, 0, bits).b = owner;
  }
  [[nodiscard]] MissedReceive missed() const {
    const Messages messages(trace);
    return missed_receive(trace, messages, messages.story(kMessage));
  }
};

TEST_CASE(
    "story: a message that the heap takes between a receive's search and its insertion was lost to that receive") {
  Posting posting;
  posting.post(kTag7);
  posting.miss();
  posting.comes(kOther, kTag8, mpi_adi::kOwnerReceive);  // with another tag, for another receive
  posting.comes(kMessage, kTag7, mpi_adi::kOwnerHeap);
  const MissedReceive missed = posting.missed();
  CHECK(missed.posted == 1);
  CHECK(missed.searched == 2);
  const TraceNames names(posting.trace);
  const Messages messages(posting.trace);
  const std::string text =
      format_story(posting.trace, messages, EventText(posting.trace, names), messages.story(kMessage));
  CHECK(text.find("A receive that accepts it (request 3) had searched the heap 4.00 us before it came, and entered the "
                  "match list after it: the posting was not atomic.") != std::string::npos);
  CHECK(text.find("no unexpected message is the one") != std::string::npos);  // the search is one of its steps
}

TEST_CASE("story: a message is not lost to a receive that has other criteria or a message, was posted, or found it") {
  Posting posting;
  SUBCASE("another tag") {
    posting.post(kTag8);
    posting.miss();
  }
  SUBCASE("it has a message already") {
    posting.post(kTag7);
    posting.miss();
    posting.comes(kOther, kTag7, mpi_adi::kOwnerReceive);
  }
  SUBCASE("it accepted any tag, and has another message") {
    posting.post(kTag7, kRequest, kAnyTag);
    posting.miss();
    posting.comes(kOther, kTag8, mpi_adi::kOwnerReceive);
  }
  SUBCASE("a later posting of the call is under way") {
    posting.post(kTag7, kRequest);
    posting.miss(kRequest);
    posting.post(kTag8, kRequest + 1);
    posting.miss(kRequest + 1);
  }
  SUBCASE("the later one has found another message") {
    posting.post(kTag7, kRequest);
    posting.miss(kRequest);
    posting.post(kTag7, kRequest + 1);
    posting.add(1, sim::TraceKind::search_hit, kOther).a = kRequest + 1;
  }
  SUBCASE("its call is over") {
    posting.post(kTag7);
    posting.miss();
    posting.add(1, sim::TraceKind::mpi_leave);
    posting.add(1, sim::TraceKind::mpi_enter).a = 1;
  }
  SUBCASE("it was in the list") {
    posting.post(kTag7);
    posting.miss();
    posting.comes(kMessage, kTag7, mpi_adi::kOwnerReceive);
    CHECK(posting.missed().posted == MessageStory::kNone);
    return;
  }
  posting.comes(kMessage, kTag7, mpi_adi::kOwnerHeap);
  CHECK(posting.missed().posted == MessageStory::kNone);
}

}  // namespace
}  // namespace margay::command::test
