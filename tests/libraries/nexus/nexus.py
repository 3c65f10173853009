#!/usr/bin/env python3
"""Tests of Nexus between contexts, over every wire, with the accounting of messages.

    tests/libraries/nexus/nexus.py --build build/release            every case
    tests/libraries/nexus/nexus.py --build build/release flood      one
    tests/libraries/nexus/nexus.py --list
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "mpi"))

from launch_case import cases_of, run_cases  # noqa: E402

# Processes and options: alone, shared memory, TCP, both, more contexts than processors.
WORLDS = ((1, ()), (2, ()), (2, ("--nodes", "2")), (4, ("--nodes", "2")), (8, ()))
SANITIZED = ((4, ("--nodes", "2")),)

# The numbers of Nexus's events (libraries/nexus/library.hpp).
REQUESTS, BEGINS, ENDS, CHOOSES_LOCAL, CHOOSES_SHM, CHOOSES_TCP, FORWARDS = 0, 1, 2, 3, 4, 5, 9


def program(case, name):
    return case.build.folder / "tests" / "libraries" / f"nexus_{name}"


def everywhere(case, name, worlds=WORLDS, env=None, accounting=True):
    for ranks, options in SANITIZED if case.build.sanitizer else worlds:
        case.margay(*(["--check-accounting"] if accounting else []), *options, program(case, "requests"), name, ranks=ranks, env=env or {})
        case.expect_lines([f"{name}: right"])


def counts(case):
    """The rows of Nexus in --stats."""
    return {name: int(count) for name, count in re.findall(r"^    (\S[^\n]*?) {2,}(\d+)$", case.last.stderr, re.M)}


def case_hello(case):
    """The first program: each context greets context 0, and prints why its method was chosen."""
    for ranks, options, method in ((1, (), "local"), (2, (), "shm"), (2, ("--nodes", "2"), "tcp")):
        case.margay("--check-accounting", *options, case.build.folder / "examples" / "nexus" / "hello", ranks=ranks)
        text = case.last.stdout
        case.expect(len(re.findall(r"^context \d+ says hello$", text, re.M)) == ranks, f"a greeting of each context in {text}")
        chosen = re.findall(r"^  (\w+) +chosen", text, re.M)
        case.expect(chosen == [method], f"expected {method}, not {chosen}")


def case_values(case):
    """Buffers keep types and values; a get of another type is an error that names both."""
    everywhere(case, "values")


def case_flood(case):
    """Requests of all contexts to all arrive once, in the order of their sender."""
    everywhere(case, "flood")


def case_long(case):
    """Bodies of 0 bytes to 8 MB, around the limit of 16 KiB."""
    everywhere(case, "long")


def case_travelling(case):
    """Startpoints travel through all contexts, with tables and light, and are used there."""
    everywhere(case, "travelling")


def case_links(case):
    """Startpoints are bound, merged, copied, moved and compared; a request reaches all endpoints; one of a destroyed endpoint is dropped."""
    everywhere(case, "links", accounting=False)


def case_endpoints(case):
    """100,000 endpoints in each context; the kernel finds the one of a request."""
    everywhere(case, "endpoints", WORLDS[1:3])


def case_bounds(case):
    """A send in a handler never waits: it queues up to MARGAY_NEXUS_QUEUE bytes, and then fails with a value."""
    everywhere(case, "bounds", env={"MARGAY_NEXUS_QUEUE": "65536"})


def case_mistakes(case):
    """Unknown handlers, exceptions of handlers, and misuse: errors that name them."""
    everywhere(case, "mistakes", accounting=False)


def case_damage(case):
    """Damaged startpoints and buffers are refused."""
    everywhere(case, "damage", WORLDS[:2])


def case_tables(case):
    """Tables of methods: forced, reordered, added, removed rows; demands on rates; explanations and enquiry."""
    everywhere(case, "tables")


def case_threads(case):
    """Handlers in threads run while the program computes, and may wait for one another."""
    everywhere(case, "threads", env={"MARGAY_NEXUS_THREADS": "4"})


def case_moves(case):
    """Two channels of one pair by shared memory and TCP at once; a link that changes between them loses and overtakes nothing."""
    for ranks in (2, 3):
        case.margay("--check-accounting", "--way", "shm,tcp", program(case, "requests"), "moves", ranks=ranks)
        case.expect_lines(["moves: right"])


def case_failover(case):
    """A link whose way is lost continues by the next one; without any, a send fails with a value."""
    case.run([program(case, "failover")])
    case.expect_lines(["failover: right"])


def case_forwarding(case):
    """A context passes on the requests that reach it by TCP for another one, in order."""
    case.margay("--check-accounting", "--nodes", "2", program(case, "requests"), "forwarding", ranks=4)
    case.expect_lines(["forwarding: right"])
    case.margay("--nodes", "2", program(case, "requests"), "wrong_forwarders", ranks=4)
    case.expect_lines(["wrong_forwarders: right"])
    case.margay("--check-accounting", "--nodes", "2", program(case, "modules"), "chain", ranks=6)
    case.expect_lines(["chain: right"])


def case_carried(case):
    """A body of any length travels by the method of its link, not by the pair's usual wire."""
    case.margay("--stats", "--check-accounting", "--way", "shm,tcp", program(case, "modules"), "carried", ranks=2)
    case.expect_lines(["carried: right"])
    wires = dict(re.findall(r"^    (shared memory|tcp) +\d+ +(\d+)$", case.last.stderr, re.M))
    case.expect(int(wires["tcp"]) >= 2_000_000 > int(wires["shared memory"]), f"the bodies by TCP, not {wires}")


