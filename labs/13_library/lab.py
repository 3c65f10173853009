"""A communication library on one portal, built on margay::host: where a rank must answer the others, and where it must wait for them."""

import json
import re

from frame import files, variant as numbers
from frame.blanks import Truth
from frame.run import RUN_SECONDS, TIMED_OUT
from frame.say import NotYet, and_then

TITLE = "A communication library on one portal: serving while waiting"
MINUTES = 30
BLANKS_COME_FIRST = True  # the predictions are compared with runs of the student's library
INTERFACE = "host"
RANKS, OPTIONS = 5, ("--deadlock", "abort", "--leaks")

PORTAL, REQUEST = 53, 1
ASKS, ANSWERS, GETS = range(3)  # the library's events
BASE = 100  # cell c of rank r begins as BASE * (r + 1) + c
OPEN, SWAP, CLOSE = "cells::open", "cells::swap", "cells::close"
ENDS = {CLOSE, "the library's end", "cells: end"}
BEGUN = {"MPI_Ibarrier", "MPI_Iallreduce", "MPI_Iallgather", "MPI_Ialltoall"}  # waits for all ranks that can be tested
LEAK = re.compile(r"rank (\d+): leak: request .* made by (MPI_I\w+)")


# --- Variants ---


def variant(random):
    return numbers.telling(lambda: draw(random), telling)


def draw(random):
    first, middle, last, *others = random.sample(range(RANKS), RANKS)
    v = {"ranks": RANKS, "cell_base": BASE, "first": first, "middle": middle, "last": last}
    values = random.sample(range(10, 100), 40)
    pairs = [(rank, peer) for rank in (first, middle, *others)
             for peer in random.sample([peer for peer in range(RANKS) if peer not in (rank, last)], random.randrange(1, 4))]
    random.shuffle(pairs)
    v["ask_from"], v["ask_to"] = map(list, zip(*pairs))
    v["ask_value"] = [values.pop() for _ in pairs]
    for name in ("first_values", "middle_values", "guest_values"):
        v[name] = [values.pop(), values.pop()]
    v["late"] = random.choice([rank for rank in range(RANKS) if rank != last])
    v["guest"], v["host"] = random.sample([rank for rank in range(RANKS) if rank != last], 2)
    draw_stuck(random, v)
    v["page_asks"] = rows(v["ask_from"], [f"{peer} ({value})" for peer, value in zip(v["ask_to"], v["ask_value"])])
    v["page_stuck"] = rows(v["stuck_from"], v["stuck_to"])
    return v


def draw_stuck(random, v):
    """Ranks that ask nobody and so never answer, ranks that end in a wait for one of those, and ranks that ask only the latter. So which
    requests are answered does not depend on time."""
    order = random.sample(range(RANKS), RANKS)
    idle, waiting, through = order[:1 + random.randrange(2)], order[2:4], order[4:]
    through += [rank for rank in order[:2] if rank not in idle]
    pairs = []
    for rank in waiting:
        other = next(each for each in waiting if each != rank)
        its = [other] * random.randrange(0, 3) + [random.choice(idle)] + [random.choice([other, *idle]) for _ in range(random.randrange(1, 3))]
        pairs += [(rank, peer) for peer in its]
    pairs += [(rank, random.choice(waiting)) for rank in through for _ in range(random.randrange(1, 4))]
    # The order of the rows of one rank counts, and stays.
    left = {rank: [peer for of, peer in pairs if of == rank] for rank in range(RANKS)}
    rows_of = [rank for rank, _ in pairs]
    random.shuffle(rows_of)
    v["stuck_from"], v["stuck_to"] = rows_of, [left[rank].pop(0) for rank in rows_of]
    v["page_in_swap"] = sorted(waiting)


def rows(ranks, whom):
    """The page's table: whom each rank asks, in order."""
    lines = []
    for rank in range(RANKS):
        its = [str(peer) for of, peer in zip(ranks, whom) if of == rank]
        lines.append(f"    {rank}      {', '.join(its) or 'nobody'}")
    return "\n".join(lines)


def telling(v):
    """Whether each mistake shows: two ranks ask each other, the late rank is asked, the guest's cell was changed before, and the waits
    of part 1 are not what a glance at the table says."""
    asks = set(zip(v["ask_from"], v["ask_to"]))
    stuck = list(zip(v["stuck_from"], v["stuck_to"]))
    answered = sum(to in v["page_in_swap"] for of, to in sent_when_stuck(v))
    through = {of for of, _ in stuck} - set(v["page_in_swap"])
    return (any((peer, rank) in asks for rank, peer in asks) and any(to == v["late"] for _, to in asks)
            and any(to == v["late"] for _, to in sent_when_stuck(v))
            and (v["guest"], v["host"]) in asks and through
            and any(of in v["page_in_swap"] and to in v["page_in_swap"] for of, to in sent_when_stuck(v))
            and answered not in (len(stuck), len(sent_when_stuck(v)), len(v["page_in_swap"])))


