#!/usr/bin/env python3
"""Tests of the pages of difficult programs: the page of `margay trace view` for each case of cases.c must agree with
the program.

    tests/mpi/pages/pages.py --build build/release
    tests/mpi/pages/pages.py --build build/release --case halves --keep /tmp/pages
"""
import argparse
import math
import pathlib
import re
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import support  # noqa: E402
from view import Page  # noqa: E402

TIMEOUT = 60
HEAP = 65536
LONG = 1 << 20


def rows_of(page, name):
    """A table as dictionaries, with its texts."""
    table = page.table(name)
    texts = {"name", "wanted", "communicator", "algorithm", "how", "what", "portal_name", "way", "window"}
    return [{column: page.text(values[row]) if column in texts else values[row] for column, values in table.items()}
            for row in range(len(next(iter(table.values()))))]


def standing(page, printed_by):
    """A receive without a message stays posted to the end, whatever sends complete meanwhile."""
    problems = []
    mine = [entry for entry in rows_of(page, "entries") if entry["rank"] == 0 and "tag 77" in entry["wanted"]]
    if len(mine) != 1 or not math.isnan(mine[0]["to"]):
        problems.append(f"the receive of tag 77 is {mine}, and it stands to the end")
    completions = printed_by("--kind", "request_complete", "--rank", "0")
    if len(completions) < 3 or any("request" in line or "send" not in line for line in completions):
        problems.append("rank 0 completes three sends alone, which have no numbers, and these are: " + "\n".join(completions))
    return problems


def killed(page, _):
    """The killed rank 1 has the earliest last event: the end of its last call."""
    last = {rank["rank"]: rank["last"] for rank in page.head["ranks"]}
    calls = page.table("calls")
    ends = [end for rank, end in zip(calls["rank"], calls["end"]) if rank == 1 and not math.isnan(end)]
    if min(last, key=last.get) != 1 or last[1] != max(ends):
        return [f"the ranks' last events are at {last}; rank 1's is the end of its last call, {max(ends)}"]
    return []


def groups_of(page):
    """{name: [sorted ranks of each call]}, and the rows."""
    rows = rows_of(page, "collectives")
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    named = {}
    for group in groups.values():
        named.setdefault(group[0]["name"], []).append(sorted(row["rank"] for row in group))
    return {name: sorted(all_ranks) for name, all_ranks in named.items()}, rows


def halves(page, _):
    named, _ = groups_of(page)
    expected = sorted([[0, 1], [2, 3], [0, 2], [1, 3]])
    if named.get("MPI_Barrier") != expected:
        return [f"MPI_Barrier has the groups {named.get('MPI_Barrier')}, expected {expected}"]
    return []


def persistent(page, printed_by):
    problems = []
    named, rows = groups_of(page)
    for name in ("persistent bcast", "persistent allreduce", "persistent barrier"):
        starts = [int(row["start"]) for row in rows if row["name"] == name and row["rank"] == 0]
        count = 2050 if "barrier" in name else 2
        if starts != list(range(count)):
            problems.append(f"{name}: its starts on rank 0 are {starts[:3]}...{starts[-3:]}, expected 0 to {count - 1}")
        if named.get(name) != [[0, 1]] * count:
            problems.append(f"{name}: {len(named.get(name, []))} groups, expected {count} of both ranks")
    if not any("start 2049 of MPI_COMM_WORLD" in line for line in printed_by()):
        problems.append("print does not show start 2049")
    return problems


def uneven(page, _):
    problems = []
    _, rows = groups_of(page)
    own = {0: 400, 1: 1200}
    for name, factor in (("MPI_Allgatherv", 1), ("MPI_Gatherv", 1), ("MPI_Alltoallv", 2)):
        for row in rows:
            if row["name"] == name and row["bytes"] != factor * own[row["rank"]]:
                problems.append(f"{name}: rank {row['rank']} sends {factor * own[row['rank']]} bytes, the page has {row['bytes']}")
    if sum(row["name"] in ("MPI_Allgatherv", "MPI_Gatherv", "MPI_Alltoallv") for row in rows) != 6:
        problems.append("three calls of two ranks are " + str([row["name"] for row in rows]))
    return problems


