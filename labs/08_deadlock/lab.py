"""Deadlock of blocking sends, its wait cycle, and two fixes."""

import os
import shutil

from frame import blanks, run, variant as numbers
from frame.blanks import Truth
from frame.say import CouldNotRun, open_request

TITLE = "Deadlock: sends that wait for one another, and two fixes"
MINUTES = 20
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
RANKS, OPTIONS = "{ranks}", ("--deadlock", "abort", "--leaks")
SHORT_LIMIT = 16384
TAG, ORDER_TAG, FREE_TAG = 7, 8, 9
ORDERED = {"MPI_Send", "MPI_Recv"}
WAITS = {"MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"}
BEGINS = {"MPI_Isend", "MPI_Issend", "MPI_Irecv", "MPI_Isendrecv"}
BLOCKING_SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Rsend"}
POSTS = {"MPI_Irecv", "MPI_Start", "MPI_Startall"}
WORLD_CONTEXTS = {0, 1}  # of messages on MPI_COMM_WORLD


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
    # One long message in the cycle of short ones: that send waits, but does not close a wait cycle.
    lengths[cycles[1 - long][0]] = SHORT_LIMIT + random.randrange(1, 1000)
    rows = [f"    {rank:>4}   {to[rank]:>7}   {lengths[rank]:>6}   {sender[rank]:>13}" for rank in range(ranks)]
    return {"ranks": ranks, "to": to, "from": sender, "lengths": lengths, "long_bytes": max(lengths) + random.randrange(1, 1000),
            "page_table": "\n".join(rows)}


def blocked(trace):
    """Rank -> the rank that it waits for in an MPI_Send that never returned."""
    return {enter.rank: next(m.destination for m in trace.puts(source=enter.rank, portal=0, tag=TAG))
            for enter, leave in trace.calls("MPI_Send") if leave is None}


def circle(waits):
    """The cycle among rank -> rank, from its lowest rank on."""
    for start in sorted(waits):
        path = [start]
        while waits.get(path[-1]) is not None and waits[path[-1]] not in path:
            path.append(waits[path[-1]])
        if waits.get(path[-1]) == start:
            return path
    return []


def open_requests(done):
    """A sentence if requests of part 3 were not completed: from margay's list at the end, or from the trace if the program did not
    reach it, because freeing memory that a message still uses may end it anywhere."""
    for rank, call in done.never_completed(FREE_TAG):
        return open_request(2, rank, call)
    try:
        parts = part_calls(done.trace, 3)
    except CouldNotRun:  # it ended before all ranks had begun
        return None
    for rank, calls in parts.items():
        begun = [call for call in calls if call in BEGINS]
        if begun and ("MPI_Request_free" in calls or not WAITS & set(calls)):
            return open_request(2, rank, begun[0])
    return None


def between(trace):
    """Rank -> the (enter, leave) of its MPI_Barrier between parts 2 and 3. Its communicator distinguishes it from a blank's."""
    begun = {}
    for event in trace.of("collective_begin"):
        if event.operation == "barrier" and event.context not in WORLD_CONTEXTS:
            begun.setdefault(event.rank, event.time)
    return {enter.rank: (enter, leave) for enter, leave in trace.calls("MPI_Barrier")
            if enter.time <= begun.get(enter.rank, -1) and (leave is None or begun[enter.rank] <= leave.time)}


def part_calls(trace, part):
    """Rank -> the names of its calls of part 2 or 3, in order, without those of main()."""
    barriers, result = between(trace), {rank: [] for rank in range(trace.size)}
    begun = {enter.rank: enter.time for enter, _ in reversed(trace.calls("MPI_Comm_dup"))}
    for enter, _ in trace.calls():
        barrier = barriers[enter.rank][0].time if enter.rank in barriers else None
        before = barrier is None or enter.time < barrier
        if begun.get(enter.rank, enter.time) < enter.time != barrier and (part == 2) == before:
            result[enter.rank].append(enter.call)
    return result


def check_cures(work, done):
    found, trace, ranks = work.findings, done.trace, work.variant["ranks"]
    for tag, part in ((ORDER_TAG, 2), (FREE_TAG, 3)):
        sent = [m for m in trace.puts(portal=0, tag=tag) if m.has("receive_complete")]
        pairs = sorted((m.source, m.destination) for m in sent)
        found.unless(pairs == sorted(enumerate(work.variant["to"])), f"part {part}: each rank must send one message with tag {tag} to its "
                     f"rank kTo; {len(pairs)} of {ranks} arrived")
        found.unless(all(m.bytes == work.variant["long_bytes"] for m in sent), "all messages of parts 2 and 3 must have "
                     f"kLongBytes bytes, {work.variant['long_bytes']}")
    if not found.unless(len(between(trace)) == ranks, "do not change main(): its barrier on a communicator of its own "
                        "separates part 2 from part 3"):
        return
    others = sorted(set().union(*part_calls(trace, 2).values()) - ORDERED)
    found.unless(not others, f"BLANK 1: part 2 must use MPI_Send and MPI_Recv alone; the trace has {', '.join(others)}")
    late = sends_first(trace)
    found.unless(late is None, late)
    for line in () if found else done.out.splitlines():
        found.unless("bytes of `in` are not" not in line, f"{line.strip()}: parts 2 and 3 must send from `out` and receive into `in`; "
                     "`out` must not change until the send is complete")


