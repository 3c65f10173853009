#!/usr/bin/env python3
"""Random collective calls (collectives_random.c) in many worlds: 1 to 17 ranks, one to three nodes, the algorithm of
each operation requested or left to the library, all drawn from a seed; each call is compared with a reference.

    tests/mpi/differential.py --build build/release                                   the test mpi.differential
    tests/mpi/differential.py --build build/release --wire virtual --calls 50000
    tests/mpi/differential.py --build build/release --wire real --calls 2000
    tests/mpi/differential.py --build build/release --wire real --seed 17 --calls 1   the draw of seed 17 again
    tests/mpi/differential.py --build build/release --wire mpich --calls 1000         Debian's MPICH, to check the reference

A world's seed is also that of its calls and of the virtual machine. A failure prints its seed and its command.
"""
import argparse
import os
import pathlib
import random
import sys

import support
import worlds
from algorithms import draw_algorithms, known_algorithms

SOURCE = pathlib.Path(__file__).resolve().parent / "collectives_random.c"
RANKS_MAX = 17
NODES_MAX = 3
CALLS = {"virtual": 100, "real": 50, "mpich": 50}  # in one world
# Few, because the programs of each collective test the rest.
CALLS_IN_TEST = {"virtual": 800, "real": 300, "mpich": 50}
LONG_ELEMENTS = 60000  # several pieces of a stream


class World:
    """The draw of a seed."""

    def __init__(self, seed, wire, known):
        draw = random.Random(seed)
        self.seed = seed
        self.ranks = draw.randint(1, RANKS_MAX) if wire != "mpich" else draw.randint(2, worlds.MPICH_RANKS_MAX)
        self.nodes = draw.randint(1, min(NODES_MAX, self.ranks))
        self.tcp = draw.choice(["uring", "epoll"])
        self.algorithms = draw_algorithms(draw, known) if wire != "mpich" else ""
        self.arguments = [CALLS[wire], seed]
        # On the virtual wire such a world takes ten seconds.
        if draw.random() < (0.05 if wire == "virtual" else 0.2):
            self.arguments.append(LONG_ELEMENTS)


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
        calls = arguments.calls or CALLS_IN_TEST[wire]
        seeds = range(arguments.seed, arguments.seed + -(-calls // CALLS[wire]))
        failures += worlds.run(build, SOURCE, wire, [World(seed, wire, known) for seed in seeds])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
