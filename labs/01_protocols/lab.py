"""Figures 3 to 7: which headers a message takes, by whom and in which order."""

from frame.blanks import Truth

TITLE = "Protocols: the headers that a message takes (figures 3 to 7)"
MINUTES = 25
RANKS, OPTIONS = 2, ("--protocol", "short_limit={limit}")
TAKERS = {"a posted receive": "receive", "unexpected short": "short", "unexpected long": "long"}
WORDS = ("put", "ack", "get", "reply", "answer")


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
            "synchronous": [m[2] for m in messages], "page_table": "\n".join(rows)}


def hops(trace, message):
    """(time, who, word) of each header that the message took."""
    found = [(message.sent.time, message.source, "put")]
    for answer in trace.answers_to(message):
        found.append((answer.sent.time, answer.source, "ack"))
    pull = message.first("pull_begin")
    if pull:
        get = trace.messages[message.destination, message.source, pull.detail]
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
    """One line about a message's protocol."""
    figure = {"short": "figure 3: header and body at once, and nothing comes back",
              "long": "figure 4: header and body at once; the receiver's kernel acknowledges what it kept",
              "synchronous_short": "figure 6: as figure 3, and the receiver answers when a receive has taken it",
              "synchronous_long": "figure 7: as a long message, and the receiver answers when a receive has taken it"}
    pulled = "; only the header was kept, so the receiver pulls the body (figure 5)" if message.has("pull_begin") else ""
    return figure[message.protocol] + pulled


def check(work):
    done = work.run()
    if not work.findings.unless(done.status == 0, done.trouble):
        return work.findings
    truths, takers = {}, []
    for tag in range(1, len(work.variant["bytes"]) + 1):
        sent = done.trace.puts(source=0, portal=0, tag=tag)
        if not work.findings.unless(len(sent) == 1, f"the trace has {len(sent)} messages with tag {tag}, not one: "
                                    "program.c is not the one that was handed out"):
            return work.findings
        message = sent[0]
        truths[f"message_{tag}"] = Truth([f"{who} {word}" for _, who, word in hops(done.trace, message)],
                                         f"Read `margay trace story trace --tag {tag}`: the lines `puts its header`, "
                                         "`acknowledges`, `asks by a get` and `replies` are headers; `tells the sender` and the "
                                         "answer's `puts its header` are one.",
                                         why(done.trace, message), WORDS)
        takers.append(taker(done.trace, message))
    truths["taken_by"] = Truth(takers, "In each story there is the line `is taken by ...`.",
                               "a message without a posted receive goes to the catch-all of its protocol, by its length alone",
                               tuple(TAKERS.values()), counted=True)
    work.predicted(truths)
    return work.findings
