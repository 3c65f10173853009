#!/usr/bin/env python3
"""Tests of the launcher's reports about a program on portals: the ranks for which it waits, an early end, its messages.

    tests/sim/program/reports.py MARGAY REPORTS
"""
import re
import signal
import subprocess
import sys

GUARD_S = 60  # against hanging; nothing here depends on time


def start(*words):
    command = [sys.argv[1], "run", "-n", "2", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_until(job, wanted):
    """Lines of standard error, until all wanted ones have occurred."""
    text = ""
    while not all(words in text for words in wanted):
        line = job.stderr.readline()
        assert line, (wanted, text)
        text += line


def waiting():
    job = start("--stats", "--stall", "1", "--timeout", str(GUARD_S), sys.argv[2], "wait")
    try:
        read_until(job, ["no rank that uses portals makes progress",
                         "rank 0 in Program::wait_until: waits for its own condition",
                         "rank 1 in Program::barrier: waits for rank 0",
                         "margay: rank 0 has waited 1 s in Program::wait_until without progress",
                         "margay: rank 1 has waited 1 s in Program::barrier without progress; for rank 0"])
        job.send_signal(signal.SIGUSR1)
        read_until(job, [") in Program::wait_until: waits for its own condition", ") in Program::barrier: waits for rank 0"])
    finally:
        job.terminate()
        _, err = job.communicate(timeout=GUARD_S)
    assert "not complete: ranks 0, 1 did not finish its program" in err, err
    assert re.search(r"^ +put +1 +8$", err, re.M), err


def again():
    _, err = (job := start("--timeout", str(GUARD_S), sys.argv[2], "again")).communicate(timeout=2 * GUARD_S)
    assert job.returncode == 0 and err.count("second: this process was in the job before") == 2, (job.returncode, err)
    assert "MPI_Abort" not in err, err


def leaving():
    _, err = (job := start("--timeout", str(GUARD_S), sys.argv[2], "leave")).communicate(timeout=2 * GUARD_S)
    assert job.returncode == 1 and "left without Program::finish() (exit code 0)" in err, (job.returncode, err)
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
