"""Deadlock of blocking sends, its wait cycle, and two cures."""

from frame.blanks import Truth
from frame.run import DEADLOCK
from frame.say import open_request

TITLE = "Deadlock: sends that wait for one another, and two cures"
MINUTES = 20
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
RANKS, OPTIONS = "{ranks}", ("--deadlock", "abort")
SHORT_LIMIT = 16384
TAG, ORDER_TAG, FREE_TAG = 7, 8, 9
ORDERED = {"MPI_Send", "MPI_Recv"}
BLOCKING_SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Rsend"}


def variant(random):
    ranks = random.randrange(5, 8)
    order = random.sample(range(ranks), ranks)
    first = random.randrange(2, ranks - 1)
    cycles = [order[:first], order[first:]]
    to, sender, long = [0] * ranks, [0] * ranks, random.randrange(2)
    lengths = [0] * ranks
    for number, cycle in enumerate(cycles):
        for at, rank in enumerate(cycle):
            to[rank] = cycle[(at + 1) % len(cycle)]
            sender[to[rank]] = rank
            lengths[rank] = random.randrange(SHORT_LIMIT + 1, 50000) if number == long else random.randrange(1, SHORT_LIMIT + 1)
    # One long message in the circle of short ones: one send waits, and it does not close a circle.
    lengths[cycles[1 - long][0]] = SHORT_LIMIT + random.randrange(1, 1000)
    rows = [f"    {rank:>4}   {to[rank]:>7}   {lengths[rank]:>6}   {sender[rank]:>13}" for rank in range(ranks)]
    return {"ranks": ranks, "to": to, "from": sender, "lengths": lengths, "long_bytes": max(lengths) + random.randrange(1, 1000),
            "page_table": "\n".join(rows)}


def blocked(trace):
    """Rank -> the rank that its MPI_Send never came out of waits for."""
    return {enter.rank: next(m.destination for m in trace.puts(source=enter.rank, portal=0, tag=TAG))
            for enter, leave in trace.calls("MPI_Send") if leave is None}


def circle(waits):
    """The circle among rank -> rank, from its lowest rank on."""
    for start in sorted(waits):
        path = [start]
        while waits.get(path[-1]) is not None and waits[path[-1]] not in path:
            path.append(waits[path[-1]])
        if waits.get(path[-1]) == start:
            return path
    return []


def check_cures(work, done):
    found, trace, ranks = work.findings, done.trace, work.variant["ranks"]
    for tag, part in ((ORDER_TAG, 2), (FREE_TAG, 3)):
        sent = [m for m in trace.puts(portal=0, tag=tag) if m.has("receive_complete")]
        pairs = sorted((m.source, m.destination) for m in sent)
        found.unless(pairs == sorted(enumerate(work.variant["to"])), f"part {part}: each rank is to send one message with tag {tag} to its "
                     f"right rank; {len(pairs)} of {ranks} arrived")
        found.unless(all(m.bytes == work.variant["long_bytes"] for m in sent), "all messages of parts 2 and 3 are to have "
                     f"kLongBytes bytes, {work.variant['long_bytes']}")
    barriers = {enter.rank: enter.time for enter, _ in trace.calls("MPI_Barrier")}
    calls = {2: set(), 3: set()}
    for enter, _ in trace.calls():
        calls[2 if enter.time < barriers[enter.rank] else 3].add(enter.call)
    others = sorted(calls[2] - ORDERED - {"MPI_Comm_rank"})
    found.unless(not others, f"BLANK 1: part 2 is to use MPI_Send and MPI_Recv alone; the trace has {', '.join(others)}")
    found.unless(not calls[3] & BLOCKING_SENDS, "BLANK 2: part 3 still depends on an order: it uses "
                 f"{', '.join(sorted(calls[3] & BLOCKING_SENDS))}, which waits for its receive if the message is long")


def stuck_blank(trace):
    """Which blank a run of parts 2 and 3 hangs in: part 3 comes behind the barrier."""
    behind = {leave.rank for _, leave in trace.calls("MPI_Barrier") if leave}
    waiting = {enter.rank for enter, leave in trace.calls() if leave is None and enter.call not in ("MPI_Barrier", "MPI_Finalize")}
    return "BLANK 2: part 3" if waiting and waiting <= behind else "BLANK 1: part 2"


def check(work):
    found = work.findings
    done = work.run(None, "--leaks")
    if done.status == 0:
        work.judged((check_cures, work, done))
        for rank, call in done.never_completed(FREE_TAG)[:1] if not found else []:
            found.say(open_request(2, rank, call))
    else:
        found.say(f"{stuck_blank(done.trace)} gets stuck: {done.trouble}" if done.status == DEADLOCK else done.trouble)
    part_1 = work.run(arguments=("stuck",), trace="trace_stuck")
    if found.unless(part_1.status != 0, "part 1 did not get stuck: it is to stay as it was handed out"):
        work.judged((predictions, work, part_1.trace))
    return found


def predictions(work, trace):
    waits = blocked(trace)
    report = "Run `margay lab run -- stuck`, and read the report: who waits for whom? Or see `margay trace messages trace_stuck`."
    sends = trace.calls("MPI_Send")
    work.predicted({
        "cycle": Truth(circle(waits), report, "each waits in MPI_Send until the next one posts its receive, which comes after its own send"),
        "returned": Truth(sorted(enter.rank for enter, leave in sends if leave), report,
                          "short messages are done when they are sent; a long one is when its receiver gets to its receive, which one whose "
                          "own send returned does"),
        "never_received": Truth(sum(1 for m in trace.puts(portal=0, tag=TAG) if not m.has("receive_complete")),
                                "See `margay trace messages trace_stuck --never-received`.", "those of the circle"),
    })
