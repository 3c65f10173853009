#!/usr/bin/env python3
"""Tests of RMI between nodes, over every wire, with the accounting of messages.

    tests/libraries/rmi/rmi.py --build build/release            every case
    tests/libraries/rmi/rmi.py --build build/release chains     one
    tests/libraries/rmi/rmi.py --list
"""
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "mpi"))

from launch_case import cases_of, run_cases  # noqa: E402
from launch_cases import live  # noqa: E402

# Processes and options: alone, shared memory, TCP, both, more nodes than processors; threads of one process, of two
# processes, and of two processes on two nodes (mixed mode).
WORLDS = ((1, ()), (2, ()), (2, ("--nodes", "2")), (4, ("--nodes", "2")), (8, ()), (1, ("--threads", "3")),
          (2, ("--threads", "2")), (2, ("--nodes", "2", "--threads", "2")))

# The numbers of RMI's events (libraries/rmi/library.hpp): a buffer is sent, by its cause; it is executed; a wave ends; a
# result is asked for.
BY_FACTOR, BY_SYNC, BY_FENCE, EXECUTES, ENDS_WAVE, ASKS = 1, 2, 3, 6, 7, 8
# The portal of fences, and the kind of their messages, the uppermost four of the match bits.
CONTROL_PORTAL, WAVE = 50, 5
# Under a sanitizer, where all takes longer: both wires, and threads.
SANITIZED = ((2, ("--nodes", "2", "--threads", "2")),)


def worlds_of(case, worlds=WORLDS, sanitized=SANITIZED):
    return sanitized if case.build.sanitizer else worlds


def program(case, name):
    return case.build.folder / "tests" / "libraries" / f"rmi_{name}"


# The ways to schedule requests, and the worlds of those that are not the default.
SCHEDULERS = ("polling", "interrupt", "blocking", "nonblocking")
BESIDE = (WORLDS[0], WORLDS[1], WORLDS[3], WORLDS[6])
# For groups: 1 to 8 nodes, threads, and nodes that TCP connects.
GROUP_WORLDS = tuple((ranks, ()) for ranks in range(1, 9)) + (WORLDS[3],) + WORLDS[5:]


def everywhere(case, name, worlds=WORLDS, env=None, file="calls", sanitized=SANITIZED):
    for scheduler in SCHEDULERS:
        chosen = worlds if scheduler == "polling" else [world for world in worlds if world in BESIDE]
        for ranks, options in worlds_of(case, chosen, sanitized):
            case.margay("--check-accounting", *options, program(case, file), name, ranks=ranks,
                        env={"MARGAY_RMI_SCHEDULER": scheduler, **(env or {})})
            case.expect_lines([f"{name}: right"])


def case_statements(case):
    """Asynchronous requests arrive once, in the order of their sender, before the fence ends."""
    everywhere(case, "statements")


def case_questions(case):
    """Results of synchronous calls, which see the effects of asynchronous ones before them; all nodes call all nodes concurrently."""
    everywhere(case, "questions")


def case_handles(case):
    """Nonblocking synchronous calls: tested, awaited, discarded."""
    everywhere(case, "handles")


def case_coroutines(case):
    """Coroutines that wait for results are resumed by calls of RMI, and fences wait for them."""
    everywhere(case, "coroutines")


def case_long(case):
    """Requests and results of up to 4 MB."""
    everywhere(case, "long")


def case_chains(case):
    """Methods that send on, in chains and in trees of requests, are all executed when the fence ends, with each tree."""
    everywhere(case, "chains")


def case_collections(case):
    """Parts are combined in the order of nodes; a method that throws fails on all nodes."""
    everywhere(case, "collections")


def case_broadcasts(case):
    """Broadcasts from all nodes at once are executed once on each node."""
    everywhere(case, "broadcasts")
    everywhere(case, "broadcasts_to_removed", WORLDS[1:5])
    # The fourth node would get them from an inner node, which must not wait for it and may fill its queue.
    worlds = (*WORLDS[1:3], (3, ()))
    everywhere(case, "stream_of_broadcasts", worlds, {"MARGAY_RMI_QUEUE": "1000000"}, "traffic", worlds[-1:])


def case_monitors(case):
    """Methods of one object never overlap, although methods wait for other objects."""
    everywhere(case, "monitors")


def case_nested(case):
    """Calls that wait inside one another: as many as results may be awaited, with requests that fill a buffer."""
    everywhere(case, "nested", WORLDS[:3], file="traffic")


