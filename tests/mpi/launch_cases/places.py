"""Which places of the program errors and checks name: file and line where it has debug information, file and offset else."""
import re
import tempfile

import support
from launch_case import SOURCES, Skipped
from run import has_fortran

OPTIONS = ["-g", "-O1"]  # -O2 makes one call of two, and a jump of a function's last


def line_of(comment, source="places.c"):
    """The line of the source that has it."""
    mark = f"/* {comment} */" if source.endswith(".c") else f" ! {comment}"
    lines = [number for number, text in enumerate((SOURCES / source).read_text().splitlines(), 1) if text.endswith(mark)]
    assert len(lines) == 1, (comment, lines)
    return f"{source}:{lines[0]}"


def said(case, *words):
    """Somewhere on the standard error, one behind the other in one line."""
    pattern = ".*".join(re.escape(word) for word in words)
    case.expect(re.search(pattern, case.last.whole_stderr), f"a line is to have {words}")


def case_fatal(case):
    """A fatal error names the call once, its line and its class, and no MPI_Abort that the program did not call."""
    program = case.ours("places.c", OPTIONS)
    for what, call, error in (("truncated", "MPI_Recv", "MPI_ERR_TRUNCATE"), ("waited", "MPI_Wait", "MPI_ERR_TRUNCATE"),
                              ("handled", "MPI_Comm_call_errhandler", "MPI_ERR_TAG")):
        for place in ([], ["--nodes", "2"]):
            case.margay(*place, program, what, status="nonzero")
            said(case, "margay: job ", f": {call} ({line_of(what)}) failed on MPI_COMM_WORLD: {error}: ", " (exit status ")
            lines = [line for line in case.last.stderr.splitlines() if line.startswith("margay: job ")]
            case.expect(len(lines) == 1 and "MPI_Abort" not in lines[0] and lines[0].count(call) == 1, "the call's name, once")
    case.margay(program, "aborts", status=7)
    said(case, "rank 1 (", f": MPI_Abort ({line_of('aborts')}) with code 7 on MPI_COMM_WORLD (exit status 7)")
    case.margay(program, "early", status="nonzero")
    said(case, f"MPI_Comm_size ({line_of('early')}) was called before MPI_Init")


def case_without_lines(case):
    """Without debug information: the file, and the offset that addr2line and objdump take."""
    program = case.ours("places.c", ["-O2", "-g0"], name="places_without")
    case.margay(program, "truncated", status="nonzero")
    found = re.search(r": MPI_Recv \((\S+)\+(0x[0-9a-f]+)\) failed on MPI_COMM_WORLD: ", case.last.whole_stderr)
    case.expect(found and found[1] in str(program), "file and offset")
    if found:
        case.run(["objdump", "-d", "--no-show-raw-insn", program])
        code = case.last.stdout.splitlines()
        behind = [at for at, line in enumerate(code) if re.match(rf"\s*{found[2][2:]}:", line)]
        case.expect(len(behind) == 1 and "MPI_Recv" in code[behind[0] - 1], "it is the address behind the call")
    case.margay("--leaks", program, "leaks")
    case.expect(re.search(r"made by MPI_Comm_dup \(\S+\+0x[0-9a-f]+\)", case.last.whole_stderr), "of a leak likewise")


def case_foreign(case):
    """Under another launcher, too, whose ranks print it themselves."""
    program = case.ours("places.c", OPTIONS)
    case.run(["mpiexec.hydra", "-n", "2", program, "truncated"], status="nonzero", env=case.library_path)
    said(case, f"MPI_Recv ({line_of('truncated')}) failed on MPI_COMM_WORLD: MPI_ERR_TRUNCATE: ")


def case_checks(case):
    """--leaks, --check-types and --check-rma, on one node and on two; the other side's place as well where it is told."""
    program = case.ours("places.c", OPTIONS)
    for place in ([], ["--nodes", "2"]):
        case.margay("--leaks", *place, program, "leaks")
        for rank in (0, 1):
            said(case, f"rank {rank}: leak: request ", f"made by MPI_Irecv ({line_of('leaked request')}), ")
            said(case, f"rank {rank}: leak: communicator ", f"made by MPI_Comm_dup ({line_of('leaked communicator')}), ")
        case.margay("--check-types", *place, program, "types")
        said(case, f"rank 1: MPI_Recv ({line_of('types')}) of 2 x MPI_INT")
        case.margay("--check-rma", *place, program, "conflict", status="nonzero")
        said(case, f": MPI_Put ({line_of('second access')}) failed on ", f"by MPI_Put ({line_of('first access')}), which is not complete")


