"""The harness of launch.py: the environment of a case, the rows of launch_table.py, and the execution of cases."""
import argparse
import collections
import csv
import dataclasses
import io
import itertools
import json
import os
import pathlib
import re
import shlex
import tempfile

import support

SOURCES = pathlib.Path(__file__).resolve().parent / "launch"
TIMEOUT = 100  # against hanging; no test depends on the duration of an operation
SKIPPED_STATUS = 77
TWO_NODES = "--nodes 2"


# The location in the program, behind a call's name: places.py tests these, the other cases test the words.
PLACE = re.compile(r" \([^()\s]+(:\d+|\+0x[0-9a-f]+)\)")
# The id of a finding, behind the sentence that reports it: "... [unreceived-message]".
FINDING = re.compile(r" \[([a-z]+(?:-[a-z]+)*)\]$", re.M)
# The subject of a message, without the words between: names of MPI, names in quotes, numbers.
OPERAND = re.compile(r'MPI_\w+|"[^"]*"|\d+')


class Skipped(Exception):
    """A requirement of a case is missing."""


def operands(text):
    """The text as a sequence of words, without locations and handles."""
    return " ".join(OPERAND.findall(re.sub(r"\b0x[0-9a-f]+", "", PLACE.sub("", text))))


def identity(event):
    """The message that an event of a trace belongs to."""
    return event.get("source"), event.get("destination"), event.get("sequence")


def tag_of(event):
    """The tag in the event's match bits."""
    return int(event["match_bits"], 16) >> 32


def marked_lines(source, mark="// line: "):
    """The lines of a source that end with the mark and a word: {word: line number}."""
    lines = (SOURCES / source).read_text(encoding="utf-8").splitlines()
    return {line.split(mark)[1]: number for number, line in enumerate(lines, 1) if mark in line}


