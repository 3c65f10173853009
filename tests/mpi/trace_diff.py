#!/usr/bin/env python3
"""Tests of `margay trace diff`, and of the page with a difference.

    tests/mpi/trace_diff.py --build build/release

Runs of tests/mpi/exports/rounds.c, real and in virtual time, of which the number of each call and message is known.
"""
import argparse
import json
import pathlib
import shutil
import sys
import tempfile

import support
from view import Page

TIMEOUT = 60
RANKS = 4
FOLDER = pathlib.Path(__file__).resolve().parent
EQUAL, BAD, DIFFERS, WRONG_LINE = 0, 1, 2, 2
PATH_OF = FOLDER.parents[1] / "viewer" / "test" / "path_of.js"


class Tests:
    def __init__(self, build, scratch):
        self.build = build
        self.scratch = pathlib.Path(scratch)
        self.program = support.compile_program(build, build.tool("mpicc"), FOLDER / "exports" / "rounds.c", ".margay", ["-O1"])
        self.problems = []

    def check(self, what, good, shown=""):
        if not good:
            self.problems.append(f"{what}: {shown}"[:3000])

    def record(self, name, *arguments, ranks=RANKS, options=()):
        """The trace of a real run."""
        folder = self.scratch / name
        run = support.execute(self.build.margay_run(ranks, timeout=TIMEOUT) + [*options, "--trace", str(folder), self.program, *arguments], TIMEOUT + 15)
        self.problems += run.problems(0)
        return folder

    def simulate(self, name, *arguments, compute="none"):
        """The trace of a run in virtual time."""
        folder = self.scratch / name
        run = support.execute([self.build.tool("margay"), "simulate", "-n", str(RANKS), "--machine", "paragon", "--compute", compute,
                               "--trace", str(folder), self.program, *arguments], TIMEOUT)
        self.problems += run.problems(0)
        return folder

    def trace(self, *arguments):
        return support.execute([self.build.tool("margay"), "trace", *map(str, arguments)], TIMEOUT)

    def difference(self, a, b, status):
        """The JSON of a difference, which has the exit status."""
        run = self.trace("diff", a, b, "--json", "-")
        self.check(f"exit status for {a.name}, {b.name}", run.status == status, f"{run.status}, not {status}\n{run.stdout}{run.stderr}")
        return json.loads(run.stdout)


def rows_of(difference, section):
    """{name of a row: {measure: (a, b)}}; None: the section is absent."""
    for each in difference["sections"]:
        if each["id"] == section:
            names = [measure["name"] for measure in each["measures"]]
            return {row["name"]: dict(zip(names, zip(row["a"], row["b"]))) for row in each["rows"]}
    return None


def counts(tests, record):
    """Runs of 5 and 7 rounds of 100 bytes: two more calls of each rank, two more messages of each pair in the ring."""
    a, b = record("five", "5", "100"), record("seven", "7", "100")
    difference = tests.difference(a, b, DIFFERS)
    tests.check("equal_counts", difference["equal_counts"] is False)
    for run in ("a", "b"):
        tests.check("ranks", difference[run]["ranks"] == RANKS and difference[run]["notes"] == [], str(difference[run]))
    calls = rows_of(difference, "calls")
    for name in ("MPI_Sendrecv", "MPI_Allreduce"):
        tests.check(name, calls[name]["calls"] == (5 * RANKS, 7 * RANKS), str(calls[name]))
    tests.check("MPI_Finalize", calls["MPI_Finalize"]["calls"] == (RANKS, RANKS), str(calls["MPI_Finalize"]))
    tests.check("sent bytes", calls["MPI_Sendrecv"]["sent bytes"] == (5 * RANKS * 100, 7 * RANKS * 100), str(calls["MPI_Sendrecv"]))
    pairs, ranks = rows_of(difference, "pairs"), rows_of(difference, "ranks")
    for rank in range(RANKS):
        pair = pairs[f"{rank} > {(rank + 1) % RANKS}"]
        bytes_more = pair["bytes"][1] - pair["bytes"][0]
        tests.check(f"pair of rank {rank}", 200 <= bytes_more < 300, str(pair))  # and bodies of reductions
        of_rank = ranks[f"rank {rank}"]["calls"]
        tests.check(f"calls of rank {rank}", of_rank[1] - of_rank[0] == 4, str(of_rank))
    short = rows_of(difference, "protocols")["short"]
    tests.check("short messages", short["bytes"][1] - short["bytes"][0] == 200 * RANKS, str(short))
    totals = rows_of(difference, "totals")[""]
    for measure, of_section, their_measure in (("calls", "calls", "calls"), ("messages", "pairs", "messages"), ("bytes", "pairs", "bytes"), ("in calls", "ranks", "in calls")):
        sums = tuple(sum(row[their_measure][i] for row in rows_of(difference, of_section).values()) for i in (0, 1))
        tests.check(f"total of {measure}", totals[measure] == sums, f"{totals[measure]}, {sums}")
    text = tests.trace("diff", a, b)
    tests.check("text", text.status == DIFFERS and "MPI_Allreduce" in text.stdout and "MPI_Comm_size  calls" not in text.stdout, text.stdout)
    fewer = tests.trace("diff", a, b, "--count", "1")
    tests.check("--count 1", len(fewer.stdout.splitlines()) < len(text.stdout.splitlines()), fewer.stdout)