def case_polling(case):
    """The poll interval of a wire is that of the settings and calls; the end receives what waits on a wire that is not polled."""
    for ranks in (2, 4):
        case.margay("--check-accounting", "--nodes", "2", program(case, "modules"), "polling", "--nexus-skip-poll=tcp=20", ranks=ranks)
        case.expect_lines(["polling: right"])


def case_again(case):
    """Nexus begins again after its end; earlier startpoints are refused."""
    everywhere(case, "again", WORLDS[1:3])


def case_settings(case):
    """Invalid settings are errors that name the variable and the valid values."""
    for name, value in (("MARGAY_NEXUS_QUEUE", "17"), ("MARGAY_NEXUS_QUEUE", "64k"), ("MARGAY_NEXUS_THREADS", "65")):
        case.margay(program(case, "requests"), "values", ranks=1, status="nonzero", env={name: value})
        case.expect_said(f"invalid {name}={value}")


def case_stats(case):
    """`--stats` counts requests, by method."""
    case.margay("--stats", "--nodes", "2", program(case, "requests"), "flood", ranks=4)
    rows = counts(case)
    sent = rows.get("requests sent", 0)
    case.expect(sent == rows.get("requests executed") >= 4 * 4 * 3000, f"unexpected requests in {rows}")
    by = [rows.get(f"sent by {method}", 0) for method in ("local", "shm", "tcp")]
    case.expect(sum(by) == sent and by[0] == by[1] and by[2] == 2 * by[0], f"a quarter each by local and shm, half by TCP, in {rows}")


def case_trace(case):
    """A trace has the requests, handlers and chosen methods, and is whole."""
    trace = case.traced("--nodes", "2", program(case, "requests"), "travelling", "forwarding", ranks=4)
    case.command("trace", "check", trace)
    events = case.events(trace, "library_event")
    seen = {event["event"] for event in events}
    expected = {REQUESTS, BEGINS, ENDS, CHOOSES_LOCAL, CHOOSES_SHM, CHOOSES_TCP, FORWARDS}
    case.expect(expected <= seen, f"expected events of the numbers {expected}, not {seen}")
    # A handler's event belongs to the message of its request. A request that another context passes on has none.
    sent, begun = ({(event["source"], event["destination"], event["sequence"]) for event in events
                    if event["event"] == kind and event.get("sequence")} for kind in (REQUESTS, BEGINS))
    case.expect(begun & sent, f"the handlers {sorted(begun)[:5]} of the requests {sorted(sent)[:5]}")
    case.expect(sum(event["event"] == BEGINS for event in events) == sum(event["event"] == ENDS for event in events), "each handler ends")
    printed = case.command("trace", "print", trace, "--kind", "library_event")
    case.expect("{" not in printed, "a field of a sentence was not replaced")


def case_deadlock(case):
    """Contexts that wait for requests that nobody sends are a deadlock, which is proven."""
    case.margay("--deadlock", "abort", program(case, "mistaken"), "wait", status=73)
    waits = case.findings("waits", finding="deadlock")
    case.expect(len(waits) == 1, f"one deadlock is expected, not {waits}")


def case_destroy(case):
    """An endpoint that its own handler destroys ends the job with a message."""
    case.margay(program(case, "mistaken"), "destroy", ranks=1, status="nonzero")
    case.expect_said("is destroyed while a handler runs for it")


def case_destroy_elsewhere(case):
    """An endpoint that a thread outside of its context destroys ends the job with a message."""
    case.margay(program(case, "mistaken"), "destroy_elsewhere", ranks=1, status="nonzero")
    case.expect_said("is destroyed in a thread that does not belong to its context")


def case_kernel_forwarding(case):
    """A program on Nexus under `--forward node` fails with the cure, if its contexts are forwarded."""
    case.margay("--nodes", "2", "--forward", "node", program(case, "requests"), "values", ranks=4, status="nonzero")
    case.expect_said("init: --forward (MARGAY_FORWARD)", "nexus::forward()")
    case.margay("--nodes", "2", "--forward", "node", program(case, "requests"), "values", ranks=2)


def case_lost(case):
    """The death of a context ends the job, and the report names it."""
    case.margay(program(case, "mistaken"), "die", ranks=3, status="nonzero")
    case.expect("rank-died" in case.ids(), f"unexpected {case.ids()}")


def case_seeds(case):
    """Random requests with seeds on the virtual machine."""
    seeds = 50 if case.build.sanitizer else 1000
    case.run([program(case, "seeds"), "1", str(seeds)])


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
