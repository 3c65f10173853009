"""In which words traces and checks tell of what a program did: names of communicators, roots, probes, partitions."""
import pathlib
import re
import tempfile

import support
from launch_case import SOURCES


def case_one_name(case):
    """A communicator without a name is called the same by stories, by checks of types and calls, and by lists of leaks."""
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.margay("--trace", trace, "--check-types", "--leaks", case.ours("unnamed.c"), status=None)
        told = case.last.stderr
        case.run([case.build.tool("margay"), "trace", "messages", trace])
        rows = case.last.stdout
        for name, tags in ((r"communicator \d+ \(2 ranks\)", (11, 13)), (r"intercommunicator \d+ \(1 and 1 rank\)", (12, 14))):
            names = {found[1] for tag in tags for found in [re.search(rf"tag {tag} from 0 in (.*?)( {{2}}|$)", rows, re.M)] if found}
            case.expect(len(names) == 1 and re.fullmatch(name, *names), f"the trace's name: {names}")
            of_trace = re.escape("".join(names))
            for words in (rf"MPI_Recv of 4 x MPI_FLOAT .* by MPI_Send, tag {tags[0]}, {of_trace}$",
                          rf"an unreceived message, from rank 0, tag {tags[1]}, 4 bytes, {of_trace}, sent as 1 x MPI_INT"):
                case.expect(re.search(words, told, re.M), f"no line: {words}")
            if tags[0] == 11:
                case.expect(len(re.findall(rf"calls MPI_Allreduce of \d x MPI_INT with MPI_SUM, {of_trace}", told)) == 2,
                            "the calls that differ name it")


def case_between(case):
    """Collective calls of an intercommunicator tell its name and the root as each call names it; so do their messages."""
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        margay = case.build.tool("margay")
        case.margay("--trace", trace, case.ours("between.c"), ranks=4)
        case.run([margay, "trace", "check", trace])
        case.run([margay, "trace", "print", trace, "--all", "--kind", "collective_begin"])
        begun = case.last.stdout
        remote = "rank {} of the remote group"
        of_3, of_0 = (remote.format(1), remote.format(1), "MPI_PROC_NULL", "MPI_ROOT"), ("MPI_ROOT", "MPI_PROC_NULL", remote.format(0), remote.format(0))
        for call, how, roots in ((0, "bcast by tree", of_3), (1, "reduce by tree", of_0), (2, "gather by direct", of_3), (3, "bcast by tree", of_0)):
            for rank, root in enumerate(roots):
                words = rf"^ *[\d.]+ +{rank} .* begins collective call {call} of bridge: {how}, root {root}, "
                case.expect(len(re.findall(words, begun, re.M)) == 1, f"no line: {words}")
        case.expect(not re.search(r"of bridge: .*, root \d", begun), "no root is one of the library's own parts")
        plain = set(re.findall(r"of (.*): barrier by", begun)) - {"MPI_COMM_WORLD"}
        case.expect(len(plain) == 1 and re.fullmatch(r"intercommunicator \d+ \(2 and 2 ranks\)", *plain), f"the other's name: {plain}")
        case.run([margay, "trace", "messages", trace, "--collective"])
        case.expect(re.search(r"of bridge: bcast by tree, root MPI_ROOT, message 1 of 1 that rank 3 sends in it", case.last.stdout), "its messages")
        case.run([margay, "trace", "story", trace, "--tag", "5"])
        case.expect("tag 5 from 1 in bridge" in case.last.stdout, "a message on it")


def case_some_agree(case):
    """Where some of a communicator make one of their own, the other one keeps its name; what the library itself does over two
    groups is not told as a call of the program's."""
    margay = case.build.tool("margay")
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.margay("--trace", trace, case.ours("some_agree.c"), ranks=4)
        case.run([margay, "trace", "check", trace])
        for tag in (5, 6, 8):
            case.run([margay, "trace", "messages", trace, "--tag", str(tag)])
            case.expect(f"tag {tag} from 2 in MPI_COMM_WORLD" in case.last.stdout, f"tag {tag}: its communicator")
        case.run([margay, "trace", "print", trace, "--all", "--kind", "collective_begin"])
        begun = case.last.stdout
        case.expect(len(re.findall("begins collective call .* of MPI_COMM_WORLD: barrier", begun)) >= 16, "four barriers of each rank")
        case.expect(begun.count("begins the agreement with tag 7 of 2 ranks of MPI_COMM_WORLD: ") == 2, "MPI_Comm_create_group's")
        case.expect(len(re.findall("begins the agreement by string tag of 2 ranks of MPI_COMM_WORLD: ", begun)) == 6, "of string tags")
        case.expect("persistent" not in begun and "library's world" not in begun, "no call that there was not")
        case.expect("MPI_ROOT" not in begun and "MPI_PROC_NULL" not in begun and "of inter: bcast by tree, root 0 of both groups as one" in begun,
                    "the library's own calls over both groups")


