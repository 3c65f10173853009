"""Posting a receive atomically: a message that arrives between the search and the insertion is lost."""

import os
import shutil
from collections import defaultdict
from itertools import combinations

from frame import files, run as running, variant as numbers
from frame.blanks import Truth
from frame.say import CouldNotRun, Findings, NotYet
from frame.walks import walk_of

TITLE = "Posting atomically: the message between the search and the insertion"
MINUTES = 30
ALSO = ("losing.c",)
IN_ORDER = True  # part 1 can be judged while BLANK 1 is as it was handed out
RANKS, OPTIONS = 2, ("--trace-walks",)

SENDER, RECEIVER = 0, 1
MAIL, ANSWERS = 4, 6
BEGINS, INSERTS, SEARCHES, ACTIVATES, TAKES, UNCHANGED = range(10, 16)
STEPS = {BEGINS: "receive {} began", INSERTS: "receive {}'s entry was inserted", SEARCHES: "receive {} searched the heap",
         ACTIVATES: "receive {}'s entry was activated", TAKES: "receive {} took a message from the heap",
         UNCHANGED: "receive {}'s entry was activated"}
LAST = 1000  # a turn after all steps, even of a posting that loops for ever


# The cases in which a posting can fail, each in every variant: a message at each turn; two messages for two receives with one tag;
# messages of a tag that no receive accepts, so that the count of arrivals changes although the search finds nothing.
OTHER = "other"
ONE = [[(0, "")], [(1, "")], [(2, "")], [(3, "")]]
TWO = [[(0, ""), (1, "")], [(0, ""), (2, "")], [(1, ""), (2, "")]]
OTHERS = [[(1, OTHER), (2, OTHER), (LAST, "")], [(2, OTHER), (3, "")], [(2, OTHER), (3, OTHER), (4, "")]]

# Systematic cases, against postings that are right for a variant's trials only: unwanted messages at any of the first turns; an unwanted
# message and a wanted one; two wanted messages; an unwanted message at each of many turns.
TURNS, MANY_TURNS = range(1, 6), range(1, 21)
EVERY = [*([*((turn, OTHER) for turn in turns), (LAST, "")] for count in (1, 2, 3) for turns in combinations(TURNS, count)),
         *([(turn, OTHER), (wanted, "")] for turn, wanted in combinations(TURNS, 2)),
         *([(first, ""), (second, "")] for first, second in combinations((*TURNS, LAST), 2)),
         [*((turn, OTHER) for turn in MANY_TURNS), (LAST, "")]]
MOST_MESSAGES = 4  # the most messages that a sentence lists


# Rounds of losing.c: messages before the receives, whether a call polls in between, receives, number of tags, messages after. The
# first four are in every variant, so that messages are lost, found, found by another receive, and taken in time.
LOST, FOUND, IN_TIME, TWO_TAGS = (1, 0, 1, 1, 0), (1, 1, 1, 1, 0), (0, 0, 1, 1, 1), (2, 0, 2, 2, 0)
ONE_TAG = ((2, 0, 2, 1, 0), (1, 0, 2, 1, 1))


def rounds_of(random):
    rounds = [LOST, FOUND, IN_TIME, TWO_TAGS, random.choice(ONE_TAG)]
    random.shuffle(rounds)
    tags = [2 * tag for tag in random.sample(range(50, 400), len(rounds))]
    before, looks, receives, kinds, after = zip(*rounds)
    sends = [tag + (i if number == 2 else 0) for tag, number, early, late in zip(tags, kinds, before, after) for i in range(early + late)]
    return {"send_tag": sends, "round_tag": tags, "round_before": list(before), "round_look": list(looks),
            "round_receives": list(receives), "round_tags": list(kinds), "round_after": list(after)}


def round_rows(v):
    """The page's table of losing.c, a line for each round."""
    message = receive = 1
    for tag, before, looks, receives, kinds, after in zip(*(v["round_" + name] for name in ("tag", "before", "look", "receives", "tags", "after"))):
        def named(word, first, count):
            return " and ".join(f"{word} {first + i} (tag {tag + (i if kinds == 2 else 0)})" for i in range(count))
        steps = [named("message", message, before) and f"{named('message', message, before)} sent", looks and "rank 1 calls MPI_Iprobe",
                 f"{named('receive', receive, receives)} posted",
                 named("message", message + before, after) and f"{named('message', message + before, after)} sent"]
        yield "     - " + "; ".join(step for step in steps if step)
        message, receive = message + before + after, receive + receives