class Case:
    """The environment of a case: the build, compiled programs, a folder of its own, runs with checks."""

    def __init__(self, build, folder):
        self.build = build
        self.folder = pathlib.Path(folder)
        self.problems = []
        # Under a sanitizer all takes longer, and its reports are failures.
        self.timeout = TIMEOUT * (support.SLOWER if build.sanitizer else 1)
        self.library_path = {"LD_LIBRARY_PATH": str(build.folder / "lib")}
        self.traces, self.trace = 0, None

    def ours(self, source, options=(), name=None):
        return support.compile_program(self.build, self.build.tool("mpicc"), SOURCES / source, ".margay", options, name)

    def debians(self, source):
        return support.compile_program(self.build, "mpicc.mpich", SOURCES / source, ".mpich")

    def margay(self, *words, ranks=2, status=0, **keywords):
        """`margay run`, always with a report: `last.report` is its JSON, None where no job was started."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        wanted = [] if "--report" in words else ["--report", report]
        launcher = self.build.launcher()
        if self.build.sanitizer:
            # Ranks that are threads need the launcher's choice of the library: each program gets the sanitized ones instead.
            launcher = [launcher[0], "run"]
            sanitized = ("env", f"LD_LIBRARY_PATH={self.build.folder / 'lib'}")
            words = [word for each in words for word in ((*sanitized, each) if isinstance(each, pathlib.Path) else (each,))]
        command = [*launcher, "-n", str(ranks), "--timeout", str(self.timeout), *wanted, *words]
        self.run(command, status, **keywords)
        text = report.read_text(encoding="utf-8") if report.exists() else ""
        self.last.report = json.loads(text) if text else None
        if self.last.report:
            self.compare_ids()
        return self.last

    def compare_ids(self):
        """Lines of standard error and the report have the same ids. Two kinds of findings have no line: `aborted` behind
        an error, and errors of other ranks while a job ends."""
        lines = collections.Counter(FINDING.findall(self.last.whole_stderr))
        listed = collections.Counter(finding["id"] for finding in self.last.report["findings"])
        self.expect(not lines - listed, f"lines have ids that the report lacks: {lines - listed}")
        if self.last.status == 0:
            self.expect(not listed - lines, f"the report has ids that no line has: {listed - lines}")

    def command(self, *words, status=0, **keywords):
        """Another command of margay; its standard output."""
        return self.run([self.build.launcher()[0], *words], status, **keywords).stdout

    def traced(self, *words, **keywords):
        """A traced run; the trace's folder, which is `trace` until the next one."""
        self.traces += 1
        self.trace = str(self.folder / f"trace{self.traces}")
        self.margay("--trace", self.trace, *words, **keywords)
        return self.trace

    def exported(self, trace):
        """A trace as `margay trace export` has it, in JSON."""
        return json.loads(self.command("trace", "export", trace, "--format", "json"))

    def events(self, trace, *kinds):
        """Its events of these kinds."""
        return [event for event in self.exported(trace)["events"] if event["kind"] in kinds]

    def messages(self, trace, *options):
        """Its messages that the options select, as rows of the table of `margay trace export`."""
        table = self.command("trace", "export", trace, "--format", "csv", "--table", "messages", *options)
        return list(csv.DictReader(io.StringIO(table)))

    def run(self, command, status=0, **keywords):
        """Runs a command and checks the exit status: a number, "nonzero", or None for any. `stderr` is the standard
        error without locations and ids of findings, `whole_stderr` includes them; `ids` are the ids, in the order of
        lines."""
        run = support.execute(command, self.timeout + 15, **keywords)
        expected = run.status if status is None else status
        problems = run.problems(expected)
        if self.build.sanitizer and support.SANITIZER_REPORT.search(run.stderr):
            problems.append("a sanitizer reports")
        if problems:
            self.problems.append(run.transcript(problems))
        run.ids = FINDING.findall(run.stderr)
        run.whole_stderr, run.stderr = run.stderr, FINDING.sub("", PLACE.sub("", run.stderr))
        run.report = None
        self.last = run
        return run

    def findings(self, *keys, finding=None):
        """Of each finding of the last run's report the values of `keys`, sorted: its own, its first "rank", the "operands" of its
        message."""
        made = {"rank": lambda one: (one["ranks"] or [None])[0], "operands": lambda one: operands(one["message"])}
        value = lambda one, key: made[key](one) if key in made else one.get(key)
        found = (self.last.report or {}).get("findings", [])
        return sorted((tuple(value(one, key) for key in keys) for one in found if finding in (None, one["id"])), key=repr)

    def expect_findings(self, expected, *keys, finding=None):
        """The last run's findings, or those with one id, have these values of `keys`."""
        seen, wanted = self.findings(*keys, finding=finding), sorted((tuple(one) for one in expected), key=repr)
        self.expect(seen == wanted, f"expected the findings {wanted}, not {seen}")

    def ids(self):
        """The ids of the last run's findings, sorted; of its standard error where another launcher ran it."""
        return sorted(self.last.ids) if self.last.report is None else [found for found, in self.findings("id")]

    def expect(self, condition, words):
        if not condition:
            self.problems.append(self.last.transcript([words]))

    def expect_said(self, *fragments):
        for fragment in fragments:
            self.expect(fragment in self.last.stderr, f"expected {fragment!r} on standard error")

    def expect_printed(self, *fragments):
        for fragment in fragments:
            self.expect(fragment in self.last.stdout, f"expected {fragment!r} on standard output")

    def expect_matches(self, *patterns):
        for pattern in patterns:
            self.expect(re.search(pattern, self.last.stdout, re.M), f"expected /{pattern}/ on standard output")

    def expect_silence(self):
        self.expect(not self.last.stderr, "nothing is to be reported")

    def in_time(self, seconds):
        """Checked only on an idle machine (TIMED_TESTS=1, `scripts/test --soak`)."""
        if os.environ.get("TIMED_TESTS"):
            self.expect(self.last.seconds < seconds, f"took more than {seconds} s")

    def expect_lines(self, expected):
        """Standard output has exactly these lines, in any order."""
        seen = sorted(self.last.stdout.splitlines())
        self.expect(seen == sorted(expected), f"expected the lines {sorted(expected)}")


