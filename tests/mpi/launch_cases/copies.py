"""Cases of the recorded copies of a message's body, for each method of transfer. copies_test has the sentences."""
import collections
import re

from launch_case import Skipped, identity, tag_of

CELL, RING, HEAP, AFTER, LONG, PULLED, BEHIND, PIECES, BUFFERED, REPLACE, SELF, SELF_LONG, SHARED, CUT = range(1, 15)
LONG_BYTES, SHARED_BYTES = 20000, 8 << 20
# Of a message that is copied into a cell or a ring as a whole: whether its memory is in pieces, the library's copy, and the
# bytes that the receive copies out of the heap.
Kept = collections.namedtuple("Kept", "pieces library heap", defaults=(False, None, None))
KEPT = {CELL: Kept(), RING: Kept(), HEAP: Kept(heap=40), CUT: Kept(heap=20), PIECES: Kept(pieces=True),
        BUFFERED: Kept(library="buffered"), REPLACE: Kept(library="body")}


class Way:
    """The events of one message: of its own transmission and, if its body was pulled, of the reply's."""

    def __init__(self, put, reply, heap_owners):
        self.put, self.reply = put, reply
        self.body = put if put["kernel_deposit"]["bytes"] or not reply else reply
        self.deposit = self.body["kernel_deposit"]
        begin, owner = put["send_begin"], self.body.get("kernel_match", {}).get("owner")
        library = begin["protocol"] if begin["protocol"] == "buffered" else begin.get("saved")
        heap = put["receive_complete"]["bytes"] if owner in heap_owners else None
        self.kept = Kept(self.deposit.get("in_pieces", False), None if library == "nothing" else library, heap)

    def method(self):
        """The method that delivered the body."""
        return self.deposit.get("body")

    def sent(self):
        """The sender's method, and the number of bytes that it copied."""
        if sent := self.body.get("kernel_sent"):
            return sent.get("body"), sent.get("copied_bytes", 0)
        left = self.body.get("kernel_send") or self.body["kernel_reply_sent"]
        return left.get("body"), left["bytes"]


def ways_of(case, *words):
    """The events of rank 0's messages with a body, by tag."""
    trace = case.traced(*words, case.ours("ways.c"))
    case.command("trace", "check", trace)
    exported = case.exported(trace)
    heap_owners = {one["number"] for rank in exported["ranks"] for one in rank["definitions"] if one["kind"] == "owner" and one["value"]}
    hops, replies = collections.defaultdict(dict), {}
    for event in exported["events"]:
        hops[identity(event)][event["kind"]] = event
        if event["kind"] == "kernel_reply_sent":
            replies[event["destination"], event["answers"]] = identity(event)
    ways = {}
    for message, put in list(hops.items()):
        if "send_begin" in put and "kernel_deposit" in put and message[0] == 0:
            pulled = put.get("pull_begin", {}).get("get_sequence")
            reply = hops[replies[message[1], pulled]] if pulled else None
            way = Way(put, reply, heap_owners)
            if way.deposit["bytes"]:
                ways[tag_of(put["send_begin"])] = way
    sums = re.findall(r"^- Its .*copied ", case.command("trace", "story", trace, "--from", "0", "--count", "1000"), re.M)
    case.expect(len(sums) == len(ways), f"{len(ways)} bodies, and {len(sums)} stories with the sum of their copies")
    return ways


def expect_methods(case, ways, methods):
    for tag, method in methods.items():
        seen = tag in ways and ways[tag].method()
        case.expect(seen == method, f"tag {tag}: {seen}, not {method}")
    for tag, kept in KEPT.items():
        seen = tag in ways and ways[tag].kept
        # Either rank of MPI_Sendrecv_replace may be first.
        possible = [kept, kept._replace(heap=40)] if tag == REPLACE else [kept]
        case.expect(seen in possible, f"tag {tag}: {seen}, not {kept}")


def same_within_node(case, ways):
    """The methods that do not depend on the one for long bodies."""
    expect_methods(case, ways, {CELL: "cell", RING: "ring", HEAP: "cell", CUT: "cell", PIECES: "ring", BUFFERED: "ring", REPLACE: "cell",
                                SELF: "slot", SELF_LONG: "straight"})
    case.expect(AFTER not in ways, "an empty message has no body")


def case_copies_ring(case):
    """Through rings both sides copy each byte; of a pulled body, the receiver discards the bytes sent with its header."""
    ways = ways_of(case, "--method", "long=ring")
    same_within_node(case, ways)
    expect_methods(case, ways, dict.fromkeys((LONG, PULLED, SHARED), "ring_in_parts"))
    discarded = ways[PULLED].put["kernel_sent"]
    case.expect(discarded.get("body") == "ring_in_parts" and discarded.get("copied_bytes") == LONG_BYTES, f"the bytes sent with the header were not discarded: {discarded}")


def case_copies_read(case):
    """If the receiver can read the sender's memory, there is one copy, by the receiver and in part by the sender."""
    ways = ways_of(case, "--method", "long=cma")
    if ways[LONG].method() in ("ring_in_parts", "ring_instead"):
        raise Skipped("this machine refuses process_vm_readv")
    same_within_node(case, ways)
    expect_methods(case, ways, dict.fromkeys((LONG, PULLED, SHARED), "read"))
    case.expect(not ways[PULLED].put["kernel_sent"].get("copied_bytes"), "bytes were copied unnecessarily")
    case.expect(ways[LONG].deposit.get("aside_bytes", 0) == 0, "the receiver reads all of a body that is not divided")
    case.expect(ways[SHARED].deposit.get("aside_bytes", 0) < SHARED_BYTES, f"bytes by the sender: {ways[SHARED].deposit}")


def case_copies_auto(case):
    """The trace has the faster of the two measured methods, which was used."""
    ways = ways_of(case)
    same_within_node(case, ways)
    case.expect(ways[LONG].method() in ("ring_in_parts", "read"), f"a long one: {ways[LONG].deposit}")


def over_tcp(case, wire, methods):
    """`methods`: those of short bodies; a long one may have parts that use the last."""
    ways = ways_of(case, "--nodes", "2", "--wire-tcp", wire)
    expect_methods(case, ways, {})
    for tag in (CELL, RING, HEAP, PIECES, BUFFERED):
        body, copied = ways[tag].sent()
        deposit = ways[tag].deposit
        case.expect(body == wire and copied == deposit["bytes"], f"tag {tag}: its sender copies it: {body}, {copied} bytes")
        # After a long body it is read directly.
        case.expect(deposit.get("body") in methods and deposit.get("aside_bytes", 0) == deposit["bytes"], f"tag {tag}: its receiver copies it: {deposit}")
    case.expect(ways[SHARED].sent() == (wire, 0), f"a long one is not copied: {ways[SHARED].sent()}")
    deposit = ways[SHARED].deposit
    case.expect(deposit.get("body") in methods and deposit.get("aside_bytes", 0) < SHARED_BYTES, f"a long one: {deposit}")


def case_copies_epoll(case):
    """Between nodes: short ones are copied on both sides, long ones go between the sockets and the program's memory."""
    over_tcp(case, "epoll", ("epoll",))


def case_copies_uring(case):
    """The same with io_uring, whose provided buffers cost another copy."""
    case.margay("--nodes", "2", "--wire-tcp", "uring", case.ours("who.c"), status=None)
    if case.last.status != 0:
        raise Skipped("this machine refuses io_uring")
    over_tcp(case, "uring", ("uring", "uring_provided"))