def case_failures(case):
    """Exceptions of methods: at the caller of a synchronous call, and at the next fence of an asynchronous one's."""
    everywhere(case, "failures")
    case.margay("--stats", program(case, "calls"), "failures", ranks=2)
    counted = re.search(r"^ +failed methods +(\d+)$", case.last.stderr, re.M)
    case.expect(counted is not None and int(counted[1]) > 0, "--stats counts failed methods")


def case_misuse(case):
    """Invalid nodes and objects, and calls that a method may not make, are errors before anything is sent."""
    everywhere(case, "misuse")


def case_waits(case):
    """rmi_wait() and rmi_poll()."""
    everywhere(case, "waits", file="traffic")


def case_floods(case):
    """All nodes, and methods, send more than their receivers take."""
    everywhere(case, "floods", file="traffic")


def case_factors(case):
    """Aggregation factors of 1 to a million; buffers of the least size."""
    everywhere(case, "factors")
    everywhere(case, "statements", WORLDS[1:3], env={"MARGAY_RMI_BUFFER": "256", "MARGAY_RMI_FACTOR": "3"})
    everywhere(case, "long", WORLDS[1:3], env={"MARGAY_RMI_BUFFER": "256"})


def case_queue(case):
    """A method that sends more than MARGAY_RMI_QUEUE gets an error; what it has sent is executed."""
    everywhere(case, "queue", WORLDS[1:3], env={"MARGAY_RMI_QUEUE": "1000000"}, file="traffic")


def case_settings(case):
    """Invalid settings are errors at the start."""
    for name, value in (("BUFFER", "17"), ("FACTOR", "0"), ("QUEUE", "x"), ("FENCE", "oak"), ("FENCE_RULE", "oak"),
                        ("SCHEDULER", "x")):
        case.margay(program(case, "calls"), ranks=1, status="nonzero", env={f"MARGAY_RMI_{name}": value})
        case.expect(f"MARGAY_RMI_{name}={value} is invalid" in case.last.stderr, f"no message about {name}")


def case_trees(case):
    """Each tree by the environment, and several cases one after the other in one job."""
    for tree in ("flat", "binary", "hypercube", "exchange"):
        case.margay("--check-accounting", program(case, "calls"), "statements", "chains", "questions", ranks=5,
                    env={"MARGAY_RMI_FENCE": tree})
        case.expect_lines(["statements: right", "chains: right", "questions: right"])


def case_groups(case):
    """Groups by lists and colors, that overlap and nest; their broadcasts, collections and fences; their errors."""
    for name in ("creation", "overlap", "fences", "errors"):
        everywhere(case, name, GROUP_WORLDS, file="groups")


def thread_fences(case, threads, scheduler):
    names = ("statements", "chains", "questions", "thread_chains", "coroutines", "failures")
    for tree in ("central", "mcs"):
        case.margay("--check-accounting", "--threads", threads, program(case, "calls"), *names, ranks=1,
                    env={"MARGAY_RMI_FENCE": tree, "MARGAY_RMI_SCHEDULER": scheduler})
        case.expect_lines([f"{name}: right" for name in names])


def case_thread_fences(case):
    """The fences of threads: by the environment and in turn, with nested requests, for up to 8 threads of one process."""
    for threads in ("1", "2", "3", "4", "8"):
        thread_fences(case, threads, SCHEDULERS[0])


def case_thread_fences_beside(case):
    """The same where each node has a communication thread, too."""
    for scheduler in SCHEDULERS[1:]:
        thread_fences(case, "3", scheduler)


def case_no_thread_fences(case):
    """Nodes of several processes have no fences of threads: an error at the start, and in a call."""
    for ranks, options in ((2, ()), (2, ("--nodes", "2")), (2, ("--threads", "2"))):
        case.margay(*options, program(case, "calls"), "no_thread_fence", ranks=ranks)
        case.expect_lines(["no_thread_fence: right"])
        for tree in ("central", "mcs"):
            case.margay(*options, program(case, "calls"), ranks=ranks, status="nonzero", env={"MARGAY_RMI_FENCE": tree})
            case.expect("need all nodes to be threads of one process" in case.last.stderr, "no message about threads")


def seeds(case, last, *tree, **keywords):
    """The reasons of the seeds that failed, by the seed. `tree`: of all fences; none: each draws its own."""
    case.run([program(case, "seeds"), "1", str(last), *tree], **keywords)
    return dict(re.findall(r"^seed (\d+): (.*)$", case.last.stdout, re.M))


