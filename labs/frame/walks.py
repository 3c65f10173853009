"""The walks in a trace (margay run --trace-walks): for each message to a portal, the entries that passed it over and the
entry that took it, by the names that the program gave them.

    for walk in walks(trace, portal=4, destination=1):   in order of arrival
        walk.stops      [Stop("exact", "no match", "next", ...), ...]: the entries that passed it over
        walk.taken      "family", or None
        walk.dropped    "too small", or None
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stop:
    """An entry that passed the message over, the reason, and the kind of link that the walk followed."""
    entry: str
    reason: str
    link: str
    match_bits: int  # the entry's criteria; recorded for "no match" only
    ignore_bits: int

    def __str__(self):
        return f"{self.entry} {self.reason}"


@dataclass
class Walk:
    message: object  # frame.trace.Message
    match_bits: int
    bytes: int
    stops: list = field(default_factory=list)
    taken: str = None
    dropped: str = None
    saved: str = ""
    offset: int = 0

    @property
    def way(self):
        """Names of all entries that the walk visited; the one that took the message is last."""
        return [stop.entry for stop in self.stops] + ([self.taken] if self.taken else [])

    def reason_at(self, entry):
        """Why an entry passed the message over, or "taken"; None if the walk did not visit it."""
        if self.taken == entry:
            return "taken"
        return next((stop.reason for stop in self.stops if stop.entry == entry), None)


def walk_of(trace, message):
    """The walk of a message; None if it has not arrived."""
    arrived = message.arrived
    if arrived is None:
        return None
    walk = Walk(message, arrived.match_bits, arrived.bytes)
    for event in message.events:
        if event.kind == "kernel_pass":
            walk.stops.append(Stop(trace.entry(event), event.reason, event.link, event.match_bits, event.ignore_bits))
        elif event.kind == "kernel_match":
            walk.taken = trace.entry(event)
        elif event.kind == "kernel_deposit":
            walk.saved, walk.offset = event.saved or "", event.offset
        elif event.kind == "kernel_drop":
            walk.dropped = event.reason
    return walk


def walks(trace, portal, destination):
    """Walks of the puts to a portal of a rank, in order of their arrival."""
    found = [walk_of(trace, message) for message in trace.puts(portal=portal, destination=destination)]
    return sorted((walk for walk in found if walk), key=lambda walk: walk.message.arrived.time)
