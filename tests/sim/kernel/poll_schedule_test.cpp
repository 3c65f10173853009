// Tests of the kernel's polling of several wires, over scripted wires and a virtual clock: intervals, selective
// polling, threads, counts and events.
#include "sim/kernel/poll_schedule.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "portals/memory/block.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/kernel.hpp"
#include "tests/sim/scripted_wire.hpp"

namespace margay::sim::test {
namespace {

constexpr portals::PortalIndex kPortal = 2;

// Rank 0, with rank 1 in its node and rank 2 in another one. A poll of tcp takes 300 ns, one of shm 10 ns.
struct World {
  World() : kernel({0, 0}, std::vector<Wire*>{&self, &shm, &tcp}, finished, recorder) {
    portals::Options options;
    options.save = portals::Save::body;
    options.offset_by = portals::OffsetBy::sender;
    REQUIRE(kernel.table().attach(kPortal, block, options).ok());
    self.hint(true, false);
    for (ScriptedWire* const wire : {&shm, &tcp}) wire->hint(false, false);
    shm.polling = [this] { clock.advance_ns(10); };
    tcp.polling = [this] { clock.advance_ns(300); };
  }
  void bring(ScriptedWire& wire, std::uint32_t peer) {
    portals::Header header;
    header.portal = kPortal;
    wire.bring(peer, ++brought[peer], header, nothing);
  }
  // Polls of tcp in so many rounds.
  int polls_in(int rounds) {
    const int before = tcp.polls;
    for (int round = 0; round < rounds; ++round) static_cast<void>(kernel.progress());
    return tcp.polls - before;
  }
  PollCounts counts(std::string_view wire) {
    PollCounts out;
    REQUIRE(kernel.poll_counts(wire, out).ok());
    return out;
  }

