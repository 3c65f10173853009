"""Cases of the output of `margay trace` for a run: stories, lists of messages, events, notes, with the program's
names."""
import json
import os
import pathlib
import pty
import re
import subprocess

import support
from launch_case import SOURCES, Skipped, identity, marked_lines, tag_of

ROOT = SOURCES.parents[2]
WORLD = "from 0 in MPI_COMM_WORLD"


def checked(case, *words, **keywords):
    """A traced run whose trace is consistent; the trace."""
    trace = case.traced("--check-accounting", *words, **keywords)
    case.command("trace", "check", trace)
    return trace


def story(case, trace, tag, *more):
    return case.command("trace", "story", trace, "--tag", str(tag), *more)


def account_rows(checked):
    """The rows of the table that `margay trace check` printed, split into columns."""
    return [line.split() for line in checked.splitlines() if re.match(r" +(\d+|all) +(\d+|all) ", line)]


def all_of(screen):
    """The output on a terminal that no process has open any more. A read may return before the last of it."""
    seen = b""
    try:
        while part := os.read(screen, 65536):
            seen += part
    except OSError:  # the end, on Linux
        pass
    os.close(screen)
    return seen.decode()


def case_trace_story(case):
    """The story of a message names the lines that sent and received it, as long as the program is the one that ran."""
    program = str(case.folder / "late_receiver")

    def compile_with(*options):
        case.run([case.build.tool("mpicc"), "-O2", *options, ROOT / "examples" / "late_receiver.c", "-o", program])

    compile_with("-g")
    # On a busy machine the receiver may be back before its coprocessor has seen the message: then once more.
    for _ in range(20):
        trace = case.traced("--check-accounting", program)
        if case.messages(trace, "--unexpected"):
            break
    case.command("trace", "story", trace, "--slowest")
    case.expect_printed(f"0>1 #1: 100000 x MPI_DOUBLE, tag 7 {WORLD}\n", "MPI_Send (late_receiver.c:13)", "MPI_Recv (late_receiver.c:16)",
                        '"unexpected long"')
    kinds = {event["kind"]: event for event in case.exported(trace)["events"] if identity(event) == (0, 1, 1)}
    case.expect({"pull_begin", "search_hit"} <= kinds.keys() and kinds["kernel_deposit"]["saved"] == "header", "the body was pulled")
    case.command("trace", "check", trace)
    for words in (["0:1:1"], ["--from", "0", "--to", "1", "--tag", "7"], ["--unexpected"]):
        case.command("trace", "story", trace, *words)
        case.expect_printed("0>1 #1: ")
    for words in (["--dropped"], ["--never-received"], ["--tag", "8"], ["--from", "1"]):
        case.command("trace", "story", trace, *words, status=1)
        case.expect(re.search(r"\b1 message\b", case.last.stderr), f"{words}: the number of the run's messages")
    case.command("trace", "print", trace, "--call", "MPI_Recv", "--around", "0:1:1", "--raw")
    case.expect_printed(" search_hit ")
    case.expect(" sleep " not in case.last.stdout, "the print")
    compile_with("-g", "-DANOTHER")
    compile_with()
    case.command("trace", "story", trace, "--slowest")
    case.expect_printed("calls MPI_Send\n")  # without a line


