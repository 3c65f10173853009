"""Reads the folder that `margay run --trace DIR` wrote, by `margay trace export DIR --format json` (docs/trace_export.md).

    trace = Trace.load("trace")
    for event in trace.events: ...            all events of all ranks, by time
    trace.of("kernel_arrive", "kernel_drop")  those of some kinds
    trace.messages                            identity (source, destination, sequence) -> its events
    trace.puts(portal=0)                      the puts to a portal, as Messages

An event has the fields of its kind, by their names in docs/trace_format.md; a field that the event lacks is None. Damaged files,
files of other versions and traces that lost events raise BadTrace, with a sentence.
"""

import json
import os
import tempfile
from dataclasses import dataclass, field

from frame import child, tools

VERSION = 1
EXPORT_SECONDS = 60
BITS = ("match_bits", "ignore_bits")
WAY_SHIFT, WIRES = 48, ("self", "shm", "tcp", "virtual")  # a number has its way above the position: 0 the usual one, else 1 + the wire


class BadTrace(Exception):
    """A trace that cannot be read. Its message is a sentence."""


def number_text(number):
    """A message's number as margay prints it: `17`, or with another than the usual way `tcp.17`."""
    way, position = number >> WAY_SHIFT, number & (1 << WAY_SHIFT) - 1
    return f"{WIRES[way - 1]}.{position}" if 0 < way <= len(WIRES) else str(position)


class Event:
    """An event, with the fields of the export and `time`, in microseconds since the first event."""

    known = frozenset()  # all names of fields that the export has

    def __init__(self, fields):
        self.__dict__.update(fields)
        self.time = self.time_ns / 1000
        for name in BITS:
            if name in fields:
                setattr(self, name, int(fields[name], 16))

    def __getattr__(self, name):  # a field that the event lacks
        if name not in Event.known:
            raise AttributeError(f"no event has a field {name}")
        return None

    @property
    def identity(self):
        """(source, destination, number in the pair), or None."""
        return (self.source, self.destination, self.sequence) if self.sequence else None

    @property
    def name(self):
        """As `margay trace story` names the message."""
        return f"{self.source}>{self.destination} #{number_text(self.sequence)}"

    @property
    def tag(self):
        return (self.match_bits or 0) >> 32

    @property
    def context(self):
        return (self.match_bits or 0) >> 3 & 0x1FFF


@dataclass
class Message:
    """One header with its body: a put, a get, a reply or an acknowledgment."""
    source: int
    destination: int
    sequence: int
    events: list = field(default_factory=list)

    def first(self, *kinds):
        """The message's first event of these kinds, or None."""
        return next((event for event in self.events if event.kind in kinds), None)

    def has(self, *kinds):
        return self.first(*kinds) is not None

    @property
    def name(self):
        return f"{self.source}>{self.destination} #{number_text(self.sequence)}"

    @property
    def story(self):
        """The argument that `margay trace story` takes."""
        return f"{self.source}:{self.destination}:{number_text(self.sequence)}"

    @property
    def sent(self):
        return self.first("kernel_send", "kernel_reply_sent", "kernel_ack_sent")

    @property
    def arrived(self):
        return self.first("kernel_arrive", "kernel_get_arrived", "kernel_ack_arrived")

    @property
    def begun(self):
        """The event with the protocol that the ADI chose; None for a message that is not an MPI send."""
        return self.first("send_begin")

    @property
    def protocol(self):
        return self.begun.protocol if self.begun else None

    @property
    def tag(self):
        return self.sent.tag

    @property
    def bytes(self):
        return self.sent.bytes


def exported(folder):
    """The trace as margay exports it."""
    if not os.path.isdir(folder):
        raise BadTrace(f"{folder}: there are no trace files; record with `margay run --trace {folder}`")
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "trace.json")
        command = [tools.margay(), "trace", "export", folder, "--format", "json", "-o", path]
        try:
            done = child.run(command, environment=tools.environment(), seconds=EXPORT_SECONDS)
        except (OSError, TimeoutError) as error:
            raise BadTrace(f"{folder}: margay trace export: {error}") from error
        if done.status:
            raise BadTrace(done.err.strip() or f"{folder}: margay trace export ended with status {done.status}")
        with open(path, encoding="utf-8") as file:
            return json.load(file)


