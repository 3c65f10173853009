#!/usr/bin/env python3
"""Tests of ranks that die, leave, abort or stop inside MPI: one line with the cause, the exit status, and no leftover
processes."""
import concurrent.futures
import itertools
import os
import pathlib
import re
import signal
import subprocess
import time

from support import QUICK, Job, Skip, case, compile_c, main, patient_case

HERE = pathlib.Path(__file__).resolve().parent
WIRES = {"shm": [], "tcp": ["--nodes", 2]}
# SIGSEGV for a bad address and for a full stack are one signal.
DEATHS = {"kill": (137, "SIGKILL"), "segv": (139, "SIGSEGV"), "abrt": (134, "SIGABRT"), "stack": (139, "SIGSEGV")}


def program(build, name):
    return compile_c(build, HERE / f"{name}.c", name, str(build / "bin" / "mpicc"))


def die(build, wire, place, death, expected, within=2.0, ranks=3, options=()):
    job = Job(build, ["-n", ranks, *WIRES[wire], *options], [program(build, "faulty"), place, death])
    status, cause = expected
    job.expect(status, within, cause)
    return job


def each_death(build, place, deaths=tuple(DEATHS)):
    for wire in WIRES:
        for death in deaths[:2] if QUICK else deaths:
            status, name = DEATHS[death]
            die(build, wire, place, death, (status, ["rank 1", name, "pid"]))


@case
def death_with_receives_posted(build, scratch):
    each_death(build, "posted")


@case
def death_with_unexpected_messages(build, scratch):
    each_death(build, "unexpected")


@case
def death_in_a_pull(build, scratch):
    each_death(build, "pull", ("kill", "segv", "abrt"))


@case
def death_among_long_bodies(build, scratch):
    """A read from the dead rank fails before the launcher detects the death; the launcher's message is nevertheless the
    job's."""
    for _ in range(4):
        die(build, "shm", "exchange", "kill", (137, ["rank 1", "SIGKILL", "pid"]), ranks=2, options=("--method", "long=cma"))


@case
def death_in_a_barrier(build, scratch):
    each_death(build, "barrier")


@case
def death_in_a_collective(build, scratch):
    each_death(build, "collective")


@case
def death_in_finalize(build, scratch):
    each_death(build, "finalize", ("kill", "segv", "abrt"))


@case
def death_while_idle(build, scratch):
    each_death(build, "idle", ("kill", "segv", "abrt"))
    job = die(build, "shm", "idle", "kill", (137, ["rank 1", "SIGKILL", "in MPI_Recv"]))
    assert "s;" in job.stderr


@case
def death_while_spinning(build, scratch):
    each_death(build, "spinning", ("kill", "segv", "abrt"))


@case
def death_in_a_one_sided_epoch(build, scratch):
    window = program(build, "window")
    if subprocess.run([build / "bin" / "margay", "check", window], stdout=subprocess.DEVNULL).returncode != 0:
        raise Skip("the library has windows by name only")
    for wire in WIRES:
        for death in ("kill", "segv"):
            job = Job(build, ["-n", 3, *WIRES[wire]], [window, death])
            status, name = DEATHS[death]
            job.expect(status, 2, ["rank 1", name])


@patient_case
def deadlock_ends_the_job(build, scratch):
    """--deadlock abort: a proven wait cycle has a status of its own, and the nearest mismatching message is printed."""
    jobs = {way: Job(build, ["-n", 2, "--deadlock", "abort", "--stats"], [program(build, "deadlock"), *way]) for way in ((), ("probe",))}
    for way, job in jobs.items():
        job.expect(73, 30, "--deadlock abort")
        assert re.search(r"^margay: deadlock: .* \[deadlock\]$", job.stderr, re.MULTILINE), job.stderr
        for text in ("cycle: 0 -> 1 -> 0", " rank 0 (tag 18, not 17)", "not complete: ranks 0, 1 "):
            assert text in job.stderr, f"{text}\n{job.stderr}"
        call = "MPI_Probe" if way else "MPI_Recv"
        assert re.search(rf"rank 1 in {call} \(deadlock.c:\d+\): .* rank 0, tag 17, MPI_COMM_WORLD", job.stderr), job.stderr
        assert re.search(r"^    short +1 +4$", job.stderr, re.MULTILINE), job.stderr