def sent_when_stuck(v):
    """(rank, peer) of the requests that part 1 sends: a rank's last one is to a rank that never answers."""
    sent, blocked = [], set()
    for of, to in zip(v["stuck_from"], v["stuck_to"]):
        if of in blocked:
            continue
        sent.append((of, to))
        if to not in v["stuck_from"]:
            blocked.add(of)
    return sent


def swaps(v):
    """Rank -> (peer, value) of its swaps in parts 2 to 4, in order."""
    result = {rank: [] for rank in range(RANKS)}
    for of, to, value in zip(v["ask_from"], v["ask_to"], v["ask_value"]):
        result[of].append((to, value))
    for of, to, name in ((v["middle"], v["last"], "middle_values"), (v["first"], v["middle"], "first_values"),
                         (v["guest"], v["host"], "guest_values")):
        result[of] += [(to, value) for value in v[name]]
    return result


def earlier_values(rank, its):
    """What the swaps of a rank return: only the rank itself changes its cells on other ranks."""
    cells, result = {}, []
    for peer, value in its:
        result.append(cells.get(peer, BASE * (peer + 1) + rank))
        cells[peer] = value
    return result


# --- The check ---


def check(work):
    findings = work.findings
    # Part 1 first: no rank polls in it, so a deadlock is proven there, and its trace is short.
    stuck = work.run(None, "--report", "stuck.json", arguments=("stuck",), trace="trace_stuck")
    judge_open(stuck.trace, findings)
    if not findings and stuck.status == TIMED_OUT:
        blank, call = (1, OPEN) if OPEN in calls_at_the_end(stuck) else (2, SWAP)
        findings.say(f"BLANK {blank}: part 1 did not end within {RUN_SECONDS} s, and no deadlock was proven: wait by host::wait_until() in "
                     f"{call}; a loop of your own hides the wait from margay")
    if findings:
        return findings
    done = work.run()
    if done.status != 0:
        judge_failure(done, findings)
    for judge in (judge_swaps, judge_wait_for_all, judge_close):
        if not findings:
            judge(work.variant, done, findings)
    if not findings:
        predict(work, done.trace, stuck)
    return findings


def waits(work, name):
    """Rank -> (call, peer or None) of the deadlock that a run reports."""
    found = json.loads(files.read(work.path(name))).get("findings", ())
    deadlock = next((finding for finding in found if finding["id"] == "deadlock"), {"waits": ()})
    return {wait["rank"]: (wait["call"], wait.get("peer")) for wait in deadlock["waits"]}


def of_library(trace, number, rank=None):
    return [event for event in trace.of("library_event", rank=rank) if event.event == number]


def has_barrier(trace, rank, call):
    """Whether a barrier begins and ends inside a call of the library."""
    for enter, leave in trace.calls(call, rank=rank):
        inside = [event for event in trace.of("collective_begin", "collective_end", rank=rank)
                  if enter.time <= event.time and (leave is None or event.time <= leave.time)]
        begun = any(event.kind == "collective_begin" and event.operation == "barrier" for event in inside)
        return begun and (leave is None or any(event.kind == "collective_end" for event in inside))
    return False


def judge_open(trace, findings):
    dropped = next((message for message in trace.puts(portal=PORTAL) if message.has("kernel_drop")
                    and not trace.calls(CLOSE, rank=message.destination)), None)
    why = "" if dropped is None else f" Here {dropped.name} was dropped, because rank {dropped.destination} had not attached its portal " \
        f"yet: `margay trace story trace_stuck {dropped.story}`."
    for rank in range(RANKS):
        if not findings.unless(has_barrier(trace, rank, OPEN), f"BLANK 1: rank {rank} returns from {OPEN} before all ranks have attached "
                               f"their portals: no barrier begins and ends there.{why}"):
            return


def calls_at_the_end(done):
    """The calls in which the ranks were when time ran out, as the launcher reports them."""
    return re.findall(r"\brank \d+ in ([\w:]+)", done.err)


def judge_failure(done, findings):
    """Why parts 2 to 4 failed."""
    if done.status == TIMED_OUT and CLOSE in calls_at_the_end(done):
        findings.say(f"BLANK 4: time ran out ({RUN_SECONDS} s) in {CLOSE}: wait by host::wait_until(), which makes progress; a loop of your "
                     "own makes none")
        return
    try:
        judge_waits(done, findings)
    except NotYet:  # the trace has lost events
        findings.say(f"BLANK 3: time ran out ({RUN_SECONDS} s) in wait_for_all(): its loop must call cells::serve() and MPI_Test until MPI_Test "
                     "finds the barrier complete" if done.status == TIMED_OUT else done.trouble)