class Trace:
    """The traces of all ranks of one job, merged."""

    PORTAL, ENTRY, OWNER = "portal", "entry", "owner"  # kinds of definitions

    def __init__(self, document):
        if document["version"] != VERSION:
            raise BadTrace(f"margay exports version {document['version']} of a trace's events; its labs read version {VERSION}")
        ranks = document["ranks"]
        self.size = ranks[0]["size"]
        if sorted(rank["rank"] for rank in ranks) != list(range(self.size)):
            raise BadTrace(f"the trace has files of ranks {sorted(rank['rank'] for rank in ranks)}, the job had {self.size} ranks")
        lost = next((rank for rank in ranks if rank["events_lost"]), None)
        if lost:
            raise BadTrace(f"rank {lost['rank']}: the first {lost['events_lost']} events were overwritten; record more with "
                           "--trace-events")
        Event.known = frozenset(name for kind in document["kinds"].values() for name in kind["fields"])
        self.definitions = {rank["rank"]: rank["definitions"] for rank in ranks}
        self.events = [Event(fields) for fields in document["events"]]
        self.messages = self._join()

    @classmethod
    def load(cls, folder):
        return cls(exported(folder))

    def _join(self):
        """Groups events by message. A send_begin has no number yet: it belongs to the next kernel_send of its rank with the same
        destination and match bits, without the 3 bits of the message's type."""
        messages, waiting = {}, {}
        for event in self.events:
            if event.kind == "send_begin" and not event.identity:
                waiting.setdefault((event.rank, event.destination, event.match_bits >> 3), []).append(event)
            if not event.identity:
                continue
            if event.identity not in messages:
                messages[event.identity] = Message(*event.identity)
            if event.kind == "kernel_send":
                begun = waiting.get((event.rank, event.destination, event.match_bits >> 3))
                if begun:
                    messages[event.identity].events.append(begun.pop(0))
            messages[event.identity].events.append(event)
        return messages

    def of(self, *kinds, rank=None, portal=None):
        """The events of these kinds, by time; with `rank` and `portal`, only those of a rank and about a portal."""
        return [event for event in self.events if event.kind in kinds and (rank is None or event.rank == rank)
                and (portal is None or event.portal == portal)]

    def sent(self, header=None, source=None, destination=None, portal=None, tag=None):
        """Messages in the order in which they were sent: all, or those of a header kind, pair, portal or tag."""
        chosen = [message for message in self.messages.values() if message.sent
                  and (header is None or message.sent.header == header)
                  and (source is None or message.source == source)
                  and (destination is None or message.destination == destination)
                  and (portal is None or message.sent.portal == portal) and (tag is None or message.tag == tag)]
        return sorted(chosen, key=lambda message: message.sent.time)

    def puts(self, **which):
        return self.sent(header="put", **which)

    def answers_to(self, message):
        """Replies and acknowledgments that name this message, in the order in which they were sent."""
        return sorted((other for other in self.messages.values()
                       if other.sent and other.sent.kind in ("kernel_reply_sent", "kernel_ack_sent")
                       and (other.source, other.destination) == (message.destination, message.source)
                       and other.sent.answers == message.sequence), key=lambda other: other.sent.time)

    def calls(self, name=None, rank=None):
        """(enter, leave) of the program's MPI calls, paired by thread; leave is None for a call that never returned."""
        opened, result = {}, []
        for event in self.events:
            if event.kind == "mpi_enter":
                entry = [event, None]
                opened.setdefault((event.rank, event.thread), []).append(entry)
                result.append(entry)
            elif event.kind == "mpi_leave" and opened.get((event.rank, event.thread)):
                opened[event.rank, event.thread].pop()[1] = event
        return [tuple(entry) for entry in result
                if (name is None or entry[0].call == name) and (rank is None or entry[0].rank == rank)]

    def error_classes(self, rank, begin, end=None):
        """The error classes that failed calls of a rank returned from `begin` until `end`."""
        return [event.error_class for event in self.of("mpi_leave", rank=rank)
                if event.error_class and event.time >= begin.time and (end is None or event.time <= end.time)]

    def defined(self, rank, kind, number, before=None):
        """The text of the latest definition of a number before an event; "" when it has none."""
        text = ""
        for definition in self.definitions[rank]:
            if definition["kind"] == kind and definition["number"] == number and \
                    (before is None or definition["time_ns"] <= before.time_ns):
                text = definition["text"]
        return text

    def entry(self, event):
        """The name of the match entry of a kernel_match or a kernel_pass; "" when it has none."""
        return self.defined(event.rank, self.ENTRY, (event.portal << 56) ^ event.place, event)

    def owner(self, event):
        """The owner of the descriptor that took the message of a kernel_match, by name."""
        return self.defined(event.rank, self.OWNER, event.owner, event)
