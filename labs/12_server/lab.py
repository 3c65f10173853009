"""A server with a match list: wildcards, an entry for one client, and a heap for overflowing requests."""

import re

from frame import blanks, files, variant as numbers
from frame.run import RUN_SECONDS, TIMED_OUT
from frame.say import CouldNotRun
from frame.walks import walks

TITLE = "A server with a match list, wildcards and a heap for overflowing requests"
MINUTES = 30
RANKS, OPTIONS = 4, ("--trace-walks",)

SERVER, REQUESTS, ANSWERS, ANSWER_BITS = 0, 4, 5, 1000  # client r awaits answers at portal ANSWERS + r, with ANSWER_BITS + number
CLIENTS = (1, 2, 3)
SUM, LARGEST = 1, 2
ROW_BYTES = 32
ENOUGH = 3  # findings about walks; further ones would repeat them
GRAIN, HEADER_IN_HEAP = 64, 192
NUMBER = 2**32 - 1  # the bits of a request's number


def rounded(body):
    return HEADER_IN_HEAP + (body + GRAIN - 1) // GRAIN * GRAIN


def one_round(random, v):
    """(client, kind, bytes) of a round's requests, and the bytes of heap that they need in any order of arrival."""
    patron, others = v["patron"], [client for client in CLIENTS if client != v["patron"]]
    asked = [(patron, random.choice((SUM, LARGEST)), random.randrange(4, ROW_BYTES + 1))
             for _ in range(v["patron_rows"] + random.randrange(1, 3))]
    for kind, rows in ((SUM, v["sum_rows"]), (LARGEST, v["largest_rows"])):
        asked += [(random.choice(others), kind, random.randrange(4, ROW_BYTES + 1))
                  for _ in range(rows + random.randrange(1, 3))]
    overflows = len(asked) - v["patron_rows"] - v["sum_rows"] - v["largest_rows"]
    long_ones = [(client, random.choice((SUM, LARGEST)), random.randrange(100, 400)) for client in (patron, others[0])]
    random.shuffle(asked)
    for one in long_ones:
        asked.insert(random.randrange(len(asked)), one)
    return asked, overflows * rounded(ROW_BYTES) + sum(rounded(length) for _, _, length in long_ones)


def long_with_room(asked, others, rows):
    """Whether a request that is too long arrives while a row is free, in any order of arrival. asked: the requests of its client, in order;
    others: the number of shorter ones of other clients that may arrive before."""
    lengths = [length for _, _, length in asked]
    return any(length > ROW_BYTES and others + sum(before <= ROW_BYTES for before in lengths[:at]) < rows for at, length in enumerate(lengths))


def telling(v):
    """Whether the variant needs each link and each kind: the patron and another client send requests that are too long while a row of
    "patron", and of "largest", is free; the patron sends both kinds. The rows overflow in every variant."""
    requests = list(zip(*(v[f"request_{name}"] for name in ("round", "client", "kind", "bytes"))))
    of_patron, of_largest = [], []
    for number in (1, 2):
        asked = [request[1:] for request in requests if request[0] == number]
        of_patron.append(long_with_room([one for one in asked if one[0] == v["patron"]], 0, v["patron_rows"]))
        largest = [one for one in asked if one[0] != v["patron"] and one[1] == LARGEST]
        for client in CLIENTS:
            others = sum(one[0] != client and one[2] <= ROW_BYTES for one in largest)
            of_largest.append(long_with_room([one for one in largest if one[0] == client], others, v["largest_rows"]))
    kinds = {kind for _, client, kind, _ in requests if client == v["patron"]}
    return any(of_patron) and any(of_largest) and kinds == {SUM, LARGEST}


def variant(random):
    return numbers.telling(lambda: draw(random), telling)


def draw(random):
    v = {"patron": random.choice(CLIENTS), "patron_rows": 2, "sum_rows": random.randrange(2, 5),
         "largest_rows": random.randrange(2, 5), "row_bytes": ROW_BYTES}
    rounds = [one_round(random, v) for _ in range(2)]
    # One round fits, two do not: without a release the second round finds no room.
    v["heap_bytes"] = max(needed for _, needed in rounds)
    requests = [(number, *one) for number, (asked, _) in enumerate(rounds, 1) for one in asked]
    for place, name in enumerate(("round", "client", "kind", "bytes")):
        v[f"request_{name}"] = [request[place] for request in requests]
    v["page_figure"] = figure(v)
    return v


