#!/usr/bin/env python3
"""Tests of the launcher's reports about a program on portals: the ranks for which it waits, an early end, its messages.

    tests/sim/program/reports.py MARGAY REPORTS
"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

GUARD_S = 60  # against hanging; nothing here depends on time


def start(*words):
    command = [sys.argv[1], "run", "-n", "2", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_until(job, *patterns):
    """Lines of standard error, until all patterns have been found."""
    text = ""
    while not all(re.search(pattern, text, re.M) for pattern in patterns):
        line = job.stderr.readline()
        assert line, (patterns, text)
        text += line


def waiting():
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        job = start("--stats", "--stall", "1", "--timeout", str(GUARD_S), "--report", report, sys.argv[2], "wait")
        try:
            # The launcher's report, and each rank's own.
            read_until(job, r" \[stalled\]$", "^margay: rank 0 .* in Program::wait_until ", "^margay: rank 1 .* in Program::barrier .* rank 0$")
            job.send_signal(signal.SIGUSR1)
            read_until(job, r"\(pid \d+\) in Program::wait_until: ", r"\(pid \d+\) in Program::barrier: .* rank 0")
        finally:
            job.terminate()
            _, err = job.communicate(timeout=GUARD_S)
        found = {finding["id"]: finding for finding in json.loads(report.read_text())["findings"]}
    waits = [(wait["rank"], wait["call"], wait.get("peer")) for wait in found["stalled"]["waits"]]
    assert waits == [(0, "Program::wait_until", None), (1, "Program::barrier", 0)], waits
    assert "not complete: ranks 0, 1 " in err, err
    assert re.search(r"^ +put +1 +8$", err, re.M), err


def again():
    _, err = (job := start("--timeout", str(GUARD_S), sys.argv[2], "again")).communicate(timeout=2 * GUARD_S)
    assert job.returncode == 0 and err.count("second: ") == 2, (job.returncode, err)
    assert "MPI_Abort" not in err, err


def leaving():
    _, err = (job := start("--timeout", str(GUARD_S), sys.argv[2], "leave")).communicate(timeout=2 * GUARD_S)
    assert job.returncode == 1 and "Program::finish() (exit code 0)" in err and "[no-finalize]" in err, (job.returncode, err)
    assert "MPI" not in err, err


def counting():
    _, err = (job := start("--timeout", str(GUARD_S), "--stats", sys.argv[2], "count")).communicate(timeout=2 * GUARD_S)
    assert job.returncode == 0, err
    for row in (r"put +5 +40", r"get +1 +0", r"reply +1 +16", r"acknowledgment +1 +0"):
        assert re.search(rf"^ +{row}$", err, re.M), (row, err)


waiting()
leaving()
again()
counting()
