"""A wildcard race, and a deadlock that depends on the schedule: found by a simulator's seeds and its exploration."""

import re

from frame import run
from frame.blanks import Truth

TITLE = "A race and a deadlock of a wildcard: seeds and an exploration that find them, the story, the cure"
MINUTES = 30
BLANKS_COME_FIRST = True
SIMULATED = True
RANKS, OPTIONS = "{ranks}", ("--machine", "paragon", "--compute", "none")
ROUNDS, TAG = 2, 7
SEEDS = range(0, 25)  # of the runs of part 2, which has several rounds; part 1 has one
SEARCHED = range(1, 200)  # seeds among which the answer is found; one in three or more deadlocks
GIVEN = re.compile(r"\d{1,9}:\d{1,9}=\d{1,9}(,\d{1,9}:\d{1,9}=\d{1,9})*")
RESULT = re.compile(r"^result:([ 0-9]*)$", re.M)


def variant(random):
    ranks = random.randrange(4, 6)
    digits = random.sample(range(1, 10), ROUNDS * (ranks - 1))  # all differ, so that each exchange shows
    return {"ranks": ranks, "rounds": ROUNDS, "digits": digits, "last": ranks - 1, "slow": random.randrange(1, ranks - 1)}


def result(done):
    """The printed result, or None for a run that did not end well."""
    found = RESULT.search(done.out)
    return found[1].strip() if found and done.status == 0 else None


def right(v):
    workers = v["ranks"] - 1
    return " ".join("".join(map(str, v["digits"][round * workers:][:workers])) for round in range(ROUNDS))


def racy(work, seed, trace=None):
    return work.simulate(None, "--seed", str(seed), arguments=("racy",), trace=trace)


def chosen(work, wildcards):
    """Part 1 in which wildcards take the messages of these sources."""
    return work.simulate(None, "--wildcards", wildcards, arguments=("racy",))


def check(work):
    found = work.findings
    for seed in SEEDS:
        done = work.simulate(None, "--seed", str(seed))
        if done.status == run.DEADLOCK:
            found.say(f"BLANK 1: part 2 deadlocks with --seed {seed}: {done.trouble}")
        elif found.unless(done.status == 0, done.trouble):
            found.unless(result(done) == right(work.variant), f"BLANK 1: with --seed {seed} part 2 prints {result(done)}, and the digits in the order of the "
                         f"workers are {right(work.variant)}")
        if found:
            return found
    predictions(work)
    return found


def of_seed(work, name, holds, look, why):
    """The truth of a question for a seed: the student's own, if `holds(run)`."""
    said = (work.predictions or {}).get(name, "").strip()
    if said.isdecimal() and int(said) < 2**63 and holds(racy(work, int(said))):
        return Truth(said, look, why)
    if work.predictions is not None:
        return Truth("another seed", look, why, by="a seed with which part 1 does that", form="a seed")
    return Truth(next(seed for seed in SEARCHED if holds(racy(work, seed))), look, why)


def of_wildcards(work, look):
    """The truth of the question for sources of wildcards: the student's own, if the run deadlocks."""
    why = "the last worker's message is taken, so the named receive never gets it"
    said = (work.predictions or {}).get("wildcards_deadlock", "").strip()
    if GIVEN.fullmatch(said) and chosen(work, said).status == run.DEADLOCK:
        return Truth(said, look, why)
    if work.predictions is not None:
        return Truth("other sources", look, why, by="sources with which part 1 deadlocks", form="RANK:NUMBER=SOURCE,...")
    return Truth(f"0:1={work.variant['last']}", look, why)


def predictions(work):
    v = work.variant
    usual = result(racy(work, 0))
    look = f"Run `margay simulate -n {v['ranks']} --machine paragon --compute none --seed N ./program racy` for N = 1, 2, 3, ..."
    truths = {
        "seed_other": of_seed(work, "seed_other", lambda done: result(done) not in (None, usual), look, "messages arrive in another order"),
        "seed_deadlock": of_seed(work, "seed_deadlock", lambda done: done.status == run.DEADLOCK, look, "a wildcard takes a message of the last worker"),
    }
    truths["wildcards_deadlock"] = of_wildcards(work, f"Run `margay simulate -n {v['ranks']} --machine paragon --explore 100 ./program racy`.")
    seed = truths["seed_deadlock"].value
    if str(seed).isdecimal():
        trace = racy(work, seed, trace="trace_deadlock").trace
        puts = [message for message in trace.puts(portal=0, tag=TAG) if message.destination == 0]
        left = [message.source for message in puts if not message.has("receive_complete")]
        look = "Record a trace of that seed, and see `margay trace messages trace_deadlock`."
        truths["left_source"] = Truth(left[0], look, "it waits in the heap: rank 0 waits for another one")
        truths["wrong_source"] = Truth(v["last"], look + " Which message do the last receive of a round, and the deadlock's report, wait for?",
                                       "the wildcards leave fewer of its messages than the named receives need")
    work.predicted(truths)
