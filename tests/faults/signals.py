#!/usr/bin/env python3
"""Tests of signals to the launcher, and of processes that a job leaves behind."""
import os
import pathlib
import re
import signal
import time

from support import Clock, Job, case, main

# docs/launcher.md has the table.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
FORWARDED = (signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU, signal.SIGPWR,
             signal.SIGIO, signal.SIGTRAP, signal.SIGRTMIN, signal.SIGRTMAX)

# A program that prints the number of each signal that it receives, until one that is among its arguments ends it with
# status 0.
HEARS = """
import os, signal, sys
ends = [int(number) for number in sys.argv[1:]]
def heard(number, frame):
    os.write(1, b"%d\\n" % number)
    if number in ends: sys.exit(0)
for number in range(1, 65):
    if number not in (9, 19, 17, 11, 32, 33): signal.signal(number, heard)
os.write(1, b"up\\n")
while True: signal.pause()
"""


def hearing(*ends):
    return ["python3", "-c", HEARS, *[str(int(number)) for number in ends]]


def sh(text):
    return ["sh", "-c", text]


def wait_for_lines(job, *lines):
    for line in lines:
        found = job.read_line()
        assert found == line + "\n", (found, line)


@case
def ranks_get_the_signal_that_ends_the_job(build, scratch):
    for number in ENDING:
        job = Job(build, ["-n", 2], hearing(*ENDING))
        wait_for_lines(job, "up", "up")
        job.process.send_signal(number)
        job.expect(128 + number, 3, number.name, finding="interrupted")
        assert job.stdout == f"{int(number)}\n" * 2, job.stdout


@case
def ranks_get_what_is_forwarded_and_go_on(build, scratch):
    job = Job(build, ["-n", 2], hearing(signal.SIGTERM))
    wait_for_lines(job, "up", "up")
    for number in FORWARDED:
        job.process.send_signal(number)
        wait_for_lines(job, str(int(number)), str(int(number)))
    job.process.send_signal(signal.SIGUSR1)  # they are no MPI programs: the launcher reports, they get no signal
    job.process.send_signal(signal.SIGTERM)
    job.expect(143, 3)
    assert job.stdout == "15\n15\n", job.stdout


@case
def a_forwarded_signal_that_kills_a_rank_is_named(build, scratch):
    job = Job(build, ["-n", 2], ["sleep", "60"])
    job.wait_for_ranks(2)
    job.process.send_signal(signal.SIGUSR2)
    job.expect(128 + signal.SIGUSR2, 3, "SIGUSR2", finding="rank-died")


@case
def python_gets_its_keyboard_interrupt(build, scratch):
    """Also where a script started the job in the background, and so with SIGINT ignored."""
    program = ("import time\ntry:\n    print('up', flush=True)\n    time.sleep(60)\n"
               "except KeyboardInterrupt:\n    print('interrupted', flush=True)")
    for action in (signal.SIG_DFL, signal.SIG_IGN):
        job = Job(build, ["-n", 1], ["python3", "-c", program],
                  preexec=lambda action=action: signal.signal(signal.SIGINT, action))
        wait_for_lines(job, "up")
        job.process.send_signal(signal.SIGINT)
        job.expect(130, 3, "SIGINT")
        assert job.stdout == "interrupted\n", job.stdout


@case
def a_rank_outside_of_the_process_group_gets_them_too(build, scratch):
    job = Job(build, ["-n", 1], ["python3", "-c", "import os\nos.setpgid(0, 0)\n" + HEARS, str(int(signal.SIGINT))])
    wait_for_lines(job, "up")
    job.process.send_signal(signal.SIGALRM)
    wait_for_lines(job, "14")
    job.process.send_signal(signal.SIGINT)
    job.expect(130, 3, "SIGINT")
    assert job.stdout == "2\n", job.stdout


@case
def stubborn_ranks(build, scratch):
    program = sh("trap '' TERM INT HUP; echo up; while :; do sleep 0.05; done")
    job = Job(build, ["-n", 1], program)
    wait_for_lines(job, "up")
    begin = time.monotonic()
    job.process.send_signal(signal.SIGINT)
    job.expect(130, 3, "SIGINT")
    assert time.monotonic() - begin > 1.8, "one Ctrl-C leaves two seconds"
    job = Job(build, ["-n", 1], program)
    wait_for_lines(job, "up")
    job.process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    job.process.send_signal(signal.SIGINT)
    job.expect(130, 1, "SIGINT")


# A program that starts a sleeping child, prints its pid when it has set up its session and streams, and ends with a
# status or a signal.
LEAVES = """
import os, signal, sys, time
session, streams, end = sys.argv[1:]
ready, done = os.pipe()
child = os.fork()
if child == 0:
    if session == "own": os.setsid()
    if streams == "closed":
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2): os.dup2(null, descriptor)
    if streams == "copied":
        copy = os.dup(1)
        os.set_inheritable(copy, True)
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2): os.dup2(null, descriptor)
    os.write(done, b"x")
    os.execvp("sleep", ["sleep", "60"])
os.read(ready, 1)
print(child, flush=True)
if end.startswith("-"): os.kill(os.getpid(), int(end[1:]))
sys.exit(int(end))
"""


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@case
def detached_processes_live_when_the_job_ends_by_itself(build, scratch):
    """Processes in their own session that hold no output of the job survive the job's normal end, and no others do."""
    for session, streams, end, lives in (("own", "closed", "0", True), ("own", "closed", "3", True),
                                         ("own", "open", "0", False), ("own", "copied", "0", False),
                                         ("job's", "closed", "0", False), ("own", "closed", "-11", False)):
        job = Job(build, ["-n", 1], ["python3", "-c", LEAVES, session, streams, end])
        status = job.finish(10)
        child = int(job.stdout)
        left = is_alive(child)
        if left:
            os.kill(child, signal.SIGKILL)
        assert left == lives, (session, streams, end, left)
        assert status == (128 + int(end[1:]) if end.startswith("-") else int(end)), (status, job.stderr)
        assert end.startswith("-") == bool(re.search("SIGSEGV", job.stderr)), job.stderr
        Clock.eventually(lambda child=child: not is_alive(child), "it outlives SIGKILL")
        job.expect_nothing_left(2)


if __name__ == "__main__":
    main()
