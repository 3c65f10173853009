"""The tools of a lab's check: the student's folder, its program under `margay run --trace`, its predictions.

    def check(work):
        done = work.run()                   # builds the program first; the lab's RANKS and OPTIONS
        done = work.run(4, "--nodes", "2")  # or others
        findings = work.findings
        findings.unless(done.status == 0, done.trouble)
        for message in done.trace.puts(portal=0): ...
        work.predicted({"headers": Truth(3, "Count the lines `puts its header` of ...", "a put, ...")})
        return findings
"""

import os
import re
import shutil

from frame import blanks, child, files, tools, variant
from frame.blanks import Truth
from frame.say import CouldNotRun, Findings, NotYet
from frame.trace import BadTrace, Trace

RUN_SECONDS = 30
CANNOT = {2: "margay rejected its command line", 71: "the job could not be started", 126: "the program could not be run",
          127: "the program could not be found"}
NO_REASON = re.compile(r"margay: (job |rank \d+: (leak|not given back):)")  # lines of the launcher and of --leaks
LEAK = re.compile(r"rank (\d+): leak: request \w+,.* made by (\w+)(?: \([^)]*\))?,.* tag (\d+),")
TIMED_OUT, DEADLOCK = 124, 73
FOUND_DEADLOCK = "[deadlock]"  # ends the first line of the report of `margay simulate`
LABEL = re.compile(r"^\[\d+\] ", re.M)  # a line's rank, in the output of `margay simulate`
JOINS = {"margay/portals.hpp": "Program::start", "margay/rmi.hpp": "margay::rmi::run", "margay/zipcode.h": "Zip_init"}  # the call by which a program joins its job


class Done:
    """A run that ended: exit status, output, trace."""

    def __init__(self, status, out, err, folder):
        self.status, self.out, self.err, self.folder = status, out, err, folder
        self._trace = None

    def _joined(self):
        """Raises NotYet if a run succeeded but no rank has a trace, which begins when the program joins its job."""
        if self.status == 0 and os.path.isdir(self.folder) and not any(name.endswith(".trace") for name in os.listdir(self.folder)):
            source = next(name for name in ("program.cpp", "program.c") if os.path.exists(os.path.join(os.path.dirname(self.folder), name)))
            text = files.read(os.path.dirname(self.folder), source)
            call = next((call for header, call in JOINS.items() if header in text), "MPI_Init")
            raise NotYet(f"{source} never called {call}"
                         ": without this call a program does not join its job, and has no trace")

    @property
    def trace(self):
        if self._trace is None:
            self._joined()
            try:
                self._trace = Trace.load(self.folder)
            except BadTrace as error:
                if "were overwritten" in str(error):
                    raise NotYet(f"the program did more than its trace has room for ({error}): does a loop call MPI again and again?") from error
                if self.status != 0:  # a rank that was ended early may have no file
                    raise NotYet(self.trouble) from error
                raise CouldNotRun(str(error)) from error
        return self._trace

    def never_completed(self, tag):
        """(rank, call that started it) of each request with a tag that the program never completed. Requires a run with `--leaks`."""
        return [(int(rank), call) for rank, call, of_tag in LEAK.findall(self.err) if int(of_tag) == tag]

    @property
    def trouble(self):
        """A sentence about a run that failed; the program's own, if it names a blank."""
        own = next((line.strip() for line in (self.err + self.out).splitlines() if re.match(r"BLANK \d+: ", line.strip())), None)
        if own:
            return own
        if self.status == TIMED_OUT:
            return f"the program did not end; `margay trace print {os.path.basename(self.folder)} --last 20` " \
                   "shows the last events"
        if self.status == DEADLOCK:
            return "no rank can proceed:\n" + "\n".join("    " + line for line in self.err.strip().splitlines())
        lines = (self.err or self.out).strip().splitlines()
        last = [line for line in lines if not NO_REASON.match(line)] or lines
        return f"the program ended with status {self.status}" + (f": {last[-1]}" if last else "")


class Flooded(Done):
    """A run that was ended because it printed too much."""

    @property
    def trouble(self):
        return f"the program printed more than {child.OUTPUT_MIB} MiB and was ended: does it print in an endless loop?"


class Simulated(Done):
    """A run of `margay simulate`, in the virtual time of a machine. Its status is that of `margay run`: 73 for a deadlock, 124 for a program that
    did not end."""

    def __init__(self, status, out, err, folder):
        super().__init__(DEADLOCK if FOUND_DEADLOCK in err else status, LABEL.sub("", out), err, folder)

    @property
    def trouble(self):
        return "the program did not end: does a loop wait for a message that never comes?" if self.status == TIMED_OUT else super().trouble


