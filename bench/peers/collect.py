"""Compiles the benchmarks for every stack, runs them interleaved, and collects their output."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import uuid

from peers import judge, stacks

HERE = pathlib.Path(__file__).resolve().parent
COMMON = ["common.c"]
WITHOUT_MPI_COMMON = ("startup", "memory")
LINE = re.compile(r"^(\w+) (\d+) ([-+.\deE]+) (\S+)$", re.MULTILINE)
UNSUPPORTED = re.compile(r"^unsupported (.+)$", re.MULTILINE)
MARK = "MARGAY_BENCH_RUN"


class CompileError(Exception):
    """A benchmark that a stack's compiler refused."""


def compile_for(stack, program, folder):
    """The path of `program` for `stack`, compiled into `folder`."""
    source, extra = (("memory", ["-DBARE"]) if program == "bare" else (program, []))
    files = [f"{source}.c", *COMMON]
    if program not in WITHOUT_MPI_COMMON and not isinstance(stack, stacks.NoMpi):
        files.append("mpi_common.c")
    target = pathlib.Path(folder) / f"{program}.{stack.name}"
    command = [stack.compiler, *stacks.FLAGS, *extra, "-o", str(target), *(str(HERE / file) for file in files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"{' '.join(command)}\n{done.stderr}")
    return target


def end_marked(mark):
    """Ends leftover processes of a run, which have a mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    os.kill(int(entry), signal.SIGKILL)
        except OSError:
            continue


def start(command, environment, limit_s):
    """Runs a command: (standard output, seconds, the reason of a failure or None)."""
    mark = uuid.uuid4().hex
    began = time.monotonic()
    with subprocess.Popen(command, env={**os.environ, **environment, MARK: mark}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        why = None
        try:
            output, errors = process.communicate(timeout=limit_s)
            seconds = time.monotonic() - began
        except subprocess.TimeoutExpired:
            why = f"no end within {limit_s:g} s"
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=3)
            except subprocess.TimeoutExpired:
                pass
            end_marked(mark)
            output, errors = process.communicate()
            seconds = time.monotonic() - began
        except BaseException:  # interrupted or terminated: no process remains
            end_marked(mark)
            raise
    if why is None and process.returncode != 0:
        last = [line for line in errors.strip().splitlines() if line.strip()]
        why = f"exit status {process.returncode}: {last[-1].strip() if last else 'no word'}"
    if why is not None:
        end_marked(mark)
    return output, seconds, why


@contextlib.contextmanager
def busy_loops(count):
    """Runs `count` programs that use every processor that they get. They share this process's session, and so its part
    of the processors if the kernel divides them between sessions (autogroup); programs of start() have sessions of
    their own."""
    loops = []
    try:
        for _ in range(count):
            loops.append(subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL))
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def figures(output):
    """{(case, size, unit): value} of a program's lines; of several lines of one key (one of each rank) the median."""
    found = {}
    for case, size, value, unit in LINE.findall(output):
        found.setdefault((case, int(size), unit), []).append(float(value))
    return {key: judge.median(values) for key, values in found.items()}


def command_of(run, stack, program, processors):
    """The words that start a run: of the launcher, or of two_jobs.py with the launcher's."""
    launcher = stack.command(run.wire, run.ranks, processors, run.beside)
    if run.places > 0:
        launcher = [*launcher, "--places", str(run.places)]
    words = [str(program), *run.arguments()]
    if run.jobs == 1:
        return [*launcher, *words]
    names, options = stack.name_server()
    return [sys.executable, str(HERE / "two_jobs.py"), *names, "--", *launcher, *options, "--", *words]


def run_once(run, stack, program, processors):
    """(figures, the reason of a failure or None) of one start. A run that was ended keeps the figures that it had
    printed."""
    command = command_of(run, stack, program, processors)
    output, seconds, why = start(command, stack.environment(run.wire, run.ranks, processors), run.limit_s)
    if run.program != "startup":
        found = figures(output)
        unsupported = UNSUPPORTED.search(output)
        if unsupported and why is None:
            why = f"{judge.UNSUPPORTED}: {unsupported[1]}"
        return found, why or (None if found else "printed no figure")
    hellos = sorted(int(value) for case, size, value, _ in LINE.findall(output)
                    if case == "hello" and int(size) == run.ranks)
    if why is None and hellos != list(range(run.ranks)):
        why = f"{len(hellos)} of {run.ranks} ranks ran"
    return ({} if why else {("start_end", run.ranks, "ms"): 1e3 * seconds}), why


class Collector:
    """Runs a plan and keeps every sample."""

    def __init__(self, all_stacks, folder, repeats, processors, quiet, say):
        self.stacks = all_stacks
        self.folder = folder
        self.repeats = repeats
        self.processors = processors
        self.quiet = quiet
        self.say = say
        self.programs = {}
        self.results = {}
        self.failures = []
        self.given_up = set()
        self.broken = set()  # those given up because of a failure, not because they do not support the case

    def program(self, stack, name):
        key = (stack.name, name)
        if key not in self.programs:
            self.programs[key] = compile_for(stack, name, self.folder)
        return self.programs[key]

    def one(self, run):
        """Rounds, interleaved: each stack once, then all again. A stack that failed is not run again, nor with more
        ranks; a slow one is run once."""
        every = [stacks.NoMpi()] if run.wire == "limit" else [stack for stack in self.stacks if run.measures(stack.name)]
        chosen = [stack for stack in every if self.kind(run, stack) not in self.given_up]
        programs = {stack.name: self.program(stack, run.program) for stack in chosen}
        rounds = 0
        keys = set()
        while rounds < min(self.repeats, run.repeats_max) and chosen:
            with self.quiet.alone():
                self.quiet.wait()
                began = time.monotonic()
                with busy_loops(run.loops):
                    outcomes = [(stack, *self.timed(run, stack, programs[stack.name])) for stack in chosen]
                failed = [(stack, why) for stack, _, why, _ in outcomes if why]
                # The time of killed processes is not accounted as ours, so a round with a failure always counts.
                counts = failed or self.quiet.was_quiet(time.monotonic() - began)
            if not counts:
                continue
            rounds += 1
            for stack, found, _, _ in outcomes:
                for (case, size, unit), value in found.items():
                    self.keep(run, stack, case, size, unit, value)
                    keys.add((run.wire, run.case(case), run.size(size)))
            for stack, why in failed:
                self.given_up.add(self.kind(run, stack))
                if not why.startswith(judge.UNSUPPORTED):
                    self.broken.add(self.kind(run, stack))
                self.failures.append({"run": run.title(), "stack": stack.name, "why": why})
                self.say(f"    {judge.NAMES.get(stack.name, stack.name)}: {run.title()}: {why}")
            chosen = [stack for stack, _, why, seconds in outcomes if not why and seconds <= run.slow_s]
        self.mark_failures(keys, [stack.name for stack in every if self.kind(run, stack) in self.broken])

    def mark_failures(self, keys, names):
        """In the rows of one run: the stacks that failed in it, or in one with fewer ranks, without a figure."""
        for result in (self.results[key] for key in keys):
            without = [name for name in names if name not in result["samples"]]
            if without:
                result["failed"] = without

    def timed(self, run, stack, program):
        """(figures, the reason of a failure or None, seconds)."""
        began = time.monotonic()
        return *run_once(run, stack, program, self.processors), time.monotonic() - began

    @staticmethod
    def kind(run, stack):
        """The common key of runs that differ in their number of ranks."""
        return stack.name, run.wire, run.program, run.mode, run.block, run.loops

    def keep(self, run, stack, case, size, unit, value):
        case, size = run.case(case), run.size(size)
        result = self.results.setdefault((run.wire, case, size), {
            "wire": run.wire, "case": case, "size": size, "unit": unit, "samples": {}})
        result["samples"].setdefault(stack.name, []).append(float(f"{value:.6g}"))

    def all(self, plan, done=lambda: None):
        """`done` is called after each run, and so can save the figures measured until then."""
        began = time.monotonic()
        for number, run in enumerate(plan, 1):
            self.say(f"[{time.monotonic() - began:4.0f} s] {number:2} of {len(plan)}  {run.title()}")
            self.one(run)
            done()

    def split(self):
        """(results of MPIs, limits of the machine)."""
        everything = list(self.results.values())
        limits = [result for result in everything if result["wire"] == "limit"]
        return judge.beyond_bare([result for result in everything if result["wire"] != "limit"], limits), limits
