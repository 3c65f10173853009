#!/usr/bin/env python3
"""Starts a server job and a client job of one program, and ends when both have ended.

    two_jobs.py [NAME-SERVER...] -- LAUNCHER... -- PROGRAM ARGUMENT...

The program gets --mode server or client, and --file F, in which the server writes its port's name. Each {folder} is
replaced by the path of a folder that exists meanwhile. The exit status is that of the first process that failed; it
ends the others."""
import os
import subprocess
import sys
import tempfile
import time

LOOK_S = 0.005
START_MAX_S = 10
END_MAX_S = 3


def parts(words):
    """The three commands between the words "--"."""
    first = words.index("--")
    second = words.index("--", first + 1)
    return words[:first], words[first + 1:second], words[second + 1:]


def start_names(command, folder):
    """The name server, when it has written its address; None without one."""
    if not command:
        return None
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    began = time.monotonic()
    while not os.path.exists(os.path.join(folder, "names")) and time.monotonic() - began < START_MAX_S:
        time.sleep(LOOK_S)
    return server


def end(process):
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(END_MAX_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait(jobs):
    """0, or the status of the first job that failed."""
    while True:
        statuses = [job.poll() for job in jobs]
        failed = [status for status in statuses if status]
        if failed or None not in statuses:
            return failed[0] if failed else 0
        time.sleep(LOOK_S)


def main(words):
    with tempfile.TemporaryDirectory(prefix="margay-bench-") as folder:
        names, launcher, program = ([word.replace("{folder}", folder) for word in part] for part in parts(words))
        jobs = []
        server = start_names(names, folder)
        try:
            for mode in ("server", "client"):
                command = [*launcher, program[0], "--mode", mode, "--file", os.path.join(folder, "port"), *program[1:]]
                jobs.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
            status = wait(jobs)
        finally:
            for process in (*jobs, server):
                end(process)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
