#!/usr/bin/env python3
"""A test in which a random member of a window is killed at a random moment (window_deaths.c): with locks held, awaited
and changing hands, in fences, in epochs of groups; all flavors, one node and two. The launcher ends no process, so
survivors detect the death by themselves.

    tests/faults/windows.py --build build/release                          the test faults.windows
    tests/faults/windows.py --build build/release --cases 500
    tests/faults/windows.py --build build/release --seed 17 --cases 1      the draw of seed 17 again

Every rank but the killed one must end, and its lists of the living's counts must be exact. A failure prints its seed
and its command.
"""
import argparse
import os
import pathlib
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from support import QUICK, compile_c, run_one_death

HERE = pathlib.Path(__file__).resolve().parent
FLAVORS = ("create", "allocate", "shared", "dynamic")
PLACES = ("locks", "all", "fences", "groups", "holding", "waiting")
CASES = 8 if QUICK else 24
RANKS_MAX = 5
WITHIN_US = 30000
# They mostly wait: half a second may pass before a rank polls the others.
AT_ONCE = 4


class Case:
    """The draw of a seed; the places take turns."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.place = PLACES[seed % len(PLACES)]
        self.flavor = draw.choice(FLAVORS)
        self.ranks = draw.randint(2, RANKS_MAX)
        self.nodes = 1 if self.flavor == "shared" else draw.choice([1, 2])
        arguments = [self.flavor, self.place, draw.randrange(self.ranks), draw.randrange(WITHIN_US)]
        self.arguments = [str(argument) for argument in arguments]
        self.variables = {"MARGAY_IFACE": "lo", "MARGAY_WIRE_TCP": draw.choice(["uring", "epoll"])}

    def run(self, program):
        """The failure; empty: none."""
        return run_one_death(program, f"{self.ranks}:{self.nodes}", self.arguments, self.variables, r"rank \d+: lives")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder, as build/release")
    parser.add_argument("--cases", type=int, default=CASES, help=f"how many deaths ({CASES})")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MARGAY_SEED", 1)), help="of the first")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    program = compile_c(build, HERE / "window_deaths.c", "window_deaths", str(build / "bin" / "mpicc"))
    cases = {seed: Case(seed) for seed in range(arguments.seed, arguments.seed + arguments.cases)}
    started = time.monotonic()
    bad = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for (seed, each), words in zip(cases.items(), pool.map(lambda each: each.run(program), cases.values())):
            bad += words != ""
            print(f"seed {seed}: {each.ranks} ranks, {each.nodes} nodes, {' '.join(each.arguments)}: {'FAILED' if words else 'ok'}",
                  flush=True)
            print(words, end="", flush=True)
    print(f"{len(cases)} deaths, {bad} wrong, {time.monotonic() - started:.1f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
