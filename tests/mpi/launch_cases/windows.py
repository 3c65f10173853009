"""Cases of one-sided communication in --stats, in MPI_T, in traces and in `margay info`; and figure 11 of the paper,
compared with a trace."""
import collections
import json
import re


RING = {"MARGAY_METHOD": "long=ring"}  # with it no rank reads another's memory
WINDOW_TAG = 0x00524D41
RECEIVE, PUT, GET, ASK = 0, 6, 7, 10  # portals

# The accesses of each rank of accesses.c: their number and bytes, to the next rank and to itself.
OWN_PUTS, OTHERS_PUTS, GETS, ACCUMULATES = (1, 16), (3, 124), (1, 20), (4, 28)


def counts(way, accumulates=None):
    """By access and method, for one rank with this method to the other."""
    result = collections.Counter()
    for access, kind, (number, size) in (("put", "direct", OWN_PUTS), ("put", way, OTHERS_PUTS), ("get", way, GETS),
                                         ("accumulate", accumulates or way, ACCUMULATES)):
        result[access, kind, "accesses"] += number
        result[access, kind, "bytes"] += size
    return dict(result)


def ways_here(case, env=None):
    """The methods by kind of memory, as `margay info` prints them."""
    table = case.command("info", env=env).partition("windows: ")[2]
    return {line[2:20].strip(): re.sub("memory|s$", "", line[21:49].strip()).strip() for line in table.splitlines()[1:]
            if line[2:3] not in ("(", "")}


def case_windows_stats(case):
    """--stats and MPI_T count puts, gets and accumulates, numbers and bytes, by their method."""
    program = case.ours("accesses.c")
    created = ways_here(case)["the program's"]
    for memory, place, env, expected in (
            ("allocate", [], None, counts("direct")),
            ("create", [], None, counts(created, "message")),
            ("create", [], RING, counts("message")),
            ("create", ["--nodes", "2"], None, counts("message")),
            ("allocate", ["--nodes", "2"], None, counts("message"))):
        case.margay("--stats", *place, program, memory, env=env)
        lines = re.findall(r"^ +(put|get|accumulate), (\w+) +(\d+) +(\d+)$", case.last.stderr + case.last.stdout, re.M)
        seen = {}
        for access, way, number, size in lines:
            seen[access, way, "accesses"], seen[access, way, "bytes"] = int(number), int(size)
        case.expect(seen == {key: 2 * value for key, value in expected.items()}, f"{memory} {place}: {seen} of both ranks")
        for rank in range(2):
            rows = re.findall(rf"^rank {rank} (put|get|accumulate)s_([a-z]+)(_bytes)? (\d+)$", case.last.stdout, re.M)
            read = {(access, way, "bytes" if of_bytes else "accesses"): int(value) for access, way, of_bytes, value in rows}
            case.expect(read == expected, f"{memory} {place}: MPI_T of rank {rank} has {read}")
    case.margay("--stats", case.ours("who.c"))
    case.expect("one-sided" not in case.last.stderr + case.last.stdout, "without a window nothing is printed of any")


def traced(case, *words, env=None):
    """A traced run whose counts are consistent; its events as `margay trace export` prints them."""
    trace = case.traced(*words, env=env)
    case.command("trace", "check", trace)
    return json.loads(case.command("trace", "export", trace, "--format", "json"))["events"]


def of(events, rank, *kinds):
    return [event for event in events if event["rank"] == rank and event["kind"] in kinds]


def window_words(event):
    """ "0>1 40 bytes at 0: put, fence, direct", "0>any fence"."""
    ranks = f"{event['source']}>{event.get('destination', 'any')}"
    if event["kind"] == "window_sync":
        return f"{ranks} {event['synchronisation']}"
    return f"{ranks} {event['bytes']} bytes at {event['offset']}: {event['access']}, {event['epoch']}, {event['way']}"


def case_windows_trace(case):
    """A trace shows each access with its window, range, epoch and method, and each synchronisation."""
    program = case.ours("accesses.c")
    created = ways_here(case)["the program's"]
    for place, memory, way, updates in (([], "allocate", "direct", "direct"), ([], "create", created, "message"),
                                        (["--nodes", "2"], "allocate", "message", "message")):
        events = of(traced(case, *place, program, memory), 0, "window_access", "window_sync")
        seen = [window_words(event) for event in events]
        windows = {event["window"] for event in events}
        case.expect(len(windows) == 1, f"one window, not {windows}")
        case.expect(seen == [
            "0>any fence",
            f"0>1 40 bytes at 0: put, fence, {way}",
            "0>any fence",
            "0>any post",
            "0>any start",
            f"0>1 80 bytes at 400: put, start, {way}",
            "0>any complete",
            "0>any wait",
            "0>1 lock",
            f"0>1 20 bytes at 200: get, lock_exclusive, {way}",
            "0>1 unlock",
            "0>1 lock",
            f"0>1 4 bytes at 28: put, lock_shared, {way}",
            "0>1 flush",
            "0>1 unlock",
            "0>any lock_all",
            f"0>1 8 bytes at 800: accumulate, lock_all, {updates}",
            f"0>1 12 bytes at 840: get_accumulate, lock_all, {updates}",
            f"0>1 4 bytes at 880: fetch_and_op, lock_all, {updates}",
            f"0>1 4 bytes at 920: compare_and_swap, lock_all, {updates}",
            "0>any unlock_all",
            "0>0 lock",
            "0>0 16 bytes at 1200: put, lock_exclusive, direct",
            "0>0 unlock",
        ], f"{place} {memory}: " + "\n".join(seen))


