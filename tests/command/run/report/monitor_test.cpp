#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>

#include "command/run/report/monitor.hpp"

using namespace margay;
using namespace margay::command;

namespace {

constexpr std::int64_t kMs = Monitor::kMillisecondNs;

RankEnd exited(int code, bool init = false, bool finalize = false) {
  RankEnd end;
  end.value = code;
  end.called_init = init;
  end.called_finalize = finalize;
  return end;
}

RankEnd killed(int signal) {
  RankEnd end;
  end.by_signal = true;
  end.value = signal;
  end.called_init = true;
  return end;
}

RankEnd aborted(int code) {
  RankEnd end = exited(code, true);
  end.aborting = true;
  end.abort_code = code;
  return end;
}

}  // namespace

TEST_CASE("a job succeeds if all its ranks succeed") {
  Monitor monitor(2);
  monitor.on_end(0, exited(0, true, true), 0);
  CHECK_FALSE(monitor.over());
  monitor.on_end(1, exited(0, true, true), 0);
  CHECK(monitor.over());
  CHECK(monitor.cause().kind == CauseKind::none);
  CHECK(monitor.exit_status() == 0);
  CHECK(monitor.next_step(0) == KillStep::nothing);
}

TEST_CASE("the first death is the cause; the other ranks are terminated, then killed") {
  Monitor monitor(3);
  monitor.on_end(1, killed(SIGSEGV), 1000 * kMs);
  CHECK(monitor.cause().kind == CauseKind::signal);
  CHECK(monitor.cause().rank == 1);
  CHECK(monitor.next_step(1000 * kMs) == KillStep::terminate);
  CHECK(monitor.next_step(1000 * kMs) == KillStep::nothing);
  monitor.on_end(0, killed(SIGTERM), 1001 * kMs);
  CHECK(monitor.cause().rank == 1);
  CHECK(monitor.next_step(1499 * kMs) == KillStep::nothing);
  CHECK(monitor.deadline_ns() == 1500 * kMs);
  CHECK(monitor.next_step(1500 * kMs) == KillStep::kill);
  monitor.on_end(2, killed(SIGKILL), 1501 * kMs);
  CHECK(monitor.over());
  CHECK(monitor.exit_status() == 128 + SIGSEGV);
}

TEST_CASE("exiting without MPI_Finalize fails, with any exit code") {
  Monitor zero(2);
  zero.on_end(0, exited(0, true, false), 0);
  CHECK(zero.cause().kind == CauseKind::no_finalize);
  CHECK(zero.exit_status() == 1);
  Monitor three(2);
  three.on_end(0, exited(3, true, false), 0);
  CHECK(three.exit_status() == 3);
}

TEST_CASE("an exit code after MPI_Finalize, or without any use of MPI, ends no other rank") {
  for (bool mpi : {true, false}) {
    Monitor monitor(3);
    monitor.on_end(2, exited(5, mpi, mpi), 0);
    monitor.on_end(0, exited(9, mpi, mpi), 0);
    CHECK(monitor.cause().kind == CauseKind::none);
    CHECK(monitor.next_step(1'000'000 * kMs) == KillStep::nothing);
    monitor.on_end(1, exited(0, mpi, mpi), 0);
    CHECK(monitor.exit_status() == 5);
  }
}

TEST_CASE("a rank that ends without MPI_Init is reported missing once another has called it") {
  Monitor monitor(2);
  monitor.on_end(1, exited(4), 0);
  CHECK(monitor.some_ended_without_init());
  CHECK(monitor.cause().kind == CauseKind::none);
  monitor.on_initialized(10);
  CHECK(monitor.cause().kind == CauseKind::no_init);
  CHECK(monitor.cause().rank == 1);
  CHECK(monitor.exit_status() == 4);
  Monitor thread(3);
  thread.on_thread_end_without_init(2, 0);
  CHECK(thread.some_ended_without_init());
  CHECK(thread.left() == 3);
  thread.on_initialized(10);
  CHECK(thread.cause().kind == CauseKind::no_init);
  CHECK(thread.cause().rank == 2);
  CHECK(thread.exit_status() == 1);
  Monitor later(2);
  later.on_initialized(0);
  later.on_end(0, exited(0), 5);
  CHECK(later.cause().kind == CauseKind::no_init);
  CHECK(later.exit_status() == 1);
}

TEST_CASE("an abort gives its own rank a moment, and its code is the job's status") {
  Monitor monitor(2);
  monitor.on_abort(1, 7, "no input", 0);
  CHECK(monitor.next_step(0) == KillStep::nothing);
  monitor.on_end(1, aborted(7), 20 * kMs);
  CHECK(monitor.next_step(20 * kMs) == KillStep::terminate);
  monitor.on_abort(0, 9, "", 21 * kMs);
  monitor.on_end(0, aborted(9), 21 * kMs);
  CHECK(monitor.cause().rank == 1);
  CHECK(monitor.exit_status() == 7);
}

TEST_CASE("a second program in a rank's place is the cause, whether it is detected before the rank's end or with it") {
  Monitor before(2);
  before.on_second_program(0, 1, 0);
  before.on_end(0, exited(0, true, true), 20 * kMs);
  CHECK(before.next_step(20 * kMs) == KillStep::terminate);
  Monitor with(2);
  RankEnd end = aborted(1);
  end.second_program = true;
  with.on_end(0, end, 20 * kMs);
  for (const Monitor* monitor : {&before, &with}) {
    CHECK(monitor->cause().kind == CauseKind::second_program);
    CHECK(monitor->exit_status() == 1);
  }
}

