// Tests of a portals program without a launcher: it is rank 0 of 1, and sends to itself. tests/sim/program/ranks.cpp
// tests several ranks.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "portals/memory/block.hpp"
#include "sim/program/program.hpp"

using namespace margay::sim;
using namespace margay::portals;

namespace {

constexpr PortalIndex kInbox = 1;
constexpr PortalIndex kAnswers = 2;

struct Started {
  Started() {
    const Status status = Program::start(program);
    REQUIRE_MESSAGE(status.ok(), status.sentence());
  }
  std::unique_ptr<Program> program;
  std::array<std::byte, 64> memory{};
  SingleBlock inbox{{memory.data(), memory.size()}};
  SingleBlock answers{Buffer{}};
};

bool mentions(const Status& status, const char* word) {
  return !status.ok() && status.sentence().find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("alone, a program is rank 0 of 1, reaches itself, and ends in order") {
  Started run;
  CHECK(run.program->rank() == 0);
  CHECK(run.program->size() == 1);
  CHECK(run.program->wire_to(0) == WireId::self);
  REQUIRE(run.program->table().attach(kInbox, run.inbox, {.acknowledge = true}).ok());
  REQUIRE(run.program->table().attach(kAnswers, run.answers, {.save = Save::header}).ok());
  UserData data{};
  data[0] = data[1] = data[11] = std::byte{0x5a};
  const std::array<std::byte, 3> body{std::byte{1}, std::byte{2}, std::byte{3}};
  std::vector<std::byte> copy(body.begin(), body.end());
  REQUIRE(run.program
              ->put({.portal = kInbox,
                     .match_bits = 7,
                     .return_portal = kAnswers,
                     .return_match_bits = 9,
                     .return_offset = 11,
                     .user_data = data},
                    Region(copy.data(), copy.size()))
              .ok());
  REQUIRE(run.program->wait_until([&] { return run.answers.messages() == 1; }).ok());
  CHECK(run.memory[2] == std::byte{3});
  CHECK(run.inbox.saved_header().user_data == data);
  CHECK(run.inbox.saved_header().match_bits == 7);
  const Header& answer = run.answers.saved_header();
  CHECK(answer.kind == Kind::acknowledgment);
  CHECK(saved_of(answer) == Saved::both);
  CHECK(answer.user_data[1] == std::byte{0x5a});  // byte 0 contains the saved parts
  CHECK(answer.match_bits == 9);
  CHECK(answer.offset == 11);
  CHECK(answer.return_length == 3);
  CHECK(run.program->changed() == &run.inbox);
  CHECK(run.program->changed() == &run.answers);
  CHECK(run.program->changed() == nullptr);
  CHECK(run.program->barrier().ok());
  CHECK(run.program->finish().ok());
}

TEST_CASE("an impossible call fails with a message, and nothing is sent") {
  Started run;
  CHECK(mentions(run.program->put({.destination = 1}), "rank 1 is not in this job"));
  CHECK(mentions(run.program->put({.portal = kControlPortal}), "portal 63"));
  CHECK(mentions(run.program->put({.portal = 200}), "portal 200"));
  CHECK(mentions(run.program->put({.return_portal = 63}), "return portal 63"));
  CHECK(mentions(run.program->get({.portal = 1}, 8), "a get needs a return portal"));
  CHECK(mentions(run.program->table().attach(kControlPortal, run.inbox, {}), "margay's own"));
  CHECK(run.program->registers().sent(0) == 0);
  CHECK(run.program->finish().ok());
}

TEST_CASE("a wait with a limit ends") {
  Started run;
  const Status status = run.program->wait_until([] { return false; }, 20'000'000);
  CHECK(mentions(status, "waited 20 ms"));
  CHECK(run.program->finish().ok());
}

TEST_CASE("settle gives up when a portal holds a message, and works again once there is room") {
  Started run;
  REQUIRE(run.program->table().attach(kInbox, run.inbox, {}).ok());
  run.program->hold_when_no_room(kInbox);
  std::array<std::byte, 64> body{};
  Sending first;
  Sending second;
  REQUIRE(run.program->start_put({.portal = kInbox}, Region(body.data(), body.size()), first).ok());
  REQUIRE(run.program->start_put({.portal = kInbox}, Region(body.data(), body.size()), second).ok());
  CHECK(mentions(run.program->settle(50'000'000), "1 messages of the job are neither delivered nor dropped"));
  CHECK(run.inbox.messages() == 1);
  run.inbox.reset_local_offset();
  CHECK(run.program->settle().ok());
  CHECK(run.inbox.messages() == 2);
  CHECK(first.done());
  CHECK(second.done());
  CHECK(run.program->finish().ok());
}

TEST_CASE("compute hands the kernel to the coprocessor and takes it back") {
  Started run;
  CHECK(run.program->has_bypass());
  bool ran = false;
  run.program->compute([&] { ran = true; });
  CHECK(ran);
  CHECK(run.program->drops(DropReason::no_match) == 0);
  CHECK(run.program->finish().ok());
}

TEST_CASE("a program may be destroyed without finish(), and before its descriptors") {
  Started run;
  REQUIRE(run.program->table().attach(kInbox, run.inbox, {}).ok());
  REQUIRE(run.program->put({.portal = kInbox}).ok());
  run.program->progress();
  run.program.reset();
  CHECK(run.inbox.messages() == 1);
}