  VirtualClock clock{1};
  Recorder recorder{clock};
  TransmissionList finished;
  ScriptedWire self{finished, WireId::self};
  ScriptedWire shm{finished, WireId::shm};
  ScriptedWire tcp{finished, WireId::tcp};
  std::vector<std::byte> nothing;
  std::array<std::uint64_t, 3> brought{};
  std::array<std::byte, 32> memory{};
  portals::SingleBlock block{portals::Buffer{memory.data(), memory.size()}};
  Kernel kernel;
};

TEST_CASE("poll schedule: a fixed interval counts rounds exactly, whatever arrives") {
  World world;
  REQUIRE(world.kernel.set_polling("tcp", {PollMode::fixed, 20}).ok());
  CHECK(world.polls_in(200) == 10);
  world.bring(world.tcp, 2);
  CHECK(world.polls_in(200) == 10 + 1);  // the poll that found the message polls once more for the next one
  REQUIRE(world.kernel.set_polling("tcp", {PollMode::fixed, 20}).ok());
  CHECK(world.polls_in(1) == 1);
  world.kernel.time_passed();  // a yield
  CHECK(world.polls_in(19) == 0);
  CHECK(world.polls_in(1) == 1);
  CHECK(world.kernel.set_polling("tcp", {PollMode::fixed, 1}).ok());
  CHECK(world.polls_in(20) == 20);
  CHECK(world.counts("tcp").interval == 1);
  CHECK(world.block.messages() == 1);
}

TEST_CASE("poll schedule: a wake-up polls each wire") {
  World world;
  REQUIRE(world.kernel.set_polling("tcp", {PollMode::fixed, 1000}).ok());
  CHECK(world.polls_in(10) == 1);
  world.kernel.time_passed(true);
  CHECK(world.polls_in(1) == 1);
  CHECK(world.polls_in(100) == 0);
}

TEST_CASE("poll schedule: the adaptive interval follows the traffic of both wires") {
  World world;
  const auto rounds = [&world](int count, int fast, int slow) {
    for (int round = 1; round <= count; ++round) {
      if (fast != 0 && round % fast == 0) world.bring(world.shm, 1);
      if (slow != 0 && round % slow == 0) world.bring(world.tcp, 2);
      static_cast<void>(world.kernel.progress());
    }
  };
  CHECK(world.counts("tcp").interval == PollInterval::kLeast);
  rounds(100'000, 10, 0);
  const std::uint32_t silent = world.counts("tcp").interval;
  CHECK(silent >= 512);
  rounds(20'000, 0, 100);
  CHECK(world.counts("tcp").interval == PollInterval::kLeast);
  rounds(50'000, 10, 200);
  const std::uint32_t mixed = world.counts("tcp").interval;
  CHECK(mixed > PollInterval::kLeast);
  CHECK(mixed < silent);
  // Each message was delivered.
  rounds(4096, 0, 0);
  CHECK(world.block.messages() == world.brought[1] + world.brought[2]);
}

TEST_CASE("poll schedule: counts of polls, hits and wasted time") {
  World world;
  REQUIRE(world.kernel.set_polling("tcp", {PollMode::fixed, 10}).ok());
  world.bring(world.tcp, 2);
  world.bring(world.shm, 1);
  CHECK(world.polls_in(1) == 2);
  CHECK(world.polls_in(99) == 9);
  const PollCounts tcp = world.counts("tcp");
  CHECK(tcp.polls == 10);
  CHECK(tcp.hits == 1);
  CHECK(tcp.wasted_ns <= 9 * 300);
  CHECK(tcp.wasted_ns >= 300);
  const PollCounts shm = world.counts("shm");
  CHECK(shm.polls == 100);
  CHECK(shm.hits == 1);
  CHECK(shm.wasted_ns == 99 * 10);
  // The counts continue through changes of the setting.
  REQUIRE(world.kernel.set_polling("shm", {PollMode::fixed, 5}).ok());
  static_cast<void>(world.polls_in(50));
  CHECK(world.counts("shm").polls == 110);
  REQUIRE(world.kernel.set_polling("shm", {PollMode::fixed, 1}).ok());
  static_cast<void>(world.polls_in(50));
  CHECK(world.counts("shm").polls == 160);
}

TEST_CASE("poll schedule: a wire that is off keeps its messages, until it is on again") {
  World world;
  REQUIRE(world.kernel.switch_polling("tcp", false).ok());
  world.bring(world.tcp, 2);
  world.bring(world.tcp, 2);
  CHECK(world.polls_in(1000) == 0);
  CHECK(world.kernel.polling().switched_off() == "tcp");
  CHECK(world.counts("tcp").mode == static_cast<std::uint32_t>(PollMode::off));
  CHECK(world.counts("tcp").interval == 0);
  world.kernel.time_passed(true);
  CHECK(world.polls_in(100) == 0);
  CHECK_FALSE(world.kernel.polling().is_awaited(world.tcp));
  REQUIRE(world.kernel.switch_polling("tcp", true).ok());
  static_cast<void>(world.polls_in(8));
  CHECK(world.block.messages() == 2);
  CHECK(world.kernel.polling().switched_off().empty());
  // The end of a process switches all wires on.
  REQUIRE(world.kernel.switch_polling("tcp", false).ok());
  REQUIRE(world.kernel.switch_polling("shm", false).ok());
  CHECK(world.kernel.polling().switched_off() == "shm, tcp");
  world.kernel.poll_all_wires();
  world.bring(world.tcp, 2);
  world.bring(world.shm, 1);
  static_cast<void>(world.polls_in(8));
  CHECK(world.block.messages() == 4);
}

TEST_CASE("poll schedule: a wire that is off is polled while messages of this process wait on it") {
  World world;
  Transmission out;
  out.header.destination = {0, 2};
  out.owner_tag_kind = kOwnerKernel + 1;
  world.kernel.send(out);
  REQUIRE(world.kernel.switch_polling("tcp", false).ok());
  CHECK(world.polls_in(80) == 10);
  CHECK(world.kernel.polling().is_awaited(world.tcp));
  world.tcp.end(Transmission::State::sent);
  CHECK(world.polls_in(80) == 0);
  CHECK(world.kernel.next_finished() == &out);
}

TEST_CASE("poll schedule: a wire is named by its name, and an unknown one is an error that names them") {
  World world;
  CHECK(world.kernel.polling().describe_settings() == "shm=1,tcp=adaptive");
  CHECK_FALSE(world.kernel.set_polling("udp", {PollMode::fixed, 2}).ok());
  CHECK_FALSE(world.kernel.set_polling("self", {PollMode::fixed, 2}).ok());
  CHECK_FALSE(world.kernel.switch_polling("", true).ok());
  PollCounts counts;
  CHECK_FALSE(world.kernel.poll_counts("unknown", counts).ok());
  // A wire that margay has, but this process does not.
  CHECK(world.kernel.set_polling("virtual", {PollMode::fixed, 2}).ok());
  CHECK(world.counts("virtual").polls == 0);
  CHECK(world.kernel.polling().describe_settings() == "shm=1,tcp=adaptive");
  REQUIRE(world.kernel.set_polling("tcp", {PollMode::off, 1}).ok());
  REQUIRE(world.kernel.set_polling("shm", {PollMode::fixed, 3}).ok());
  CHECK(world.kernel.polling().describe_settings() == "shm=3,tcp=off");
}

TEST_CASE("poll schedule: a thread blocks only where it can, and then the wire is polled when it has something") {
  World world;
  const PollSetting block{PollMode::block, 1};
  CHECK_FALSE(world.kernel.set_polling("tcp", block).ok());  // no descriptor
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) == 0);
  world.tcp.descriptor = ends[0];
  CHECK_FALSE(world.kernel.set_polling("tcp", block).ok());  // nothing wakes the process
  CHECK(world.kernel.polling().describe_settings() == "shm=1,tcp=adaptive");
  world.kernel.polling().set_wake([] {});
  REQUIRE(world.kernel.set_polling("tcp", block).ok());
  CHECK(world.polls_in(1000) == 0);
  world.bring(world.tcp, 2);
  REQUIRE(::write(ends[1], "x", 1) == 1);
  while (world.polls_in(1) == 0) ::sched_yield();
  CHECK(world.block.messages() == 1);
  char byte = 0;
  REQUIRE(::read(ends[0], &byte, 1) == 1);
  // The thread may have seen the byte once more before it was read.
  int tries = 0;
  while (world.polls_in(100) != 0 && ++tries < 100) ::sched_yield();
  CHECK(tries < 100);
  REQUIRE(world.kernel.set_polling("tcp", {PollMode::fixed, 10}).ok());
  CHECK(world.polls_in(100) == 10);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("poll schedule: each change of an interval is an event") {
  World world;
  REQUIRE(world.recorder.open_memory().ok());
  REQUIRE(world.kernel.set_polling("tcp", {PollMode::fixed, 20}).ok());
  REQUIRE(world.kernel.set_polling("tcp", {PollMode::fixed, 20}).ok());
  REQUIRE(world.kernel.switch_polling("tcp", false).ok());
  REQUIRE(world.kernel.switch_polling("tcp", true).ok());
  REQUIRE(world.kernel.set_polling("tcp", {PollMode::adaptive, 1}).ok());
  for (int round = 1; round <= 50'000; ++round) {
    if (round % 10 == 0) world.bring(world.shm, 1);
    static_cast<void>(world.kernel.progress());
  }
  std::vector<TraceEvent> changes;
  for (const TraceEvent& event : world.recorder.events()) {
    if (event.kind == TraceKind::poll_interval_changed) changes.push_back(event);
  }
  REQUIRE(changes.size() >= 5);
  CHECK(changes[0].a == 20);
  CHECK(changes[0].b == PollInterval::kLeast);
  CHECK(changes[0].wire == static_cast<std::uint8_t>(WireId::tcp));
  CHECK(changes[1].a == 0);
  CHECK(changes[1].reason == static_cast<std::uint8_t>(PollMode::off));
  CHECK(changes[2].a == 20);
  CHECK(changes[3].a == PollInterval::kLeast);
  CHECK(changes[3].reason == static_cast<std::uint8_t>(PollMode::adaptive));
  for (std::size_t i = 1; i < changes.size(); ++i) CHECK(changes[i].b == changes[i - 1].a);
  CHECK(changes.back().detail == 300);
  CHECK(changes.size() < 16);
}

}  // namespace
}  // namespace margay::sim::test
