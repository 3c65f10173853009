#!/usr/bin/env python3
"""Tests of the experiments of the Nexus paper, on the simulated SP2: counts of polls and messages, and orders of virtual times. These are exact,
because a simulated run depends on its settings alone.

    tests/libraries/nexus/experiments.py --build build/release             every case
    tests/libraries/nexus/experiments.py --build build/release figure4     one
    tests/libraries/nexus/experiments.py --list
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "mpi"), str(ROOT / "examples" / "nexus")]

import experiment  # noqa: E402
from launch_case import cases_of, run_cases  # noqa: E402

# The time of a poll of the slow network of the simulated SP2, in microseconds.
SLOW_POLL_US = 105
# Adaptive intervals are this near to the best fixed one (docs/nexus_results.md).
ADAPTIVE = 1.005
# Microseconds by which readings of the clock may differ.
READINGS_US = 0.1


def simulated(case):
    return experiment.Runs(case.build.folder, False)


def case_figure3(case):
    """The startpoint's requests take the slow network from the far context, and the fast one after it has migrated; on real wires, too."""
    runs = simulated(case)
    case.expect(experiment.figure3(runs) == [(2, "tcp"), (0, "shm")], f"unexpected methods {experiment.figure3(runs)}")
    case.expect(all(counts["messages"] > 0 for counts in runs.report["ways"].values()), f"both wires carry messages, not {runs.report['ways']}")
    real = experiment.figure3(experiment.Runs(case.build.folder, True))
    case.expect(real == [(2, "tcp"), (0, "shm")], f"unexpected methods of the real run {real}")


def case_figure4(case):
    """The curve of two methods is above that of one at each length, by near one poll of the slow method at 0 bytes."""
    sizes, rounds = (0, 100, 1000, 10_000, 100_000), 20
    curves = experiment.figure4(simulated(case), rounds, sizes)
    one, both = curves["Nexus, MPL"], curves["Nexus, MPL and TCP"]
    for size in sizes:
        case.expect(curves["MPL"][size][1] == one[size][1] == 0, f"{size} bytes: no poll of TCP without TCP, not {one[size]}")
        case.expect(curves["MPL"][size][0] <= one[size][0] + READINGS_US < both[size][0], f"{size} bytes: MPL, Nexus and two methods are in this order, not {curves}")
        # Each message is found by a round that also polls TCP.
        case.expect(both[size][1] >= 2 * rounds, f"{size} bytes: {both[size][1]} polls for {2 * rounds} messages")
    gap_us = both[0][0] - one[0][0]
    case.expect(SLOW_POLL_US / 3 <= gap_us <= 2 * SLOW_POLL_US, f"the gap at 0 bytes is {gap_us} us")
    case.expect(experiment.figure4(simulated(case), rounds, sizes) == curves, "two runs are equal")


def case_figure6(case):
    """The fast ping-pong gains with skip_poll, the slow one loses behind a plateau; polls are counted."""
    skips = (1, 20, 1000, 5000)
    for size, rows in experiment.figure6(simulated(case), 1000, skips).items():
        fast, slow = ([rows[str(skip)][field] for skip in skips] for field in ("fast_us", "slow_us"))
        case.expect(fast == sorted(fast, reverse=True) and fast[1] < fast[0], f"{size} bytes: the fast ping-pong gains, not {fast}")
        case.expect(slow[1] < 1.5 * slow[0] and slow[3] > 3 * slow[1], f"{size} bytes: the slow ping-pong loses behind a plateau, not {slow}")
        polls = [rows[str(skip)]["polls"] for skip in skips]
        case.expect(polls == sorted(polls, reverse=True) and polls[0] > 2 * polls[1] > 0, f"{size} bytes: polls {polls}")
        case.expect(all(row["hits"] <= row["polls"] for row in rows.values()), f"{size} bytes: more hits than polls in {rows}")
        # A blocking thread polls for messages only.
        block = rows["block"]
        case.expect(block["polls"] <= 3 * block["hits"], f"{size} bytes: {block['polls']} polls found {block['hits']} messages")


def case_table1(case):
    """Selective polling is best, then the best interval, then forwarding; longer intervals and TCP only are worse; adaptive is near the best interval."""
    rows = experiment.table1(simulated(case), scale=1000)
    seconds = {name: row["step_s"] for name, row in rows.items()}
    fixed = {name: seconds[name] for name in experiment.TABLE_SKIPS}
    best = min(fixed.values())
    case.expect(seconds["selective"] <= best < seconds["forward"], f"selective, the best interval, forwarding: {seconds}")
    case.expect(best < fixed["1"] and best < fixed["13000"], f"the best interval is between the ends: {fixed}")
    worst = max(seconds["1"], seconds["forward"])
    case.expect(seconds["TCP only"] > 4 * worst, f"TCP only is far above {worst}: {seconds['TCP only']}")
    case.expect(seconds["adaptive"] <= ADAPTIVE * best, f"adaptive {seconds['adaptive']}, the best interval {best}")
    case.expect(rows["selective"]["polls"] < rows["1"]["polls"] / 10, f"selective polls seldom: {rows['selective']}, {rows['1']}")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
