#!/usr/bin/env python3
"""The host of communication libraries, by the library of examples/library and by programs that misuse the host.

    tests/libraries/host/host.py --build build/release            every case
    tests/libraries/host/host.py --build build/release stats      one
    tests/libraries/host/host.py --list
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "mpi"))

from launch_case import Skipped, cases_of, run_cases  # noqa: E402

ADDITIONS = 1000


def counter(case):
    return case.build.folder / "examples" / "counter"


def misuse(case):
    return case.build.folder / "tests" / "libraries" / "library_misuse"


def case_adds(case):
    """Additions of every rank to every counter arrive once, over every wire, beside MPI and without it."""
    for ranks, options in ((1, ()), (3, ()), (2, ("--nodes", "2")), (4, ("--nodes", "2"))):
        case.margay("--check-accounting", *options, counter(case), ranks=ranks)
        case.margay("--check-accounting", *options, counter(case), "mpi", ranks=ranks)
        case.expect_lines(f"rank {rank}: the counter has {ADDITIONS * ranks}" for rank in range(ranks))


def case_stats(case):
    """`--stats` prints the library's counters: every addition was answered."""
    case.margay("--stats", counter(case), ranks=3)
    rows = dict(re.findall(r"^ +(additions|.* answered) +(\d+)$", case.last.stderr, re.M))
    case.expect(rows == {"additions": str(9 * ADDITIONS), "requests answered": str(9 * ADDITIONS)}, f"unexpected {rows}")


def case_deadlock(case):
    """A rank in MPI answers no request of the library, so a rank that waits for the answer waits forever: it is proven."""
    case.margay("--deadlock", "abort", counter(case), "deadlock", status=73)
    waits = case.findings("waits", finding="deadlock")
    case.expect(len(waits) == 1, f"one deadlock is expected, not {waits}")
    calls = {wait["rank"]: (wait["call"], wait.get("peer")) for wait in waits[0][0]} if waits else {}
    case.expect(calls.get(1) == ("counter::add", 0), f"rank 1 waits in counter::add for rank 0, not {calls}")
    case.expect(calls.get(0, ("",))[0] == "MPI_Barrier", f"rank 0 waits in MPI_Barrier, not {calls}")


def case_trace(case):
    """Events of the library have its own sentences, and the trace is whole."""
    trace = case.traced(counter(case), ranks=2)
    case.command("trace", "check", trace)
    events = case.events(trace, "library_event")
    kinds = {event["event"] for event in events}
    case.expect(kinds == {0, 1}, f"both kinds of events are expected, not {kinds}")
    printed = case.command("trace", "print", trace, "--kind", "library_event")
    case.expect(re.search(r"asks rank \d to add 1 to its counter", printed), "the sentence of a request is expected")
    case.expect("{" not in printed, "a field of a sentence was not replaced")
    portals = case.command("trace", "print", trace, "--kind", "kernel_arrive,kernel_match", "--rank", "0")
    case.expect("counter: " in portals, "the portal has the library's name for it")


def case_join(case):
    """Descriptions that no library may have, portals of others, and a second join fail; the rank can be joined again."""
    case.margay(misuse(case), "join", ranks=2)
    lines = case.last.stdout.splitlines()
    case.expect(sum(line.endswith(": joined") for line in lines) == 4, f"two joins on two ranks are expected in {lines}")


def case_misuse(case):
    """A library that never ends, aborts, or uses what it has not named."""
    case.margay(misuse(case), "no_end", status="nonzero")
    case.expect(set(case.ids()) == {"no-finalize"}, f"unexpected {case.ids()}")
    case.expect("library misuse" in case.last.stderr, "the report names the library")
    case.margay(misuse(case), "abort", status=5)
    case.expect("aborted" in case.ids(), f"unexpected {case.ids()}")
    for mode in ("outgoing", "observer"):
        case.margay("--check-accounting", misuse(case), mode)
    for mode in ("counter", "hold", "portal", "rank"):
        case.margay(misuse(case), mode, status="nonzero", ranks=1)


def case_foreign(case):
    """With another MPI's library, join() fails with a message instead of an error of the dynamic linker."""
    library = next(iter(pathlib.Path("/usr/lib").glob("*/libmpich.so.12")), None)
    if library is None:
        raise Skipped("MPICH is not installed")
    (case.folder / "libmpi.so.12").symlink_to(library)
    case.run([misuse(case), "foreign"], env={"LD_LIBRARY_PATH": str(case.folder)})
    case.expect("needs margay's libmpi.so.12" in case.last.stdout, "the message names the cure")


def case_lost(case):
    """The death of a rank that a library waits for ends the job, and the report names the death."""
    case.margay(misuse(case), "lost", ranks=3, status="nonzero")
    case.expect("rank-died" in case.ids(), f"unexpected {case.ids()}")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