def case_seeds(case):
    """Random requests on the virtual machine: a fence ends when all of them have been executed, once and in order."""
    seeds(case, 100 if case.build.sanitizer or os.environ.get("QUICK_TESTS") else 1000)


def case_rule(case):
    """The paper's rule for the end of a fence ends some too early."""
    for tree in ("exchange", "flat", "central", "mcs"):
        failed = seeds(case, 100, tree, status=1, env={"MARGAY_RMI_FENCE_RULE": "paper"})
        case.expect(any(reason.startswith("fence ") for reason in failed.values()), f"{tree}: no fence ends too early: {failed}")


def counts(case, name, *options, file="traffic", env=None):
    """RMI's counters of a case on two nodes, as `--stats` prints them."""
    case.margay("--stats", *options, program(case, file), name, env=env)
    return {words: int(count) for words, count in re.findall(r"^ +([a-z ]+?) +(\d+)$", case.last.stderr, re.M)}


def case_poll_rate(case):
    """Each n-th asynchronous call polls, and broadcasts and nonblocking questions are such calls."""
    for name, polls in (("poll_rate", 100), ("poll_rate_nonblocking", 50), ("poll_rate_broadcast", 50)):
        rows = counts(case, name)
        case.expect(rows.get("sent by a poll") == polls, f"{name}: expected {polls} buffers that a poll sends, not {rows}")


def case_aggregation(case):
    """A buffer is sent at its factor, by destination and environment, and when it is full: of 1000 requests."""
    for name, options, env, row, expected in (
            ("aggregation", (), {}, "sent by the factor", 7),
            ("aggregation", ("--nodes", "2"), {}, "sent by the factor", 1),
            ("aggregation", (), {"MARGAY_RMI_FACTOR": "100"}, "sent by the factor", 10),
            ("own_factor", (), {"MARGAY_RMI_FACTOR": "100"}, "sent by the factor", 20),
            ("aggregation", (), {"MARGAY_RMI_FACTOR": "1000000"}, "sent full", 1),
            ("aggregation", (), {"MARGAY_RMI_FACTOR": "1000000", "MARGAY_RMI_BUFFER": "256"}, "sent full", 124)):
        rows = counts(case, name, *options, env=env)
        case.expect(rows.get(row) == expected, f"{options} {env}: expected {row} {expected}, not {rows}")


def case_credits(case):
    """Two buffers leave for a node that makes no call; the others queue at their sender."""
    trace = case.traced("--threads", "2", program(case, "traffic"), "credits", ranks=1)
    events = case.events(trace, "library_event")
    executed = [event["time_ns"] for event in events if event["event"] == EXECUTES and event["rank"] == 1]
    sent = [event["time_ns"] for event in events if event["event"] == BY_FACTOR and event["rank"] == 0]
    case.expect(len(sent) == 20 and sum(time < min(executed) for time in sent) == 2,
                f"two of 20 buffers leave before {executed}: {sent}")


def waves(case, tree, *options, ranks):
    """The pairs of nodes between which messages of fences pass."""
    trace = case.traced(*options, program(case, "traffic"), "fences", ranks=ranks, env={"MARGAY_RMI_FENCE": tree})
    arrived = [event for event in case.events(trace, "kernel_arrive") if event["portal"] == CONTROL_PORTAL]
    case.expect(arrived, "the start of RMI uses the portal")
    return {tuple(sorted((event["source"], event["destination"]))) for event in arrived if int(event["match_bits"], 16) >> 60 == WAVE}


def case_fences(case):
    """Fences of threads send no message; the others along the edges of their tree."""
    for tree in ("central", "mcs"):
        case.expect(not waves(case, tree, "--threads", "4", ranks=1), f"a fence {tree} sends messages")
    for tree, edges in (("flat", {(0, 1), (0, 2), (0, 3)}), ("binary", {(0, 1), (0, 2), (1, 3)}),
                        ("hypercube", {(0, 1), (0, 2), (2, 3)}), ("exchange", {(0, 1), (0, 2), (1, 3), (2, 3)})):
        pairs = waves(case, tree, ranks=4)
        case.expect(pairs == edges, f"a fence {tree} sends between {pairs}, not {edges}")


def case_plain_wait(case):
    """rmi_wait() ends with the next request."""
    for options in ((), ("--nodes", "2"), ("--threads", "2")):
        case.margay("--check-accounting", *options, program(case, "traffic"), "plain_wait", ranks=1 if "--threads" in options else 2)
        case.expect_lines(["plain_wait: right"])


