"""The walk by hand: which entry of a match list takes a message, and why others pass it over."""

import re
from collections import Counter

from frame import variant as numbers
from frame.blanks import Truth
from frame.say import count
from frame.walks import walks

TITLE = "The walk by hand: match bits, ignore bits, three links, an overlay"
MINUTES = 25
BLANKS_COME_FIRST = True  # the walks depend on the blanks
RANKS, OPTIONS = 2, ("--trace-walks",)

DESK, RECEIVER = 4, 1
NEXT, DROP = -1, -2
EXACT, FAMILY, MASKED, WHOLE, HEADER_ONLY, SPARE, WIDE = range(7)
NAMES = ("exact", "family", "masked", "whole", "header only", "spare", "wide")
LINKS = ("no_match", "no_room", "too_small")
REASONS = dict(zip(LINKS, ("no match", "no room", "too small")))
PASSED = (*REASONS.values(), "inactive")
ALL_BITS = 2**64 - 1
HEAP_BYTES, HEADER_IN_HEAP = 1024, 192
MESSAGES = 8


class List:
    """A model of a variant's list, to choose variants in which each case occurs. The check does not use it."""

    def __init__(self, v):
        self.criteria = {EXACT: (v["exact_bits"], 0), FAMILY: (v["family_bits"], v["family_ignore"]),
                         MASKED: (v["masked_bits"], v["masked_ignore"]), WHOLE: (0, ALL_BITS), HEADER_ONLY: (0, ALL_BITS),
                         SPARE: (0, ALL_BITS), WIDE: (0, ALL_BITS)}
        self.chain = [EXACT, MASKED, FAMILY] if v["masked_first"] else [EXACT, FAMILY, MASKED]
        self.chain += [WHOLE, HEADER_ONLY]
        self.links = {(entry, link): v.get(f"{NAMES[entry]}_{link}", NEXT) for entry in self.chain for link in LINKS}
        self.links[FAMILY, "too_small"] = WIDE
        self.links |= {(SPARE, link): DROP for link in LINKS}
        self.links |= {(WIDE, "no_room"): v["wide_no_room"], (WIDE, "too_small"): v["wide_too_small"]}
        self.asleep = {MASKED} if v["masked_asleep"] else set()
        self.left = {EXACT: v["exact_room"], MASKED: v["masked_room"], SPARE: v["spare_room"], WIDE: v["wide_room"]}
        self.rows, self.row_bytes, self.heap, self.queued = 2, v["family_room"], HEAP_BYTES, 0

    def failure(self, entry, bits, length):
        """The failure, whose link the walk follows; None after the entry took the message."""
        want, ignore = self.criteria[entry]
        if entry in self.asleep or (bits ^ want) & ~ignore & ALL_BITS:
            return "no_match"
        if entry in (WHOLE, HEADER_ONLY):
            needed = in_heap(NAMES[entry], length)
            if needed > self.heap:
                return "no_room"
            self.heap, self.queued = self.heap - needed, self.queued + 1
            return None
        if entry == FAMILY:
            if self.rows == 0 or length > self.row_bytes:
                return "too_small" if self.rows else "no_room"
            self.rows -= 1
            return None
        if self.left[entry] == 0 or length > self.left[entry]:
            return "too_small" if self.left[entry] else "no_room"
        self.left[entry] -= length
        return None

    def walk(self, bits, length):
        """[(entry, failure)], the entry that took the message or None, whether a link other than next was followed."""
        stops, entry, jumped = [], self.chain[0], False
        while entry is not None:
            link = self.failure(entry, bits, length)
            if link is None:
                return stops, entry, jumped
            stops.append((entry, link))
            to = self.links.get((entry, link), NEXT)
            jumped = jumped or to != NEXT
            if to == NEXT:
                at = self.chain.index(entry) + 1
                entry = self.chain[at] if at < len(self.chain) else None
            else:
                entry = None if to == DROP else to
        return stops, None, jumped


