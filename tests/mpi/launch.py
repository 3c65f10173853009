#!/usr/bin/env python3
"""How MPI programs are started, ended and listened to: foreign launchers and libraries, exit codes, standard input and
output, profiling tools, Debian's unmodified NetPIPE.

    tests/mpi/launch.py --build build/release            every case
    tests/mpi/launch.py --build build/release abort      one
    tests/mpi/launch.py --list
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import sys
import tempfile

import support

SOURCES = pathlib.Path(__file__).resolve().parent / "launch"
TIMEOUT = 30
SKIPPED_STATUS = 77


class Skipped(Exception):
    """What a case needs is not there."""


class Case:
    """What a case needs: the build, compiled programs, runs that are judged."""

    def __init__(self, build):
        self.build = build
        self.problems = []
        self.library_path = {"LD_LIBRARY_PATH": str(build.folder / "lib")}

    def ours(self, source, options=(), name=None):
        return support.compile_program(self.build, self.build.tool("mpicc"), SOURCES / source, ".margay", options, name)

    def debians(self, source):
        return support.compile_program(self.build, "mpicc.mpich", SOURCES / source, ".mpich")

    def margay(self, *words, ranks=2, status=0, **keywords):
        command = [self.build.tool("margay"), "run", "-n", str(ranks), "--timeout", str(TIMEOUT), *words]
        return self.run(command, status, **keywords)

    def run(self, command, status=0, **keywords):
        """Runs and judges the exit status: a number, "nonzero", or None for any."""
        run = support.execute(command, TIMEOUT + 15, **keywords)
        expected = run.status if status is None else status
        problems = run.problems(expected)
        if problems:
            self.problems.append(run.transcript(problems))
        self.last = run
        return run

    def expect(self, condition, words):
        if not condition:
            self.problems.append(self.last.transcript([words]))

    def in_time(self, seconds):
        """Held where nothing else runs (TIMED_TESTS=1, `scripts/test --soak`)."""
        if os.environ.get("TIMED_TESTS"):
            self.expect(self.last.seconds < seconds, f"took more than {seconds} s")

    def expect_lines(self, expected):
        """Standard output has exactly these lines, in any order."""
        seen = sorted(self.last.stdout.splitlines())
        self.expect(seen == sorted(expected), f"expected the lines {sorted(expected)}")


def who_lines(size, library="margay", arguments=""):
    return [f"rank {rank} of {size} on {library}, ring whole{arguments}" for rank in range(size)]


def case_singleton(case):
    """A program run alone is rank 0 of 1."""
    for program in (case.ours("who.c"), case.debians("who.c")):
        case.run([program, "x"], env=case.library_path)
        case.expect_lines(who_lines(1, arguments=" [x]"))


def case_hydra(case):
    """Debian's Hydra starts our programs, and MPICH's on our library."""
    for ranks in (1, 2, 4):
        for program in (case.ours("who.c"), case.debians("who.c")):
            case.run(["mpiexec.hydra", "-n", str(ranks), program], env=case.library_path)
            case.expect_lines(who_lines(ranks))


def case_system_mpi(case):
    """`margay run --mpi system` starts a program with Debian's own MPICH library; without it, on ours."""
    program = case.debians("who.c")
    case.margay("--mpi", "system", program)
    case.expect_lines(who_lines(2, "another library"))
    case.margay("--stats", "--mpi", "system", program, ranks=3)
    case.expect("nothing to count: no rank used margay's MPI" in case.last.stderr and "heap" not in case.last.stderr,
                "the table is to say that there is nothing in it")
    case.expect_lines(who_lines(3, "another library"))
    case.margay(program)
    case.expect_lines(who_lines(2))


def case_command_line(case):
    """Program arguments, several programs, mpiexec's and mpirun's names, labels, variables, folders."""
    program = case.ours("who.c")
    awkward = ["-n", "two words", "", "*", "--nodes", "$HOME", "a:b"]
    case.margay(program, *awkward)
    case.expect_lines(who_lines(2, arguments="".join(f" [{word}]" for word in awkward)))
    case.run([case.build.tool("mpiexec"), "-np", "2", program, "a", ":", "-n", "1", program, "b"])
    lines = who_lines(3)
    case.expect_lines([lines[0] + " [a]", lines[1] + " [a]", lines[2] + " [b]"])
    case.run([case.build.tool("mpirun"), "-n", "2", "-l", program])
    case.expect(all(re.match(r"^\[?(\d)\]?[: ]+rank \1 of 2", line) for line in case.last.stdout.splitlines()),
                "each line is to begin with its rank's label")
    case.run([case.build.tool("mpiexec"), "-n", "2", "-genv", "COLOUR", "green", "-wdir", "/tmp", "sh", "-c",
              "echo $COLOUR; pwd"])
    case.expect_lines(["/tmp", "/tmp", "green", "green"])
    case.run([case.build.tool("mpiexec"), "-n", "2", "./no_such_program"], "nonzero")
    case.expect("no_such_program" in case.last.stderr, "the missing program is to be named")


def case_info_env(case):
    """MPI_INFO_ENV tells each rank of its own program: of several, each has its own number of ranks (MPI 4.0, 11.2.1). So
    it does under Hydra, which tells only each rank's number of the program."""
    program = case.ours("info_env.c")
    here = pathlib.Path.cwd()
    words = ["-n", "1", program, ":", "-n", "3", program, "x", "y z"]
    lines = [f"rank 0 program 0 command={program} maxprocs=1 wdir={here}",
             *(f"rank {rank} program 1 command={program} argv=x y z maxprocs=3 wdir={here}" for rank in (1, 2, 3))]
    for launcher in ([case.build.tool("margay"), "run"], [case.build.tool("mpiexec"), "--nodes", "2"], ["mpiexec.hydra"]):
        case.run([*launcher, *words], env=case.library_path)
        case.expect_lines(lines)
    case.run(["mpiexec.hydra", "-n", "2", program], env=case.library_path)
    case.expect_lines([f"rank {rank} program 0 command={program} maxprocs=2 wdir={here}" for rank in (0, 1)])
    case.run([case.build.tool("margay"), "run", "-n", "1", "-wdir", "/tmp", program, ":", "-n", "1", program])
    case.expect_lines([f"rank 0 program 0 command={program} maxprocs=1 wdir=/tmp",
                       f"rank 1 program 1 command={program} maxprocs=1 wdir={here}"])


