#!/usr/bin/env python3
"""Tests of the exact ids that `margay run --report` writes, for each of a table of programs.

    tests/mpi/launch_findings.py --build build/release                 every case
    tests/mpi/launch_findings.py --build build/release report_ids      one
    tests/mpi/launch_findings.py --list
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from launch_case import SOURCES, cases_of, operands, run_cases

FAULTS = SOURCES.parents[1] / "faults"
# Programs whose ranks report all their findings, except with these arguments: findings outside of the rank are not in
# its trace, and the launcher reports how ranks end.
TRACED = ("unreceived.c", "leaks.c", "findings.c", "check_types.c", "disagree.c", "refuses.c")
UNTRACED = (("ready waits",), ("thread",), ("crowd",), ("early",), ("early crowd",), ("late",), ("absent",), ("leaves",))

# Options of the run, program and arguments, ranks, exit status, ids in order of time. A program that ends with .c is
# compiled.
TABLE = (
    ((), ("who.c",), 2, 0, []),
    ((), ("unreceived.c", "clean"), 2, 0, []),
    (("--leaks",), ("unreceived.c",), 2, 0, ["unreceived-message"] * 3),
    (("--strict",), ("unreceived.c",), 2, 72, ["unreceived-message"] * 3),
    ((), ("unreceived.c", "ready"), 2, 0, ["dropped-ready-send"]),
    (("--deadlock", "abort"), ("unreceived.c", "ready waits"), 2, 73, ["dropped-ready-send", "deadlock"]),
    (("--leaks",), ("leaks.c", "lost"), 2, 0, ["leaked-handle"] * 6),
    (("--check-rma",), ("findings.c", "puts"), 2, 49, ["rma-conflict", "aborted"]),
    (("--check-types",), ("check_types.c", "3"), 2, 0, ["type-mismatch"] * 3),
    (("--check-types",), ("check_types.c", "logical"), 2, 0, ["nonportable-type"] * 4),
    (("--check-types",), ("disagree.c", "op"), 3, 0, ["collective-mismatch"]),
    (("--check-types",), ("findings.c", "truncated"), 2, 14, ["type-mismatch", "truncation", "aborted"]),
    ((), ("findings.c", "truncated"), 2, 14, ["truncation", "aborted"]),
    # MPI_ERR_IN_STATUS has the finding of the first failed request.
    ((), ("findings.c", "waitall"), 2, 17, ["truncation", "aborted"]),
    ((), ("findings.c", "waitsome"), 2, 17, ["truncation", "aborted"]),
    ((), ("findings.c", "testall"), 2, 17, ["truncation", "aborted"]),
    # The program returned the class.
    ((), ("findings.c", "copy"), 1, 14, ["mpi-error", "aborted"]),
    ((), ("findings.c", "query"), 1, 14, ["mpi-error", "aborted"]),
    ((), ("findings.c", "queries"), 1, 17, ["mpi-error", "aborted"]),
    ((), ("findings.c", "call"), 1, 14, ["mpi-error", "aborted"]),
    ((), ("findings.c", "completes"), 1, 50, ["mpi-error", "aborted"]),
    ((), ("findings.c", "memory"), 1, 34, ["out-of-memory", "aborted"]),
    (("--nodes", "2"), ("findings.c", "loss"), 2, 101, ["peer-failed", "aborted"]),
    ((), ("findings.c", "longest"), 1, 2, ["bad-argument", "aborted"]),
    # Outside of the rank, and of MPI.
    ((), ("findings.c", "thread"), 1, 12, ["bad-argument", "aborted"]),
    ((), ("findings.c", "early"), 1, 1, ["bad-argument"]),
    ((), ("findings.c", "crowd"), 1, 12, ["bad-argument", "aborted"]),
    ((), ("findings.c", "early crowd"), 1, 1, ["bad-argument"]),
    ((), ("findings.c", "late"), 1, 1, ["bad-argument"]),
    ((), ("refuses.c",), 1, 0, ["unimplemented-function"]),
    ((), ("refuses.c", "abort"), 2, "nonzero", ["unimplemented-function", "aborted"]),
    ((), ("ends.c", "after"), 2, 1, ["mpi-error"] * 2),
    ((), ("ends.c", "abort", "7", "1"), 3, 7, ["aborted"]),
    ((), ("ends.c", "fatal"), 2, "nonzero", ["bad-argument", "aborted"]),
    ((), ("ends.c", "exit", "3", "0"), 2, 3, []),
    ((), ("findings.c", "absent"), 2, 3, ["no-init"]),
    ((), ("findings.c", "leaves"), 2, 3, ["no-finalize"]),
    ((), ("sh", "-c", "kill -SEGV $$"), 1, 139, ["rank-died"]),
    ((), ("bash", "-c", "echo nonsense >&$PMI_FD"), 1, "nonzero", ["launch-protocol"]),
    (("--timeout", "1"), ("sleep", "60"), 2, 124, ["timeout"]),
    (("--deadlock", "abort"), (FAULTS / "deadlock.c",), 2, 73, ["deadlock"]),
)


MEMBERS = {"version", "job", "command", "ranks", "exit_status", "elapsed_s", "findings", "unlisted_findings"}


def report_of(case, options, program, ranks, status):
    is_source = str(program[0]).endswith(".c")
    words = [str(case.ours(program[0], ("-pthread",)) if is_source else program[0]), *map(str, program[1:])]
    report = case.margay(*options, *words, ranks=ranks, status=status).report
    case.expect(report.keys() == MEMBERS and report["command"] == " ".join(words), f"members and command of {report}")
    return report


def ids_with_line(ids):
    """A fatal error's line has the id of the error, and `aborted` none."""
    return ids[:-1] if len(ids) > 1 and ids[-1] == "aborted" else ids