def heap(page, printed_by):
    """The contents of the heap fit into it; messages held on its wire are not in it; a header has no body."""
    problems = []
    if {rank["heap"] for rank in page.head["ranks"]} != {HEAP}:
        problems.append(f"the heaps are {[rank['heap'] for rank in page.head['ranks']]}, expected {HEAP}")
    rows, messages = rows_of(page, "heap"), page.table("messages")
    waited = [row for row in rows if row["rank"] == 1 and messages["tag"][row["message"]] >= 0]
    late = [row for row in waited if row["from"] > messages["arrived"][row["message"]] + 1e6]
    held = printed_by("--kind", "kernel_hold")
    if held and not late:
        problems.append("a message was held on its wire, and all are in the heap from their arrival on")
    for row in late:
        if row["from"] != messages["held_until"][row["message"]]:
            problems.append(f"a message is held until {messages['held_until'][row['message']]}, and in the heap from {row['from']}")
    if not held:
        problems.append("no message was held: the case is none of a full heap")
    for row in waited:
        there = sum(other["bytes"] for other in waited
                    if other["from"] <= row["from"] and (math.isnan(other["to"]) or other["to"] > row["from"]))
        if there > HEAP:
            problems.append(f"{there} bytes are in the heap of {HEAP} at {row['from']}")
        length = messages["bytes"][row["message"]]
        if row["bytes"] != (0 if length > 16384 else length):
            problems.append(f"of a message of {length} bytes {row['bytes']} are kept")
    return problems


def bucket(page, _):
    """The scatter's messages are of one phase, the ring's of the other: rank 2 has all, and no rank sends to it."""
    messages = page.table("messages")
    edges = {0: set(), 1: set()}
    for row, collective in enumerate(messages["collective"]):
        if collective >= 0:
            edges[messages["phase"][row]].add((messages["source"][row], messages["destination"][row]))
    if any(source != 2 for source, _ in edges[0]) or edges[1] != {(rank, (rank + 1) % 6) for rank in (2, 3, 4, 5, 0)}:
        return [f"a broadcast by bucket has the phases {edges}"]
    return []


def probes(page, _):
    """A rank that waited in a probe waited for the message that it found: not for others that arrived meanwhile or
    after it."""
    messages = page.table("messages")
    tags = {tag: row for row, tag in enumerate(messages["tag"]) if tag in (1, 2, 3, 4)}
    waited = {tag: messages["receiver_waited"][row] for tag, row in tags.items()}
    stories = {tag: page.stories()[row] for tag, row in tags.items()}
    problems = []
    for tag in (1, 2):
        if not waited[tag] > 1e6 or math.isnan(messages["probed"][tags[tag]]):
            problems.append(f"rank 0 waited in a probe for message {tag}, and the page has {waited} ns by tag")
        if "waited" not in stories[tag]:
            problems.append(f"the story does not have the wait in the probe:\n{stories[tag]}")
    if waited[3] != 0 or "waited" in stories[3]:
        problems.append(f"no rank waited for message 3, and the page has {waited} ns by tag\n{stories[3]}")
    if waited[4] != 0 or not math.isnan(messages["probed"][tags[4]]):
        problems.append(f"MPI_Improbe does not wait, and the page has {waited} ns by tag")
    claimed = {messages["tag"][row["message"]]: not math.isnan(row["claimed"]) for row in rows_of(page, "heap") if row["rank"] == 0}
    if {tag: claimed.get(tag) for tag in tags} != {1: True, 2: False, 3: True, 4: True}:
        problems.append(f"matched probes took out tags 1, 3 and 4; the page has {claimed}")
    return problems


def aside(page, _):
    """A rank that calls with MPI_PROC_NULL takes no part in the call."""
    found = {row["rank"]: row["no_part"] for row in rows_of(page, "collectives")
             if row["communicator"] == "between" and row["name"] == "MPI_Bcast"}
    return [] if found == {0: 0, 1: 0, 2: 1, 3: 0} else [f"who has no part in the broadcast is {found}, expected rank 2 of 4"]


def threads(page, _):
    numbers = [rank["threads"] for rank in page.head["ranks"]]
    return [] if all(number > 1 for number in numbers) else [f"ranks with two threads have {numbers} in the page"]


def onesided(page, _):
    """The accesses of the program, each in the call that made it, and their method on one node."""
    calls = rows_of(page, "calls")
    problems, found = [], []
    for row in rows_of(page, "accesses"):
        call = calls[row["call"]]
        found.append((call["name"], row["rank"], row["target"], row["what"], row["bytes"], row["offset"], row["way"], row["window"]))
        if not call["begin"] <= row["begin"] <= row["end"] == call["end"]:
            problems.append(f"an access from {row['begin']} to {row['end']} is in a call from {call['begin']} to {call['end']}")
    expected = [("MPI_Put", 0, 1, "put", 12, 4, "direct", 'window "board"'), ("MPI_Get", 0, 1, "get", 4, 0, "direct", 'window "board"'),
                ("MPI_Accumulate", 0, 1, "accumulate", 8, 8, "direct", 'window "board"')]
    return problems + ([] if found == expected else [f"the accesses are {found}, expected {expected}"])


