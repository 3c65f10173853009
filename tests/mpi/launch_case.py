"""What a case of launch.py, launch_checks.py and launch_collectives.py is given, and how a file of cases is run."""
import argparse
import os
import pathlib
import re

import support

SOURCES = pathlib.Path(__file__).resolve().parent / "launch"
TIMEOUT = 100  # against hanging; nothing depends on how long something takes
SKIPPED_STATUS = 77


# Behind a call's name, its place in the program: launch_places.py is about these, the others about the words.
PLACE = re.compile(r" \([^()\s]+(:\d+|\+0x[0-9a-f]+)\)")
# The id of a finding, behind the sentence that reports it: "... [unreceived-message]".
FINDING = re.compile(r" \[([a-z]+(?:-[a-z]+)*)\]")


class Skipped(Exception):
    """What a case needs is not there."""


class Case:
    """What a case needs: the build, compiled programs, runs that are judged."""

    def __init__(self, build):
        self.build = build
        self.problems = []
        self.library_path = {"LD_LIBRARY_PATH": str(build.folder / "lib")}

    def ours(self, source, options=(), name=None):
        return support.compile_program(self.build, self.build.tool("mpicc"), SOURCES / source, ".margay", options, name)

    def debians(self, source):
        return support.compile_program(self.build, "mpicc.mpich", SOURCES / source, ".mpich")

    def margay(self, *words, ranks=2, status=0, **keywords):
        command = [self.build.tool("margay"), "run", "-n", str(ranks), "--timeout", str(TIMEOUT), *words]
        return self.run(command, status, **keywords)

    def run(self, command, status=0, **keywords):
        """Runs and judges the exit status: a number, "nonzero", or None for any. Of the standard error `stderr` is
        without places and ids of findings, `whole_stderr` with them; `ids` are the ids, in the order of lines."""
        run = support.execute(command, TIMEOUT + 15, **keywords)
        expected = run.status if status is None else status
        problems = run.problems(expected)
        if problems:
            self.problems.append(run.transcript(problems))
        run.ids = FINDING.findall(run.stderr)
        run.whole_stderr, run.stderr = run.stderr, FINDING.sub("", PLACE.sub("", run.stderr))
        self.last = run
        return run

    def expect(self, condition, words):
        if not condition:
            self.problems.append(self.last.transcript([words]))

    def in_time(self, seconds):
        """Held where nothing else runs (TIMED_TESTS=1, `scripts/test --soak`)."""
        if os.environ.get("TIMED_TESTS"):
            self.expect(self.last.seconds < seconds, f"took more than {seconds} s")

    def expect_lines(self, expected):
        """Standard output has exactly these lines, in any order."""
        seen = sorted(self.last.stdout.splitlines())
        self.expect(seen == sorted(expected), f"expected the lines {sorted(expected)}")


def run_cases(description, cases):
    """The command line of a file of cases; its exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", help="build folder, as build/release")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("cases", nargs="*", help="cases to run (default all)")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(f"{name:14} {function.__doc__}" for name, function in cases.items()))
        return 0
    unknown = [name for name in arguments.cases if name not in cases]
    if unknown or not arguments.build:
        parser.error(f"no such case: {' '.join(unknown)}; --list shows them" if unknown else "--build is needed")
    failed = skipped = 0
    for name in arguments.cases or cases:
        case = Case(support.Build(arguments.build))
        try:
            cases[name](case)
        except support.CompileError as error:
            case.problems.append(str(error))
        except Skipped as reason:
            print(f"{name:14} skipped: {reason}")
            skipped += 1
            continue
        print(f"{name:14} {'FAILED' if case.problems else 'ok'}")
        if case.problems:
            print("\n".join(case.problems), flush=True)
        failed += bool(case.problems)
    if skipped and skipped == len(arguments.cases):
        return SKIPPED_STATUS
    return 1 if failed else 0


def cases_of(module):
    """Its functions case_NAME, by NAME."""
    return {name[5:]: function for name, function in module.items() if name.startswith("case_")}
