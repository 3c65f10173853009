// Tests of the message coprocessor: it polls for an owner that leaves the lock at an unfavourable moment.
#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <semaphore>

#include "sim/base/clock.hpp"
#include "sim/kernel/coprocessor.hpp"
#include "sim/wire/self_wire.hpp"

namespace margay::sim::test {
namespace {

struct WithCoprocessor {
  WithCoprocessor() : rung(::eventfd(0, EFD_CLOEXEC)) {
    Coprocessor::Settings settings;
    settings.lock = &lock;
    settings.bell = &bell;
    settings.kernel = &kernel;
    settings.wake_descriptor = rung;
    REQUIRE(coprocessor
                .start(settings,
                       [this] {
                         rounds.release();
                         return false;
                       })
                .ok());
    // At its start the coprocessor behaves as after a ring.
    await_ring();
  }
  ~WithCoprocessor() {
    coprocessor.stop();
    ::close(rung);
  }
  // Waits until the coprocessor has noticed a ring.
  void await_ring() const {
    std::uint64_t rings = 0;
    REQUIRE_EQ(::read(rung, &rings, sizeof rings), sizeof rings);
  }

  int rung;
  TransmissionList finished;
  RealClock clock;
  Recorder recorder{clock};
  SelfWire self{{0, 0}, finished};
  Kernel kernel{{0, 0}, {{&self}}, finished, recorder};
  BiasedLock lock;
  BellData bell;
  std::counting_semaphore<> rounds{0};
  Coprocessor coprocessor;
};

TEST_CASE("coprocessor: it also works for an owner that is preempted between its last report and its leaving") {
  for (int i = 0; i < 10; ++i) {
    WithCoprocessor test;
    test.lock.owner_enter();
    test.coprocessor.arm();
    // A peer rings several times. Each ring is noticed before the next one, so the coprocessor has tried to enter in
    // between, and has found the owner inside.
    for (int ring = 0; ring < 3; ++ring) {
      BellRinger(test.bell, false).ring();
      test.await_ring();
    }
    while (test.rounds.try_acquire()) continue;
    test.lock.owner_leave();
    REQUIRE(test.rounds.try_acquire_for(std::chrono::seconds(10)));
  }
}

TEST_CASE("coprocessor: a ring during the creation of its thread is noticed") {
  for (int i = 0; i < 50; ++i) {
    WithCoprocessor test;
    CHECK(test.rounds.try_acquire_for(std::chrono::seconds(10)));
  }
}

// An owner whose wait is over takes no more messages. Of two arrived messages it leaves one, for which no peer rings
// again, so the coprocessor has to take it.
TEST_CASE("coprocessor: it takes a message that the owner left on the wire at the end of its wait") {
  WithCoprocessor test;
  test.lock.owner_enter();
  portals::Header header;
  header.kind = portals::Kind::put;
  header.destination = test.kernel.me();
  for (int message = 0; message < 2; ++message) REQUIRE(test.kernel.try_send(header, {}));
  BellRinger(test.bell, false).ring();
  test.await_ring();
  for (int look = 0; look < 2; ++look) static_cast<void>(test.kernel.progress(1));
  while (test.rounds.try_acquire()) continue;
  test.lock.owner_leave();
  CHECK(test.rounds.try_acquire_for(std::chrono::seconds(10)));
}

}  // namespace
}  // namespace margay::sim::test
