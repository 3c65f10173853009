"""The headers that a message takes, their senders and their order (figures 3 to 7)."""

from frame.blanks import Truth

TITLE = "Protocols: the headers that a message takes (figures 3 to 7)"
MINUTES = 25
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
RANKS, OPTIONS = 2, ("--protocol", "short_limit={limit}")
TAKERS = {"a posted receive": "receive", "unexpected short": "short", "unexpected long": "long"}
WORDS = ("put", "ack", "get", "reply", "answer")
OWN_TAG = 7
# The combinations that the seventh message may be given: expected, synchronous, long.
OWN = ((1, 0, 1), (0, 0, 1), (0, 1, 0), (1, 1, 0), (0, 1, 1))


def variant(random):
    limit = random.choice([1024, 2048, 4096, 8192, 32768])
    short, at_limit = random.randrange(1, limit), limit
    long, above = random.randrange(2 * limit, 10 * limit), limit + 1
    messages = [(at_limit, 1, 0), (short, 0, 0), (above, 1, 0), (long, 0, 0), (short + 1, random.randrange(2), 1),
                (above, 0, 1)]
    random.shuffle(messages)
    rows = [f"    {tag:>3}   {length:>7}   {'posted before' if expected else 'not posted yet':<14}   "
            f"{'MPI_Issend' if synchronous else 'MPI_Isend'}"
            for tag, (length, expected, synchronous) in enumerate(messages, 1)]
    return {"limit": limit, "bytes": [m[0] for m in messages], "expected": [m[1] for m in messages],
            "synchronous": [m[2] for m in messages], "page_table": "\n".join(rows), **own(limit, *random.choice(OWN))}


def own(limit, expected, synchronous, long):
    """The seventh message: the page's requirements, and the answer."""
    headers = ["0 put"] + (["1 ack"] if long else []) + (["1 get", "0 reply"] if long and not expected else []) + \
        (["1 answer"] if synchronous else [])
    return {"own_expected": expected, "own_room": 4 * limit, "page_own_headers": ", ".join(headers),
            "page_own_receive": "posted before" if expected else "not posted yet", "page_own_most": "short" if long else "long",
            "page_own_call": "MPI_Issend" if synchronous else "MPI_Isend", "page_own_length": "kLimit + 1" if long else "kLimit",
            "page_own_reason": ("A synchronous send is answered. " if synchronous else "") +
            ("Only a long message is acknowledged, and kLimit bytes are still short." if long else
             "A short message is not acknowledged, and kLimit bytes are the longest one.")}


def hops(trace, message):
    """(time, sending rank, word) of each header that the message took."""
    found = [(message.sent.time, message.source, "put")]
    for answer in trace.answers_to(message):
        found.append((answer.sent.time, answer.source, "ack"))
    pull = message.first("pull_begin")
    if pull:
        get = trace.messages[message.destination, message.source, pull.get_sequence]
        found.append((get.sent.time, get.source, "get"))
        found += [(reply.sent.time, reply.source, "reply") for reply in trace.answers_to(get)]
    answer = message.first("synchronous_answer")
    if answer:
        found.append((answer.time, message.destination, "answer"))
    return sorted(found)


def taker(trace, message):
    match = message.first("kernel_match")
    return TAKERS.get(trace.entry(match)) or TAKERS.get(trace.owner(match), "?")


def why(trace, message):
    """A line that explains a message's protocol."""
    figure = {"short": "figure 3: header and body at once, and the receiver sends nothing back",
              "long": "figure 4: header and body at once; the receiver's kernel acknowledges what it kept",
              "synchronous_short": "figure 6: as figure 3, and the receiver answers when a receive has taken the message",
              "synchronous_long": "figure 7: as a long message, and the receiver answers when a receive has taken the message"}
    pulled = "; the receiver kept only the header, so it pulls the body (figure 5)" if message.has("pull_begin") else ""
    return figure[message.protocol] + pulled


def check(work):
    found = work.findings
    done = work.run()
    found.unless(done.status == 0, done.trouble)
    work.judged((check_own, work, done.trace), (check_six, work, done.trace))
    return found


def check_own(work, trace):
    """Judges BLANK 1 by the headers of the seventh message."""
    found, wanted, longest = work.findings, work.variant["page_own_headers"], work.variant["page_own_most"]
    sent = trace.puts(source=0, destination=1, portal=0, tag=OWN_TAG)
    if not found.unless(len(sent) == 1, f"BLANK 1: rank 0 sent {len(sent)} messages with tag {OWN_TAG} to rank 1; expected one"):
        return
    takes = ", ".join(f"{who} {word}" for _, who, word in hops(trace, sent[0]))
    see = f"see `margay trace story trace --tag {OWN_TAG}`"
    if found.unless(takes == wanted, f"BLANK 1: a message of {sent[0].bytes} bytes by this call takes the headers `{takes}`; it must take "
                    f"`{wanted}`; {see}"):
        length = work.variant["limit"] + (0 if longest == "long" else 1)
        found.unless(sent[0].bytes == length, f"BLANK 1: the message has {sent[0].bytes} bytes; it must be as {longest} as possible with these "
                     f"headers; {see}")


def check_six(work, trace):
    truths, takers, v = {}, [], work.variant
    for tag, length, expected in zip(range(1, len(v["bytes"]) + 1), v["bytes"], v["expected"]):
        sent = trace.puts(source=0, portal=0, tag=tag)
        if not work.findings.unless(len(sent) == 1, f"the trace has {len(sent)} messages with tag {tag}, not one: "
                                    "program.c is not the one that was handed out"):
            return
        message = sent[0]
        takers.append(taker(trace, message))
        was = "posted before" if takers[-1] == "receive" else "not posted yet"
        if not work.findings.unless(message.bytes == length and (takers[-1] == "receive") == bool(expected) and
                                    message.protocol.startswith("synchronous") == bool(v["synchronous"][tag - 1]),
                                    f"the message with tag {tag} has {message.bytes} bytes, its receive was {was}, and it was "
                                    f"{'synchronous' if message.protocol.startswith('synchronous') else 'not synchronous'}: page.md's table says "
                                    "otherwise. program.c is not the one that was handed out: change only the blank"):
            return
        truths[f"message_{tag}"] = Truth([f"{who} {word}" for _, who, word in hops(trace, message)],
                                         f"Read `margay trace story trace --tag {tag}`: the lines `puts its header`, "
                                         "`acknowledges`, `asks by a get` and `replies` are headers; `notifies the sender` and the "
                                         "answer's `puts its header` are one.",
                                         why(trace, message), WORDS)
    truths["taken_by"] = Truth(takers, "In each story there is the line `the message is taken by ...`, which names the entry.",
                               "a message without a posted receive goes to the catch-all of its protocol, which its length alone selects",
                               tuple(TAKERS.values()), counted=True)
    work.predicted(truths)