def case_abort(case):
    """MPI_Abort's code is the exit status, from any rank, on any communicator, from two at once; the caller never comes
    back."""
    for program in (case.ours("ends.c"), case.debians("ends.c")):
        for code, rank in ((1, 0), (7, 1), (42, 2)):
            case.margay(program, "abort", str(code), str(rank), ranks=3, status=code)
            case.expect("returned" not in case.last.stdout, "MPI_Abort returned")
            case.in_time(5)
    for way in ("self", "dup"):
        case.margay(case.ours("ends.c"), way, "6", "1", ranks=3, status=6)
        case.expect("returned" not in case.last.stdout, "MPI_Abort returned")
    for way, words in (("null", "MPI_COMM_NULL"), ("rubbish", "0x00012345, which is no living communicator")):
        case.margay(case.ours("ends.c"), way, "6", "1", ranks=3, status=6)
        case.expect(f"MPI_Abort was called on {words}" in case.last.stderr, f"'{words}' is to be told")
    case.margay(case.ours("ends.c"), "both", "9", status=9)
    case.margay("--nodes", "2", case.ours("ends.c"), "abort", "5", "1", status=5)


def case_exit_status(case):
    """The exit status of a rank after MPI_Finalize is that of the job."""
    program = case.ours("ends.c")
    for code, rank in ((0, 0), (3, 0), (255, 1)):
        case.margay(program, "exit", str(code), str(rank), status=code)


def case_finalize_fails(case):
    """MPI_Finalize that was called and failed is told as that, not as forgotten."""
    case.margay(case.ours("ends.c"), "finalize_fails", status=1)
    case.expect("MPI_Finalize failed in rank 0" in case.last.stderr, "the failure is to be told")
    case.expect("without MPI_Finalize" not in case.last.stderr, "it was called")


def case_fatal_error(case):
    """The default error handler and MPI_ERRORS_ABORT end the job with a message that names the function and says what is
    wrong; so does a wrong call while MPI does not run."""
    for program in (case.ours("ends.c"), case.debians("ends.c")):
        for way in ("fatal", "errors_abort"):
            case.margay(program, way, status="nonzero")
            case.expect("MPI_Send" in case.last.stderr, "the message is to name MPI_Send")
            case.expect("4711" in case.last.stderr, "the message is to name the rank 4711")
            case.expect("returned" not in case.last.stdout, "the failing call returned")
            case.in_time(5)
    for way, name, words in (("before", "MPI_Info_set", "MPI_INFO_NULL"), ("after", "MPI_Comm_size", "after MPI_Finalize"),
                             ("wrong_level", "MPI_Init_thread", "required is 99")):
        case.margay(case.ours("ends.c"), way, status="nonzero")
        case.expect(name in case.last.stderr and words in case.last.stderr, f"the message is to name {name} and {words}")
        case.expect("returned" not in case.last.stdout, "the failing call returned")


def case_info(case):
    """`margay info --protocols` tells protocols, collectives and thresholds, and what it measures of long bodies."""
    case.run([case.build.tool("margay"), "info", "--protocols", "-n", "8"])
    for words in ("long (puma)", "this job: 8 ranks", "nodes     barrier", "byte ring of a channel", "cells of a channel",
                  "a frame with a whole body", "measured now between two processes"):
        case.expect(words in case.last.stdout, f"'{words}' is to be told")
    measured = re.findall(r"and its answer: ring [0-9.]+ us, memory to memory ([0-9.]+ us|not measured)", case.last.stdout)
    case.expect(len(measured) == 4, "four sizes of long bodies are to be measured")
    case.in_time(5)
    case.run([case.build.tool("margay"), "info"])
    if re.search(r"process_vm_readv +available", case.last.stdout):
        case.expect("not measured" not in measured, "what this machine allows is to be measured")


def case_doctor(case):
    """`margay doctor` and `margay info` tell of limits on files and on memory that jobs cannot live with, and live there."""
    margay = case.build.tool("margay")
    for command in ("doctor", "info"):
        case.run(["sh", "-c", f"ulimit -f 10; '{margay}' {command} | cat; '{margay}' {command} > /dev/null; test $? -lt 128"])
        case.expect(case.last.stdout, "it is to tell what it found")
    case.run(["sh", "-c", f"ulimit -f 10; '{margay}' doctor | cat"])
    case.expect("ulimit -f unlimited" in case.last.stdout and "--shm-size=1g, or" not in case.last.stdout,
                "the limit on files is to be named with its mend")
    case.run(["sh", "-c", f"ulimit -v 100000; '{margay}' doctor"], "nonzero")
    case.expect("ulimit -v unlimited" in case.last.stdout, "the limit on memory is to be named with its mend")


def case_late_call(case):
    """A call after MPI_Finalize ends the process with the same sentence, whichever thread makes it."""
    program = case.ours("ends.c")
    for way in ("after", "late_thread"):
        case.margay(program, way, ranks=1, status="nonzero")
        case.expect(" was called after MPI_Finalize" in case.last.stderr, "a sentence is to name the call")
        case.expect("returned" not in case.last.stdout, "the late call returned")


