#!/usr/bin/env python3
"""Random collective calls (collectives_random.c) in many worlds: 1 to 17 ranks, one to three nodes, the algorithm of each
operation asked for or left to the library, all drawn from a seed; each call is compared with a reference.

    tests/mpi/differential.py --build build/release                                   the test mpi.differential
    tests/mpi/differential.py --build build/release --wire virtual --calls 50000
    tests/mpi/differential.py --build build/release --wire real --calls 2000
    tests/mpi/differential.py --build build/release --wire real --seed 17 --calls 1   what seed 17 draws, again
    tests/mpi/differential.py --build build/release --wire mpich --calls 1000         Debian's MPICH: holds the reference

A world's seed is also its calls', and the virtual machine's. A failure tells its seed and its command.
"""
import argparse
import os
import pathlib
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import support
import virtual
from algorithms import as_option, draw_algorithms, known_algorithms

SOURCE = pathlib.Path(__file__).resolve().parent / "collectives_random.c"
RANKS_MAX = 17
NODES_MAX = 3
CALLS = {"virtual": 100, "real": 50, "mpich": 50}  # in one world
# Few: this is beside the programs of each collective.
CALLS_IN_TEST = {"virtual": 800, "real": 300, "mpich": 50}
# More than there are processors spin for seconds.
MPICH_RANKS_MAX = 4
LONG_ELEMENTS = 60000  # several pieces of a stream
LIMIT_SECONDS = 240


class World:
    """What a seed draws."""

    def __init__(self, seed, wire, known):
        draw = random.Random(seed)
        self.seed = seed
        self.ranks = draw.randint(1, RANKS_MAX) if wire != "mpich" else draw.randint(2, MPICH_RANKS_MAX)
        self.nodes = draw.randint(1, min(NODES_MAX, self.ranks))
        self.tcp = draw.choice(["uring", "epoll"])
        self.asked = draw_algorithms(draw, known) if wire != "mpich" else ""
        self.arguments = [CALLS[wire], seed]
        # On the virtual wire such a world takes ten seconds.
        if draw.random() < (0.05 if wire == "virtual" else 0.2):
            self.arguments.append(LONG_ELEMENTS)

    def command(self, build, wire, program):
        if wire == "virtual":
            tester = build.folder / "tests" / "virtual_mpi"
            words = ["--collective", self.asked] if self.asked else []
            return [tester, "--nodes", self.nodes, *words, self.ranks, self.seed, self.seed, program, *self.arguments]
        if wire == "mpich":
            return ["mpiexec.mpich", "-n", self.ranks, program, *self.arguments]
        words = as_option(self.asked) if self.asked else []
        if self.nodes > 1:
            words += ["--nodes", str(self.nodes), "--wire-tcp", self.tcp]
        return [*build.margay_run(self.ranks, timeout=LIMIT_SECONDS - 10, extra=words), program, *self.arguments]


def run_worlds(build, wire, calls, seed, known):
    """The number of worlds that failed."""
    program = (virtual.compile_shared(build, SOURCE) if wire == "virtual" else
               support.compile_program(build, "mpicc.mpich", SOURCE, ".mpich") if wire == "mpich" else
               support.compile_program(build, build.tool("mpicc"), SOURCE, ".margay"))
    seeds = range(seed, seed + -(-calls // CALLS[wire]))

    def one(number):
        world = World(number, wire, known)
        run = support.execute(world.command(build, wire, program), LIMIT_SECONDS)
        problems = run.problems(0)
        if wire != "virtual" and not problems and run.stdout != "collectives_random: no errors\n":
            problems.append("it does not say that there were no errors")
        return world, run, problems

    failures = 0
    started = time.monotonic()
    # A virtual world has one thread at work.
    with ThreadPoolExecutor(os.cpu_count() if wire == "virtual" else 1) as pool:
        for world, run, problems in pool.map(one, seeds):
            print(f"{wire} seed {world.seed}: {world.ranks} ranks, {world.nodes} nodes, {world.asked or 'the library chooses'}: "
                  f"{'FAILED' if problems else 'ok'} {run.seconds:.2f} s", flush=True)
            if problems:
                print(run.transcript(problems), flush=True)
                failures += 1
    print(f"{wire}: {len(seeds)} worlds of {CALLS[wire]} calls, {failures} failed, {time.monotonic() - started:.1f} s", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    parser.add_argument("--wire", choices=list(CALLS), help="this kind of wire alone")
    parser.add_argument("--calls", type=int, help="calls on each kind of wire, in worlds of %s" % CALLS)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MARGAY_SEED", 1)), help="the first world's")
    arguments = parser.parse_args()
    build = support.Build(arguments.build)
    known = known_algorithms(build.launcher(), support.compile_program(build, build.tool("mpicc"), SOURCE, ".margay"))
    failures = 0
    for wire in [arguments.wire] if arguments.wire else list(CALLS):
        failures += run_worlds(build, wire, arguments.calls or CALLS_IN_TEST[wire], arguments.seed, known)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
