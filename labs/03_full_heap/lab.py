"""The heap of unexpected messages, and what happens when it is full."""

import re

from frame import blanks, variant as numbers
from frame.blanks import Truth
from frame.run import DEADLOCK
from frame.say import and_then, count

TITLE = "The heap of unexpected messages, and what happens when it is full"
MINUTES = 25
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
RANKS, OPTIONS = 2, ("--heap", "{heap}")
# A message's record in the heap, in bytes, as the page states it and `margay run --stats` shows it. The check reads the trace alone.
RECORD, ALIGN = 192, 64
WORD_TAG, URGENT_TAG, LONG_TAG, LATE_TAG = 900, 901, 301, 601
WORDS = 2  # that each rank sends the other: one in the parts before part 3, one in part 3
FATES, FIRST = ("dropped", "held", "truncated"), ("urgent", "held")
COMPLETING = re.compile(r"MPI_(Wait|Test)(all|any|some)?$")
PRINTED = re.compile(r"part 3: (\d+) requests begun, (\d+) not completed, (\d+) messages are not in their part")


def fitting(heap, length):
    """How many messages of a length the heap has room for."""
    return heap // (RECORD + -(-length // ALIGN) * ALIGN)


def telling(drawn):
    """Whether the usual mistakes (not rounded, rounded down, no record) give another number."""
    heap, length = drawn
    return fitting(heap, length) not in (heap // (RECORD + length), heap // (RECORD + length // ALIGN * ALIGN), heap // length,
                                         heap // (-(-length // ALIGN) * ALIGN))


def variant(random):
    heap, length = numbers.telling(lambda: (65536 * random.randrange(1, 4), random.randrange(1500, 9000)), telling)
    fit = fitting(heap, length)
    return {"heap": heap, "bytes": length, "count": fit + random.randrange(5, 15), "record": RECORD, "align": ALIGN,
            "long_bytes": random.randrange(20000, 60000)}


def in_heap(trace, messages):
    return [message for message in messages if trace.owner(message.first("kernel_match")) != "a posted receive"]


def predictions(work, done):
    trace, number = done.trace, work.variant["count"]
    flood = [trace.puts(source=0, portal=0, tag=1 + i)[0] for i in range(number)]
    held = next(message for message in flood if message.has("kernel_hold"))
    urgent = trace.puts(source=0, portal=0, tag=URGENT_TAG)[0]
    long = [trace.puts(source=0, portal=0, tag=LONG_TAG + i)[0] for i in range(number)]
    known = blanks.normal((work.predictions or {}).get("first_held", "")) == [str(held.tag)]
    of_held = f"`margay trace story trace --tag {held.tag}`" if known else \
        "the story of the message that `first_held` asks for (the check names its tag once that answer is right)"
    fate = "dropped" if held.has("kernel_drop") else "held" if held.has("receive_complete") else "lost"
    work.predicted({
        "first_held": Truth(held.tag, "In `margay trace print trace --rank 1 --kind kernel_hold` look for `stays on the wire`.",
                            f"each message takes {RECORD} bytes and its body, rounded up to {ALIGN}; the heap divided by that is the number that "
                            "fit, and the next one has no room"),
        "what": Truth(fate, f"See {of_held}.",
                      "MPI must not lose it, and its send may be complete, so it stays on the wire", FATES),
        "first_there": Truth("urgent" if urgent.arrived.time < held.first("kernel_deposit").time else "held",
                        f"Compare {of_held} with `margay trace story trace --tag {URGENT_TAG}`" +
                        (f", or see `margay trace print trace --around {held.story}`." if known else "."),
                        "messages of a pair do not overtake on the wire: head-of-line blocking. Rank 1 waits for the urgent "
                        "message, so after some rounds margay opens a second, larger heap", FIRST),
        "long_without_room": Truth(sum(message.has("kernel_hold") for message in long),
                                   "See `margay trace print trace --rank 1 --kind kernel_hold`.",
                                   "the heap keeps only the header of a long message, so long messages need little room"),
        "long_body_kept": Truth(long[0].first("kernel_deposit").bytes, "See `margay trace story trace "
                                f"--tag {LONG_TAG}`: what is kept?", "none: the body stays with its sender until it is pulled"),
    })


def check_heap(work, trace, late):
    found = work.findings
    if not found.unless(len(late) == work.variant["count"], f"part 3 sent {count(len(late), 'message')}, not "
                        f"{work.variant['count']}: do not change rank 0's side"):
        return
    held = [message for message in late if message.has("kernel_hold")]
    found.unless(not held, f"BLANK 1: the heap was full again: message {held[0].name if held else ''} of part 3 stayed on the wire; "
                 f"see `margay trace story trace {held[0].story if held else ''}`")
    posted = {event.tag for event in trace.of("post_receive", "search_hit", rank=1)}
    early = in_heap(trace, [message for message in late if message.has("kernel_match")])
    strange = [message for message in early if message.tag not in posted]
    if strange:
        found.say(f"BLANK 1: no receive for tag {strange[0].tag} was ever posted, the tag of message {strange[0].name} of part 3: message i has "
                  "the tag kLateTag + i")
        return
    found.unless(not early, f"BLANK 1: {count(len(early), 'message')} of part 3 arrived before its receive was posted and went into the "
                 f"heap, {early[0].name if early else ''} first: BLANK 1 must post the receives of all messages, before the word")


def stuck(done):
    """A sentence about a deadlocked run that names the blank in which rank 1 waits; None if it waits in neither."""
    trace = done.trace
    waits = next((enter for enter, leave in trace.calls(rank=1) if leave is None), None)
    given = len(trace.puts(source=1, destination=0, portal=0, tag=WORD_TAG))
    came = sum(message.has("receive_complete") for message in trace.puts(source=0, destination=1, portal=0, tag=WORD_TAG))
    if waits is None or waits.call == "MPI_Finalize" or came == 0:
        return None
    if given < WORDS:
        return f"BLANK 1: rank 1 waits there, in {waits.call}, and so it never sends the word; rank 0 sends only when it has the word. Post a " \
               "receive by a call that does not wait"
    if came < WORDS:
        return None
    last = trace.of("post_receive", "search_miss", rank=1)[-1].tag if waits.call == "MPI_Recv" else None
    taken = last is not None and any(message.has("receive_complete") for message in trace.puts(source=0, portal=0, tag=last))
    return f"BLANK 2: rank 1 waits there, in {waits.call}, for a message that will not arrive: " + \
        (f"the message with tag {last} was taken by a receive that BLANK 1 had posted, and each message is received once" if taken else
         "rank 0 did not send it, or another receive took it")


def check_completion(work, done):
    """Judges what the trace does not contain: which request stands for which receive, and whether the bytes are in the right
    place. The program prints both; whether BLANK 2 completes anything is in the trace."""
    found, number = work.findings, work.variant["count"]
    printed = PRINTED.search(done.out)
    if not printed:
        found.say("part 3 prints no line `part 3: ...`: do not change the code outside the blanks")
        return
    begun, open_, wrong = map(int, printed.groups())
    found.unless(begun == number, f"BLANK 1: only {begun} of the {count(number, 'request')} in `requests` stand for a receive: the request "
                 "of message i belongs in requests[i], and no other receive may overwrite it")
    word = done.trace.puts(source=0, portal=0, tag=WORD_TAG)[-1].first("receive_complete")
    last = [enter for enter, _ in done.trace.calls(rank=1) if enter.time > word.time and COMPLETING.match(enter.call or "")]
    if not last:
        found.say("BLANK 2: no receive of part 3 was completed: no MPI_Wait..., MPI_Waitall or MPI_Test... was called after the word. "
                  "Until such a call completes the request its memory belongs to MPI, whatever it contains")
    elif begun == number:
        found.unless(open_ == 0, f"BLANK 2: {open_} of {count(number, 'request')} are not completed: until an MPI_Wait... call completes "
                     "a request, its memory belongs to MPI")
    if not found:
        found.unless(wrong == 0, f"BLANK 1: {count(wrong, 'message')} of {number} not in the right place after BLANK 2: the bytes "
                     "in part(i) are not those of message i")


def check(work):
    found = work.findings
    done = work.run()
    trace, number = done.trace, work.variant["count"]
    late = [message for i in range(number) for message in trace.puts(source=0, portal=0, tag=LATE_TAG + i)]
    if done.status == 0:
        work.judged((check_heap, work, trace, late))
        if not found:
            work.judged((check_completion, work, done))
    else:
        if len(late) == number:  # else the run ended before part 3 had sent all
            work.judged((check_heap, work, trace, late))
        found.say(and_then(stuck(done) if done.status == DEADLOCK and not found else None, done.trouble))
    work.judged((predictions, work, done))
    return found
