"""The heap of unexpected messages, and what happens when it is full."""

from frame.blanks import Truth
from frame.say import count

TITLE = "The heap of unexpected messages, and what happens when it is full"
MINUTES = 25
RANKS, OPTIONS = 2, ("--heap", "{heap}")
# A message's record in the heap: what a page may tell, as `margay run --stats` shows it; the check reads the trace alone.
RECORD, ALIGN = 192, 64
URGENT_TAG, LONG_TAG, LATE_TAG = 901, 301, 601


def variant(random):
    heap = 65536 * random.randrange(1, 4)
    length = random.randrange(1500, 9000)
    fit = heap // (RECORD + -(-length // ALIGN) * ALIGN)
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
    fate = "dropped" if held.has("kernel_drop") else "held" if held.has("receive_complete") else "lost"
    work.predicted({
        "first_held": Truth(held.tag, "In `margay trace print trace --rank 1 --kind kernel_hold` look for `stays on the wire`.",
                            f"each takes {RECORD} bytes and its body, rounded up to {ALIGN}; so many times that goes into the heap, "
                            "and the next one has no room"),
        "what": Truth(fate, f"See `margay trace story trace --tag {held.tag}`.",
                      "MPI may not lose it, and its sender is done with it: so it stays on the wire"),
        "urgent": Truth("before" if urgent.arrived.time < held.first("kernel_deposit").time else "after",
                        f"Compare `margay trace story trace --tag {held.tag}` with `--tag {URGENT_TAG}`, or see "
                        f"`margay trace print trace --around {held.story}`.",
                        "messages of one pair do not overtake on the wire: head-of-line blocking. Rank 1 waits for the urgent "
                        "one, so after some rounds a second, larger heap is opened"),
        "long_without_room": Truth(sum(message.has("kernel_hold") for message in long),
                                   "See `margay trace print trace --rank 1 --kind kernel_hold`.",
                                   "of a long message only the header is kept, so they need little room"),
        "long_body_kept": Truth(long[0].first("kernel_deposit").bytes, "See `margay trace story trace "
                                f"--tag {LONG_TAG}`: what is kept?", "none: the body stays with its sender until it is pulled"),
    })


def check(work):
    found = work.findings
    done = work.run()
    if not found.unless(done.status == 0, done.trouble):
        return found
    trace = done.trace
    late = [message for i in range(work.variant["count"]) for message in trace.puts(source=0, portal=0, tag=LATE_TAG + i)]
    if not found.unless(len(late) == work.variant["count"], f"part 3 sent {count(len(late), 'message')}, not "
                        f"{work.variant['count']}: rank 0's side is to stay as it was"):
        return found
    held = [message for message in late if message.has("kernel_hold")]
    found.unless(not held, f"the heap was full again: message {held[0].name if held else ''} of part 3 stayed on the wire; see "
                 f"`margay trace story trace {held[0].story if held else ''}`")
    early = in_heap(trace, late)
    found.unless(not early, f"{count(len(early), 'message')} of part 3 came before its receive was posted and went into the heap, "
                 f"{early[0].name if early else ''} first: BLANK 1 posts the receives of all, before the word")
    if not found:
        predictions(work, done)
    return found
