// Tests of the publication of a long wait on the job board, and of its withdrawal.
#include "mpi_adi/rank/wait.hpp"

#include <doctest/doctest.h>

#include "mpi_adi/progress/describe.hpp"
#include "mpi_adi/rank/callback.hpp"
#include "tests/mpi_adi/lone_rank.hpp"

namespace margay::mpi_adi {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

using test::LoneRank;

}  // namespace

TEST_CASE("a wait of a second is published on the board, until a message or a part of one moves") {
  LoneRank lone;
  const sim::BoardBlock& board = lone.rank->process().board();
  StallTimer timer(*lone.rank);
  const std::uint64_t progress = board.progress;
  timer.idle(kSecond / 2);
  CHECK_EQ(board.wait.is_waiting, 0);
  timer.idle(2 * kSecond);
  CHECK_EQ(board.wait.is_waiting, 1);
  CHECK_EQ(board.progress, progress);
  SUBCASE("a message") {
    timer.restart();
  }
  SUBCASE("a part of one: the idle time starts from zero") {
    timer.idle(0);
  }
  CHECK_EQ(board.wait.is_waiting, 0);
  CHECK_EQ(board.progress, progress + 1);
}

TEST_CASE("a callback of the program in the middle of a wait is not a wait for the launcher") {
  LoneRank lone;
  MpiRank& rank = *lone.rank;
  const sim::BoardBlock& board = rank.process().board();
  rank.enter();
  {
    StallTimer timer(rank);
    call_program(rank, [&] {
      CHECK_EQ(board.wait.is_waiting, 0);
      return 0;
    });
    CHECK_EQ(board.wait.is_waiting, 0);
    const std::uint64_t before = board.progress;
    timer.idle(2 * kSecond);
    CHECK_EQ(call_program(rank, [&] { return board.wait.is_waiting; }), 0);
    CHECK_EQ(board.wait.is_waiting, 1);
    CHECK_EQ(board.progress, before + 1);
  }
  CHECK_EQ(board.wait.is_waiting, 0);
  rank.leave();
}

namespace {

struct AwakeTask final : Task {
  AwakeTask(TaskQueue& queue, By by, const Communicator* on = nullptr) : Task(queue, by, on) { begin(); }
  bool go_on() override {
    ++runs;
    return ends;
  }
  void over() override {}
  bool ends = false;
  int runs = 0;
};

}  // namespace

TEST_CASE("tasks count as activity on their communicator, and in its session") {
  LoneRank lone;
  MpiRank& rank = *lone.rank;
  rank.begin_world(MPI_THREAD_SINGLE);
  rank.enter();
  const Device& device = rank.device();
  {
    AwakeTask task(rank.device().tasks(), Task::By::anybody, &rank.worlds().self());
    CHECK_FALSE(device.quiet(rank.worlds().self()));
    CHECK(device.quiet(rank.worlds().world()));
    CHECK_FALSE(device.quiet(Group::kWorldModel));
    CHECK(device.quiet(std::uint32_t{7}));
    CHECK_FALSE(device.quiet_but_unmatched(Group::kWorldModel));
    task.ends = true;
    task.wake();
    rank.device().progress();
    CHECK(device.quiet(rank.worlds().self()));
    CHECK(device.quiet(Group::kWorldModel));
  }
  {
    // A task that is still awake is work for the coprocessor, which continues as long as there is one.
    AwakeTask task(rank.device().tasks(), Task::By::anybody);
    CHECK_FALSE(rank.device().progress_for_absent_owner());
    task.wake();
    CHECK(rank.device().tasks().any_awake_for_coprocessor());
    CHECK(rank.device().progress_for_absent_owner());
    CHECK(task.runs == 2);
    AwakeTask own(rank.device().tasks(), Task::By::program);
    own.wake();
    CHECK_FALSE(rank.device().progress_for_absent_owner());
    CHECK(own.runs == 1);
    const FirstWait wait = rank.device().first_wait();
    CHECK(wait.tasks == 2);
    CHECK(wait.requests == 2);
    CHECK(wait.peer == -1);
  }
  rank.end_world();
  rank.leave();
}

}  // namespace margay::mpi_adi
