#!/usr/bin/env python3
"""Tests of the host of communication libraries, with the library of examples/library and with programs that misuse the host.

    tests/libraries/host/host.py --build build/release            every case
    tests/libraries/host/host.py --build build/release stats      one
    tests/libraries/host/host.py --list
"""
import itertools
import json
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


def ways_program(case):
    return case.build.folder / "tests" / "libraries" / "library_ways"


# Ranks, options, and by pair of ranks the wires that are open, the usual one first.
WAYS = (
    (2, (), {(0, 0): ["self"], (0, 1): ["shm"]}),
    (2, ("--way", "shm,tcp"), {(0, 0): ["self"], (0, 1): ["shm", "tcp"], (1, 0): ["shm", "tcp"]}),
    (2, ("--way", "tcp,shm"), {(0, 1): ["tcp", "shm"], (1, 0): ["tcp", "shm"]}),
    (2, ("--way", "tcp"), {(0, 0): ["self"], (0, 1): ["tcp"]}),
    (3, ("--way", "shm,tcp", "--wire-tcp", "epoll"), {(0, 2): ["shm", "tcp"], (2, 0): ["shm", "tcp"]}),
    (2, ("--nodes", "2", "--way", "shm,tcp"), {(0, 1): ["tcp"], (1, 1): ["self"]}),
    (1, ("--way", "shm,tcp"), {(0, 0): ["self"]}),
)


def case_ways(case):
    """Messages name their ways; links that move keep their order; the law holds for each pair and way."""
    for ranks, options, expected in WAYS:
        case.margay("--check-accounting", "--stats", *options, ways_program(case), ranks=ranks)
        rows = re.findall(r"^row (\d+) (\d+) (\w+) (open|closed) (usual|further)$", case.last.stdout, re.M)
        for (rank, peer), wires in expected.items():
            found = [row[2] for row in rows if (int(row[0]), int(row[1]), row[3]) == (rank, peer, "open")]
            case.expect(found == wires, f"{options}: from {rank} to {peer} {wires} are expected, not {found}")
        usual = [row for row in rows if row[4] == "usual"]
        case.expect(len(usual) == ranks * ranks, f"{options}: one usual way for each pair, not {len(usual)}")


def case_ways_traced(case):
    """A message's identity has its way, and the trace of two ways is whole."""
    trace = case.traced("--way", "shm,tcp", ways_program(case), ranks=2)
    case.command("trace", "check", trace)
    listed = case.command("trace", "messages", trace, "--csv").splitlines()
    for prefix in ("0,1,tcp.", "1,0,tcp."):
        case.expect(any(prefix in line for line in listed), f"no message {prefix}N is listed")
    story = case.command("trace", "story", trace, "0:1:tcp.1")
    case.expect("0>1 #tcp.1" in story, f"the story names another message: {story[:200]}")
    case.expect("sends number 1 to rank 1" in story, "the story lacks the library's event")


def case_ways_refused(case):
    """Lists that no job can use fail before a rank starts (2), or in each rank (1), with the wire and the cure."""
    for options, word, status in ((("--way", "carrier"), "carrier", 2), (("--way", "shm,shm"), "twice", 2),
                                  (("--nodes", "2", "--way", "shm"), "--way", 1)):
        case.margay(*options, ways_program(case), status=status, ranks=2)
        case.expect(word in case.last.stderr, f"{options}: the error does not name {word}: {case.last.stderr}")


def case_stats(case):
    """`--stats` prints the library's counters: every addition was answered."""
    case.margay("--stats", counter(case), ranks=3)
    rows = dict(re.findall(r"^ +(additions|.* answered) +(\d+)$", case.last.stderr, re.M))
    case.expect(rows == {"additions": str(9 * ADDITIONS), "requests answered": str(9 * ADDITIONS)}, f"unexpected {rows}")


def case_deadlock(case):
    """A rank in MPI answers no request of the library, so a rank that waits for the answer deadlocks, which is proven."""
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


def case_messages(case):
    """Messages of the library are listed without --all, by its names for portals, match bits and entries."""
    trace = case.traced(counter(case), ranks=2)
    rows = case.command("trace", "messages", trace, "--csv").splitlines()[1:]
    case.expect(len(rows) == 8 * ADDITIONS, f"{8 * ADDITIONS} messages are expected, not {len(rows)}")
    kinds = {row.split(",", 8)[8].strip('"') for row in rows}
    named = {f"8 bytes, {kind}, portal 53 (counter: requests and answers)" for kind in ("a request", "an answer")}
    case.expect(kinds == named, f"unexpected {kinds}")
    match = case.command("trace", "print", trace, "--kind", "kernel_match")
    case.expect('the entry "requests"' in match and 'the entry "answers"' in match, "the entries have the library's names")
    passed = case.command("trace", "print", trace, "--kind", "kernel_pass")
    case.expect("it accepts an answer, and the message is a request" in passed, "the walk explains itself by these names")


