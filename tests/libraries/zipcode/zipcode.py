#!/usr/bin/env python3
"""Tests of Zipcode between processes, over every wire, with the accounting of letters.

    tests/libraries/zipcode/zipcode.py --build build/release          every case
    tests/libraries/zipcode/zipcode.py --build build/release ring     one
    tests/libraries/zipcode/zipcode.py --list
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "mpi"))

from launch_case import SKIPPED_STATUS, Skipped, cases_of, identity, run_cases  # noqa: E402

# Processes and options: alone, shared memory, TCP, both, more processes than processors.
WORLDS = ((1, ()), (2, ()), (2, ("--nodes", "2")), (4, ("--nodes", "2")), (9, ()))
SANITIZED = ((4, ("--nodes", "2")),)

# The numbers of Zipcode's events (libraries/zipcode/library.hpp).
GROUP, TOKEN, COPY, RETURNED, HERE, POSTS = 0, 1, 2, 3, 4, 5


def program(case, name):
    return case.build.folder / "tests" / "libraries" / f"zipcode_{name}"


def everywhere(case, name, worlds=WORLDS, env=None, of="mailing", accounting=True):
    for ranks, options in SANITIZED if case.build.sanitizer else worlds:
        case.margay(*(["--check-accounting"] if accounting else []), *options, program(case, of), name, ranks=ranks, env=env or {})
        case.expect_lines([f"{name}: right"])


def counts(case):
    """The rows of Zipcode in --stats."""
    return {name: int(count) for name, count in re.findall(r"^    (\S[^\n]*?) {2,}(\d+)$", case.last.stderr, re.M)}


def case_ring(case):
    """A letter of unknown length goes round."""
    everywhere(case, "ring")


def case_programs(case):
    """Without a host, a job of two program texts: both have processes in one mailer."""
    for options in ((), ("--nodes", "2")):
        case.margay("--check-accounting", *options, program(case, "mailing"), "ring", ":", "-n", "2", program(case, "other_text"))
        case.expect_lines(["ring: right"])


def case_class_y(case):
    """Class Y selects by a short tag, and with ZIP_ANY in the order of arrival."""
    everywhere(case, "class_y")


def case_class_l(case):
    """Class L selects by process and long tag, and by either."""
    everywhere(case, "class_l")


def case_grids(case):
    """Grids of one, two and three dimensions are row-major; planes, rows and columns keep their letters apart."""
    everywhere(case, "grids")


def case_outside(case):
    """A Postmaster outside of the grid reaches its members, and they it."""
    everywhere(case, "outside")


def case_subgrids(case):
    """Subgrids have their own contexts, with the Postmaster inside and outside of the grid."""
    everywhere(case, "subgrids")
    everywhere(case, "subgrids", of="calls")


def case_explicit_ids(case):
    """Mailers with explicit context_ids are opened without a letter."""
    everywhere(case, "explicit_ids")
    everywhere(case, "explicit_letters", of="calls")
    if not case.build.sanitizer:
        case.margay("--stats", program(case, "mailing"), "explicit_open", ranks=4)
        rows = counts(case)
        case.expect(rows["mailers opened"] == 400 and rows["letters sent"] == 0, f"no letter for 400 mailers, in {rows}")
        # Three forms and three verdicts at the beginning, three counts and three totals at the end.
        case.expect(rows["of Zipcode itself"] == 12, f"no letter to the Postmaster General, in {rows}")


def case_lengths(case):
    """Letters of 0 bytes to 8 MB, around the limit of 16 KiB; received letters are sent on."""
    everywhere(case, "lengths")
    everywhere(case, "letters", of="calls")


def case_kept(case):
    """Letters that the program keeps or does not receive block no others."""
    everywhere(case, "kept", WORLDS[:4])


def case_pending(case):
    """Letters that nobody receives end with their mailer, and are not found by the next one with its context_ids."""
    everywhere(case, "pending")


def case_disjoint(case):
    """Disjoint groups have the same context_ids, overlapping ones others."""
    everywhere(case, "disjoint")


def case_groups(case):
    """Cohorts and the other constructors of groups; null operations for spawn and kill."""
    everywhere(case, "groups")


def case_envelopes(case):
    """The fields of figure 1, for each class."""
    everywhere(case, "envelopes", WORLDS[:2])


def case_agreement(case):
    """Without a Postmaster General, the members agree on the context_ids."""
    for name in ("ring", "grids", "outside", "subgrids", "pending", "disjoint"):
        everywhere(case, name, WORLDS[3:], env={"FORM": "nohost_global"})


def case_host_forms(case):
    """The forms with a host: its node has a name of its own, with and without a Postmaster General."""
    for form in ("host", "global"):
        everywhere(case, "hosted", env={"FORM": form})


def case_collectives(case):
    """Combine, fan-out, fan-in, prefix and sync of all classes, from each root, with short and long buffers."""
    everywhere(case, "collectives", of="collective")
    everywhere(case, "operations", of="calls")


def case_printed(case):
    """The paper's calls: collective ones on a grid, its rows, columns and planes; and all in both spellings."""
    everywhere(case, "printed", of="collective")
    everywhere(case, "planes", of="calls")
    case.margay("--check-accounting", program(case, "printed"), ranks=1)
    case.expect_lines(["printed: right"])