def case_stats(case):
    """`--stats` counts requests, in each buffer too, why buffers were sent, and the waves of fences."""
    rows = counts(case, "statements", file="calls")
    case.expect(rows.get("requests sent") == rows.get("requests executed") == 4 * 5101, f"unexpected requests in {rows}")
    reasons = [count for name, count in rows.items() if name.startswith("sent ")]
    case.expect(len(reasons) == 6 and rows.get("buffers sent") == sum(reasons), f"each buffer has one reason in {rows}")
    case.expect(rows.get("fence waves", 0) >= 5, f"unexpected waves in {rows}")
    quotient = re.search(r"^ +requests sent / buffers sent +([\d.]+)$", case.last.stderr, re.M)
    case.expect(quotient and abs(float(quotient[1]) - rows["requests sent"] / rows["buffers sent"]) <= 0.05,
                f"unexpected requests in a buffer in {rows}")


def case_trace(case):
    """A trace has RMI's events with its sentences, and is whole."""
    trace = case.traced(program(case, "calls"), "statements", "questions", ranks=2)
    case.command("trace", "check", trace)
    events = case.events(trace, "library_event")
    # Each execution of another node's buffer, and each buffer's flush, is an event of that buffer's message.
    sent, executed = ({(event["source"], event["destination"], event["sequence"]) for event in events
                       if event["event"] in numbers and event["sequence"] != 0} for numbers in (range(6), (6,)))
    case.expect(executed and executed <= sent, f"executed {executed} of {sent}")
    seen = {event["event"] for event in events}
    expected = {BY_FACTOR, BY_SYNC, BY_FENCE, EXECUTES, ENDS_WAVE, ASKS}
    case.expect(expected <= seen, f"expected events of the numbers {expected}, not {seen}")
    case.expect(128 in {event["a"] for event in events if event["event"] == BY_FACTOR}, "a buffer has as many requests as the factor")
    case.expect((1, 0, 0) in {(event["detail"], event["a"], event["b"]) for event in events if event["event"] == ENDS_WAVE},
                "a fence ends in its first wave, without a request")
    printed = case.command("trace", "print", trace, "--kind", "library_event")
    case.expect("{" not in printed, "a field of a sentence was not replaced")
    # Methods wait inside one another: a buffer whose requests have all begun is not executed again.
    events = case.events(case.traced(program(case, "calls"), "monitors", ranks=2), "library_event")
    case.expect(all(event["a"] for event in events if event["event"] == EXECUTES), "each execution has a request")


