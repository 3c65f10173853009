"""Cases of the polling of wires: option, environment, MPI_T, calls, statistics, live views, trace, `margay info`."""
import re

from launch_cases.live import Job, eventually, expect

NODES = ("--nodes", "2")


def run_part(case, part, *options, ranks=4, **keywords):
    case.margay(*options, case.ours("polling.c"), part, ranks=ranks, **keywords)
    if not keywords.get("status"):
        case.expect_lines(f"rank {rank}: {part}" for rank in range(ranks))


def polling_rows(text):
    """The table of `--stats`: by wire, its polls and hits."""
    rows = re.findall(r"^    (shm|tcp) +(\d+) +(\d+) +[\d.]+$", text, re.M)
    return {wire: (int(polls), int(hits)) for wire, polls, hits in rows}


def case_polling_calls(case):
    """Intervals, selective polling and counts by the calls of margay/polling.h; invalid arguments are errors."""
    for backend in ("epoll", "auto"):
        for part in ("selective", "off_at_end", "interval"):
            run_part(case, part, *NODES, "--wire-tcp", backend)
    # A rank alone on its node has the wire shm for processes that start later, unless there are no places for them.
    for ranks, places in ((1, ("--places", "1")), (2, ())):
        run_part(case, "arguments", *places, ranks=ranks)


def case_polling_option(case):
    """`--skip-poll` and MARGAY_SKIP_POLL set intervals for a run; messages arrive with each; invalid ones end the run at its begin."""
    for setting in ("tcp=1", "tcp=20,shm=3", "tcp=adaptive,shm=adaptive", "shm=100", "tcp=block"):
        run_part(case, "traffic", *NODES, "--wire-tcp", "epoll", "--skip-poll", setting)
        run_part(case, "traffic", *NODES, "--wire-tcp", "epoll", env={"MARGAY_SKIP_POLL": setting})
    run_part(case, "traffic", "--skip-poll", "tcp=7", ranks=2)  # one node: there is no tcp
    for setting in ("tcp=0", "tcp", "tcp=often", "20"):
        case.margay(*NODES, "--skip-poll", setting, case.ours("polling.c"), "traffic", status=2)
        case.expect_said("MARGAY_SKIP_POLL")
    case.margay(*NODES, "--skip-poll", "tpc=3", case.ours("polling.c"), "traffic", status="nonzero")
    case.expect_said("tpc", "tcp")
    case.margay(*NODES, "--skip-poll", "shm=block", case.ours("polling.c"), "traffic", ranks=4, status="nonzero")
    case.expect_said("shm")


def case_polling_tool(case):
    """The control variable skip_poll of MPI_T is read and written; invalid values are errors and change nothing."""
    run_part(case, "tool", *NODES)


def case_polling_stats(case):
    """`--stats` prints polls and hits of each wire; a longer interval has fewer polls."""
    case.margay(*NODES, "--stats", case.ours("polling.c"), "traffic", ranks=4)
    rows = polling_rows(case.last.stderr)
    case.expect(rows.keys() == {"shm", "tcp"}, f"a row for each wire: {rows}")
    case.expect(all(polls >= hits > 0 for polls, hits in rows.values()), f"hits among polls: {rows}")
    case.margay("--stats", case.ours("polling.c"), "traffic", ranks=2)
    case.expect(polling_rows(case.last.stderr).keys() == {"shm"}, "one node polls shared memory only")


def case_polling_info(case):
    """`margay info` measures a poll of each wire."""
    printed = case.command("info")
    for wire in ("shm", "tcp"):
        case.expect(re.search(rf"^  {wire} +\d+ ns ", printed, re.M), f"the cost of a poll of {wire}")
    case.expect("tcp" in case.command("info", env={"MARGAY_SKIP_POLL": "tcp=20"}), "the option's value")


def case_polling_trace(case):
    """Each change of an interval is an event of the trace, with the wire and both intervals."""
    trace = case.traced(*NODES, case.ours("polling.c"), "interval", ranks=4)
    case.command("trace", "check", trace)
    events = [event for event in case.events(trace, "poll_interval_changed") if event["wire"] == "tcp"]
    set_by_call = [event for event in events if event["rounds"] == 1000]
    case.expect(sorted(event["rank"] for event in set_by_call) == [0, 1, 2, 3], f"one event for each rank: {events}")
    case.expect(all(event["polling"] == "fixed" for event in set_by_call), "a fixed interval")
    printed = case.command("trace", "print", trace, "--kind", "poll_interval_changed")
    case.expect("tcp" in printed and "1000" in printed, "the sentence names wire and interval")


def case_polling_stuck(case):
    """A wait with a wire switched off is a stall, and no proof of a deadlock; the report and `margay top` name the wire."""
    program = case.ours("polling.c")
    with Job(case, program, "stuck", ranks=4, options=(*NODES, "--stall", "1", "--deadlock", "abort")) as job:
        text = job.read_until(job.process.stderr, "does not poll tcp")
        expect(case, "deadlock:" not in text, f"no proof of a deadlock: {text}")
        eventually(case, lambda: case.command("top", "--once", "--interval", "0.05", job.name),
                   lambda table: re.search(r"^rank 0, polling: .*tcp .* off", table, re.M), "top shows the wire")
