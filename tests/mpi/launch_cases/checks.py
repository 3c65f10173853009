"""Cases of reports on programs: missing functions, leaked objects, messages that were not received, types that do not
match."""
import collections
import re
import shutil

from launch_case import SOURCES, TWO_NODES, Skipped, operands


def case_check(case):
    """`margay check` finds no missing MPI symbol in NetPIPE and who.c, and lists those of refuses.c, which a run reports too."""
    case.command("check", "/usr/bin/NPmpich2")
    case.command("check", case.debians("who.c"))
    refuses = case.ours("refuses.c")
    case.command("check", refuses, status=1)
    case.expect_printed("MPI_File_open", "MPIX_Comm_revoke", "PMPIX_Comm_failure_ack", "3 of the")
    case.margay(refuses, "abort", ranks=4, status="nonzero")
    case.expect_said("`margay check PROGRAM`", " 3 ranks ")
    case.margay(refuses, ranks=1)
    case.expect_findings([("unimplemented-function", "MPI_File_open")], "id", "call")


def case_check_several(case):
    """Each of several programs is examined, whatever the result for the one before; a folder without the library is
    named."""
    good, refuses = case.ours("who.c"), case.ours("refuses.c")
    case.command("check", refuses, "/nonexistent/program", good, status=2)
    case.expect_said("/nonexistent/program: ")
    case.expect_printed("MPI_File_open", f"{good}: ")
    case.command("check", refuses, good, status=1)
    case.command("check", "--library", "/nonexistent", good, status=2)
    case.expect_said("--library /nonexistent")
    case.command("check", "--library", case.build.folder / "lib", good)


def case_check_libraries(case):
    """`margay check` follows the shared libraries of a program as the loader does, and names the one with a call;
    `margay run` rejects a program for a symbol that neither they nor margay define."""
    root, deep = case.folder, case.folder / "deep"
    deep.mkdir()

    def build(output, *options):
        case.run(["mpicc.mpich", SOURCES / "libraries.c", *options, "-o", output])
        return output

    def check(program, *, expected=f"MPI_File_open in {deep}/liblower.so", env=None):
        printed = case.command("check", program, status=1, env=env)
        case.expect(expected in printed.splitlines(), f"margay check does not print {expected!r}")

    lower = ["-DLOWER", "-shared", "-fPIC"]
    upper = ["-DUPPER", "-shared", "-fPIC", f"-L{deep}", "-llower"]
    program = [f"-L{root}", "-lupper", "-Wl,--allow-shlib-undefined"]
    build(deep / "liblower.so", *lower)
    # Each file's own requirements.
    build(root / "libupper.so", *upper, "-Wl,--enable-new-dtags,-rpath,$ORIGIN/deep")
    check(build(root / "by_runpath", *program, "-Wl,--enable-new-dtags,-rpath,$ORIGIN"))
    # Set by the program for all libraries; by the user; not set.
    build(root / "libupper.so", *upper)
    check(build(root / "by_rpath", *program, f"-Wl,--disable-new-dtags,-rpath,$ORIGIN:{deep}"))
    plain = build(root / "plain", *program)
    check(plain, env={"LD_LIBRARY_PATH": f"{root}:{deep}"})
    check(plain, expected="libupper.so")
    # DT_RUNPATH of the program does not apply to the requirements of its libraries.
    check(build(root / "not_found", *program, f"-Wl,--enable-new-dtags,-rpath,{root}:{deep}"),
          expected=f"liblower.so in {root}/libupper.so")
    case.margay(root / "by_rpath", "call", ranks=1)
    case.expect_said("MPI_File_open")
    build(deep / "liblower.so", *lower, "-DMISSING")
    missing = f"MPI_Margay_lacks_this in {deep}/liblower.so"
    check(root / "by_rpath", expected=missing)
    for command in ([root / "by_rpath"], ["-genv", "LD_LIBRARY_PATH", f"{root}:{deep}", plain]):
        case.margay(*command, ranks=1, status=126)
        case.expect_said(missing)


def case_memcheck(case):
    """memcheck finds no error in a job, the library's own calls included, on one node and on two."""
    valgrind = shutil.which("valgrind")
    if not valgrind:
        raise Skipped("valgrind is not installed")
    for nodes in ("1", "2"):
        case.margay("--nodes", nodes, "--method", "long=ring", valgrind, "-q", "--error-exitcode=9", case.ours("who.c"))
        case.expect("==" not in case.last.stderr, "no error is to be reported")


