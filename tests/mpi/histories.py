#!/usr/bin/env python3
"""Random histories of windows (rma/random.c) in many worlds: 2 to 5 ranks, one or two nodes, drawn from a seed; each
result is compared with a reference.

    tests/mpi/histories.py --build build/release                                   the test mpi.histories
    tests/mpi/histories.py --build build/release --wire virtual --seeds 10000
    tests/mpi/histories.py --build build/release --wire real --seeds 500
    tests/mpi/histories.py --build build/release --wire real --seed 17 --seeds 1   the draw of seed 17 again
    tests/mpi/histories.py --build build/release --wire mpich --seeds 200          Debian's MPICH, to check the reference

A world's seed is also that of its history and of the virtual machine. A failure prints its seed and its command.
"""
import argparse
import os
import pathlib
import random
import sys

import support
import worlds

SOURCE = pathlib.Path(__file__).resolve().parent / "rma" / "random.c"
RANKS_MAX = 5
WINDOWS = {"virtual": 2, "real": 6, "mpich": 4}  # in one world
# Few: rma_random also runs some. MPICH 4.0.2 waits for ever in some, so it runs only on request.
SEEDS_IN_TEST = {"virtual": 60, "real": 12}
SEEDS_OF_MPICH = 4


class World:
    """The draw of a seed."""

    algorithms = ""

    def __init__(self, seed, wire):
        draw = random.Random(seed)
        self.seed = seed
        self.ranks = draw.randint(2, worlds.MPICH_RANKS_MAX if wire == "mpich" else RANKS_MAX)
        self.nodes = 1 if wire == "mpich" else draw.randint(1, 2)
        self.tcp = draw.choice(["uring", "epoll"])
        self.arguments = [WINDOWS[wire], seed]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    parser.add_argument("--wire", choices=worlds.WIRES, help="this kind of wire alone")
    parser.add_argument("--seeds", type=int, help="worlds on each kind of wire (%s)" % SEEDS_IN_TEST)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MARGAY_SEED", 1)), help="the first world's")
    arguments = parser.parse_args()
    build = support.Build(arguments.build)
    failures = 0
    for wire in [arguments.wire] if arguments.wire else SEEDS_IN_TEST:
        seeds = range(arguments.seed, arguments.seed + (arguments.seeds or SEEDS_IN_TEST.get(wire, SEEDS_OF_MPICH)))
        failures += worlds.run(build, SOURCE, wire, [World(seed, wire) for seed in seeds], quiet=len(seeds) > 100)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
