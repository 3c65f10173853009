"""Cases of the start, the end and the output of MPI programs: foreign launchers and libraries, exit codes, standard
input and output, profiling tools, Debian's unmodified NetPIPE."""
import collections
import pathlib
import re
import shutil
import tempfile

import support
from launch_case import SOURCES, Skipped


def who_lines(size, library="margay", arguments=""):
    return [f"rank {rank} of {size} on {library}, ring whole{arguments}" for rank in range(size)]


def case_racy_mpi(case):
    """`margay run --mpi racy` loads the library of lab 11, beside the ordinary one; another name is an error."""
    program = case.ours("who.c")
    racy = case.build.folder / "lib" / "margay" / "labs"
    if (racy / "libmpi.so.12").exists():
        # One rank, since two can lose a message: lab 11 is about it.
        case.margay("--mpi", "racy", "-env", "LD_DEBUG=libs", program, ranks=1)
        case.expect_said(f"calling init: {racy}/libmpi.so.12")
        case.margay("-env", "LD_DEBUG=libs", program, ranks=1)
        case.expect(f"calling init: {racy}/" not in case.last.stderr, "the racy library is loaded without being asked for")
    case.margay("--mpi", "sound", program, status=2)
    case.expect_said('"sound"', "racy")


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
    case.expect_said("no_such_program")


def case_info_env(case):
    """MPI_INFO_ENV describes each rank's own program: with several programs, each has its own number of ranks (MPI 4.0,
    11.2.1). The same holds under Hydra, which passes a rank only the number of its program."""
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
    case.margay("-wdir", "/tmp", program, ":", "-n", "1", program, ranks=1)
    case.expect_lines([f"rank 0 program 0 command={program} maxprocs=1 wdir=/tmp",
                       f"rank 1 program 1 command={program} maxprocs=1 wdir={here}"])


def case_info(case):
    """`margay info --protocols` prints protocols, collectives and thresholds, and its measurements of long bodies."""
    case.command("info", "--protocols", "-n", "8")
    case.expect_printed("between nodes", "ready_long", "this job: 8 ranks", "nodes     barrier", "cells of", "byte ring of")
    measured = re.findall(r"answer: ring [0-9.]+ us, .* ([0-9.]+ us|not measured)", case.last.stdout)
    case.expect(len(measured) == 4, "four sizes of long bodies are to be measured")
    case.in_time(5)
    case.command("info", "--protocols", env={"MARGAY_PROTOCOL": "short_limit=1000"})
    case.expect_printed("up to 1000 bytes")
    for choice, words in (("uring", " on io_uring"), ("epoll", " on epoll"), ("carrier", "carrier")):
        case.command("info", env={"MARGAY_WIRE_TCP": choice})
        case.expect_printed(words)
    if re.search(r"process_vm_readv +available", case.command("info")):
        case.expect("not measured" not in measured, "what this machine allows is to be measured")


def case_doctor(case):
    """`margay doctor` and `margay info` report limits on files and on memory under which jobs cannot run, and run
    themselves."""
    margay = case.build.tool("margay")
    for command in ("doctor", "info"):
        case.run(["sh", "-c", f"ulimit -f 10; '{margay}' {command} | cat; '{margay}' {command} > /dev/null; test $? -lt 128"])
        case.expect(case.last.stdout, "it is to print what it found")
    case.run(["sh", "-c", f"ulimit -f 10; '{margay}' doctor | cat"])
    case.expect_printed("ulimit -f unlimited")
    case.expect("--shm-size=1g, or" not in case.last.stdout, "memory is not what lacks")
    case.run(["sh", "-c", f"ulimit -v 100000; '{margay}' doctor"], "nonzero")
    case.expect_printed("ulimit -v unlimited")


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
    """1 MB of standard input to rank 0 and 12,000 lines from four ranks arrive completely, with every line whole."""
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
        folder = tempfile.mkdtemp(dir=case.folder)
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
    """A program of MPI's C++ functions runs with Debian's C++ library on ours, and prints the same as on MPICH."""
    program = support.compile_program(case.build, "mpicxx.mpich", SOURCES / "cxx_bindings.cpp", ".mpich")
    expected = case.run(["mpiexec.mpich", "-n", "2", program]).stdout.splitlines()
    case.expect(len(expected) == 3, "MPICH prints an exception, a product, and what became of functions")
    case.margay(program)
    case.expect_lines(expected)
    case.command("check", program)


def case_netpipe(case):
    """Debian's NPmpich2, unmodified, with its integrity check, on shared memory and over TCP."""
    for words in ([], ["--nodes", "2", "--wire-tcp", "uring"], ["--nodes", "2", "--wire-tcp", "epoll"]):
        for more in (["-i"], ["-S"], ["-a", "-2"]):
            folder = tempfile.mkdtemp(dir=case.folder)
            case.margay("--check-accounting", *words, "NPmpich2", "-u", "70000", "-n", "5", *more, cwd=folder)
            output = case.last.stdout + case.last.stderr
            case.expect(output.count("bytes") > 25 and "fail" not in output.lower(), "NetPIPE did not go through")


def case_heat2d(case):
    """examples/heat2d.c on any number of ranks, compiled by us and by Debian: the serial result, the same image."""
    examples = SOURCES.parents[2] / "examples"
    ours, debians = case.ours(examples / "heat2d.c"), case.debians(examples / "heat2d.c")
    images = set()
    for program, ranks, words in ((ours, 1, []), (ours, 4, []), (ours, 4, ["--nodes", "2"]), (ours, 6, []),
                                  (debians, 4, []), (ours, 5, ["--nodes", "2", "--wire-tcp", "epoll"])):
        image = case.folder / "heat_end.ppm"
        case.margay("--check-accounting", *words, program, "--input", examples / "data" / "heat_start.pgm", "--output",
                    image, "--check", "--steps", "100", ranks=ranks)
        case.expect_printed("the same bits as the serial result")
        images.add(image.read_bytes() if image.exists() else b"")
        image.unlink(missing_ok=True)
    case.expect(len(images) == 1 and images.pop().startswith(b"P6\n240 160\n255\n"), "the images are not the same")


def case_tool_variables(case):
    """docs/tool_interface.md lists the variables that examples/list_variables.c finds: names, classes and descriptions."""
    root = SOURCES.parents[2]
    case.margay(case.ours(root / "examples" / "list_variables.c"), ranks=1)
    printed = re.findall(r"^(control|performance) +(\w+) +(.*?) +(constant|writable|of a communicator|of the process)  (.*)$",
                         case.last.stdout, re.M)
    seen = {(name, where if sort == "control" else f"{kind}, {where}" if "comm" in where else kind, text)
            for sort, name, kind, where, text in printed}
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| (.*) \|$", (root / "docs" / "tool_interface.md").read_text(), re.M)
    case.expect(len(seen) > 50 and len(printed) == len(case.last.stdout.splitlines()), "the list is short, or a line is odd")
    case.expect(seen == set(rows), f"only printed: {sorted(seen - set(rows))}\nonly documented: {sorted(set(rows) - seen)}")
