"""Put and get by offsets that the origin manages (section 4, figure 11)."""

import re

from frame.blanks import Truth
from frame.errors import failed

TITLE = "Put and get: the sender chooses the address (section 4, figure 11)"
MINUTES = 25
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
RANKS, OPTIONS = "{ranks}", ()
INT = 4
PUTS, GETS, WORD_TAG, WORLD_CONTEXT = 6, 7, 5, 0
MOST_PLACES = 4  # the most places that a sentence lists


def variant(random):
    ranks = random.randrange(3, 6)
    share = random.randrange(5, 40)
    # At least two ints to a block, and three different numbers, so that a message for each int, or a wrong number, shows.
    block = random.randrange(2, 4)
    blocks, stride = random.sample([number for number in range(4, 12)], 2)
    ints = random.randrange(4, 30)
    column, place = random.randrange(1, 20), random.randrange(3, 40)
    window = max(ranks * share, column + blocks * stride, place + ints) + random.randrange(1, 9)
    owner = random.randrange(1, ranks)
    return {"ranks": ranks, "share": share, "blocks": blocks, "block_ints": block, "stride": stride, "ints": ints,
            "column": column, "place": place, "window_ints": window, "owner": owner,
            "other": random.choice([r for r in range(1, ranks) if r != owner])}  # not 0: there bytes and ints are the same


RANGE = "MPI_ERR_RMA_RANGE"


def accesses(trace, portal, **which):
    """Puts to or gets from the window, without the gets of a long message's body."""
    return [m for m in trace.sent(portal=portal, **which) if m.sent.kind == "kernel_send"]


def split(trace, rank=0):
    """The time at which a rank leaves part 1: its first barrier."""
    return trace.calls("MPI_Barrier", rank=rank)[0][0].time


def refusal(trace, call, rank):
    """The error of a put or a get of part 2, as a part of a sentence; "" if it had none. (MPI_ERRORS_RETURN hides it.)"""
    errors = failed(trace, call, rank, split(trace, rank))
    if not errors:
        return ""
    said = f"its {call} returned an error, {errors[0][1]}"
    return said + (": the place lies outside of the window. Displacements count ints, not bytes" if errors[0][1] == RANGE else "")


def wrong_place(puts, offset, length):
    """A sentence's beginning if the puts of one rank to another do not fill their place, each byte once; a format with {origin}, {target}."""
    places = sorted((at.offset, m.bytes) for m in puts for at in [m.first("kernel_deposit")] if at)
    if len(places) == len(puts) == 1:
        return "" if places == [(offset, length)] else \
            f"the put of rank {{origin}} to rank {{target}} has {places[0][1]} bytes and lies at offset {places[0][0]}"
    end = offset
    for at, size in places:
        end = end + size if at == end else None
    if len(places) == len(puts) and end == offset + length:
        return ""
    listed = ", ".join(f"{size} bytes at offset {at}" for at, size in places[:MOST_PLACES]) + (", ..." if len(places) > MOST_PLACES else "")
    return f"the {len(puts)} puts of rank {{origin}} to rank {{target}} do not fill its place, each byte once: {listed or 'none arrived'}"


def check_exchange(work, trace):
    found, ranks, share = work.findings, work.variant["ranks"], work.variant["share"] * INT
    parted = split(trace)
    for origin in range(ranks):
        for target in (t for t in range(ranks) if t != origin):
            puts = [m for m in accesses(trace, PUTS, source=origin, destination=target) if m.bytes and m.sent.time > parted]
            refused = refusal(trace, "MPI_RMA_put", origin)
            if not puts or refused:
                found.say(f"BLANK 1: rank {origin} put nothing into the window of rank {target}" + (f": {refused}" if refused else ""))
                return
            misplaced = wrong_place(puts, origin * share, share)
            if misplaced:
                found.say(f"BLANK 1: {misplaced.format(origin=origin, target=target)}; its place is at {origin * share} and takes {share}")
                return
            words = [m for m in trace.puts(source=origin, destination=target, portal=0) if m.sequence > puts[-1].sequence
                     and m.has("receive_complete")]
            if not words:
                found.say(f"BLANK 2: rank {origin} sent no word after its put that rank {target} received: without one the target "
                          "cannot know that the block has arrived (after a barrier puts may still be in flight)")
                return
            found.unless(any(m.sent.context != WORLD_CONTEXT for m in words), f"BLANK 2: the word {words[0].name} went on MPI_COMM_WORLD; "
                         "it must go on `rma`, because puts and messages are ordered on the same communicator only")


