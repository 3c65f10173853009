#!/usr/bin/env python3
"""Tests of the stories of random traffic: every message has a complete story, and the stories' sums equal those of
--stats: messages and bytes by protocol and by wire, entries of walks, drops. In every third run a rank is killed: its
file has only true events, and missing ones are not printed. Beside each run of traffic there is one of varied.c (types,
tags, communicators, modes, wildcards, collective calls), whose ranks write their received messages to files: the
stories must agree with them.

    tests/mpi/stories.py --build build/release --runs 6
"""
import argparse
import collections
import csv
import pathlib
import re
import sys
import tempfile

import support
from story_sums import StorySums

TIMEOUT = 60
EVENTS = 1 << 21
SHAPES = [(2, 1), (3, 1), (3, 2), (4, 1), (2, 2), (4, 3)]  # ranks, nodes
# The names in --stats of the protocols that the trace has by these names.
SHORT = {"short": "short", "synchronous_short": "short synchronous", "buffered": "buffered"}
LONG = {"long": ("long, matched", "long, pulled"), "synchronous_long": ("long synchronous",)}


def stats_of(text):
    """Messages and bytes by the names of --stats."""
    rows = re.findall(r"^    (\S.*?)\s{2,}(\d+)\s+(\d+)$", text, re.M)
    return {name: (int(messages), int(count)) for name, messages, count in rows}


def stories_of(build, folder):
    """The lines of `margay trace messages`, as dictionaries."""
    run = support.execute([build.tool("margay"), "trace", "messages", folder, "--csv"], TIMEOUT)
    if run.status != 0:
        sys.exit(run.transcript(["margay trace messages fails"]))
    return list(csv.DictReader(run.stdout.splitlines()))


def sums_differ(build, folder, run, missing=0):
    """Differences between the sums of all stories, including those of the library's messages, and the wires, walks and
    drops of --stats."""
    printed = support.execute([build.tool("margay"), "trace", "story", folder, "--all", "--count", str(EVENTS)], TIMEOUT)
    if printed.status != 0:
        return [printed.stdout[-2000:] + printed.stderr]
    return StorySums(printed.stdout).differences(run.stdout + run.stderr, missing)


def compare(stories, stats):
    """The unequal sums, as sentences."""
    sums = collections.Counter()
    sizes = collections.Counter()
    for story in stories:
        sums[story["protocol"]] += 1
        sizes[story["protocol"]] += int(story["bytes"])
    wanted = {protocol: stats.get(name, (0, 0)) for protocol, name in SHORT.items()}
    for protocol, names in LONG.items():
        wanted[protocol] = tuple(sum(stats.get(name, (0, 0))[i] for name in names) for i in (0, 1))
    problems = [f"{protocol}: {sums[protocol]} stories of {sizes[protocol]} bytes, --stats has {both[0]} of {both[1]}"
                for protocol, both in wanted.items() if (sums[protocol], sizes[protocol]) != both]
    pulled = sum("pulled" in story["how"] for story in stories)
    if pulled != stats.get("get", (0, 0))[0]:
        problems.append(f"{pulled} stories have a pull, and --stats {stats.get('get', (0, 0))[0]} gets")
    return problems


def run_once(build, program, ranks, nodes, seed):
    """The failures of one run, as sentences; and its number of messages."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = str(pathlib.Path(scratch) / "trace")
        command = build.margay_run(ranks, timeout=TIMEOUT) + ["--nodes", str(nodes), "--stats", "--trace", folder,
                                                               "--trace-events", str(EVENTS), program, str(seed)]
        run = support.execute(command, TIMEOUT + 15)
        if problems := run.problems(0):
            return problems, 0
        check = support.execute([build.tool("margay"), "trace", "check", folder], TIMEOUT)
        problems = [] if check.status == 0 and "note:" not in check.stdout else [check.stdout]
        stories = stories_of(build, folder)
        problems += sums_differ(build, folder, run)
        return problems + compare(stories, stats_of(run.stdout + run.stderr)), len(stories)


def run_killed(build, program, ranks, nodes, seed):
    """The same for a run whose rank 1 kills itself."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = str(pathlib.Path(scratch) / "trace")
        command = [*build.launcher(), "-n", str(ranks), "--timeout", str(TIMEOUT), "--nodes", str(nodes), "--stats", "--trace",
                   folder, "--trace-events", str(EVENTS), program, str(seed), str(20 + 31 * seed % 150)]
        run = support.execute(command, TIMEOUT + 15)
        if run.status != 137:
            return [run.transcript([f"exit status {run.status}, expected 137: rank 1 kills itself"])], 0
        check = support.execute([build.tool("margay"), "trace", "check", folder], TIMEOUT)
        problems = [] if check.status == 0 else [check.stdout + check.stderr]
        stories = stories_of(build, folder)
        if not any(story["destination"] == "1" and story["how"] != "not known" for story in stories):
            problems.append("no message to the killed rank has a story of its receipt")
        printed = support.execute([build.tool("margay"), "trace", "story", folder, "--to", "1", "--count", "10000"], TIMEOUT)
        if printed.status != 0:
            problems.append(printed.stdout[-2000:] + printed.stderr)
        # Rank 1 kills itself in its own code; each of the others may be killed between its count and its record.
        return problems + sums_differ(build, folder, run, missing=ranks - 1), len(stories)


