#!/usr/bin/env python3
"""Tests of the cost of an idle job: 64 ranks on one node start, make a barrier and end, and take little memory while
they wait; with TIMED_TESTS=1, on an otherwise idle machine, also little time and no processor.

    tests/sim/idle_cost.py --build build/release
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

RANKS = 64
SECONDS_MAX = 3.0  # under 1 s on an idle machine
MEMORY_MAX_MB = 200
PROCESSORS_MAX = 0.5  # of all ranks together, waiting inside the library
HERE = pathlib.Path(__file__).resolve().parent


def start(build, program, *arguments):
    command = [build / "bin" / "margay", "run", "-n", str(RANKS), program, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def whole_job(build, program):
    """Wall time of the best of three runs, seconds."""
    best = float("inf")
    for _ in range(3):
        begin = time.monotonic()
        job = start(build, program)
        out, _ = job.communicate(timeout=60)
        best = min(best, time.monotonic() - begin)
        assert job.returncode == 0, f"status {job.returncode}"
        assert len(re.findall(r"^hello from \d+, process \d+$", out, re.M)) == RANKS, out
    return best


def memory_kb(pid):
    """Proportional share and private memory. Pages of the node's segment and of the libraries are divided among their
    processes, so the sum over all ranks counts each once."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    field = {name: int(kb) for name, kb in re.findall(r"^(\w+): +(\d+) kB", text, re.M)}
    return field["Pss"], field["Private_Clean"] + field["Private_Dirty"], field.get("Pss_Shmem", 0)


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def waiting_job(build, program):
    """Megabytes (proportional, private, shared segment) and processors used while all ranks wait."""
    job = start(build, program, "2.0")
    pids = []
    while len(pids) < RANKS:
        line = job.stdout.readline()
        assert line, "the job ended early"
        found = re.match(r"hello from \d+, process (\d+)$", line)
        assert found, line
        pids.append(int(found.group(1)))
    time.sleep(0.3)  # longer than a waiting rank spins
    used = sum(map(processor_seconds, pids))
    begin = time.monotonic()
    sums = [sum(column) / 1024 for column in zip(*map(memory_kb, pids))]
    time.sleep(1.0)
    processors = (sum(map(processor_seconds, pids)) - used) / (time.monotonic() - begin)
    job.stdout.read()
    assert job.wait(timeout=60) == 0
    return (*sums, processors)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory(prefix="margay-idle.") as scratch:
        program = pathlib.Path(scratch) / "idle_cost"
        subprocess.run([build / "bin" / "mpicc", "-O1", "-o", program, HERE / "idle_cost.c"], check=True)
        seconds = whole_job(build, program)
        proportional, private, segment, processors = waiting_job(build, program)
    print(f"{RANKS} ranks: whole job {seconds:.2f} s; memory {proportional:.1f} MB in all, of it private {private:.1f} MB,"
          f" shared segment {segment:.1f} MB; waiting takes {processors:.2f} processors")
    failed = False
    for what, value, limit in (("seconds", seconds, SECONDS_MAX), ("MB", proportional, MEMORY_MAX_MB),
                               ("processors", processors, PROCESSORS_MAX)):
        if value > limit and (what == "MB" or os.environ.get("TIMED_TESTS")):
            print(f"more than {limit} {what}: {value:.2f}")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
