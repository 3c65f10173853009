"""Strong scaling to 1,024 ranks, in virtual time: the serial fraction by Amdahl's law, and a model of the messages."""

import re

from frame.blanks import Truth

TITLE = "Strong scaling to 1,024 ranks: a serial fraction, Amdahl's law, and the cost of messages"
MINUTES = 35
BLANKS_COME_FIRST = True
SIMULATED = True
MOST_RANKS, MODEL_RANKS = 1024, 64
RANKS, OPTIONS = MOST_RANKS, ("--machine", "paragon", "--compute", "none")
# Trees of single messages, whose rounds the page counts.
VARIABLES = {"MARGAY_COLLECTIVE": "allreduce=tree,barrier=exchange"}
ALPHA_US = 25  # of the preset paragon: latency with overheads and poll
ROW = re.compile(r"^ *(\d+) +(\S+) +(\S+) +(\S+) +(\S+)$", re.M)
NEAR, EXACT = 0.1, 0.001
SIDE, STEPS = 256, 3


def variant(random):
    cell_ns = 100 * random.randrange(8, 16)
    return {"side": SIDE, "steps": STEPS, "alpha_us": ALPHA_US, "cell_ns": cell_ns, "serial_ns": 1000 * random.randrange(1000, 3000)}


def serial_fraction(v):
    cells_ns = v["side"] ** 2 * v["cell_ns"]
    return v["serial_ns"] / (cells_ns + v["serial_ns"])


def amdahl(v, ranks):
    fraction = serial_fraction(v)
    return 1 / (fraction + (1 - fraction) / ranks)


def check(work):
    v, found = work.variant, work.findings
    done = work.simulate(variables=VARIABLES)
    rows = {int(ranks): tuple(map(float, values)) for ranks, *values in ROW.findall(done.out)}
    if not found.unless(done.status == 0, done.trouble) or not found.unless(
            sorted(rows) == [1 << power for power in range(MOST_RANKS.bit_length())] and "differs" not in done.out,
            "the program does not print a row for each number of ranks, or not the heat of one rank: change only the blanks"):
        return found
    for ranks, (us, _, by_amdahl, model_us) in rows.items():
        true = amdahl(v, ranks)
        if not found.unless(abs(by_amdahl - true) <= EXACT * true, f"BLANK 1: Amdahl's speed-up on {ranks} ranks is not {by_amdahl}: what is the serial part of the "
                            "work of one rank?"):
            break
    for ranks, (us, _, _, model_us) in rows.items():
        if not found.unless(abs(model_us - us) <= NEAR * us, f"BLANK 2: the model's {model_us:.0f} us on {ranks} ranks are more than a tenth off the {us:.0f} us that the run "
                            "takes: which messages of a step follow one another?"):
            break
    if not found:
        predictions(work, rows)
    return found


def predictions(work, rows):
    v = work.variant
    one, two = rows[1][0], rows[MODEL_RANKS][0]
    fitted = (two / one - 1 / MODEL_RANKS) / (1 - 1 / MODEL_RANKS)
    look = "Run `margay simulate -n 1024 --machine paragon --compute none ./program`. "
    best = max(speed_up for _, speed_up, _, _ in rows.values())
    halves = next(ranks for ranks, (_, speed_up, _, _) in sorted(rows.items()) if speed_up < ranks / 2)
    work.predicted({
        "limit": work.near("limit", 1 / serial_fraction(v), NEAR, "Amdahl's speed-up for infinitely many ranks is 1/f.", "1/f"),
        "half": Truth(halves, look + "Compare the column `speed-up` with half of `ranks`.",
                      "the serial part and the messages take as long as the computation on so many ranks"),
        "best": work.near("best", best, NEAR, look + "See the last row: which parts of a step do not shrink with more ranks?",
                          "serial part and messages remain: 1 + 3 log2(p) messages a step, one after the other"),
        "fitted_per_mille": work.near("fitted_per_mille", 1000 * fitted, NEAR, look + f"Solve Amdahl's law for f, with the speed-up on {MODEL_RANKS} ranks.",
                                      f"f = (1/S - 1/p) / (1 - 1/p), p = {MODEL_RANKS}; messages appear as a serial part"),
    })
