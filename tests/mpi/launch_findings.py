#!/usr/bin/env python3
"""The ids that `margay run --report` writes, exactly, for each of a table of programs.

    tests/mpi/launch_findings.py --build build/release                 every case
    tests/mpi/launch_findings.py --build build/release report_ids      one
    tests/mpi/launch_findings.py --list
"""
import json
import pathlib
import sys
import tempfile

from launch_case import SOURCES, cases_of, run_cases

FAULTS = SOURCES.parents[1] / "faults"

# Options of the run, program and arguments, ranks, exit status, ids in order of time. A program that ends with .c is
# compiled.
TABLE = (
    ((), ("who.c",), 2, 0, []),
    ((), ("unreceived.c", "clean"), 2, 0, []),
    (("--leaks",), ("unreceived.c",), 2, 0, ["unreceived-message"] * 3),
    (("--strict",), ("unreceived.c",), 2, 72, ["unreceived-message"] * 3),
    ((), ("unreceived.c", "ready"), 2, 0, ["dropped-ready-send"]),
    ((), ("ends.c", "abort", "7", "1"), 3, 7, ["aborted"]),
    ((), ("ends.c", "fatal"), 2, "nonzero", ["bad-argument", "aborted"]),
    ((), ("ends.c", "exit", "3", "0"), 2, 3, []),
    ((), ("sh", "-c", "kill -SEGV $$"), 1, 139, ["rank-died"]),
    (("--timeout", "1"), ("sleep", "60"), 2, 124, ["timeout"]),
    (("--deadlock", "abort"), (FAULTS / "deadlock.c",), 2, 73, ["deadlock"]),
)


def report_of(case, options, program, ranks, status):
    is_source = str(program[0]).endswith(".c")
    command = case.ours(program[0], ("-pthread",)) if is_source else program[0]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        case.margay("--report", file, *options, command, *program[1:], ranks=ranks, status=status)
        return json.loads(file.read_text())


def case_report_ids(case):
    """Each program of the table has exactly these findings."""
    for options, program, ranks, status, ids in TABLE:
        report = report_of(case, options, program, ranks, status)
        seen = [finding["id"] for finding in report["findings"]]
        case.expect(seen == ids, f"expected the findings {ids}, got {report}")
        case.expect(report["version"] == 1 and report["ranks"] == ranks, "version and ranks")
        case.expect(report["exit_status"] == case.last.status, "the report's exit status is the job's")
        case.expect(report["unlisted_findings"] == 0, "all findings are listed")
        for finding in report["findings"]:
            case.expect(0 <= finding["time_s"] <= report["elapsed_s"], "times lie in the run")


def case_report_message(case):
    """A message that was never received has its source, tag and bytes."""
    report = report_of(case, ("--leaks",), ("unreceived.c",), 2, 0)
    by_tag = {finding["tag"]: finding for finding in report["findings"]}
    case.expect(sorted(by_tag) == [7, 8, 9], f"tags of {report}")
    case.expect([by_tag[tag]["bytes"] for tag in (7, 8, 9)] == [16, 10, 100000], "bytes")
    case.expect(all(finding["peer"] == 0 and finding["ranks"] == [1] for finding in by_tag.values()), "ranks")


def case_report_deadlock(case):
    """A deadlock has each rank's wait: the call, and what it waits for."""
    report = report_of(case, ("--deadlock", "abort"), (FAULTS / "deadlock.c",), 2, 73)
    deadlock = report["findings"][0]
    case.expect(deadlock["ranks"] == [0, 1], f"ranks of {report}")
    for rank, wait in enumerate(deadlock["waits"]):
        case.expect(wait["rank"] == rank and wait["peer"] == 1 - rank, f"whom rank {rank} waits for in {report}")
        case.expect(wait["call"].startswith("MPI_") and wait["tag"] >= 0 and wait["communicator"], f"what in {report}")


def case_report_path(case):
    """A report that cannot be written is an error before the job starts."""
    case.margay("--report", "/nowhere/report.json", case.ours("who.c"), status=2)
    case.expect("option --report: cannot write /nowhere/report.json: " in case.last.stderr, "the path and the reason")
    case.expect(case.last.stdout == "", "no rank ran")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
