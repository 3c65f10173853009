"""Where the bucket becomes faster than the tree: virtual times on the Paragon against the formulas of alpha and beta."""

import re

from frame.blanks import Truth

TITLE = "The crossover on the Paragon: tree and bucket on many ranks, in virtual time (section 3.2)"
MINUTES = 30
BLANKS_COME_FIRST = True
SIMULATED = True
COMPUTE = ("--compute", "none")
RANKS, OPTIONS = "{many}", ("--machine", "paragon", *COMPUTE)
ALPHA_NS, BETA_PS = 25000, 6250  # of the preset paragon: latency with overheads and poll; a node's port
LATENCIES = {"latency_ns": 4500, "send_overhead_ns": 10000, "receive_overhead_ns": 10000, "poll_ns": 500, "hop_ns": 40}
BANDWIDTHS = {"link_bytes_per_s": 200, "injection_bytes_per_s": 160, "ejection_bytes_per_s": 160}  # MB/s
ROW = re.compile(r"^ *(\d+) +(\S+) +(\S+) +(\S+)$", re.M)
NEAR, MEASURED_NEAR, FORMULA_NEAR = 0.15, 0.08, 0.01
LENGTHS = [1 << power for power in range(10, 21)]
WORDS = ("half", "same", "double")
ALGORITHMS = ("tree", "bucket")


def variant(random):
    # Powers of two, for which the tree's formula is exact; the crossovers are beyond the short limit of 16 KiB, where the protocol changes.
    latency = 500 * random.randrange(40, 120)
    return {"few": 32, "many": random.choice((64, 128)), "latency_ns": latency, "alpha_ns": ALPHA_NS, "beta_ps": BETA_PS}


def costs(ranks, length):
    """(tree, bucket) in microseconds by the page's formulas."""
    rounds = 2 * (ranks - 1).bit_length()
    return (rounds * (ALPHA_NS / 1e3 + BETA_PS / 1e6 * length),
            2 * (ranks - 1) * (ALPHA_NS / 1e3 + BETA_PS / 1e6 * length / ranks))


def table(done):
    """Length -> (measured, tree by formula, bucket by formula)."""
    return {int(length): tuple(map(float, times)) for length, *times in ROW.findall(done.out)}


def tables(work, ranks, machine="paragon"):
    """The tables of both algorithms, or None after a finding."""
    result = {}
    for name in ALGORITHMS:
        done = work.simulate(ranks, "--machine", machine, *COMPUTE, variables={"MARGAY_COLLECTIVE": f"allreduce={name}"})
        result[name] = table(done)
        if not work.findings.unless(done.status == 0, done.trouble) or not work.findings.unless(
                sorted(result[name]) == LENGTHS, "the program does not print a row for each length: change only the blanks"):
            return None
    return result


def crossing(runs):
    """The length at which both measured curves cross: on a line between the two lengths around it."""
    more = {length: runs["tree"][length][0] - runs["bucket"][length][0] for length in LENGTHS}
    above = next(length for length in LENGTHS if more[length] > 0)
    below = above // 2
    return below + (above - below) * -more[below] / (more[above] - more[below])


def judge(work, ranks, runs):
    """Blanks 1 and 2, by the rows of a run of each algorithm."""
    for at, name in enumerate(ALGORITHMS):
        for length, row in runs[name].items():
            true = costs(ranks, length)
            for mine, right, which in zip(row[1:], true, ("*tree_us", "*bucket_us")):
                if not work.findings.unless(abs(mine - right) <= FORMULA_NEAR * right, f"BLANK 2: `{which}` is {mine:.1f} for {length} bytes on {ranks} "
                                            "ranks, which is not the page's formula in microseconds"):
                    return
            if not work.findings.unless(abs(row[0] - true[at]) <= MEASURED_NEAR * true[at], f"BLANK 1: {length} bytes along the {name} on {ranks} ranks are "
                                        f"said to take {row[0]:.1f} us: that is not the time until the last rank has its result"):
                return


def changed(before, after):
    """The word for a crossover that moved."""
    return min(WORDS, key=lambda word: abs(after / before - {"half": 0.5, "same": 1, "double": 2}[word]))


def check(work):
    few, many = (tables(work, work.variant[name]) for name in ("few", "many"))
    if few is None or many is None:
        return work.findings
    judge(work, work.variant["few"], few)
    judge(work, work.variant["many"], many)
    if not work.findings:
        predictions(work, few, many)
    return work.findings


def predictions(work, few, many):
    latencies = {name: value // 2 for name, value in LATENCIES.items()}
    bandwidths = {name: f"{2 * value}e6" for name, value in BANDWIDTHS.items()}
    machines = {"half_latency": latencies, "double_bandwidth": bandwidths, "both": {**latencies, **bandwidths}}
    look = "Solve tree = bucket for the length; or compare the columns of `margay simulate` with `allreduce=tree` and with `allreduce=bucket`."
    why = "alpha/beta x (p - 1 - L) / (L - (p - 1)/p): the bucket's further messages cost as much as the bytes that it saves"
    truths = {f"crossover_{name}": work.near(f"crossover_{name}", crossing(runs), NEAR, look, why)
              for name, runs in (("few", few), ("many", many))}
    slow = tables(work, work.variant["few"], work.machine("paragon", "slow.toml", latency_ns=work.variant["latency_ns"]))
    if slow is None:
        return
    truths["crossover_slow"] = work.near("crossover_slow", crossing(slow), NEAR, "alpha contains the latency of the machine file; or run "
                                         "both algorithms on the machine slow.toml, which this check has written.", why)
    for name, fields in machines.items():
        runs = tables(work, work.variant["few"], work.machine("paragon", f"{name}.toml", **fields))
        if runs is None:
            return
        truths[name] = Truth(changed(crossing(few), crossing(runs)), f"Run both algorithms on the machine {name}.toml, which this check has written.",
                             "the crossover is proportional to alpha/beta, and alpha halves with the latencies, beta with the time of a byte",
                             words=WORDS)
    work.predicted(truths)
