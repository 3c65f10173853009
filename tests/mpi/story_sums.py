"""The sums of a run's stories, compared with the counts of --stats: headers and bytes by wire, entries that walks
examined, drops by reason."""
import collections
import re

WIRES = {"self": "self", "shm": "shared memory", "tcp": "tcp"}
TITLE = re.compile(r"^\d+>\d+ #\d+: ", re.M)
WIRE = re.compile(r"(?:puts its header on|arrives by) (\w+):")
PUT = re.compile(r"puts its header on \w+: a put of (\d+) bytes?")
GET = re.compile(r"asks by a get on \w+ for")
REPLY = re.compile(r"replies to \d+>\d+ #\d+ with (\d+) bytes?")
ACKNOWLEDGMENT = re.compile(r"acknowledges \d+>\d+ #\d+")
TAKEN = re.compile(r"is taken by .*")
PLACE = re.compile(r", the (\w+) entry of (its walk|the paper's walk, by the index)")
CUT = re.compile(r", behind at least (\d+) others?(, by the index)?")
DROPPED = re.compile(r"is dropped, ([^:]+):")
PASSED = re.compile(r"the message    passes over ")
ORDINALS = {"first": 1, "second": 2, "third": 3}


class StorySums:
    """Sums of the text of `margay trace story DIR --all`, with every message. `wires`: by --stats' name [headers,
    bytes]."""

    def __init__(self, text):
        self.wires = collections.defaultdict(lambda: [0, 0])
        self.walked = 0  # the least number of entries that the kernel examined; a walk by the index counts one
        self.more = 0  # further entries that it may have examined: those of the paper's walk, when it used the index
        self.drops = collections.Counter()
        places = [title.start() for title in TITLE.finditer(text)] + [len(text)]
        for begin, end in zip(places, places[1:]):
            self._add(text[begin:end])

    def _add(self, story):
        bodies = [int(size) for size in PUT.findall(story) + REPLY.findall(story)]
        count = len(bodies) + len(GET.findall(story)) + len(ACKNOWLEDGMENT.findall(story))
        wire = WIRE.search(story)
        if count and wire:  # its answers use the same wire
            row = self.wires[WIRES[wire[1]]]
            row[0] += count
            row[1] += sum(bodies)
        self.walked += sum(self._entries(taken) for taken in TAKEN.findall(story))
        if "stays on the wire" in story:  # each first attempt counted too
            self.more = float("inf")
        for reason in DROPPED.findall(story):
            self.drops[reason] += 1
            self.walked += len(PASSED.findall(story))

    def _entries(self, taken):
        if cut := CUT.search(taken):
            self.more = float("inf")
            return 1 if cut[2] else int(cut[1])
        place = PLACE.search(taken)
        if not place:
            return 1
        entries = ORDINALS[place[1]] if place[1] in ORDINALS else int(place[1][:-2])
        if place[2] == "its walk":
            return entries
        self.more += entries - 1
        return 1

    def differences(self, output, missing=0):
        """The differences from --stats in a run's `output`, as sentences. `missing`: the counts or the stories may have
        so many more headers: those of ranks that were killed between the two."""
        table = dict((name, (int(messages), int(size))) for name, messages, size in
                     re.findall(r"^    (self|shared memory|tcp)\s+(\d+)\s+(\d+)$", output, re.M))
        problems = []
        for wire in WIRES.values():
            summed, counted = tuple(self.wires[wire]), table.get(wire, (0, 0))
            if abs(summed[0] - counted[0]) > missing or (summed[0] == counted[0] and not missing and summed[1] != counted[1]):
                problems.append(f"{wire}: stories of {summed[0]} headers and {summed[1]} bytes, --stats has {counted[0]} and {counted[1]}")
        if missing:  # the other numbers are from each rank's last long wait
            return problems
        walked = int(re.search(r"match entries visited: (\d+)", output)[1])
        if not self.walked <= walked <= self.walked + self.more:
            problems.append(f"stories of {self.walked} entries of walks, {self.more} more by the index: --stats has {walked}")
        line = re.search(r"messages dropped: (.*)", output)[1]
        drops = {reason: int(number) for reason, number in re.findall(r"([a-z ]+?) (\d+)(?:, |$)", line)}
        if drops != self.drops:
            problems.append(f"stories of drops {dict(self.drops)}, --stats has {line}")
        return problems
