"""How MPI programs are started, ended and listened to: foreign launchers and libraries, exit codes, standard input and
output, profiling tools, Debian's unmodified NetPIPE."""
import collections
import pathlib
import re
import shutil
import tempfile

import support
from launch_case import SOURCES, Skipped


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


def case_racy_mpi(case):
    """`margay run --mpi racy` loads the library of lab 11, beside the ordinary one; another name is refused."""
    program = case.ours("who.c")
    racy = case.build.folder / "lib" / "margay" / "labs"
    if (racy / "libmpi.so.12").exists():
        case.margay("--mpi", "racy", "-env", "LD_DEBUG=libs", program)
        case.expect(f"calling init: {racy}/libmpi.so.12" in case.last.stderr, f"ranks do not load {racy}/libmpi.so.12")
        case.margay("-env", "LD_DEBUG=libs", program)
        case.expect(f"calling init: {racy}/" not in case.last.stderr, "the racy library is loaded without being asked for")
    case.margay("--mpi", "sound", program, status=2)
    case.expect('"sound" is none of margay, system and racy' in case.last.stderr, "a wrong name is to be told")


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
    for launcher, word in (([case.build.tool("margay"), "run"], "x"), ([case.build.tool("mpiexec"), "--nodes", "2"], "x"),
                           (["mpiexec.hydra"], "foreign")):
        case.run([*launcher, "-n", "1", program, word, ":", "-n", "3", program, word, "y z"], env=case.library_path)
        case.expect_lines([f"rank 0 program 0 command={program} argv={word} maxprocs=1 wdir={here}",
                           *(f"rank {rank} program 1 command={program} argv={word} y z maxprocs=3 wdir={here}" for rank in (1, 2, 3))])
    case.run(["mpiexec.hydra", "-n", "2", program, "foreign"], env=case.library_path)
    case.expect_lines([f"rank {rank} program 0 command={program} argv=foreign maxprocs=2 wdir={here}" for rank in (0, 1)])
    case.run([program], env=case.library_path)
    case.expect_lines([f"rank 0 program 0 command={program} maxprocs=1 wdir={here}"])
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
    for way, words in (("null", "MPI_COMM_NULL"), ("rubbish", "0x00012345, which is not a valid communicator")):
        case.margay(case.ours("ends.c"), way, "6", "1", ranks=3, status=6)
        case.expect(f"MPI_Abort with code 6 on {words}" in case.last.stderr, f"'{words}' is to be told")
    case.margay(case.ours("ends.c"), "both", "9", status=9)
    case.margay("--nodes", "2", case.ours("ends.c"), "abort", "5", "1", status=5)


def case_exit_status(case):
    """The exit status of a rank after MPI_Finalize is that of the job."""
    program = case.ours("ends.c")
    for code, rank in ((0, 0), (3, 0), (255, 1)):
        case.margay(program, "exit", str(code), str(rank), status=code)


def case_finalize_fails(case):
    """MPI_Finalize that was called and failed is reported as that, with its reason, not as forgotten; the job's exit
    status is not 0."""
    for way in ("finalize_fails", "out_of_step"):
        case.margay(case.ours("ends.c"), way, status=1)
        case.expect(re.search(r"MPI_Finalize failed in rank \d \(.*\): MPIX?_ERR_\w+: \w+", case.last.stderr), "the reason is missing")
        case.expect("exit code 0" not in case.last.stderr, "a failure has no exit code of success")
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
    for words in ("between nodes", "ready_long", "this job: 8 ranks", "nodes     barrier", "byte ring of a channel", "cells of a channel",
                  "a frame with a whole body", "measured now between two processes"):
        case.expect(words in case.last.stdout, f"'{words}' is to be told")
    measured = re.findall(r"and its answer: ring [0-9.]+ us, memory to memory ([0-9.]+ us|not measured)", case.last.stdout)
    case.expect(len(measured) == 4, "four sizes of long bodies are to be measured")
    case.in_time(5)
    case.run([case.build.tool("margay"), "info", "--protocols"], env={"MARGAY_PROTOCOL": "short_limit=1000"})
    case.expect("up to 1000 bytes" in case.last.stdout, "what a run would do with the environment's options is to be told")
    for choice, words in (("uring", "tcp on io_uring"), ("epoll", "tcp on epoll"), ("carrier", "is not a TCP backend")):
        case.run([case.build.tool("margay"), "info"], env={"MARGAY_WIRE_TCP": choice})
        case.expect(words in case.last.stdout, f"the backend that MARGAY_WIRE_TCP={choice} comes to is to be told")
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
            expected = [f"margay: rank 1: leak: an unreceived message, from rank 0, tag {tag}, {what}" +
                        (f", sent as {sent}" if types else "") for tag, (what, sent) in made.items()]
            case.expect(sorted(case.last.stderr.splitlines()) == expected, f"expected the lines {expected}")
        case.margay("--strict", *nodes, program, "late", status=72)
        told = sorted(re.findall(r"rank (\d): leak: .* from rank (\d), tag (\d+), (\d+) bytes, communicator \d+ \((?:freed|1 rank)\)", case.last.stderr))
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
    # Spinning, the round that follows the one that opens the second heap leaves the slow wire out.
    for options in ((), ("--nodes", "2", "--wire-tcp", "epoll"), ("--nodes", "2", "--wire-tcp", "uring"), ("--wait", "yield"),
                    ("--wait", "spin", "--nodes", "2", "--wire-tcp", "epoll"), ("--wait", "spin", "--nodes", "2", "--wire-tcp", "uring")):
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