def case_sessions(case):
    """A process with sessions alone: how its end, its errors and its trace are told."""
    program = case.ours("session_ends.c")
    case.margay("--check-accounting", "--nodes", "2", program)
    case.margay("--check-accounting", program, "status", status=5)
    for way in ("left", "again", "types_open"):
        case.margay(program, way, status="nonzero")
        case.expect("left 1 session without MPI_Session_finalize" in case.last.stderr, "the open session is to be told")
    for way, words in (("world", "MPI was not initialized"), ("set", "mpi://NOBODY"), ("late", "MPI_Comm_free was called")):
        case.margay(program, way, status="nonzero")
        case.expect(words in case.last.stderr, f"'{words}' is to be told")
        case.expect("returned" not in case.last.stdout, "the failing call returned")
    case.run(["mpiexec.hydra", "-n", "2", str(program)], env=case.library_path)
    with tempfile.TemporaryDirectory() as folder:
        case.margay("--trace", folder, program)
        case.run([case.build.tool("margay"), "trace", "check", folder])


def case_gives_back(case):
    """After MPI_Finalize, and after a session, the heap's memory is given back, though nobody received what is in it, and
    a session comes again."""
    program = case.ours("gives_back.c")
    for way in ("world", "session"):
        for options in ((), ("--nodes", "2"), ("--heap", "2000000")):
            for rest in ((), ("left",)):
                case.margay("--check-accounting", *options, program, way, *rest)
                case.expect_lines(2 * ["heap given back, session again"])
        case.run(["mpiexec.hydra", "-n", "2", program, way], env=case.library_path)
        case.expect_lines(2 * ["heap given back, session again"])
        case.run([program, way], env=case.library_path)
        case.expect_lines(["heap given back, session again"])


def case_unreceived(case):
    """--leaks tells of messages that nobody received, with --check-types who sent them and with which call."""
    program = case.ours("unreceived.c")
    made = {7: ("16 bytes, MPI_COMM_WORLD", "4 x MPI_INT by MPI_Send"), 8: ("10 bytes, other", "10 x MPI_BYTE by MPI_Send"),
            9: ("100000 bytes, MPI_COMM_WORLD", "100000 x MPI_CHAR by MPI_Isend")}
    for nodes in ((), ("--nodes", "2")):
        for types in ((), ("--check-types",)):
            case.margay("--leaks", *types, *nodes, program)
            expected = [f"margay: rank 1: leak: a message that nobody received, from rank 0, tag {tag}, {what}" +
                        (f", sent as {sent}" if types else "") for tag, (what, sent) in made.items()]
            case.expect(sorted(case.last.stderr.splitlines()) == expected, f"expected the lines {expected}")
        case.margay("--strict", *nodes, program, "late", status=72)
        told = sorted(re.findall(r"rank (\d): leak: .* from rank (\d), tag (\d+), (\d+) bytes, (?:a communicator)", case.last.stderr))
        case.expect(told == sorted([("1", "0", "11", "4"), ("1", "1", "12", "8"), ("1", "0", "13", "12"), ("0", "0", "15", "16"),
                                    ("1", "0", "14", "100000")]), "five messages are to be told")
        case.margay("--strict", *nodes, program, "ready", status=72)
        case.expect("margay: rank 1: dropped: a ready send from rank 0, tag 11, 12 bytes, MPI_COMM_WORLD, sent as 3 x MPI_INT by "
                    "MPI_Rsend" in case.last.stderr, "the dropped message is to be told")
    case.margay(program, "ready")
    case.margay("--strict", program, status=72)
    case.margay("--leaks", "--check-types", program, "clean")
    case.expect(not case.last.stderr, "nothing is to be told")
    case.margay(program)
    case.expect(not case.last.stderr, "nothing is to be told unasked")


def case_held(case):
    """What the heap has no room for does not hold up for ever what the program waits for: whatever the first heap looks
    like, and whatever else moves."""
    program = case.ours("held.c")
    for options in ((), ("--nodes", "2", "--wire-tcp", "epoll"), ("--nodes", "2", "--wire-tcp", "uring"), ("--wait", "yield")):
        case.margay("--heap", "65536", "--check-accounting", *options, program, ranks=3)
        case.expect_lines(["all came"])


def case_cancel_behind(case):
    """Sends that wait behind a full wire are cancelled without their receiver (MPI 4.0, 3.8.4)."""
    program = case.ours("cancel_behind.c")
    for options in ((), ("--protocol", "long=rendezvous"), ("--nodes", "2", "--wire-tcp", "epoll"),
                    ("--nodes", "2", "--wire-tcp", "uring")):
        case.margay("--heap", "65536", "--check-accounting", *options, program)
        case.expect_lines(["all given back"])
    with tempfile.TemporaryDirectory() as folder:
        case.margay("--heap", "65536", "--trace", folder, program)
        case.run([case.build.tool("margay"), "trace", "check", folder])


def case_interrupted(case):
    """MPI_Abort and exit() in the handler of a signal that interrupted a call, at each thread level."""
    program = case.ours("interrupted.c")
    for way in ("abort", "exit"):
        for level in range(4):
            for call in ("moves", "waits"):
                case.margay(program, way, str(level), call, status=7)
    case.margay(program, "abort", "3", "waits", env={"MARGAY_LEAKS": "1"}, status=7)


