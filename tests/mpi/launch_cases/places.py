"""Cases of the locations in the program that errors and checks name: file and line with debug information, otherwise
file and offset."""
import re

import support
from launch_case import SOURCES, Skipped
from run import has_fortran

OPTIONS = ["-g", "-O1"]  # -O2 merges two calls into one, and turns a function's last call into a jump
WIRES = ([], ["--nodes", "2"])


def line_of(comment, source="places.c"):
    """The number of the source line that has it."""
    mark = f"/* {comment} */" if source.endswith(".c") else f" ! {comment}"
    lines = [number for number, text in enumerate((SOURCES / source).read_text().splitlines(), 1) if text.endswith(mark)]
    assert len(lines) == 1, (comment, lines)
    return f"{source}:{lines[0]}"


def expect_sites(case, finding, *expected, by=("call", "site")):
    """Each of these is a finding, among any others."""
    found = case.findings(*by, finding=finding)
    case.expect(set(expected) <= set(found), f"expected {expected} of {finding}, not {found}")


def expect_place(case, call, comment, source="places.c"):
    """Standard error names the location behind the call."""
    place = f"{call} ({line_of(comment, source)})"
    case.expect(place in case.last.whole_stderr, f"expected {place!r}")


def case_fatal(case):
    """A fatal error names the call once, its line and its class, and no MPI_Abort that the program did not call."""
    program = case.ours("places.c", OPTIONS)
    for what, finding, call, error in (("truncated", "truncation", "MPI_Recv", "MPI_ERR_TRUNCATE"),
                                       ("waited", "truncation", "MPI_Wait", "MPI_ERR_TRUNCATE"),
                                       ("handled", "mpi-error", "MPI_Comm_call_errhandler", "MPI_ERR_TAG")):
        for wire in WIRES:
            case.margay(*wire, program, what, status="nonzero")
            expect_sites(case, finding, (call, line_of(what)))
            lines = [line for line in case.last.whole_stderr.splitlines() if line.startswith("margay: job ")]
            case.expect(len(lines) == 1 and "MPI_Abort" not in lines[0] and lines[0].count(call) == 1, "the call's name, once")
            case.expect(f": {call} ({line_of(what)}) failed on MPI_COMM_WORLD: {error}: " in lines[0], "the launcher's line")
    case.margay(program, "aborts", status=7)
    expect_place(case, "MPI_Abort", "aborts")
    case.expect_said(" code 7 ", " MPI_COMM_WORLD (exit status 7)")
    case.margay(program, "early", status="nonzero")
    expect_place(case, "MPI_Comm_size", "early")
    case.expect_said(" before MPI_Init")


def case_without_lines(case):
    """Without debug information: the file, and the offset for addr2line and objdump."""
    program = case.ours("places.c", ["-O2", "-g0"], name="places_without")
    case.margay(program, "truncated", status="nonzero")
    (call, site), *_ = case.findings("call", "site", finding="truncation")
    file, _, offset = site.partition("+0x")
    case.expect(call == "MPI_Recv" and file and file in str(program) and f"({site})" in case.last.whole_stderr, f"file and offset: {site}")
    case.run(["objdump", "-d", "--no-show-raw-insn", program])
    code = case.last.stdout.splitlines()
    behind = [at for at, line in enumerate(code) if re.match(rf"\s*{offset}:", line)]
    case.expect(len(behind) == 1 and "MPI_Recv" in code[behind[0] - 1], "it is the address behind the call")
    case.margay("--leaks", program, "leaks")
    sites = [site for call, site in case.findings("call", "site") if call == "MPI_Comm_dup"]
    case.expect(len(sites) == 2 and all(re.fullmatch(r"\S+\+0x[0-9a-f]+", site) for site in sites), f"of a leak likewise: {sites}")


def case_foreign(case):
    """Under another launcher, the ranks themselves print the location of a fatal error."""
    case.run(["mpiexec.hydra", "-n", "2", case.ours("places.c", OPTIONS), "truncated"], status="nonzero", env=case.library_path)
    expect_place(case, "MPI_Recv", "truncated")
    case.expect_said("MPI_ERR_TRUNCATE: ")


def check_sites(case, program, source, leaks, *wire):
    """The sites of --leaks, --check-types and --check-rma."""
    case.margay("--leaks", *wire, program, "leaks")
    expect_sites(case, "leaked-handle", *((rank, call, line_of(comment, source)) for rank in (0, 1) for call, comment in leaks),
                 by=("rank", "call", "site"))
    for call, comment in leaks:
        expect_place(case, call, comment, source)
    case.margay("--check-types", *wire, program, "types")
    expect_sites(case, "type-mismatch", (1, "MPI_Recv", line_of("types", source)), by=("rank", "call", "site"))
    expect_place(case, "MPI_Recv", "types", source)
    case.margay("--check-rma", *wire, program, "conflict", status="nonzero")
    expect_sites(case, "rma-conflict", ("MPI_Put", line_of("second access", source)))
    for comment in ("first access", "second access"):
        expect_place(case, "MPI_Put", comment, source)