def apart(page, _):
    """No receive expects the message of a window's access; the `Taken` of the list states that."""
    rows = rows_of(page, "messages")
    hows = {row["how"] for row in rows if "window" in row["what"] and row["source"] == 0}
    return [] if hows == {"window"} else [f"messages of windows are taken as {hows}: {[(row['what'], row['how']) for row in rows]}"]


def numbers(page, _):
    """The calls of each kind have their own numbers, from 1; a call of several steps, like MPI_Finalize, is one."""
    named, rows = groups_of(page)
    problems = []
    for name, count in (("MPI_Alltoall", 3), ("MPI_Barrier", 2), ("MPI_Bcast", 1), ("MPI_Finalize", 1)):
        for rank in (0, 1):
            found = [row["number"] for row in rows if row["name"] == name and row["rank"] == rank]
            if found != list(range(1, count + 1)):
                problems.append(f"{name} of rank {rank} has the numbers {found}, expected 1 to {count}")
        if named.get(name) != [[0, 1]] * count:
            problems.append(f"{name} has the groups {named.get(name)}")
    return problems


def many(page, _):
    count = len(page.table("messages")["source"])
    return [] if count >= 100000 else [f"{count} messages, expected 100000"]


# Ranks, the launcher's options, exit status.
CASES = {
    standing: (2, ["--timeout", "1"], 124), killed: (3, [], 137), halves: (4, [], 0),
    persistent: (2, ["--trace-events", str(1 << 18)], 0), uneven: (2, [], 0),
    heap: (2, ["--heap", str(HEAP)], 0), bucket: (6, ["--collective", "bcast=bucket"], 0), probes: (2, [], 0), aside: (4, [], 0),
    threads: (2, [], 0), onesided: (2, [], 0), apart: (2, ["--nodes", "2"], 0), numbers: (2, [], 0), many: (2, ["--trace-events", str(1 << 21)], 0),
}
ASKED_ONLY = {"many"}  # for a page that is measured (viewer/test/page/measure.test.js)


def run_case(build, program, case, scratch):
    """The failures of one case's page."""
    ranks, options, status = CASES[case]
    folder, file = str(scratch / f"{case.__name__}.trace"), scratch / f"{case.__name__}.html"
    timeout = [] if "--timeout" in options else ["--timeout", str(TIMEOUT)]
    run = support.execute([*build.launcher(), "-n", str(ranks), *timeout, *options, "--trace", folder, program, case.__name__],
                          TIMEOUT + 15)
    if run.status != status:
        return [run.transcript([f"exit status {run.status}, expected {status}"])]
    view = support.execute([build.tool("margay"), "trace", "view", folder, "-o", str(file)], TIMEOUT)
    if view.status != 0:
        return [view.transcript(["margay trace view fails"])]

    def printed_by(*options):
        """The lines of events that `margay trace print` prints."""
        printed = support.execute([build.tool("margay"), "trace", "print", folder, *options], TIMEOUT).stdout
        return [line for line in printed.splitlines() if re.match(r" *\d", line)]

    return case(Page(file.read_text(encoding="utf-8")), printed_by)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    parser.add_argument("--case", choices=[case.__name__ for case in CASES], help="this one only")
    parser.add_argument("--keep", type=pathlib.Path, help="leave traces and pages in this new folder")
    options = parser.parse_args()
    build = support.Build(options.build)
    if not build.has_page():
        print("skipped: margay was built without its page")
        return 77
    program = support.compile_program(build, build.tool("mpicc"), FOLDER / "cases.c", ".margay", ["-g", "-pthread"])
    problems = 0
    with tempfile.TemporaryDirectory() as scratch:
        if options.keep:
            options.keep.mkdir()
        for case in CASES:
            if case.__name__ in ASKED_ONLY if options.case is None else options.case != case.__name__:
                continue
            found = run_case(build, program, case, options.keep or pathlib.Path(scratch))
            for problem in found[:10]:
                print(f"{case.__name__}: {problem}")
            problems += len(found)
    print(f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