def case_report_ids(case):
    """Each program of the table has exactly these findings, and a line for each."""
    for options, program, ranks, status, ids in TABLE:
        report = report_of(case, options, program, ranks, status)
        seen = [finding["id"] for finding in report["findings"]]
        case.expect(seen == ids, f"expected the findings {ids}, got {report}")
        lines = ids_with_line(ids)
        case.expect(sorted(case.last.ids) == sorted(lines), f"expected the lines of {lines}, got {case.last.ids}")
        case.expect(report["version"] == 1 and report["ranks"] == ranks, "version and ranks")
        case.expect(report["exit_status"] == case.last.status, "the report's exit status is the job's")
        case.expect(report["unlisted_findings"] == 0, "all findings are listed")
        times = [finding["time_s"] for finding in report["findings"]]
        case.expect(times == sorted(times) and all(0 <= time <= report["elapsed_s"] for time in times), f"times in order: {times}")
        case.expect(all(rank < ranks for finding in report["findings"] for rank in finding["ranks"]), "the job's ranks")


def case_report_message(case):
    """A message that was never received has its source, tag, bytes and communicator."""
    report_of(case, ("--leaks",), ("unreceived.c",), 2, 0)
    case.expect_findings([(1, 0, 7, 16, "MPI_COMM_WORLD"), (1, 0, 8, 10, "other"), (1, 0, 9, 100000, "MPI_COMM_WORLD")],
                         "rank", "peer", "tag", "bytes", "communicator")


# By the argument of deadlock.c: each rank's call, and the peer and tag of its wait; the names of the communicators.
WAITS = (
    ((), (("MPI_Recv", 1, 5), ("MPI_Recv", 0, 17)), "MPI_COMM_WORLD"),
    (("probe",), (("MPI_Mprobe", 1, 5), ("MPI_Probe", 0, 17)), "MPI_COMM_WORLD"),
    (("nonblocking",), (("MPI_Wait", 1, 18), ("MPI_Recv", 0, 17)), "MPI_COMM_WORLD"),
    (("partitioned",), (("MPI_Recv", 1, 5), ("MPI_Wait", 0, 17)), r"communicator \d+ \(2 ranks\)"),
    (("isendrecv",), (("MPI_Wait", 1, 5), ("MPI_Recv", 0, 17)), "MPI_COMM_WORLD"),
)


def case_report_truncation(case):
    """A truncated receive has the message's source, tag, bytes and communicator, also in MPI_Waitall."""
    for way in ("truncated", "waitall"):
        finding, aborted = report_of(case, (), ("findings.c", way), 2, 14 if way == "truncated" else 17)["findings"]
        seen = [finding.get(key) for key in ("peer", "tag", "bytes", "communicator")]
        case.expect(seen == [0, 0, 400, "MPI_COMM_WORLD"], f"expected the message in {finding}")
        case.expect(finding["site"].startswith("findings"), f"site of {finding}")
        case.expect(aborted.get("site") == finding["site"], f"expected the site in {aborted}")


