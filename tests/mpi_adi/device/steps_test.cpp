// Tests of routines: those that wait in place and those that suspend, nested ones, and ones destroyed before their end.
#include "mpi_adi/device/steps.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace margay::mpi_adi {
namespace {

// The records of routines, and the condition for which they wait.
struct RoutineWorld {
  FramePool pool;
  std::vector<std::string> reported;
  int arrived = 0;  // the number of arrived messages
  int polled = 0;   // the number of tests for them
  int waited = 0;   // the number of waits in place
  int objects = 0;  // the number of objects in frames
};

struct RoutineContext {
  RoutineWorld& world;
  Flow& flow;
  [[nodiscard]] FramePool& frames() const { return world.pool; }
};

// Waits until `number` messages have arrived.
class MessagesArrived : public Awaitable<MessagesArrived> {
 public:
  MessagesArrived(RoutineContext& context, int number) : context_(context), number_(number) {}
  [[nodiscard]] bool advance() const {
    ++context_.world.polled;
    return context_.world.arrived >= number_;
  }
  [[nodiscard]] Flow& flow() const { return context_.flow; }
  [[nodiscard]] int messages() const { return 1; }

 private:
  RoutineContext& context_;
  int number_;
};

struct KeptInFrame {
  explicit KeptInFrame(RoutineWorld& of) : world(of) { ++world.objects; }
  ~KeptInFrame() { --world.objects; }
  KeptInFrame(const KeptInFrame&) = delete;
  KeptInFrame& operator=(const KeptInFrame&) = delete;
  RoutineWorld& world;
};

Steps inner(RoutineContext& context, int number) {
  const KeptInFrame object(context.world);
  co_await MessagesArrived(context, number);
  context.world.reported.push_back("inner " + std::to_string(number));
}

Steps outer(RoutineContext& context) {
  const KeptInFrame object(context.world);
  context.world.reported.emplace_back("begins");
  co_await inner(context, 1);
  co_await inner(context, 2);
  co_await MessagesArrived(context, 3);
  context.world.reported.emplace_back("ends");
}

template <std::size_t kBytes>
Steps wide(RoutineContext& context, std::set<const void*>& places) {
  std::array<char, kBytes> room{};
  places.insert(room.data());
  room[0] = 1;
  co_await MessagesArrived(context, 0);
  room[kBytes - 1] = room[0];
}

}  // namespace

TEST_CASE("a routine runs to its end at once if its messages are there") {
  RoutineWorld world;
  world.arrived = 3;
  Flow flow(world.pool, nullptr);
  RoutineContext context{world, flow};
  const Steps routine = outer(context);
  CHECK(routine.done());
  CHECK(flow.go_on());
  CHECK(world.reported == std::vector<std::string>{"begins", "inner 1", "inner 2", "ends"});
  CHECK(world.polled == 3);
  CHECK(world.objects == 0);
}

TEST_CASE("a routine suspends where it waits, continues when its message is there, and resumes its caller") {
  RoutineWorld world;
  Flow flow(world.pool, nullptr);
  RoutineContext context{world, flow};
  Steps routine = outer(context);
  CHECK_FALSE(routine.done());
  CHECK_FALSE(flow.go_on());
  CHECK(world.reported == std::vector<std::string>{"begins"});
  CHECK(world.objects == 2);
  world.arrived = 1;
  CHECK_FALSE(flow.go_on());
  CHECK(world.reported.back() == "inner 1");
  world.arrived = 3;
  CHECK(flow.go_on());
  CHECK(routine.done());
  CHECK(world.reported == std::vector<std::string>{"begins", "inner 1", "inner 2", "ends"});
  CHECK(world.objects == 0);
}

TEST_CASE("a routine that is destroyed in the middle destroys the routines that it called") {
  RoutineWorld world;
  Flow flow(world.pool, nullptr);
  RoutineContext context{world, flow};
  {
    const Steps routine = outer(context);
    CHECK(world.objects == 2);
  }
  CHECK(world.objects == 0);
}

TEST_CASE("a routine that waits in place never suspends") {
  RoutineWorld world;
  struct Place final : Waits {
    explicit Place(RoutineWorld& of) : world(of) {}
    void wait(Until done, int messages) override {
      CHECK(messages == 1);
      ++world.waited;
      while (!done()) ++world.arrived;
    }
    RoutineWorld& world;
  } place(world);
  Flow flow(world.pool, &place);
  RoutineContext context{world, flow};
  CHECK(outer(context).done());
  CHECK(world.waited == 3);
  run(MessagesArrived(context, 5));
  CHECK(world.arrived == 5);
}

TEST_CASE("frames are reused, except those too large for the pool") {
  RoutineWorld world;
  Flow flow(world.pool, nullptr);
  RoutineContext context{world, flow};
  std::set<const void*> places;
  for (int i = 0; i < 100; ++i) CHECK(wide<500>(context, places).done());
  CHECK(places.size() == 1);
  for (int i = 0; i < 10; ++i) CHECK(wide<100'000>(context, places).done());
  // Two concurrent routines have two frames.
  world.arrived = -1;
  places.clear();
  {
    const Steps one = wide<500>(context, places);
    const Steps two = wide<500>(context, places);
    CHECK(places.size() == 2);
  }
}

}  // namespace margay::mpi_adi