@dataclasses.dataclass(frozen=True)
class Row:
    """Runs of one command: by each compiler, under each launcher, under `margay run` with each of the options, `times`
    times each. In a case of several rows, the first one has the sentence. `command`: program and arguments; a program
    that ends with .c is compiled."""

    case: str
    doc: str
    command: str
    options: tuple = ("",)
    compilers: tuple = ("ours",)
    launchers: tuple = ("run",)  # "hydra", "alone"; "margay": the command is margay's
    ranks: int = 2
    times: int = 1
    env: dict = dataclasses.field(default_factory=dict)
    cwd: object = None
    traced: bool = False  # and the trace is checked
    status: object = 0  # or "nonzero"; None for any
    ids: tuple = None  # of the findings, exactly these; a row states them unless the status is 0 and there are none
    may: tuple = ()  # ids that may be added if ranks race to the end of the job
    of: tuple = None  # the ranks of each finding, in the order of the report
    each: str = None  # the line that each rank prints, and no other, with {rank} and {ranks}
    stdout: tuple = None  # exactly these lines, in any order
    last: str = None  # the last line on standard output
    stderr: tuple = ()  # fragments
    absent: tuple = ()  # fragments of neither output
    silent: bool = False  # nothing on standard error
    refused: bool = False  # in one or two lines, before anything runs
    seconds: int = None

    def __post_init__(self):
        for name in ("options", "compilers", "launchers", "stderr", "absent"):
            value = getattr(self, name)
            assert isinstance(value, tuple) and all(value if name != "options" else (True,)), f"{self.case}: {name} is {value!r}"
        assert self.options, f"{self.case}: no options, so no run"
        assert self.ids is not None or self.status == 0 or self.launchers == ("margay",), f"{self.case}: {self.command}: no ids"

    def run(self, case):
        starts = [(launcher, options) for launcher in self.launchers for options in (self.options if launcher == "run" else [""])]
        for compiler, (launcher, options), _ in itertools.product(self.compilers, starts, range(self.times)):
            self.run_one(case, compiler, launcher, shlex.split(options))
            self.judge(case, 1 if launcher == "alone" else self.ranks)
            if self.traced:
                case.command("trace", "check", case.trace)

    def run_one(self, case, compiler, launcher, options):
        words = shlex.split(self.command)
        if launcher == "margay":
            case.command(*words, status=self.status, env=self.env, cwd=self.cwd)
            return
        if words[0].endswith(".c"):
            words[0] = getattr(case, compiler)(words[0])
        if launcher == "run":
            start = case.traced if self.traced else case.margay
            start(*options, *words, ranks=self.ranks, status=self.status, env=self.env, cwd=self.cwd)
            return
        start = {"hydra": ["mpiexec.hydra", "-n", str(self.ranks)], "alone": []}[launcher]
        case.run([*start, *words], self.status, env={**case.library_path, **self.env}, cwd=self.cwd)

    def judge(self, case, ranks):
        last = case.last
        ids, expected = collections.Counter(case.ids()), collections.Counter(self.ids or ())
        case.expect(expected <= ids <= expected + collections.Counter(self.may),
                    f"expected the findings {self.ids or ()}, perhaps {self.may}, not {dict(ids)}")
        if last.report is not None:
            case.expect(last.report["exit_status"] == last.status, "the report has the job's exit status")
        if self.of is not None:
            seen = [finding["ranks"] for finding in last.report["findings"]]
            case.expect(seen == list(self.of), f"expected findings of the ranks {self.of}, not {seen}")
        if self.each is not None:
            case.expect_lines(self.each.format(rank=rank, ranks=ranks) for rank in range(ranks))
        if self.stdout is not None:
            case.expect_lines(self.stdout)
        if self.last is not None:
            case.expect(last.stdout.splitlines()[-1:] == [self.last], f"expected the last line {self.last!r}")
        case.expect_said(*self.stderr)
        for fragment in self.absent:
            case.expect(fragment not in last.stdout + last.stderr, f"{fragment!r} is not expected")
        if self.silent:
            case.expect_silence()
        if self.refused:
            case.expect(last.stderr.startswith("margay") and 1 <= len(last.stderr.splitlines()) <= 2, "one or two lines are wanted")
            case.expect(not re.search(r"\d{25}", last.stderr) and last.stdout == "", "a number that nobody can read, or output")
        if self.seconds is not None:
            case.in_time(self.seconds)


def row_cases(rows):
    """The cases of a table, by name: its rows, one after the other."""
    by_name = {}
    for row in rows:
        by_name.setdefault(row.case, []).append(row)

    def function_of(some):
        def run_rows(case):
            for row in some:
                row.run(case)
        run_rows.__doc__ = some[0].doc
        return run_rows

    return {name: function_of(some) for name, some in by_name.items()}


def both(rows, function):
    """A case that has rows and then a function."""
    def run_both(case):
        rows(case)
        function(case)
    run_both.__doc__ = function.__doc__
    return run_both


def run_cases(description, cases):
    """The command line of a file of cases; its exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", help="build folder, as build/release")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("cases", nargs="*", help="cases to run (default all)")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(f"{name:22} {' '.join(function.__doc__.split())}" for name, function in cases.items()))
        return 0
    unknown = [name for name in arguments.cases if name not in cases]
    if unknown or not arguments.build:
        parser.error(f"no such case: {' '.join(unknown)}; --list shows them" if unknown else "--build is needed")
    outcomes = [run_case(name, cases[name], support.Build(arguments.build)) for name in arguments.cases or cases]
    if arguments.cases and set(outcomes) == {"skipped"}:
        return SKIPPED_STATUS
    return 1 if "FAILED" in outcomes else 0


def run_case(name, function, build):
    with tempfile.TemporaryDirectory() as folder:
        case = Case(build, folder)
        try:
            function(case)
        except support.CompileError as error:
            case.problems.append(str(error))
        except Skipped as reason:
            if not case.problems:
                print(f"{name:14} skipped: {reason}")
                return "skipped"
    outcome = "FAILED" if case.problems else "ok"
    print("\n".join([f"{name:14} {outcome}", *case.problems]), flush=True)
    return outcome


def cases_of(module):
    """Its functions case_NAME, by NAME."""
    return {name[5:]: function for name, function in module.items() if name.startswith("case_")}