PASSING = ("MPI_Send", "MPI_Irecv", "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe", "MPI_Precv_init")
PASSING_BOTH = ("MPI_Sendrecv", "MPI_Isendrecv", "MPI_Sendrecv_replace", "MPI_Isendrecv_replace")


def case_report_argument(case):
    """The finding of a wrong argument of a function that passes messages has the peer and the tag of the invalid part."""
    for function in [(each,) for each in PASSING + PASSING_BOTH] + [(each, "receive") for each in PASSING_BOTH]:
        finding = report_of(case, (), ("findings.c", "wrong", *function), 1, "nonzero")["findings"][0]
        seen = [finding.get(key) for key in ("id", "call", "peer", "tag", "communicator")]
        case.expect(seen == ["bad-argument", function[0], 4711, 5, "MPI_COMM_WORLD"], f"expected the arguments in {finding}")


def case_report_deadlock(case):
    """A deadlock has each rank's wait: the call, and the peer, tag and communicator of the awaited message."""
    for way, expected, communicator in WAITS:
        report = report_of(case, ("--deadlock", "abort"), (FAULTS / "deadlock.c", *way), 2, 73)
        deadlocks = [one for one in report["findings"] if one["id"] == "deadlock"]
        case.expect([one["ranks"] for one in deadlocks] == [[0, 1]], f"one deadlock of both ranks: {report}")
        waits = deadlocks[0].get("waits", []) if deadlocks else []
        seen = [(wait["rank"], wait.get("call"), wait.get("peer"), wait.get("tag")) for wait in waits]
        case.expect(seen == [(rank, *wait) for rank, wait in enumerate(expected)], f"expected the waits {expected}, not {seen}")
        case.expect(all(re.fullmatch(communicator, wait.get("communicator", "")) for wait in waits), f"the communicator of {waits}")
        case.expect(all(wait.get("site", "").startswith("deadlock") for wait in waits), f"the sites of {waits}")


# By the argument of disagree.c: the call of the last rank, and that of all others.
MISMATCHES = (
    ("order", "MPI_Barrier", "MPI_Bcast 4 MPI_INT 0"),
    ("root", "MPI_Reduce 1 MPI_INT MPI_SUM 1", "MPI_Reduce 1 MPI_INT MPI_SUM 0"),
    ("op", "MPI_Allreduce 1 MPI_INT MPI_MAX", "MPI_Allreduce 1 MPI_INT MPI_SUM"),
    ("count", "MPI_Allreduce 2 MPI_INT MPI_SUM", "MPI_Allreduce 3 MPI_INT MPI_SUM"),
)


def case_report_collective(case):
    """Collective calls that do not match have the rank that differs and one of the others, in the order of the message's calls,
    and the first one's call and communicator."""
    for ranks in (2, 3):
        for what, odd, even in MISMATCHES:
            # Some of them wait for ever, and some end in an error.
            findings = report_of(case, ("--check-types", "--deadlock", "abort"), ("disagree.c", what), ranks, None)["findings"]
            found = [finding for finding in findings if finding["id"] == "collective-mismatch"]
            seen = [(finding["ranks"], operands(finding["message"]), finding.get("call"), finding.get("communicator")) for finding in found]
            last = ranks - 1
            pairs = [pair for other in range(last) for pair in ([other, last], [last, other])]
            calls = {rank: odd if rank == last else even for rank in range(ranks)}
            possible = [(pair, " ".join(f"{rank} {calls[rank]} MPI_COMM_WORLD" for rank in pair), calls[pair[0]].split()[0],
                         "MPI_COMM_WORLD") for pair in pairs]
            case.expect(len(seen) == 1 and seen[0] in possible, f"{what}: expected one of {possible}, not {seen}")


def case_report_longest(case):
    """The longest name of a function is whole, in both findings."""
    report = report_of(case, (), ("findings.c", "longest"), 1, 2)
    name = "MPI_Type_create_hindexed_block_c"
    case.expect([finding.get("call") for finding in report["findings"]] == [name] * 2, f"expected {name} in {report}")


