#!/usr/bin/env python3
"""Runs programs of the MPI suite under `margay simulate`, each for many seeds. A seed determines the delays of messages, full wires
and small windows (network_options of virtual_machine/world), and here whether the ranks have one node or two.

    tests/mpi/virtual.py --build build/release                              the test mpi.virtual: some seeds of each
    tests/mpi/virtual.py --build build/release --seeds 1000 tests/mpi/wildcards.c
    tests/mpi/virtual.py --build build/release --seed 17 --ranks 3 tests/mpi/wildcards.c

A failure names program, number of ranks and seed, which reproduce the run.
"""
import argparse
import os
import pathlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import support

RANKS_MAX = 5
LIMIT_SECONDS = 60
QUICK = bool(os.environ.get("QUICK_TESTS"))  # scripts/test without --all
SEEDS = 3 if QUICK else 20
# Programs whose seeds take a second or more: the test runs few of them.
LONG = {"collectives_ahead", "flood", "large_counts", "ports_many", "sent_at_once"}
LONG_SEEDS = 1 if QUICK else 2
# Programs that cannot run there, with the reason.
NOT_THERE = {
    "bypass": "it measures the coprocessor, which is not there",
    "bypass_collectives": "likewise",
    "bypass_thread_local": "likewise",
    "collectives_threads": "threads",
    "dup_threads": "threads of a rank run beside the turns",
    "early_threads": "threads",
    "environment_threads": "threads",
    "grequest_threads": "threads",
    "ibcasts_ahead": "it measures the memory of its process, which has all ranks there",
    "looks": "a signal to a process reports that all was sent",
    "nonblocking_threads": "threads",
    "ports_join": "its ranks wait for sockets",
    "ports_threads": "threads",
    "object_threads": "threads",
    "reduce_ahead_threads": "threads",
    "reduce_threads": "threads",
    "request_threads": "threads",
    "rma_1996_bypass": "its ranks compute without a call, until the coprocessor has done its part",
    "rma_1996_free": "it waits in memory that its ranks share",
    "rma_bypass": "its target computes without a call: it measures the coprocessor",
    "rma_flooded": "its target computes without a call",
    "rma_many": "it measures the memory of its process, which has all ranks there",
    "rma_no_memory": "it limits the addresses of its process, which has all ranks there",
    "rma_shared": "no memory is shared between its nodes' ranks",
    "sessions": "it forks",
    "sessions_after": "its processes end by _exit and exec",
    "sessions_end_buffered_threads": "threads",
    "sessions_end_threads": "threads",
    "sessions_join_threads": "threads",
    "sessions_threads": "threads",
    "shared_processor": "it measures the time that its process takes, which has all ranks there",
    "spawn": "a simulated job starts no processes",
    "spawn_ports": "likewise",
    "spawn_threads": "likewise",
    "threads": "threads",
    "tool_interface": "it sets the limits of the real wires, and counts their bytes",
    "tool_threads": "threads",
}


def simulator(build, ranks, nodes, seed):
    """The command that simulates a program with seeded delays; a node has the same number of ranks, but the last one."""
    return [build.tool("margay"), "simulate", "-n", ranks, "--machine", "asci-red", "--set", f"processors_per_node={-(-ranks // nodes)}",
            "--compute", "none", "--delay", "100us", "--seed", seed]


def numbers_of_ranks(source):
    """The largest number of ranks that a program supports, up to RANKS_MAX; and 2, if the program supports it."""
    ranks = [int(n) for n in support.header_keys(source).get("ranks", "2").split()]
    fitting = [n for n in ranks if n <= RANKS_MAX]
    return sorted({max(fitting), 2 if 2 in fitting else max(fitting)}) if fitting else []


def run_program(build, source, ranks_list, first, last):
    """The report of its failures; empty if there are none."""
    report = ""
    libraries = support.header_keys(source).get("libraries", "").split()
    program = support.compile_program(build, build.tool("mpicc"), source, ".simulated", libraries)
    for ranks in ranks_list:
        for seed in range(first, last + 1):
            done = support.execute([*simulator(build, ranks, 1 + seed // 2 % 2, seed), "--summary", program], LIMIT_SECONDS)
            if first == last and done.status == 0:
                print(done.stderr, end="")
            problems = done.problems(0)
            report += done.transcript(problems) + "\n" if problems else ""
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    parser.add_argument("--seeds", type=int, help="seeds 1 to this")
    parser.add_argument("--seed", type=int, default=os.environ.get("MARGAY_SEED"), help="this seed alone")
    parser.add_argument("--ranks", type=int, help="this number of ranks alone")
    parser.add_argument("programs", nargs="*", type=pathlib.Path, help="source files; none: all")
    arguments = parser.parse_args()
    build = support.Build(arguments.build)
    folder = pathlib.Path(__file__).resolve().parent
    programs = arguments.programs or [
        source for pattern in ("*.c", "rma/*.c") for source in sorted(folder.glob(pattern))
        if support.program_name(source) not in NOT_THERE]
    started = time.monotonic()
    failures = 0

    def one(source):
        began = time.monotonic()
        last = arguments.seeds or (LONG_SEEDS if support.program_name(source) in LONG else SEEDS)
        first, last = (int(arguments.seed),) * 2 if arguments.seed is not None else (1, last)
        ranks_list = [arguments.ranks] if arguments.ranks else numbers_of_ranks(source)
        try:
            report = run_program(build, source, ranks_list, first, last)
        except support.CompileError as error:
            report = str(error) + "\n"
        what = f"ranks {' '.join(map(str, ranks_list)):4} seeds {first} to {last}"
        return source, what, report, time.monotonic() - began

    # Each run has one thread at work.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, what, report, seconds in pool.map(one, programs):
            print(f"{support.program_name(source):22} {what:28} {'FAILED' if report else 'ok'} {seconds:.2f} s")
            print(report, end="", flush=True)
            failures += report != ""
    print(f"{len(programs)} programs, {failures} failed, {time.monotonic() - started:.1f} s")
    return 1 if failures or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