def case_exec(case):
    """The method of a fanout_exec runs before the data are passed on."""
    everywhere(case, "exec", of="collective")
    everywhere(case, "cached_exec", of="caching")


def case_classes(case):
    """Classes of the program: a ring, and a binary tree whose PO Box is longer than its match bits."""
    everywhere(case, "classes", of="collective")


def case_caching(case):
    """Operations of one mailer are replaced, those of another one are not."""
    everywhere(case, "caching", of="caching")


def case_shared(case):
    """Collective operations by shared memory have the same results; over two nodes they are refused everywhere."""
    for name in ("shared", "shared_outside"):
        everywhere(case, name, of="collective")


def case_attributes(case):
    """Attributes are deleted when they are replaced, and with their mailer."""
    everywhere(case, "attributes", WORLDS[:2], of="caching")


def example(case, name):
    return case.build.folder / "examples" / "zipcode" / name


def case_grid(case):
    """examples/zipcode/grid: a host outside of a grid of six nodes, as two programs of one job."""
    case.margay("--check-accounting", example(case, "grid"), ":", "-n", "6", example(case, "grid"), ranks=1)
    expected = [f"({p}, {q}) of a grid of 2 x 3: from the left {p + 1}, sum of the row {3 * (p + 1)}, of the column 3"
                for p in (0, 1) for q in (0, 1, 2)]
    case.expect_lines([*expected, "2 subgrids of 1 x 3"])


# A job on two nodes begins with two processes: the host, and a node that takes no part.
TWO_NODES = ("--nodes", "2", "--places", "30")
FORMS = ({}, {"FORM": "global"}, {"FORM": "nohost"}, {"FORM": "nohost_global"})


def spawning(case, name, *options, status=0, env=None, right=True):
    """A host that starts nodes. Not under a sanitizer: the launcher's own library path applies to what a program starts."""
    if case.build.sanitizer:
        return
    case.margay(*options, program(case, "spawning"), name, ranks=2 if "--nodes" in options else 1, status=status, env={"NODE_PROGRAM": str(program(case, "spawned")), **(env or {})})
    if status == 0 and right:
        case.expect_lines([f"{name}: right"])


def case_spawn(case):
    """zip_spawn starts nodes, which exchange letters and open mailers with the host and with nodes of another zip_spawn, and
    start nodes themselves."""
    for name in ("letters", "worlds", "nested"):
        for options in (("--places", "30"), TWO_NODES):
            for env in FORMS:
                spawning(case, name, *(["--check-accounting"] if name != "nested" else []), *options, env=env)
    if not case.build.sanitizer:
        trace = case.folder / "trace"
        spawning(case, "letters", "--trace", trace, *TWO_NODES)
        case.command("trace", "check", trace)