def case_exits(case):
    """exit() ends the process, whatever other threads are at, and in a handler of a signal."""
    program = case.ours("exits.c")
    for way in ("threads", "signal"):
        for _ in range(30):
            case.run([program, way], env=case.library_path, status=3)
        for _ in range(10):
            case.run([program, way], env={**case.library_path, "MARGAY_LEAKS": "1"}, status=3)
    for _ in range(10):
        case.run([program, "allocating"], env=case.library_path, status=3)
        case.run(["mpiexec.hydra", "-n", "2", program, "allocating"], env=case.library_path, status="nonzero")
        # The handler may have interrupted malloc, so that the list needs its second.
        case.run([program, "making"], env={**case.library_path, "MARGAY_LEAKS": "1"}, status="nonzero")
    # The stream's lock is waited for no longer than a second; exit() does not want it.
    for way in ("writer", "reader", "reader_later"):
        case.run([program, way], env=case.library_path, status=3)
        case.margay(program, way, status="nonzero")
        case.run(["mpiexec.hydra", "-n", "2", program, way], env=case.library_path, status="nonzero")


def case_at_exit(case):
    """MPI ended, or begun and ended, by a handler of exit() or a destructor ends the job in order."""
    program = case.ours("at_exit.c")
    for way in ("session", "later", "world", "begun"):
        for place in ("handler", "destructor"):
            case.margay("--check-accounting", program, way, place)
            case.expect_lines(2 * ["ended in order"])
            case.run(["mpiexec.hydra", "-n", "2", program, way, place], env=case.library_path)
            case.expect_lines(2 * ["ended in order"])
            case.run([program, way, place], env=case.library_path)
            case.expect_lines(["ended in order"])


def case_initial_handler(case):
    """-initial-errhandler: errors are returned, before MPI_Init too, or end the job."""
    program = case.ours("initial_handler.c")
    for way in ("--initial-errhandler", "-initial-errhandler"):
        case.margay(way, "mpi_errors_return", program)
        case.expect_lines(2 * ["before 1, handlers 1 1, send 1, info 1, told mpi_errors_return"])
    case.run(["mpiexec.hydra", "-n", "2", program], env={**case.library_path, "MARGAY_INITIAL_ERRHANDLER": "mpi_errors_return"})
    case.expect_lines(2 * ["before 1, handlers 1 1, send 1, info 1, told mpi_errors_return"])
    for handler in ("mpi_errors_are_fatal", "mpi_errors_abort"):
        case.margay("--initial-errhandler", handler, program, status="nonzero")
        case.expect("MPI_Info_set" in case.last.stderr and not case.last.stdout, "the error is to end the program")
    case.margay("--initial-errhandler", "mpi_errors_are_funny", program, status=2)
    case.expect("mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return" in case.last.stderr, "the choice is to be told")
    case.run([case.ours("who.c")], env={**case.library_path, "MARGAY_INITIAL_ERRHANDLER": "funny"}, status="nonzero")
    case.expect("MARGAY_INITIAL_ERRHANDLER=funny" in case.last.stderr, "the variable is to be named")


def expected_stdio(ranks, text):
    sum_of = 0
    for byte in text.encode():
        sum_of = (sum_of * 31 + byte) % 2**64
    lines = []
    for rank in range(ranks):
        lines.append(f"rank {rank} read {len(text) if rank == 0 else 0} bytes, sum {sum_of if rank == 0 else 0}")
        lines += [f"rank {rank} line {i} " + "." * (i % 60) for i in range(2000)]
        lines.append(chr(ord("a") + rank) * 20000)
    return lines


def case_stdio(case):
    """1 MB of standard input to rank 0, 12,000 lines out of four ranks, every line whole, nothing lost."""
    text = "".join(f"line {i} of the input\n" for i in range(50000)) + "no newline at the end"
    program = case.ours("stdio.c")
    case.margay(program, ranks=4, stdin=text)
    seen = case.last.stdout
    tails = [f"rank {rank} ends without a newline" for rank in range(4)]
    for tail in tails:
        case.expect(seen.count(tail) == 1, f"'{tail}' is to come once")
        seen = seen.replace(tail + "\n", "").replace(tail, "")
    case.expect(sorted(seen.splitlines()) == sorted(expected_stdio(4, text)), "lines are lost, torn or mixed")
    errors = sorted(line for line in case.last.stderr.splitlines() if "standard error" in line)
    case.expect(errors == [f"rank {rank} on standard error" for rank in range(4)], "standard error is not whole")


def case_pmpi(case):
    """A profiling tool that defines MPI_Send, MPI_Pcontrol and MPI_Finalize: linked in front of the library as an object,
    as an archive and as a shared library, and preloaded."""
    expected = [f"tool: rank {rank} {words}" for rank, count, size in ((0, 20, 16000), (1, 0, 0), (2, 0, 0))
                for words in (f"sent {count} messages, {size} bytes", f"so far {count} messages")]
    tool = str(SOURCES / "pmpi_tool.c")
    made = case.ours("pmpi_tool.c", ["-c", "-fPIC"], "pmpi_tool_object")
    archive, shared = case.build.programs / "libpmpi_tool.a", case.ours("pmpi_tool.c", ["-shared", "-fPIC"], "pmpi_tool_shared")
    case.run(["ar", "rcs", archive, made])
    for what in ([tool], [str(archive)], [str(shared)]):
        case.margay(case.ours("sends.c", what, "sends_with_" + pathlib.Path(what[0]).suffix[1:]), ranks=3)
        case.expect_lines(expected)
    for program in (case.ours("sends.c"), case.debians("sends.c")):
        case.margay("-genv", "LD_PRELOAD", str(shared), program, ranks=3)
        case.expect_lines(expected)
    case.margay(case.ours("sends.c"), ranks=3)
    case.expect_lines([])


