"""Reads the folder that `margay run --trace DIR` left, as docs/trace_format.md describes it, version 4.

    trace = Trace.load("trace")
    for event in trace.events: ...            all events of all ranks, by time
    trace.of("kernel_arrive", "kernel_drop")  those of some kinds
    trace.messages                            identity (source, destination, sequence) -> its events
    trace.puts(portal=0)                      what was sent, a Message for each

An event has the fields of the page by their names (`kind`, `header`, `protocol`, `wire` and `reason` as words; None where
there is none), `rank`, who recorded it, and `call`, the name of the MPI call that it names. Damaged files, files of other
versions and traces that lost events raise BadTrace, with a sentence.
"""

import hashlib
import os
import re
import stat
import struct
from dataclasses import dataclass, field

MAGIC = b"mrgtrace"
VERSION = 4
EVENT = struct.Struct("<QHBBIIBBBBQQQQII")
HEADER_BYTES = 4096
HEADER_USED = 208
CHECKSUM_AT, FLAGS_AT, CLOSED = 120, 196, 1
LAUNCHER_HEADER_USED, LAUNCHER_CHECKSUM_AT = 224, 208
NAME_BYTES = 32
# Where a header's fields of one value lie, and the value (sim/trace/format.hpp).
FIXED = {"header_bytes": ("<I", 12, 4096), "event_bytes": ("<I", 16, 64), "names_offset": ("<Q", 40, 4096),
         "events_offset": ("<Q", 48, 561152), "definitions_offset": ("<Q", 88, 36864), "definitions_bytes": ("<Q", 96, 524288)}
NAMES_MOST, CAPACITY_MOST, CLOCKS = 1024, 1 << 26, (1, 2, 3)
CLOCK_TICKS = 2
NONE8, ANY = 255, 0xFFFFFFFF

KINDS = (
    "none send_begin kernel_send kernel_sent kernel_arrive kernel_match kernel_pass kernel_deposit_begin kernel_deposit "
    "kernel_ack_sent kernel_ack_arrived kernel_get_arrived kernel_reply_sent kernel_drop kernel_hold post_receive search_hit "
    "search_miss receive_complete request_complete pull_begin pull_complete stop wait_begin wait_end sleep wake "
    "coprocessor_begin coprocessor_end peer_lost mpi_enter mpi_leave take_back shared_write shared_read window_access "
    "window_sync synchronous_answer collective_begin collective_end given_back found entry_linked "
    "entry_unlinked entry_switched heap_left").split()
WIRES = ("self", "shm", "tcp", "virtual")
HEADERS = ("put", "get", "reply", "acknowledgment")
PROTOCOLS = ("none", "short", "long", "long_rendezvous", "synchronous_short", "synchronous_long", "ready_short",
             "ready_long", "buffered")
DROPS = ("none", "no such portal", "no match", "no room", "too small", "read only", "write only",
         "offset out of range", "peer lost")
PASSED = ("inactive", "no match", "no room", "too small", "wrong direction", "offset out of range", "taken")
CHOICES = ("none", "fits_short", "above_short", "mode", "option")
WALKS = ("none", "by_index", "cut", "by_index_and_cut")
WAYS = ("direct", "process", "message")
ACCESSES = ("put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap")
SYNCHRONISATIONS = ("fence", "post", "start", "complete", "wait", "lock", "unlock", "lock_all", "unlock_all", "flush",
                    "flush_all", "flush_local", "flush_local_all", "sync")
BODIES = ("none", "slot", "straight", "cell", "ring", "ring_in_parts", "ring_instead", "read", "epoll", "uring",
          "uring_provided", "virtual")
BODY_KINDS = ("kernel_send", "kernel_sent", "kernel_reply_sent", "kernel_deposit")
TAKEN_OUT = ("none", "taken_out")
PROBES = ("MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe")
ROOTS = ("member", "remote", "here", "another")
REASONS = {"send_begin": CHOICES, "kernel_match": WALKS, "kernel_pass": PASSED, "window_access": WAYS, "collective_begin": ROOTS, "search_hit": TAKEN_OUT, "found": PROBES,
           **{kind: BODIES for kind in BODY_KINDS}, **{kind: () for kind in ("entry_linked", "entry_unlinked", "entry_switched", "heap_left")}}
