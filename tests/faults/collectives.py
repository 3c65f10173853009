#!/usr/bin/env python3
"""A test of random collective calls during which a random member is killed at a random moment (collectives.c), on one
node and on several, with random algorithms. The launcher ends no process, so the survivors detect the death.

    tests/faults/collectives.py --build build/release                          the test faults.collectives
    tests/faults/collectives.py --build build/release --cases 500
    tests/faults/collectives.py --build build/release --seed 17 --cases 1      the draw of seed 17 again

Every rank but the killed one must end, with right results only. A failure prints its seed and its command.
"""
import argparse
import os
import pathlib
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from support import compile_c, run_one_death

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "mpi"))
from algorithms import draw_algorithms, known_algorithms  # noqa: E402  (of the folder beside)

CASES = 12
CALLS = 60
RANKS_MAX = 9
NODES_MAX = 3
# They mostly wait: half a second may pass before a rank polls the others.
AT_ONCE = 6


class Case:
    """The draw of a seed."""

    def __init__(self, seed, known):
        draw = random.Random(seed)
        self.seed = seed
        self.ranks = draw.randint(2, RANKS_MAX)
        self.nodes = draw.choice([1, draw.randint(1, min(NODES_MAX, self.ranks))])
        self.variables = {"MARGAY_IFACE": "lo", "MARGAY_WIRE_TCP": draw.choice(["uring", "epoll"])}
        if asked := draw_algorithms(draw, known):
            self.variables["MARGAY_COLLECTIVE"] = asked

    def run(self, program):
        """The failure, and the number of calls that failed."""
        words, failures = run_one_death(program, f"{self.ranks}:{self.nodes}", [str(CALLS), str(self.seed)], self.variables,
                                    r"rank \d+: \d+ calls well, (\d+) failed")
        return words, sum(int(failed) for failed in failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder, as build/release")
    parser.add_argument("--cases", type=int, default=CASES, help=f"how many deaths ({CASES})")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MARGAY_SEED", 1)), help="of the first")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    program = compile_c(build, HERE / "collectives.c", "collectives", str(build / "bin" / "mpicc"))
    known = known_algorithms([build / "bin" / "margay", "run"], program)
    cases = [Case(seed, known) for seed in range(arguments.seed, arguments.seed + arguments.cases)]
    started = time.monotonic()
    bad = failed_calls = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for each, (words, failed) in zip(cases, pool.map(lambda each: each.run(program), cases)):
            failed_calls += failed
            bad += words != ""
            asked = each.variables.get("MARGAY_COLLECTIVE", "the library chooses")
            print(f"seed {each.seed}: {each.ranks} ranks, {each.nodes} nodes, {asked}: {'FAILED' if words else 'ok'}, "
                  f"{failed} calls failed", flush=True)
            print(words, end="", flush=True)
    print(f"{len(cases)} deaths, {bad} wrong, {failed_calls} calls failed, {time.monotonic() - started:.1f} s")
    # Deaths that affect no call would show nothing.
    return 1 if bad or (len(cases) >= CASES and failed_calls == 0) else 0


if __name__ == "__main__":
    sys.exit(main())
