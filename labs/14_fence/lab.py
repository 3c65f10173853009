"""RMI: how many buffers an aggregation factor saves, and why the end of a fence needs termination detection."""

import re

from frame import variant as numbers
from frame.blanks import Truth
from frame.run import DEADLOCK, TIMED_OUT
from frame.say import and_then

TITLE = "Remote method invocation: aggregation, and the end of a fence"
MINUTES = 40
BLANKS_COME_FIRST = True  # the predictions about part 3 are compared with a run of the student's rule
INTERFACE = "rmi"
NODES = 5
RANKS, OPTIONS = NODES, ("--deadlock", "abort")

BUFFER_BYTES, REQUEST_BYTES = 16384, 32
WAVES_MOST = 12
PROGRAM = -1
BEFORE = (-1, -2)  # the sums before wave 1
SENT = "sends {peer} {a} requests in buffer"  # begins RMI's sentences for a buffer that is sent
LOST = re.compile(r"^paper: ended in wave (\d+), left: (.*)$", re.M)
ENDED = re.compile(r"^story (\d+) ended in wave (\d+)$", re.M)


# --- Stories. A request is (from, to, cause, interval, late); see Request in program.cpp. ---


def right(wave, now, before):
    return wave > 1 and now[0] == before[1]


# Rules that are wrong; `now` and `before` are (sent, executed).
WRONG = {
    "paper": lambda wave, now, before: now[0] == now[1],
    "zero_later": lambda wave, now, before: wave > 1 and now[0] == now[1],
    "zero_twice": lambda wave, now, before: now[0] == now[1] and before[0] == before[1],
    "unchanged": lambda wave, now, before: now == before,
    "sent_unchanged": lambda wave, now, before: now[0] == before[0],
    "executed_unchanged": lambda wave, now, before: now[1] == before[1],
    "reversed": lambda wave, now, before: wave > 1 and now[1] == before[0],
    "before_zero": lambda wave, now, before: before[0] == before[1],
    "second_wave": lambda wave, now, before: wave == 2,
    "third_wave": lambda wave, now, before: wave == 3,
}


def sums(story, wave):
    """(sent, executed) that all nodes count for a wave, if the fence has not ended before."""
    executed = sum(interval < wave for _, _, _, interval, _ in story)
    sent = sum(cause == PROGRAM or story[cause][3] < wave for _, _, cause, _, _ in story)
    return sent, executed


def early(story):
    """Whether the counts by colour are equal in wave 1: each request that was sent before its sender's arrival, and only those, was
    executed before its receiver's."""
    sent = [number for number, (_, _, cause, _, _) in enumerate(story) if cause == PROGRAM or story[cause][3] == 0]
    return all(story[number][3] == 0 for number in sent)


def left(story, wave):
    """The requests that are not executed when the fence ends with a wave."""
    return [number for number, (_, _, _, interval, late) in enumerate(story) if interval > wave or interval == wave and late]


def end(story, rule):
    """The wave with which a rule ends the story's fence, or None."""
    return next((wave for wave in range(1, WAVES_MOST + 1) if rule(wave, sums(story, wave), sums(story, wave - 1) if wave > 1 else BEFORE)),
                None)


def fails(story, rule):
    """Whether a rule ends the story's fence while requests are left, or too late."""
    wave = end(story, rule)
    return wave is None or bool(left(story, wave)) or wave > waves_most(story)


def last(story):
    return max(interval for _, _, _, interval, _ in story)


def waves_most(story):
    """A right rule ends with the second wave after the last request, at the latest. One more is granted."""
    return last(story) + 3


def valid(story):
    """Whether the nodes can follow the story, up to each wave: no event depends on itself, and no request that is executed before the
    decision on a wave depends on it."""
    waves = last(story) + 1
    after = {}  # event -> the events that it depends on

    def add(event, *causes):
        after.setdefault(event, set()).update(causes)
    for wave in range(1, waves + 1):
        for node in range(NODES):
            add(("report", node, wave), *([("decision", wave - 1)] if wave > 1 else []))
            add(("decision", wave), ("report", node, wave))
    for number, (_, to, cause, interval, late) in enumerate(story):
        add(("execute", number), *([("execute", cause)] if cause != PROGRAM else []), *([("report", to, interval)] if interval else []),
            *([("decision", interval)] if late else []))
        add(("report", to, interval + 1), ("execute", number))
    reached = {event: reaches(after, event) for event in after}
    return all(reached.values()) and all(late or not interval or ("decision", interval) not in reached["execute", number]
                                         for number, (_, _, _, interval, late) in enumerate(story))