def check_read_back(work, trace):
    owner, other, share = work.variant["owner"], work.variant["other"], work.variant["share"] * INT
    gets = [m for m in accesses(trace, GETS, source=0, destination=owner) if m.bytes and m.sent.time > split(trace)]
    refused = refusal(trace, "MPI_RMA_get", 0)
    if not gets or refused:
        work.findings.say(f"BLANK 3: rank 0 got nothing out of the window of rank {owner}" + (f": {refused}" if refused else ""))
        return
    work.findings.unless(len(gets) == 1 and gets[0].bytes == share, "BLANK 3: one get must read the whole block, "
                         f"{share} bytes; there were gets of {', '.join(str(m.bytes) for m in gets)}")


def predictions(work, trace):
    parted = split(trace)
    puts = [m for m in accesses(trace, PUTS, source=0, destination=1) if m.bytes and m.sent.time < parted]
    gets = [m for m in accesses(trace, GETS, source=0, destination=1) if m.bytes and m.sent.time < parted]
    enter = [e for e, _ in trace.calls("MPI_RMA_put", rank=0)][:3]
    begin = [e.time for e in enter]
    b = [m for m in puts if begin[1] < m.sent.time < begin[2]]
    d = [m for m in puts if m.sent.time > begin[2]]
    replies = [answer for get in gets for answer in trace.answers_to(get)]
    received = [m for m in puts + gets if m.has("receive_complete")]
    look = "See `margay trace messages trace --from 0 --to 1`, and the story of one of its messages: look at the line `all is there`."
    work.predicted({
        "put_a_offset": Truth(puts[0].first("kernel_deposit").offset, look, "the displacement times the window's unit, 4 bytes"),
        "messages_b": Truth(len(b), look, "a message has one offset into a single block's descriptor, so each block takes a message"),
        "last_b_offset": Truth(b[-1].first("kernel_deposit").offset, look, "4 x (displacement + (blocks - 1) x stride)"),
        "headers_c": Truth([len(gets), len(replies)], "See `margay trace print trace --rank 0 --call MPI_RMA_get`.",
                           "each block takes a get and a reply", counted=True),
        "messages_d": Truth(len(d), "See `margay trace print trace --rank 0 --call MPI_RMA_put`: the third call.",
                            "the origin knows the window's size, so its call returns an error and nothing is sent"),
        "received_by_program": Truth(len(received), "See `margay trace print trace --rank 1 --kind receive_complete`.",
                                     "none: the kernel deposits and replies; the program takes no part"),
    })


def wrong_ints(trace, rank, line):
    """Why a rank that read its window after the exchange found wrong ints there."""
    first, *_, second = (enter.time for enter, _ in trace.calls("MPI_Barrier", rank=rank))  # a blank may call barriers, too
    read = max(leave.time for _, leave in trace.calls(rank=rank) if leave and leave.time < second)  # when the exchange's last call returned
    puts = [m for m in accesses(trace, PUTS, destination=rank) if m.bytes and m.sent.time > first]
    late = [m for m in puts if not m.has("kernel_deposit") or m.first("kernel_deposit").time > read]
    if late:
        return f"BLANK 2: {line}: the window was read before all blocks were there: {late[0].name} arrived later"
    words = [m for m in trace.puts(destination=rank, portal=0) for got in [m.first("receive_complete")]
             if got and m.bytes and first < got.time < second]
    if words:
        return f"BLANK 2: {line}, though all blocks were there when the window was read: the word {words[0].name} has {words[0].bytes} bytes. " \
               "A word must have none: received into the window it overwrites what was put there"
    return f"BLANK 1: {line}, though all blocks were there, at their places, when the window was read: put the kShare ints " \
           "of `mine`, and let nothing else write there"


def check_part_2(work, done):
    found = work.findings
    check_exchange(work, done.trace)
    if not found:
        check_read_back(work, done.trace)
    for line in done.out.splitlines() if not found else []:
        said = re.match(r"rank (\d+): exchange: (\d+) ints are wrong", line)
        found.unless(not said or said[2] == "0", said and wrong_ints(done.trace, int(said[1]), line.strip()))
    for line in done.out.splitlines() if not found else []:  # only once the exchange is right
        found.unless("read back: 0" in line, f"BLANK 3: the get reads another place than that of rank {work.variant['other']} "
                     f"in the window of rank {work.variant['owner']}")


def check(work):
    found = work.findings
    done = work.run()
    if not found.unless(done.status == 0, done.trouble):
        work.judged((check_exchange, work, done.trace), (predictions, work, done.trace))
        return found
    if len(done.trace.calls("MPI_RMA_put", rank=0)) < 3:
        found.say("do not change part 1")
        return found
    work.judged((check_part_2, work, done), (predictions, work, done.trace))
    return found