LEAKED = {
    "request": ["MPI_Irecv, from rank RANK, tag 7, 16 bytes, not complete", "MPI_Send_init, to rank RANK, tag 9, 8 bytes, inactive",
                "MPI_Issend, to rank RANK, tag 8, 12 bytes, not complete", "MPI_Isend, to rank RANK, tag 6, 8 bytes, complete"],
    'communicator "library"': ["MPI_Comm_dup, 2 processes"],
    'window "numbers"': ["MPI_Win_create, 2 processes"],
    "group": ["MPI_Comm_group, 2 processes"],
    'datatype "every other"': ["MPI_Type_vector, 8 bytes"],
    "operation": ["MPI_Op_create"],
    "info object": ["MPI_Info_create"],
    "error handler": ["MPI_Comm_create_errhandler"],
    "attribute key": ["MPI_Comm_create_keyval"],
}
# Objects of MPI that may be freed after MPI_Finalize are listed when the process exits.
COUNTS = ("4 requests, 1 communicator, 1 window, 1 group, 1 datatype, 1 operation, 1 attribute key", "1 info object, 1 error handler")
SESSION, COMMUNICATOR, GROUP = "MPI_Session_init", "MPI_Comm_create_from_group", "MPI_Group_from_session_pset"


def case_leaks(case):
    """--leaks lists the objects that each rank did not free, with the function that created them; nothing if all are
    freed, or without the option."""
    program = case.ours("leaks.c")
    case.margay("--leaks", program)
    lines = [re.sub(r" 0x[0-9a-f]{8}", "", line) for line in case.last.stderr.splitlines() if "unreceived" not in line]
    expected = [f"margay: rank {rank}: not given back: {count}" for rank in range(2) for count in COUNTS]
    expected += [f"margay: rank {rank}: leak: {kind}, made by {words.replace('RANK', str(rank))}"
                 for rank in range(2) for kind, made in LEAKED.items() for words in made]
    case.expect(sorted(lines) == sorted(expected), f"expected the lines {sorted(expected)}")
    # The leak of MPI_Issend.
    case.expect_findings([(rank, rank, 8, 12) for rank in range(2)], "rank", "peer", "tag", "bytes", finding="unreceived-message")
    case.margay("--strict", program, "lost", status=72)
    case.expect_findings([(rank, call) for rank in range(2) for call in (None, None, "MPI_Comm_create_errhandler")], "rank", "call")
    program = case.ours("session_ends.c")
    case.margay("--leaks", program, "leaks")
    case.expect_findings([(rank, call, f"{call} 2") for rank in range(2) for call in (COMMUNICATOR, GROUP)], "rank", "call", "operands")
    case.margay("--leaks", program, "leaks", ranks=1)
    case.expect_findings([(call, f"{call} 1") for call in (COMMUNICATOR, GROUP)], "call", "operands")
    # The first to leave with an open session ends the job, and the other may not get to its list.
    case.margay("--leaks", program, "left", status="nonzero")
    found = case.findings("rank", "call", finding="leaked-handle")
    case.expect(any({(rank, call) for call in (SESSION, COMMUNICATOR, GROUP)} <= set(found) for rank in range(2)),
                f"a rank's list: {found}")
    # Objects that belong to no session are listed once, whichever part ends last.
    for way, status in (("types_first", 0), ("types_last", 0), ("types_again", 0), ("types_open", "nonzero")):
        case.margay("--leaks", program, way, ranks=1, status=status)
        calls = case.findings("call")
        case.expect(all(calls.count((call,)) == 1 for call in ("MPI_Type_contiguous", "MPI_Info_create")), f"each once: {calls}")


MISFITS = (
    "MPI_Recv 2 MPI_DOUBLE 16 0 4 MPI_INT 16 MPI_Send 1 MPI_COMM_WORLD",
    "MPI_Recv 2 24 0 24 MPI_Send 2 MPI_COMM_WORLD",
    "MPI_Recv 1 MPI_INT 4 0 4 MPI_BYTE 4 MPI_Send 3 MPI_COMM_WORLD",
    "MPI_Irecv 100000 MPI_INT 400000 0 100000 MPI_FLOAT 400000 MPI_Isend 4 MPI_COMM_WORLD",
    "MPI_Recv 100000 MPI_UNSIGNED 400000 0 100000 MPI_FLOAT 400000 MPI_Isend 5 MPI_COMM_WORLD",
    "MPI_Mrecv 1 MPI_INT 4 0 2 MPI_SHORT 4 MPI_Bsend 6",
    "MPI_Recv 4 MPI_BYTE 4 0 1 MPI_INT 4 MPI_Send 8 MPI_COMM_WORLD",
    "MPI_Sendrecv_replace 4 MPI_INT 16 0 4 MPI_FLOAT 16 MPI_Sendrecv_replace 9",
    *2 * ("MPI_Start 4 MPI_LONG_LONG_INT 32 0 4 MPI_DOUBLE 32 MPI_Start 10 MPI_COMM_WORLD",),
    "MPI_Recv 2 MPI_INT 8 0 8 MPI_Send 11 MPI_COMM_WORLD",
    "MPI_Recv 3 MPI_INT 12 0 4 MPI_INT 16 MPI_Send 7 MPI_COMM_WORLD",
)
# Each sentence once, by tag.
MISFIT_SENTENCES = {
    2: "MPI_Recv of 2 x a derived type (elements of several types) (24 bytes) does not match the message: rank 0 sent elements of several "
       "types (24 bytes) by MPI_Send, tag 2, MPI_COMM_WORLD",
    6: "MPI_Mrecv of 1 x MPI_INT (4 bytes) does not match the message: rank 0 sent 2 x MPI_SHORT (4 bytes) by MPI_Bsend, tag 6, copy",
    7: "MPI_Recv of 3 x MPI_INT (12 bytes) is too small for the message: rank 0 sent 4 x MPI_INT (16 bytes) by MPI_Send, tag 7, MPI_COMM_WORLD",
}