def case_spawn_forms(case):
    """A started node that begins by another form than the host ends the job with a message that names both."""
    spawning(case, "letters", status="nonzero", env={"NODE_FORM": "global"})
    if not case.build.sanitizer:
        case.expect_said("calls Zip_global_init, but process 0 Zip_init; all processes call the same one")


def case_kill(case):
    """zip_kill ends all nodes or one; the job and its mailers go on, and it succeeds. Calls that need what was ended fail."""
    for name in ("kill_all", "kill_one", "kill_none", "kill_awaited", "kill_opening"):
        for options in ((), TWO_NODES):
            for env in FORMS:
                spawning(case, name, *options, env=env)


def case_kill_often(case):
    """Nodes are started and ended 50 times; their places are not used again, and the error of the next start says so."""
    spawning(case, "kill_often", "--places", "101")
    spawning(case, "kill_often", "--nodes", "2", "--places", "102")


def case_spawn_errors(case):
    """A missing program, lacking places, and programs that do not begin."""
    spawning(case, "missing", "--check-accounting")
    spawning(case, "places", "--check-accounting", "--places", "4")
    if case.build.sanitizer:
        return
    other = case.ours("own_messages.c")
    for options in ((), TWO_NODES):
        spawning(case, "without_init", *options, env={"OTHER_PROGRAM": str(other)})
    # A program without any MPI: one that ends, and one that goes on, which the report names.
    spawning(case, "letters", status="nonzero", env={"NODE_PROGRAM": "true"})
    case.expect_said("did not call MPI_Init")
    sleeper = case.folder / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 1000\n")
    sleeper.chmod(0o755)
    spawning(case, "letters", "--stall", "0.2", "--timeout", "3", status=124, env={"NODE_PROGRAM": str(sleeper)})
    case.expect_said("rank 0 in zip_spawn", "waits for rank 1", "rank 1 in the program")


def case_null_operations(case):
    """Where no process can be started, zip_spawn and zip_kill are null operations, and a cohort of too many is an error."""
    if case.build.sanitizer:
        return
    programs = (example(case, "host"), example(case, "node"), "4", "10")
    case.run(["mpiexec.hydra", "-n", "1", *programs, ":", "-n", "4", programs[1]], env=case.library_path)
    case.expect_lines(["4 nodes, 10 parts: pi is 3.141593"])
    case.run(["mpiexec.hydra", "-n", "1", *programs], env=case.library_path, status="nonzero")
    case.expect_said("a cohort of 4 processes, but the job has 0 nodes for it")
    case.command("simulate", "-n", "7", example(case, "grid"))
    case.expect("2 subgrids of 1 x 3" in case.last.stdout, "the simulated grid")


def case_host(case):
    """examples/zipcode/host starts its nodes, on one node and on two."""
    if case.build.sanitizer:
        return
    for options, others in (((), ()), (TWO_NODES, (":", "-n", "1", program(case, "spawning")))):
        case.margay("--check-accounting", *options, example(case, "host"), example(case, "node"), "4", "10", *others, ranks=1)
        case.expect_lines(["4 nodes, 10 parts: pi is 3.141593"])


def case_serving(case):
    """A process that computes serves others: the Postmaster General's openings, and long letters that it has sent."""
    for name in ("opening", "long_letter", "polled_letter"):
        for number, (ranks, options) in enumerate(((2, ()), (2, ("--nodes", "2")), (3, ()), (4, ("--nodes", "2")))):
            done = case.folder / f"{name}{number}"
            done.mkdir()
            everywhere(case, name, ((ranks, options),), env={"DONE": str(done)}, of="serving")


