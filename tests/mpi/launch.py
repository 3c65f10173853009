#!/usr/bin/env python3
"""How MPI programs are started, ended, watched and reported on: the cases of launch_table.py, launch_findings.py and
launch_cases/.

    tests/mpi/launch.py --build build/release            every case
    tests/mpi/launch.py --build build/release abort      one
    tests/mpi/launch.py --list
"""
import importlib
import pathlib
import sys

import launch_findings
import launch_table
from launch_case import cases_of, row_cases, run_cases


def all_cases():
    """By name. A case has rows or a function."""
    folder = pathlib.Path(__file__).resolve().parent / "launch_cases"
    modules = [importlib.import_module(f"launch_cases.{path.stem}") for path in sorted(folder.glob("*.py"))]
    cases = row_cases(launch_table.ROWS)
    for module in (launch_findings, *modules):
        of_module = cases_of(vars(module))
        assert not cases.keys() & of_module.keys(), f"two cases of one name: {cases.keys() & of_module.keys()}"
        cases.update(of_module)
    return cases


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, all_cases()))