def case_checks(case):
    """--leaks, --check-types and --check-rma, on one node and on two; also the location of the other side if it is
    known."""
    program = case.ours("places.c", OPTIONS)
    for wire in WIRES:
        check_sites(case, program, "places.c", (("MPI_Irecv", "leaked request"), ("MPI_Comm_dup", "leaked communicator")), *wire)


def case_each_collective(case):
    """Each mismatching collective call is reported, with both lines, until the order of the calls differs, which is
    reported."""
    program = case.ours("places.c", OPTIONS)
    for wire in WIRES:
        for options, way, status, calls in ((["--strict"], "collectives", 72, ("collectives 1", "collectives 2")),
                                            (["--check-types", "--deadlock", "abort"], "order", None, ("order",))):
            case.margay(*options, *wire, program, way, status=status)
            found = [one["message"] for one in case.last.report["findings"] if one["id"] == "collective-mismatch"]
            case.expect(len(found) == len(calls), f"{len(calls)} calls, not {found}")
            for call, message in zip(calls, found):
                case.expect(all(f"({line_of(f'{call} on {rank}')})" in message for rank in (0, 1)), f"{call}: {message}")
                case.expect(message in case.last.whole_stderr, "the message on standard error")


def case_deadlock(case):
    """The deadlock report and SIGUSR1 name the line of each rank that waits."""
    program = case.ours("places.c", OPTIONS)
    at = f"in MPI_Recv ({line_of('deadlock')})"
    case.margay("--deadlock", "abort", program, "deadlock", status=73)
    for rank in (0, 1):
        case.expect(re.search(rf"rank {rank} {re.escape(at)}: .* rank {1 - rank}, tag 5, MPI_COMM_WORLD", case.last.whole_stderr),
                    f"the wait of rank {rank}")
    case.margay("--timeout", "5", program, "deadlock", status="nonzero")
    case.expect(re.search(rf"rank 0 {re.escape(at)}.*rank 1 {re.escape(at)}", case.last.whole_stderr),
                "both ranks in the line of the timeout")


def case_threads(case):
    """The call and the line that a report names are of one thread."""
    case.margay("--timeout", "5", case.ours("places.c", OPTIONS), "threads", status="nonzero")
    pairs = re.findall(r"rank (\d) in (MPI_\w+) \((places\.c:\d+)\)", case.last.whole_stderr)
    case.expect({rank for rank, _, _ in pairs} == {"0", "1"}, "of both ranks")
    case.expect(all(place == line_of(f"thread in {call}") for _, call, place in pairs), f"the line of each call, not {pairs}")


def case_nonportable(case):
    """The report of a use that the standard does not define names its line."""
    case.margay("--strict", case.ours("places.c", OPTIONS), "nonportable", status="nonzero")
    expect_sites(case, "nonportable-type", ("MPI_Allreduce", line_of("nonportable")))
    expect_place(case, "MPI_Allreduce", "nonportable")


def case_plugins(case):
    """An object of a library that is closed since is not attributed to the library now at its address."""
    program = case.ours("places.c", OPTIONS)
    plugins = [case.ours("places_plugin.c", [*OPTIONS, "-shared", "-fPIC", *more], name)
               for name, more in (("places_plugin", ()), ("places_plugin_other", ["-DOTHER"]))]
    case.margay("--leaks", program, "plugins", *plugins)
    made = [message for call, message in case.findings("call", "message", finding="leaked-handle") if call == "MPI_Comm_dup"]
    case.expect(len(made) == 2 and not any("other" in by or "places_plugin.c" in by for by in made), f"no place of the other: {made}")


def case_fortran(case):
    """Lines of the Fortran program, not of the bindings that it calls."""
    if not has_fortran(case.build):
        raise Skipped("no Fortran compiler")
    program = support.compile_program(case.build, case.build.tool("mpifort"), SOURCES / "places.f90", ".margay", OPTIONS, binding="f08")
    check_sites(case, program, "places.f90", (("MPI_Comm_dup", "leaked communicator"),))
    case.command("trace", "story", case.traced(program, "types", status=None), "0:1:1")
    case.expect_printed(f"calls MPI_Recv ({line_of('types', 'places.f90')})")