def figure(v):
    """The page's list of entries."""
    boxes = (("patron", f"rank {v['patron']} only", f"{v['patron_rows']} rows of {ROW_BYTES}"),
             ("sum", "kind 1, any number", f"{v['sum_rows']} rows of {ROW_BYTES}"),
             ("largest", "kind 2, any number", f"{v['largest_rows']} rows of {ROW_BYTES}"),
             ("overflow", "whatever is left", f"a heap of {v['heap_bytes']}"))
    lines = ["".join(f"[{box[0]}]{' -> ' if box is not boxes[-1] else ''}".ljust(24, " ") for box in boxes)]
    lines += ["".join(box[row].ljust(24) for box in boxes) for row in (1, 2)]
    return "\n".join((f"    {'portal 4 -> ' if number == 0 else ' ' * 12}{line}").rstrip() for number, line in enumerate(lines))


def check(work):
    v, findings = work.variant, work.findings
    check_declarations(work)
    done = work.run()
    named = [line[line.index("BLANK"):] for line in done.err.splitlines() if "BLANK " in line]
    try:
        found = {walk.match_bits & NUMBER: walk for walk in walks(done.trace, REQUESTS, SERVER)}
    except CouldNotRun:
        if done.status == 0:
            raise
        findings += named or [done.trouble]  # it ended before all ranks had begun
        return findings
    asked = range(1, len(v["request_client"]) + 1)
    if not findings.unless(set(found) <= set(asked), "the clients' requests are not those of the variant: change only the "
                           "blanks"):
        return findings
    judge_walks(v, found, findings)
    if done.status == 0 and not findings:
        findings.unless(len(found) == len(asked), "not all of the clients' requests were sent: change only the blanks")
        check_answers(done.trace, v, found, findings)
    if done.status != 0:
        findings += named or [trouble(done)]
    return findings


def check_declarations(work):
    """Judges BLANK 1 by its source: a block is constructed before memory that is declared after it, which no run shows, because bytes need
    no construction. Nor does a run show that nothing aligns the memory, if it is aligned by luck."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", blanks.code(files.read(work.program()), 1), flags=re.S)
    work.findings.unless("align" in code, "BLANK 1: nothing aligns the heap's memory to a multiple of 64 bytes; if it is aligned, it is so "
                         "by luck: write alignas(64) before the array's declaration")
    block = re.search(r"\bDynamicBlock heap_\s*\{(.*?);", code)
    for name in re.findall(r"(\w+)\s*\.\s*data\s*\(", block[1] if block else ""):
        memory = re.search(rf"\b{name}\s*(\{{[^}}]*\}})?;", code)
        work.findings.unless(memory is None or memory.start() < block.start(), f"BLANK 1: `{name}` is declared after `heap_`, which uses it: members "
                             "are constructed in the order of their declaration, so declare the memory first, then the block on it")


def trouble(done):
    """A sentence about a run that failed without naming a blank itself."""
    if done.status == TIMED_OUT:
        return f"BLANK 6: time ran out ({RUN_SECONDS} s) while the server was busy: a loop there does not end. It ends when heap_.first() is " \
               "nullptr, if each message is released after its answer"
    return ("BLANK 7: " if ": the answer " in done.trouble else "") + done.trouble


def judge_walks(v, found, findings):
    """Judges what the entries did to the requests; judges the heap's size only if the right requests reached it."""
    listed = any("overflow" in walk.way for walk in found.values())
    for number, walk in sorted(found.items()):
        if len(findings.sentences) < ENOUGH:
            judge_walk(v, number, walk, listed, findings)
    full = [(number, walk) for number, walk in sorted(found.items()) if walk.dropped and walk.reason_at("overflow") == "no room"]
    if full and not findings:
        number, walk = full[0]
        why = "BLANK 6: {} was dropped: the heap had no room, because messages of the first round were still there: answer each message " \
              "in the heap, and then free its room by release()" if v["request_round"][number - 1] > 1 else \
              f"BLANK 1: {{}} was dropped: the heap had no room. It must be {v['heap_bytes']} bytes long"
        findings.say(why.format(describe(v, number, walk)))


def describe(v, number, walk):
    kind = "sum" if v["request_kind"][number - 1] == SUM else "largest"
    return (f"request {number} ({kind}, {walk.bytes} bytes, from rank {v['request_client'][number - 1]}; "
            f"{walk.message.name} in the trace)")