@patient_case
def calls_that_do_not_block_are_part_of_a_deadlock(build, scratch):
    job = Job(build, ["-n", 2, "--deadlock", "abort"], [program(build, "deadlock"), "nonblocking"])
    stalled = Job(build, ["-n", 2, "--stall", 1], [program(build, "deadlock"), "nonblocking"])
    job.expect(73, 30, "--deadlock abort")
    assert re.search(r"^margay: deadlock: .* \[deadlock\]$", job.stderr, re.MULTILINE), job.stderr
    assert re.search(r"rank 0 in MPI_Wait \(deadlock.c:\d+\): .* rank 1, tag 18, MPI_COMM_WORLD \(and 1 more\)", job.stderr), job.stderr
    assert "cycle" not in job.stderr, job.stderr  # no cycle: rank 0 waits for the barrier, not for its receive
    while not (line := stalled.process.stderr.readline()).startswith("  MPI_Ibarrier, MPI_COMM_WORLD: "):
        assert line
    stalled.process.send_signal(signal.SIGTERM)
    stalled.expect(143, 10, "SIGTERM")


@patient_case
def waits_are_reported_in_the_terms_of_the_program(build, scratch):
    job = Job(build, ["-n", 2], [program(build, "deadlock"), "partitioned"])
    said = ""
    while "rank 1 in MPI_Wait" not in said:
        said += (line := job.process.stderr.readline())
        assert line, said
    for text in (r"rank 0 in MPI_Recv \(deadlock.c:\d+\): .* rank 1, tag 5, communicator (\d+) \(2 ranks\)",
                 r"rank 1 in MPI_Wait \(deadlock.c:\d+\): .* rank 0, tag 17, communicator \d+ \(2 ranks\)",
                 r" rank 1 \(communicator (\d+), not communicator \d+ \(2 ranks\)\)"):
        assert re.search(text, said), f"{text}\n{said}"
    job.process.send_signal(signal.SIGTERM)
    job.expect(143, 10, "SIGTERM")


@patient_case
def what_the_program_completes_is_no_deadlock(build, scratch):
    job = Job(build, ["-n", 2, "--deadlock", "abort"], [program(build, "deadlock"), "late"], stdin=subprocess.PIPE)
    lines = []
    while not lines or "[stalled]" not in lines[-1]:
        lines.append(job.process.stderr.readline())
        assert lines[-1], lines
    job.process.send_signal(signal.SIGUSR1)
    while not re.search(r"rank 1 \(pid \d+\) in MPI_Recv \(deadlock.c:\d+\): .* rank 0, tag 17, MPI_COMM_WORLD", lines[-1]):
        lines.append(job.process.stderr.readline())
        assert lines[-1], lines
    job.process.stdin.write("\n")
    job.expect(0, 30)
    assert "margay: deadlock" not in "".join(lines) + job.stderr, job.stderr


@patient_case
def deadlock_is_reported(build, scratch):
    """After half a minute each rank reports its wait, without a request."""
    job = Job(build, ["-n", 3, "--timeout", 33], [program(build, "stuck")])
    job.expect(124, 36, "rank 0 in MPI_Recv", finding="timeout")
    for rank in range(3):
        assert f"margay: rank {rank} has waited" in job.stderr, job.stderr


@case
def closed_descriptors(build, scratch):
    """Closing the library's descriptors has no effect in shared memory, and is an error with a reason over TCP."""
    Job(build, ["-n", 2], [program(build, "closer")]).expect(0, 5)
    for wire, late in itertools.product(("epoll", "uring"), ([], ["late"])):
        job = Job(build, ["-n", 2, "--nodes", 2, "--wire-tcp", wire], [program(build, "closer"), *late])
        assert job.finish(5) not in (0, 134), job.stderr
        assert "has the program closed file descriptors" in job.stderr and "SIGABRT" not in job.stderr, job.stderr
        job.expect_nothing_left(2)


@case
def refused_watches(build, scratch):
    """Whichever descriptor cannot be watched, the rank that needs it reports an error, and never waits for ever."""
    for wire in ("epoll", "uring"):
        for refused in itertools.count(1):
            job = Job(build, ["-n", 2, "--nodes", 2, "--wire-tcp", wire], [program(build, "unwatched"), refused])
            status = job.finish(10)
            job.expect_nothing_left(2)
            if status == 0:
                break
            assert "No space left on device" in job.stderr and "SIGABRT" not in job.stderr, (refused, job.stderr)
        assert refused > 3, refused


WAITS = ("receive", "receive_any", "irecv_any", "test_any", "probe", "probe_any", "mprobe_any", "iprobe", "iprobe_any")


@case
def a_thread_that_joins_wakes_the_one_that_sleeps(build, scratch):
    """A rank alone on its node, so no other rank rings its bell."""
    program(build, "joined")
    for wire in ("epoll", "uring"):
        Job(build, ["-n", 2, "--nodes", 2, "--timeout", 60, "--wire-tcp", wire], [program(build, "joined")]).expect(0, 5)


def expect_unreachable(build, wait, wire, prefix, *arguments):
    job = Job(build, ["-n", 2, "--nodes", 2, "--wire-tcp", wire], [program(build, "cut"), wait, *arguments], prefix=prefix)
    job.expect(101, 3, finding="peer-failed")


