"""Cases of the copies in the story of a message, for each method of transferring a body."""
import re

from launch_case import Skipped

CELL, RING, HEAP, AFTER, LONG, PULLED, BEHIND, PIECES, BUFFERED, REPLACE, SELF, SELF_LONG, SHARED, CUT = range(1, 15)
LONG_BYTES, SHARED_BYTES = 20000, 8 << 20
COUNTS = {"by no process": 0, "in part": 0, "once": 1, "twice": 2, "three times": 3, "4 times": 4, "5 times": 5}


def stories_of(case, words):
    """The sentences about copies of each message, by its tag."""
    trace = case.traced(*words, case.ours("ways.c"))
    case.command("trace", "check", trace)
    stories = {}
    for story in re.split(r"\n(?=\d+>\d+ #)", case.command("trace", "story", trace, "--from", "0", "--count", "1000")):
        tag = re.search(r"^\d+>\d+ #\d+: .*?tag (\d+) from", story)
        if tag:
            stories[int(tag.group(1))] = "\n".join(re.findall(r"^- (.*(?:body was copied|unnecessarily|Of its body).*)$", story, re.M))
    return stories


def holds(case, stories, tag, copies, legs):
    """The story of the tag's message lists so many copies, by these legs: text, or a pattern."""
    sentence = stories.get(tag, "")
    count = re.search(r"Its body was copied (by no process|in part|once|twice|\w+ times): (.*)\.$", sentence, re.M)
    case.expect(count is not None and COUNTS.get(count.group(1).replace("four", "4")) == copies,
                f"tag {tag}: {copies} copies, not '{sentence}'")
    is_equal = count is not None and (re.fullmatch(legs, count.group(2)) if hasattr(legs, "fullmatch") else legs == count.group(2))
    case.expect(is_equal, f"tag {tag}: '{getattr(legs, 'pattern', legs)}', not '{sentence}'")


def same_within_node(case, stories):
    """The stories that do not depend on the method for long bodies."""
    into_cell, from_cell = "rank 0 copied {} into a cell of its ring to rank 1", "rank 1 copied the cell into "
    into_ring, from_ring = "rank 0 copied {} into its byte ring to rank 1, before its header", "rank 1 copied the ring's bytes into "
    receive, heap = "the receive's memory", "rank 1 copied {} out of the heap into the receive's memory"
    holds(case, stories, CELL, 2, f"{into_cell.format('it')}; {from_cell}{receive}")
    holds(case, stories, RING, 2, f"{into_ring.format('it')}; {from_ring}{receive}")
    holds(case, stories, HEAP, 3, f"{into_cell.format('it')}; {from_cell}the heap of unexpected messages; {heap.format('it')}")
    holds(case, stories, CUT, 3, f"{into_cell.format('it')}; {from_cell}the heap of unexpected messages; {heap.format('20 bytes of it')}")
    holds(case, stories, PIECES, 2, f"{into_ring.format('its pieces')}; {from_ring}the pieces of {receive}")
    holds(case, stories, BUFFERED, 3, f"rank 0 copied it into the attached buffer; {into_ring.format('it')}; {from_ring}{receive}")
    case.expect("rank 0 copied it into memory of the library, as the receive goes to the send's buffer; " + into_cell.format("it") in
                stories.get(REPLACE, ""), f"MPI_Sendrecv_replace: {stories.get(REPLACE)}")
    holds(case, stories, SELF, 2, f"rank 0 copied it into a slot of its wire to itself; rank 0 copied the slot into {receive}")
    holds(case, stories, SELF_LONG, 1, f"rank 0 copied it from the send's memory into {receive}")
    case.expect(AFTER not in stories or stories[AFTER] == "", "an empty message has no body")


IN_PARTS = ("rank 0 copied it in parts into its byte ring to rank 1; rank 1 copied these parts into the receive's memory")
READ = "rank 1 read it out of rank 0's memory into the receive's memory (process_vm_readv)"