def sent(events, rank):
    """The messages that a rank passes to a wire: kind, portal, bytes, match bits."""
    return [(event["header"], event["portal"], event["bytes"], int(event.get("match_bits", "0"), 16))
            for event in of(events, rank, "kernel_send", "kernel_reply_sent")]


def case_windows_strided(case):
    """Ten blocks are one message, and a request announced them; with --rma strided=paper they are ten, and so are gets' requests."""
    program = case.ours("accesses.c")
    for words, puts, asks, gets in (([], [40], 2, 0), (["--rma", "strided=combined"], [40], 2, 0),
                                    (["--rma", "strided=paper"], 10 * [4], 0, 10)):
        messages = sent(traced(case, "--nodes", "2", *words, program, "create", "strided"), 0)
        case.expect([size for kind, portal, size, _ in messages if kind == "put" and portal == PUT] == puts, f"{words}: puts")
        case.expect(sum(portal == ASK for _, portal, _, _ in messages) == asks, f"{words}: requests")
        # A flush is a get of no bytes.
        case.expect(sum(kind == "get" and size > 0 for kind, _, size, _ in messages) == gets, f"{words}: gets")
    case.margay("--rma", "strided=blocks", program, status=2)
    case.expect_said("strided=combined|paper")


def case_windows_info(case):
    """`margay info` prints the method for each kind of window memory, with the reason; a run uses it."""
    ways = ways_here(case)
    case.expect(set(ways) == {"one's own", "allocated", "the program's", "on other nodes", "dynamic", "of MPI_RMA_init"}, f"{ways}")
    able = "process_vm_readv   available" in case.last.stdout
    case.expect(ways["the program's"] == ("process" if able else "message"), "process memory is a way where it can be read")
    case.expect_printed("huge pages", "process_vm_readv: ")
    case.expect(ways_here(case, RING)["the program's"] == "message", "the options of the environment count")
    case.expect_printed("--method long=ring")
    program = case.ours("accesses.c")
    for memory, kind, env in (("allocate", "allocated", None), ("create", "the program's", None), ("create", "the program's", RING)):
        way = ways_here(case, env)[kind]
        case.margay(program, memory, env=env)
        case.expect(f"rank 0 puts_{way} 3\n" in case.last.stdout or way == "direct" and "rank 0 puts_direct 4\n" in case.last.stdout,
                    f"the puts to {kind} memory go by {way}")


def case_figure_eleven(case):
    """The paper's put and get, from a trace: portals 6 and 7, match bits of context and tag, a message a block, in order,
    into single blocks at the sender's offset; a get's reply arrives at the receive portal."""
    program = case.ours("figure_11.c")
    for place in ([], ["--nodes", "2"]):
        events = traced(case, *place, program)
        by_origin, by_target = sent(events, 0), sent(events, 1)
        arrived = of(events, 1, "kernel_arrive")
        deposited = of(events, 1, "kernel_deposit")
        deposited_here = of(events, 0, "kernel_deposit")
        posted = of(events, 0, "window_access")
        puts = [one for one in by_origin if one[1] == PUT]
        expected = [4 * (1 + i) for i in range(8)] + [4] * 3
        case.expect([size for _, _, size, _ in puts] == expected and {kind for kind, *_ in puts} == {"put"}, f"{place}: puts {puts}")
        bits = {one[3] for one in puts}
        case.expect(len(bits) == 1, "all of one window have the same match bits")
        context, tag = max(bits) >> 32, max(bits) & 0xFFFFFFFF
        case.expect(tag == WINDOW_TAG and context == posted[0]["window"], f"context {context}, tag {tag:x}")
        # In the order in which they were sent, each by its number in the pair.
        order = [(event["sequence"], event["bytes"]) for event in arrived
                 if (event["source"], event["destination"], event["header"], event["portal"]) == (0, 1, "put", PUT)]
        case.expect([size for _, size in order] == expected and order == sorted(order), f"{place}: arrived {order}")
        offsets = {event["sequence"]: event["offset"] for event in deposited if event["source"] == 0}
        case.expect([offsets.get(number) for number, _ in order] == 8 * [40] + [160, 172, 184], f"{place}: offsets {offsets}")
        # A get carries no data and requests so many bytes; its match bits are the window's. One of no bytes is a flush.
        gets = [one for one in by_origin if one[0] == "get" and one[2] > 0]
        case.expect(gets == [("get", GET, 32, max(bits))] + 3 * [("get", GET, 4, max(bits))], f"{place}: gets {gets}")
        replies = [one for one in by_target if one[0] == "reply" and one[2] > 0]
        case.expect([(portal, size) for _, portal, size, _ in replies] == [(RECEIVE, 32)] + 3 * [(RECEIVE, 4)], f"{place}: {replies}")
        replies_here = [event for event in deposited_here if event["source"] == 1 and event["header"] == "reply" and event["portal"] == 0
                        and event.get("saved") == "body" and event["bytes"] in (4, 32)]
        case.expect(len(replies_here) == 4, f"{place}: replies' bodies")