def variant(random):
    """Rounds of losing.c; and trials in random order: each has its receives' tag, and its messages' turns and tags."""
    rounds = rounds_of(random)
    trials = [*ONE, *TWO, [(1, ""), random.choice(((3, ""), (LAST, "")))], *OTHERS]
    random.shuffle(trials)
    v = schedule(trials, random.sample(range(10, 100), len(trials)), lambda: random.randrange(1, 10))
    return {**rounds, **v, "page_rounds": "\n".join(round_rows(rounds)), "page_messages": "\n".join(rows(v))}


def schedule(trials, tags, unwanted):
    """The variant's numbers for trials: their tags, and each message's trial, turn and tag. `unwanted` returns a tag that no receive accepts."""
    messages = [(trial, turn, unwanted() if whose else tags[trial])
                for trial, messages in enumerate(trials) for turn, whose in messages]
    return {"trial_tag": tags, "trial_receives": [sum(not whose for _, whose in messages) for messages in trials],
            "message_trial": [trial for trial, _, _ in messages], "message_turn": [turn for _, turn, _ in messages],
            "message_tag": [tag for _, _, tag in messages]}


def rows(v):
    """The page's table, a line for each trial: its receives and messages."""
    receive = 1
    for trial, (tag, count) in enumerate(zip(v["trial_tag"], v["trial_receives"])):
        receives = " and ".join(f"receive {receive + i}" for i in range(count))
        yield f"     {tag}    {receives:<25} {messages_of(v, trial)}"
        receive += count


def messages_of(v, trial):
    """A trial's messages, and when they arrive, as text."""
    its = [(number, turn, tag) for number, (of, turn, tag) in
           enumerate(zip(v["message_trial"], v["message_turn"], v["message_tag"]), 1) if of == trial]
    return "; ".join(f"message {number}{'' if tag == v['trial_tag'][trial] else f' (tag {tag})'} {when_words(turn)}"
                     for number, turn, tag in its)


def when_words(turn):
    return {0: "before the first step", LAST: "after all steps"}.get(turn, f"after step {turn}")


class Run:
    """A run of program.cpp by its trace: messages in the order of sending, and which receive got which."""

    def __init__(self, done, v):
        self.trace, self.v = done.trace, v
        self.place = os.path.basename(done.folder) if os.path.basename(os.path.dirname(done.folder)) != "other" else "other/trace"
        self.messages = self.trace.puts(portal=MAIL, source=SENDER, destination=RECEIVER)
        self.walks = {number: walk_of(self.trace, message) for number, message in enumerate(self.messages, 1)}
        self.answers = [(put.sent.match_bits >> 32, put.sent.match_bits & 0xFFFFFFFF)
                        for put in self.trace.puts(portal=ANSWERS, source=RECEIVER)]
        self.got = dict(self.answers)
        self.getter = {message: receive for receive, message in self.answers}
        self.notes = [put.sent for portal in STEPS for put in self.trace.puts(portal=portal, source=RECEIVER)]
        self.notes.sort(key=lambda event: event.time)

    def pairs(self):
        """(receive, message) pairs as MPI orders them: the receive posted first gets the message sent first."""
        wanted = [number for number, (trial, tag) in enumerate(zip(self.v["message_trial"], self.v["message_tag"]), 1)
                  if tag == self.v["trial_tag"][trial]]
        return list(enumerate(wanted, 1))

    def steps(self, receive):
        """The steps of a receive's posting, in order."""
        return [note.portal for note in self.notes if note.match_bits == receive and note.portal != BEGINS]

    def missed(self, receive, message):
        """Why a receive did not get its message, which is in the heap."""
        came = self.walks[message].message.arrived.time
        searched = any(note.portal == SEARCHES and note.match_bits == receive and note.time > came for note in self.notes)
        if receive in self.got:
            return f"receive {receive} had taken message {self.got[receive]}"
        return f"receive {receive} searched it after that, found a message but did not take it" if searched else \
            f"receive {receive} does not search it after that"

    @property
    def lost(self):
        return [message for _, message in self.pairs() if message not in self.getter]

    @property
    def hungry(self):
        return [receive for receive, _ in self.pairs() if receive not in self.got]

    def trial_of(self, receive):
        trial = 0
        while receive > sum(self.v["trial_receives"][:trial + 1]):
            trial += 1
        return trial

    def around(self, message):
        """The steps before and after a message's arrival, as text."""
        at = self.walks[message].message.arrived.time
        before = [note for note in self.notes if note.time < at]
        after = next((note for note in self.notes if note.time > at and note.portal != BEGINS), None)
        text = f"after {words(before[-1])}" if before else "before any step"
        same = after and before and after.match_bits == before[-1].match_bits
        return f"{text}, before {words(after)}" if same else text

    def name(self, message):
        """A message's names in the check and in the trace."""
        return f"message {message} ({self.messages[message - 1].name} in the trace)"