def case_eztrace(case):
    """Debian's EZTrace with its module for MPICH on a program of either compiler: as many events as the program has."""
    if not shutil.which("eztrace") or not shutil.which("otf2-print"):
        raise Skipped("eztrace and otf2-print (packages eztrace, otf2-tools) are not installed")
    case.run(["nm", "-D", "--defined-only", case.build.folder / "lib" / "libmpi.so.12"])
    exported = {line.split()[-1] for line in case.last.stdout.splitlines()}
    missing = {"MPI_Comm_group", "MPI_Group_size", "MPI_Group_translate_ranks", "MPI_Status_c2f"} - exported
    if missing:
        raise Skipped(f"EZTrace's module needs {', '.join(sorted(missing))}, which the library does not have yet")
    for program in (case.ours("sends.c"), case.debians("sends.c")):
        with tempfile.TemporaryDirectory() as folder:
            case.margay("eztrace", "-t", "mpich", "-o", folder, program, ranks=3, cwd=folder)
            traces = list(pathlib.Path(folder).rglob("*.otf2"))
            case.expect(len(traces) == 1, f"{len(traces)} traces were written")
            case.run(["otf2-print", *traces])
            events = collections.Counter(line.split(" ")[0] for line in case.last.stdout.splitlines())
            for kind, count in (("MPI_SEND", 21), ("MPI_RECV", 21), ("MPI_COLLECTIVE_END", 3)):
                case.expect(events[kind] == count, f"{events[kind]} events {kind}, expected {count}")


def case_mpicxx(case):
    """mpicxx compiles a C++ program."""
    program = support.compile_program(case.build, case.build.tool("mpicxx"), SOURCES / "hello.cpp", ".margay")
    case.margay(program, ranks=3)
    case.expect_lines(["sum of ranks 3"])


def case_cxx_bindings(case):
    """A program of MPI's C++ functions runs with Debian's library of them on our library, and as on Debian's MPICH."""
    program = support.compile_program(case.build, "mpicxx.mpich", SOURCES / "cxx_bindings.cpp", ".mpich")
    expected = case.run(["mpiexec.mpich", "-n", "2", program]).stdout.splitlines()
    case.expect(len(expected) == 3, "MPICH prints an exception, a product, and what became of functions")
    case.margay(program)
    case.expect_lines(expected)
    case.run([case.build.tool("margay"), "check", program])


def case_netpipe(case):
    """Debian's NPmpich2, unmodified, with its integrity check, on shared memory and over TCP."""
    for words in ([], ["--nodes", "2", "--wire-tcp", "uring"], ["--nodes", "2", "--wire-tcp", "epoll"]):
        for more in (["-i"], ["-S"], ["-a", "-2"]):
            with tempfile.TemporaryDirectory() as folder:
                case.margay("--check-accounting", *words, "NPmpich2", "-u", "70000", "-n", "5", *more, cwd=folder)
                output = case.last.stdout + case.last.stderr
                case.expect(output.count("bytes") > 25 and "fail" not in output.lower(), "NetPIPE did not go through")


def case_heat2d(case):
    """examples/heat2d.c on any number of ranks, compiled by us and by Debian: the serial result, the same image."""
    examples = SOURCES.parents[2] / "examples"
    ours = support.compile_program(case.build, case.build.tool("mpicc"), examples / "heat2d.c", ".margay")
    debians = support.compile_program(case.build, "mpicc.mpich", examples / "heat2d.c", ".mpich")
    images = set()
    with tempfile.TemporaryDirectory() as folder:
        for program, ranks, words in ((ours, 1, []), (ours, 4, []), (ours, 4, ["--nodes", "2"]), (ours, 6, []),
                                      (debians, 4, []), (ours, 5, ["--nodes", "2", "--wire-tcp", "epoll"])):
            image = pathlib.Path(folder) / "heat_end.ppm"
            case.margay("--check-accounting", *words, program, "--input", examples / "data" / "heat_start.pgm", "--output",
                        image, "--check", "--steps", "100", ranks=ranks)
            case.expect("the same bits as the serial result" in case.last.stdout, "the result is not the serial one")
            images.add(image.read_bytes() if image.exists() else b"")
            image.unlink(missing_ok=True)
    case.expect(len(images) == 1 and images.pop().startswith(b"P6\n240 160\n255\n"), "the images are not the same")


def case_tool_variables(case):
    """docs/tool_interface.md lists the variables that examples/list_variables.c finds: names, classes and descriptions."""
    root = SOURCES.parents[2]
    program = support.compile_program(case.build, case.build.tool("mpicc"), root / "examples" / "list_variables.c", ".margay")
    case.margay(program, ranks=1)
    printed = re.findall(r"^(control|performance) +(\w+) +(.*?) +(constant|writable|of a communicator|of the process)  (.*)$",
                         case.last.stdout, re.M)
    seen = {(name, where if sort == "control" else f"{kind}, {where}" if "comm" in where else kind, text)
            for sort, name, kind, where, text in printed}
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| (.*) \|$", (root / "docs" / "tool_interface.md").read_text(), re.M)
    case.expect(len(seen) > 50 and len(printed) == len(case.last.stdout.splitlines()), "the list is short, or a line is odd")
    case.expect(seen == set(rows), f"only printed: {sorted(seen - set(rows))}\nonly documented: {sorted(set(rows) - seen)}")


def case_check(case):
    """`margay check` finds no MPI symbol that NetPIPE and the suite's programs need and we lack."""
    case.run([case.build.tool("margay"), "check", "/usr/bin/NPmpich2"])
    case.run([case.build.tool("margay"), "check", case.debians("who.c")])
    refuses = case.ours("refuses.c")
    case.run([case.build.tool("margay"), "check", refuses], status=1)
    for name in ("MPI_File_open", "MPI_Win_create", "PMPI_Put", "3 of the"):
        case.expect(name in case.last.stdout, f"margay check does not say {name}")
    case.margay(refuses, "abort", ranks=4, status="nonzero")
    case.expect("`margay check PROGRAM` finds such functions before a run)) after " in case.last.stderr, "the abort's sentence is to be whole")
    case.expect("; ending the 3 ranks left\n" in case.last.stderr, "three others are ended")
    case.margay(refuses, ranks=1)
    case.expect("margay: MPI_File_open is not supported" in case.last.stderr, "no word of MPI_File_open")


