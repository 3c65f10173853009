"""Truncated messages and dropped ready sends."""

from frame.blanks import Truth

TITLE = "Too long, and too early: truncated messages and ready sends"
MINUTES = 25
RANKS, OPTIONS = 2, ()
SHORT_LIMIT = 16384
READY_TAG, UNKNOWN_TAG, CURED_TAG = 11, 21, 22
PROBES = ("MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe")


def variant(random):
    room = random.randrange(20, 200)
    short, long = random.randrange(room + 1, SHORT_LIMIT), random.randrange(2 * SHORT_LIMIT, 6 * SHORT_LIMIT)
    fits = random.randrange(1, 1000)
    # bytes, room, expected
    messages = [(short, room, 1), (short + 1, room + 1, 0), (long, room + 2, 1), (long + 1, room + 3, 0),
                (fits, fits + random.randrange(2) * 50, random.randrange(2))]
    random.shuffle(messages)
    posted = [1, 0, random.randrange(2)]
    random.shuffle(posted)
    lengths = [random.randrange(1, 1000), random.randrange(1, 1000), long]
    random.shuffle(lengths)
    rows = [f"    {tag:>3}   {length:>6}   {space:>6}   {'before the message' if expected else 'after it has come'}"
            for tag, (length, space, expected) in enumerate(messages, 1)]
    ready = [f"    {READY_TAG + i:>3}   {length:>6}            {'before the message' if before else 'after it has come'}"
             for i, (length, before) in enumerate(zip(lengths, posted))]
    return {"bytes": [m[0] for m in messages], "room": [m[1] for m in messages], "expected": [m[2] for m in messages],
            "posted": posted, "ready_bytes": lengths, "unknown_bytes": random.randrange(500, 5000),
            "cured_bytes": random.randrange(100, 1000), "page_table": "\n".join(rows), "page_ready": "\n".join(ready)}


def errors_at(trace, tag):
    """Whose calls returned an error while message `tag` was under way; the program handles one message after the other."""
    def failed(kind, rank):
        events = [event for event in trace.of(kind, rank=rank) if event.tag < 100]
        begin = next(event for event in events if event.tag == tag)
        end = next((event for event in events if event.time > begin.time), None)
        return bool(trace.error_classes(rank, begin, end))
    return {(False, False): "none", (True, False): "sender", (False, True): "receiver",
            (True, True): "both"}[failed("send_begin", 0), failed("post_receive", 1)]


def part_1(work, trace):
    variant_ = work.variant
    story = "Read `margay trace story trace --tag TAG`"
    tags = range(1, len(variant_["bytes"]) + 1)
    messages = [trace.puts(source=0, portal=0, tag=tag)[0] for tag in tags]
    done = [message.first("receive_complete") for message in messages]
    long = next(i for i, message in enumerate(messages) if message.has("pull_begin"))
    ready = [trace.puts(source=0, portal=0, tag=READY_TAG + i)[0] for i in range(len(variant_["posted"]))]
    work.predicted({
        "in_memory": Truth([event.bytes for event in done], f"{story}: the line `the message is in the receive's memory`.",
                           "as much as the receive has room for: its too-small link leads to an entry that truncates"),
        "error_at": Truth([errors_at(trace, tag) for tag in tags], f"{story}: do the calls return an error, and which?",
                          "the receiver's call: the sender's message was taken, it is not told how much of it had room"),
        "pulled_bytes": Truth(trace.answers_to(trace.messages[1, 0, messages[long].first("pull_begin").detail])[0].bytes,
                              f"{story} of tag {long + 1}: the line `replies to`.",
                              "the receiver asks for no more than it has room for"),
        "ready": Truth(["dropped" if message.has("kernel_drop") else "received" for message in ready],
                       "See `margay trace messages trace --dropped`.",
                       "the catch-alls do not match the ready bit: without a posted receive no entry takes the message"),
        "ready_errors": Truth(sum(1 for _, leave in trace.calls("MPI_Rsend", rank=0) if leave and leave.b),
                              "See `margay trace print trace --call MPI_Rsend --rank 0`.",
                              "none: a ready send is done when it is sent, and nothing tells the sender of a drop"),
    })


def check(work):
    found = work.findings
    done = work.run()
    if not found.unless(done.status == 0, done.trouble):
        return found
    trace = done.trace
    unknown = trace.puts(source=0, portal=0, tag=UNKNOWN_TAG)[0]
    received = unknown.first("receive_complete")
    asked = [enter for enter, _ in trace.calls(rank=1) if enter.call in PROBES and received and enter.time < received.time]
    if found.unless(received is not None, "BLANK 1: rank 1 never received the message of part 2a"):
        found.unless(received.bytes == unknown.bytes, f"BLANK 1: the receive had room for {received.bytes} bytes, and the "
                     f"message has {unknown.bytes}: MPI_Get_count tells how many from the probe's status")
        found.unless(asked, "BLANK 1: rank 1 received the message without asking how long it is; it may not know kUnknownBytes")
    ready = [m for m in trace.puts(source=0, portal=0, tag=CURED_TAG) if m.protocol and m.protocol.startswith("ready")]
    if found.unless(ready, "part 2b sent no ready message: the call is to stay MPI_Rsend"):
        found.unless(not ready[0].has("kernel_drop"), "BLANK 3: the ready message found no posted receive and was dropped: "
                     "post the receive first, and only then tell rank 0")
        found.unless(ready[0].has("receive_complete"), "BLANK 3: no receive was completed by the ready message "
                     f"{ready[0].name}: look at `margay trace story trace {ready[0].story}`")
    if not found:
        part_1(work, trace)
    return found
