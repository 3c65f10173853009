"""Truncated messages and dropped ready sends."""

from frame.blanks import Truth
from frame.errors import failed
from frame.say import open_request

TITLE = "Too long, and too early: truncated messages and ready sends"
MINUTES = 25
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
RANKS, OPTIONS = 2, ()
SHORT_LIMIT = 16384
READY_TAG, UNKNOWN_TAG, CURED_TAG, WORD_TAG = 11, 21, 22, 100
WHO, FATES = ("none", "sender", "receiver", "both"), ("received", "dropped")
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
    rows = [f"    {tag:>3}   {length:>6}   {space:>6}   {'before the message' if expected else 'after it has arrived'}"
            for tag, (length, space, expected) in enumerate(messages, 1)]
    ready = [f"    {READY_TAG + i:>3}   {length:>6}            {'before the message' if before else 'after it has arrived'}"
             for i, (length, before) in enumerate(zip(lengths, posted))]
    return {"bytes": [m[0] for m in messages], "room": [m[1] for m in messages], "expected": [m[2] for m in messages],
            "posted": posted, "ready_bytes": lengths, "unknown_bytes": random.randrange(500, 5000),
            "cured_bytes": random.randrange(100, 1000), "page_table": "\n".join(rows), "page_ready": "\n".join(ready)}


def errors_at(trace, tag):
    """Which rank's calls returned an error while message `tag` was in flight; the program handles one message after the other."""
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
                           "as many as the receive has room for: its too-small link leads to an entry that truncates",
                           counted=True),
        "error_at": Truth([errors_at(trace, tag) for tag in tags], f"{story}: which calls return an error?",
                          "the receiver's call: the message was taken, and no header reports to the sender how much of it had room",
                          WHO, counted=True),
        "pulled_bytes": Truth(trace.answers_to(trace.messages[1, 0, messages[long].first("pull_begin").get_sequence])[0].bytes,
                              f"{story} of tag {long + 1}: the line `replies to`.",
                              "the receiver requests no more bytes than it has room for"),
        "ready": Truth(["dropped" if message.has("kernel_drop") else "received" for message in ready],
                       "See `margay trace messages trace --dropped`.",
                       "the catch-alls do not match the ready bit: without a posted receive no entry takes the message",
                       FATES, counted=True),
        "ready_errors": Truth(sum(1 for _, leave in trace.calls("MPI_Rsend", rank=0) if leave and leave.error_class),
                              "See `margay trace print trace --call MPI_Rsend --rank 0`.",
                              "none: a ready send is complete when it is sent, and nothing reports a drop to the sender"),
    })


def check_unknown(work, trace):
    found = work.findings
    unknown = trace.puts(source=0, portal=0, tag=UNKNOWN_TAG)[0]
    received = unknown.first("receive_complete")
    if received is None:
        errors = failed(trace, "MPI_Recv", 1)
        found.say(f"BLANK 1: MPI_Recv of part 2a returned an error, {errors[0][1]}, and received nothing: `room` is not a number "
                  "of bytes. (MPI_Get_count counts elements of the given type, here MPI_BYTE; if the message is not a whole "
                  "number of them, it returns MPI_UNDEFINED, a negative number.)" if errors else
                  "BLANK 1: rank 1 never received the message of part 2a")
        return
    calls = {enter.call for enter, _ in trace.calls(rank=1) if enter.time < received.time}
    posted = next((event.bytes for event in trace.of("post_receive", rank=1) if event.tag == UNKNOWN_TAG), received.bytes)
    if not found.unless(received.bytes == unknown.bytes, f"BLANK 1: the receive had room for {received.bytes} bytes, and the message has "
                        f"{unknown.bytes}: MPI_Get_count computes the number from the probe's status, in elements of the given type"):
        return
    found.unless(calls & set(PROBES), "BLANK 1: rank 1 received the message without asking how long it is; it may not use kUnknownBytes")
    if "MPI_Get_count" not in calls:
        found.say(f"BLANK 1: rank 1 probed the message but did not ask how many bytes it has (MPI_Get_count): its room of {posted} bytes is "
                  f"a guess, and the next message may be longer" if calls & set(PROBES) else "BLANK 1: MPI_Get_count was not called")
    else:
        found.unless(posted == unknown.bytes, f"BLANK 1: the receive has room for {posted} bytes, and the message has {unknown.bytes}: room "
                     "must be what MPI_Get_count returns")