def case_check_several(case):
    """Each of several programs is looked at, whatever is found of the one before; a folder without the library is told."""
    check = [case.build.tool("margay"), "check"]
    good, refuses = case.ours("who.c"), case.ours("refuses.c")
    case.run([*check, refuses, "/nonexistent/program", good], status=2)
    case.expect("/nonexistent/program: No such file" in case.last.stderr, "the missing program is to be told")
    for words in ("by name only", f"{good}: margay has all of the"):
        case.expect(words in case.last.stdout, f"margay check does not say '{words}'")
    case.run([*check, refuses, good], status=1)
    case.run([*check, "--library", "/nonexistent", good], status=2)
    case.expect("--library /nonexistent" in case.last.stderr, "the folder is to be told")
    case.run([*check, "--library", case.build.folder / "lib", good])


def case_check_libraries(case):
    """`margay check` follows the shared libraries that a program needs as the loader does, and says in which one a call
    stands; `margay run` refuses a program for a symbol that none of them and not margay has."""
    source = SOURCES / "libraries.c"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        deep = root / "deep"
        deep.mkdir()

        def build(output, *options):
            case.run(["mpicc.mpich", source, *options, "-o", output])
            return output

        def check(program, *, status=1, expected=f"MPI_File_open in {deep}/liblower.so", env=None):
            case.run([case.build.tool("margay"), "check", program], status=status, env=env)
            case.expect(expected in case.last.stdout.splitlines(), f"margay check does not say '{expected}'")

        lower = ["-DLOWER", "-shared", "-fPIC"]
        upper = ["-DUPPER", "-shared", "-fPIC", f"-L{deep}", "-llower"]
        program = [f"-L{root}", "-lupper", "-Wl,--allow-shlib-undefined"]
        build(deep / "liblower.so", *lower)
        # Named by each file for what it needs itself.
        build(root / "libupper.so", *upper, "-Wl,--enable-new-dtags,-rpath,$ORIGIN/deep")
        check(build(root / "by_runpath", *program, "-Wl,--enable-new-dtags,-rpath,$ORIGIN"))
        # By the program for all that comes; by the user; by nobody.
        build(root / "libupper.so", *upper)
        check(build(root / "by_rpath", *program, f"-Wl,--disable-new-dtags,-rpath,$ORIGIN:{deep}"))
        plain = build(root / "plain", *program)
        check(plain, env={"LD_LIBRARY_PATH": f"{root}:{deep}"})
        check(plain, expected="libupper.so")
        # DT_RUNPATH of the program is not for what its libraries need.
        check(build(root / "not_found", *program, f"-Wl,--enable-new-dtags,-rpath,{root}:{deep}"),
              expected=f"liblower.so in {root}/libupper.so")
        case.margay(root / "by_rpath", "call", ranks=1)
        case.expect("margay: MPI_File_open is not supported" in case.last.stderr, "no word of MPI_File_open")
        build(deep / "liblower.so", *lower, "-DMISSING")
        check(root / "by_rpath", expected=f"MPI_Margay_lacks_this in {deep}/liblower.so")
        for command in ([root / "by_rpath"], ["-genv", "LD_LIBRARY_PATH", f"{root}:{deep}", plain]):
            case.margay(*command, ranks=1, status=126)
            case.expect(f"MPI_Margay_lacks_this in {deep}/liblower.so" in case.last.stderr, "the symbol is to be told")


def case_trace_threads(case):
    """A traced run with MPI_THREAD_MULTIPLE is right in the eyes of `margay trace check`, and names its threads."""
    program = case.ours("../threads.c", name="threads_traced")
    for words in ([], ["--nodes", "2"]):
        with tempfile.TemporaryDirectory() as folder:
            trace = str(pathlib.Path(folder) / "trace")
            case.margay("--trace", trace, *words, program)
            case.run([case.build.tool("margay"), "trace", "check", trace])
            case.expect("overwritten" not in case.last.stdout, "the whole run is to be checked")
            case.run([case.build.tool("margay"), "trace", "print", trace, "--kind", "mpi_enter", "--rank", "0"])
            threads = set(re.findall(r", thread (\d+)$", case.last.stdout, re.MULTILINE))
            # The first waits for all others; of those, one that ends early may leave its number to another.
            case.expect({"1", "2"} <= threads <= {"1", "2", "3", "4"}, f"threads {sorted(threads)} are named")


def case_trace_ring(case):
    """A ring that is too short for the run loses events, not messages, and the words name the option that makes it longer."""
    program = case.ours("who.c")
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.margay("--trace", trace, "--trace-events", "8", program)
        case.run([case.build.tool("margay"), "trace", "check", trace])
        case.expect(re.search(r"overwritten, .* larger ring \(--trace-events \d+\)", case.last.stdout), "the option is to be named")
        case.expect("still on the way" not in case.last.stdout, "no message was lost")
        case.margay("--trace", trace, "--trace-events", "0", program, status=2)


LEAKED = {
    "request": ["MPI_Irecv, from rank RANK, tag 7, 16 bytes, not complete", "MPI_Send_init, to rank RANK, tag 9, 8 bytes, inactive",
                "MPI_Issend, to rank RANK, tag 8, 12 bytes, not complete"],
    'communicator "library"': ["MPI_Comm_dup, 2 processes"],
    "group": ["MPI_Comm_group, 2 processes"],
    'datatype "every other"': ["MPI_Type_vector, 8 bytes"],
    "operation": ["MPI_Op_create"],
    "info object": ["MPI_Info_create"],
    "error handler": ["MPI_Comm_create_errhandler"],
    "attribute key": ["MPI_Comm_create_keyval"],
}