def sends_first(trace):
    """A sentence if a rank of part 3 is in a blocking send while its own receive is not posted; None if each posts before it may wait."""
    for rank, calls in part_calls(trace, 3).items():
        at = next((number for number, call in enumerate(calls) if call in BLOCKING_SENDS), None)
        if at is not None and not POSTS & set(calls[:at]):
            return f"BLANK 2: part 3 still depends on an order: rank {rank} is in {calls[at]}, which waits for the receive of a long " \
                   "message, before it has posted its own receive (MPI_Irecv)"
    return None


def with_circles(values, circles):
    """A variant in which the ranks send along these cycles."""
    to, sender = list(values["to"]), list(values["from"])
    for circle_ranks in circles:
        for rank, following in zip(circle_ranks, circle_ranks[1:] + circle_ranks[:1]):
            to[rank], sender[following] = following, rank
    return {**values, "to": to, "from": sender}


def other_circles(trace):
    """Cycles in which a rule that is right for this variant only deadlocks: one of two ranks that did the same first, one of even and
    one of odd ranks, one upwards and one downwards."""
    first = {rank: next(call for call in calls if call in ORDERED) for rank, calls in part_calls(trace, 2).items()}
    ranks = sorted(first)
    alike = max(([rank for rank in ranks if first[rank] == call] for call in sorted(ORDERED)), key=len)[:2]
    return [[alike, [rank for rank in ranks if rank not in alike]], [ranks[::2], ranks[1::2]], [ranks], [ranks[::-1]]]


def check_rule(work, trace):
    """Whether BLANK 1's rule breaks other cycles too; the folder `other` has what was run."""
    folder = work.path("other")
    for circles in other_circles(trace):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        values = with_circles(work.variant, circles)
        shutil.copy(work.program(), folder)
        with open(os.path.join(folder, "variant.h"), "w", encoding="utf-8") as file:
            file.write(numbers.header(values))
        done = run.Work(work.lab, folder, values).run()
        way = " and ".join(" -> ".join(map(str, [*each, each[0]])) for each in circles)
        if not work.findings.unless(done.status == 0, f"BLANK 1: the rule does not break every cycle. It breaks the cycles of this "
                                    f"variant, but not {way} (folder `other`): {done.trouble}"):
            return
    shutil.rmtree(folder)


def stuck_blank(trace):
    """The blank in which a run of parts 2 and 3 hangs: part 3 follows the barrier between them."""
    barriers = between(trace)
    behind = {rank for rank, (_, leave) in barriers.items() if leave}
    idle = {enter for enter, leave in barriers.values() if leave is None}
    waiting = {enter.rank for enter, leave in trace.calls() if leave is None and enter not in idle and enter.call != "MPI_Finalize"}
    return "BLANK 2: part 3" if waiting and waiting <= behind else "BLANK 1: part 2"


def check(work):
    found = work.findings
    done = work.run()
    if done.status == run.DEADLOCK:
        found.say(f"{stuck_blank(done.trace)} deadlocks: {done.trouble}")
    else:
        forgotten = open_requests(done)
        if found.unless(forgotten is None, forgotten):
            found.unless(done.status == 0, done.trouble)
    if not found:
        work.judged((check_cures, work, done))
    if not found:
        check_rule(work, done.trace)
    part_1 = work.run(arguments=("stuck",), trace="trace_stuck")
    if found.unless(part_1.status != 0, "part 1 did not deadlock: do not change it"):
        work.judged((predictions, work, part_1.trace))
    return found


def predictions(work, trace):
    waits = blocked(trace)
    report = "Run `margay lab run -- stuck`, and read the report: for which rank does each wait? Or see `margay trace messages trace_stuck`."
    sends, cycle = trace.calls("MPI_Send"), circle(waits)
    said = blanks.normal((work.predictions or {}).get("cycle", ""))
    turned = any(said == list(map(str, cycle[at:] + cycle[:at])) for at in range(1, len(cycle)))
    work.predicted({
        "cycle": Truth(cycle, "The cycle is right, but it must begin with the lowest rank." if turned else report,
                       "each waits in MPI_Send until the next one posts its receive, which comes after its own send"),
        "returned": Truth(sorted(enter.rank for enter, leave in sends if leave), report,
                          "the send of a short message is complete when it is sent; that of a long one when its receiver reaches its receive, which "
                          "a rank whose own send returned does"),
        "never_received": Truth(sum(1 for m in trace.puts(portal=0, tag=TAG) if not m.has("receive_complete")),
                                "See `margay trace messages trace_stuck --never-received`.", "the messages of the cycle"),
    })
