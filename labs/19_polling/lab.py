"""Two wires between two ranks: which one carries a message, what becomes of the order, and what polling both costs, in virtual time."""

import re

from frame import variant as numbers
from frame.blanks import Truth

TITLE = "Two wires between two ranks: selection, order, and the cost of polling both"
MINUTES = 40
BLANKS_COME_FIRST = True
SIMULATED = True
INTERFACE = "host"
BASE = ("--machine", "sp2", "--compute", "none", "--set", "tcp.poll_ns={select_ns}")
WAYS = ("--set", "way=shm,tcp", "--set", "nodes_per_partition={partition}", "--set")
RANKS, OPTIONS = "{ranks}", (*BASE, *WAYS, "skip_poll=tcp=1")
PORTAL, BLOCK, DONE = 53, 1, 2
WIRES = ("self", "shm", "tcp")
INTERVALS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
NEAR = 0.1
ENOUGH, STILL = 0.15, 0.25  # a time is at most this share longer than the least one
SLOW_NS = 50_000_000  # a latency of tcp beyond all that a program could poll for by a fixed number of rounds

ROW = re.compile(r"^row (\d+) (\d+) (\w+) (usual|further|closed)$", re.M)
DONE_AFTER = re.compile(r"^rank \d+: done after (\d+) of (\d+) blocks$", re.M)
ONE_WAY = re.compile(r"^(shm|tcp): (\S+) us one way$", re.M)
POLLS = re.compile(r"^polls of (shm|tcp): (\d+)$", re.M)
STEPS = re.compile(r"^(\S+) us a step, (\d+) polls of tcp outside of the couplings$", re.M)


# --- Variants ---


def variant(random):
    return numbers.telling(lambda: draw(random), telling)


def draw(random):
    partition = random.randrange(3, 5)
    ranks = 2 * partition + random.randrange(1, partition)
    pairs = [(random.randrange(ranks), random.randrange(ranks)) for _ in range(6)]
    return {"ranks": ranks, "partition": partition, "near": random.randrange(1, partition), "far": random.randrange(partition, ranks),
            "from": [a for a, _ in pairs], "to": [b for _, b in pairs], "page_pairs": ", ".join(f"{a}>{b}" for a, b in pairs),
            "first_choice": random.choice(("atm", "hippi", "myrinet")), "blocks": random.randrange(6, 12),
            "block_bytes": 1024 * random.randrange(1, 5), "round_trips": 500, "steps": 3, **select(1000 * random.randrange(80, 301, 20)),
            "last_of_first": partition - 1, "page_intervals": " ".join(map(str, INTERVALS))}


