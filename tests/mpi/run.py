#!/usr/bin/env python3
"""Runs one program of the MPI suite: compiled by our mpicc and by Debian's mpicc.mpich, on our library over each wire,
and under Debian's MPICH, whose output ours must equal. A program in Fortran (fortran/*.F90) is three: with mpif.h, use mpi
and use mpi_f08, by mpifort; exit status 77 without Fortran.

    tests/mpi/run.py --build build/release tests/mpi/send_modes.c
    tests/mpi/run.py --build build/release --only reference tests/mpi/*.c
    tests/mpi/run.py --build build/release tests/mpi/fortran/attributes.F90

A program states its requirements in its first comment lines, `// key: value` or `! key: value`:
    ranks      numbers of ranks on our library, "2 3 4" (default "2")
    reference  numbers of ranks under Debian's MPICH, or "none" and the reason (default: the smallest of ranks)
    wires      of shm, uring, epoll (default all; uring and epoll are two emulated nodes over TCP)
    timeout    seconds one run may take (default 60)
    exit       exit status expected on our library, a number or "nonzero" (default 0)
    stderr     a regular expression that standard error must contain on our library
    libraries  linker options of the program
    compilers  "ours" if no other MPI has its headers (default: Debian's too)
    sanitized  wires under a sanitizer (default shm), or "none" and the reason (also read by CMakeLists.txt)

On a build with sanitizers: our mpicc alone, 2 ranks or the smallest number, and no report of a sanitizer.
"""
import argparse
import pathlib
import re
import shutil
import sys
import time

import support


# Runs of a program under Debian's MPICH until one ends in time.
REFERENCE_TRIES = 3
# Programs request more memory than the system has, and must get an error, as from the system's allocator.
SANITIZER_OPTIONS = {"ASAN_OPTIONS": "allocator_may_return_null=1"}


# The bindings of a program in Fortran: the macros of fortran/binding.inc.
BINDINGS = ("MPIF", "MPI", "F08")


class Program:
    """One source file, in Fortran with one of the bindings, and the settings in its comment lines."""

    def __init__(self, source, binding):
        self.source = pathlib.Path(source).resolve()
        self.binding = binding
        self.name = support.program_name(self.source) + (f" {binding}" if binding else "")
        self.wrapper = "mpifort" if binding else "mpicc"
        self.keys = support.header_keys(self.source)
        self.ranks = [int(n) for n in self.keys.get("ranks", "2").split()]
        reference = self.keys.get("reference", str(min(self.ranks)))
        self.reference = [] if reference.startswith("none") else [int(n) for n in reference.split()]
        self.wires = self.keys.get("wires", "shm uring epoll").split()
        self.timeout = int(self.keys.get("timeout", "60"))
        status = self.keys.get("exit", "0")
        self.exit = status if status == "nonzero" else int(status)
        self.stderr = self.keys.get("stderr")
        self.libraries = self.keys.get("libraries", "").split()
        self.only_ours = self.keys.get("compilers") == "ours"

    def sanitize(self):
        """Narrows the matrix for a sanitizer, under which all runs take several times as long."""
        sanitized = self.keys.get("sanitized", "shm")
        self.wires = [] if sanitized.startswith("none") else sanitized.split()
        self.ranks = [2 if 2 in self.ranks else min(self.ranks)]
        self.reference = []
        self.timeout *= support.SLOWER


class Suite:
    """Compiles and runs programs; collects the failures."""

    def __init__(self, build):
        self.build = build
        self.failures = 0
        self.runs = 0

    def report(self, program, what, run, problems):
        self.runs += 1
        print(f"{program.name:22} {what:34} {'ok' if not problems else 'FAILED'} {run.seconds:.2f} s", flush=True)
        if problems:
            self.failures += 1
            print(run.transcript(problems), flush=True)

    def judge(self, program, run, expected):
        problems = run.problems(program.exit)
        if program.stderr and not re.search(program.stderr, run.stderr):
            problems.append(f"standard error does not contain /{program.stderr}/")
        if self.build.sanitizer and support.SANITIZER_REPORT.search(run.stderr):
            problems.append("a sanitizer reports")
        if expected is not None and run.stdout != expected:
            problems.append("standard output differs from that of Debian's MPICH:\n" + support.difference(expected, run.stdout))
        return problems

    def reference_outputs(self, program, binary):
        outputs = {}
        for ranks in program.reference:
            # Its ranks spin, and on a busy machine they block each other for minutes: this is not under test.
            for _ in range(REFERENCE_TRIES):
                run = support.execute(["mpiexec.mpich", "-n", str(ranks), str(binary)], program.timeout)
                if not run.timed_out:
                    break
            self.report(program, f"Debian's MPICH, {ranks} ranks", run, run.problems(0))
            outputs[ranks] = run.stdout
        return outputs

    def on_margay(self, program, binary, built_by, wires, ranks_list, expected):
        for ranks in ranks_list:
            for wire in wires:
                if wire != "shm" and ranks < 2:
                    continue
                command = self.build.margay_run(ranks, wire, program.timeout) + [str(binary)]
                run = support.execute(command, program.timeout + 15, env=SANITIZER_OPTIONS if self.build.sanitizer else None)
                problems = self.judge(program, run, expected.get(ranks))
                self.report(program, f"{built_by}, {ranks} ranks, {wire}", run, problems)

    def run(self, program, only):
        if self.build.sanitizer:
            program.sanitize()
            only = "ours"
        if program.only_ours:
            only = "ours"
        ranks_list = sorted(set(program.ranks) | set(program.reference))
        expected = {}
        debian = None
        if only != "ours":
            debian = support.compile_program(self.build, program.wrapper + ".mpich", program.source, ".mpich",
                                             program.libraries, binding=program.binding)
        if only in (None, "reference"):
            expected = self.reference_outputs(program, debian)
        if only in (None, "ours"):
            ours = support.compile_program(self.build, self.build.tool(program.wrapper), program.source, ".margay",
                                           program.libraries, binding=program.binding)
            self.on_margay(program, ours, f"our {program.wrapper}", program.wires, ranks_list, expected)
        if only in (None, "mpich"):
            self.on_margay(program, debian, f"Debian's {program.wrapper}", program.wires[:1], ranks_list, expected)
            self.on_margay(program, debian, f"Debian's {program.wrapper}", program.wires[1:2], ranks_list[-1:], expected)


def has_fortran(build):
    """A Fortran compiler, and MPICH's modules."""
    shown = support.execute([build.tool("mpifort"), "-show"], 60)
    return shown.status == 0 and shutil.which(shown.stdout.split()[0]) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    parser.add_argument("--only", choices=["ours", "mpich", "reference"], help="only this part of the matrix")
    parser.add_argument("programs", nargs="+", help="source files")
    arguments = parser.parse_args()
    suite = Suite(support.Build(arguments.build))
    started = time.monotonic()
    if any(map(support.is_fortran, arguments.programs)) and not has_fortran(suite.build):
        print("no Fortran compiler, or no modules of MPICH")
        return 77
    for source, binding in [(source, binding) for source in arguments.programs
                            for binding in (BINDINGS if support.is_fortran(source) else (None,))]:
        try:
            suite.run(Program(source, binding), arguments.only)
        except support.CompileError as error:
            suite.failures += 1
            print(error, flush=True)
    print(f"{suite.runs} runs, {suite.failures} failed, {time.monotonic() - started:.1f} s")
    return 1 if suite.failures else 0


if __name__ == "__main__":
    sys.exit(main())