BODY_IN_PIECES = 0x80
OF_WALK = 0xF  # of a kernel_match's reason
WITH_CALL = {"wait_begin", "wait_end", "mpi_enter", "mpi_leave"}
WITH_REQUEST = {"send_begin", "post_receive", "search_hit", "search_miss", "receive_complete", "request_complete",
                "pull_begin", "pull_complete", "synchronous_answer"}


class BadTrace(Exception):
    """What is wrong with a trace, as a sentence."""


def word(words, number):
    """The number's word; None for 255, the number itself where the reader does not know it."""
    return None if number == NONE8 else words[number] if number < len(words) else str(number)


@dataclass(frozen=True)
class Event:
    time: float  # microseconds since the first event
    rank: int
    kind: str
    wire: str
    protocol: str
    source: int  # None: any, or none
    destination: int
    header: str
    portal: int
    reason: str
    saved: str  # "", "header", "body", "header and body"
    sequence: int
    match_bits: int
    bytes: int
    detail: int
    a: int
    b: int
    call: str

    @property
    def identity(self):
        """(source, destination, number in the pair), or None."""
        return (self.source, self.destination, self.sequence) if self.sequence else None

    @property
    def name(self):
        """As `margay trace story` names the message."""
        return f"{self.source}>{self.destination} #{self.sequence}"

    @property
    def tag(self):
        return self.match_bits >> 32

    @property
    def context(self):
        return self.match_bits >> 3 & 0x1FFF

    @property
    def request(self):
        return self.a if self.kind in WITH_REQUEST else None

    @property
    def call_number(self):
        """Of shared_write and shared_read: the collective call's number on its communicator."""
        return self.a

    @property
    def access(self):
        return word(ACCESSES, self.a)

    @property
    def synchronisation(self):
        return word(SYNCHRONISATIONS, self.a)


@dataclass
class Message:
    """One header with its body: a put, a get, a reply or an acknowledgment."""
    source: int
    destination: int
    sequence: int
    events: list = field(default_factory=list)

    def first(self, *kinds):
        """Its first event of these kinds, or None."""
        return next((event for event in self.events if event.kind in kinds), None)

    def has(self, *kinds):
        return self.first(*kinds) is not None

    @property
    def name(self):
        return f"{self.source}>{self.destination} #{self.sequence}"

    @property
    def story(self):
        """The argument that `margay trace story` takes."""
        return f"{self.source}:{self.destination}:{self.sequence}"

    @property
    def sent(self):
        return self.first("kernel_send", "kernel_reply_sent", "kernel_ack_sent")

    @property
    def arrived(self):
        return self.first("kernel_arrive", "kernel_get_arrived", "kernel_ack_arrived")

    @property
    def begun(self):
        """What the ADI chose for it; None for a message that is not MPI's send."""
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


@dataclass(frozen=True)
class Definition:
    time: int
    kind: int
    number: int
    value: int
    text: str


