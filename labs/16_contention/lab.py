"""Contention on a mesh: messages that share links, and the tree that is free of it."""

import re

from frame.blanks import Truth

TITLE = "Contention on a mesh: messages that share links, and a tree without contention (section 3.1)"
MINUTES = 30
BLANKS_COME_FIRST = True
SIMULATED = True
SIDE, RANKS = 8, 64
OPTIONS = ("--machine", "paragon", "--compute", "none")
VARIABLES = {"MARGAY_COLLECTIVE": "bcast=tree"}
ROW = re.compile(r"^([\w ]+): (\S+) us(?:, busiest link (-?\d+))?$", re.M)
PATTERNS = ("neighbour", "shift", "mirror", "transpose", "edge", "far_corner")
NEAR = 0.02  # of times that are to be equal


def variant(random):
    order = [0, *random.sample(range(1, RANKS), RANKS - 1)]
    # Links are slower than a node's port, so that the time of two messages on one is twice that of one.
    return {"width": random.choice((4, 6)), "corner": random.randrange(4, 8), "bytes": 1000 * random.randrange(200, 400), "order": order, "link_mb": random.choice((20, 25, 40, 50))}


def target(pattern, v, of):
    x, y = of % SIDE, of // SIDE
    return {"neighbour": of ^ 1, "shift": y * SIDE + (x + 2) % SIDE, "mirror": y * SIDE + v["width"] - 1 - x if x < v["width"] else of,
            "edge": x * SIDE if y == 0 else of, "transpose": x * SIDE + y if max(x, y) < v["corner"] else of, "far_corner": RANKS - 1 - of}[pattern]


def busiest(pattern, v):
    """Number of messages on the busiest link, by routes in dimension order."""
    links = {}

    def cross(x, y, to_x, to_y):
        links[x, y, to_x, to_y] = links.get((x, y, to_x, to_y), 0) + 1
    for of in range(RANKS):
        x, y, to = of % SIDE, of // SIDE, target(pattern, v, of)
        while x != to % SIDE:
            following = x + (1 if x < to % SIDE else -1)
            cross(x, y, following, y)
            x = following
        while y != to // SIDE:
            following = y + (1 if y < to // SIDE else -1)
            cross(x, y, x, following)
            y = following
    return max(links.values())


def check(work):
    v, found = work.variant, work.findings
    machine = work.machine("paragon", "narrow.toml", link_bytes_per_s=f"{v['link_mb']}e6")
    done = work.simulate(RANKS, "--machine", machine, "--compute", "none", variables=VARIABLES)
    rows = {name: (float(us), count) for name, us, count in ROW.findall(done.out)}
    if not found.unless(done.status == 0, done.trouble) or not found.unless(
            set(PATTERNS) < set(rows) and len(rows) == len(PATTERNS) + 3, "the program does not print its nine rows: change only the blanks"):
        return found
    for name in PATTERNS:
        mine = int(rows[name][1])
        found.unless(mine == busiest(name, v), f"BLANK 1: busiest(`{name}`) is {mine}: follow one of its messages from switch to switch on "
                     "paper, and compare the links that your code counts")
    tree, shuffled, mended = (rows[name][0] for name in ("tree", "tree of the shuffled communicator", "tree of the mended communicator"))
    found.unless(abs(mended - tree) <= NEAR * tree, f"BLANK 2: the tree of the mended communicator takes {mended:.0f} us, that of MPI_COMM_WORLD {tree:.0f} us, and that "
                 f"of the shuffled one {shuffled:.0f} us: messages of a round still share links")
    if not found:
        predictions(work, rows)
    return found


def predictions(work, rows):
    one = rows["neighbour"][0]
    look = "Run the program on the machine narrow.toml, which the check has written: how many times as long as `neighbour` does {} take?"
    why = "the time in units of that of one message on the link"
    truths = {name: Truth(round(rows[name][0] / one), look.format(f"`{name}`"), why) for name in ("mirror", "transpose")}
    rounds = (RANKS - 1).bit_length()
    truths["tree"] = Truth(round(rows["tree"][0] / (rounds * one)), look.format(f"`tree`, which has {rounds} rounds,"),
                           "each half of a range is a half of the mesh, and a message stays in its range: no two messages of a round meet")
    work.predicted(truths)