def case_not_sent(case):
    """Requests that fail or are cancelled are not told as complete, and a peer that was killed is named with its signal."""
    margay = case.build.tool("margay")
    program = case.ours("not_sent.c")
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "killed")
        case.margay("--trace", trace, program, "killed", status="nonzero")
        case.run([margay, "trace", "story", trace, "--tag", "1"])
        told = case.last.stdout
        case.expect("the send is complete" not in told and "Rank 0 sent it" not in told, "it is not sent")
        case.expect("- Rank 0 began to send it in MPI_Isend, " in told, "its call")
        case.expect(re.search(r"^- Rank (0 lost rank 1, which|1) was killed by signal 9 \(SIGKILL\)\.$", told, re.M), "who was killed")
        trace = str(pathlib.Path(folder) / "cancelled")
        case.margay("--trace", trace, program, "cancelled")
        case.run([margay, "trace", "print", trace, "--rank", "0", "--call", "MPI_Cancel"])
        case.expect("the receive is cancelled (request 0)" in case.last.stdout and "is complete" not in case.last.stdout, "the receive")
        case.run([margay, "trace", "story", trace, "--tag", "3"])
        case.expect("the send is cancelled" in case.last.stdout and "is complete" not in case.last.stdout, "the send")
        case.expect("- Rank 0 began to send it in MPI_Issend, " in case.last.stdout and "- That was cancelled while rank 0 was in MPI_" in case.last.stdout,
                    "its calls")


def case_probed(case):
    """The story of a message tells which probes found it, when and at which line; a poll that finds nothing is counted alone."""
    source = (SOURCES / "probed.c").read_text().splitlines()
    lines = {line.split("// line: ")[1]: rf"\(probed\.c:{number}\)" for number, line in enumerate(source, 1) if "// line: " in line}
    margay = case.build.tool("margay")
    after = r"[\d.]+ .s after it had arrived"
    polls = "; 7 of the rank's polls before that found nothing"
    left, taken = "which leaves it there", "no other receive gets it"
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.margay("--trace", trace, case.ours("probed.c", ["-g"]))
        case.run([margay, "trace", "check", trace])
        expected = {
            1: (f"calls MPI_Probe {lines['probe']}", f"the message    is found by MPI_Probe, {left}",
                f"- Found by MPI_Probe {lines['probe']}, {after}\\.", "finds it among the unexpected messages"),
            2: (f"calls MPI_Iprobe {lines['iprobe']}", f"is found by MPI_Iprobe, {left}",
                f"- Found by MPI_Probe {lines['first']}, {after}{polls}\\.", f"- Found by MPI_Iprobe {lines['iprobe']}, {after}{polls}\\."),
            3: (f"calls MPI_Mprobe {lines['mprobe']}", f"is taken by MPI_Mprobe: {taken}", f"- Taken by MPI_Mprobe {lines['mprobe']}, {after}\\.",
                "receives it, as a matched probe took it out for this", "- Rank 1 received it in MPI_Mrecv, "),
            4: (f"is taken by MPI_Improbe: {taken}", f"- Taken by MPI_Improbe {lines['improbe']}, {after}"),
        }
        for tag, words in expected.items():
            case.run([margay, "trace", "story", trace, "--tag", str(tag)])
            for each in words:
                case.expect(re.search(each, case.last.stdout), f"tag {tag}: the story does not say: {each}")
        case.run([margay, "trace", "print", trace, "--kind", "found"])
        found = [line for line in case.last.stdout.splitlines() if " by MPI_" in line]
        case.expect(len(found) == 6, f"{len(found)} events of probes that found something, and none of others")