def case_figure_1(case):
    """examples/zipcode/figure_1: the envelope of each class."""
    case.margay(example(case, "figure_1"), ranks=1)
    text = case.last.stdout
    lengths = re.findall(r"^class (\w+) .*: an envelope of (\d+) bytes, a body of 4$", text, re.M)
    case.expect(lengths == [("Y", "16"), ("Z", "16"), ("L", "32"), ("G1", "16"), ("G2", "16"), ("G3", "32")], f"not {lengths}")
    boxes = re.findall(r"^  PO Box +(.*?) *$", text, re.M)
    case.expect(boxes[0] == "02 01" and boxes[2] == "00 00 00 00 21 00 00 00 01 00 01 00", f"the tags in {boxes}")
    case.expect(text.count("return postage    20 00") == 2, "the return postage equals the stamp")


def case_figure_5(case):
    """examples/zipcode/figure_5: on two nodes, two groups share memory and their union passes messages; on one, all share."""
    for options, last in ((("--nodes", "2"), "message passing"), ((), "shared memory")):
        case.margay("--check-accounting", *options, example(case, "figure_5"), ranks=4)
        methods = re.findall(r"^  (\w+) +by (.*)$", case.last.stdout, re.M)
        expected = [(name, group if name not in ("send", "receive") else "message passing") for group in ("shared memory", "shared memory", last)
                    for name in ("combine", "fanout", "fanin", "prefix", "sync", "send", "receive")]
        case.expect(methods == expected, f"not {methods}")
        case.expect("group 1 and group 2: 4 processes" in case.last.stdout, "the union's sum")


def case_isolation(case):
    """examples/zipcode/isolation: in one context a library's letters are mixed up with the program's, with its own mailer not."""
    case.margay(example(case, "isolation"), "one", status="nonzero")
    case.expect(case.last.stdout.count("and has the library's") == 2, "letters that were mixed up")
    case.margay("--check-accounting", example(case, "isolation"), "own")
    case.expect(case.last.stdout.count("and has the program's") == 2, "letters that were not mixed up")


def case_split_sum(case):
    """examples/zipcode/split_sum: two asynchronous sums of a library, while the program's own letters go round."""
    for ranks, options in SANITIZED if case.build.sanitizer else WORLDS:
        case.margay("--check-accounting", *options, example(case, "split_sum"), ranks=ranks)
        sums = f"{sum(range(ranks))}, that of their squares {sum(i * i for i in range(ranks))}"
        case.expect_lines([f"process {rank}: the sum of the ranks is {sums}" for rank in range(ranks)])


def case_errors(case):
    """Invalid arguments of each call are errors with a message, and a value of the call."""
    for name in ("group_errors", "mailer_errors", "letter_errors", "caching_errors", "operation_errors", "shared_errors", "twice"):
        everywhere(case, name, WORLDS[:3], of="errors")
    everywhere(case, "rectangle", ((4, ()),), of="errors")
    case.margay(program(case, "errors"), "before")
    case.expect_lines(["before: right", "before: right"])


def case_between(case):
    """Different arguments at different processes: the operation ends, or the job ends with a message."""
    case.margay(program(case, "errors"), "between", status="nonzero")
    case.expect_lines(["between: right"])
    case.expect_said("g1_grid_open: the address of an extent is NULL")


def case_exhausted(case):
    """All context_ids in use are an error; a closed mailer's are used again."""
    everywhere(case, "exhausted", ((1, ()), (2, ())), of="errors")
    case.margay("--check-accounting", program(case, "errors"), "subgrid_exhausted")
    case.expect_lines(["subgrid_exhausted: right"])


def case_forms(case):
    """Processes that begin by different forms of initialisation end with a message that names both."""
    case.margay(program(case, "errors"), "forms", status="nonzero")
    case.expect_said("process 1 calls Zip_global_init, but process 0 Zip_init; all processes call the same one")


def case_default_handler(case):
    """By default an error ends the job, with the call, the cause and the cure."""
    case.margay(program(case, "errors"), "default_handler", status=1)
    case.expect_said("zipcode: zip_free: the program has no letter at 0x")


def case_deadlock(case):
    """Receives of letters that nobody sends, and crossed openings, are deadlocks, which are proven."""
    for name in ("starve", "crossed"):
        case.margay("--deadlock", "abort", program(case, "errors"), name, status=73)
        waits = case.findings("waits", finding="deadlock")
        case.expect(len(waits) == 1, f"one deadlock is expected, not {waits}")


