#!/usr/bin/env python3
"""Runs programs of the MPI suite on the virtual machine (tests/mpi/virtual), each for many seeds.

    tests/mpi/virtual.py --build build/release                              the test mpi.virtual: some seeds of each
    tests/mpi/virtual.py --build build/release --seeds 1000 tests/mpi/wildcards.c
    tests/mpi/virtual.py --build build/release --seed 17 --ranks 3 tests/mpi/wildcards.c

A failure names program, number of ranks and seed, which reproduce the run.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import support

RANKS_MAX = 5
QUICK = bool(os.environ.get("QUICK_TESTS"))  # scripts/test without --all
SEEDS = 3 if QUICK else 10
# Programs whose seeds take a second or more: the test runs few of them.
LONG = {"alltoall", "bcast", "between_groups", "collective_lengths", "collective_lengths_all", "collectives_random",
        "communicators_chain", "communicators_many", "completion", "datatypes_random", "datatypes_vector",
        "environment", "gather", "gatherv", "neighbor", "nonblocking", "nonblocking_ends", "persistent",
        "persistent_collectives", "reduce", "reduce_scatter", "rma_atomic", "rma_random", "scan", "scatter", "sendrecv",
        "traffic", "wildcards"}
LONG_SEEDS = 1 if QUICK else 2
# Programs whose seeds take ten seconds: they run only on request.
LONGEST = {"finalize", "flood", "large", "large_counts", "oversubscribe", "send_modes"}
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
    "info": "it asks for the command of its process, which is the tester",
    "looks": "a signal to a process reports that all was sent",
    "nonblocking_threads": "threads",
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
    "sessions_after": "its processes end by _exit and exec",
    "sessions_end_buffered_threads": "threads",
    "sessions_end_threads": "threads",
    "sessions_join_threads": "threads",
    "sessions_threads": "threads",
    "shared_processor": "it measures the time that its process takes, which has all ranks there",
    "threads": "threads",
    "tool_interface": "it sets the limits of the real wires, and counts their bytes",
    "tool_threads": "threads",
}


def compile_shared(build, source):
    """`source` as a shared object that finds MPI in the program that loads it."""
    target = build.programs / (support.program_name(source) + ".virtual.so")
    tester = build.folder / "tests" / "virtual_mpi"
    if not tester.exists():
        raise support.CompileError(f"{tester} is not there: build target virtual_mpi")
    inputs = support.inputs_of(source)
    if target.exists() and target.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return target
    command = ["cc", "-shared", "-fPIC", "-O1", "-g", "-w", f"-I{build.folder / 'include'}", "-o", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise support.CompileError(f"{source.name}: does not compile\n{done.stdout}{done.stderr}")
    return target


def numbers_of_ranks(source):
    """The largest number of ranks that a program supports, up to RANKS_MAX; and 2, if the program supports it."""
    ranks = [int(n) for n in support.header_keys(source).get("ranks", "2").split()]
    fitting = [n for n in ranks if n <= RANKS_MAX]
    return sorted({max(fitting), 2 if 2 in fitting else max(fitting)}) if fitting else []


def run_program(build, source, ranks_list, first, last):
    """The report of its failures; empty if there are none."""
    report = ""
    program = compile_shared(build, source)
    for ranks in ranks_list:
        command = [str(build.folder / "tests" / "virtual_mpi"), str(ranks), str(first), str(last), str(program)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=support.clean_environment())
        if first == last and done.returncode == 0:
            print(done.stderr, end="")
        if done.returncode != 0:
            report += "\n".join(done.stderr.splitlines()[-40:]) + "\n    $ " + " ".join(command) + "\n"
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
    left_out = NOT_THERE.keys() | (LONGEST if arguments.seeds is None and arguments.seed is None else set())
    programs = arguments.programs or [
        source for pattern in ("*.c", "rma/*.c") for source in sorted(folder.glob(pattern))
        if support.program_name(source) not in left_out]
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
