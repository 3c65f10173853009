"""--check-rma reports all conflicting one-sided accesses, and only those."""
import collections
import os
import re

from launch_case import PLACE, SOURCES, operands

# The words of a message for conflicts.c's accesses, and the function.
DEEDS = {
    "put": ("MPI_INT 8 24", "MPI_Put"),
    "get": ("MPI_INT 20 24", "MPI_Get"),
    "sum": ("MPI_INT MPI_SUM 20 28", "MPI_Accumulate"),
    "max": ("MPI_INT MPI_MAX 20 24", "MPI_Accumulate"),
    "real": ("MPI_FLOAT MPI_SUM 20 24", "MPI_Accumulate"),
    "look": ("MPI_INT MPI_NO_OP 20 24", "MPI_Fetch_and_op"),
    "swap": ("MPI_INT 20 24", "MPI_Compare_and_swap"),
    "fetch": ("MPI_INT MPI_REPLACE 20 24", "MPI_Get_accumulate"),
}
PAIRS = ["put put", "put get", "get put", "put sum", "sum put", "get sum", "sum get", "put look", "swap get", "fetch put",
         "real sum"]
PAIRS_BETWEEN = ["sum max", "fetch sum"]  # accesses of one origin are ordered
CURE = {"fence": 2 * ("MPI_Win_fence",), "exposure": 2 * ("MPI_Win_wait",),
        "passive": ("MPI_Win_flush", "MPI_LOCK_EXCLUSIVE MPI_Win_flush")}
ONE_TYPE, ONE_OPERATION = "", "MPI_NO_OP"
# Each sentence once.
WINDOW = "of rank 0 in window HANDLE (numbers)"
SENTENCES = {
    f"MPI_Put: rank 2 puts MPI_INT into bytes [8, 24) {WINDOW}, where rank 1 gets MPI_INT from bytes [20, 24) by MPI_Get, which is not "
    "complete: take MPI_LOCK_EXCLUSIVE, or begin the second after a message from the first's rank behind its MPI_Win_flush",
    f"MPI_Get: rank 1 gets MPI_INT from bytes [20, 24) {WINDOW}, where it puts MPI_INT into bytes [8, 24) by MPI_Put, which is not "
    "complete: let MPI_Win_fence part them",
    f"MPI_Put: rank 2 puts MPI_INT into bytes [8, 24) {WINDOW}, where rank 1 puts MPI_INT into bytes [8, 24) by MPI_Put, which is not "
    "complete: let the target's MPI_Win_wait part them",
    f"MPI_Get: rank 1 gets MPI_INT from bytes [20, 24) {WINDOW}, where it compares and swaps MPI_INT in bytes [20, 24) by "
    "MPI_Compare_and_swap, which is not complete: call MPI_Win_flush between them",
    f"MPI_Accumulate: rank 1 accumulates MPI_INT with MPI_SUM in bytes [20, 28) {WINDOW}, where it accumulates MPI_FLOAT with MPI_SUM in "
    "bytes [20, 24) by MPI_Accumulate, which is not complete: accumulates of the same bytes are of one predefined datatype",
    f"MPI_Accumulate: rank 2 accumulates MPI_INT with MPI_MAX in bytes [20, 24) {WINDOW}, where rank 1 accumulates MPI_INT with MPI_SUM in "
    "bytes [20, 28) by MPI_Accumulate, which is not complete: accumulates of the same bytes are of one operation, besides MPI_NO_OP where "
    "the hint accumulate_ops is same_op_no_op",
    "MPI_Put: with rank 2 as target it reads the origin's memory MEMORY, which MPI_Get with rank 0 as target writes and still uses: "
    "call MPI_Win_flush_local between them",
    "MPI_Fetch_and_op: with rank 2 as target it writes the origin's memory MEMORY, which MPI_Put with rank 2 as target reads and still "
    "uses: call MPI_Win_flush_local between them",
}


def conflict(pair, epoch, second, cure=None):
    """The call of rank `second`, whose access conflicts with rank 1's, and the words of the message."""
    (first_deed, first_call), (deed, call) = (DEEDS[word] for word in pair.split())
    who = "" if second == 1 else "1"
    named = f"{second} {deed} 0 {who} {first_deed} {first_call} {CURE[epoch][second - 1] if cure is None else cure}"
    return call, " ".join(named.split())


