"""What margay tells of programs: functions that they need and margay lacks, traces, objects never given back, messages
whose types do not fit."""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile

import support
from launch_case import SOURCES, Skipped


def all_of(screen):
    """What was written to a terminal that nobody has open any more. A read may return before the last of it."""
    seen = b""
    try:
        while part := os.read(screen, 65536):
            seen += part
    except OSError:  # the end, on Linux
        pass
    os.close(screen)
    return seen.decode()


def case_check(case):
    """`margay check` finds no MPI symbol that NetPIPE and the suite's programs need and we lack."""
    case.run([case.build.tool("margay"), "check", "/usr/bin/NPmpich2"])
    case.run([case.build.tool("margay"), "check", case.debians("who.c")])
    refuses = case.ours("refuses.c")
    case.run([case.build.tool("margay"), "check", refuses], status=1)
    for name in ("MPI_File_open", "MPI_Open_port", "PMPI_Close_port", "3 of the"):
        case.expect(name in case.last.stdout, f"margay check does not say {name}")
    case.margay(refuses, "abort", ranks=4, status="nonzero")
    case.expect("`margay check PROGRAM` finds such functions before a run) (exit status " in case.last.stderr, "the abort's sentence is to be whole")
    case.expect("; ending the 3 ranks left\n" in case.last.stderr, "three others are ended")
    case.margay(refuses, ranks=1)
    case.expect("margay: MPI_File_open is not supported" in case.last.stderr, "no word of MPI_File_open")


def case_trace_story(case):
    """The story of a message names the lines that sent and received it, as long as the program is the one that ran."""
    source = SOURCES.parents[2] / "examples" / "late_receiver.c"
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / "late_receiver")
        trace = str(pathlib.Path(folder) / "trace")
        margay = case.build.tool("margay")

        def compile_with(*options):
            case.run([case.build.tool("mpicc"), "-O2", *options, source, "-o", program])

        def tells(*sentences, words=("--slowest",)):
            case.run([margay, "trace", "story", trace, *words])
            for sentence in sentences:
                case.expect(sentence in case.last.stdout, f"the story does not say: {sentence}")

        compile_with("-g")
        # On a busy machine the receiver may be back before its coprocessor has seen the message: then once more.
        for _ in range(20):
            case.run([*case.build.margay_run(2, timeout=20), "--trace", trace, program])
            case.run([margay, "trace", "story", trace, "--slowest"])
            if "The message lay there for" in case.last.stdout:
                break
        case.run([margay, "trace", "check", trace])
        tells("0>1 #1: 100000 x MPI_DOUBLE, tag 7 from 0 in MPI_COMM_WORLD\n", "calls MPI_Send (late_receiver.c:13)",
              "calls MPI_Recv (late_receiver.c:16)", "is taken by the entry \"unexpected long\"", "asks the sender for the body",
              "The message lay there for", "Its body was not kept", "Rank 0 sent it in MPI_Send")
        for words in (["0:1:1"], ["--from", "0", "--to", "1", "--tag", "7"], ["--unexpected"]):
            tells("0>1 #1: 100000 x MPI_DOUBLE", words=words)
        for words in (["--dropped"], ["--never-received"], ["--tag", "8"], ["--from", "1"]):
            case.run([margay, "trace", "story", trace, *words], status=1)
            case.expect(re.search(r"none of this run's \d+ message", case.last.stderr), f"{words}: the sentence")
        case.run([margay, "trace", "print", trace, "--call", "MPI_Recv", "--around", "0:1:1"])
        case.expect("sleeps" not in case.last.stdout and "finds it among the unexpected" in case.last.stdout, "the print")
        compile_with("-g", "-DANOTHER")
        compile_with()
        tells("calls MPI_Send\n")


