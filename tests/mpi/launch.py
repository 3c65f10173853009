#!/usr/bin/env python3
"""Tests of the start, the end, the observation and the reports of MPI programs: the cases of launch_table.py,
launch_findings.py and launch_cases/.

    tests/mpi/launch.py --build build/release            every case
    tests/mpi/launch.py --build build/release abort      one
    tests/mpi/launch.py --list
"""
import importlib
import pathlib
import sys

import launch_findings
import launch_table
from launch_case import both, cases_of, row_cases, run_cases


def all_cases():
    """By name: rows, a function, or rows and then a function, which has the sentence."""
    folder = pathlib.Path(__file__).resolve().parent / "launch_cases"
    modules = [importlib.import_module(f"launch_cases.{path.stem}") for path in sorted(folder.glob("*.py"))]
    functions = {}
    for module in (launch_findings, *modules):
        of_module = cases_of(vars(module))
        assert not functions.keys() & of_module.keys(), f"two cases of one name: {functions.keys() & of_module.keys()}"
        functions.update(of_module)
    rows = row_cases(launch_table.ROWS)
    mixed = {name: both(rows[name], functions[name]) for name in rows.keys() & functions.keys()}
    return {**rows, **functions, **mixed}


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, all_cases()))
