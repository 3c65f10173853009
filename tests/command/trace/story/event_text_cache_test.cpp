// Tests that cache texts equal newly made ones, for any definitions in between.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "command/trace/names/names.hpp"
#include "command/trace/story/event_text_cache.hpp"
#include "tests/command/hand_made_trace.hpp"

namespace margay::command::test {
namespace {

using made::HandMade;
using made::kTag7;
using made::kType;

// The same send, receive and calls, repeated.
HandMade repeated(std::uint64_t times) {
  HandMade made;
  for (std::uint64_t i = 1; i <= times; ++i) {
    const MessageIdentity message{0, 1, i};
    made.add(0, sim::TraceKind::mpi_enter);
    sim::TraceEvent& begin = made.add(0, sim::TraceKind::send_begin, message);
    begin.match_bits = kTag7;
    begin.bytes = 8;
    begin.b = kType;
    begin.detail = i;
    made.add(0, sim::TraceKind::kernel_send, message, portals::Kind::put, 0, kTag7).bytes = 8;
    made.add(1, sim::TraceKind::kernel_arrive, message, portals::Kind::put, 0, kTag7).bytes = 8;
    sim::TraceEvent& deposit = made.add(1, sim::TraceKind::kernel_deposit, message, portals::Kind::put, 0, kTag7);
    deposit.bytes = 8;
    deposit.detail = 8 * i;
    sim::TraceEvent& post = made.add(1, sim::TraceKind::post_receive);
    post.match_bits = kTag7;
    post.b = kType;
    post.bytes = 8 * (i % 2);
  }
  return made;
}

// Compares all entries, twice, and returns the number of texts.
std::size_t compare(const Trace& trace) {
  const TraceNames names(trace);
  const EventText event_text(trace, names);
  EventTextCache cache(event_text);
  std::set<std::string> texts;
  for (int turn = 0; turn < 2; ++turn) {
    for (const Trace::Entry& entry : trace.entries) {
      CHECK_EQ(cache.of(entry, nullptr), event_text.of(entry));
      CHECK_EQ(cache.message(entry), event_text.message(entry));
      texts.insert(event_text.of(entry));
    }
  }
  return texts.size();
}

TEST_CASE("remembered text: texts of different events are distinguished") {
  // One text of each kind, except that deposits differ by their offset, and receives by their room.
  CHECK_EQ(compare(repeated(4).trace), 4 + 4 + 2);
}

TEST_CASE("remembered text: a name that was defined in between is used from then on") {
  HandMade made = repeated(4);
  made.trace.files[0].definitions.push_back({sim::DefinitionKind::datatype, 9000, kType, 8, "pair"});
  made.trace.files[1].definitions.push_back({sim::DefinitionKind::datatype, 9000, kType, 8, "pair"});
  // One more text of send_begin and of the receive of 8 bytes; that of no bytes is posted only after the definition.
  CHECK_EQ(compare(made.trace), 4 + 1 + 4 + 3);
}

TEST_CASE("remembered text: a message has the name that its communicator had at the sender when it was sent") {
  HandMade made = repeated(2);
  made.trace.files[0].definitions.push_back(
      {sim::DefinitionKind::communicator, 3500, 0, std::uint64_t{2} << 32U, "another one"});
  CHECK_EQ(compare(made.trace), 4 + 2 + 2 + 3);
}

}  // namespace
}  // namespace margay::command::test