def judge_walk(v, number, walk, listed, findings):
    """Judges whether the entries did to a request what page.md specifies. listed: some walk reached "overflow"."""
    what = describe(v, number, walk)
    if walk.dropped == "no such portal":
        findings.say(f"BLANK 5: {what} was dropped, no such portal: nothing is attached to portal 4")
        return
    if not walk.way and not walk.dropped:
        findings.say(f"BLANK 5: {what} passed no entry: portal 4 has no match list; attach list_ with all its entries")
        return
    patron, before = v["request_client"][number - 1] == v["patron"], len(findings.sentences)
    by_patron, by_largest = walk.reason_at("patron"), walk.reason_at("largest")
    if (by_patron == "no match") == patron:
        findings.say(f'BLANK 2: "patron" {"passed over" if patron else "accepted"} {what}; it is for rank {v["patron"]} only '
                     "and takes any match bits: set source_rank, and ignore all bits")
        return
    if patron and by_patron != "taken" and walk.way[1:2] != ["overflow"] and (listed or len(walk.way) > 1):
        went = f'went on to "{walk.way[1]}"' if len(walk.way) > 1 else "was dropped"
        findings.say(f'BLANK 2: {what} found "patron" {"full" if by_patron == "no room" else "too small"} and {went}: the links '
                     'for no room and too small lead to "overflow"')
    if not patron and walk.way[1:2] != ["sum"]:
        went = f'went on to "{walk.way[1]}"' if len(walk.way) > 1 else "was dropped"
        findings.say(f'BLANK 2: {what} is not rank {v["patron"]}\'s and {went}, past the rows for it: leave out the link for no match')
        return
    is_largest = v["request_kind"][number - 1] == LARGEST
    if by_largest is not None and (by_largest == "no match") == is_largest:
        findings.say(f'BLANK 3: "largest" {"passed over" if is_largest else "accepted"} {what}: its match bits must be the kind, its '
                     "ignore bits the number, as those of \"sum\"")
    ignored = {stop.ignore_bits for stop in walk.stops if stop.entry == "largest" and stop.reason == "no match"} - {NUMBER}
    if ignored and not is_largest:
        findings.say(f'BLANK 3: "largest" ignores the bits 0x{ignored.pop():x}; it must take one kind, with any number: ignore the bits of the '
                     f"number, 0x{NUMBER:x}, and no others")
    if walk.stops and walk.stops[-1].entry == "largest" and walk.stops[-1].link == "drop":
        findings.say(f'BLANK 3: {what} was dropped at "largest", {by_largest}, by its link: leave out the links')
    findings.unless(by_largest != "too small" or walk.bytes > v["row_bytes"],
                    f'BLANK 3: {what} was too long for the next row of "largest", which should have {v["row_bytes"]} bytes: give '
                    "each row of the table its memory")
    if len(findings.sentences) == before:  # else the walk ended where the wrong link or entry led it
        judge_end(walk, what, findings)


def judge_end(walk, what, findings):
    """Where the walk ended."""
    last = walk.way[-1] if walk.way else None
    if walk.reason_at("overflow") == "no match":
        findings.say(f'BLANK 4: "overflow" passed over {what}: it must take every message: ignore all bits')
    elif walk.reason_at("overflow") == "inactive":
        findings.say(f'BLANK 4: "overflow" was not active for {what}')
    elif walk.dropped and last in ("largest", "patron"):
        findings.say(f"BLANK 4: {what} was dropped, {walk.dropped}: no entry at the list's end takes every message")
    elif walk.dropped and last != "overflow":
        findings.say(f'{what} was dropped, {walk.dropped}: it should have gone on to "overflow"')
    elif walk.taken == "overflow":
        findings.unless(walk.saved == "header and body", f'BLANK 4: "overflow" kept only the {walk.saved} of {what}')


class Counted:
    """Findings grouped by reason: the first request that shows it, and how many do."""

    def __init__(self):
        self.by_reason = {}

    def say(self, sentence, reason):
        self.by_reason.setdefault(reason, []).append(sentence)

    def sentences(self):
        for reason, its in self.by_reason.items():
            more = f" (and {len(its) - 1} more)" if len(its) > 1 else ""
            yield f"{its[0]}{more}: {reason}"


def check_answers(trace, v, found, findings):
    answers, counted = {}, Counted()
    for put in trace.puts(source=SERVER):
        if put.destination != SERVER and put.sent.portal != 63:
            answers.setdefault(put.sent.match_bits - ANSWER_BITS, []).append(put)
    for number, walk in sorted(found.items()):
        what, client = describe(v, number, walk), v["request_client"][number - 1]
        its = answers.pop(number, [])
        if not its and not set(answers) - set(found):
            blank = "BLANK 6" if walk.taken == "overflow" else "BLANK 7"
            counted.say(f'{blank}: {what} got no answer; "{walk.taken}" took it',
                        "answer each message in the heap" if blank == "BLANK 6" else
                        "an answer's match bits must be the header's return_match_bits")
        for put in its[:1]:
            if put.destination != client:
                counted.say(f"BLANK 7: the answer to {what} went to rank {put.destination}", "the header's source.rank is the rank that asked")
            if put.sent.portal != ANSWERS + client:
                counted.say(f"BLANK 7: the answer to {what} went to portal {put.sent.portal}", "the header's return_portal is where it is "
                            "awaited")
        if len(its) > 1:
            counted.say(f"BLANK 6: {what} was answered {len(its)} times", "release() removes a message from the queue")
    for number in answers:
        counted.say(f"BLANK 7: an answer with match bits 0x{number + ANSWER_BITS:x} belongs to no request", "use the header's return_match_bits")
    findings += counted.sentences()