class Work:
    """A student's folder of a lab. Without `predictions` the truths are only collected."""

    def __init__(self, lab, folder, values, predictions=None):
        self.lab, self.folder, self.variant, self.predictions = lab, os.path.abspath(folder), values, predictions
        self.findings, self.truths, self._built = Findings(), {}, set()

    @property
    def interface(self):
        """What a program is built on, unless it is MPI in C: "portals", or the lab's INTERFACE."""
        return getattr(self.lab, "INTERFACE", "portals")

    @property
    def simulated(self):
        """Whether the lab's program runs in `margay simulate`."""
        return getattr(self.lab, "SIMULATED", False)

    def path(self, name):
        return os.path.join(self.folder, name)

    def program(self, stem="program"):
        """The path of a program's source in this folder, C or C++."""
        for ending in (".c", ".cpp"):
            if os.path.exists(self.path(stem + ending)):
                files.need_regular(self.path(stem + ending))
                return self.path(stem + ending)
        raise CouldNotRun(f"{self.folder}: there is no {stem}.c")

    def build(self, stem="program"):
        """Compiles a program, once in each check; the path of the executable."""
        output = self.path(stem)
        if stem not in self._built:
            tools.build(self.program(stem), output, self.folder, self.interface)
            self._built.add(stem)
        return output

    def command(self, ranks=None, *options, arguments=(), stem="program", trace="trace"):
        """The arguments of `margay` for a run, or for a simulation with a trace unless `trace` is None. Without `ranks`, the lab's RANKS and
        OPTIONS are added."""
        if ranks is None:
            ranks = variant.fill(str(self.lab.RANKS), self.variant)
            options = (*(variant.fill(word, self.variant) for word in self.lab.OPTIONS), *options)
        if self.simulated:
            return ["simulate", "-n", str(ranks), *options, *(["--trace", trace] if trace else []), "./" + stem, *arguments]
        return ["run", "-n", str(ranks), *options, "--trace", trace, "./" + stem, *arguments]

    def run(self, ranks=None, *options, arguments=(), stem="program", trace="trace", seconds=RUN_SECONDS):
        """Runs the program on this number of ranks with options of `margay run`; its trace is in the folder's `trace`. A deadlocked
        program ends with status 73."""
        folder = self.path(trace)
        files.need_no_link(folder)
        shutil.rmtree(folder, ignore_errors=True)
        self.build(stem)
        words = self.command(ranks, *options, arguments=arguments, stem=stem, trace=trace)
        command = [tools.margay(), words[0], "--timeout", str(seconds), "--deadlock", "abort", *words[1:]]
        try:
            done = child.run(command, self.folder, tools.environment(), seconds + 30)
        except OSError as error:
            raise CouldNotRun(f"margay run: {error}") from error
        if done.flooded:
            return Flooded(done.status or TIMED_OUT, done.out, done.err, folder)
        if done.status in CANNOT and not os.path.isdir(folder):
            raise CouldNotRun(f"{CANNOT[done.status]}: {done.err.strip()}")
        return Done(done.status, done.out, done.err, folder)

    def simulate(self, ranks=None, *options, arguments=(), trace=None, variables=None, seconds=RUN_SECONDS):
        """Runs the program in `margay simulate`, on this number of ranks with these options; without `ranks`, with the lab's RANKS and
        OPTIONS too. `variables` are options of the library, such as {"MARGAY_COLLECTIVE": "bcast=tree"}. `trace`: the folder for a
        trace; None: no trace is recorded. `seconds` of this machine, not of the simulated one."""
        folder = self.path(trace or "trace")
        if trace:
            files.need_no_link(folder)
            shutil.rmtree(folder, ignore_errors=True)
        self.build()
        command = [tools.margay(), *self.command(ranks, *options, arguments=arguments, trace=trace)]
        try:
            done = child.run(command, self.folder, {**tools.environment(), **(variables or {})}, seconds)
        except TimeoutError:
            return Simulated(TIMED_OUT, "", "", folder)
        except OSError as error:
            raise CouldNotRun(f"margay simulate: {error}") from error
        if done.flooded:
            return Flooded(done.status or TIMED_OUT, done.out, done.err, folder)
        if done.status in CANNOT:
            raise CouldNotRun(f"{CANNOT[done.status]}: {done.err.strip()}")
        return Simulated(done.status, done.out, done.err, folder)

    def machine(self, preset, file, **fields):
        """Writes the machine file of a preset with other values of fields into this folder. Returns its name, for `--machine`."""
        done = child.run([tools.margay(), "machines", preset, "--toml"], environment=tools.environment(), seconds=RUN_SECONDS)
        if done.status:
            raise CouldNotRun(f"margay machines: {done.err.strip()}")
        text = done.out
        for name, value in fields.items():
            text, changed = re.subn(rf"^{name} = [^\s#]+", f"{name} = {value}", text, flags=re.M)
            if not changed:
                raise CouldNotRun(f"the machine {preset} has no {name}")
        files.write(text, self.folder, file)
        return "./" + file

    def near(self, name, value, share, look, why):
        """The truth of a question for a number, for which the student's own number stands if it differs by this share at most."""
        answer = (self.predictions or {}).get(name, "")
        try:
            is_near = abs(float(blanks.squeeze(answer).replace(",", "")) - value) <= share * value
        except ValueError:
            is_near = False
        return Truth(answer if is_near else round(value), look, why, by=f"what the runs show, to {100 * share:.0f} %")

    def predicted(self, truths):
        """Compares predict.txt with the truths of a run, and adds findings."""
        self.truths.update(truths)
        if self.predictions is not None:
            self.findings += blanks.wrong_predictions(self.predictions, truths)

    def judged(self, *parts):
        """Calls each part of a check, which adds to the findings. If there are findings already (the program failed, or a blank is
        wrong), the trace may be incomplete; a part that fails because of that adds nothing."""
        for part, *arguments in parts:
            if not self.findings:
                part(*arguments)
                continue
            try:
                part(*arguments)
            except (IndexError, StopIteration, KeyError, AttributeError, ValueError, CouldNotRun):
                pass
