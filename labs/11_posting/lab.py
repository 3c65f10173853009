"""Posting a receive atomically: a message that comes between the search and the insertion is lost; find it, and cure it."""

from collections import defaultdict

from frame.blanks import Truth
from frame.walks import walk_of

TITLE = "Posting atomically: the message between the search and the insertion"
MINUTES = 25
RANKS, OPTIONS = 2, ("--trace-walks",)

SENDER, RECEIVER = 0, 1
MAIL, ANSWERS = 4, 6
BEGINS, INSERTS, SEARCHES, ACTIVATES, TAKES = range(10, 15)
STEPS = {BEGINS: "the receive began", INSERTS: "its entry was inserted", SEARCHES: "it searched the heap",
         ACTIVATES: "its entry was activated", TAKES: "it took its message from the heap"}
LAST = 9  # a turn after all steps


def variant(random):
    """Trials of one receive with a message at each turn, and of two receives that want the same tag."""
    trials = [[turn] for turn in (0, 1, 2, 3, LAST)] + [[0, 1], [0, 2], random.choice(([1, 2], [1, 3], [1, LAST]))]
    random.shuffle(trials)
    tags = random.sample(range(10, 100), len(trials))
    messages = [(trial, turn) for trial, turns in enumerate(trials) for turn in turns]
    return {"trial_tag": tags, "trial_receives": [len(turns) for turns in trials],
            "message_trial": [trial for trial, _ in messages], "message_turn": [turn for _, turn in messages],
            "page_messages": "\n".join(rows(trials, tags))}


def rows(trials, tags):
    """The page's table: a trial, its receives, its messages."""
    message = receive = 1
    for turns, tag in zip(trials, tags):
        receives = " and ".join(f"receive {receive + i}" for i in range(len(turns)))
        when = "; ".join(f"message {message + i} {when_words(turn)}" for i, turn in enumerate(turns))
        yield f"     {tag}    {receives:<25} {when}"
        message, receive = message + len(turns), receive + len(turns)


def when_words(turn):
    return {0: "before the first step", LAST: "after all steps"}.get(turn, f"after step {turn}")


class Run:
    """A run by its trace: messages in the order of sending, and which receive got which."""

    def __init__(self, done, v):
        self.trace, self.v = done.trace, v
        self.messages = self.trace.puts(portal=MAIL, source=SENDER, destination=RECEIVER)
        self.walks = {number: walk_of(self.trace, message) for number, message in enumerate(self.messages, 1)}
        self.answers = [(put.sent.match_bits >> 32, put.sent.match_bits & 0xFFFFFFFF)
                        for put in self.trace.puts(portal=ANSWERS, source=RECEIVER)]
        self.got = dict(self.answers)
        self.getter = {message: receive for receive, message in self.answers}
        self.notes = [put.sent for portal in STEPS for put in self.trace.puts(portal=portal, source=RECEIVER)]
        self.notes.sort(key=lambda event: event.time)

    def pairs(self):
        """(receive, message) as they belong together: the first that was posted gets the first that was sent."""
        return [(number, number) for number in range(1, len(self.v["message_trial"]) + 1)]

    @property
    def lost(self):
        return [message for _, message in self.pairs() if message not in self.getter]

    @property
    def hungry(self):
        return [receive for receive, _ in self.pairs() if receive not in self.got]

    def around(self, message):
        """The steps before and after a message's arrival, as words."""
        at = self.walks[message].message.arrived.time
        before = [note for note in self.notes if note.time < at]
        after = next((note for note in self.notes if note.time > at and note.portal != BEGINS), None)
        text = f"after {STEPS[before[-1].portal]}" if before else "first of all"
        same = after and before and after.match_bits == before[-1].match_bits
        return f"{text}, before {STEPS[after.portal]}" if same else text

    def name(self, message):
        """As check and trace name it."""
        return f"message {message} ({self.messages[message - 1].name} in the trace)"


def whole(run, v, findings):
    """Whether all messages were sent, at the turns of the page."""
    counted = len(run.messages) == len(v["message_trial"]) and None not in run.walks.values()
    steps, at = defaultdict(int), {}
    trial_of_receive = dict(enumerate(v["message_trial"], 1))
    events = [(note.time, note.portal, trial_of_receive.get(note.match_bits)) for note in run.notes]
    for number, walk in run.walks.items() if counted else ():
        trial = v["message_trial"][number - 1]
        at[number] = sum(portal != BEGINS and its == trial and time < walk.message.arrived.time
                         for time, portal, its in events)
    for _, portal, trial in events:
        steps[trial] += portal != BEGINS
    due = {number: min(v["message_turn"][number - 1], steps[v["message_trial"][number - 1]]) for number in at}
    return findings.unless(counted and at == due, "the messages do not come when page.md says: only post() is yours to change, "
                           "and each of its steps has to be one of Desk's")


def check(work):
    findings = work.findings
    racy = work.run(arguments=("racy",), trace="racy")
    if not findings.unless(racy.status == 0, racy.trouble):
        return findings
    predict(work, Run(racy, work.variant))
    done = work.run()
    if not findings.unless(done.status == 0, done.trouble):
        return findings
    run = Run(done, work.variant)
    if whole(run, work.variant, findings):
        judge(run, findings)
    return findings


def judge(run, findings):
    """What became of each message of the student's run."""
    for receive, message in run.pairs():
        walk = run.walks[message]
        look = f"look at `margay trace print trace --around {walk.message.story}`"
        if message not in run.getter:
            where = f'the entry "{walk.taken}" took it'
            end = "it lies in the heap, and nobody looks there again" if walk.taken == "unexpected" else \
                "its receive had taken an earlier message from the heap, and this one in its buffer was lost"
            findings.say(f"{run.name(message)} was lost: it came {run.around(message)}; {where}, and {end}: {look}")
        elif run.getter[message] != receive:
            findings.say(f"{run.name(message)} went to receive {run.getter[message]} and belongs to receive {receive}: a message "
                         f"overtook another; it came {run.around(message)}: {look}")
    for receive in run.hungry:
        if receive not in run.lost:
            findings.say(f"receive {receive} got no message")


def predict(work, run):
    lost, hungry = run.lost, run.hungry
    first = lost[0]
    story = run.messages[first - 1].story
    look = "Look at the racy run: `margay trace print racy` and `margay trace messages racy`."
    work.predicted({
        "lost": Truth(lost, look + " Each receive that has its message tells rank 0 so, by a put to portal 6.",
                      f"It came {run.around(first)}: the search did not see it yet, and the entry was not there."),
        "lost_taken_by": Truth(run.walks[first].taken, look + " Who takes what no active entry accepts?",
                               "The heap's entry takes whatever no receive's entry takes."),
        "waits": Truth([f"receive {number}" for number in hungry], look,
                       "Its entry is active now, and its message is in the heap: neither finds the other."),
        "number": Truth(run.messages[first - 1].sequence, "It is the number behind 0>1 in the trace of the racy run.",
                        f"margay trace print racy --around {story}")})