def posted_in_time(trace, ready):
    """Why rank 0 could not know that the ready message's receive is posted, or None. The order of this run does not count, only a
    notification: a word (or a barrier) of rank 1 that arrived before the ready send began, and that rank 1 sent after it had posted."""
    begin, end = trace.puts(source=0, portal=0, tag=UNKNOWN_TAG)[0].sent.time, ready.begun.time
    posted = next((event for event in trace.of("post_receive", rank=1) if event.tag == CURED_TAG), None)
    words = [trace.messages[event.identity] for event in trace.of("receive_complete", rank=0) if begin < event.time < end]
    notices = [((word.begun or word.sent).time, f"the word {word.name}") for word in words if word.source == 1]
    if any(begin < enter.time < end for enter, _ in trace.calls("MPI_Barrier", rank=0)):
        notices += [(enter.time, "rank 1's barrier") for enter, _ in trace.calls("MPI_Barrier", rank=1)]
    luck = "it was dropped" if ready.has("kernel_drop") else "in this run it arrived in time, by luck"
    if not notices:
        return f"BLANK 2: rank 0 began its ready send without waiting for a word of rank 1: it cannot know that the receive is posted; {luck}"
    if posted is None:
        return f"BLANK 3: rank 1 posted no receive with tag kCuredTag; {luck}"
    time, what = max(notices)
    return None if posted.time < time else \
        f"BLANK 3: rank 1 sent {what} first and posted the receive afterwards: the ready message may arrive in between; {luck}"


def check_ready(work, done):
    found, trace = work.findings, done.trace
    sent = [m for m in trace.puts(source=0, portal=0, tag=CURED_TAG) if m.protocol]
    ready = next((m for m in sent if m.protocol.startswith("ready")), None)
    if ready is None:
        received = trace.puts(source=0, portal=0, tag=UNKNOWN_TAG)[0].first("receive_complete")
        words = [put for put in trace.puts(source=1, destination=0, portal=0, tag=WORD_TAG)
                 if received and put.sent.time > received.time]
        found.say("part 2b sent no ready message: the call must remain MPI_Rsend" if sent else
                  f"BLANK 2: rank 0 never reached its ready send, although rank 1 sent its word, {words[0].name}: rank 0 waits for something else. "
                  "receive_word(1) waits for a word of rank 1" if words else
                  "BLANK 3: rank 0 never reached its ready send: it waits in BLANK 2 for a word that rank 1 did not send, or would send only after "
                  "the message. MPI_Irecv posts the receive and returns; then send the word; MPI_Wait completes the receive")
        return
    late = posted_in_time(trace, ready)
    if late:
        found.say(late)
        return
    found.unless(not ready.has("kernel_drop"), "BLANK 3: the ready message found no posted receive and was dropped: "
                 "the receive must be posted when the word is sent, and stay posted until the message has arrived")
    open_requests = done.never_completed(CURED_TAG)
    if open_requests:
        found.say(open_request(3, *open_requests[0]))
        return
    got, see = ready.first("receive_complete"), f"look at `margay trace story trace {ready.story}`"
    if found.unless(got or ready.has("kernel_drop"), f"BLANK 3: the ready message {ready.name} completed no receive: {see}") and got:
        found.unless(got.bytes == ready.bytes, f"BLANK 3: the receive got {got.bytes} bytes of the ready message's {ready.bytes}: its room must be "
                     f"kCuredBytes; {see}")


def check(work):
    found = work.findings
    done = work.run(None, "--leaks")
    found.unless(done.status == 0, done.trouble)
    work.judged((check_unknown, work, done.trace), (check_ready, work, done), (part_1, work, done.trace))
    return found