def judge_waits(done, findings):
    """Whose answer is missing, and where the rank is that owes it."""
    trace = done.trace
    where = {enter.rank: enter.call for enter, leave in trace.calls() if leave is None}
    last = {event.rank: event.destination for event in of_library(trace, ASKS)}
    asking = {rank: last[rank] for rank, call in where.items() if call == SWAP and rank in last}
    for rank, peer in sorted(asking.items()):
        asked = len(of_library(trace, ASKS, rank))
        sent = sum(put.sent.match_bits == REQUEST for put in trace.puts(portal=PORTAL, source=rank))
        if sent < asked:
            findings.say(f"BLANK 2: rank {rank} waits in {SWAP} for the answer of rank {peer}, but has not sent its request: {sent} of "
                         f"{asked} were sent")
            return
    owes = {rank: where.get(peer, "no call") for rank, peer in sorted(asking.items())}
    for blank, holds, why in ((2, lambda call: call == SWAP, "A rank that waits for an answer must itself answer: call serve() in its wait"),
                              (4, lambda call: call in ENDS, f"{CLOSE} must answer until all ranks have called it: begin a barrier, and "
                               "call service->serve() until it is over"),
                              (3, lambda call: call != "MPI_Recv", "MPI's progress puts a request into the heap, but answers nothing: call "
                               "cells::serve() again and again until the wait in MPI is over")):
        for rank, call in owes.items():
            if holds(call):
                peer = asking[rank]
                again = "is in that call, too," if call == SWAP else f"is in {call}"
                findings.say(and_then(f"BLANK {blank}: rank {rank} waits in {SWAP} for rank {peer}, which {again} and does not answer. "
                                      f"{why}", done.trouble))
                return
    findings.say(done.trouble)


def judge_swaps(v, done, findings):
    trace = done.trace
    for rank, its in swaps(v).items():
        asked = [(event.destination, event.detail) for event in of_library(trace, ASKS, rank)]
        if not findings.unless(asked == its, "the program's swaps are not those of the variant: change only the blanks"):
            return
        sent = [put.destination for put in trace.puts(portal=PORTAL, source=rank) if put.sent.match_bits == REQUEST]
        if not findings.unless(sent == [peer for peer, _ in its], f"BLANK 2: rank {rank} has {len(its)} swaps, but sent {len(sent)} requests: "
                               "each swap sends one; when send() has returned true, do not call it again"):
            return
        got = [event.detail for event in of_library(trace, GETS, rank)]
        for number, (mine, true) in enumerate(zip(got, earlier_values(rank, its)), 1):
            if not findings.unless(mine == true, f"BLANK 2: swap {number} of rank {rank} returned {mine}, but the cell on rank "
                                   f"{its[number - 1][0]} had {true}: the wait ended before the answer to this request. "
                                   "It has arrived when answer_.messages() differs from `before`"):
                return


def judge_wait_for_all(_, done, findings):
    left = LEAK.search(done.err)
    if not findings.unless(left is None, left and f"BLANK 3: rank {left[1]}'s {left[2]} was never completed, so rank {left[1]} did not wait "
                           "for all ranks: call MPI_Test until it finds the request complete"):
        return
    for rank in range(RANKS):
        called = {enter.call for enter, _ in done.trace.calls(rank=rank)}
        findings.unless(called & BEGUN, f"BLANK 3: rank {rank} waits for nobody in wait_for_all(): begin a barrier by MPI_Ibarrier, and test it")
        if findings:
            return


def judge_close(_, done, findings):
    for rank in range(RANKS):
        if not findings.unless(has_barrier(done.trace, rank, CLOSE), f"BLANK 4: rank {rank} leaves {CLOSE} while others may still ask it: "
                               "no barrier begins and ends there"):
            return


def predict(work, trace, done):
    v, findings = work.variant, work.findings
    stuck = waits(work, "stuck.json")
    if not findings.unless(stuck, f"part 1 does not deadlock, as it should: {done.trouble}"):
        return
    asking = {rank: peer for rank, (call, peer) in sorted(stuck.items()) if call == SWAP}
    look = "Run `margay lab run -- stuck`, and read the report: in which call is each rank?"
    first = swaps(v)[v["guest"]].index((v["host"], v["guest_values"][0]))
    returned = of_library(trace, GETS, v["guest"])[first].detail
    puts = trace.puts(portal=PORTAL)
    work.predicted({
        "in_swap": Truth(list(asking), look, "A rank that asks one of the ranks that went straight into MPI_Barrier waits forever; while it "
                         "waits, it answers the others."),
        "waits_for": Truth(list(asking.values()), look, "It went into MPI_Barrier without a call of the library that could answer.",
                           counted=True),
        "answered": Truth(len(of_library(done.trace, ANSWERS)), "Count the lines of `margay trace print trace_stuck --kind library_event` with "
                          "`answers`.", "All requests to ranks that are in cells::swap to the end. What stands behind a request that is never "
                          "answered is not sent."),
        "puts": Truth(len(puts), f"Count the puts to portal {PORTAL}: `margay trace messages trace`. What does one swap send?",
                      "A request and an answer for each swap; the answer is a put, too."),
        "returned": Truth(returned, f"Look at `margay trace print trace --kind library_event --rank {v['guest']}`. Which value did this rank "
                          "put into the cell before?", f"Rank {v['guest']} is the only one that changes this cell, and it put this value there before."),
    })