class RankFile:
    """One rank's file, decoded."""

    def __init__(self, path):
        self.path = path
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BadTrace(f"{path}: no regular file")
            self.data = file.read()
        if len(self.data) < HEADER_BYTES or self.data[:8] != MAGIC:
            raise BadTrace(f"{path}: not a trace file, or one that was never begun")
        version, = self.u32(8, 1)
        if version != VERSION:
            raise BadTrace(f"{path}: a trace of version {version}; this margay's labs read version {VERSION}")
        self._check_header()
        self.event_bytes, self.clock, self.rank, self.size, self.node = self.u32(16, 5)
        self.names_offset, self.events_offset, self.capacity = self.u64(40, 3)
        self.definitions_offset, = self.u64(88, 1)
        self.written, self.anchor_count = self.u64(128, 2)
        self.name_count, self.flags, self.definitions_used = self.u32(192, 3)
        if self.written > self.capacity:
            raise BadTrace(f"{path}: the first {self.written - self.capacity} events were overwritten; "
                           "record more with --trace-events")
        if self.event_bytes != EVENT.size or len(self.data) < self.events_offset + self.written * EVENT.size:
            raise BadTrace(f"{path}: the file is cut short or damaged")
        checksum, = self.u64(CHECKSUM_AT, 1)
        by_launcher, = self.u64(LAUNCHER_CHECKSUM_AT, 1)
        if checksum not in (0, self.checksum()) or (checksum == 0 and self.flags & CLOSED) or \
                (by_launcher and (checksum or by_launcher != self.launchers_checksum())):
            raise BadTrace(f"{path}: the file is damaged, its checksum does not fit; record the run again")

    def checksum(self):
        """Of all that is read of a file that its rank closed."""
        header = bytearray(self.data[:HEADER_USED])
        struct.pack_into("<Q", header, CHECKSUM_AT, 0)
        struct.pack_into("<I", header, FLAGS_AT, self.flags | CLOSED)
        return self._digest(header, 0)

    def launchers_checksum(self):
        """The same of one that the launcher closed, as its rank was killed: a full ring's oldest event is in doubt."""
        header = bytearray(self.data[:LAUNCHER_HEADER_USED])
        struct.pack_into("<Q", header, LAUNCHER_CHECKSUM_AT, 0)
        return self._digest(header, 1 if self.written == self.capacity else 0)

    def _digest(self, header, oldest):
        parts = ((self.names_offset, self.name_count * NAME_BYTES), (self.definitions_offset, self.definitions_used),
                 (self.events_offset + oldest * EVENT.size, (self.written - oldest) * EVENT.size))
        digest = hashlib.blake2b(header, digest_size=16)
        for at, length in parts:
            digest.update(self.data[at:at + length])
        return int.from_bytes(digest.digest()[:8], "little") or 1

    def _check_header(self):
        """Every field that reading depends on; `written` and the file's length are for who knows them."""
        def need(holds, what):
            if not holds:
                raise BadTrace(f"{self.path}: the file is damaged: {what}; record the run again")
        for name, (form, offset, wanted) in FIXED.items():
            value, = struct.unpack_from(form, self.data, offset)
            need(value == wanted, f"{name} is {value}, not {wanted}")
        clock, rank, size = self.u32(20, 3)
        need(clock in CLOCKS, f"clock kind {clock}")
        need(rank < size, f"rank {rank} of {size}")
        capacity, = self.u64(56, 1)
        need(0 < capacity <= CAPACITY_MOST and capacity & (capacity - 1) == 0, f"capacity of {capacity} events")
        names, _, definitions = self.u32(192, 3)
        need(names <= NAMES_MOST, f"{names} names, at most {NAMES_MOST}")
        need(definitions <= FIXED["definitions_bytes"][2], f"{definitions} bytes of definitions")
        need(self.u64(136, 1) != (0,), "its clock has no anchor")

    def u32(self, offset, count):
        return struct.unpack_from(f"<{count}I", self.data, offset)

    def u64(self, offset, count):
        return struct.unpack_from(f"<{count}Q", self.data, offset)

    def name(self, index):
        if index >= self.name_count:
            return None
        at = self.names_offset + index * NAME_BYTES
        return self.data[at:at + NAME_BYTES].split(b"\0", 1)[0].decode(errors="replace")

    def anchors(self):
        """The line from ticks to nanoseconds: its first and its last point."""
        latest = self.anchor_count - 1
        slot = 0 if latest <= 0 else 1 + latest % 2
        return self.u64(144, 2), self.u64(144 + 16 * slot, 2)

    def definitions(self):
        at, end = self.definitions_offset, self.definitions_offset + self.definitions_used
        while at + 32 <= end:
            length, kind, text_bytes, time, number, value = struct.unpack_from("<IHHQQQ", self.data, at)
            yield Definition(time, kind, number, value, self.data[at + 32:at + 32 + text_bytes].decode(errors="replace"))
            at += max(length, 32)

    def raw_events(self):
        for index in range(self.written):
            yield EVENT.unpack_from(self.data, self.events_offset + index * EVENT.size)


