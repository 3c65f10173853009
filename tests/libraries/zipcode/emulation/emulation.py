#!/usr/bin/env python3
"""Tests of NX and LMPS on Zipcode, over every wire, with the accounting of letters.

    tests/libraries/zipcode/emulation/emulation.py --build build/release           every case
    tests/libraries/zipcode/emulation/emulation.py --build build/release types     one
    tests/libraries/zipcode/emulation/emulation.py --list
"""
import csv
import io
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "mpi"))

from launch_case import cases_of, run_cases  # noqa: E402

WORLDS = ((1, ()), (2, ()), (2, ("--nodes", "2")), (4, ("--nodes", "2")), (5, ()))
SANITIZED = ((4, ("--nodes", "2")),)


def program(case, name):
    return case.build.folder / "tests" / "libraries" / f"zipcode_{name}"


def everywhere(case, name, of="nx", arguments=True):
    for ranks, options in SANITIZED if case.build.sanitizer else WORLDS:
        case.margay("--check-accounting", *options, program(case, of), *([name] if arguments else []), ranks=ranks)
        case.expect_lines([f"{name}: right"])


def case_paragon(case):
    """A program of the Paragon, of which only the include line is changed."""
    for ranks, options in SANITIZED if case.build.sanitizer else WORLDS:
        case.margay("--check-accounting", *options, program(case, "paragon"), ranks=ranks)
        case.expect_lines([f"pi 3.141593, token {ranks} of {ranks}"])


def case_types(case):
    """Selection by type, -1, masks and force types; the info calls."""
    everywhere(case, "types")


def case_probes(case):
    """cprobe, iprobe and their x forms."""
    everywhere(case, "probes")


def case_asynchronous(case):
    """isend, irecv, msgwait, msgdone, msgmerge, msgignore, msgcancel, csendrecv, isendrecv."""
    everywhere(case, "asynchronous")


def case_handlers(case):
    """hsend, hrecv, hrecvx, hsendrecv; masktrap delays handlers."""
    everywhere(case, "handlers")


def case_globals(case):
    """Global operations, gcol, gcolx, gopf, gsendx, a send to all."""
    everywhere(case, "globals")


def case_lengths(case):
    """Messages of no byte and of 200,000."""
    everywhere(case, "lengths")


def case_errors(case):
    """Errors of the plain and of the underscore forms."""
    everywhere(case, "errors")


def case_registry(case):
    """A library of NX with a mailer of its own, while messages of its caller with the same type are pending."""
    everywhere(case, "registry")


def case_lmps(case):
    """Tagged messages of two subroutines with equal tags, by sender, by tag, by neither."""
    everywhere(case, "lmps", of="lmps", arguments=False)


def case_failing(case):
    """A program of NX that fails ends the job; it does not wait for the others."""
    case.margay(program(case, "nx"), "unknown", ranks=2)
    case.expect_lines(["unknown: right"])
    case.margay("sh", "-c", f"test $MARGAY_RANK != 1 || exit 3; exec {program(case, 'paragon')}", ranks=2, status=3)


# Programs that wait forever, and the calls in which their two nodes do.
WAITS = {"crecv": ("crecv", "crecv"), "msgwait": ("msgwait", "msgwait"), "cprobe": ("cprobe", "cprobe"), "gsync": ("gsync", "crecvx"),
         "handler": ("crecv", "crecv"), "lmps_recv": ("lmps_recv", "lmps_recv")}


def case_waits(case):
    """Reports name the call that the program has made, and its place there, not the calls of Zipcode inside."""
    for name, calls in WAITS.items():
        case.margay("--deadlock", "abort", program(case, "waits"), name, ranks=2, status=73)
        waits = case.findings("waits", finding="deadlock")[0][0]
        case.expect(tuple(wait["call"] for wait in waits) == calls, f"{name}: the calls {calls} are expected, not {waits}")
        if not case.build.sanitizer:
            case.expect(all(wait["site"].startswith("waits.c:") for wait in waits), f"{name}: places in the program, not {waits}")


def case_failed_call(case):
    """An error that ends the job names the program's call."""
    case.margay(program(case, "waits"), "fail", ranks=1, status=1)
    case.expect_said("zipcode: crecv: a message of type 6")


def case_traced_calls(case):
    """A trace has each call of the program once."""
    trace = case.traced(program(case, "waits"), "talk", ranks=2)
    case.command("trace", "check", trace)
    table = case.command("trace", "export", trace, "--format", "csv", "--table", "calls")
    calls = [row["call"] for row in csv.DictReader(io.StringIO(table)) if row["rank"] == "1"]
    expected = ["csend", "crecv", "gisum"]
    case.expect([call for call in calls if call in expected] == expected, f"{expected} once each, in {calls}")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