def real(tests):
    """Real runs: as `counts`; two runs of one program have equal counts."""
    counts(tests, tests.record)
    again = tests.record("again", "5", "100")
    difference = tests.difference(tests.scratch / "five", again, EQUAL)
    tests.check("times of real runs", not difference["equal_times"] and difference["a"]["clock"] == "real", str(difference["a"]))


def virtual(tests):
    """Runs in virtual time: as `counts`; equal runs have equal counts and times."""
    if tests.build.sanitizer:
        return
    counts(tests, lambda name, *arguments: tests.simulate("virtual_" + name, *arguments))
    again = tests.simulate("virtual_again", "5", "100")
    difference = tests.difference(tests.scratch / "virtual_five", again, EQUAL)
    tests.check("equal runs", difference["equal_times"] and difference["a"]["clock"] == "virtual", str(difference["a"]))
    text = tests.trace("diff", tests.scratch / "virtual_five", again).stdout
    tests.check("the text of equal runs", "equal" in text and len(text.splitlines()) == 3, text)
    slower = tests.simulate("slower", "5", "100", compute="calls=1us")
    difference = tests.difference(again, slower, EQUAL)
    tests.check("times of a slower run", not difference["equal_times"] and rows_of(difference, "totals")[""]["time"][1] > rows_of(difference, "totals")[""]["time"][0])


def sizes(tests):
    """Runs of different sizes: totals and calls only."""
    difference = tests.difference(tests.record("four", "2", "8"), tests.record("three", "2", "8", ranks=3), DIFFERS)
    tests.check("ranks", rows_of(difference, "totals")[""]["ranks"] == (4, 3))
    tests.check("calls", rows_of(difference, "calls")["MPI_Allreduce"]["calls"] == (8, 6))
    for section in ("pairs", "ranks", "path_ranks"):
        tests.check(section, rows_of(difference, section) is None)


def bad_input(tests):
    """Bad folders and lines: the usual exit status, and the name of the bad word."""
    good = tests.record("good", "1", "8")
    empty = tests.scratch / "empty"
    empty.mkdir()
    for arguments, status, word in (((good, empty), BAD, "empty"), ((empty, good), BAD, "empty"), ((good, "/nonesuch"), BAD, "/nonesuch"), ((good,), WRONG_LINE, "b"),
                                    ((good, good, "--count", "0"), WRONG_LINE, "--count"), ((good, good, "--json", "/nonesuch/x"), BAD, "/nonesuch"),
                                    ((good, good, "--json", good / "rank_00000.trace"), BAD, "rank_00000.trace")):
        run = tests.trace("diff", *arguments)
        tests.check(" ".join(map(str, arguments)), run.status == status and word in run.stderr, f"{run.status}\n{run.stderr}")
    view = tests.trace("view", good, "--compare", empty, "-o", tests.scratch / "never.html")
    tests.check("a page with a bad folder", view.status in (BAD,) and not (tests.scratch / "never.html").exists(), view.stderr)


def page(tests):
    """The page has the difference as JSON has it, and the same critical path."""
    if not tests.build.has_page():
        print("    left out: margay was built without its page")
        return
    a, b = tests.record("a", "20", "100"), tests.record("b", "20", "100000", options=("--nodes", "2"))
    file = tests.scratch / "page.html"
    run = tests.trace("view", a, "--compare", b, "-o", file)
    tests.check("view", run.status == 0, run.stderr)
    shown, written = Page(file.read_text(encoding="utf-8")).head.get("difference"), tests.difference(a, b, DIFFERS)
    tests.check("the page's difference", shown == written, f"{shown}\n{written}")
    if shutil.which("node") is None:
        print("    left out: node is not installed")
        return
    for folder, of_run in ((a, "a"), (b, "b")):
        tests.check("view", tests.trace("view", folder, "-o", file).status == 0)
        theirs = json.loads(support.execute(["node", str(PATH_OF), str(file)], TIMEOUT).stdout)
        index = 0 if of_run == "a" else 1
        path = {name: times["time"][index] for name, times in rows_of(written, "path").items()}
        names = {"computing": "computing", "in calls": "calls", "waiting": "waiting", "sent until seen": "wire"}
        tests.check(f"critical path of {of_run}", all(path[name] == theirs["totals"][part] for name, part in names.items()), f"{path}\n{theirs}")
        by_rank = {name: times["time"][index] for name, times in rows_of(written, "path_ranks").items() if times["time"][index] > 0}
        their_ranks = {f"rank {rank}": sum(parts.values()) for rank, parts in theirs["by_rank"].items() if sum(parts.values()) > 0}
        tests.check(f"ranks of the critical path of {of_run}", by_rank == their_ranks, f"{by_rank}\n{their_ranks}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    build = support.Build(parser.parse_args().build)
    problems = []
    for case in (real, virtual, sizes, bad_input, page):
        with tempfile.TemporaryDirectory() as scratch:
            tests = Tests(build, scratch)
            case(tests)
            problems += [f"{case.__name__}: {problem}" for problem in tests.problems]
    print("\n".join(problems[:20]))
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
