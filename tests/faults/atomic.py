#!/usr/bin/env python3
"""All ranks add to the same numbers of a window (../mpi/rma/atomic.c), and one after the other is stopped and continued
meanwhile: the program itself says whether an addition was lost. SOAK_SECONDS=10: each kind of window for so long.

    tests/faults/atomic.py --build build/release [CASE...]
"""
import os
import pathlib
import signal
import time

from support import Job, case, compile_c, main

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "mpi" / "rma" / "atomic.c"
SECONDS = float(os.environ.get("SOAK_SECONDS", "0"))
ROUNDS = 20000
RANKS = 3


def stop_each(job, stops):
    """Each rank in turn, until the job is over."""
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
    add(build, ["--nodes", "2"], 6, ROUNDS // 4)  # each waits for a message and its answer


if __name__ == "__main__":
    main()