def case_stats(case):
    """`--stats` counts letters: those that are sent end, received or freed."""
    case.margay("--stats", program(case, "mailing"), "pending", "lengths", ranks=3)
    rows = counts(case)
    case.expect(rows["letters sent"] == rows["letters ended"], f"as many sent as ended in {rows}")
    case.expect(rows["letters ended"] == rows["letters received"] + rows["freed, not received"], f"the sum in {rows}")
    # In each of 200 rounds, three letters to each of three processes, of which each second round receives one.
    case.expect(rows["freed, not received"] == 200 * 9 - 100 * 3, f"unreceived letters in {rows}")
    case.expect(rows["longer than 16 KiB"] == 67 * 9 + 3 * 2 * 3, f"long letters in {rows}")
    case.expect(rows["mailers opened"] == rows["mailers closed"] == 3 * 201, f"mailers in {rows}")


def case_opening(case):
    """Figure 2, from the trace: a group to the Postmaster General, the token, a copy to each member, and the token back."""
    trace = case.traced(program(case, "mailing"), "ring", ranks=4)
    case.command("trace", "check", trace)
    events = case.events(trace, "library_event")
    by_kind = {}
    for event in events:
        by_kind.setdefault(event["event"], []).append(event)
    case.expect(len(by_kind[GROUP]) == 1 and len(by_kind[TOKEN]) == 1 and len(by_kind[RETURNED]) == 1, f"the Postmaster's steps in {by_kind}")
    receivers = [event["destination"] for event in by_kind[COPY]]
    case.expect(sorted(receivers) == [0, 1, 2, 3] and receivers[-1] == 0, f"a copy to each member, the Postmaster last, not {receivers}")
    case.expect(len(by_kind[HERE]) == 4, "all members are here")
    order = [event["event"] for event in events if event["event"] in (GROUP, TOKEN, COPY, RETURNED) and event["rank"] == 0]
    case.expect(order == [GROUP, TOKEN, COPY, COPY, COPY, COPY, RETURNED], f"the order of the steps, not {order}")
    printed = case.command("trace", "print", trace, "--kind", "library_event")
    case.expect("{" not in printed, "a field of a sentence was not replaced")


def case_walk(case):
    """A letter that is awaited meets the criteria of the receive, and another one passes it by: visible in its walk."""
    trace = case.traced(program(case, "mailing"), "ring", "class_l", "grids", "outside", ranks=4)
    text = case.command("trace", "print", trace, "--kind", "kernel_match")
    case.expect("a receive" in text, f"a letter that matches a receive in {text}")


# Fields of letters in the match bits, and the programs whose letters have them.
FIELDS = {"Y": ("tag",), "L": ("tag",), "Z": ("from_rank",), "G1": ("from_p",), "G2": ("from_p", "from_q"), "G3": ("from_p", "from_q", "from_r")}


def fields_of(row):
    return dict(field.split("=") for field in row["fields"].split("; ") if field)


def case_letters_in_trace(case):
    """The table of messages, the events and the page have the class and context_id of each letter, and the place of its sender."""
    trace = case.traced(program(case, "mailing"), "class_y", "class_l", "ring", "grids", "lengths", ranks=4)
    rows = [(row, fields_of(row)) for row in case.messages(trace) if row["portal"].startswith("portal 40 ")]
    case.expect({fields["class"] for _, fields in rows} == {*FIELDS, "Postmaster General", "Zipcode"}, "letters of each class")
    for row, fields in rows:
        own = fields["class"] in ("Postmaster General", "Zipcode")
        case.expect((fields["context_id"] == "0") == own, f"context_id 0 is Zipcode's, in {row}")
        case.expect(row["tag"] == fields.get("tag", ""), f"the tag of {row}")
        case.expect(own or all(key in fields for key in FIELDS[fields["class"]]), f"the fields of {row}")
    # The events of the library have the same context_ids and classes.
    numbers = {1: "Y", 2: "Z", 3: "L", 4: "G1", 5: "G2", 6: "G3"}
    posted = {identity(event): (event["a"], numbers[event["b"]]) for event in case.events(trace, "library_event") if event["event"] == POSTS and event["a"] != 0}
    named = {tuple(int(row[key]) for key in ("source", "destination", "sequence")): (int(fields["context_id"]), fields["class"]) for row, fields in rows}
    case.expect(all(named.get(letter) == facts for letter, facts in posted.items()), "the events' contexts and classes")
    sent = [event for event in case.events(trace, "kernel_send") if event.get("portal") == 40]
    case.expect({event["fields"]["class"] for event in sent} == {fields["class"] for _, fields in rows}, "the events' fields")
    case.expect({event["fields"]["kind"] for event in sent if "kind" in event["fields"]} == {"a letter", "the notice of a long letter"}, "long letters")
    page = case.folder / "page.html"
    case.command("trace", "view", trace, "--output", page)