def draw(random):
    family = random.randrange(1, 16) << 8 | random.randrange(16) << 4 | random.randrange(16)
    wild_first, wild_bits = random.choice(((0, 4), (4, 4), (0, 8)))
    masked_ignore = random.choice((0xF00, 0xFF0, 0x0F0, 0xF0F)) if wild_bits == 4 else random.choice((0xF00, 0xF0F))
    v = {"exact_bits": random.randrange(0x100, 0x1000), "exact_room": random.choice((16, 20, 24)),
         "family_bits": family, "wild_first": wild_first, "wild_bits": wild_bits, "family_room": random.choice((12, 16, 20)),
         "masked_bits": family, "masked_ignore": masked_ignore, "masked_room": random.choice((8, 16)),
         "masked_first": random.randrange(2), "masked_asleep": random.randrange(4) == 0, "spare_room": 16,
         "wide_room": random.choice((100, 200)), "heap_bytes": HEAP_BYTES, "next": NEXT, "drop": DROP,
         "exact_no_room": SPARE, "exact_too_small": random.choice((NEXT, DROP, SPARE)),
         "masked_no_match": random.choice((NEXT, NEXT, WHOLE)), "masked_no_room": random.choice((NEXT, DROP)),
         "masked_too_small": random.choice((NEXT, DROP, HEADER_ONLY)),
         "family_no_match": random.choice((NEXT, NEXT, WHOLE)), "family_no_room": random.choice((NEXT, WHOLE)),
         "wide_no_room": DROP, "wide_too_small": random.choice((DROP, HEADER_ONLY))}
    v["masked_asleep"] = int(v["masked_asleep"])
    v["family_ignore"] = (1 << wild_bits) - 1 << wild_first
    v["message_bits"], v["message_bytes"] = [], []
    for _ in range(MESSAGES):
        wild = random.randrange(1, 1 << wild_bits) << wild_first
        bits, length = random.choice((
            (v["exact_bits"], random.choice((4, 8, v["exact_room"]))), (family ^ wild, random.choice((4, v["family_room"]))),
            (family ^ wild, v["family_room"] + random.choice((4, 40, 400))), (family ^ wild, 8),
            (family ^ random.choice((0x100, 0x400, 0xF00)), random.choice((4, 8, 40))),
            (random.randrange(0x100, 0x1000), random.choice((12, 32, 2000, 3000)))))
        v["message_bits"].append(bits)
        v["message_bytes"].append(length)
    v["longest"] = max(v["message_bytes"])
    return v


def telling(v):
    """Whether each case of the lab occurs in this variant: each entry is visited, and "family" fails in all three ways."""
    paper = List(v)
    outcomes = [paper.walk(*message) for message in zip(v["message_bits"], v["message_bytes"])]
    failures = {stop for stops, _, _ in outcomes for stop in stops}
    takers = [taker for _, taker, _ in outcomes]
    visited = {entry for entry, _ in failures} | set(takers)
    return (visited >= set(range(len(NAMES))) and {(FAMILY, link) for link in LINKS} <= failures
            and {(EXACT, "no_match"), (WHOLE, "no_room")} <= failures
            and max(Counter(zip(v["message_bits"], v["message_bytes"])).values()) <= 2
            and sum(jumped for _, _, jumped in outcomes) >= 2 and takers.count(None) in (1, 2)
            and {EXACT, FAMILY, HEADER_ONLY} <= set(takers) and len(set(takers)) >= 5 and paper.queued <= 3)


def entry_row(v, entry, bits, ignore, room):
    def link(which):
        to = v.get(f"{NAMES[entry].replace(' ', '_')}_{which}", NEXT)
        return {NEXT: "next", DROP: "drop"}.get(to) or f'at "{NAMES[to]}"'
    links = ["BLANK 2" if (entry, which) == (FAMILY, "too_small") else
             "drop" if entry == SPARE and which != "no_match" else link(which) for which in LINKS]
    return f"{NAMES[entry]:<12} {bits:<7} {ignore:<8} {room:<36} {links[0]:<12} {links[1]:<12} {links[2]}"


def table(v):
    """The page's table of entries."""
    rows = {EXACT: (f"0x{v['exact_bits']:x}", "0", f"single block, {v['exact_room']} bytes"),
            FAMILY: (f"0x{v['family_bits']:x}", "BLANK 1", f"independent, 2 buffers of {v['family_room']} bytes"),
            MASKED: (f"0x{v['masked_bits']:x}", f"0x{v['masked_ignore']:x}",
                     f"single block, {v['masked_room']} bytes{' - inactive' if v['masked_asleep'] else ''}"),
            WHOLE: ("any", "all", f"the heap, {HEAP_BYTES} bytes: all"),
            HEADER_ONLY: ("any", "all", "the same heap: the header only"),
            SPARE: ("any", "all", f"single block, {v['spare_room']} bytes"),
            WIDE: ("any", "all", f"single block, {v['wide_room']} bytes")}
    head = f"{'entry':<12} {'match':<7} {'ignore':<8} {'its memory':<36} {'no match':<12} {'no room':<12} too small"
    chain = List(v).chain
    lines = [entry_row(v, entry, *rows[entry]) for entry in chain]
    return "\n".join([head, *lines, "adopted, reached only by links:"] + [entry_row(v, e, *rows[e]) for e in (SPARE, WIDE)])


def variant(random):
    v = numbers.telling(lambda: draw(random), telling)
    first, last = v["wild_first"], v["wild_first"] + v["wild_bits"] - 1
    v |= {"page_entries": table(v), "page_family": f"0x{v['family_bits']:x}",
          "page_wild": f"bits {first} to {last} (bit 0 is the lowest)",
          "page_questions": "\n".join(question(number, bits, length) for number, (bits, length) in
                                 enumerate(zip(v["message_bits"], v["message_bytes"]), 1)),
          "page_messages": "\n".join(f"   {number}      0x{bits:x}   {length}" for number, (bits, length) in
                                      enumerate(zip(v["message_bits"], v["message_bytes"]), 1))}
    del v["family_ignore"]  # BLANK 1
    return v