def case_copies_ring(case):
    """Through rings both sides copy each byte; of a pulled body, the receiver discards the bytes sent with its header."""
    stories = stories_of(case, ["--method", "long=ring"])
    same_within_node(case, stories)
    for tag in (LONG, PULLED, SHARED):
        holds(case, stories, tag, 2, re.compile(re.escape(IN_PARTS)))
    case.expect(f"Rank 0 copied {LONG_BYTES} bytes of it into its byte ring unnecessarily: rank 1 discarded them." in stories[PULLED],
                "the first time was in vain")


def case_copies_read(case):
    """If the receiver can read the sender's memory, there is one copy, by the receiver and in part by the sender."""
    stories = stories_of(case, ["--method", "long=cma"])
    if "byte ring to rank 1; rank 1 copied these parts" in stories[LONG]:
        raise Skipped("this machine refuses process_vm_readv")
    same_within_node(case, stories)
    holds(case, stories, LONG, 1, READ)
    holds(case, stories, PULLED, 1, READ)
    case.expect("unnecessarily" not in stories[PULLED], "nothing was copied in vain")
    holds(case, stories, SHARED, 1, re.compile(re.escape(READ) + r"(, but for \d+ bytes that rank 0 wrote there \(process_vm_writev\))?"))
    for written in re.findall(r"but for (\d+) bytes", stories[SHARED]):
        case.expect(0 < int(written) < SHARED_BYTES, f"{written} bytes by the sender")


def case_copies_auto(case):
    """The story names the faster of the two measured methods, which was used."""
    stories = stories_of(case, [])
    same_within_node(case, stories)
    case.expect(any(way in stories[LONG] for way in (IN_PARTS, READ)), f"a long one: {stories[LONG]}")


def over_tcp(case, wire, writer, reader, arrives):
    """`arrives`: the legs before the copy out of the connection's buffer."""
    stories = stories_of(case, ["--nodes", "2", "--wire-tcp", wire])
    batch = f"rank 0 copied {{}} into a batch, which {writer} wrote to the socket"
    first, copies = arrives
    out = "; rank 1 copied it from there into "
    for tag, before, what, where, after, more in (
            (CELL, "", "it", "the receive's memory", "", 0), (RING, "", "it", "the receive's memory", "", 0),
            (HEAP, "", "it", "the heap of unexpected messages", "; rank 1 copied it out of the heap into the receive's memory", 1),
            (PIECES, "", "its pieces", "the pieces of the receive's memory", "", 0),
            (BUFFERED, "rank 0 copied it into the attached buffer; ", "it", "the receive's memory", "", 1)):
        legs = re.escape(before + batch.format(what) + "; ") + first + re.escape(out + where + after)
        count = 2 + copies + more
        if reader == "io_uring" and "'s io_uring read it" in stories.get(tag, ""):
            count -= 1  # after a long body it is read directly
        holds(case, stories, tag, count, re.compile(legs))
    straight = (f"{writer} wrote it to the socket from rank 0's memory; rank 1's {reader} read it from the socket into the receive's memory")
    holds(case, stories, SHARED, 0, re.compile(re.escape(straight) + r"(, but for \d+ bytes that were read ahead(?:, some into provided buffers first,)? and copied there)?"))
    for aside in re.findall(r"but for (\d+) bytes", stories[SHARED]):
        case.expect(0 < int(aside) < SHARED_BYTES, f"{aside} bytes read ahead")


def case_copies_epoll(case):
    """Between nodes: short ones are copied on both sides, long ones go between the sockets and the program's memory."""
    over_tcp(case, "epoll", "send()", "recv()", (r"rank 1's recv\(\) read it from the socket into its connection's buffer", 0))


def case_copies_uring(case):
    """The same with io_uring, whose provided buffers cost another copy."""
    case.margay("--nodes", "2", "--wire-tcp", "uring", case.ours("who.c"), status=None)
    if case.last.status != 0:
        raise Skipped("this machine refuses io_uring")
    over_tcp(case, "uring", "io_uring", "io_uring",
             (r"(?:rank 1 copied what io_uring had read into a provided buffer into its connection's buffer"
              r"|rank 1's io_uring read it from the socket into its connection's buffer)", 1))
