#!/usr/bin/env python3
"""The cost of `margay top` for two ranks: with and without it, alternating in one run.

    bench/top_cost.py --build build/release [--repeats 7] [--seconds 4] [--interval 0.5]

Prints a table for bench/performance.md: means over all messages of each run, the median of these, and beside it half of
the interquartile range of the runs. Needs two idle processors: a run in which other programs took more than a fiftieth
of its length of a processor is repeated. (top itself uses one of the ranks' processors for its polls.)
"""
import argparse
import os
import pathlib
import pty
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from trace_cost import run

MEASURED = {"latency": "latency, 8 bytes", "rate": "message rate, 8 bytes"}
GUARD_SECONDS = 120
OTHERS_MOST = 0.02
TRIES = 200


class Top:
    """`margay top` of a job on its own terminal, whose output is read."""

    def __init__(self, margay, job, interval):
        self.main, terminal = pty.openpty()
        self.process = subprocess.Popen([margay, "top", "--interval", str(interval), job], stdin=terminal, stdout=terminal, stderr=subprocess.PIPE)
        os.close(terminal)
        self.looks = 0
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        try:
            while data := os.read(self.main, 1 << 16):
                self.looks += data.count(b"\x1b[1;1H")
        except OSError:  # a terminal reports its end in this way
            pass

    def end(self):
        """Ends `margay top`. Returns its processor time in milliseconds for each screen."""
        os.write(self.main, b"q")
        error = self.process.stderr.read().decode()
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.reader.join()
        os.close(self.main)
        if self.process.returncode != 0 or self.looks == 0:
            sys.exit(f"margay top: status {self.process.returncode}, {self.looks} screens: {error}")
        return (used.ru_utime + used.ru_stime) / self.looks * 1e3


def busy_seconds():
    """The processor time of all processors, and of this process and its children."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, soft_irq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + soft_irq) / os.sysconf("SC_CLK_TCK"), sum(os.times()[:4])


def measure_alone(*words):
    """The same as measure(), in an undisturbed run."""
    for _ in range(TRIES):
        begun, (all_before, own_before) = time.monotonic(), busy_seconds()
        result = measure(*words)
        seconds, (all_after, own_after) = time.monotonic() - begun, busy_seconds()
        if all_after - all_before - (own_after - own_before) <= OTHERS_MOST * seconds:
            return result
    sys.exit(f"in each of {TRIES} runs other programs took more than {OTHERS_MOST:.0%} of a processor: end them first")


def measure(margay, program, what, options, with_top):
    """The value, its unit, and the time of a screen of top."""
    command = [margay, "run", "-n", "2", "--timeout", str(GUARD_SECONDS), program, what, str(options.seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
        if job.stdout.readline() != "begun\n":
            sys.exit(f"{' '.join(command)}: it did not begin")
        top = Top(margay, str(job.pid), options.interval) if with_top else None
        out = job.stdout.read()
        screen_ms = top.end() if top else 0
    line = re.search(r"^\w+ \d+ ([0-9.e+]+) (\S+)", out, re.M)
    if job.returncode != 0 or not line:
        sys.exit(f"{' '.join(command)}: status {job.returncode}\n{out}")
    return float(line.group(1)), line.group(2), screen_ms


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--interval", type=float, default=0.5)
    options = parser.parse_args()
    tools = pathlib.Path(options.build).resolve() / "bin"
    with tempfile.TemporaryDirectory() as scratch:
        program = f"{scratch}/steady"
        run([str(tools / "mpicc"), "-O2", "-o", program, str(pathlib.Path(__file__).resolve().parent / "steady.c")])
        print(f"| measured | without top | with top --interval {options.interval:g} | of each pair: with / without | a screen takes top |\n|---|---|---|---|---|")
        for what, name in MEASURED.items():
            samples, ratios, screens_ms = {False: [], True: []}, [], []
            for at in range(options.repeats):
                pair = {}
                for with_top in ((False, True) if at % 2 == 0 else (True, False)):
                    pair[with_top], unit, screen_ms = measure_alone(str(tools / "margay"), program, what, options, with_top)
                    samples[with_top].append(pair[with_top])
                    screens_ms += [screen_ms] if with_top else []
                ratios.append(pair[True] / pair[False])
            cells = []
            for values in (*samples.values(), ratios):
                quarter = statistics.quantiles(values, n=4)
                cells.append(f"{statistics.median(values):.4g} (± {(quarter[2] - quarter[0]) / 2:.2g})")
            print(f"| {name}, {unit} | {' | '.join(cells)} | {statistics.median(screens_ms):.2g} ms |", flush=True)


if __name__ == "__main__":
    main()