def case_trace_names(case):
    """A message is named as commands list it and as stories tell it; where no message is listed, why, and what shows some."""
    margay = case.build.tool("margay")
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.run([*case.build.margay_run(2, timeout=20), "--trace", trace, case.ours("copies.c")])
        case.run([margay, "trace", "messages", trace])
        rows = [line for line in case.last.stdout.splitlines() if re.match(r" *[\d.]+ ", line)]
        listed = rows[1].split()[2]
        case.run([margay, "trace", "messages", trace, "--count", "2"])
        case.expect(rows[1] in case.last.stdout and rows[2] not in case.last.stdout, "two messages")
        case.expect(re.search(rf"\n{len(rows) - 2} more (is|are) like it\n$", case.last.stdout), "how many more there are")
        case.run([margay, "trace", "story", trace, listed])
        story = case.last.stdout
        told = story.split(":")[0]
        case.expect(re.fullmatch(r"\d+>\d+ #\d+", told) and told == "{}>{} #{}".format(*listed.split(":")), "the story's name for it")
        case.run([margay, "trace", "story", trace, told])
        case.expect(case.last.stdout == story, "one story by both names")
        for option in ("--message", "--around"):
            case.run([margay, "trace", "print", trace, option, listed])
            printed = case.last.stdout
            case.run([margay, "trace", "print", trace, option, told])
            case.expect(case.last.stdout == printed and f" {told} " in printed, f"{option} by both names")
        case.run([margay, "trace", "story", trace, "0>1"], status=1)
        case.expect("\"0>1\" is not a message; write SOURCE:DESTINATION:SEQUENCE" in case.last.stderr, "how to name one")
        program = case.ours(SOURCES.parents[2] / "examples" / "conjugate_gradient.c", ["-lm"])
        sentences = ("--collective shows", "--all shows")
        for nodes in ("1", "2"):
            trace = str(pathlib.Path(folder) / f"nodes{nodes}")
            case.run([*case.build.margay_run(2, timeout=20), "--nodes", nodes, "--trace", trace, program])
            for words in (["story", trace, "--slowest"], ["messages", trace]):
                case.run([margay, "trace", *words], status=1 if words[0] == "story" else 0)
                for sentence in sentences:
                    case.expect(sentence in case.last.stdout + case.last.stderr, f"{nodes}, {words[0]}: {sentence}")