def case_check_types(case):
    """--check-types names both sides of messages that do not match their receives, on each wire and protocol, and no others."""
    program = case.ours("check_types.c")
    for options in ([], ["--nodes", "2"], ["--protocol", "long=rendezvous"]):
        case.margay("--check-types", *options, program, "good")
        case.expect_silence()
        case.margay("--check-types", *options, program, "bad")
        lines = [line.removeprefix("margay: rank 1: ") for line in case.last.stderr.splitlines()]
        case.expect([operands(line) for line in lines] == list(MISFITS), f"expected {MISFITS}")
        case.expect(set(MISFIT_SENTENCES.values()) <= set(lines), f"expected the sentences {MISFIT_SENTENCES}")
        communicators = {9: "copy", 6: "copy"}
        expected = [("type-mismatch", 1, words.split()[0], tag, communicators.get(tag, "MPI_COMM_WORLD"))
                    for words in MISFITS for tag in [int(re.findall(r" (\d+)(?= MPI_COMM_WORLD$|$)", words)[-1])]]
        case.expect_findings(expected, "id", "rank", "call", "tag", "communicator")
    case.margay("--check-types", program, "110")
    lines = case.last.stderr.splitlines()
    case.expect(len(lines) == 100 and case.last.report["unlisted_findings"] == 10,
                f"{len(lines)} lines, of 110 misfits 100 are to be printed")
    case.expect([line.endswith(")") for line in lines] == [False] * 99 + [True], "the last one says so")


NOT_PORTABLE = "MPI_Allreduce: MPI_LXOR on MPI_DOUBLE is not portable: the standard does not define it (MPI 4.0, 6.9.2)"


def case_strict(case):
    """--strict turns the checks on, counts their reports, and makes them an error, except in a job that failed
    otherwise."""
    leaks, types = case.ours("leaks.c"), case.ours("check_types.c")
    for words, counts in (([leaks], {0: 13, 1: 13}), ([types, "bad"], {1: len(MISFITS)})):
        case.margay("--strict", *words, status=72)
        case.expect(collections.Counter(rank for rank, in case.findings("rank")) == counts, f"expected so many findings by rank: {counts}")
    case.expect_said(f"margay: --strict: {len(MISFITS)} findings: {len(MISFITS)} by rank 1\n")
    # Uses that work and are not portable: once for each use.
    case.margay("--strict", types, "logical", status=72)
    case.expect_findings([("nonportable-type", rank, f"{use} 4 0 6 9 2") for rank in range(2)
                          for use in ("MPI_Allreduce MPI_LXOR MPI_DOUBLE", "MPI_Accumulate MPI_LOR MPI_FLOAT")], "id", "rank", "operands")
    case.expect_said(NOT_PORTABLE)


# By tag: communicator, message, types and call of the send.
UNRECEIVED = {7: ("MPI_COMM_WORLD", "16 MPI_COMM_WORLD", "4 MPI_INT MPI_Send"), 8: ("other", "10", "10 MPI_BYTE MPI_Send"),
              9: ("MPI_COMM_WORLD", "100000 MPI_COMM_WORLD", "100000 MPI_CHAR MPI_Isend")}


def case_unreceived(case):
    """--leaks reports messages that were not received; with --check-types also their sender and its call."""
    program = case.ours("unreceived.c")
    for nodes in ((), TWO_NODES.split()):
        for types in ((), ("--check-types",)):
            case.margay("--leaks", *types, *nodes, program)
            expected = [(1, tag, name, f"0 {tag} {what}" + (f" {sent}" if types else "")) for tag, (name, what, sent) in UNRECEIVED.items()]
            case.expect_findings(expected, "rank", "tag", "communicator", "operands", finding="unreceived-message")
            case.expect(len(case.last.stderr.splitlines()) == 3, "three lines")
        case.margay("--strict", *nodes, program, "late", status=72)
        case.expect_findings([(1, 0, 11, 4), (1, 1, 12, 8), (1, 0, 13, 12), (0, 0, 15, 16), (1, 0, 14, 100000)], "rank", "peer",
                             "tag", "bytes")
        names = [name for name, in case.findings("communicator")]
        case.expect(all(re.fullmatch(r"communicator \d+ \((?:freed|1 rank)\)", name) for name in names), f"names: {names}")
        case.margay("--strict", *nodes, program, "ready", status=72)
        case.expect_findings([("dropped-ready-send", 1, "0 11 12 MPI_COMM_WORLD 3 MPI_INT MPI_Rsend")], "id", "rank", "operands")
