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


def case_ring(case):
    """A letter of unknown length goes round."""
    everywhere(case, "ring")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