def all_unreachable(arguments):
    """Three jobs at a time: each sleeps for half a second, while it tries to connect again."""
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(expect_unreachable, *each) for each in arguments]:
            done.result()


@case
def cut_connection_ends_every_wait(build, scratch):
    program(build, "cut")  # compiled once, before the jobs that share it
    all_unreachable([(build, wait, wire, (), "now") for wait in WAITS for wire in ("epoll", "uring")])


@case
def no_connection_ends_every_wait(build, scratch):
    """A new network namespace has a loopback interface that is down."""
    if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("this user may not make a network namespace")
    program(build, "cut")
    all_unreachable([(build, wait, "auto", ("unshare", "-n")) for wait in WAITS])


@case
def death_before_init(build, scratch):
    for wire in WIRES:
        die(build, wire, "before_init", "segv", (139, ["rank 1", "SIGSEGV"]))
        die(build, wire, "before_init", "exit", (1, ["rank 1", "[no-init]"]))
        die(build, wire, "before_init", "exit3", (3, ["rank 1", "[no-init]"]))


def under_quiet_launcher(build, ranks, name, *arguments):
    """Returns the ends of the ranks, by rank, and their output."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PMI", "MARGAY", "OMPI"))}
    run = subprocess.run(["python3", HERE / "quiet_launcher.py", str(ranks), program(build, name), *arguments], text=True,
                         env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    ended = dict(re.findall(r"rank (\d+) ended: (-?\d+)", run.stdout))
    return {int(rank): int(status) for rank, status in ended.items()}, f"{name} {arguments}: {run.stdout}{run.stderr}"


@case
def death_that_no_launcher_answers(build, scratch):
    """Ranks of the same node detect the death by themselves, wherever they wait, and name the dead rank."""
    ways = [("faulty", place, "kill") for place in ("posted", "pull", "barrier", "finalize")] + [("faulty", "posted", "exit3")]
    ways += [("left_alone", how) for how in ("tested", "later", "queued")]
    program(build, "faulty"), program(build, "left_alone")
    with concurrent.futures.ThreadPoolExecutor(len(ways)) as pool:
        for way, (ended, words) in zip(ways, pool.map(lambda way: under_quiet_launcher(build, 2, *way), ways)):
            if way[0] == "left_alone":
                assert ended == {0: 0, 1: -9}, words
            else:
                assert ended[1] == (-9 if way[2] == "kill" else 3) and ended[0] > 0, words
                assert re.search(r"rank 1 \(.* ended", words), words
    ended, words = under_quiet_launcher(build, 4, "left_alone", "between")
    assert ended == {0: 0, 1: -9, 2: 0, 3: -9}, words


@case
def stops_and_ends_that_are_no_deaths(build, scratch):
    ways = ("stopped", "orderly")
    program(build, "left_alone")
    with concurrent.futures.ThreadPoolExecutor(len(ways)) as pool:
        for ended, words in pool.map(lambda how: under_quiet_launcher(build, 2, "left_alone", how), ways):
            assert ended == {0: 0, 1: 0}, words


@case
def leaving_without_finalize(build, scratch):
    for wire in WIRES:
        for place in ("posted", "unexpected", "barrier"):
            die(build, wire, place, "exit", (1, ["rank 1", "[no-finalize]"]))
        die(build, wire, "barrier", "exit3", (3, ["rank 1", "[no-finalize]", "exit code 3"]))


@case
def exit_code_after_finalize(build, scratch):
    job = Job(build, ["-n", 3], [program(build, "faulty"), "after_finalize", "exit3"])
    job.expect(3, 5)


@case
def abort_of_one(build, scratch):
    for wire in WIRES:
        for place in ("posted", "barrier", "unexpected"):
            job = die(build, wire, place, "abort", (7, ["rank 1", ": MPI_Abort", "with code 7"]))
            assert job.stdout == "before abort\n", job.stdout


@case
def abort_of_all_at_once(build, scratch):
    for wire in WIRES:
        for _ in range(5):
            job = die(build, wire, "barrier", "abort_all", (7, ": MPI_Abort"), ranks=4)
            assert "after abort" not in job.stdout, job.stdout


@case
def death_of_the_launcher(build, scratch):
    for wire in WIRES:
        job = Job(build, ["-n", 3, *WIRES[wire]], [program(build, "steady"), "60"])
        job.wait_for_ranks(3)
        time.sleep(0.1)
        job.process.kill()
        job.expect_nothing_left(2)
        job.finish(5)


@case
def interrupts(build, scratch):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        job = Job(build, ["-n", 3], [program(build, "steady"), "60"])
        job.wait_for_ranks(3)
        time.sleep(0.1)
        job.process.send_signal(number)
        job.expect(128 + number, 3, number.name, finding="interrupted")


def find_ranks(job, name):
    return [pid for pid in job.marked() if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name]


@patient_case
def stopped_and_continued(build, scratch):
    """The job is right after a stop of each rank in turn, on each wire; short stops need no warning."""
    for wire in WIRES:
        job = Job(build, ["-n", 2, *WIRES[wire], "--check-accounting"], [program(build, "steady"), "5"])
        job.wait_for_ranks(2)
        time.sleep(0.2)
        for pid in find_ranks(job, "steady"):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(1.5)
            os.kill(pid, signal.SIGCONT)
        job.expect(0, 15)
        assert job.stdout == "rounds many, wrong numbers 0\n", job.stdout
        assert job.stderr == "", job.stderr


@patient_case
def long_stop_is_reported_and_survived(build, scratch):
    job = Job(build, ["-n", 2, "--nodes", 2, "--check-accounting"], [program(build, "steady"), "13"])
    job.wait_for_ranks(2)
    time.sleep(1.5)  # some rounds, on a busy machine too
    stopped = find_ranks(job, "steady")[0]
    os.kill(stopped, signal.SIGSTOP)
    time.sleep(17)
    os.kill(stopped, signal.SIGCONT)
    job.expect(0, 15, ["has been stopped", f"pid {stopped}"])
    assert job.stdout == "rounds many, wrong numbers 0\n", job.stdout


@case
def asked_for_a_report(build, scratch):
    """SIGUSR1 to the launcher prints the current call of each rank, and the run continues."""
    job = Job(build, ["-n", 2, "--check-accounting"], [program(build, "steady"), "1"])
    job.wait_for_ranks(2)
    time.sleep(0.4)
    job.process.send_signal(signal.SIGUSR1)
    job.expect(0, 10)
    assert job.stdout == "rounds many, wrong numbers 0\n", job.stdout
    for rank in range(2):
        assert f"margay: rank {rank} (pid " in job.stderr, job.stderr


@case
def io_uring_refused(build, scratch):
    """A refusal has no effect, because the default is epoll; a request for io_uring by name is a clean error."""
    refuse = compile_c(build, HERE / "refuse_call.c", "refuse_io_uring", "cc", "-DREFUSED=SYS_io_uring_setup")
    job = Job(build, ["-n", 2, "--nodes", 2, "--check-accounting"], [program(build, "steady"), "1"], prefix=[refuse])
    job.expect(0, 10)
    assert job.stdout == "rounds many, wrong numbers 0\n", job.stdout
    assert len(job.stderr.splitlines()) <= 2, job.stderr
    job = Job(build, ["-n", 2, "--nodes", 2, "--wire-tcp", "uring"], [program(build, "steady"), "1"], prefix=[refuse])
    assert job.finish(10) != 0 and "[mpi-error]" in job.stderr and "io_uring" in job.stderr, job.stderr


@case
def limited_file_size_of_a_rank(build, scratch):
    """A trace file beyond a rank's own limit is an error of MPI_Init that names it, not an end by SIGXFSZ."""
    limited = ["sh", "-c", 'ulimit -f 1; exec "$0" 1', program(build, "steady")]
    job = Job(build, ["-n", 2, "--trace", scratch / "beyond"], limited)
    assert job.finish(5) not in (0, 128 + signal.SIGXFSZ), job.stderr
    assert "[mpi-error]" in job.stderr and "ulimit -f" in job.stderr and "SIGXFSZ" not in job.stderr, job.stderr
    job.expect_nothing_left(2)