def select(ns):
    return {"select_ns": ns, "select_us": ns // 1000}


def carrier(v, a, b, order=("shm", "tcp")):
    """The usual wire between two ranks."""
    if a == b:
        return "self"
    return next(wire for wire in order if wire == "tcp" or a // v["partition"] == b // v["partition"])


def telling(v):
    """Whether the pairs have all kinds: a rank itself, neighbours in two partitions, ranks of one partition that are not neighbours."""
    pairs = list(zip(v["from"], v["to"]))
    kinds = [carrier(v, a, b) for a, b in pairs]
    return (len(set(pairs)) == len(pairs) and kinds.count("self") == 1 and kinds.count("shm") >= 2 and kinds.count("tcp") >= 2
            and any(abs(a - b) == 1 for (a, b), kind in zip(pairs, kinds) if kind == "tcp")
            and any(abs(a - b) > 1 for (a, b), kind in zip(pairs, kinds) if kind == "shm")
            and any(0 < abs(a - b) < v["partition"] for (a, b), kind in zip(pairs, kinds) if kind == "tcp"))


# --- Runs ---


def filled(v, words):
    return [numbers.fill(word, v) for word in words]


def with_interval(work, interval, part, *more, trace=None):
    """A run with both wires, in which tcp is polled in each `interval`-th round."""
    v = work.variant
    return work.simulate(v["ranks"], *filled(v, (*BASE, *WAYS)), f"skip_poll=tcp={interval}", *more, arguments=(part,), trace=trace)


def with_one_wire(work, part):
    v = work.variant
    return work.simulate(v["ranks"], *filled(v, BASE), "--set", "way=shm", "--set", "nodes_per_partition=0", arguments=(part,))


def table(work, order):
    """(rank, peer) -> wire -> usual, further or closed."""
    v = work.variant
    done = work.simulate(v["ranks"], *filled(v, BASE), "--set", f"way={order}", "--set", f"nodes_per_partition={v['partition']}", arguments=("table",))
    rows = {}
    for a, b, wire, state in ROW.findall(done.out):
        rows.setdefault((int(a), int(b)), {})[wire] = state
    return done, rows


def one_way(done):
    """Wire -> microseconds of a run of ping-pongs."""
    return {wire: float(us) for wire, us in ONE_WAY.findall(done.out)}


# --- The check ---


def check(work):
    found = work.findings
    judge_transfer(work)
    if not found:
        judge_order(work)
    if not found:
        judge_steps(work)
    if not found:
        predict(work)
    return found


def judge_transfer(work):
    v, found = work.variant, work.findings
    done = with_interval(work, 1, "ordered", trace="trace")
    if not found.unless(done.status == 0, done.trouble):
        return
    puts = done.trace.puts(portal=PORTAL, source=0, destination=v["near"])
    blocks = [put for put in puts if put.sent.match_bits == BLOCK]
    ends = [put for put in puts if put.sent.match_bits == DONE]
    if not found.unless(len(blocks) == v["blocks"] and len(ends) == 1, "rank 0 does not send its blocks and one `done`: change only the blanks"):
        return
    wires = {put.sent.wire for put in blocks}
    if not found.unless(wires == {"tcp"}, f"BLANK 1: blocks travel by {' and '.join(sorted(wires))}, and tcp is the first wire of kBlockWires that is open: "
                        f"find_way(peer, \"{v['first_choice']}\") has a row, too, but with `why_not`"):
        return
    found.unless(ends[0].sent.wire == "shm", f"BLANK 2: `done` travels by {ends[0].sent.wire}: keep it on the usual way, shm, and order the two ways")


def judge_order(work):
    """The machine of the page, and one with a tcp so slow that waiting for a while does not help."""
    found = work.findings
    for more, which in (((), ""), (("--set", f"tcp.latency_ns={SLOW_NS}"), " on a machine whose tcp takes 50 ms")):
        done = with_interval(work, 1, "ordered", *more)
        if not found.unless(done.status == 0, done.trouble):
            return
        before, of = next(iter(DONE_AFTER.findall(done.out)), ("no", "its"))
        if not found.unless(before == of, f"BLANK 2: `done` is delivered after {before} of {of} blocks{which}: messages of different ways overtake each other. "
                            "rank.move(peer, FROM, TO) makes messages by TO wait for those by FROM"):
            return


def judge_steps(work):
    found = work.findings
    done = with_interval(work, 1, "steps")
    if not found.unless(done.status == 0, f"BLANK 3: ./program steps: {done.trouble}"):
        return
    rows = STEPS.findall(done.out)
    if found.unless(len(rows) == 1, "./program steps does not print its line: change only the blanks"):
        found.unless(rows[0][1] == "0", f"BLANK 3: rank 0 polls tcp {rows[0][1]} times outside of the couplings: rank.set_polling(\"tcp\", ON) switches it")


# --- Predictions ---


def predict(work):
    v = work.variant
    pairs = list(zip(v["from"], v["to"]))
    truths = {}
    for name, order in (("shm_first", "shm,tcp"), ("tcp_first", "tcp,shm")):
        done, rows = table(work, order)
        if not work.findings.unless(done.status == 0 and len(rows) == v["ranks"] ** 2, f"./program table: {done.trouble}"):
            return
        usual = [next(wire for wire, state in rows[pair].items() if state == "usual") for pair in pairs]
        truths[name] = Truth(usual, f"Run ./program table with `--set way={order}`, and look for `usual`.",
                             "The first wire of the list that is applicable; a rank reaches itself by self.", words=WIRES, counted=True)
        if order == "shm,tcp":
            closed = sum(wires["shm"] == "closed" for (a, b), wires in rows.items() if a != b)
    truths["not_by_shm"] = Truth(closed, "Count the lines of ./program table with `shm closed`, but not those of a rank with itself.",
                                 "Both orders of all pairs of ranks in different partitions.")
    unordered = with_interval(work, 1, "unordered")
    ordered = with_interval(work, 1, "ordered", trace="trace")
    truths["done_after"] = Truth(int(DONE_AFTER.search(unordered.out)[1]), "Run ./program unordered.",
                                 "The fast wire overtakes the slow one: rank 0 is busy for 500 us with each block, and each is on its way for longer than that.")
    by_tcp = [message for message in ordered.trace.sent(source=0, destination=v["near"]) if message.sent.wire == "tcp"]
    truths["by_tcp"] = Truth(len(by_tcp), "Record a trace of ./program, and count the `tcp.` in `margay trace messages trace --all`.",
                             "The blocks, and the end marker of the move.")
    predict_polls(work, truths)
    work.predicted(truths)


def predict_polls(work, truths):
    """The times of ping-pongs with each interval."""
    alone = one_way(with_one_wire(work, "pingpong"))["shm"]
    runs = {n: with_interval(work, n, "pingpong") for n in INTERVALS}
    slow = {n: one_way(with_interval(work, n, "two"))["tcp"] for n in INTERVALS}
    look = "Run the loop of part 3."
    truths["one_wire_us"] = work.near("one_wire_us", alone, NEAR, "Run ./program pingpong with `--set way=shm`.",
                                      "Both ranks wait for whole rounds of 15 us.")
    truths["two_wires_us"] = work.near("two_wires_us", one_way(runs[1])["shm"], NEAR, "Run ./program pingpong with `skip_poll=tcp=1`.",
                                       "Each round is longer by a poll of tcp, the one that finds the message, too.")
    polls = int(dict(POLLS.findall(runs[1].out))["tcp"])
    truths["tcp_polls"] = work.near("tcp_polls", polls, NEAR, "Rank 0 prints it at the end of ./program pingpong with `skip_poll=tcp=1`.",
                                    "In each round trip two or three rounds find nothing, and the next one finds the message.")
    fast = [n for n in INTERVALS if one_way(runs[n])["shm"] <= (1 + ENOUGH) * alone]
    enough = next(n for n in INTERVALS if set(INTERVALS[INTERVALS.index(n):]) <= set(fast))
    truths["enough"] = Truth(enough, look + " Compare the lines `shm:` of pingpong.", "With a longer interval there is nothing left to gain.")
    prompt = [n for n in INTERVALS if slow[n] <= (1 + STILL) * min(slow.values())]
    still = max(n for n in INTERVALS if set(INTERVALS[:INTERVALS.index(n) + 1]) <= set(prompt))
    truths["still_good"] = Truth(still, look + " Compare the lines `tcp:` of two.", "With a longer interval messages of tcp wait for a poll.")
    truths["delay_us"] = work.near("delay_us", slow[INTERVALS[-1]] - slow[INTERVALS[0]], NEAR, look,
                                   "A message of tcp waits for rank 0's and for the other rank's next poll.")
