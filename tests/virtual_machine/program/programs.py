#!/usr/bin/env python3
"""Runs programs as several ranks of one process (round_robin.cpp) and compares each rank with a process of its own.

    tests/virtual_machine/program/programs.py --library LIBRARY --layer ARCHIVE --programs FOLDER [CASE ...]

Each rank must have the output of the same program as a process with the rank's number in RANK; the exit status must be the
first of these processes' that is not 0. Deaths, forbidden functions and virtual clocks have expectations of their own.
"""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

GUARD_S = 120  # against hanging; nothing here depends on time
RANKS = 3
FAILED = 71  # round_robin.cpp

KINDS = ("pie", "fixed", "bound")  # position independent; at a fixed address; relocated at the start, without RELRO
# Program, arguments, standard input of rank 0; run for each of KINDS.
COMPARED = (
    ("data", (), ""),
    ("objects", (), ""),
    ("output", (), ""),
    ("state", ("-ab", "x", "rest", "--long=7", "-b5", "more", "--flag"), ""),
    ("exits", (), ""),
    *(("exits", (way,), "") for way in ("exit", "_exit", "_Exit", "quick_exit", "errx", "error")),
    ("input", (), "12\n13 x14\nthe rest of a line\n" + "more\n" * 20000),
    ("unsynced", (), "1 2 3\n40 x"),
    ("units", (), ""),
)
FORBIDDEN = ("fork", "_Fork", "vfork", "execl", "execlp", "execle", "execv", "execve", "execvp", "execvpe", "fexecve",
             "posix_spawn", "posix_spawnp", "system", "popen", "daemon", "pthread_create", "thrd_create", "clone", "dlopen")
DEATHS = {"SIGSEGV": "SIGSEGV", "SIGFPE": "SIGFPE", "SIGABRT": "SIGABRT", "exception": "SIGABRT", "SIGTERM": "SIGTERM"}
LABEL = re.compile(r"\[(\d+)\] (.*)", re.S)