@case
def wrong_choice_of_events(build, scratch):
    """Arguments that `trace print` cannot show are an error, not an empty list."""
    Job(build, ["-n", 2, "--trace", scratch / "two"], [program(build, "faulty"), "after_finalize", "exit3"]).finish(5)

    def trace_print(*words):
        command = [build / "bin" / "margay", "trace", "print", scratch / "two", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)

    # A wrong value ends with status 2, as every mistake in a command line; a value that this trace lacks with 1.
    for status, words in ((2, ["--since", "nan"]), (2, ["--until", "inf"]), (2, ["--until", "-5"]),
                          (1, ["--since", "9", "--until", "1"]), (1, ["--rank", "99"])):
        run = trace_print(*words)
        assert run.returncode == status and not run.stdout, (words, run)
        assert run.stderr.startswith("margay trace") and words[1] in run.stderr, (words, run.stderr)
    run = trace_print("--rank", "1", "--since", "0", "--until", "1e9")
    assert run.returncode == 0 and len(run.stdout.splitlines()) > 4, run


@case
def memory_without_memfd(build, scratch):
    job = Job(build, ["-n", 4, "--check-accounting"], [program(build, "steady"), "1"], env={"MARGAY_REFUSE_MEMFD": "1"})
    job.expect(0, 10)
    assert job.stdout == "rounds many, wrong numbers 0\n", job.stdout


main()
