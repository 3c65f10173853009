"""Tree against bucket: messages counted in a trace, costs compared by formula."""

import re

from frame import blanks, variant as numbers
from frame.blanks import Truth

TITLE = "Tree against bucket: a broadcast's messages and bytes, and where they cross (sections 3.1 and 3.2)"
MINUTES = 30
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
RANKS, OPTIONS = "{ranks}", ()
TAG = 7
NEAR = 0.01  # of the crossover and of costs
PRINTED = re.compile(r"^costs of (\d+) bytes on (\d+) ranks: tree_ps (\S+), bucket_ps (\S+)$", re.M)
OTHER_RANKS = range(2, 18)  # numbers of ranks for which program.c prints costs too
PATTERN_BYTES = 1792  # the period of part 2's bytes


def rounds(ranks):
    return (ranks - 1).bit_length()


def crossover(ranks, alpha_ps, beta_ps):
    more_messages = 2 * (ranks - 1) - rounds(ranks)
    return alpha_ps * more_messages / (beta_ps * (rounds(ranks) - 2 * (ranks - 1) / ranks))


def telling(v):
    """Whether all pieces of the lengths above the crossover differ, so that a wrong piece shows."""
    ranks = v["ranks"]
    above = (length // ranks for length in v["lengths"] if length > crossover(ranks, 1000 * v["alpha_ns"], v["beta_ps"]))
    return all(piece * apart % PATTERN_BYTES for piece in above for apart in range(1, ranks))


def variant(random):
    return numbers.telling(lambda: draw(random), telling)


def draw(random):
    ranks = random.randrange(5, 8)  # not a power of two, so that a logarithm rounded down, or not at all, shows
    alpha, beta = 100 * random.randrange(5, 50), 10 * random.randrange(20, 90)
    cross = crossover(ranks, 1000 * alpha, beta)
    # Lengths on both sides of the crossover, two of them where cruder formulas choose otherwise.
    lengths = [max(1, round(cross * factor / ranks)) * ranks for factor in (0.3, 0.8, 1.25, 3)]
    random.shuffle(lengths)
    length = ranks * random.randrange(10000, 20000)
    return {"ranks": ranks, "alpha_ns": alpha, "beta_ps": beta, "lengths": lengths,
            "bytes": max(length, max(lengths))}


def of_collective(trace, rank=None):
    """Data messages of margay's broadcast: those to the portals of trees and streams."""
    ends = {leave.rank: leave.time for _, leave in trace.calls("MPI_Bcast") if leave}
    if len(ends) != trace.size:
        raise ValueError("a rank did not come out of its broadcast")
    return [message for message in trace.puts(source=rank) if message.bytes > 0 and message.sent.time < ends[message.source]
            and trace.defined(message.source, trace.PORTAL, message.sent.portal) in ("collective trees", "collective streams")]


def by_hand(work, trace):
    """Part 2: whether each length took the cheaper algorithm, by the messages of rank 0."""
    found, ranks = work.findings, work.variant["ranks"]
    alpha, beta = 1000 * work.variant["alpha_ns"], work.variant["beta_ps"]
    sent = trace.puts(source=0, portal=0, tag=TAG)
    at = 0
    for length in work.variant["lengths"]:
        if at >= len(sent):
            found.say("part 2 sent too few messages: change only the blanks of its functions")
            return
        went = "bucket" if sent[at].bytes != length else "tree"
        at += 2 * (ranks - 1) if went == "bucket" else sum(1 for m in sent[at:at + rounds(ranks)] if m.bytes == length)
        cheaper = "bucket" if length > crossover(ranks, alpha, beta) else "tree"
        if went != cheaper:
            found.say(f"BLANK 2: the broadcast of {length} bytes took the {went}, but by the page's formulas the {cheaper} "
                      f"costs less on {ranks} ranks")


def costs(work, printed):
    """Whether the costs that the program prints are the page's, for each length and for other numbers of ranks: a comparison of other
    numbers may be right here and wrong elsewhere."""
    v, alpha, beta = work.variant, 1000 * work.variant["alpha_ns"], work.variant["beta_ps"]
    said = {(int(length), int(ranks)): {"tree_ps": float(tree), "bucket_ps": float(bucket)}
            for length, ranks, tree, bucket in PRINTED.findall(printed)}
    for length, ranks in [*((length, v["ranks"]) for length in v["lengths"]), *((v["bytes"], ranks) for ranks in OTHER_RANKS)]:
        if not work.findings.unless((length, ranks) in said, f"part 2 prints no costs of {length} bytes on {ranks} ranks: do not change the "
                                    "code outside the blanks"):
            return
        for name, messages, its_bytes in (("tree_ps", rounds(ranks), length), ("bucket_ps", 2 * (ranks - 1), length / ranks)):
            true, mine = messages * (alpha + beta * its_bytes), said[length, ranks][name]
            if not work.findings.unless(abs(mine - true) <= NEAR * true, f"BLANK 2: for {length} bytes on {ranks} ranks `{name}` is {mine:.0f}, "
                                        f"which is not rank 0's {messages} messages x (alpha + beta x their bytes), in picoseconds (alpha is kAlphaNs "
                                        "nanoseconds)"):
                return


def check(work):
    found = work.findings
    tree = work.run(None, "--collective", "bcast=tree", trace="trace_tree")
    if found.unless(tree.status == 0, tree.trouble):
        found.unless("part 2: 0 bytes are wrong" in tree.out, "BLANK 1: ranks hold wrong bytes after a bucket broadcast: "
                     "a rank passed on a piece that it did not have yet, or received one into the wrong place")
        work.judged((by_hand, work, tree.trace))
        if not found:
            costs(work, tree.out)
    bucket = work.run(None, "--collective", "bcast=bucket", trace="trace_bucket")
    if not found:
        found.unless(bucket.status == 0, bucket.trouble)
    work.judged((predictions, work, {"tree": tree, "bucket": bucket}))
    return found


def predictions(work, runs):
    truths, counted = {}, {}
    for name, done in runs.items():
        mine = of_collective(done.trace, 0)
        counted[name] = len(mine), sum(message.bytes for message in mine)

        def look(what):
            return f"In `margay trace print trace_{name} --call MPI_Bcast --kind kernel_send --all` {what} to `collective trees` and " \
                   "`collective streams`."
        why = {"tree": "a message of the whole length in each of the ceil(log2(p)) rounds",
               "bucket": "p-1 pieces are scattered, then p-1 passed on to rank 1; each has one p-th of the length"}[name]
        truths[f"{name}_messages"] = Truth(counted[name][0], look("count the lines of rank 0"), why)
        truths[f"{name}_bytes"] = Truth(counted[name][1], look("add up the bytes of the lines of rank 0"), "messages times their length")
        truths[f"{name}_all"] = Truth(len(of_collective(done.trace)), look("count the lines of all ranks"),
                                      {"tree": "each other rank receives once", "bucket": "p-1 pieces to scatter, and p-1 ranks "
                                       "pass on p-1 pieces"}[name])
    truths["crossover_bytes"] = near(work, crossing(work, counted))
    work.predicted(truths)


def crossing(work, counted):
    """The length at which both cost the same, from the messages and bytes counted in the traces."""
    (tree_messages, tree_bytes), (bucket_messages, bucket_bytes) = counted["tree"], counted["bucket"]
    length = work.variant["bytes"]
    return 1000 * work.variant["alpha_ns"] * (bucket_messages - tree_messages) / \
        (work.variant["beta_ps"] * (tree_bytes - bucket_bytes) / length)


def near(work, value):
    """The crossover's truth: the student's own number if it is near enough."""
    said = blanks.squeeze((work.predictions or {}).get("crossover_bytes", "")).split(" ")[0].replace(",", "")
    try:
        said_near = abs(float(said) - value) <= NEAR * value
    except ValueError:
        said_near = False
    return Truth(work.predictions["crossover_bytes"] if said_near else round(value),
                 "Take the messages and bytes of rank 0 that you counted: alpha x messages + beta x bytes, the bytes in proportion to the "
                 "length, is the same for both at the crossover.",
                 "alpha (m_bucket - m_tree) = beta (b_tree - b_bucket), where the bytes grow with the length",
                 by="what the page's formulas give")