def case_trace_names(case):
    """A message has the same name in lists and in stories; if no message is listed, the reason and an option that shows
    some are printed."""
    trace = case.traced("--check-accounting", case.ours("copies.c"))
    rows = [line for line in case.command("trace", "messages", trace).splitlines() if re.match(r" *[\d.]+ ", line)]
    listed = rows[1].split()[2]
    case.command("trace", "messages", trace, "--count", "2")
    case.expect(rows[1] in case.last.stdout and rows[2] not in case.last.stdout, "two messages")
    case.expect_matches(rf"^{len(rows) - 2} more .*\n$")
    of_listed = case.command("trace", "story", trace, listed)
    shown = of_listed.split(":")[0]
    case.expect(shown == "{}>{} #{}".format(*listed.split(":")), f"the story's name of {listed} is {shown}")
    case.expect(case.command("trace", "story", trace, shown) == of_listed, "one story by both names")
    for option in ("--message", "--around"):
        printed = case.command("trace", "print", trace, option, listed)
        case.expect(f" {shown} " in printed and case.command("trace", "print", trace, option, shown) == printed, f"{option} by both names")
    case.command("trace", "story", trace, "0>1", status=1)
    case.expect_said('"0>1"', "SOURCE:DESTINATION:SEQUENCE")
    program = case.ours(ROOT / "examples" / "conjugate_gradient.c", ["-lm"])
    for nodes in ("1", "2"):
        trace = case.traced("--check-accounting", "--nodes", nodes, program)
        for words, status in ((["story", trace, "--slowest"], 1), (["messages", trace], 0)):
            case.command("trace", *words, status=status)
            for option in ("--collective", "--all"):
                case.expect(f"{option} shows" in case.last.stdout + case.last.stderr, f"{nodes}, {words[0]}: {option} is to be named")