def case_story(case):
    """The story of a buffer has RMI's events about it, and the page has a table of them."""
    trace = case.traced(program(case, "calls"), "statements", ranks=2)
    events = case.events(trace, "library_event")
    sent = next(event for event in events if event["event"] == BY_FACTOR and event["rank"] == 0)
    story = case.command("trace", "story", trace, f"0:1:{sent['sequence']}")
    for event in (sent, next(event for event in events if event["event"] == EXECUTES and event["sequence"] == sent["sequence"]
                             and event["source"] == 0)):
        case.expect(len(re.findall(rf"rmi: .*\b{event['a']} requests (in|of) buffer {event['b']}\b", story)) == 2,
                    f"the sender's and the receiver's event in {story}")
    page = case.folder / "page.html"
    case.command("trace", "view", trace, "--output", page)
    head = json.loads(re.search(r'id="margay-head">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1])
    case.expect(head["tables"]["library_events"]["rows"] == len(events), "the page has a row for each event")


def case_top(case):
    """`margay top` shows the call of a node, and the node for which it waits."""
    with live.Job(case, program(case, "calls"), "cycle") as job:
        job.read_until(job.process.stderr, "margay: deadlock:")
        live.eventually(case, lambda: case.command("top", "--once", "--interval", "0.05", job.name),
                        re.compile(r"^ +0 .* sync_rmi +rank 1 ", re.M).search, "node 0 waits in sync_rmi for node 1")


def case_programs(case):
    """Different programs in one job are an error at the start that names both."""
    case.margay(program(case, "calls"), "statements", ":", "-n", "1", case.build.folder / "examples" / "rmi" / "sample_sort", ranks=1,
                status="nonzero")
    case.expect("rmi_calls" in case.last.stderr and "examples/rmi/sample_sort" in case.last.stderr,
                "the message names both programs")


def case_held(case):
    """While the program holds an rmi_monitor, no method of the object runs."""
    everywhere(case, "held", file="schedulers")


def case_computing(case):
    """A node that computes answers with a communication thread, and does not with explicit polling."""
    everywhere(case, "computing", ((2, ()), (2, ("--nodes", "2")), (3, ()), (2, ("--threads", "2"))),
               file="schedulers")
    case.margay("--check-accounting", program(case, "schedulers"), "--nonblocking", "computing", ranks=2,
                env={"MARGAY_RMI_SCHEDULER": "polling"})
    case.expect_lines(["computing: right"])


def case_asleep(case):
    """A request that MPI's progress finds while a method is in execution is executed after the method."""
    for options in ((), ("--nodes", "2")):
        case.margay("--check-accounting", *options, program(case, "beside_mpi"), "asleep", env={"MARGAY_RMI_SCHEDULER": "polling"})
        case.expect_lines(["asleep: right"])


def case_slow(case):
    """Nodes whose programs wait for a method in execution are not deadlocked."""
    for scheduler in SCHEDULERS:
        case.margay("--deadlock", "abort", program(case, "schedulers"), "slow", env={"MARGAY_RMI_SCHEDULER": scheduler})
        case.expect_lines(["slow: right"])


def case_held_handles(case):
    """stop() fails while handles of calls exist; the program may then end them, and stop."""
    everywhere(case, "held_handles", file="schedulers")


def case_removed(case):
    """A request to an object that its node has removed fails with an error that names object and method."""
    everywhere(case, "removed", WORLDS[1:3], file="schedulers")
    everywhere(case, "removed_by_method", WORLDS[:3], file="schedulers")


def case_without_memory(case):
    """A start() that cannot create its communication thread fails, and the next one succeeds."""
    case.margay("--check-accounting", program(case, "schedulers"), "--without-memory", "held", ranks=1)
    case.expect_lines(["held: right"])


def case_cycle(case):
    """Two objects that wait for each other are a deadlock, which is proven."""
    case.margay("--deadlock", "abort", program(case, "calls"), "cycle", status=73)
    waits = case.findings("waits", finding="deadlock")
    case.expect(len(waits) == 1, f"one deadlock is expected, not {waits}")


# Processes, options, and the trees by which the nodes make one fence. A message shows the mistake; of the last rows none
# does, because each node waits for another one to send, or nodes arrive in memory.
DIFFERENT_TREES = ((2, (), "flat exchange"), (4, (), "binary binary binary hypercube"), (5, (), "flat flat flat binary flat"),
                   (2, ("--nodes", "2"), "exchange binary"), (1, ("--threads", "2"), "exchange central"),
                   (1, ("--threads", "3"), "mcs flat mcs"))
SILENT_TREES = (("2", "central mcs"), ("3", "exchange central central"))


def case_different_trees(case):
    """One fence by different trees: an error, whichever node arrives last; without a message a deadlock that names the trees."""
    for ranks, options, trees in DIFFERENT_TREES:
        names = trees.split()
        for late in range(-1, len(names)):
            case.margay(*options, program(case, "mistakes"), "trees", late, *names, ranks=ranks, status="nonzero")
            found = re.search(r"node (\d+) makes fence \d+ by the tree (\w+), and node (\d+) by (\w+)", case.last.stderr)
            case.expect(found and found[2] == names[int(found[1])] != names[int(found[3])] == found[4],
                        f"expected two nodes and their trees of {names}")
    for threads, trees in SILENT_TREES:
        names = trees.split()
        case.margay("--threads", threads, "--deadlock", "abort", program(case, "mistakes"), "trees", -1, *names, ranks=1, status=73)
        case.expect_said(*(f"rmi_fence({name})" for name in names))


def case_exits(case):
    """exit() without stop() ends the job, whichever thread calls it, and with its status unless a method is in execution."""
    for scheduler in SCHEDULERS:
        for name, status in (("exit", 5), ("exit_in_method", 5), ("exit_beside_method", 1)):
            if name == "exit_beside_method" and scheduler == "polling":
                continue
            for ranks, options in ((2, ()), (1, ("--threads", "2"))):
                case.margay(*options, program(case, "mistakes"), name, ranks=ranks, status=status,
                            env={"MARGAY_RMI_SCHEDULER": scheduler})


def case_forked(case):
    """A child of fork() exits as any process does."""
    everywhere(case, "forked", WORLDS[1:2], file="schedulers")


def case_lost(case):
    """The death of a node ends the job, and the report names it."""
    for scheduler in SCHEDULERS:
        case.margay(program(case, "calls"), "lost", ranks=3, status="nonzero", env={"MARGAY_RMI_SCHEDULER": scheduler})
        case.expect("rank-died" in case.ids(), f"{scheduler}: unexpected {case.ids()}")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