def case_collective_option(case):
    """--collective asks for an algorithm: results are the same by each; and says what can be asked for."""
    program = support.compile_program(case.build, case.build.tool("mpicc"), SOURCES.parent / "collectives_random.c", ".margay")
    asked = [(f"allreduce={name},allgather={name}", words) for name in ("tree", "exchange", "nodes", "direct", "bucket")
             for words in ((), ("--nodes", "2"))] + [("allreduce=hybrid", ("--nodes", "2")), ("bcast=bucket,reduce_scatter=bucket,reduce=direct", ())]
    for algorithms, words in asked:
        case.margay("--check-accounting", "--collective", algorithms, *words, program, "150", ranks=5)
        case.expect_lines(["collectives_random: no errors"])
    for first, second in (("", ""), (":2x3", ":3lx2s"), (":6s", ":2bx3b"), (":3sx2s", ":6")):
        for words in ((), ("--nodes", "2")):
            hybrids = f"bcast=hybrid{first},reduce=hybrid{second},allreduce=hybrid{first},allgather=hybrid{second},reduce_scatter=hybrid{first}"
            case.margay("--check-accounting", "--collective", hybrids, *words, program, "150", ranks=6)
            case.expect_lines(["collectives_random: no errors"])
    case.margay("--collective", "bcast=exchange", program, status="nonzero")
    case.expect("bcast=tree|nodes|bucket|hybrid" in case.last.stderr, "expected what can be asked for")
    case.run([case.build.tool("margay"), "run", "-n", "2", "--env", "MARGAY_COLLECTIVE", "bcast=exchange", program], "nonzero")
    case.expect("it is bcast=tree|nodes|bucket|hybrid" in case.last.stderr, "expected what can be asked for")


def case_collective_examples(case):
    """The examples of collectives on any number of ranks, compiled by us and by Debian: right, and the same by both."""
    examples = {"sample_sort.c": ["in order, and none lost"], "conjugate_gradient.c": ["the residual is as small as asked"],
                "matrix_multiply.c": ["the same as the serial product"], "matrix_multiply.c --grid": ["the same as the serial product"]}
    for name, (last,) in examples.items():
        source, *words = name.split()
        path = SOURCES.parents[2] / "examples" / source
        ours = support.compile_program(case.build, case.build.tool("mpicc"), path, ".margay", ["-lm"])
        debians = support.compile_program(case.build, "mpicc.mpich", path, ".mpich", ["-lm"])
        for program, ranks, options in ((ours, 1, []), (ours, 3, []), (debians, 4, []), (ours, 5, ["--nodes", "2"])):
            case.margay("--check-accounting", *options, program, "--check", *words, ranks=ranks)
            case.expect(case.last.stdout.splitlines()[-1:] == [last], f"expected \"{last}\"")


def case_window_examples(case):
    """The examples of one-sided communication, on one node and on two, by us and (but the paper's own) by Debian: right."""
    examples = {"hash_table.c": "every key is there once, with its number", "work_queue.c": "every task was done once, and rightly",
                "figure_11.c": "all that was put and got is right"}
    for name, last in examples.items():
        path = SOURCES.parents[2] / "examples" / name
        ours = support.compile_program(case.build, case.build.tool("mpicc"), path, ".margay")
        runs = [(ours, 1, []), (ours, 3, []), (ours, 4, ["--nodes", "2"])]
        if name != "figure_11.c":
            runs.append((support.compile_program(case.build, "mpicc.mpich", path, ".mpich"), 3, []))
        for program, ranks, options in runs:
            case.margay("--check-accounting", *options, program, ranks=ranks)
            case.expect(case.last.stdout.splitlines()[-1:] == [last], f"expected \"{last}\"")


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