def page_notes(case, trace):
    """The notes of the page of `trace`."""
    if not case.build.has_page():
        raise Skipped("margay was built without its page")
    case.command("trace", "view", trace)
    case.expect(case.last.stderr == "", "no progress is printed where no terminal is")
    page = pathlib.Path(f"{trace}.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="margay-head">(.*)</script>', page)[1])["notes"]


def case_trace_ended(case):
    """The page and `print` report how a rank ended the job; with --trace-last both report the same."""
    program = case.ours("ends.c", ["-g"], "ends_lines")
    for way, words, note in (("abort", ("7", "1"), r"Rank 1 .*MPI_Abort \(ends\.c:\d+\).*"),
                             ("fatal", (), r"Rank \d .*MPI_Send \(ends\.c:\d+\).*MPI_ERR_RANK\.")):
        trace = case.traced(program, way, *words, status="nonzero")
        notes = page_notes(case, trace)
        case.expect(notes and re.fullmatch(note, notes[0]), f"{way}: {notes}")
    case.command("trace", "print", trace)
    case.expect_printed("MPI_Send fails", "MPI_ERR_RANK")
    trace = case.traced("--trace-events", "60", "--trace-last", "0.000001", case.ours("who.c"))
    notes = page_notes(case, trace)
    printed = re.findall(r"^# rank (\d+) .* (\d+) not kept \(--trace-last\)", case.command("trace", "print", trace), re.M)
    case.expect(len(printed) == 2, "both ranks have more events")
    case.expect([tuple(re.findall(r"\d+", note)[:2]) for note in notes] == printed, f"{notes}")
    screen, terminal = pty.openpty()
    status = subprocess.run([case.build.tool("margay"), "trace", "view", trace], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=terminal, timeout=60, check=False, env=support.clean_environment()).returncode
    os.close(terminal)
    seen = all_of(screen)
    case.expect(status == 0 and f"reading {trace} ..." in seen and seen.endswith("\r\x1b[K"), f"a terminal shows progress: {seen!r}")


def case_trace_copies(case):
    """For bytes that the library copied first, the program's count and type are listed."""
    rows = case.command("trace", "messages", case.traced("--check-accounting", case.ours("copies.c")))
    case.expect(rows.count("4 x MPI_INT, tag 3 from") == 2, "both exchanges")
    case.expect(f"2 x MPI_FLOAT, tag 5 {WORLD}" in rows and "MPI_BYTE" not in rows, "the buffered send")


def case_trace_matched(case):
    """A message that a matched probe found has its receive in its story."""
    story(case, checked(case, case.ours("matched.c")), 2)
    case.expect_printed("calls MPI_Mrecv", f" 2 x MPI_INT, tag 2 {WORLD}")


def case_trace_gone_round(case):
    """The contents of a killed rank's heap are known although the beginning of its file is lost; missing facts are
    named."""
    trace = case.traced("--check-accounting", "--trace-events", "256", case.ours("gone_round.c"), status="nonzero")
    rows = case.messages(trace, "--never-received")
    case.expect([(row["tag"], row["bytes"], row["how"]) for row in rows] == [("2", "4", "never received")], f"the message: {rows}")
    pathlib.Path(trace, "rank_00001.trace").unlink()
    rows = case.messages(trace, "--never-received")
    case.expect(not rows, f"what is not known is not listed: {rows}")
    case.expect_said("--never-received", "rank 1 ")


def case_trace_bits(case):
    """Every number that a trace prints of the library's own messages has a name; --raw splits match bits."""
    trace = case.traced("--check-accounting", "--nodes", "2", case.ours("own_messages.c"), ranks=4)
    printed = case.command("trace", "print", trace, "--all")
    bits = sorted({line.split(None, 2)[2] for line in printed.splitlines() if re.search(r"\b0x[0-9a-f]+", line)})
    case.expect(not bits, f"{len(bits)} lines have bare bits: {bits[:3]}")
    # Those that have bits of their own are among them.
    events = case.events(trace, "collective_begin", "synchronous_answer")
    begun = {event.get("operation") for event in events}
    case.expect({None, "none", "gather", "bcast"} <= begun, f"an answer, an agreement on a context, collective calls: {begun}")
    case.command("trace", "print", trace, "--raw", "--kind", "kernel_arrive")
    case.expect_matches(r"\(tag 7, source 0, context \d+, type short\)", r"\(tag 8, source 0, context \d+, type long\)")
    story(case, trace, 8)
    case.expect_matches(r"^- .*: tag 8, source 0, ")


def case_trace_walks(case):
    """A walk over more receives than are listed has the number of passed entries, also if the kernel's index
    answers."""
    posted = 40
    for option, listed in (([], 16), (["--trace-walks"], posted)):
        trace = checked(case, *option, case.ours("posted.c"), str(posted))
        events = case.events(trace, "kernel_arrive", "kernel_match", "kernel_pass")
        of_kind = lambda kind: [event for event in events if event["kind"] == kind]
        tags = {identity(event): tag_of(event) for event in of_kind("kernel_arrive") if event["portal"] == 0}
        # The first is found by a walk, and creates the index.
        walks = {posted - 1: "none", posted - 5: "by_index"}
        seen = {}
        for match in of_kind("kernel_match"):
            if (tag := tags.get(identity(match))) in walks:
                passed = sum(identity(one) == identity(match) for one in of_kind("kernel_pass"))
                seen[tag] = (match["visited"], match.get("walk", "none"), passed)
        expected = {tag: (tag + 1, walk, min(listed, tag)) for tag, walk in walks.items()}
        case.expect(seen == expected, f"entries visited, walk and entries listed, by tag: {seen}, expected {expected}")


def case_trace_lines(case):
    """The source line of a call is the program's, also for calls that need no rank and for sessions."""
    lines = marked_lines("lines.c")
    case.command("trace", "print", case.traced("--check-accounting", case.ours("lines.c"), ranks=1), "--all")
    case.expect(len(lines) == 7, f"seven lines are marked: {lines}")
    case.expect_printed(*(f"{call} (lines.c:{number})" for call, number in lines.items()))


def case_trace_threads(case):
    """`margay trace check` accepts the trace of a run with MPI_THREAD_MULTIPLE, and the trace names its threads."""
    program = case.ours("../threads.c", name="threads_traced")
    for words in ([], ["--nodes", "2"]):
        trace = checked(case, *words, program)
        case.expect("overwritten" not in case.last.stdout, "the whole run is to be checked")
        case.command("trace", "print", trace, "--raw", "--kind", "mpi_enter", "--rank", "0")
        threads = set(re.findall(r", thread ([1-9]\d*),", case.last.stdout))
        # The first waits for all others; one of those that ends early may leave its number to another.
        case.expect({"1", "2"} <= threads <= {"1", "2", "3", "4"}, f"threads {sorted(threads)} are named")


def case_trace_ring(case):
    """A ring that is too short for the run loses events, not messages, and the report names the option that lengthens
    it."""
    program = case.ours("who.c")
    trace = case.traced("--trace-events", "8", program)
    lost = re.search(r"trace: rank 0: .* (\d+) .* (\d+) .*overwritten", case.last.stderr)
    case.expect(lost and int(lost[2]) - int(lost[1]) == 8, "the run's end is to say what was lost")
    enough = re.search(r"--trace-events (\d+) keeps", case.last.stderr)
    case.expect(enough and int(enough[1]) >= int(lost[2]), "and what keeps it")
    case.command("trace", "check", trace)
    case.expect_matches(r"overwritten, .*\(--trace-events \d+\)")
    case.expect(len(re.findall("^note: ", case.last.stdout, re.M)) == 2, "no message was lost: each rank has the note on its events alone")
    case.margay("--trace", trace, "--trace-events", "0", program, status=2)
    case.margay("-genv", "MARGAY_TRACE", case.folder / "inherited", "-genv", "MARGAY_TRACE_EVENTS", "8", program)
    case.expect_said("overwritten")


def case_one_name(case):
    """A communicator without a name has the same name in stories, in checks of types and calls, and in lists of
    leaks."""
    trace = case.traced("--check-types", "--leaks", case.ours("unnamed.c"), status=None)
    run = case.last
    rows = case.command("trace", "messages", trace)
    case.last = run
    names = {tag: re.search(rf"tag {tag} from 0 in (.*?)( {{2}}|$)", rows, re.M)[1] for tag in (11, 12, 13, 14)}
    for name, matched, unreceived in ((r"communicator \d+ \(2 ranks\)", 11, 13), (r"intercommunicator \d+ \(1 and 1 rank\)", 12, 14)):
        case.expect(names[matched] == names[unreceived] and re.fullmatch(name, names[matched]), f"the trace's names: {names}")
        for found, tag in (("type-mismatch", matched), ("unreceived-message", unreceived)):
            case.expect((tag, names[tag]) in case.findings("tag", "communicator", finding=found), f"{found}, tag {tag}, {names[tag]}")
            case.expect(any(f"tag {tag}, " in line and names[tag] in line for line in run.stderr.splitlines()), f"a line with {names[tag]}")
    mismatches = [message for message, in case.findings("message", finding="collective-mismatch") if names[11] in message]
    case.expect(len(mismatches) == 1 and mismatches[0].count(names[11]) == 2, f"both calls that differ name it: {mismatches}")


def case_between(case):
    """Collective calls of an intercommunicator have its name and the root as each call names it; so do their messages."""
    trace = checked(case, case.ours("between.c"), ranks=4)
    seen = {(event["call_number"], event["operation"], event["algorithm"], event["rank"]): (event["root_named"], event["root"])
            for event in case.events(trace, "collective_begin") if event["root_named"] not in ("member", "of_both")}
    of_3, of_0 = (("remote", 1), ("remote", 1), ("another", 0), ("here", 0)), (("here", 0), ("another", 0), ("remote", 0), ("remote", 0))
    calls = (("bcast", "tree", of_3), ("reduce", "tree", of_0), ("gather", "direct", of_3), ("bcast", "tree", of_0))
    expected = {(number, operation, algorithm, rank): root
                for number, (operation, algorithm, roots) in enumerate(calls) for rank, root in enumerate(roots)}
    case.expect(seen == expected, f"the roots of the calls: {seen}")
    begun = case.command("trace", "print", trace, "--all", "--kind", "collective_begin")
    case.expect(len(re.findall("bridge: .*, root ", begun)) == len(seen), "each call has the communicator's name")
    case.expect(not re.search(r"bridge: .*, root \d", begun), "no root is one of the library's own parts")
    plain = set(re.findall(r"\d of (.*): barrier ", begun)) - {"MPI_COMM_WORLD"}
    case.expect(len(plain) == 1 and re.fullmatch(r"intercommunicator \d+ \(2 and 2 ranks\)", *plain), f"the other's name: {plain}")
    case.command("trace", "messages", trace, "--collective")
    case.expect_matches(r"bridge: bcast .*, root MPI_ROOT, .* 1 of 1 .*rank 3 ")
    story(case, trace, 5)
    case.expect_printed("tag 5 from 1 in bridge")


def case_some_agree(case):
    """If some members of a communicator create another one, it keeps its name; the library's own messages over two
    groups are no calls of the program."""
    trace = checked(case, case.ours("some_agree.c"), ranks=4)
    for tag in (5, 6, 8):
        case.command("trace", "messages", trace, "--tag", str(tag))
        case.expect_printed(f"tag {tag} from 2 in MPI_COMM_WORLD")
    begun = case.command("trace", "print", trace, "--all", "--kind", "collective_begin")
    case.expect(len(re.findall(r"\d of MPI_COMM_WORLD: barrier ", begun)) >= 16, "four barriers of each rank")
    case.expect(len(re.findall(" tag 7 of 2 ranks of MPI_COMM_WORLD: ", begun)) == 2, "MPI_Comm_create_group's")
    case.expect(len(re.findall(" string tag of 2 ranks of MPI_COMM_WORLD: ", begun)) == 6, "of string tags")
    for words in ("persistent", "library's", "MPI_ROOT", "MPI_PROC_NULL"):
        case.expect(words not in begun, f"{words}: no such call was made")
    case.expect(("bcast", "of_both", 0) in {(event["operation"], event["root_named"], event.get("root"))
                                            for event in case.events(trace, "collective_begin")}, "a part of a call over both groups")


def case_not_sent(case):
    """Requests that fail or are cancelled are not complete, and a peer that was killed is named with its signal."""
    program = case.ours("not_sent.c")
    trace = case.traced(program, "killed", status="nonzero")
    text = story(case, trace, 1)
    case.expect("complete" not in text and "MPI_Isend, " in text, "it is not sent")
    case.expect_matches(r"^- Rank .*1.* signal 9 \(SIGKILL\)\.$")
    trace = case.traced(program, "cancelled")
    ends = [(event.get("sequence"), event.get("cancelled")) for event in case.events(trace, "request_complete") if event["rank"] == 0]
    case.expect((None, True) in ends, f"the receive is cancelled: {ends}")
    case.command("trace", "print", trace, "--rank", "0", "--call", "MPI_Cancel")
    case.expect("(request 0)" in case.last.stdout and "complete" not in case.last.stdout, "the receive")
    story(case, trace, 3)
    case.expect("complete" not in case.last.stdout and case.last.stdout.count("cancelled") >= 2, "the send")
    case.expect_matches("MPI_Issend, ", r"cancelled .*rank 0 .*MPI_")


def case_probed(case):
    """The story of a message names the probes that found it, with time and line; polls without a result are counted."""
    lines = {call: f"(probed.c:{number})" for call, number in marked_lines("probed.c").items()}
    trace = checked(case, case.ours("probed.c", ["-g"]))
    # By tag: the probes that found it, the polls before that found nothing, and the calls with their lines.
    expected = {1: ([("MPI_Probe", 0)], [f"MPI_Probe {lines['probe']}"]),
                2: ([("MPI_Probe", 7), ("MPI_Iprobe", 7)], [f"MPI_Probe {lines['first']}", f"MPI_Iprobe {lines['iprobe']}"]),
                3: ([("MPI_Mprobe", 0)], [f"MPI_Mprobe {lines['mprobe']}", "MPI_Mrecv, "]),
                4: ([("MPI_Probe", None), ("MPI_Improbe", None)], [f"MPI_Improbe {lines['improbe']}"])}
    found = case.events(trace, "found")
    for tag, (probes, calls) in expected.items():
        story(case, trace, tag)
        case.expect_printed(*calls)
        of_tag = [(event["probe"], event["polls"]) for event in found if tag_of(event) == tag]
        case.expect([probe for probe, _ in of_tag] == [probe for probe, _ in probes], f"tag {tag}: probes {of_tag}")
        for (probe, polls), (_, wanted) in zip(of_tag, probes):
            case.expect(wanted in (None, polls), f"tag {tag}: {probe} after {polls} polls, expected {wanted}")
    printed = case.command("trace", "print", trace, "--kind", "found")
    case.expect(printed.count(" by MPI_") == len(found), "a line of each probe that found something, and none of others")


def case_trace_ranks(case):
    """A rank that the run does not have is an error in each command; the error of `print` names its options for times."""
    trace = case.traced(case.ours("copies.c"))
    for words in (["messages", trace], ["messages", trace, "--csv"], ["story", trace], ["export", trace, "--format", "csv"]):
        for option in ("--from", "--to"):
            case.command("trace", *words, option, "2", status=1)
            case.expect_said(f"{option} 2: ", "2 ranks")
            case.expect(case.last.stdout == "", f"{words} {option}")
            case.command("trace", *words, option, "1", status=0 if words[0] != "story" or option == "--to" else None)
    for option, instead in (("--from", "--since"), ("--to", "--until")):
        case.command("trace", "print", trace, option, "1", status=1)
        case.expect(instead in case.last.stderr and case.last.stdout == "", f"print {option}: {instead} is to be named")
    case.command("trace", "print", trace, "--since", "0", "--until", "1e9", "--last", "3")
    case.expect(len([line for line in case.last.stdout.splitlines() if not line.startswith("#")]) == 4, "three events and their heading")


def case_trace_check(case):
    """The verdict is first; of many pairs those with a report are listed; a killed rank has one note, which names the
    killer."""
    many, rows = case.traced(case.ours("all_pairs.c"), ranks=12), []
    for words in ([], ["--pairs"]):
        printed = case.command("trace", "check", many, *words)
        case.expect(printed.startswith("the accounts are right: sent = delivered + dropped for every pair\n"), "the verdict is first")
        rows.append(account_rows(printed))
    case.expect(len(rows[0]) == 1 and len(rows[1]) == 12 * 11 + 1 and rows[0][-1] == rows[1][-1], f"{rows}")
    sums = [str(sum(int(row[column]) for row in rows[1][:-1])) for column in range(2, 7)]
    case.expect(rows[0][0] == ["all", "all", *sums], f"{rows[0]}, expected the sums {sums}")
    dead = case.traced("--deadlock", "abort", case.ours("../../faults/deadlock.c", ["-lpthread"]), status=73)
    notes = [line for line in case.command("trace", "check", dead).splitlines() if line.startswith("note: rank ")]
    case.expect(len(notes) == 2, f"a note of each rank: {notes}")
    for note in notes:
        case.expect(re.search(r"MPI_\w+.* signal \d+ \(SIG\w+\).*\(--deadlock abort\)", note), note)


def case_partitions(case):
    """Partitions are listed and found by the program's terms: their tag, number and type; on both sides."""
    trace = checked(case, case.ours("partitions.c"))

    def of_tag(command, tag):
        return case.command("trace", command, trace, "--tag", str(tag), "--count", "5000")

    rows = of_tag("messages", 7)
    for partition in range(4):
        words = f"100 x MPI_INT, partition {partition} of 4 (each 100 x MPI_INT) with tag 7 {WORLD}\n"
        case.expect(rows.count(words) == 2, f"twice, once a round: {words}")
    case.expect(rows.count(f" partitions with tag 7 {WORLD}") == 1 and rows.count(" with tag 7 ") == 9, "the setup, and no others")
    of_tag("story", 7)
    case.expect_printed(*(f"accepts at most 100 x MPI_INT, message {message} of partitions with tag 7 (2, each 200 x MPI_INT) {WORLD}"
                          for message in range(4)))
    stories = of_tag("story", 8)
    case.expect(stories.count(f"of partitions with tag 8 (3, each 5 x every other) {WORLD}") >= 3 and
                stories.count("accepts at most 5 x every other, message ") == 3, "receives of a type with gaps")
    rows = of_tag("messages", 9)
    case.expect(f"2 x MPI_CHAR, partitions 1998 to 1999 of 2000 (each 1 x MPI_CHAR) with tag 9 {WORLD}" in rows
                and rows.count("with tag 9") == 1001,
                "partitions that share a message")
    printed = case.command("trace", "print", trace, "--all")
    case.expect("MPI_BYTE" not in printed and "channel" not in printed, "nothing but what the program named")
