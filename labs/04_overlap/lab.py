"""Overlapping collective calls (section 3.3): the race, and its cure."""

from frame.blanks import Truth
from frame.say import count

TITLE = "Overlapping collectives: back to back fan-ins that lose their messages (section 3.3)"
MINUTES = 30
# Gathers along the tree are messages; the library's choice could be memory that the ranks share.
RANKS, OPTIONS = "{ranks}", ("--collective", "gather=tree")
GATHER_TAG, WORLD_CONTEXT = 7, 0


def variant(random):
    ranks = random.randrange(4, 7)
    early, late = random.sample(range(1, ranks), 2)
    return {"ranks": ranks, "early": early, "late": late, "calls": random.randrange(3, 5)}


def groups(messages, size):
    return [messages[i:i + size] for i in range(0, len(messages), size)]


def taken_by_rank_0(trace, begin, end):
    """Messages of one int that rank 0 received between two events, in the order in which its receives got them."""
    done = [event for event in trace.of("receive_complete", rank=0)
            if (begin is None or event.time > begin) and (end is None or event.time < end)]
    messages = [trace.messages[event.identity] for event in done]
    return [message for message in messages if message.bytes == 4]


def nth(trace, message):
    """The how manieth of its sender's contributions of this communicator a message is: 0, 1, ..."""
    same = [other for other in trace.puts(source=message.source, destination=0, portal=0)
            if other.sent.context == message.sent.context and other.bytes == 4]
    return same.index(message)


def check_part_2(work, trace, taken):
    found, calls, leaves = work.findings, work.variant["calls"], work.variant["ranks"] - 1
    gathered, own = taken[:calls * leaves], taken[calls * leaves:]
    if not found.unless(len(gathered) == calls * leaves, f"part 2 gathered {count(len(gathered), 'message')}; {calls} calls of "
                        f"{leaves} are expected"):
        return
    for call, messages in enumerate(groups(gathered, leaves)):
        for message in messages:
            if message.sent.context == WORLD_CONTEXT:
                found.say(f"BLANK 1: call {call} of part 2 took a message of the program for one of its own: {message.name}, "
                          "tag and communicator are the same; another communicator has another context in the match bits")
                return
            if nth(trace, message) != call:
                found.say(f"BLANK 2: call {call} of part 2 took the message of another call: {message.name} is rank "
                          f"{message.source}'s contribution to call {nth(trace, message)}")
                return
    found.unless(len(own) == calls, "the program's own messages of part 2 were not received by the program")


def begin_of_gathers(trace, rank):
    return trace.calls("MPI_Gather", rank=rank)[0][0].time


def predictions(work, trace, taken, gathers):
    calls, leaves = work.variant["calls"], work.variant["ranks"] - 1
    by_call = groups(taken, leaves)
    right = sum(1 for call, messages in enumerate(by_call)
                if len({m.source for m in messages}) == leaves and all(nth(trace, m) == call for m in messages))
    look = "See `margay trace print trace --rank 0 --kind receive_complete` (the first lines of 4 bytes): in which order did rank 0 find them?"
    why = ("rank 0 takes what came first: all {calls} contributions of the early rank lie before any other's, so it counts "
           "one rank several times and another not at all").format(calls=calls)
    work.predicted({
        "first_call_takes_from": Truth([m.source for m in by_call[0]], look, why),
        "last_call_takes_from": Truth([m.source for m in by_call[-1]], look, "what is left: most of it of the late rank"),
        "right_sums": Truth(right, "The program prints them.", "a sum is right if each rank is in it once, with that call's part"),
        "last_gather_has": Truth(gathers[-1].tag, "See `margay trace print trace --call MPI_Gather --kind kernel_send --all --raw`: "
                                 "the upper half of the bits.",
                                 "the call's number on its communicator, from 0 on: an entry of one call matches no message of another"),
    })


def check(work):
    found = work.findings
    done = work.run()
    if not found.unless(done.status == 0, done.trouble):
        return found
    trace = done.trace
    gather_calls = trace.calls("MPI_Gather", rank=0)
    if not found.unless(len(gather_calls) == work.variant["calls"], "part 3 is to stay as it was handed out"):
        return found
    begin, end = gather_calls[0][0].time, gather_calls[-1][1].time
    check_part_2(work, trace, taken_by_rank_0(trace, end, None))
    if not found:
        early = work.variant["early"]
        last = trace.calls("MPI_Gather", rank=early)[-1][1].time
        gathers = [message for message in trace.sent(source=early) if message.sent.context == WORLD_CONTEXT + 1
                   and begin_of_gathers(trace, early) < message.sent.time < last]
        predictions(work, trace, taken_by_rank_0(trace, None, begin), gathers)
    return found