def received_of(folder):
    """The records of the ranks of varied.c: {(source, destination, tag, count, type, communicator): number}."""
    lines = [line.split() for path in pathlib.Path(folder).iterdir() for line in path.read_text(encoding="utf-8").splitlines()]
    return collections.Counter((*map(int, line[:4]), *line[4:]) for line in lines)


# The ends of messages without a receive. "unexpected" of a killed rank is open: the message is in the heap, or a
# receive took it.
NOT_RECEIVED = {"not known", "never received", "not arrived", "broken off", "held", "dropped", "cancelled"}


def shown_of(stories):
    """The same for stories that contain a receipt; those whose receipt is open because the receiver was killed; and
    sentences about stories that do not parse."""
    shown, open_ones, problems = collections.Counter(), collections.Counter(), []
    for story in stories:
        what = re.fullmatch(r"(\d+) x (\S+), tag (\d+) from \d+ in (\S+?)(?:, ready)?", story["what"])
        if not what:
            problems.append(f"a message of the program is shown as {story['what']}")
        elif story["how"] not in NOT_RECEIVED:
            one = int(story["source"]), int(story["destination"]), int(what[3]), int(what[1]), what[2], what[4]
            shown[one] += 1
            open_ones[one] += story["how"] == "unexpected"
    return shown, open_ones, problems


def run_varied(build, program, ranks, nodes, seed, killed):
    """The failures of one run of varied.c, as sentences; and its number of messages."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, log = str(pathlib.Path(scratch) / "trace"), pathlib.Path(scratch) / "log"
        log.mkdir()
        command = [*build.launcher(), "-n", str(ranks), "--timeout", str(TIMEOUT), "--nodes", str(nodes), "--stats", "--trace",
                   folder, "--trace-events", str(EVENTS), program, str(seed), str(log), *([str(7 + 13 * seed % 40)] if killed else [])]
        run = support.execute(command, TIMEOUT + 15)
        if (run.status == 0) == killed:
            return [run.transcript([f"exit status {run.status}"])], 0
        check = support.execute([build.tool("margay"), "trace", "check", folder], TIMEOUT)
        problems = [] if check.status == 0 else [check.stdout + check.stderr]
        stories = stories_of(build, folder)
        received = received_of(log)
        shown, open_ones, more = shown_of(stories)
        problems += more[:5]
        problems += [f"received {count} times, shown {shown[one]} times: {one}" for one, count in received.items() if shown[one] < count]
        # A rank that ended with others may have received one more than it recorded.
        extra = shown - received - (open_ones if killed else collections.Counter())
        for rank in range(ranks):
            here = [one for one in extra.elements() if one[1] == rank]
            if len(here) > (1 if killed else 0):
                problems.append(f"rank {rank} has received by its story, and did not write down: {here}")
        return problems + sums_differ(build, folder, run, missing=ranks - 1 if killed else 0), len(stories)


def run_dropped(build, program):
    """The failures of a run whose ready sends find no receive, as sentences."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = str(pathlib.Path(scratch) / "trace")
        run = support.execute([*build.launcher(), "-n", "2", "--timeout", str(TIMEOUT), "--stats", "--trace", folder, program], TIMEOUT + 15)
        if problems := run.problems(0):
            return problems
        if "dropped: no match" not in run.stdout + run.stderr:
            return [run.transcript(["no message was dropped"])]
        return sums_differ(build, folder, run)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    parser.add_argument("--runs", type=int, default=6)
    arguments = parser.parse_args()
    build = support.Build(arguments.build)
    source = pathlib.Path(__file__).parent / "traffic.c"
    program = support.compile_program(build, build.tool("mpicc"), source, ".margay", [])
    varied = support.compile_program(build, build.tool("mpicc"), source.parent / "launch" / "varied.c", ".margay", ["-g"])
    dropping = support.compile_program(build, build.tool("mpicc"), source.parent / "ready_dropped.c", ".margay", [])
    failed = 0
    for problem in run_dropped(build, dropping):
        failed = 1
        print(f"dropped: {problem}")
    for number in range(arguments.runs):
        ranks, nodes = SHAPES[number % len(SHAPES)]
        once = run_killed if number % 3 == 2 else run_once
        problems, messages = once(build, program, ranks, nodes, number)
        failed += bool(problems)
        for problem in problems:
            print(f"run {number}, {ranks} ranks on {nodes} nodes: {problem}")
        more, others = run_varied(build, varied, ranks, nodes, number, killed=number % 3 == 2)
        failed += bool(more and not problems)
        for problem in more:
            print(f"run {number}, varied, {ranks} ranks on {nodes} nodes: {problem}")
        print(f"run {number}: {ranks} ranks on {nodes} nodes, {messages} and {others} messages")
    print(f"{arguments.runs} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
