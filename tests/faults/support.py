"""The common part of the fault tests: starting a job under `margay run`, and checking that no process of it remains."""
import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import uuid

CASES = []
# A machine may be busy: the tests always check that a job ends, but check the time limit only on request
# (TIMED_TESTS=1, as `scripts/test --soak` does on an idle machine).
GUARD_SECONDS = 60


# scripts/test without --all: a part of each sweep.
QUICK = bool(os.environ.get("QUICK_TESTS"))


class Clock:
    """Whether time limits are checked in this run."""
    timed = bool(os.environ.get("TIMED_TESTS"))

    @classmethod
    def limit(cls, seconds):
        return seconds if cls.timed else seconds + GUARD_SECONDS

    @classmethod
    def eventually(cls, condition, what, seconds=1):
        """Waits until `condition()` holds."""
        deadline = time.monotonic() + cls.limit(seconds)
        while not condition():
            assert time.monotonic() < deadline, what
            time.sleep(0.01)


def case(function):
    """Marks a test case; run in order of definition."""
    CASES.append(function)
    return function


def patient_case(function):
    """The same for a case that mostly sleeps until a limit of many seconds expires, so others may run beside it."""
    function.patient = True
    return case(function)


def timed_case(function):
    """A case that tests only a time."""
    function.only_timed = True
    return case(function)


class Skip(Exception):
    """This machine cannot run the case; the text is the reason."""


class Job:
    """A running `margay run`. All its processes have a mark in their environment, which finds survivors."""

    def __init__(self, build, options, program, env=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, prefix=(),
                 preexec=None, stderr=subprocess.PIPE):
        self.mark = uuid.uuid4().hex
        self.shm_before = set(os.listdir("/dev/shm"))
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "MARGAY", "OMPI"))}
        environment.update(env or {})
        environment["FAULT_TEST_MARK"] = self.mark
        self.command = [*prefix, str(build / "bin" / "margay"), "run", *map(str, options), *map(str, program)]
        self.started = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=stdin, stdout=stdout, stderr=stderr, text=True,
                                        env=environment, preexec_fn=preexec)
        self.stdout = ""
        self.stderr = ""
        self.seconds = 0.0

    def marked(self):
        """Pids of the job's processes, without the launcher and its guardian."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == self.process.pid:
                continue
            try:
                environment = pathlib.Path(f"/proc/{entry}/environ").read_bytes()
                state = pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[0]
                name = pathlib.Path(f"/proc/{entry}/comm").read_text().strip()
            except OSError:
                continue
            if self.mark.encode() in environment and state != "Z" and name != "margay-guardian":
                found.append(int(entry))
        return found

    def wait_for_ranks(self, count, seconds=10):
        deadline = time.monotonic() + Clock.limit(seconds)
        while time.monotonic() < deadline:
            ranks = self.marked()
            if len(ranks) >= count:
                return ranks
            time.sleep(0.01)
        raise AssertionError(f"only {len(self.marked())} of {count} ranks came up: {self.finish(0)}")

    def read_line(self):
        return self.process.stdout.readline()

    def finish(self, seconds):
        """Waits for the launcher's end, in a timed run at most `seconds`; it is an error if it takes longer."""
        try:
            out, err = self.process.communicate(timeout=Clock.limit(seconds))
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"still running after {Clock.limit(seconds)} s\n  $ {self.command}\n{out or ''}{err or ''}") from None
        finally:
            self.seconds = time.monotonic() - self.started
        self.stdout += out or ""
        self.stderr += err or ""
        return self.process.returncode

    def expect_nothing_left(self, seconds):
        deadline = time.monotonic() + Clock.limit(seconds)
        while self.marked() and time.monotonic() < deadline:
            time.sleep(0.01)
        survivors = self.marked()
        for pid in survivors:
            os.kill(pid, signal.SIGKILL)
        assert not survivors, f"{len(survivors)} processes survived"
        left = {name for name in set(os.listdir("/dev/shm")) - self.shm_before if name.startswith("margay")}
        assert not left, f"left in /dev/shm: {left}"

    def expect(self, status, within, cause=(), lines=1, finding=None):
        """The launcher ends (in a timed run within `within` seconds) with `status` and one line that holds `cause` and
        ends with the id of `finding`, and no process remains."""
        code = self.finish(within)
        of_launcher = [line for line in self.stderr.splitlines() if line.startswith("margay: job")]
        transcript = f"\n  $ {self.command}\n  status {code}\n  stdout {self.stdout[-500:]!r}\n  stderr {self.stderr[-2000:]!r}"
        assert code == status, f"status {code}, expected {status}{transcript}"
        if cause or finding:
            assert len(of_launcher) == lines, f"{len(of_launcher)} lines of the launcher, expected {lines}{transcript}"
            wanted = [cause] if isinstance(cause, str) else cause
            for text in wanted:
                assert text in of_launcher[-1], f"{text!r} is not in the line{transcript}"
            assert finding is None or of_launcher[-1].endswith(f" [{finding}]"), f"the line is not of {finding}{transcript}"
        self.expect_nothing_left(5)


def compile_c(build, source, name, compiler, *flags):
    folder = build / "tests" / "faults"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    inputs = [source, *source.parent.glob("*.h"), *(source.parent.parent / "mpi").glob("*.h")]
    if not program.exists() or program.stat().st_mtime < max(path.stat().st_mtime for path in inputs):
        subprocess.run([compiler, "-O1", "-g", "-o", str(program), str(source), *flags], check=True)
    return program


def run_one_death(program, place, arguments, variables, pattern):
    """Runs a program whose victim kills itself, under the launcher that ends no process; `place` is RANKS:NODES.
    Returns the failure of the ends (empty: one killed, the others with status 0 and a line that `pattern` matches), and
    the matches."""
    command = ["python3", str(pathlib.Path(__file__).resolve().parent / "quiet_launcher.py"), place, str(program), *arguments]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "MARGAY", "OMPI"))}
    run = subprocess.run(command, env={**kept, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         errors="replace", check=False)
    ended = [int(status) for status in re.findall(r"rank \d+ ended: (-?\d+)", run.stdout)]
    living = int(place.split(":")[0]) - 1
    matches = re.findall(pattern, run.stdout)
    if sorted(ended) == [-9] + [0] * living and len(matches) == living:
        return "", matches
    shown = " ".join(f"{name}={value}" for name, value in variables.items())
    return f"exit statuses {ended}\n    $ {shown} {shlex.join(command)}\n{run.stdout[-4000:]}{run.stderr[-4000:]}", matches


def main():
    """Runs the cases of the calling script: all, or those named."""
    # A shell script starts background jobs with SIGINT ignored, which the programs started here would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--patient", choices=["only", "without"], help="only the cases that mostly sleep, or the others")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="margay-faults.") as scratch:
        for function in CASES:
            if arguments.cases and function.__name__ not in arguments.cases:
                continue
            if arguments.patient and (arguments.patient == "only") != hasattr(function, "patient"):
                continue
            begin = time.monotonic()
            try:
                if hasattr(function, "only_timed") and not Clock.timed:
                    raise Skip("it is about a time: TIMED_TESTS=1")
                function(arguments.build.resolve(), pathlib.Path(scratch))
                verdict = "ok"
            except Skip as skip:
                verdict = f"skipped: {skip}"
            except Exception:  # every case is reported, whatever its exception
                verdict = "FAILED\n" + traceback.format_exc()
                failed += 1
            print(f"{function.__name__:<42} {time.monotonic() - begin:6.2f} s  {verdict}", flush=True)
    sys.exit(1 if failed else 0)