def case_story(case):
    """The story of a message has the library's event about it, between its own steps."""
    trace = case.traced(counter(case), ranks=2)
    asked = next(event for event in case.events(trace, "library_event") if event["event"] == 0 and (event["source"], event["destination"]) == (0, 1))
    case.expect(asked.get("sequence", 0) != 0, f"the event names its message, not {asked}")
    story = case.command("trace", "story", trace, f"0:1:{asked['sequence']}").splitlines()
    steps = [index for index, line in enumerate(story) if "counter: asks rank 1 to add 1 to its counter" in line]
    case.expect(len(steps) == 1, f"one event is expected in {story}")
    case.expect(any("puts its header" in line for line in story[:steps[0]]), "the event is behind the message's sending")


def case_export(case):
    """The exports for Chrome and Perfetto have the library's events, and the page has a table of them."""
    trace = case.traced(counter(case), ranks=2)
    count = len(case.events(trace, "library_event"))
    chrome = json.loads(case.command("trace", "export", trace, "--format", "chrome"))["traceEvents"]
    instants = [event for event in chrome if event.get("cat") == "library"]
    case.expect(len(instants) == count, f"{count} instants are expected, not {len(instants)}")
    case.expect({event["ph"] for event in instants} == {"i"}, "each is an instant")
    case.expect(any(event["name"] == "counter: asks rank 1 to add 1 to its counter" for event in instants), "by its sentence")
    perfetto = case.folder / "trace.perfetto"
    case.command("trace", "export", trace, "--format", "perfetto", "--output", perfetto)
    case.expect(b"counter: asks rank 1 to add 1 to its counter" in perfetto.read_bytes(), "Perfetto's trace has the events")
    page = case.folder / "page.html"
    case.command("trace", "view", trace, "--output", page)
    head = json.loads(re.search(r'id="margay-head">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1])
    case.expect(head["tables"]["library_events"]["rows"] == count, "the page has a row for each event")


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
    for mode in ("outgoing", "observer", "attach", "rounds"):
        case.margay("--check-accounting", misuse(case), mode)
    case.margay(misuse(case), "destroyed", status="nonzero")
    case.expect("destroys a message that is still under way" in case.last.stderr, "the message names the mistake")
    for mode in ("counter", "hold", "portal", "rank"):
        case.margay(misuse(case), mode, status="nonzero", ranks=1)


def case_polling(case):
    """A library sets the intervals of the rank's wires, switches a wire off and on, and gets its counts; invalid arguments fail."""
    case.margay(misuse(case), "polling")
    case.expect_lines(["polling: holds"] * 2)


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


def case_held(case):
    """A deadlock with a message that a full heap holds: the report names message, portal and heap."""
    case.margay("--deadlock", "abort", misuse(case), "held", status=73)
    waits = {wait["rank"]: wait for wait in case.findings("waits", finding="deadlock")[0][0]}
    held = waits[0].get("held", "")
    case.expect(re.fullmatch(r"message \d+ of rank 1 \(256 bytes\): no room for it in the heap of portal 53 "
                             r"\(misuse: a free portal\)", held), f"unexpected {held!r}")
    case.expect("held" not in waits[1], "no message to rank 1 is held")
    case.expect("none is in flight" not in case.last.stderr, "a held message is in flight")


def case_unequal(case):
    """Counters that a library declares equal, and that differ at the end, are a finding."""
    case.margay("--check-accounting", misuse(case), "unequal", status=70)
    case.expect(case.ids() == ["accounting-mismatch"], f"unexpected {case.ids()}")
    for name in ("library unequal", "sent 6", "taken 5"):
        case.expect(name in case.last.stderr, f"{name} is expected")


def case_program(case):
    """A library cannot join a process on margay::Program, and the reverse."""
    program = case.build.folder / "tests" / "libraries" / "library_on_program"
    for order, first in (("program", "on margay::Program"), ("library", "on MPI or a library")):
        case.margay("--check-accounting", program, order, ranks=1)
        case.expect(first in case.last.stdout, f"{first} is expected")


# Programs that begin by a library, or on portals, with their arguments, and how they end: by an exit status; by an exception
# of the library that the program does not catch; with a Program, before or after it has joined the job.
REFUSED = {"examples/counter": ((), {"no-init"}), "tests/libraries/rmi_calls": (("ring",), {"no-init"}),
           "tests/libraries/zipcode_mailing": (("ring",), {"no-init"}), "tests/libraries/nexus_requests": (("ring",), {"rank-died"}),
           "tests/libraries/library_on_program": (("program",), {"no-init", "no-finalize"})}


def case_spawned(case):
    """A program that MPI_Comm_spawn starts, and that its library refuses, ends the job at once; it does not stall."""
    parent = case.ours("spawned.c")
    for (name, (arguments, ids)), (ranks, options) in itertools.product(REFUSED.items(), ((1, ()), (2, ()), (2, ("--nodes", "2")))):
        case.margay(*options, parent, "start", case.build.folder / name, "2", "--", *arguments, ranks=ranks, status="nonzero")
        case.expect(len(case.ids()) == 1 and case.ids()[0] in ids, f"{name}: one finding of {ids} is expected, not {case.ids()}")
        case.expect(case.findings("rank")[0][0] in (ranks, ranks + 1), f"{name}: the rank of a child in {case.last.report}")
        if case.ids() == ["no-init"] and not name.endswith("on_program"):
            message = case.findings("message")[0][0]
            case.expect("the library" in message and "MPI_Comm_spawn" in message, f"{name}: the reason in {message!r}")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