def words(note):
    """The step that a note of rank 1 records, as text."""
    return STEPS[note.portal].format(note.match_bits)


def whole(run, v, findings):
    """Whether all messages were sent, at the turns of the page."""
    counted = len(run.messages) == len(v["message_trial"]) and None not in run.walks.values()
    steps, at = defaultdict(int), {}
    events = [(note.time, note.portal, run.trial_of(note.match_bits)) for note in run.notes]
    for number, walk in run.walks.items() if counted else ():
        trial = v["message_trial"][number - 1]
        at[number] = sum(portal != BEGINS and its == trial and time < walk.message.arrived.time
                         for time, portal, its in events)
    for _, portal, trial in events:
        steps[trial] += portal != BEGINS
    due = {number: min(v["message_turn"][number - 1], steps[v["message_trial"][number - 1]]) for number in at}
    return findings.unless(counted and at == due, "the messages do not arrive when page.md says: change only post(), "
                           "and make each of its steps by a function of Desk")


class Mpi:
    """A run of losing.c by its trace: which receive got which message, both by the page's numbers."""

    def __init__(self, done, v):
        self.trace, self.v = done.trace, v
        self.messages = [message for message in self.trace.puts(portal=0, source=SENDER, destination=RECEIVER)
                         if message.begun and message.tag in v["send_tag"]]
        number = {message.sequence: i for i, message in enumerate(self.messages, 1)}
        events = self.trace.of("post_receive", "receive_complete", rank=RECEIVER)
        posts = [event for event in events if event.kind == "post_receive" and event.tag in v["send_tag"]]
        self.receives = list(range(1, len(posts) + 1))
        ends = {event.request: event.sequence for event in events if event.kind == "receive_complete"}
        self.got = {i: number[ends[post.request]] for i, post in enumerate(posts, 1) if ends.get(post.request) in number}

    @property
    def whole(self):
        return [message.tag for message in self.messages] == self.v["send_tag"] and len(self.receives) == sum(self.v["round_receives"])

    @property
    def empty(self):
        return [receive for receive in self.receives if receive not in self.got]

    @property
    def lost(self):
        """Messages that no receive got."""
        return [message for i, message in enumerate(self.messages, 1) if i not in self.got.values()]


def part_1(work):
    """Runs losing.c with both libraries, and judges the predictions about it."""
    findings = work.findings
    theirs = files.read(work.path("losing.c")) if os.path.exists(work.path("losing.c")) else None
    if theirs != files.read(os.path.dirname(os.path.realpath(__file__)), "losing.c"):
        raise NotYet("losing.c is not as it was handed out, and part 1 asks about that program: get it back by `margay lab start "
                     f"posting fresh --seed {work.variant['seed']}`, and copy fresh/losing.c here")
    runs = [work.run(None, *options, stem="losing", trace=trace) for options, trace in ((("--mpi", "racy"), "lost"), ((), "kept"))]
    for done in runs:
        if not findings.unless(done.status == 0, f"losing.c: {done.trouble}"):
            return
    racy, kept = (Mpi(done, work.variant) for done in runs)
    if not findings.unless(racy.whole and kept.whole and not kept.empty and racy.empty, "the runs of losing.c do not show the "
                           "expected losses: is variant.h as `margay lab run` wrote it?"):
        return
    exchanged = [receive for receive in racy.receives if receive in racy.got and racy.got[receive] != kept.got[receive]]
    look = "Look at the run with the racy library: `margay trace print lost --rank 1 --call MPI_Irecv`: each receive searches, then all " \
           "messages that were sent before arrive."
    work.predicted({
        "empty": Truth(racy.empty, look, "Its message arrived after the search and before the insertion, so it went into the heap, "
                       "which this receive does not search again."),
        "exchanged": Truth(exchanged, look + " The next receive with this tag searches, too.",
                           "It found in the heap a message that the receive before it had missed, or got the message after its own."),
        "number": Truth(racy.lost[0].sequence, "It is the number after 0>1 in the first message of `margay trace messages lost --never-received`.",
                        f"Its story, once `margay lab check` has run: margay trace story lost {racy.lost[0].story}")})


def check(work):
    findings = work.findings
    part_1(work)
    racy = work.run(arguments=("racy",), trace="racy")
    if not findings.unless(racy.status == 0, racy.trouble):
        return findings
    predict(work, Run(racy, work.variant))
    done = work.run()
    if not ended_well(done, findings):
        return findings
    run = Run(done, work.variant)
    if whole(run, work.variant, findings):
        judge(run, findings)
    if not findings:
        other_turns(work)
    return findings


