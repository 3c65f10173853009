"""Put and get by offsets that the origin manages (section 4, figure 11)."""

from frame.blanks import Truth
from frame.errors import failed

TITLE = "Put and get: the sender says where (section 4, figure 11)"
MINUTES = 25
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
RANKS, OPTIONS = "{ranks}", ()
INT = 4
PUTS, GETS, WORD_TAG, WORLD_CONTEXT = 6, 7, 5, 0


def variant(random):
    ranks = random.randrange(3, 6)
    share = random.randrange(5, 40)
    blocks, block = random.randrange(3, 8), random.randrange(1, 4)
    stride = block + random.randrange(2, 10)
    ints = random.randrange(4, 30)
    column, place = random.randrange(1, 20), random.randrange(3, 40)
    window = max(ranks * share, column + blocks * stride, place + ints) + random.randrange(1, 9)
    owner = random.randrange(1, ranks)
    return {"ranks": ranks, "share": share, "blocks": blocks, "block_ints": block, "stride": stride, "ints": ints,
            "column": column, "place": place, "window_ints": window, "owner": owner,
            "other": random.choice([r for r in range(ranks) if r != owner])}


RANGE = "MPI_ERR_RMA_RANGE"


def accesses(trace, portal, **which):
    """Puts or gets of the window, not the gets of a long message's body."""
    return [m for m in trace.sent(portal=portal, **which) if m.sent.kind == "kernel_send"]


def split(trace, rank=0):
    """The time at which a rank leaves part 1: its first barrier."""
    return trace.calls("MPI_Barrier", rank=rank)[0][0].time


def refusal(trace, call, rank):
    """How a put or a get of part 2 was refused, as a part of a sentence; "" where it was not. (MPI_ERRORS_RETURN hides it.)"""
    errors = failed(trace, call, rank, split(trace, rank))
    if not errors:
        return ""
    said = f"its {call} returned an error, {errors[0][1]}"
    return said + (": the place lies outside of the window. Displacements count ints, not bytes" if errors[0][1] == RANGE else "")


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
            at, length = puts[0].first("kernel_deposit"), sum(m.bytes for m in puts)
            if at is None or at.detail != origin * share or length != share:
                found.say(f"BLANK 1: the put of rank {origin} to rank {target} has {length} bytes and lies at offset "
                          f"{at.detail if at else '?'}; its place is at {origin * share} and takes {share}")
                return
            words = [m for m in trace.puts(source=origin, destination=target, portal=0) if m.sequence > puts[-1].sequence
                     and m.has("receive_complete")]
            if not words:
                found.say(f"BLANK 2: rank {origin} sent no message behind its put that rank {target} received: without one the target "
                          "does not know that its block is there (after a barrier puts may still be on their way)")
                return
            found.unless(any(m.sent.context != WORLD_CONTEXT for m in words), f"BLANK 2: the word {words[0].name} went on MPI_COMM_WORLD; "
                         "it is to go on `rma`, for the order of puts and messages is promised on their communicator alone")


def check_read_back(work, trace):
    owner, other, share = work.variant["owner"], work.variant["other"], work.variant["share"] * INT
    gets = [m for m in accesses(trace, GETS, source=0, destination=owner) if m.bytes and m.sent.time > split(trace)]
    refused = refusal(trace, "MPI_RMA_get", 0)
    if not gets or refused:
        work.findings.say(f"BLANK 3: rank 0 got nothing out of the window of rank {owner}" + (f": {refused}" if refused else ""))
        return
    work.findings.unless(len(gets) == 1 and gets[0].bytes == share, "BLANK 3: one get is to bring the whole block, "
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
        "put_a_offset": Truth(puts[0].first("kernel_deposit").detail, look, "the displacement times the window's unit, 4 bytes"),
        "messages_b": Truth(len(b), look, "a single block's descriptor has one offset for a message, so each block is one"),
        "last_b_offset": Truth(b[-1].first("kernel_deposit").detail, look, "4 x (displacement + (blocks - 1) x stride)"),
        "headers_c": Truth([len(gets), len(replies)], "See `margay trace print trace --rank 0 --call MPI_RMA_get`.",
                           "each block is asked for by a get and comes as a reply", counted=True),
        "messages_d": Truth(len(d), "See `margay trace print trace --rank 0 --call MPI_RMA_put`: the third call.",
                            "the origin knows the window's size, so its call returns an error and nothing is sent"),
        "received_by_program": Truth(len(received), "See `margay trace print trace --rank 1 --kind receive_complete`.",
                                     "none: the kernel deposits and answers, the program takes no part"),
    })


def check_part_2(work, done):
    found = work.findings
    check_exchange(work, done.trace)
    if not found:
        check_read_back(work, done.trace)
    for line in done.out.splitlines() if not found else []:
        found.unless("exchange: 0 ints are wrong" in line, f"BLANK 2: {line.strip()}: the window was read before all blocks were there")
        found.unless("read back: 0" in line, f"BLANK 3: the get reads another place than that of rank {work.variant['other']} "
                     f"in the window of rank {work.variant['owner']}")


def check(work):
    found = work.findings
    done = work.run()
    if not found.unless(done.status == 0, done.trouble):
        work.judged((check_exchange, work, done.trace), (predictions, work, done.trace))
        return found
    if len(done.trace.calls("MPI_RMA_put", rank=0)) < 3:
        found.say("part 1 is to stay as it was handed out")
        return found
    work.judged((check_part_2, work, done), (predictions, work, done.trace))
    return found