def case_places_in_trace(case):
    """The letters of a grid have the coordinates of their senders, and those of the Postmaster outside say so."""
    trace = case.traced(example(case, "grid"), ":", "-n", "6", example(case, "grid"), ranks=1)
    rows = [(row, fields_of(row)) for row in case.messages(trace) if "class=G2;" in row["fields"]]
    places = {(fields["from_p"], fields["from_q"]) for row, fields in rows if row["source"] != "0"}
    case.expect(places == {(str(p), str(q)) for p in range(2) for q in range(3)}, f"each place of a grid of 2 x 3, not {places}")
    for row, fields in rows:
        rank = int(row["source"])
        is_right = fields.get("from") == "Postmaster" if rank == 0 else int(fields["from_p"]) * 3 + int(fields["from_q"]) == rank - 1
        case.expect(is_right, f"the sender of {row}")


def case_seeds(case):
    """Overlapping groups whose mailers open at once: right with every seed; without the token some seed is a deadlock."""
    seeds = 50 if case.build.sanitizer else 1000
    case.run([program(case, "seeds"), "1", str(seeds)])
    if case.build.sanitizer:
        return
    case.run([program(case, "seeds"), "1", "300"], status=1, env={"MARGAY_ZIPCODE_TOKEN": "off"})
    case.expect("all ranks wait, and nothing is under way" in case.last.stdout, "a deadlock without the token")


def case_context_cost(case):
    """The table of instructions has a row for each way, and counts at both ends; their sizes belong to a compiler."""
    if case.build.sanitizer:
        raise Skipped("callgrind runs no program with a sanitizer")
    script = pathlib.Path(__file__).resolve().parents[3] / "examples" / "zipcode" / "context_cost.py"
    case.timeout = 500  # twelve processes under valgrind
    case.run([sys.executable, "-B", script, "--build", case.build.folder], status=None)
    if case.last.status == SKIPPED_STATUS:
        raise Skipped("valgrind is not installed")
    case.expect(case.last.status == 0, f"the table, not {case.last.stderr}")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in case.last.stdout.splitlines()]
    case.expect(rows[0] == ["a message of 8 bytes", "sender", "receiver", "together"], f"the heading, not {rows[0]}")
    ways = ["put on a portal", "MPI_Send, MPI_Irecv before it", "MPI_Send, MPI_Recv after it", "letter of class Y", "letter of class Z", "letter of class L"]
    case.expect([row[0] for row in rows[2:]] == ways, f"a row for each way in {rows}")
    for way, sender, receiver, together in rows[2:]:
        case.expect(int(sender) > 0 and int(receiver) > 0, f"instructions at both ends: {way} {sender} {receiver}")
        case.expect(int(together) == int(sender) + int(receiver), f"{way}: {sender} and {receiver} are not {together}")
    without_file = case.run([case.build.launcher()[0], "run", "-n", "2", case.build.folder / "examples/zipcode/cost/letters", "/nowhere", "Z"], status=None)
    case.expect("/nowhere: No such file or directory" in without_file.stderr, f"a missing file is named in {without_file.stderr}")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