TEST_CASE("an abort code that looks like success in eight bits does not become success") {
  for (int code : {0, 256, -256}) {
    Monitor monitor(1);
    monitor.on_end(0, aborted(code), 0);
    CHECK(monitor.exit_status() == 1);
  }
  Monitor monitor(1);
  monitor.on_end(0, aborted(-1), 0);
  CHECK(monitor.exit_status() == 255);
}

TEST_CASE("Ctrl-C once lets ranks end within two seconds, twice kills them") {
  Monitor once(1);
  once.on_interrupt(SIGINT, 0);
  CHECK(once.next_step(0) == KillStep::terminate);
  CHECK(once.next_step(1999 * kMs) == KillStep::nothing);
  CHECK(once.next_step(2000 * kMs) == KillStep::kill);
  CHECK(once.exit_status() == 130);
  Monitor twice(1);
  twice.on_interrupt(SIGINT, 0);
  CHECK(twice.next_step(0) == KillStep::terminate);
  twice.on_interrupt(SIGINT, 100 * kMs);
  CHECK(twice.next_step(100 * kMs) == KillStep::kill);
}

TEST_CASE("ranks get the signal that ends the job, and SIGTERM when it ends for another reason") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Monitor monitor(1);
    monitor.on_interrupt(signal, 0);
    CHECK(monitor.next_step(0) == KillStep::terminate);
    CHECK(monitor.ending_signal() == signal);
    CHECK(monitor.next_step(1999 * kMs) == KillStep::nothing);
    CHECK(monitor.exit_status() == 128 + signal);
  }
  Monitor monitor(2);
  monitor.on_end(0, killed(SIGKILL), 0);
  monitor.on_interrupt(SIGINT, 1 * kMs);
  CHECK(monitor.ending_signal() == SIGTERM);
}

TEST_CASE("Ctrl-C twice kills the ranks of a job that is ending already") {
  Monitor monitor(2);
  monitor.on_end(0, killed(SIGKILL), 0);
  monitor.on_interrupt(SIGINT, 1 * kMs);
  monitor.on_interrupt(SIGINT, 2 * kMs);
  CHECK(monitor.next_step(2 * kMs) == KillStep::kill);
  CHECK(monitor.exit_status() == 137);
}

TEST_CASE("a stopped rank is named once for each stop, after ten seconds") {
  Monitor monitor(3);
  monitor.on_stop(2, 0);
  CHECK(monitor.take_stop_warning(9999 * kMs) == -1);
  CHECK(monitor.deadline_ns() == 10000 * kMs);
  CHECK(monitor.take_stop_warning(10000 * kMs) == 2);
  CHECK(monitor.take_stop_warning(20000 * kMs) == -1);
  CHECK(monitor.deadline_ns() == -1);
  monitor.on_continue(2);
  monitor.on_stop(2, 30000 * kMs);
  CHECK(monitor.take_stop_warning(40000 * kMs) == 2);
  CHECK(monitor.cause().kind == CauseKind::none);
}

TEST_CASE("the time limit and a closed output have their own statuses") {
  Monitor late(1);
  late.on_timeout(0);
  CHECK(late.exit_status() == 124);
  Monitor closed(1);
  closed.on_output_closed(EPIPE, "the standard output", 0);
  CHECK(closed.exit_status() == 128 + SIGPIPE);
  Monitor full(1);
  full.on_output_closed(ENOSPC, "out.0", 0);
  CHECK(full.exit_status() == 1);
  CHECK(full.cause().code == ENOSPC);
  CHECK(full.cause().text == "out.0");
}

TEST_CASE("processes that start later count until they end, and a job of theirs alone goes on") {
  Monitor monitor(1, 3);
  CHECK(monitor.ended(2));
  CHECK(monitor.left() == 1);
  monitor.on_start(1);
  CHECK(monitor.left() == 2);
  monitor.on_end(0, exited(0, true, true), 1 * kMs);
  CHECK(!monitor.over());
  monitor.on_start(2);
  monitor.on_end(1, exited(3, true, true), 2 * kMs);
  monitor.on_end(2, exited(0, true, true), 3 * kMs);
  CHECK(monitor.over());
  CHECK(monitor.exit_status() == 3);
}

TEST_CASE("a process that is ended on purpose does not fail the job, and its successor is judged like any other") {
  Monitor monitor(1, 2);
  monitor.on_start(1);
  monitor.on_kill(1);
  monitor.on_end(1, killed(SIGKILL), 1 * kMs);
  CHECK(monitor.killed(1));
  CHECK(monitor.cause().kind == CauseKind::none);
  monitor.on_start(1);
  CHECK(!monitor.killed(1));
  monitor.on_end(1, killed(SIGSEGV), 2 * kMs);
  CHECK(monitor.cause().kind == CauseKind::signal);
  monitor.on_end(0, exited(0, true, true), 3 * kMs);
  CHECK(monitor.exit_status() == 128 + SIGSEGV);
}