def conflicts():
    """All reports of the ranks: the program's name of the case, rank, call, words of the message."""
    found = []
    for epoch in CURE:
        for pair in PAIRS:
            cure = ONE_TYPE if pair == "real sum" else None
            found += [(f"{pair}, {epoch}, {origins}", second, *conflict(pair, epoch, second, cure))
                      for second, origins in ((1, "one origin"), (2, "two origins"))]
        found += [(f"{pair}, {epoch}, two origins", 2, *conflict(pair, epoch, 2, ONE_OPERATION)) for pair in PAIRS_BETWEEN]
    found += [("origin", 1, "MPI_Put", "2 MPI_Get 0 MPI_Win_flush_local"),
              ("origin", 1, "MPI_Fetch_and_op", "2 MPI_Put 2 MPI_Win_flush_local"),
              ("origin", 1, "MPI_Put", "1 MPI_INT 44 48 0 MPI_INT 40 48 MPI_Rget MPI_Win_flush")]
    found += 2 * [("pieces", 2, "MPI_Put", "2 MPI_CHAR 1398 1399 0 1 MPI_CHAR 1398 1399 MPI_Put MPI_Win_fence")]
    return found + [("hint, fence, two origins", 2, *conflict("sum look", "fence", 2, ONE_OPERATION))]


def without_addresses(text):
    text = PLACE.sub("", text)  # error strings have them, too
    text = re.sub(r"memory 0x[0-9a-f]+ to 0x[0-9a-f]+", "memory MEMORY", text)
    return re.sub(r"window 0x[0-9a-f]{8}", "window HANDLE", text)


WIRES = ([], ["--nodes", "2"])


def case_conflicts(case):
    """--check-rma reports accesses that conflict, with both calls, in every kind of epoch, of one origin and of two."""
    program, expected = case.ours("conflicts.c"), conflicts()
    for wire in WIRES:
        for kind in ("allocated", "created"):
            case.margay("--check-rma", *wire, program, "bad", kind, ranks=3)
            # The program prints each error's string.
            errors = [line.split(": MPI_ERR_RMA_CONFLICT: ") for line in without_addresses(case.last.stdout).splitlines()]
            seen = sorted((name, *words.split(": ", 1)[:1], operands(words.split(": ", 1)[1])) for name, words in errors)
            case.expect(seen == sorted((name, call, named) for name, _, call, named in expected),
                        f"the errors are to be {expected}, not {seen}")
            case.expect(SENTENCES <= {words for _, words in errors}, f"expected {SENTENCES}")
            case.expect_findings([("rma-conflict", *found) for _, *found in expected], "id", "rank", "call", "operands")
            case.expect(len(case.last.stderr.splitlines()) == len(expected), "a line of each")


def keys_of(source):
    """The keys in a program's header: "ranks" to ["2", "3"]."""
    return {key: words.split() for key, words in re.findall(r"^// (ranks|wires): (.*)$", source.read_text(), re.MULTILINE)}


def case_no_conflicts_suite(case):
    """--check-rma reports no conflict in the suite's programs of windows."""
    for source in sorted((SOURCES.parent / "rma").glob("*.c")):
        program = case.ours(f"../rma/{source.name}", name=f"rma_{source.stem}_checked")
        keys = keys_of(source)
        ranks = [int(count) for count in keys["ranks"] if 2 <= int(count) <= 5]
        if os.environ.get("QUICK_TESTS"):  # scripts/test without --all
            ranks = sorted(ranks)[-1:]
        for wire in WIRES if set(keys.get("wires", ["uring"])) - {"shm"} else WIRES[:1]:
            for count in ranks:
                case.margay("--check-rma", *wire, program, ranks=count)
                case.expect("rma-conflict" not in case.ids() and "MPI_ERR_RMA_CONFLICT" not in case.last.stdout + case.last.stderr,
                            "nothing conflicts")


def case_conflicts_end(case):
    """A conflict is fatal if the window's errors are; --strict detects and counts conflicts; without an option none is
    reported."""
    program = case.ours("conflicts.c")
    case.margay("--check-rma", program, "fatal", ranks=3, status="nonzero")
    case.expect(("MPI_Put", 1) in case.findings("call", "rank", finding="rma-conflict"), "the conflict is a finding")
    case.expect_said("MPI_Put failed on numbers: MPI_ERR_RMA_CONFLICT: ")
    case.margay("--strict", program, "bad", ranks=3, status=72)
    by_rank = collections.Counter(rank for rank, in case.findings("rank", finding="rma-conflict"))
    case.expect(by_rank == collections.Counter(rank for _, rank, _, _ in conflicts()), f"all conflicts count: {by_rank}")
    case.margay(program, "bad", ranks=3, status=1)
    case.expect(not case.last.stdout and not case.last.report["findings"], "none is to be reported unasked")
    case.expect_said("class 0, not")