def page_notes(case, trace):
    """What the page of `trace` tells above all."""
    case.run([case.build.tool("margay"), "trace", "view", trace], status=None)
    if "built without its page" in case.last.stderr:
        raise Skipped(case.last.stderr.strip())
    case.expect(case.last.status == 0 and case.last.stderr == "", "not a word of progress where no terminal is")
    page = pathlib.Path(f"{trace}.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="margay-head">(.*)</script>', page)[1])["notes"]


def case_trace_ended(case):
    """The page and `print` say how a rank ended the job; of --trace-last both say the same."""
    program = case.ours("ends.c", ["-g"], "ends_lines")
    with tempfile.TemporaryDirectory() as folder:
        for way, words, told in (("abort", ("7", "1"), r"Rank 1 calls MPI_Abort \(ends\.c:\d+\), which ends the job\."),
                                 ("fatal", (), r"Rank \d calls MPI_Send \(ends\.c:\d+\), and MPI_Send fails by a fatal error: MPI_ERR_RANK\.")):
            trace = str(pathlib.Path(folder) / way)
            case.margay("--trace", trace, program, way, *words, status="nonzero")
            notes = page_notes(case, trace)
            case.expect(notes and re.fullmatch(told, notes[0]), f"{way}: {notes}")
        case.run([case.build.tool("margay"), "trace", "print", trace])
        case.expect("MPI_Send fails by a fatal error: MPI_ERR_RANK" in case.last.stdout, "the print")
        trace = str(pathlib.Path(folder) / "last")
        case.margay("--trace", trace, "--trace-events", "60", "--trace-last", "0.000001", case.ours("who.c"))
        notes = page_notes(case, trace)
        case.run([case.build.tool("margay"), "trace", "print", trace])
        printed = re.findall(r"^# rank (\d+) .*, the first (\d+) not kept \(--trace-last\)", case.last.stdout, re.MULTILINE)
        case.expect(len(printed) == 2, "both ranks have more events")
        case.expect([re.match(r"Rank (\d+): its first (\d+) events are not kept \(--trace-last\)", note).groups() for note in notes] == printed, f"{notes}")
        screen, terminal = pty.openpty()
        status = subprocess.run([case.build.tool("margay"), "trace", "view", trace], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=terminal, timeout=60, check=False, env=support.clean_environment()).returncode
        os.close(terminal)
        seen = all_of(screen)
        case.expect(status == 0 and f"reading {trace} ..." in seen and seen.endswith("\r\x1b[K"), f"a terminal is told what is done: {seen!r}")


def case_trace_copies(case):
    """Of bytes that the library copied first, the program's count and type are told."""
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.run([*case.build.margay_run(2, timeout=20), "--trace", trace, case.ours("copies.c")])
        case.run([case.build.tool("margay"), "trace", "messages", trace])
        told = case.last.stdout
        case.expect(told.count("4 x MPI_INT, tag 3 from") == 2, "both exchanges")
        case.expect("2 x MPI_FLOAT, tag 5 from 0 in MPI_COMM_WORLD" in told and "MPI_BYTE" not in told, "the buffered send")


def case_trace_matched(case):
    """A message that a matched probe found has its receive in its story."""
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.run([*case.build.margay_run(2, timeout=20), "--trace", trace, case.ours("matched.c")])
        case.run([case.build.tool("margay"), "trace", "check", trace])
        case.run([case.build.tool("margay"), "trace", "story", trace, "--tag", "2"])
        for words in ("calls MPI_Mrecv", "accepts at most 2 x MPI_INT, tag 2 from 0 in MPI_COMM_WORLD"):
            case.expect(words in case.last.stdout, f"the story does not say: {words}")


def case_trace_gone_round(case):
    """What lies in a killed rank's heap is known though the beginning of its file is lost; of what is not known it is said."""
    margay = case.build.tool("margay")
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace"
        case.run([*case.build.margay_run(2, timeout=20), "--trace", trace, "--trace-events", "256", case.ours("gone_round.c")],
                 status="nonzero")
        case.run([margay, "trace", "messages", trace, "--never-received"])
        told = case.last.stdout.splitlines()
        case.expect(len(told) == 2 and "1 x MPI_INT, tag 2 from 0" in told[1] and "never received" in told[1], "the message")
        (trace / "rank_00001.trace").unlink()
        case.run([margay, "trace", "messages", trace, "--never-received"])
        words = r"--never-received: not known for rank 1, of \d+ messages: its file is not in the folder"
        case.expect(re.search(words, case.last.stderr), "that it is not known")
        case.expect("none of this run" in case.last.stdout, "and none is printed")


def case_trace_bits(case):
    """Nothing that a trace tells of the library's own messages is a number without a meaning; --raw splits match bits."""
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.run([*case.build.margay_run(4, timeout=20), "--nodes", "2", "--trace", trace, case.ours("own_messages.c")])
        margay = case.build.tool("margay")
        case.run([margay, "trace", "print", trace, "--all"])
        told = case.last.stdout
        bits = sorted({line.split(None, 2)[2] for line in told.splitlines() if re.search(r"\b0x[0-9a-f]+", line)})
        case.expect(not bits, f"{len(bits)} lines have bare bits: {bits[:3]}")
        for words in ("the answer to send request ", ": gather by tree, root 0, ", ": bcast by tree, root 0, ",
                      "an agreement on a context"):
            case.expect(words in told, f"the print does not say: {words}")
        case.run([margay, "trace", "print", trace, "--raw", "--kind", "kernel_arrive"])
        for words in (r"\(tag 7, source 0, context \d+, type short\)", r"\(tag 8, source 0, context \d+, type long\)"):
            case.expect(re.search(words, case.last.stdout), f"--raw does not split the bits into {words}")
        case.run([margay, "trace", "story", trace, "--tag", "8"])
        case.expect(re.search(r"^- Its match bits: tag 8, source 0, context \d+, type long\.$", case.last.stdout, re.M),
                    "the story splits the bits")


def case_trace_walks(case):
    """A walk over more receives than are told says how many it passed over, also where the kernel's index answers."""
    posted = 40
    with tempfile.TemporaryDirectory() as folder:
        for name, option, told in (("some", [], 16), ("all", ["--trace-walks"], posted)):
            trace = str(pathlib.Path(folder) / name)
            case.run([*case.build.margay_run(2, timeout=20), "--trace", trace, *option, case.ours("posted.c"), str(posted)])
            case.run([case.build.tool("margay"), "trace", "check", trace])
            for tag in (posted - 1, posted - 5):  # the first is walked to, and makes the index
                case.run([case.build.tool("margay"), "trace", "story", trace, "--tag", str(tag)])
                story = case.last.stdout
                case.expect(story.count("passes over a posted receive") == min(told, tag), f"tag {tag}: {min(told, tag)} are told")
                case.expect(f"Of the {tag} entries that the walk passes over {told} are told" in story or told > tag,
                            f"tag {tag}: how many are not told")
                case.expect(("are told" in story) == (told < tag), f"tag {tag}: whether all are told")
                by_index = f"The kernel's index found the entry; the walk of the paper passes over {tag} before it." in story
                case.expect(by_index == (tag != posted - 1), f"tag {tag}: whether the index found it")


def case_trace_lines(case):
    """The line of source of a call is the program's, also of calls that need no rank and of sessions."""
    source = (SOURCES / "lines.c").read_text().splitlines()
    lines = {line.split("// line: ")[1]: number for number, line in enumerate(source, 1) if "// line: " in line}
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.run([*case.build.margay_run(1, timeout=20), "--trace", trace, case.ours("lines.c")])
        case.run([case.build.tool("margay"), "trace", "print", trace, "--all"])
        case.expect(len(lines) == 7, f"seven lines are marked: {lines}")
        for call, number in lines.items():
            case.expect(f"{call} (lines.c:{number})" in case.last.stdout, f"the line of {call} is to be {number}")


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
            case.run([case.build.tool("margay"), "trace", "print", trace, "--raw", "--kind", "mpi_enter", "--rank", "0"])
            threads = set(re.findall(r", thread ([1-9]\d*),", case.last.stdout))
            # The first waits for all others; of those, one that ends early may leave its number to another.
            case.expect({"1", "2"} <= threads <= {"1", "2", "3", "4"}, f"threads {sorted(threads)} are named")


def case_trace_ring(case):
    """A ring that is too short for the run loses events, not messages, and the words name the option that makes it longer."""
    program = case.ours("who.c")
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.margay("--trace", trace, "--trace-events", "8", program)
        told = re.search(r"trace: rank 0: the first (\d+) of its (\d+) events were overwritten", case.last.stderr)
        case.expect(told and int(told[2]) - int(told[1]) == 8, "the run's end is to say what was lost")
        enough = re.search(r"--trace-events (\d+) keeps them all", case.last.stderr)
        case.expect(enough and int(enough[1]) >= int(told[2]), "and what keeps it")
        case.run([case.build.tool("margay"), "trace", "check", trace])
        case.expect(re.search(r"overwritten, .* larger ring \(--trace-events \d+\)", case.last.stdout), "the option is to be named")
        case.expect("still on the way" not in case.last.stdout, "no message was lost")
        case.margay("--trace", trace, "--trace-events", "0", program, status=2)
        inherited = str(pathlib.Path(folder) / "inherited")
        case.margay("-genv", "MARGAY_TRACE", inherited, "-genv", "MARGAY_TRACE_EVENTS", "8", program)
        case.expect("events were overwritten" in case.last.stderr, "a trace without --trace has lost as much")


def case_memcheck(case):
    """memcheck finds no error in a job, the library's own calls included, on one node and on two."""
    valgrind = shutil.which("valgrind")
    if not valgrind:
        raise Skipped("valgrind is not installed")
    program = case.ours("who.c")
    for nodes in ("1", "2"):
        case.margay("--nodes", nodes, "--method", "long=ring", valgrind, "-q", "--error-exitcode=9", program)
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


def case_leaks(case):
    """--leaks lists what each rank never gave back with the function that made it; nothing when all was, or unasked."""
    program = case.ours("leaks.c")
    case.margay("--leaks", program)
    lines = [re.sub(r" 0x[0-9a-f]{8}", "", line) for line in case.last.stderr.splitlines()]
    # What may be freed after MPI_Finalize is listed when the process exits.
    counts = ("4 requests, 1 communicator, 1 window, 1 group, 1 datatype, 1 operation, 1 attribute key", "1 info object, 1 error handler")
    expected = [f"margay: rank {rank}: not given back: {count}" for rank in range(2) for count in counts]
    expected += [f"margay: rank {rank}: leak: {kind}, made by {words.replace('RANK', str(rank))}"
                 for rank in range(2) for kind, made in LEAKED.items() for words in made]
    expected += [f"margay: rank {rank}: leak: an unreceived message, from rank {rank}, tag 8, 12 bytes, MPI_COMM_WORLD"
                 for rank in range(2)]  # that of MPI_Issend
    case.expect(sorted(lines) == sorted(expected), f"expected the lines {sorted(expected)}")
    case.margay("--leaks", program, "clean")
    case.expect(not case.last.stderr, "nothing is to be listed")
    case.margay("--leaks", program, "late")
    case.expect(not case.last.stderr, "what was made before MPI and freed after it is given back")
    case.margay("--strict", program, "late")
    case.margay("--strict", program, "lost", status=72)
    for rank in range(2):
        case.expect(f"rank {rank}: not given back: 1 info object, 2 error handlers\n" in case.last.stderr, "three are lost")
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
    "MPI_Recv of 2 x MPI_DOUBLE (16 bytes) does not match the message: rank 0 sent 4 x MPI_INT (16 bytes) by MPI_Send, tag 1, "
    "MPI_COMM_WORLD",
    "MPI_Recv of 2 x a derived type (elements of several types) (24 bytes) does not match the message: rank 0 sent elements of "
    "several types (24 bytes) by MPI_Send, tag 2, MPI_COMM_WORLD",
    "MPI_Recv of 1 x MPI_INT (4 bytes) does not match the message: rank 0 sent 4 x MPI_BYTE (4 bytes) by MPI_Send, tag 3, "
    "MPI_COMM_WORLD",
    "MPI_Irecv of 100000 x MPI_INT (400000 bytes) does not match the message: rank 0 sent 100000 x MPI_FLOAT (400000 bytes) by "
    "MPI_Isend, tag 4, MPI_COMM_WORLD",
    "MPI_Recv of 100000 x MPI_UNSIGNED (400000 bytes) does not match the message: rank 0 sent 100000 x MPI_FLOAT (400000 bytes) "
    "by MPI_Isend, tag 5, MPI_COMM_WORLD",
    "MPI_Mrecv of 1 x MPI_INT (4 bytes) does not match the message: rank 0 sent 2 x MPI_SHORT (4 bytes) by MPI_Bsend, tag 6, copy",
    "MPI_Recv of 4 x MPI_BYTE (4 bytes) does not match the message: rank 0 sent 1 x MPI_INT (4 bytes) by MPI_Send, tag 8, "
    "MPI_COMM_WORLD",
    "MPI_Sendrecv_replace of 4 x MPI_INT (16 bytes) does not match the message: rank 0 sent 4 x MPI_FLOAT (16 bytes) by "
    "MPI_Sendrecv_replace, tag 9, copy",
    *2 * ["MPI_Start of 4 x MPI_LONG_LONG_INT (32 bytes) does not match the message: rank 0 sent 4 x MPI_DOUBLE (32 bytes) by "
          "MPI_Start, tag 10, MPI_COMM_WORLD"],
    "MPI_Recv of 2 x MPI_INT (8 bytes) does not match the message: rank 0 sent elements of several types (8 bytes) by MPI_Send, "
    "tag 11, MPI_COMM_WORLD",
    "MPI_Recv of 3 x MPI_INT (12 bytes) is too small for the message: rank 0 sent 4 x MPI_INT (16 bytes) by MPI_Send, tag 7, "
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
    case.expect("margay: --strict: 26 findings: 13 by rank 0, 13 by rank 1\n" in case.last.stderr, "all leaks count")
    case.margay("--strict", types, "bad", status=72)
    case.expect(f"margay: --strict: {len(MISFITS)} findings: {len(MISFITS)} by rank 1\n" in case.last.stderr, "all misfits count")
    case.margay(leaks, status=72, env={"MARGAY_STRICT": "1"})
    for words in ([leaks, "clean"], [types, "good"]):
        case.margay("--strict", *words)
        case.expect(not case.last.stderr, "nothing was found")
    # What works and is not portable: once for each use.
    case.margay("--strict", types, "logical", status=72)
    words = ("MPI_Allreduce: MPI_LXOR on MPI_DOUBLE", "MPI_Accumulate: MPI_LOR on MPI_FLOAT")
    expected = [f"margay: rank {rank}: {use} is not portable: the standard does not define it (MPI 4.0, 6.9.2)"
                for rank in range(2) for use in words]
    case.expect(sorted(line for line in case.last.stderr.splitlines() if "not portable" in line) == sorted(expected),
                f"expected the lines {expected}")
    case.margay(types, "logical")
    case.expect(not case.last.stderr, "nothing is to be said unasked")
    case.margay("--leaks", "--check-types", leaks)
    case.margay("--strict", ends, "exit", "7", "1", status=7)