def reaches(after, event):
    """The events that an event depends on; empty for a cycle. The event itself is one of them."""
    found, path = set(), set()

    def visit(one):
        if one in path:
            return False
        if one in found:
            return True
        path.add(one)
        good = all(visit(cause) for cause in after.get(one, ()))
        path.discard(one)
        found.add(one)
        return good
    return found if visit(event) else set()


def draw_story(random, count, intervals):
    story = []
    while len(story) < count:
        cause = random.randrange(PROGRAM, len(story))
        of = random.randrange(NODES) if cause == PROGRAM else story[cause][1]
        to = random.choice([node for node in range(NODES) if node != of])
        interval = random.choice(intervals)
        story.append((of, to, cause, interval, int(interval > 0 and random.random() < 0.4)))
    return story


def find(random, count, intervals, holds):
    """A valid story for which `holds`."""
    for _ in range(numbers.TRIES):
        story = draw_story(random, count, intervals)
        if holds(story) and valid(story):
            return story
    return None


# Stories that are rare among random ones; their nodes are permuted. In the first the sums are zero twice, and in the second they do not
# change from a wave to the next, while requests are left.
ZERO_TWICE = ((1, 4, PROGRAM, 2, 0), (4, 2, 0, 1, 1), (4, 0, 0, 3, 0), (2, 1, PROGRAM, 0, 0), (0, 4, 2, 3, 1), (0, 4, 2, 2, 1))
UNCHANGED = ((1, 3, PROGRAM, 2, 0), (3, 4, 0, 2, 0), (2, 4, PROGRAM, 0, 0), (3, 2, 0, 2, 0), (3, 0, 0, 3, 0), (4, 1, 2, 3, 1))


def draw_stories(random):
    """Five stories: a quiet one, two in which the paper's rule fails at once (in fences of both colours), and the rare ones."""
    def at_once(story):
        return end(story, WRONG["paper"]) == 1 and left(story, 1) and not early(story)
    stories = [find(random, 5, (0,), lambda story: any(cause != PROGRAM for _, _, cause, _, _ in story)),
               find(random, 5, (0, 0, 1, 1, 2), lambda story: at_once(story) and last(story) == 2 and end(story, right) == 4),
               find(random, 6, (0, 0, 1, 1, 2), at_once)]
    for story in (ZERO_TWICE, UNCHANGED):
        nodes = random.sample(range(NODES), NODES)
        stories.append([(nodes[of], nodes[to], *request) for of, to, *request in story])
    return stories


# --- Variants ---


def variant(random):
    return numbers.telling(lambda: draw(random), telling)


def draw(random):
    first, source, victim, other, _ = random.sample(range(NODES), NODES)
    stories = draw_stories(random)
    if None in stories:
        return None
    rows = [(number, *request) for number, story in enumerate(stories) for request in story]
    factors = [random.choice((50, 60, 70, 80, 90)), 4000, random.choice((200, 300, 400))]
    rates = [1000000, 1000000, random.choice((70, 90, 110, 130))]
    v = {"nodes": NODES, "first": first, "source": source, "victim": victim, "page_other": other}
    v["factor"], v["poll_rate"] = factors, rates
    v["requests"] = [random.randrange(1000, 3000), random.randrange(2000, 6000), random.randrange(1000, 3000)]
    v["most_waves"] = WAVES_MOST
    v["stories"], v["quiet"] = len(stories), [int(last(story) == 0) for story in stories]
    v["waves_most"] = [waves_most(story) for story in stories]
    for name, column in zip(("story_of", "from", "to", "cause", "interval", "late"), zip(*rows)):
        v[name] = list(column)
    v["cause"] = [cause + 1 for cause in v["cause"]]  # variant.h has no negative numbers
    v["page_story"] = table(stories[1])
    v["page_buffers"] = "\n".join(f"    {to + 1}     {v['requests'][to]:>6}    {factors[to]:>6}   {rates[to]:>9}" for to in range(3))
    return v


def table(story):
    return "\n".join(f"    {number}        {of}     {to}   {'the program' if cause == PROGRAM else f'request {cause}  '}   {interval}"
                     f"{'          late' if late else ''}" for number, (of, to, cause, interval, late) in enumerate(story))