def case_report_stray(case):
    """Bytes that a program writes to the findings file hide no record."""
    write = "printf nonsense >&$MARGAY_FINDINGS_FD; exec " + str(case.ours("findings.c")) + " early"
    report = report_of(case, (), ("bash", "-c", write), 2, 1)
    seen = [finding["id"] for finding in report["findings"]]
    case.expect(seen == ["bad-argument"] * 2, f"expected a finding of each rank, got {report}")


def case_report_child(case):
    """A finding in a process that a rank started without its descriptors is reported too."""
    start = f"import subprocess, sys; sys.exit(subprocess.call(['{case.ours('findings.c')}', 'early']))"
    report = report_of(case, (), (sys.executable, "-c", start), 2, 1)
    seen = sorted((finding["id"], finding["ranks"]) for finding in report["findings"])
    case.expect(seen == [("bad-argument", [0]), ("bad-argument", [1])], f"expected a finding of each rank, got {report}")
    case.expect(case.last.ids == ["bad-argument"] * 2, f"expected two lines, got {case.last.ids}")


def case_report_refused(case):
    """A rank that cannot begin MPI has reported the reason."""
    report = report_of(case, (), ("env", "MARGAY_INITIAL_ERRHANDLER=rubbish", case.ours("who.c")), 1, 1)
    case.expect([finding["id"] for finding in report["findings"]] == ["mpi-error"], f"expected mpi-error, got {report}")
    case.expect("MPI_Init failed: MARGAY_INITIAL_ERRHANDLER=rubbish" in case.last.stderr, "why")
    case.expect(case.last.ids == ["mpi-error"], "a line")


def case_report_other_mpi(case):
    """A rank that loads another MPI is named."""
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "libmpi.so.40"
        subprocess.run(["cc", "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
        report = report_of(case, (), ("findings.c", "loads", str(library)), 1, 0)
    seen = [(finding["id"], finding["ranks"]) for finding in report["findings"]]
    case.expect(seen == [("other-mpi", [0])], f"expected other-mpi, got {report}")
    case.expect(case.last.ids == ["other-mpi"], "a line")


def reporter(finding):
    """The rank that reports it: of collective calls rank 0, which compares them."""
    return 0 if finding["id"] == "collective-mismatch" else finding["ranks"][0]


def case_report_trace(case):
    """A traced rank records an event for each finding that it reports, also at its end."""
    for options, program, ranks, status, ids in TABLE:
        if program[0] not in TRACED or program[1:] in UNTRACED:
            continue
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace"
            report = report_of(case, ("--trace", trace, *options), program, ranks, status)
            seen = sorted((event["finding"], event["rank"]) for event in case.events(trace, "finding"))
        expected = sorted((finding["id"], reporter(finding)) for finding in report["findings"] if finding["id"] != "aborted")
        case.expect(seen == expected, f"expected the events {expected}, not {seen}")


def case_report_unstarted(case):
    """The report of a job that does not start has the reason; an invalid option leaves the file unchanged."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        file.write_text("of an earlier run")
        case.margay("--report", file, "--no-such-option", case.ours("who.c"), status=2)
        case.expect(file.read_text() == "of an earlier run", "the file is as it was")
        for words, status in ((["/nowhere/program"], 127), (["-genv", "MARGAY_WAIT", "rubbish", case.ours("who.c")], 2)):
            case.margay("--report", file, *words, status=status)
            report = json.loads(file.read_text())
            case.expect(report["exit_status"] == status and report["findings"] == [], f"status and findings of {report}")
            case.expect("margay: " + report["error"] in case.last.stderr, f"expected the message {report['error']}")


def case_report_killed(case):
    """After the launcher is killed, the report states that."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        case.margay("--report", file, "sh", "-c", "kill -KILL $PPID; sleep 60", ranks=1, status=-9)
        report = json.loads(file.read_text())
        case.expect("error" in report and "exit_status" not in report, f"expected an error in {report}")


def case_report_path(case):
    """A report that cannot be written is an error before the job starts."""
    case.margay("--report", "/nowhere/report.json", case.ours("who.c"), status=2)
    case.expect("option --report: cannot write /nowhere/report.json: " in case.last.stderr, "the path and the reason")
    case.expect(case.last.stdout == "", "no rank ran")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