def question(number, bits, length):
    return f"# Message {number}: bits 0x{bits:x}, {length} bytes.\nm{number}_taken = \nm{number}_passed = \n"


def check(work):
    v, findings = work.variant, work.findings
    with open(work.program(), encoding="utf-8", errors="replace") as file:
        quoted = re.search(r'Link::at\(\s*"', file.read())
    if not findings.unless(not quoted, "BLANK 2: Link::at() takes the entry itself, a variable of program.cpp, without quotation marks, as "
                           "in Link::at(exact)"):
        return findings
    done = work.run()
    if not findings.unless(done.status == 0, done.trouble):
        return findings
    found = walks(done.trace, DESK, RECEIVER)
    if not findings.unless([(walk.match_bits, walk.bytes) for walk in found] ==
                           list(zip(v["message_bits"], v["message_bytes"])),
                           "the program sends other messages than the one that was handed out: change only the blanks"):
        return findings
    check_ignore_bits(v, found, findings)
    check_link(found, findings)
    if not findings:
        compare(work, found)
    return findings


def check_ignore_bits(v, found, findings):
    """Judges BLANK 1 by the answer of "family" to each message, and by its ignore bits in the trace."""
    wild = (1 << v["wild_bits"]) - 1 << v["wild_first"]
    seen = {stop.ignore_bits for walk in found for stop in walk.stops if stop.entry == "family" and stop.reason == "no match"}
    if seen == {wild ^ ALL_BITS}:
        findings.say('BLANK 1: the ignore bits of "family" are inverted: a bit that is 1 there is not compared')
        return
    for number, walk in enumerate(found, 1):
        answer = walk.reason_at("family")
        if answer is None or findings:
            continue
        differ = (walk.match_bits ^ v["family_bits"]) & ~wild & ALL_BITS
        about = f'BLANK 1: message {number} (bits 0x{walk.match_bits:x}) and the match bits of "family" (0x{v["family_bits"]:x}) '
        findings.unless(differ or answer != "no match", about + f"differ only in {v['page_wild']}, but the entry passed it "
                        "over, no match: it ignores too few bits")
        findings.unless(not differ or answer == "no match", about + f"differ in 0x{differ:x} as well, but the entry accepted "
                        "it: it ignores bits that it must compare")
    for ignored in () if findings else seen - {wild}:
        findings.say(f'BLANK 1: "family" ignores 0x{ignored:x}; its bits 0x{ignored ^ wild:x} are not as page.md specifies')


def check_link(found, findings):
    """Judges BLANK 2 by the walk's next entry after "too small"."""
    for number, walk in enumerate(found, 1):
        if walk.reason_at("family") != "too small":
            continue
        after = walk.way[walk.way.index("family") + 1:]
        stop = next(stop for stop in walk.stops if stop.entry == "family")
        if stop.link == "entry" and after and after[0] == "wide":
            continue
        went = f'to "{after[0]}"' if after else "nowhere: the message was dropped"
        findings.say(f'BLANK 2: message {number} was too long for the buffer of "family", and the walk went {went}; it '
                     'should go to "wide" at once')


def in_heap(entry, length):
    """Bytes that a message takes in the heap."""
    return HEADER_IN_HEAP + (length + 63 & ~63 if entry == NAMES[WHOLE] else 0)


def compare(work, found):
    truths, left = {}, HEAP_BYTES
    takers = (*NAMES, "dropped")
    passes = ("none", *(f"{entry} {reason}" for entry in NAMES for reason in PASSED))
    each = f"each entry with its reason, such as `exact no match`, or `none`; entries: {', '.join(NAMES)}; reasons: {', '.join(PASSED)}"
    for number, walk in enumerate(found, 1):
        about = f"Look at message {number} by `margay trace story trace {walk.message.story}`."
        others = f"It passed {count(len(walk.way), 'entry', 'entries')}, including the one that took it." if walk.taken else \
            f"It was dropped after it had passed {count(len(walk.way), 'entry', 'entries')}."
        if walk.reason_at("whole") == "no room":
            others += f" The heap had {left} bytes left; header and body would have taken {in_heap('whole', walk.bytes)}."
        if walk.taken in (NAMES[WHOLE], NAMES[HEADER_ONLY]):
            left -= in_heap(walk.taken, walk.bytes)
        truths[f"m{number}_taken"] = Truth(walk.taken or "dropped", f"{about} {others}", "", known=takers)
        truths[f"m{number}_passed"] = Truth([str(stop) for stop in walk.stops] or ["none"], f"{about} {others}",
                                            reasons(walk), known=passes, form=each)
    for name, text in (work.predictions or {}).items():
        work.predictions[name] = text.replace(":", " ").replace('"', "")
    work.predicted(truths)


def reasons(walk):
    """A line for what happened at each entry."""
    lines = [f'"{stop.entry}": {stop.reason}; its link for this: {"to an entry" if stop.link == "entry" else stop.link}'
             for stop in walk.stops]
    return "\n".join(lines + [f'"{walk.taken}" takes it, and keeps its {walk.saved}' if walk.taken
                              else f"dropped: {walk.dropped}"])