def stories_of(v):
    """The stories of a variant."""
    rows = zip(v["story_of"], v["from"], v["to"], (cause - 1 for cause in v["cause"]), v["interval"], v["late"])
    stories = [[] for _ in range(v["stories"])]
    for number, *request in rows:
        stories[number].append(tuple(request))
    return stories


def telling(v):
    """Whether each wrong rule fails in a story, and each buffer count differs from what its factor alone gives."""
    if v is None:
        return False
    stories = stories_of(v)
    requests, factor, rate = v["requests"], v["factor"], v["poll_rate"]
    return (all(any(fails(story, rule) for story in stories) for rule in WRONG.values())
            and not any(fails(story, right) for story in stories)
            and requests[0] % factor[0] and requests[1] % (BUFFER_BYTES // REQUEST_BYTES) and requests[2] % rate[2] > 1
            and -(-requests[2] // rate[2]) != -(-requests[2] // factor[2]))


# --- The check ---


def check(work):
    v, findings = work.variant, work.findings
    mine = work.run(arguments=("paper",), trace="trace_mine")
    lost = judge_story(v, mine, findings)
    done = work.run()
    if done.status != 0:
        findings.say(done.trouble)
    if findings or not lost:
        return findings
    predict(work, dict(ENDED.findall(done.out)))
    return findings


def judge_story(v, done, findings):
    """The student's counterexample. Returns the requests that were left."""
    if done.status in (DEADLOCK, TIMED_OUT):
        findings.say(and_then("BLANK 1: the nodes cannot follow your story: a node waits for a request that is sent later, or never",
                              done.trouble))
        return None
    found = LOST.search(done.out)
    if not findings.unless(found, done.trouble if done.status else "BLANK 1: node 0 did not print how the fence of your story ended"):
        return None
    wave, lost = found.groups()
    if not findings.unless(lost != "none", f"BLANK 1: the paper's rule ends the fence of your story in wave {wave}, and nothing is left: "
                           "which request makes its sum too small by one?"):
        return None
    wanted = f"from {v['source']} to {v['victim']}"
    findings.unless(wanted in lost, f"BLANK 1: the paper's rule ends the fence of your story in wave {wave} while requests are left ({lost}), "
                    f"but none {wanted}")
    return lost


def predict(work, ended):
    buffers = work.run(arguments=("buffers",), trace="trace_buffers")
    paper = work.run(arguments=("paper", "2"), trace="trace_paper")
    findings = work.findings
    found = LOST.search(paper.out)
    for done, is_there in ((buffers, True), (paper, found)):
        if not findings.unless(done.status == 0 and is_there, done.trouble):
            return
    trace = buffers.trace
    sends = {definition["number"] % 256 for definition in trace.definitions[0] if definition["kind"] == "library_event" and SENT in definition["text"]}
    sent = {to: [event for event in trace.of("library_event", rank=0) if event.event in sends and event.destination == to]
            for to in (1, 2, 3)}
    lines = "Run `margay lab run -- buffers`, then count the lines of `margay trace print trace --kind library_event --rank 0` with `sends rank {}`. {}"
    look = "Run `margay lab run -- paper 2`, and write the sums of each wave on paper."
    work.predicted({
        "buffers_1": Truth(len(sent[1]), lines.format(1, "When is the last buffer sent?"), "A buffer for each full factor, and one for the rest."),
        "buffers_2": Truth(len(sent[2]), lines.format(2, "How many requests have room in one?"),
                           f"{BUFFER_BYTES} bytes have room for {BUFFER_BYTES // REQUEST_BYTES} requests, fewer than the factor."),
        "buffers_3": Truth(len(sent[3]), lines.format(3, "What else sends a buffer that is not full?"),
                           "Each poll sends what lies in the buffers, before the factor is reached."),
        "paper_wave": Truth(int(found[1]), look, "In this wave as many requests were counted as sent as were counted as executed."),
        "paper_left": Truth([int(one.split()[0]) for one in found[2].split(", ")], look + " Which requests does nobody count?",
                            "They are executed after the decision. Requests that were executed before their receivers' reports, but sent after "
                            "those of their senders, hide them in the sums."),
        "right_wave": Truth(int(ended["2"]), "Run `margay lab run`. Until which wave must all requests have been executed, so that the next one "
                            "can find it?", "All requests were executed before the wave before it."),
    })