def case_trace_ranks(case):
    """A rank that the run does not have is an error in each command; `print`, whose times had a rank's names, says what to write."""
    margay = case.build.tool("margay")
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.margay("--trace", trace, case.ours("copies.c"))
        for words in (["messages", trace], ["messages", trace, "--csv"], ["story", trace], ["export", trace, "--format", "csv"]):
            for option in ("--from", "--to"):
                case.run([margay, "trace", *words, option, "2"], status=1)
                case.expect(f"{option} 2: this run has 2 ranks, 0 to 1" in case.last.stderr and case.last.stdout == "", f"{words} {option}")
                case.run([margay, "trace", *words, option, "1"], status=0 if words[0] != "story" or option == "--to" else None)
        for option, instead in (("--from", "--since"), ("--to", "--until")):
            case.run([margay, "trace", "print", trace, option, "1"], status=1)
            case.expect(instead in case.last.stderr and case.last.stdout == "", f"print {option}: what to write")
        case.run([margay, "trace", "print", trace, "--since", "0", "--until", "1e9", "--last", "3"])
        case.expect(len([line for line in case.last.stdout.splitlines() if not line.startswith("#")]) == 4, "three events and their heading")


def case_trace_check(case):
    """The verdict is first; of many pairs those with something to tell are listed; a killed rank has one note, which says who killed it."""
    margay = case.build.tool("margay")
    with tempfile.TemporaryDirectory() as folder:
        many, dead = str(pathlib.Path(folder) / "many"), str(pathlib.Path(folder) / "dead")
        case.margay("--trace", many, case.ours("all_pairs.c"), ranks=12)
        rows = {}
        for words in ([], ["--pairs"]):
            case.run([margay, "trace", "check", many, *words])
            lines = case.last.stdout.splitlines()
            case.expect(lines[0] == "the accounts are right: sent = delivered + dropped for every pair", "the verdict is first")
            rows[len(words)] = [line.split() for line in lines if re.match(r" +(\d+|all) +(\d+|all) ", line)]
        case.expect(len(rows[0]) == 1 and len(rows[1]) == 12 * 11 + 1 and rows[0][-1] == rows[1][-1], f"{rows}")
        sums = [str(sum(int(row[column]) for row in rows[1][:-1])) for column in range(2, 7)]
        case.expect(rows[0][0] == ["all", "all", *sums], f"{rows[0]}, expected the sums {sums}")
        program = support.compile_program(case.build, case.build.tool("mpicc"), SOURCES.parents[1] / "faults" / "deadlock.c", ".margay", ["-lpthread"])
        case.margay("--deadlock", "abort", "--trace", dead, program, status=73)
        case.run([margay, "trace", "check", dead])
        notes = [line for line in case.last.stdout.splitlines() if line.startswith("note: rank ")]
        case.expect(len(notes) == 2, f"a note of each rank: {notes}")
        for note in notes:
            case.expect(re.search(r"was last seen in MPI_\w+, waiting; was killed by signal \d+ \(SIG\w+\), which margay run sent as it ended "
                                  r"the job \(--deadlock abort\)", note), note)


def case_partitions(case):
    """Partitions are told and found by what the program named: its tag, how many there are, what each is; on both sides."""
    margay = case.build.tool("margay")
    world = "from 0 in MPI_COMM_WORLD"
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.margay("--trace", trace, case.ours("partitions.c"))
        case.run([margay, "trace", "check", trace])

        def of_tag(command, tag):
            case.run([margay, "trace", command, trace, "--tag", str(tag), "--count", "5000"])
            return case.last.stdout

        rows = of_tag("messages", 7)
        for partition in range(4):
            words = f"100 x MPI_INT, partition {partition} of 4 (each 100 x MPI_INT) with tag 7 {world}\n"
            case.expect(rows.count(words) == 2, f"twice, once a round: {words}")
        case.expect(rows.count(f"the setup of partitions with tag 7 {world}") == 1 and rows.count(" with tag 7 ") == 9, "the setup, and no others")
        stories = of_tag("story", 7)
        for message in range(4):
            case.expect(f"accepts at most 100 x MPI_INT, message {message} of partitions with tag 7 (2, each 200 x MPI_INT) {world}" in stories,
                        f"the receive of message {message}")
        stories = of_tag("story", 8)
        case.expect(stories.count(f"of partitions with tag 8 (3, each 5 x every other) {world}") >= 3 and
                    stories.count("accepts at most 5 x every other, message ") == 3, "receives of a type with gaps")
        rows = of_tag("messages", 9)
        case.expect(f"2 x MPI_CHAR, partitions 1998 to 1999 of 2000 (each 1 x MPI_CHAR) with tag 9 {world}" in rows and rows.count("with tag 9") == 1001,
                    "partitions that share a message")
        case.run([margay, "trace", "print", trace, "--all"])
        case.expect("MPI_BYTE" not in case.last.stdout and "channel" not in case.last.stdout, "nothing but what the program named")
