#!/usr/bin/env python3
"""Tests of accumulates beside faults: all ranks add to the same numbers of a window (../mpi/rma/atomic.c) while the
test stops and continues one after the other; the program reports a lost addition. One rank is stopped, or dies, inside
the guard for which others wait (guarded.c). SOAK_SECONDS=10: the duration for each kind of window.

    tests/faults/atomic.py --build build/release [CASE...]
"""
import os
import pathlib
import re
import signal
import time

from support import QUICK, Clock, Job, case, compile_c, main, run_one_death

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "mpi" / "rma" / "atomic.c"
SECONDS = float(os.environ.get("SOAK_SECONDS", "0"))
ROUNDS = 5000 if QUICK else 20000
RANKS = 3


def stop_each(job, stops):
    """Stops and continues each rank in turn, until the job is over."""
    for number in range(stops):
        ranks = sorted(job.marked())
        if job.process.poll() is not None or not ranks:
            break
        pid = ranks[number % len(ranks)]
        try:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.05)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            break
        time.sleep(0.05)


def add(build, options, stops, rounds=ROUNDS):
    program = compile_c(build, SOURCE, "atomic", str(build / "bin" / "mpicc"))
    job = Job(build, ["-n", RANKS, "--timeout", 200, "--check-accounting", *options],
              [program, rounds, *([SECONDS] if SECONDS else [])])
    job.wait_for_ranks(RANKS)
    assert job.read_line() == "all add\n", "it does not say that it begins"
    stop_each(job, stops and (int(SECONDS * 30) or stops))
    job.expect(0, 100 + 3 * SECONDS)
    assert job.stdout.endswith("rma_atomic: no errors\n"), f"{job.stdout}{job.stderr}"


@case
def all_add_on_one_node(build, scratch):
    add(build, [], 0)


@case
def one_is_stopped_on_one_node(build, scratch):
    add(build, [], 6)


@case
def one_is_stopped_on_two_nodes(build, scratch):
    add(build, ["--nodes", "2"], 6, ROUNDS // 4)  # each accumulate waits for the reply to its message


def guarded(build):
    return compile_c(build, SOURCE.parents[2] / "faults" / "guarded.c", "guarded", str(build / "bin" / "mpicc"))


def stat(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def processor_seconds(pids):
    """The processor time of the ranks until now."""
    return sum(int(stat(pid)[11]) + int(stat(pid)[12]) for pid in pids) / os.sysconf("SC_CLK_TCK")


def stopped_one(job, text):
    """One rank stops itself; the others report that they wait for it, and sleep."""
    stopped = []
    Clock.eventually(lambda: stopped.extend(pid for pid in job.marked() if stat(pid)[0] == "T") or stopped,
                     "no rank is stopped")
    Clock.eventually(lambda: all(f"rank {rank} has waited" in text() for rank in (0, 2)), "a rank does not report that it waits", 5)
    lines = [line for line in text().splitlines() if "has waited" in line]
    assert all(re.search(r" in MPI_\w+ .* rank 1, .*\block\b", line) for line in lines), lines
    waiting = [pid for pid in job.marked() if pid not in stopped]
    before = processor_seconds(waiting)
    time.sleep(1)
    used = processor_seconds(waiting) - before
    assert used < 0.4, f"two ranks that wait use {used} s of a second"
    job.process.send_signal(signal.SIGUSR1)
    Clock.eventually(lambda: re.search(r"in MPI_\w+.*: .* rank 1\b", text()), "the launcher does not say for whom they wait")
    return stopped[0]


@case
def one_is_stopped_inside_the_guard(build, scratch):
    with open(scratch / "stderr", "w", encoding="utf-8") as errors:
        job = Job(build, ["-n", RANKS, "--timeout", 200, "--stall", 1], [guarded(build), "stop"], stderr=errors)
        job.wait_for_ranks(RANKS)
        try:
            os.kill(stopped_one(job, (scratch / "stderr").read_text), signal.SIGCONT)
            job.expect(0, 10)
        finally:
            job.process.kill()
        assert job.stdout.count(": lives") == RANKS, job.stdout


@case
def one_dies_inside_the_guard(build, scratch):
    wrong, _ = run_one_death(guarded(build), f"{RANKS}:1", ["kill"], {}, r"rank \d+: lives")
    assert not wrong, wrong


if __name__ == "__main__":
    main()