def case_leaks(case):
    """--leaks lists what each rank never gave back with the function that made it; nothing when all was, or unasked."""
    program = case.ours("leaks.c")
    case.margay("--leaks", program)
    lines = [re.sub(r" 0x[0-9a-f]{8}", "", line) for line in case.last.stderr.splitlines()]
    expected = [f"margay: rank {rank}: not given back: 3 requests, 1 communicator, 1 group, 1 datatype, 1 operation, "
                "1 attribute key, 1 info object, 1 error handler" for rank in range(2)]
    expected += [f"margay: rank {rank}: leak: {kind}, made by {words.replace('RANK', str(rank))}"
                 for rank in range(2) for kind, made in LEAKED.items() for words in made]
    expected += [f"margay: rank {rank}: leak: a message that nobody received, from rank {rank}, tag 8, 12 bytes, MPI_COMM_WORLD"
                 for rank in range(2)]  # that of MPI_Issend
    case.expect(sorted(lines) == sorted(expected), f"expected the lines {sorted(expected)}")
    case.margay("--leaks", program, "clean")
    case.expect(not case.last.stderr, "nothing is to be listed")
    case.margay(program)
    case.expect(not case.last.stderr, "nothing is to be listed unasked")
    program = case.ours("session_ends.c")
    group, comm = "leak: group, made by MPI_Group_from_session_pset, 2 processes", "made by MPI_Comm_create_from_group, 2 processes"
    for way, status, count in (("leaks", 0, "1 communicator, 1 group"), ("left", "nonzero", "1 session, 1 communicator, 1 group")):
        case.margay("--leaks", program, way, status=status)
        # Whoever leaves first with an open session ends the job, and the other may not get to its list.
        rank = 0 if way == "left" and "rank 0: not given back" in case.last.stderr else 1
        lines = [re.sub(r" 0x[0-9a-f]{8}", "", line) for line in case.last.stderr.splitlines() if f"rank {rank}: " in line]
        expected = [f"leak: communicator, {comm}", group, f"not given back: {count}"]
        if way == "left":
            expected.insert(0, "leak: session, made by MPI_Session_init")
        case.expect([line for line in lines if "leak" in line or "given" in line] ==
                    [f"margay: rank {rank}: {words}" for words in expected], f"rank {rank} is to list {expected}")
    # What belongs to no session is listed once, whatever ends last.
    for way, status in (("types_first", 0), ("types_last", 0), ("types_again", 0), ("types_open", "nonzero")):
        case.margay("--leaks", program, way, ranks=1, status=status)
        for words in ("datatype", "info object"):
            case.expect(case.last.stderr.count(f"rank 0: leak: {words} ") == 1, f"its {words} is to be listed once")
    case.margay("--leaks", program)
    case.expect(not case.last.stderr, "nothing is to be listed of a session that gave all back")
    case.margay("--leaks", program, "leaks", ranks=1)
    case.expect(case.last.stderr.count("1 process\n") == 2, "a communicator and a group of one process are to be listed")


MISFITS = [
    "MPI_Recv of 2 x MPI_DOUBLE (16 bytes) does not fit what came: rank 0 sent 4 x MPI_INT (16 bytes) by MPI_Send, tag 1, "
    "MPI_COMM_WORLD",
    "MPI_Recv of 2 x a derived type (elements of several types) (24 bytes) does not fit what came: rank 0 sent elements of "
    "several types (24 bytes) by MPI_Send, tag 2, MPI_COMM_WORLD",
    "MPI_Recv of 1 x MPI_INT (4 bytes) does not fit what came: rank 0 sent 4 x MPI_BYTE (4 bytes) by MPI_Send, tag 3, "
    "MPI_COMM_WORLD",
    "MPI_Irecv of 100000 x MPI_INT (400000 bytes) does not fit what came: rank 0 sent 100000 x MPI_FLOAT (400000 bytes) by "
    "MPI_Isend, tag 4, MPI_COMM_WORLD",
    "MPI_Recv of 100000 x MPI_UNSIGNED (400000 bytes) does not fit what came: rank 0 sent 100000 x MPI_FLOAT (400000 bytes) "
    "by MPI_Isend, tag 5, MPI_COMM_WORLD",
    "MPI_Mrecv of 1 x MPI_INT (4 bytes) does not fit what came: rank 0 sent 2 x MPI_SHORT (4 bytes) by MPI_Bsend, tag 6, copy",
    "MPI_Recv of 4 x MPI_BYTE (4 bytes) does not fit what came: rank 0 sent 1 x MPI_INT (4 bytes) by MPI_Send, tag 8, "
    "MPI_COMM_WORLD",
    "MPI_Sendrecv_replace of 4 x MPI_INT (16 bytes) does not fit what came: rank 0 sent 4 x MPI_FLOAT (16 bytes) by "
    "MPI_Sendrecv_replace, tag 9, copy",
    *2 * ["MPI_Start of 4 x MPI_LONG_LONG_INT (32 bytes) does not fit what came: rank 0 sent 4 x MPI_DOUBLE (32 bytes) by "
          "MPI_Start, tag 10, MPI_COMM_WORLD"],
    "MPI_Recv of 2 x MPI_INT (8 bytes) does not fit what came: rank 0 sent elements of several types (8 bytes) by MPI_Send, "
    "tag 11, MPI_COMM_WORLD",
    "MPI_Recv of 3 x MPI_INT (12 bytes) is too small for what came: rank 0 sent 4 x MPI_INT (16 bytes) by MPI_Send, tag 7, "
    "MPI_COMM_WORLD",
]


