#!/usr/bin/env python3
"""The cost of recording a trace: the same programs with recording off, on, and with whole walks, alternating in one
run.

    bench/trace_cost.py --build build/release [--repeats 7]

Prints a table for bench/performance.md. Needs two idle processors; each figure is the median, and beside it half
of the interquartile range of the samples.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

PEERS = pathlib.Path(__file__).resolve().parent / "peers"
MODES = {"off": [], "on": ["--trace"], "on, whole walks": ["--trace", "--trace-walks"]}
# program, its arguments, the measured quantity, unit
PROGRAMS = [("latency", ["--sizes", "8", "--seconds", "0.3"], "latency, 8 bytes"),
            ("latency", ["--sizes", "65536", "--seconds", "0.3"], "latency, 64 KiB"),
            ("rate", ["--sizes", "8", "--seconds", "0.3"], "message rate, 8 bytes"),
            ("matching", ["--mode", "front", "--sizes", "1000", "--seconds", "0.3"], "latency, 8 bytes, behind 1,000 posted receives")]
EVENT_BYTES = 64


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def measure(margay, program, arguments, options):
    """Value and unit of the program's line; events and messages of rank 0's trace."""
    with tempfile.TemporaryDirectory() as scratch:
        words = [word for option in options for word in ([option, scratch + "/t"] if option == "--trace" else [option])]
        out = run([margay, "run", "-n", "2", *words, program, *arguments])
        line = re.search(r"^(\w+) \d+ ([0-9.e+]+) (\S+)", out, re.M)
        if not line:
            sys.exit(f"{program}: no line in\n{out}")
        return float(line.group(2)), line.group(3)


def events_of_a_message(margay, program, arguments):
    with tempfile.TemporaryDirectory() as scratch:
        run([margay, "run", "-n", "2", "--trace", scratch + "/t", "--trace-events", "1048576", program, *arguments])
        messages = run([margay, "trace", "messages", scratch + "/t", "--csv"]).count("\n") - 1
        events = run([margay, "trace", "print", scratch + "/t", "--raw", "--all"]).count("\n")
        return events / messages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    tools = pathlib.Path(options.build).resolve() / "bin"
    margay = str(tools / "margay")
    with tempfile.TemporaryDirectory() as scratch:
        programs = {}
        for name in {name for name, _, _ in PROGRAMS}:
            programs[name] = f"{scratch}/{name}"
            run([str(tools / "mpicc"), "-O2", "-o", programs[name], str(PEERS / f"{name}.c"), str(PEERS / "mpi_common.c"),
                 str(PEERS / "common.c"), "-lm"])
        print("| measured | " + " | ".join(MODES) + " |\n|---|" + "---|" * len(MODES))
        for name, arguments, what in PROGRAMS:
            samples = {mode: [] for mode in MODES}
            unit = ""
            for _ in range(options.repeats):
                for mode, words in MODES.items():
                    value, unit = measure(margay, programs[name], arguments, words)
                    samples[mode].append(value)
            cells = []
            for values in samples.values():
                quarter = statistics.quantiles(values, n=4)
                cells.append(f"{statistics.median(values):.4g} {unit} (± {(quarter[2] - quarter[0]) / 2:.2g})")
            print(f"| {what} | " + " | ".join(cells) + " |")
        short = ["--sizes", "8", "--seconds", "0.005"]
        each = events_of_a_message(margay, programs["latency"], short)
        print(f"\nA short message has {each:.1f} events in both ranks' traces, calls and waits too: {each * EVENT_BYTES:.0f} bytes.")


if __name__ == "__main__":
    main()
