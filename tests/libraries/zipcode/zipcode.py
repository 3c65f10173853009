#!/usr/bin/env python3
"""Tests of Zipcode between processes, over every wire, with the accounting of letters.

    tests/libraries/zipcode/zipcode.py --build build/release          every case
    tests/libraries/zipcode/zipcode.py --build build/release ring     one
    tests/libraries/zipcode/zipcode.py --list
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "mpi"))

from launch_case import cases_of, run_cases  # noqa: E402

# Processes and options: alone, shared memory, TCP, both, more processes than processors.
WORLDS = ((1, ()), (2, ()), (2, ("--nodes", "2")), (4, ("--nodes", "2")), (9, ()))
SANITIZED = ((4, ("--nodes", "2")),)


def program(case, name):
    return case.build.folder / "tests" / "libraries" / f"zipcode_{name}"


def everywhere(case, name, worlds=WORLDS, env=None, of="mailing", accounting=True):
    for ranks, options in SANITIZED if case.build.sanitizer else worlds:
        case.margay(*(["--check-accounting"] if accounting else []), *options, program(case, of), name, ranks=ranks, env=env or {})
        case.expect_lines([f"{name}: right"])


def counts(case):
    """The rows of Zipcode in --stats."""
    return {name: int(count) for name, count in re.findall(r"^    (\S[^\n]*?) {2,}(\d+)$", case.last.stderr, re.M)}


def case_ring(case):
    """A letter of unknown length goes round."""
    everywhere(case, "ring")


def case_class_y(case):
    """Class Y selects by a short tag, and with ZIP_ANY in the order of arrival."""
    everywhere(case, "class_y")


def case_class_l(case):
    """Class L selects by process and long tag, and by either."""
    everywhere(case, "class_l")


def case_grids(case):
    """Grids of one, two and three dimensions are row-major; planes, rows and columns keep their letters apart."""
    everywhere(case, "grids")


def case_outside(case):
    """A Postmaster outside of the grid reaches its members, and they it."""
    everywhere(case, "outside")


def case_subgrids(case):
    """Subgrids have their own contexts, with the Postmaster inside and outside of the grid."""
    everywhere(case, "subgrids")


def case_explicit_ids(case):
    """Mailers with explicit context_ids are opened without a letter."""
    everywhere(case, "explicit_ids")
    if not case.build.sanitizer:
        case.margay("--stats", program(case, "mailing"), "explicit_open", ranks=4)
        rows = counts(case)
        case.expect(rows["mailers opened"] == 400 and rows["letters sent"] == 0, f"no letter for 400 mailers, in {rows}")
        # Three of them at the beginning, and three counts and three totals at the end.
        case.expect(rows["of Zipcode itself"] == 9, f"no letter to the Postmaster General, in {rows}")


def case_lengths(case):
    """Letters of 0 bytes to 8 MB, around the limit of 16 KiB; received letters are sent on."""
    everywhere(case, "lengths")


def case_kept(case):
    """Letters that the program keeps or does not receive block no others."""
    everywhere(case, "kept", WORLDS[:4])


def case_pending(case):
    """Letters that nobody receives end with their mailer, and are not found by the next one with its context_ids."""
    everywhere(case, "pending")


def case_disjoint(case):
    """Disjoint groups have the same context_ids, overlapping ones others."""
    everywhere(case, "disjoint")


def case_groups(case):
    """Cohorts and the other constructors of groups; null operations for spawn and kill."""
    everywhere(case, "groups")


def case_envelopes(case):
    """The fields of figure 1, for each class."""
    everywhere(case, "envelopes", WORLDS[:2])


def case_agreement(case):
    """Without a Postmaster General, the members agree on the context_ids."""
    for name in ("ring", "grids", "outside", "subgrids", "pending", "disjoint"):
        everywhere(case, name, WORLDS[3:], env={"FORM": "global"})


def case_collectives(case):
    """Combine, fan-out, fan-in, prefix and sync of all classes, from each root, with short and long buffers."""
    everywhere(case, "collectives", of="collective")


def case_printed(case):
    """The paper's collective calls on a grid, its rows and its columns."""
    everywhere(case, "printed", of="collective")


def case_exec(case):
    """The method of a fanout_exec runs before the data are passed on."""
    everywhere(case, "exec", of="collective")


def case_classes(case):
    """Classes of the program: a ring, and a binary tree whose PO Box is longer than its match bits."""
    everywhere(case, "classes", of="collective")


def case_caching(case):
    """Operations of one mailer are replaced, those of another one are not."""
    everywhere(case, "caching", of="collective")


def case_shared(case):
    """Collective operations by shared memory have the same results; over two nodes they are refused everywhere."""
    everywhere(case, "shared", of="collective")


def case_attributes(case):
    """Attributes are deleted when they are replaced, and with their mailer."""
    everywhere(case, "attributes", WORLDS[:2], of="collective")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