class Trace:
    """The traces of all ranks of one job, merged."""

    COMMUNICATOR, DATATYPE, PORTAL, ENTRY, MODULE, OWNER = range(1, 7)

    def __init__(self, files):
        self.files = files
        self.size = files[0].size
        other = next((file for file in files if file.size != self.size), None)
        if other:
            raise BadTrace(f"{files[0].path} is of a job of {self.size} ranks, {other.path} of one of {other.size}")
        if len(files) != self.size or sorted(file.rank for file in files) != list(range(self.size)):
            raise BadTrace(f"the trace has files of ranks {sorted(f.rank for f in files)}, the job had {self.size} ranks")
        self.ticks_per_us = self._rate()
        self._definitions = {file.rank: list(file.definitions()) for file in files}
        # Ranks of one host share one clock, so ticks decide who was first; of equal ticks a rank's own order stays.
        raw = sorted(((row[0], file.rank, index, row, file) for file in files for index, row in enumerate(file.raw_events())),
                     key=lambda entry: entry[:3])
        self._start = raw[0][0] if raw else 0
        self.events = [self._event(row, file) for _, _, _, row, file in raw]
        self.messages = self._join()

    @classmethod
    def load(cls, folder):
        names = sorted(name for name in os.listdir(folder) if re.fullmatch(r"rank_\d+\.trace", name)) \
            if os.path.isdir(folder) else []
        if not names:
            raise BadTrace(f"{folder}: there are no trace files; record with `margay run --trace {folder}`")
        return cls([RankFile(os.path.join(folder, name)) for name in names])

    def _rate(self):
        longest = max((file.anchors() for file in self.files), key=lambda pair: pair[1][0] - pair[0][0])
        (ticks, ns), (later_ticks, later_ns) = longest
        if self.files[0].clock != CLOCK_TICKS or later_ns <= ns:
            return 1000.0
        return 1000.0 * (later_ticks - ticks) / (later_ns - ns)

    def _event(self, row, file):
        (time, kind, wire, protocol, source, destination, header, portal, reason, saved, sequence, bits, length, detail,
         a, b) = row
        kind = word(KINDS, kind)
        if kind in BODY_KINDS:
            reason &= ~BODY_IN_PIECES
        if kind == "kernel_match":
            reason &= OF_WALK
        return Event(time=(time - self._start) / self.ticks_per_us, rank=file.rank, kind=kind, wire=word(WIRES, wire),
                     protocol=word(PROTOCOLS, protocol), source=None if source == ANY else source,
                     destination=None if destination == ANY else destination, header=word(HEADERS, header),
                     portal=None if portal == NONE8 else portal, reason=word(REASONS.get(kind, DROPS), reason),
                     saved=("", "header", "body", "header and body")[saved & 3], sequence=sequence, match_bits=bits,
                     bytes=length, detail=detail, a=a, b=b, call=file.name(a) if kind in WITH_CALL else None)

    def _join(self):
        """Events by message. A send_begin has no number yet: it belongs to the next kernel_send of its rank with its
        destination and match bits, but for the 3 bits of the message's type."""
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
        """The events of these kinds, by time; of one rank; about one portal."""
        return [event for event in self.events if event.kind in kinds and (rank is None or event.rank == rank)
                and (portal is None or event.portal == portal)]

    def sent(self, header=None, source=None, destination=None, portal=None, tag=None):
        """Messages in the order in which they were sent: all, or of one header kind, pair, portal, tag."""
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
                       and other.sent.detail == message.sequence), key=lambda other: other.sent.time)

    def calls(self, name=None, rank=None):
        """(enter, leave) of the program's MPI calls by the thread that they were made in; leave None: it never returned."""
        opened, result = {}, []
        for event in self.events:
            if event.kind == "mpi_enter":
                entry = [event, None]
                opened.setdefault((event.rank, event.detail), []).append(entry)
                result.append(entry)
            elif event.kind == "mpi_leave" and opened.get((event.rank, event.detail)):
                opened[event.rank, event.detail].pop()[1] = event
        return [tuple(entry) for entry in result
                if (name is None or entry[0].call == name) and (rank is None or entry[0].rank == rank)]

    def error_classes(self, rank, begin, end=None):
        """The error classes, other than success, that calls of a rank returned from one event until another."""
        return [event.b for event in self.of("mpi_leave", rank=rank)
                if event.b and event.time >= begin.time and (end is None or event.time <= end.time)]

    def defined(self, rank, kind, number, before=None):
        """The text of the latest definition of a number before an event; "" when it has none."""
        limit = None if before is None else self._start + before.time * self.ticks_per_us + 1
        text = ""
        for definition in self._definitions[rank]:
            if definition.kind == kind and definition.number == number and (limit is None or definition.time <= limit):
                text = definition.text
        return text

    def entry(self, event):
        """The name of the match entry of a kernel_match or a kernel_pass; "" when it has none."""
        return self.defined(event.rank, self.ENTRY, (event.portal << 56) ^ event.detail, event)

    def owner(self, event):
        """What owns the descriptor that took the message of a kernel_match."""
        return self.defined(event.rank, self.OWNER, event.b, event)
