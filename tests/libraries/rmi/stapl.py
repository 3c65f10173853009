#!/usr/bin/env python3
"""Tests of the containers and algorithms on RMI, and of the programs of examples/rmi, over every wire, with the accounting
of messages.

    tests/libraries/rmi/stapl.py --build build/release            every case
    tests/libraries/rmi/stapl.py --build build/release sorting    one
    tests/libraries/rmi/stapl.py --list
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "mpi"))

from launch_case import cases_of, run_cases  # noqa: E402

# Processes and options: alone, shared memory, TCP, both, more nodes than processors, threads, threads of two processes.
WORLDS = ((1, ()), (2, ()), (3, ()), (2, ("--nodes", "2")), (4, ("--nodes", "2")), (8, ()), (1, ("--threads", "4")),
          (2, ("--threads", "2")))
# Of the schedulers with a communication thread.
BESIDE = (WORLDS[1], WORLDS[4], WORLDS[6])
# A line of the programs of examples/rmi.
LINE = re.compile(r"^(?P<name>[a-z_ ]+): nodes (?P<nodes>\d+) elements (?P<elements>\d+) seconds \d+\.\d+ right$")


def everywhere(case, program, name):
    for scheduler in ("polling", "interrupt", "blocking", "nonblocking"):
        for ranks, options in WORLDS if scheduler == "polling" else BESIDE:
            case.margay("--check-accounting", *options, case.build.folder / "tests" / "libraries" / f"rmi_{program}", name,
                        ranks=ranks, env={"MARGAY_RMI_SCHEDULER": scheduler})
            case.expect_lines([f"{name}: right"])


def nodes_of(ranks, options):
    return ranks * (int(options[1]) if "--threads" in options else 1)


def example(case, name):
    return case.build.folder / "examples" / "rmi" / name


def expect_line(case, name, nodes, elements):
    found = LINE.match(case.last.stdout.strip())
    case.expect(found and found["name"] == name and int(found["nodes"]) == nodes
                and elements in (None, int(found["elements"])), f"unexpected output: {case.last.stdout}")


def sorted_everywhere(case, program, name, *words, worlds=WORLDS):
    """An example's output: its name, nodes and elements, and a right result; in some worlds with fewer elements than nodes."""
    for ranks, options in worlds:
        for elements in (0, 1, 5, 10007) if ranks == 3 or "--threads" in options else (10007,):
            case.margay("--check-accounting", *options, example(case, program), *words, elements, 2, ranks=ranks)
            expect_line(case, name, nodes_of(ranks, options), elements)


def sorted_by_threads(case, program):
    """An example without margay."""
    for threads in (1, 2, 5):
        for elements in (0, 1, 10007):
            case.run([example(case, program), str(threads), str(elements)])
            expect_line(case, program, threads, elements)


def case_elements(case):
    """Elements of a pvector are assigned and read from all nodes; vectors without elements; classes with define_type()."""
    everywhere(case, "containers", "elements")


def case_ranges(case):
    """Ranges of a pvector are written and read, and the local part of a pRange is accessed in place."""
    everywhere(case, "containers", "ranges")


def case_appending(case):
    """All nodes append to the elements of a pvector of vectors, in the three ways."""
    everywhere(case, "containers", "appending")


def case_contended(case):
    """The owner of an element appends to it while requests do."""
    everywhere(case, "containers", "contended")


def case_resizing(case):
    """A resize keeps elements and moves them to new owners; several at once have one order."""
    everywhere(case, "containers", "resizing")


def case_container_misuse(case):
    """Invalid indices are errors before anything is sent; an update that fails is reported at the fence."""
    everywhere(case, "containers", "misuse")


def case_sorting(case):
    """p_sort of integers, strings and objects, by ranges and by elements."""
    everywhere(case, "algorithms", "sorting")


def case_subranges(case):
    """p_sort of a range leaves the elements beside it."""
    everywhere(case, "algorithms", "subranges")


def case_finding(case):
    """p_find returns the lowest node's match on all nodes; a comparison that throws is an error on all nodes."""
    everywhere(case, "algorithms", "finding")


def case_multiplying(case):
    """p_inner_product of vectors and of ranges; different ranges are an error."""
    everywhere(case, "algorithms", "multiplying")


def case_listings(case):
    """The three sample sorts of the paper's section 4, corrected, sort all integers."""
    sorted_everywhere(case, "sample_sort", "sample_sort")
    sorted_everywhere(case, "sample_sort_messages", "sample_sort_messages", worlds=WORLDS[:6])
    sorted_by_threads(case, "sample_sort_threads")


def case_line_counts(case):
    """The sample sort by RMI has at most the paper's 30 lines, and that by hand with MPI has more."""
    folder = pathlib.Path(__file__).resolve().parents[3] / "examples" / "rmi"

    def lines(source, begin, end):
        whole = (folder / source).read_text(encoding="utf-8")
        code = whole[whole.index(begin):].partition(end)[0].splitlines()
        return sum(bool(line.partition("//")[0].strip()) for line in code)
    by_rmi, by_hand = lines("sample_sort.cpp", "struct p_sort", "\n\nstruct "), lines("sort_mpi.cpp", "namespace {", "\n}  // namespace")
    case.expect(10 < by_rmi <= 30 < by_hand, f"{by_rmi} lines by RMI, {by_hand} by hand")


def case_sorts(case):
    """The examples of p_sort, and the sorts with MPI and with threads beside them."""
    sorted_everywhere(case, "p_sort", "p_sort ranges", "ranges")
    sorted_everywhere(case, "p_sort", "p_sort elements", "elements")
    sorted_everywhere(case, "sort_mpi", "sort_mpi", worlds=WORLDS[:6])
    sorted_by_threads(case, "sort_threads")


def case_products(case):
    """The examples of inner products."""
    sorted_everywhere(case, "inner_product", "inner_product")
    sorted_everywhere(case, "inner_product_mpi", "inner_product_mpi", worlds=WORLDS[:6])
    for threads in (1, 3):
        case.run([example(case, "inner_product_threads"), str(threads), "10007", "3"])
        expect_line(case, "inner_product_threads", threads, 10007)


def case_depth_first(case):
    """A search that one node begins visits the same vertices on any number of nodes."""
    visited = set()
    for ranks, options in WORLDS:
        case.margay("--check-accounting", *options, example(case, "depth_first"), 20000, 2, ranks=ranks)
        expect_line(case, "depth_first", nodes_of(ranks, options), None)
        visited.add(re.search(r"elements (\d+)", case.last.stdout)[1])
    case.expect(len(visited) == 1 and int(visited.pop()) > 10000, f"different numbers of vertices: {visited}")
    case.margay(example(case, "depth_first"), 1, ranks=3)
    expect_line(case, "depth_first", 3, 1)


def case_master_slave(case):
    """Slaves that wait at the fence do the work of a master."""
    sorted_everywhere(case, "master_slave", "master_slave")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
