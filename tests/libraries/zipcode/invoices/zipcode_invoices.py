#!/usr/bin/env python3
"""Tests of Zipcode's invoices between processes, over every wire, with the accounting of letters.

    tests/libraries/zipcode/invoices/zipcode_invoices.py --build build/release          every case
    tests/libraries/zipcode/invoices/zipcode_invoices.py --build build/release flood    one
    tests/libraries/zipcode/invoices/zipcode_invoices.py --list
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "mpi"))

from launch_case import cases_of, run_cases  # noqa: E402

# Processes and options: alone, shared memory, TCP, both, a grid of 2 x 3, more processes than processors.
WORLDS = ((1, ()), (2, ()), (2, ("--nodes", "2")), (4, ("--nodes", "2")), (6, ()), (8, ()))
SANITIZED = ((4, ("--nodes", "2")),)

# The number of the event in libraries/zipcode/library.hpp.
PACKS = 9


def program(case, name="invoices"):
    return case.build.folder / "tests" / "libraries" / f"zipcode_{name}"


def everywhere(case, name, worlds=WORLDS, of="invoices"):
    for ranks, options in SANITIZED if case.build.sanitizer else worlds:
        case.margay("--check-accounting", *options, program(case, of), name, ranks=ranks)
        case.expect_lines([f"{name}: right"])


def case_paper(case):
    """The paper's examples 1 to 3, from one process to the next."""
    everywhere(case, "paper")


def case_classes(case):
    """Packed sends in all classes, in both representations, from no double to 40,000; variables change after each send."""
    everywhere(case, "classes")


def case_combines(case):
    """The elements of all members' invoices are combined, by built-in methods and those of the macros."""
    everywhere(case, "combines")


def case_packed(case):
    """Packed combines, fan-ins and fan-outs, and receives that unpack, in each class; their errors."""
    for name in ("operations", "receives", "refused"):
        everywhere(case, name, of="packed")


def case_buffers(case):
    """Buffers in a fan-out; reserved space in given and new memory."""
    everywhere(case, "buffers")


def case_flood(case):
    """Packed sends never wait: beyond the wire's room they pack letters."""
    everywhere(case, "flood", WORLDS[:4])


def case_builder(case):
    """An invoice of 2,000 items that the builder makes."""
    everywhere(case, "builder")


def case_conversions(case):
    """The conversion of a mailer is that of its planes, rows and columns, until one of them gets another."""
    everywhere(case, "conversions")


def case_copies(case):
    """Invoices that compile to one layout are copied by the wire alone; the others once more. The trace has the copies."""
    for options in ((), ("--nodes", "2")):
        trace = case.traced(*options, program(case), "copies", ranks=2)
        case.expect_lines(["copies: right"])
        packed = [event for event in case.events(trace, "library_event") if event["event"] == PACKS]
        for rank in range(2):
            copies = [event["a"] for event in packed if event["rank"] == rank]
            case.expect(copies == [0, 0, 1, 1, 1, 1], f"copies of rank {rank}'s invoices: {copies}")
    printed = case.command("trace", "print", trace, "--kind", "library_event")
    case.expect("packs an invoice, 801 bytes; copies before the wire: 0" in printed, f"the sentence in {printed}")


def case_copies_table(case):
    """The example's table: a packed send has one copy of each byte, both other ways have two."""
    script = pathlib.Path(__file__).resolve().parents[4] / "examples" / "zipcode" / "copies.py"
    case.run([sys.executable, "-B", script, "--build", case.build.folder])
    rows = {words[0]: words[1:] for words in map(str.split, case.last.stdout.splitlines()[1:])}
    expected = {"pack_send": ["0.00", "1.00", "1.00"], "pack_then_send": ["1.00", "1.00", "2.00"], "by_hand": ["1.00", "1.00", "2.00"]}
    case.expect(rows == expected, f"expected the rows {expected}, not {rows}")


def case_lu(case):
    """A parallel LU has the pivots and factors of serial code, on grids of any shape."""
    lu = case.build.folder / "examples" / "zipcode" / "lu"
    grids = ((1, ()), (3, ()), (4, ("--nodes", "2")), (6, ()), (6, ("3", "2")), (6, ("1", "6")), (6, ("6", "1")), (8, ()), (8, ("--nodes", "2")))
    for ranks, words in ((4, ()),) if case.build.sanitizer else grids:
        options = words if words[:1] == ("--nodes",) else ()
        shape = () if options else words
        for size in ("1", "5", "60"):
            case.margay("--check-accounting", *options, lu, size, *(shape or ()), ranks=ranks)
            case.expect(re.fullmatch(r"lu: n \d+, grid .*: right\n", case.last.stdout), f"a right result in {case.last.stdout}")
    case.margay(lu, "10", "2", "2", ranks=2, status=2)
    case.expect_said("P * Q = 2, the number of processes")


def case_errors(case):
    """Wrong arguments: an error that names the call and the item, and the error value."""
    everywhere(case, "errors", WORLDS[:2], of="mistakes")


def case_default_handler(case):
    """Without an error handler, an error in a format ends the job with the position."""
    case.margay(program(case, "mistakes"), "wrong_format", ranks=2, status=1)
    case.expect_said("zip_new_invoice: invalid format: expected a stride after '.'", "\n  %i%10.\n        ^")
    case.expect_lines([])


def case_mismatch(case):
    """A combine of invoices of different sizes ends the job, with the sizes."""
    case.margay(program(case, "mistakes"), "mismatch", ranks=2, status=1)
    case.expect_said("g1_pack_combine: rank 1 has a buffer of 16 bytes, this process one of 8")
    case.expect_lines([])


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