def ended_well(done, findings):
    endless = next((line for line in done.err.splitlines() if "goes round for ever" in line), None)
    if endless:
        findings.say(f"BLANK 1: {endless}, though no more messages arrived: with what does it compare the count of arrivals?")
    return not endless and findings.unless(done.status == 0, done.trouble)


def other_turns(work):
    """Whether the posting is right with messages at other turns, too. The folder `other` has what was run."""
    folder, findings = work.path("other"), Findings()
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    v = {**work.variant, **schedule(EVERY, list(range(10, 10 + len(EVERY))), lambda: 1)}
    shutil.copy(work.program(), folder)
    with open(os.path.join(folder, "variant.h"), "w", encoding="utf-8") as file:
        file.write(numbers.header(v))
    done = running.Work(work.lab, folder, v).run()
    trial = None
    try:
        run = Run(done, v)
        if ended_well(done, findings) and whole(run, v, findings):
            trial = judge(run, findings)
        elif run.notes:
            trial = run.trial_of(run.notes[-1].match_bits)
    except CouldNotRun:  # the run died before it had a trace
        findings.say(done.trouble)
    if not findings:
        shutil.rmtree(folder)
        return
    its = [] if trial is None else messages_of(v, trial).split("; ")
    when = f"{': ' if its else ''}{'; '.join(its[:MOST_MESSAGES])}{'; ...' if len(its) > MOST_MESSAGES else ''}"
    work.findings.say(f"BLANK 1: the posting is right for the messages of page.md, but not whenever they arrive (folder `other`{when}). "
                      + next(iter(findings)))


def judge(run, findings):
    """Judges what happened to each message of the student's run; the first trial that went wrong, or None."""
    before, wrong = len(findings.sentences), []
    for receive, message in run.pairs():
        if run.getter.get(message) != receive:
            wrong.append(run.trial_of(receive))
        walk = run.walks[message]
        look = f"see what arrived between which steps: `margay trace print {run.place} --rank 1 --kind kernel_send,kernel_match`"
        if message not in run.getter:
            where = f'the entry "{walk.taken}" took it'
            end = f"it is in the heap, and {run.missed(receive, message)}" if walk.taken == "unexpected" else \
                "its receive had taken an earlier message from the heap, so the one in its buffer was lost"
            findings.say(f"{run.name(message)} was lost: it arrived {run.around(message)}; {where}, and {end}: {look}")
        elif run.getter[message] != receive:
            findings.say(f"{run.name(message)} went to receive {run.getter[message]} but belongs to receive {receive}: a message "
                         f"overtook another; it arrived {run.around(message)}: {look}")
    lost = run.lost
    for receive, message in run.pairs():
        if receive in run.hungry and message not in lost:
            findings.say(f"receive {receive} got no message")
    if len(findings.sentences) == before:
        judge_steps(run, findings)
    return wrong[0] if wrong else None


def judge_steps(run, findings):
    """Finds postings that lost nothing here only because no turn is at the one moment at which a message would be lost."""
    for receive, _ in run.pairs():
        steps = run.steps(receive)
        if TAKES in steps:
            continue
        how = "activated by activate()" if ACTIVATES in steps else "inserted active"
        if not findings.unless(UNCHANGED in steps, f"receive {receive}: its entry was {how}. Between your last call of arrivals() and that "
                               "step a message can arrive, and is lost; only activate_if_unchanged() compares and activates atomically; "
                               f"see its notes: `margay trace print {run.place} --rank 1 --kind kernel_send`"):
            return


def predict(work, run):
    lost, hungry = run.lost, run.hungry
    first = lost[0]
    look = "Look at the racy run: `margay trace print racy --rank 1 --kind kernel_send,kernel_match`, and `margay trace messages racy`."
    receives = tuple(f"receive {receive}" for receive, _ in run.pairs())
    work.predicted({
        "lost": Truth(lost, look + " Each receive that has its message notifies rank 0, by a put to portal 6.",
                      f"It arrived {run.around(first)}: too late for the search, and too early for the entry."),
        "lost_taken_by": Truth(run.walks[first].taken, look + " Which entry takes what no active entry of a receive accepts?",
                               "The heap's entry takes every message that no receive's entry takes.", known=("unexpected", *receives),
                               form='an entry: `unexpected`, or `receive` and its number'),
        "waits": Truth([f"receive {number}" for number in hungry], look,
                       "Its entry is active now, and its message is in the heap: neither finds the other.", known=receives,
                       form="`receive` and its number, as in receive 3")})