class Tests:
    def __init__(self, library, programs, scratch):
        self.library, self.programs, self.scratch = library, programs, scratch
        self.problems = []

    def check(self, case, what, seen, expected):
        if seen != expected:
            self.problems.append(f"{case}: {what}:\n  seen     {seen!r}\n  expected {expected!r}")

    def run(self, program, arguments, text, limit_bytes=None, **variables):
        limit = limit_bytes and (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes)))
        environment = {**os.environ, **variables}
        return subprocess.run([self.programs / program, *arguments], input=text, capture_output=True, text=True, check=False,
                              timeout=GUARD_S, cwd=self.scratch, env=environment, preexec_fn=limit)

    def simulate(self, program, arguments=(), text="", **variables):
        return self.run(program, arguments, text, **{"LD_PRELOAD": str(self.library), "MARGAY_SIMULATE": str(RANKS)} | variables)

    def lines_of_ranks(self, case, text):
        """The lines of each rank; each line of the text must have a label."""
        lines = [[] for _ in range(RANKS)]
        for line in text.splitlines():
            match = LABEL.fullmatch(line)
            if match is None or int(match[1]) >= RANKS:
                self.problems.append(f"{case}: a line without a rank's label: {line[:100]!r}")
            else:
                lines[int(match[1])].append(match[2])
        return lines

    def compare(self, program, arguments, text):
        case = " ".join((program, *arguments))
        seen = self.simulate(program, arguments, text)
        outputs, errors = (self.lines_of_ranks(case, stream) for stream in (seen.stdout, seen.stderr))
        statuses = []
        for rank in range(RANKS):
            alone = self.run(program, arguments, text if rank == 0 else "", RANK=str(rank))
            self.check(case, f"output of rank {rank}", outputs[rank], alone.stdout.splitlines())
            self.check(case, f"errors of rank {rank}", errors[rank], alone.stderr.splitlines())
            self.check(case, f"the process dies of a signal, rank {rank}", alone.returncode < 0, False)
            statuses.append(alone.returncode)
        self.check(case, "status", seen.returncode, next((status for status in statuses if status), 0))
        again = self.simulate(program, arguments, text)
        self.check(case, "a second run", (again.stdout, again.stderr), (seen.stdout, seen.stderr))

    def compare_unlabelled(self):
        """Without labels one rank's output is the process's, byte for byte."""
        seen = self.run("pie_output", (), "", LD_PRELOAD=str(self.library), MARGAY_SIMULATE="1", LABELS="0")
        alone = self.run("pie_output", (), "", RANK="0")
        self.check("unlabelled", "output", (seen.stdout, seen.stderr), (alone.stdout, alone.stderr))

    def not_simulated(self):
        """The preloaded library alone changes nothing."""
        seen = self.run("pie_objects", (), "", LD_PRELOAD=str(self.library), RANK="2")
        alone = self.run("pie_objects", (), "", RANK="2")
        self.check("not simulated", "run", (seen.stdout, seen.returncode), (alone.stdout, alone.returncode))

    def forbid(self, function):
        seen = self.simulate("pie_forbidden", (function, self.programs / "libvm_base.so"))
        self.check(function, "status", seen.returncode, FAILED)
        self.check(function, "error", re.findall(r"rank (\d+) called (\w+)", seen.stderr), [("1", function)])
        self.check(function, "output", re.findall(r"\w+", seen.stdout), ["1", "loaded"] if function == "dlopen" else [])

    def die(self, way, signal):
        seen = self.simulate("pie_deaths", (way,))
        self.check(way, "status", seen.returncode, FAILED)
        self.check(way, "error", re.findall(r"rank (\d+) died of (\w+)", seen.stderr), [("1", signal)])
        self.check(way, "output", seen.stdout, "[0] before the end\n[1] before the end\n")

    def clocks(self):
        seen = self.simulate("pie_clocks")
        self.check("clocks", "status, of pause", seen.returncode, 255)
        for rank, lines in enumerate(self.lines_of_ranks("clocks", seen.stdout)):
            expected = ["0 3600000000", "3601100000", f"0 {4100 + rank}000000", "-1 1", "0 0", "0", "written"]
            self.check("clocks", f"rank {rank}", lines, expected)

    def too_large(self):
        """The data of all ranks together does not fit."""
        seen = self.simulate("pie_data", MARGAY_SIMULATE="100", limit_bytes=128 << 20)
        self.check("too large", "status", seen.returncode, FAILED)
        self.check("too large", "error", len(re.findall(r"mmap of \d+ bytes of a rank's data: .*max_map_count", seen.stderr)), 1)

    def names(self, layer):
        """The library exports exactly the functions of libc that the layer defines."""
        defined, exported = (
            {line.split()[-1] for line in subprocess.run(["nm", *words], capture_output=True, text=True, check=True).stdout.splitlines()
             if " T " in line and "6margay" not in line}
            for words in (("--defined-only", layer), ("-D", "--defined-only", self.library)))
        self.check("names", "exported", sorted(exported), sorted(defined))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, required=True, help="the library to preload")
    parser.add_argument("--layer", type=pathlib.Path, required=True, help="the archive of virtual_machine/program")
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="the folder of the programs")
    parser.add_argument("cases", nargs="*", help="programs; all without any")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tests = Tests(options.library.resolve(), options.programs.resolve(), scratch)
        cases = {}
        for program, arguments, text in COMPARED:
            for kind in KINDS:
                built = f"{kind}_{program}"
                if program == "units" and not (tests.programs / built).exists():
                    continue  # without a Fortran compiler
                cases[" ".join((built, *arguments))] = lambda words=(built, arguments, text): tests.compare(*words)
        cases |= {function: lambda function=function: tests.forbid(function) for function in FORBIDDEN}
        cases |= {f"death {way}": lambda way=way, signal=signal: tests.die(way, signal) for way, signal in DEATHS.items()}
        cases |= {"unlabelled": tests.compare_unlabelled, "not simulated": tests.not_simulated, "clocks": tests.clocks, "too large": tests.too_large,
                  "names": lambda: tests.names(options.layer)}
        chosen = [name for name in cases if not options.cases or any(word in name for word in options.cases)]
        for name in chosen:
            cases[name]()
    print("\n".join(tests.problems) or f"{len(chosen)} cases")
    return 1 if tests.problems or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