def case_check_types(case):
    """--check-types names both sides of messages that do not fit their receives, on each wire and protocol, and no others."""
    program = case.ours("check_types.c")
    for options in ([], ["--nodes", "2"], ["--protocol", "long=rendezvous"]):
        case.margay("--check-types", *options, program, "good")
        case.expect(not case.last.stderr, "all fits")
        case.margay("--check-types", *options, program, "bad")
        case.expect(case.last.stderr.splitlines() == [f"margay: rank 1: {words}" for words in MISFITS],
                    f"expected the lines {MISFITS}")
    case.margay("--check-types", program, "110")
    lines = case.last.stderr.splitlines()
    case.expect(len(lines) == 100, f"{len(lines)} lines, of 110 misfits 100 are to be printed")
    case.expect([line.endswith("(the last one that is printed)") for line in lines] == [False] * 99 + [True], "the last one says so")
    case.margay(program, "bad")
    case.expect(not case.last.stderr, "nothing is to be said unasked")


def case_strict(case):
    """--strict turns the checks on, counts what they tell, and makes it an error, but not of a job that failed otherwise."""
    leaks, types, ends = case.ours("leaks.c"), case.ours("check_types.c"), case.ours("ends.c")
    case.margay("--strict", leaks, status=72)
    case.expect("margay: --strict: 22 findings: 11 by rank 0, 11 by rank 1\n" in case.last.stderr, "all leaks count")
    case.margay("--strict", types, "bad", status=72)
    case.expect(f"margay: --strict: {len(MISFITS)} findings: {len(MISFITS)} by rank 1\n" in case.last.stderr, "all misfits count")
    case.margay(leaks, status=72, env={"MARGAY_STRICT": "1"})
    for words in ([leaks, "clean"], [types, "good"]):
        case.margay("--strict", *words)
        case.expect(not case.last.stderr, "nothing was found")
    case.margay("--leaks", "--check-types", leaks)
    case.margay("--strict", ends, "exit", "7", "1", status=7)


# What the last rank says, and what the first one does, in each of disagree.c's calls that differ.
DISAGREE = {
    "root": ("MPI_Reduce of 1 x MPI_INT with MPI_SUM, root 0", "MPI_Reduce of 1 x MPI_INT with MPI_SUM, root 1"),
    "op": ("MPI_Allreduce of 1 x MPI_INT with MPI_SUM", "MPI_Allreduce of 1 x MPI_INT with MPI_MAX"),
    "type": ("MPI_Bcast of 2 x MPI_INT, root 0", "MPI_Bcast of 2 x MPI_FLOAT, root 0"),
    "count": ("MPI_Allreduce of 3 x MPI_INT with MPI_SUM", "MPI_Allreduce of 2 x MPI_INT with MPI_SUM"),
    "order": ("MPI_Bcast of 4 x MPI_INT, root 0", "MPI_Barrier"),
    "gather": ("MPI_Gather of 1 x MPI_INT, root 0", "MPI_Gather of 1 x MPI_FLOAT, root 0"),
    "forgotten": ("MPI_Reduce of 1 x MPI_INT with MPI_SUM, root 3", "MPI_Finalize"),
    "made": ("MPI_Comm_split", "MPI_Comm_dup"),
}


def case_disagree(case):
    """--check-types tells of collective calls that differ, with both ranks' calls, and of nothing else."""
    program = case.ours("disagree.c")
    for place in (["--nodes", "1"], ["--nodes", "2"]):
        case.margay("--strict", *place, program, ranks=4)
        case.expect(not case.last.stderr, "calls that fit are not told")
        for what, (others, odd) in DISAGREE.items():
            if place[-1] == "2" and what not in ("op", "count", "order"):
                continue
            # Some of them wait for ever, and some end in an error.
            case.margay("--check-types", "--deadlock", "abort", *place, program, what, ranks=4, status=None)
            told = [line for line in case.last.stderr.splitlines() if "collective calls do not fit" in line]
            words = (rf"margay: collective calls do not fit each other: rank [012] calls {re.escape(others)}, MPI_COMM_WORLD, "
                     rf"where rank 3 calls {re.escape(odd)}(, MPI_COMM_WORLD)?")
            turned = (rf"margay: collective calls do not fit each other: rank 3 calls {re.escape(odd)}(, MPI_COMM_WORLD)?, "
                      rf"where rank [012] calls {re.escape(others)}, MPI_COMM_WORLD")
            case.expect(len(told) == 1 and (re.fullmatch(words, told[0]) or re.fullmatch(turned, told[0])), f"{what}: both calls, once")
        case.margay("--strict", *place, program, "half", ranks=4, status=72)
        case.expect("MPI_Reduce of 1 x MPI_INT with MPI_SUM, root 1, half, which 1 of the 2 members never do" in case.last.stderr,
                    "a call that some never make")
    case.margay("--strict", program, "op", ranks=4, status=72)


CASES = {name[5:]: function for name, function in list(globals().items()) if name.startswith("case_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", help="build folder, as build/release")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("cases", nargs="*", help="cases to run (default all)")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(f"{name:14} {function.__doc__}" for name, function in CASES.items()))
        return 0
    unknown = [name for name in arguments.cases if name not in CASES]
    if unknown or not arguments.build:
        parser.error(f"no such case: {' '.join(unknown)}; --list shows them" if unknown else "--build is needed")
    failed = skipped = 0
    for name in arguments.cases or CASES:
        case = Case(support.Build(arguments.build))
        try:
            CASES[name](case)
        except support.CompileError as error:
            case.problems.append(str(error))
        except Skipped as reason:
            print(f"{name:14} skipped: {reason}")
            skipped += 1
            continue
        print(f"{name:14} {'FAILED' if case.problems else 'ok'}")
        if case.problems:
            print("\n".join(case.problems), flush=True)
        failed += bool(case.problems)
    if skipped and skipped == len(arguments.cases):
        return SKIPPED_STATUS
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
