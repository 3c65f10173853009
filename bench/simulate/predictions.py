"""scripts/bench --only predict: times that `margay simulate` predicts for this machine, beside real runs."""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from statistics import median

from peers import machine, stacks
from rmi import report
from rmi.command import quiet_lines, write_text
from simulate.runs import FLAGS, HERE, Failed

ROOT = HERE.parents[1]
SECONDS = re.compile(r"seconds ([0-9.]+)")
GOAL = 0.15
HEAT = ("--input", "heat_start.pgm", "--steps", "2000", "--tolerance", "0")
# All ranks on one node; and a rank on each of two nodes.
SHARED, TCP = ((), ()), (("--nodes", "2"), ("--set", "nodes=2", "--set", "processors_per_node=1"))


@dataclass(frozen=True)
class Case:
    """`wire`: options of `margay run` and of `margay simulate`. `compute`: what the program computes counts."""
    title: str
    program: str
    arguments: tuple
    wire: tuple = SHARED
    compute: str = "none"
    common: tuple = ()


# A simulated run has no algorithm through shared memory, as its ranks share none.
EXCHANGE = "allreduce=exchange"
CASES = tuple(Case(f"{title}, {place}", "predicted", arguments, wire, common=common)
              for place, wire in (("shared memory", SHARED), ("TCP", TCP))
              for title, arguments, common in (("ping-pong of 8 bytes", ("pingpong", "20000"), ()), ("stream of 64 KiB", ("stream", "2000"), ()),
                                               ("allreduce of 8 bytes by exchange", ("allreduce_short", "20000"), (EXCHANGE,)),
                                               ("allreduce of 8 KiB by exchange", ("allreduce", "5000"), (EXCHANGE,)))) + (
    Case("allreduce of 8 bytes, shared memory", "predicted", ("allreduce_short", "20000")),
    Case("allreduce of 8 KiB, shared memory", "predicted", ("allreduce", "5000")),
    Case("heat2d, 2,000 steps, shared memory", "heat2d", HEAT, compute="measured"),
    Case("heat2d, 2,000 steps, TCP", "heat2d", HEAT, TCP, compute="measured"))


class Programs:
    def __init__(self, build, folder):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.folder = pathlib.Path(folder)
        self.rates = self.folder / "rates"
        shutil.copy(ROOT / "examples" / "data" / "heat_start.pgm", self.folder)
        for name, sources in (("predicted", (HERE / "predicted.c",)), ("heat2d", (ROOT / "examples" / "heat2d.c", HERE / "timed.c"))):
            self.done([self.bin / "mpicc", *FLAGS, "-o", self.folder / name, *sources, "-lm"])

    def done(self, command):
        environment = {**os.environ, "MARGAY_RATES": str(self.rates)} if self.rates.exists() else None
        ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, env=environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        if ended.returncode != 0:
            raise Failed(f"{' '.join(map(str, command))}: exit status {ended.returncode}\n{ended.stderr[-2000:]}")
        return ended.stdout

    def calibrate(self):
        self.done([self.bin / "margay", "calibrate", "--write", self.rates])

    def seconds(self, case, command, options, collective):
        program = [self.folder / case.program, *case.arguments]
        return float(SECONDS.search(self.done([self.bin / "margay", command, "-n", "2", *options, *collective, *program])).group(1))

    def sample(self, case):
        """Seconds of a real run, and those predicted."""
        real = self.seconds(case, "run", case.wire[0], [word for text in case.common for word in ("--collective", text)])
        predicted = self.seconds(case, "simulate", ("--machine", "loopback", "--compute", case.compute, *case.wire[1]),
                                 [word for text in case.common for word in ("--set", f"collective={text}")])
        return real, predicted


def rows(measured):
    """{case: [(real, predicted)]} as a table of medians."""
    table = [("program, 2 ranks", "real", "predicted", "difference", "goal", "")]
    for case, samples in measured.items():
        real, predicted = (median(column) for column in zip(*samples))
        difference = predicted / real - 1
        table.append((case.title, report.time_text(real * 1e6), report.time_text(predicted * 1e6), f"{100 * difference:+.0f} %",
                      f"<= {100 * GOAL:.0f} %", "met" if abs(difference) <= GOAL else "NOT MET"))
    return table


def measure(programs, repeats, quiet):
    with quiet.alone():
        quiet.wait()
        programs.calibrate()
    measured = {case: [] for case in CASES}
    for _ in range(repeats):
        for case, samples in measured.items():
            with quiet.alone():
                quiet.wait()
                samples.append(programs.sample(case))
    return measured


def main(root, options, build, out):
    quiet = machine.Quiet(options.patience, tuple(options.lock))
    about = machine.describe(root, [stacks.Margay(build)])
    with tempfile.TemporaryDirectory() as folder:
        try:
            programs = Programs(build, folder)
            measured = measure(programs, options.repeats or 5, quiet)
            rates = programs.rates.read_text(encoding="utf-8").splitlines()[-1]
        except Failed as error:
            sys.exit(f"scripts/bench: {error}")
    computer = about["machine"]
    lines = [f"{about['date']}  commit {about['commit']}  medians of runs in turns", f"{computer['model']}, {computer['processors']} processors, Linux {computer['kernel']}",
             rates, *quiet_lines(quiet.disturbed), "", *report.aligned(rows(measured))]
    write_text(out / "predictions.txt", lines)
    write_text(out / "predictions.json", [json.dumps({**about, "rates": rates, "results": [{"case": dataclasses.asdict(case), "seconds": samples}
                                                                                           for case, samples in measured.items()]}, indent=1)])
    print("\n".join(lines))
    return 0
