"""Overlapping collective calls (section 3.3): the race, and its fix."""

from frame.blanks import Truth
from frame.say import and_then, count

TITLE = "Overlapping collectives: back to back fan-ins that lose their messages (section 3.3)"
MINUTES = 30
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
# Gathers along the tree are messages; by default the library might choose shared memory.
RANKS, OPTIONS = "{ranks}", ("--collective", "gather=tree")
GATHER_TAG, WORLD_CONTEXT = 7, 0
COLLECTIVES = ("MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Reduce", "MPI_Gather", "MPI_Allgather")


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
    """A message's index among its sender's contributions on this communicator: 0, 1, ..."""
    same = [other for other in trace.puts(source=message.source, destination=0, portal=0)
            if other.sent.context == message.sent.context and other.bytes == 4]
    return same.index(message)


def part_2_messages(work, trace):
    """Name of each message of one int to rank 0 in part 2 -> the call that it contributes to, or -1 for one of the program's own. Decided
    by sender and order, as tags and contexts are the student's: the early rank sends a message of the program before each contribution."""
    result = {}
    for rank in range(1, work.variant["ranks"]):
        begin = trace.calls("MPI_Gather", rank=rank)[-1][1].time
        mine = [m for m in trace.puts(source=rank, destination=0, portal=0) if m.bytes == 4 and m.sent.time > begin]
        for number, message in enumerate(mine):
            if rank == work.variant["early"]:
                result[message.name] = -1 if number % 2 == 0 else number // 2
            else:
                result[message.name] = number
    return result


def check_part_2(work, trace, taken):
    found, calls, leaves = work.findings, work.variant["calls"], work.variant["ranks"] - 1
    gathered, own = taken[:calls * leaves], taken[calls * leaves:]
    if not found.unless(len(gathered) == calls * leaves, f"part 2 gathered {count(len(gathered), 'message')}; expected {calls} calls of "
                        f"{leaves}"):
        return
    is_for = part_2_messages(work, trace)
    for call, messages in enumerate(groups(gathered, leaves)):
        for message in messages:
            if is_for[message.name] < 0:
                found.say(f"BLANK 1: call {call} of part 2 took a message of the program for one of its own: {message.name}, tag "
                          f"{message.tag}; the library's messages have the same communicator and this tag too. Another communicator has "
                          "another context in the match bits")
                return
            if is_for[message.name] != call:
                found.say(f"BLANK 2: call {call} of part 2 took the message of another call: {message.name}, tag {message.tag}, is rank "
                          f"{message.source}'s contribution to call {is_for[message.name]}")
                return
    found.unless(all(message.sent.context != WORLD_CONTEXT for message in gathered), "BLANK 1: all sums are right, but the library's messages "
                 f"are on MPI_COMM_WORLD, with tags such as {gathered[0].tag}: this program does not use these tags there, but another may, "
                 "because all tags belong to the program. A library is safe only on a communicator of its own")
    found.unless(len(own) == calls, "the program's own messages of part 2 were not received by the program")


def stuck(work, trace):
    """A sentence about a deadlock of part 2, with the blank to blame; None if neither is."""
    ranks = range(work.variant["ranks"])
    begins = [next((leave.time for enter, leave in reversed(trace.calls("MPI_Gather", rank=rank)) if leave), None) for rank in ranks]
    if None in begins:
        return None
    waiting = {enter.rank: enter.call for enter, leave in trace.calls() if leave is None}
    collective = next(((rank, call) for rank, call in sorted(waiting.items()) if call in COLLECTIVES), None)
    sent = [m for rank in ranks for m in trace.puts(source=rank, portal=0)
            if m.bytes == 4 and m.sent.time > begins[rank] and m.sent.context != WORLD_CONTEXT]
    astray = next((m for m in sent if m.destination != 0), None)
    if astray:
        return f"BLANK 1: rank {astray.source}'s message {astray.name} went to rank {astray.destination} of the program, not to rank 0: in this " \
               "communicator another rank is number 0. The library needs the same ranks in the same order: MPI_Comm_dup"
    if collective:
        return f"BLANK 2: rank {collective[0]} waits in {collective[1]} until all ranks enter it, but others begin only when it has made all its " \
               "calls. A tag distinguishes calls without waiting"
    wanted = [event.tag for event in trace.of("post_receive", rank=0) if event.time > begins[0] and event.context != WORLD_CONTEXT]
    other = next((m for m in sent if wanted and m.tag != wanted[-1] and m.tag not in wanted), None)
    if other:
        return f"BLANK 2: rank 0 waits for a message with tag {wanted[-1]}, and rank {other.source} sent tag {other.tag}: both sides must compute " \
               "the same tag, so it may depend on the call alone, not on the rank"
    return "BLANK 1: rank 0 waits for messages that no rank sent on this communicator: all ranks need the same communicator, with the same " \
           "rank numbers: MPI_Comm_dup" if waiting.get(0) == "MPI_Recv" and wanted and not sent else None


def begin_of_gathers(trace, rank):
    return trace.calls("MPI_Gather", rank=rank)[0][0].time


def predictions(work, trace, taken, gathers):
    calls, leaves = work.variant["calls"], work.variant["ranks"] - 1
    by_call = groups(taken, leaves)
    right = sum(1 for call, messages in enumerate(by_call)
                if len({m.source for m in messages}) == leaves and all(nth(trace, m) == call for m in messages))
    look = "See `margay trace print trace --rank 0 --kind receive_complete` (the first lines of 4 bytes): in which order did rank 0 receive them?"
    why = ("rank 0 takes messages in order of arrival: all {calls} contributions of the early rank arrived before any other, so it "
           "counts one rank several times and another not at all").format(calls=calls)
    work.predicted({
        "first_call_takes_from": Truth([m.source for m in by_call[0]], look, why, counted=True),
        "last_call_takes_from": Truth([m.source for m in by_call[-1]], look, "the remaining messages, most of them from the late rank",
                                      counted=True),
        "right_sums": Truth(right, "The program prints them.", "a sum is right if it has each rank's part of that call once"),
        "last_gather_has": Truth(gathers[-1].tag, "See `margay trace print trace --call MPI_Gather --kind kernel_send --all --raw`: "
                                 "the upper half of match_bits.",
                                 "the call's number on its communicator, from 0 on: an entry of one call matches no message of another"),
    })


def check(work):
    found = work.findings
    done = work.run()
    trace = done.trace
    if done.status != 0:
        found.say(and_then(stuck(work, trace), done.trouble))
    gather_calls = [pair for pair in trace.calls("MPI_Gather", rank=0) if pair[1]]
    if len(gather_calls) != work.variant["calls"]:
        if not found:
            found.say("do not change part 3")
        return found
    begin, end = gather_calls[0][0].time, gather_calls[-1][1].time
    if not found:
        work.judged((check_part_2, work, trace, taken_by_rank_0(trace, end, None)))
    early = work.variant["early"]
    last = trace.calls("MPI_Gather", rank=early)[-1][1].time
    gathers = [message for message in trace.sent(source=early) if message.sent.context == WORLD_CONTEXT + 1
               and begin_of_gathers(trace, early) < message.sent.time < last]
    work.judged((predictions, work, trace, taken_by_rank_0(trace, None, begin), gathers))
    return found
