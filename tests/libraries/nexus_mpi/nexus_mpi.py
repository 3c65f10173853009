#!/usr/bin/env python3
"""Tests of MPI over Nexus: programs of tests/mpi run unmodified under `margay run --over nexus`, with the accounting of messages.

    tests/libraries/nexus_mpi/nexus_mpi.py --build build/release            every case
    tests/libraries/nexus_mpi/nexus_mpi.py --build build/release counted    one
    tests/libraries/nexus_mpi/nexus_mpi.py --list
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "mpi"))

from launch_case import cases_of, run_cases  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# Ranks and options: shared memory, TCP, both.
WORLDS = ((2, ()), (3, ()), (4, ("--nodes", "2")), (2, ("--nodes", "2")))
# Of programs for pairs of ranks, and of those for at most three.
PAIRS = ((2, ()), (4, ("--nodes", "2")), (2, ("--nodes", "2")))
FEW = ((2, ()), (3, ()), (2, ("--nodes", "2")))


def counts(case):
    """The rows of Nexus in --stats."""
    return {name: int(count) for name, count in re.findall(r"^    (\S[^\n]*?) {2,}(\d+)$", case.last.stderr, re.M)}


def everywhere(case, source, worlds=WORLDS):
    """Runs a program in each world: it checks its messages itself. Each world must have carried requests."""
    program = case.ours(HERE.parents[1] / "mpi" / source, name=f"nexus_mpi_{source[:-2]}")
    for ranks, options in worlds:
        case.margay("--over", "nexus", "--check-accounting", "--stats", *options, program, ranks=ranks)
        case.expect(counts(case).get("requests sent", 0) > 0, f"no request was sent by {source} on {ranks} ranks")


def case_counted(case):
    """Each message of MPI is one request, by the expected method; a synchronous one has a second one for its answer. The
    receiver of a synchronous message may wait in a collective call."""
    program = case.ours(HERE / "counted.c")
    for ranks, options, method in ((2, (), "sent by shm"), (3, (), "sent by shm"), (2, ("--nodes", "2"), "sent by tcp"),
                                   (2, ("--way", "tcp"), "sent by tcp")):
        case.margay("--over", "nexus", "--check-accounting", "--stats", *options, program, ranks=ranks)
        messages, answers = map(int, re.search(r"^messages (\d+) answers (\d+)$", case.last.stdout, re.M).groups())
        seen = counts(case)
        case.expect(seen.get("requests sent") == messages + answers, f"{messages} messages and {answers} answers, but {seen}")
        case.expect(seen.get("requests executed") == messages + answers, f"{messages} messages and {answers} answers, but {seen}")
        case.expect(seen.get(method) == messages + answers, f"all {method}, but {seen}")


def case_without(case):
    """Without the option, and with `--over portals`, no request is sent."""
    program = case.ours(HERE / "counted.c")
    for options in ((), ("--over", "portals")):
        case.margay("--stats", *options, program, ranks=2)
        case.expect("requests sent" not in counts(case), "Nexus was used without the option")


def case_refused(case):
    """Functions that Nexus does not carry fail with their names and a cure."""
    case.margay("--over", "nexus", case.ours(HERE / "refused.c", name="nexus_refused"), ranks=1)
    case.expect_lines(["refused: right"])


def case_option(case):
    """A value that --over does not have, another MPI, and the kernel's forwarding, are errors."""
    program = case.ours(HERE / "counted.c")
    forwarded = ("--over", "nexus", "--nodes", "2")
    for options, env in ((("--forward", "node"), {}), ((), {"MARGAY_FORWARD": "node"})):
        case.margay(*forwarded, *options, program, ranks=4, status=2, env=env)
        case.expect("--over" in case.last.stderr and "--forward" in case.last.stderr, "the error names both options")
    for options in (("--over", "nexsu"), ("--over", "nexus", "--mpi", "system")):
        case.margay(*options, program, status=2)
        case.expect("--over" in case.last.stderr, "the error names the option")


def case_sendrecv(case):
    """Rings of MPI_Sendrecv and MPI_Sendrecv_replace."""
    everywhere(case, "sendrecv.c")


def case_wildcards(case):
    """Receives from any source and with any tag."""
    everywhere(case, "wildcards.c")


def case_probe(case):
    """Probes."""
    everywhere(case, "probe.c", FEW)


def case_send_modes(case):
    """Standard, buffered, ready and synchronous sends."""
    everywhere(case, "send_modes.c", FEW)


def case_self_messages(case):
    """Messages of a rank to itself."""
    everywhere(case, "self_messages.c", FEW)


def case_matched_probe(case):
    """Matched probes."""
    everywhere(case, "matched_probe.c", PAIRS)


def case_isendrecv(case):
    """MPI_Isendrecv and MPI_Isendrecv_replace."""
    program = case.ours(HERE / "isendrecv.c", name="nexus_isendrecv")
    for ranks, options in FEW:
        case.margay("--over", "nexus", "--check-accounting", *options, program, ranks=ranks)


def case_truncate(case):
    """Receives shorter than their messages, into memory with and without gaps, also with wildcards."""
    everywhere(case, "truncate.c", PAIRS)


def case_completion(case):
    """MPI_Wait and its family, on requests of Nexus and of margay's MPI."""
    everywhere(case, "completion.c", PAIRS)


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