def case_each_collective(case):
    """Each collective call that differs is reported, with both lines, until members are out of step, which is said."""
    program = case.ours("places.c", OPTIONS)
    for place in ([], ["--nodes", "2"]):
        case.margay("--strict", *place, program, "collectives", status=72)
        told = [line for line in case.last.whole_stderr.splitlines() if "mismatched collective calls" in line]
        case.expect(len(told) == 2 and "--strict: 2 findings" in case.last.stderr, "two of three calls")
        for number, line in enumerate(told, 1):
            for rank in (0, 1):
                case.expect(f"({line_of(f'collectives {number} on {rank}')})" in line, f"call {number} of rank {rank}")
        case.margay("--check-types", "--deadlock", "abort", *place, program, "order", status=None)
        told = [line for line in case.last.whole_stderr.splitlines() if "mismatched collective calls" in line]
        case.expect(len(told) == 1 and "out of step, so later calls there are not compared" in told[0], "and no others")
        for rank in (0, 1):
            case.expect(f"({line_of(f'order on {rank}')})" in told[0], f"the call of rank {rank}")


def case_deadlock(case):
    """The deadlock report and SIGUSR1 name the line of each rank that waits."""
    program = case.ours("places.c", OPTIONS)
    case.margay("--deadlock", "abort", program, "deadlock", status=73)
    for rank in (0, 1):
        said(case, f"rank {rank} in MPI_Recv ({line_of('deadlock')}): waits for rank {1 - rank}, tag 5, MPI_COMM_WORLD")
    case.margay("--timeout", "5", program, "deadlock", status="nonzero")
    said(case, *(f"rank {rank} in MPI_Recv ({line_of('deadlock')})" for rank in (0, 1)))


def case_threads(case):
    """The call and the line that a report names are of one thread."""
    program = case.ours("places.c", OPTIONS)
    case.margay("--timeout", "5", program, "threads", status="nonzero")
    pairs = re.findall(r"rank \d in (MPI_\w+) \((places\.c:\d+)\)", case.last.whole_stderr)
    case.expect({rank for rank in re.findall(r"rank (\d) in MPI_\w+ \(places", case.last.whole_stderr)} == {"0", "1"}, "of both ranks")
    case.expect(all(place == line_of(f"thread in {call}") for call, place in pairs), f"the line of each call, not {pairs}")


def case_nonportable(case):
    """A use that the standard does not define."""
    case.margay("--strict", case.ours("places.c", OPTIONS), "nonportable", status="nonzero")
    said(case, f"MPI_Allreduce ({line_of('nonportable')}): ", "is not portable")


def case_plugins(case):
    """What a library made that is closed since is not said to be of the one that lies there now."""
    program = case.ours("places.c", OPTIONS)
    plugins = [case.ours("places_plugin.c", [*OPTIONS, "-shared", "-fPIC", *more], name)
               for name, more in (("places_plugin", ()), ("places_plugin_other", ["-DOTHER"]))]
    case.margay("--leaks", program, "plugins", *plugins)
    made = re.findall(r"rank \d: leak: communicator .* made by (MPI_Comm_dup[^,]*),", case.last.whole_stderr)
    case.expect(len(made) == 2 and not any("other" in by or "places_plugin.c" in by for by in made), "no place of the other")


def case_fortran(case):
    """Lines of the Fortran program, not of the bindings that it calls."""
    if not has_fortran(case.build):
        raise Skipped("no Fortran compiler")
    program = support.compile_program(case.build, case.build.tool("mpifort"), SOURCES / "places.f90", ".margay", OPTIONS,
                                      binding="f08")
    case.margay("--leaks", program, "leaks")
    for rank in (0, 1):
        said(case, f"rank {rank}: leak: communicator ", f"made by MPI_Comm_dup ({line_of('leaked communicator', 'places.f90')}), ")
    case.margay("--check-types", program, "types")
    said(case, f"rank 1: MPI_Recv ({line_of('types', 'places.f90')}) of 2 x ")
    case.margay("--check-rma", program, "conflict", status="nonzero")
    said(case, f": MPI_Put ({line_of('second access', 'places.f90')}) failed on ",
         f"by MPI_Put ({line_of('first access', 'places.f90')}), which is not complete")
    with tempfile.TemporaryDirectory() as place:
        case.margay("--trace", f"{place}/trace", program, "types", status=None)
        case.run([case.build.tool("margay"), "trace", "story", f"{place}/trace", "0:1:1"])
        case.expect(f"calls MPI_Recv ({line_of('types', 'places.f90')})" in case.last.stdout, "the line in a trace")
