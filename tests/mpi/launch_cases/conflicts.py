"""What --check-rma tells of one-sided accesses that conflict, and that it tells of no others."""
import collections
import re

from launch_case import PLACE, SOURCES, operands

# What conflicts.c's accesses do, and the function that does it.
DEEDS = {
    "put": ("puts MPI_INT into bytes 8 to 24", "MPI_Put"),
    "get": ("gets MPI_INT from bytes 20 to 24", "MPI_Get"),
    "sum": ("accumulates MPI_INT with MPI_SUM in bytes 20 to 28", "MPI_Accumulate"),
    "max": ("accumulates MPI_INT with MPI_MAX in bytes 20 to 24", "MPI_Accumulate"),
    "real": ("accumulates MPI_FLOAT with MPI_SUM in bytes 20 to 24", "MPI_Accumulate"),
    "look": ("accumulates MPI_INT with MPI_NO_OP in bytes 20 to 24", "MPI_Fetch_and_op"),
    "swap": ("compares and swaps MPI_INT in bytes 20 to 24", "MPI_Compare_and_swap"),
    "fetch": ("accumulates MPI_INT with MPI_REPLACE in bytes 20 to 24", "MPI_Get_accumulate"),
}
PAIRS = ["put put", "put get", "get put", "put sum", "sum put", "get sum", "sum get", "put look", "swap get", "fetch put",
         "real sum"]
PAIRS_BETWEEN = ["sum max", "fetch sum"]  # one origin's are ordered
ONE_TYPE = "accumulates of the same bytes are of one predefined datatype"
ONE_OPERATION = ("accumulates of the same bytes are of one operation, besides MPI_NO_OP where the hint accumulate_ops is "
                 "same_op_no_op")
ADVICE = {
    ("fence", 1): "let MPI_Win_fence part them",
    ("exposure", 1): "let the target's MPI_Win_wait part them",
    ("passive", 1): "call MPI_Win_flush between them",
    ("fence", 2): "let MPI_Win_fence part them",
    ("exposure", 2): "let the target's MPI_Win_wait part them",
    ("passive", 2): "take MPI_LOCK_EXCLUSIVE, or begin the second when the first's rank has said that MPI_Win_flush is over",
}


def line(pair, epoch, second, advice=None):
    """What rank `second` says, whose access meets rank 1's."""
    first_word, second_word = pair.split()
    deed, function = DEEDS[second_word]
    first_deed, first_function = DEEDS[first_word]
    who = "it" if second == 1 else "rank 1"
    return (f"{function}: rank {second} {deed} of rank 0 in window HANDLE (numbers), where {who} {first_deed} by "
            f"{first_function}, which is not complete: {advice or ADVICE[epoch, second]}")


def lines():
    """All that the ranks say, each behind its case's name."""
    said = []
    for epoch in ("fence", "exposure", "passive"):
        for pair in PAIRS:
            advice = ONE_TYPE if pair == "real sum" else None
            said += [(f"{pair}, {epoch}, {'one origin' if second == 1 else 'two origins'}", second, line(pair, epoch, second, advice))
                     for second in (1, 2)]
        said += [(f"{pair}, {epoch}, two origins", 2, line(pair, epoch, 2, ONE_OPERATION)) for pair in PAIRS_BETWEEN]
    wait = "and has not given back: call MPI_Win_flush_local between them"
    said += [("origin", 1, f"MPI_Put: with rank 2 as target it reads the origin's memory MEMORY, which MPI_Get with rank 0 as target writes {wait}"),
             ("origin", 1, "MPI_Fetch_and_op: with rank 2 as target it writes the origin's memory MEMORY, which MPI_Put with "
              f"rank 2 as target reads {wait}"),
             ("origin", 1, "MPI_Put: rank 1 puts MPI_INT into bytes 44 to 48 of rank 0 in window HANDLE (numbers), where it gets "
              "MPI_INT from bytes 40 to 48 by MPI_Rget, which is not complete: call MPI_Win_flush between them")]
    said += 2 * [("pieces", 2, "MPI_Put: rank 2 puts MPI_CHAR into bytes 1398 to 1399 of rank 0 in window HANDLE (many), where rank 1 "
                  "puts MPI_CHAR into bytes 1398 to 1399 by MPI_Put, which is not complete: let MPI_Win_fence part them")]
    return said + [("hint, fence, two origins", 2, line("sum look", "fence", 2, ONE_OPERATION))]


def without_addresses(text):
    text = PLACE.sub("", text)  # error strings have them, too
    text = re.sub(r"memory 0x[0-9a-f]+ to 0x[0-9a-f]+", "memory MEMORY", text)
    return re.sub(r"window 0x[0-9a-f]{8}", "window HANDLE", text).splitlines()


WIRES = ([], ["--nodes", "2"])


def case_conflicts(case):
    """--check-rma reports accesses that conflict, with both calls, in every kind of epoch, of one origin and of two."""
    program = case.ours("conflicts.c")
    said = lines()
    for wire in WIRES:
        for kind in ("allocated", "created"):
            case.margay("--check-rma", *wire, program, "bad", kind, ranks=3)
            expected = sorted(f"{name}: MPI_ERR_RMA_CONFLICT: {words}" for name, _, words in said)
            case.expect(sorted(without_addresses(case.last.stdout)) == expected, f"the errors are to be {expected}")
            calls = [("rma-conflict", rank, words.partition(":")[0], operands(words.partition(": ")[2].replace("HANDLE", ""))) for _, rank, words in said]
            case.expect_findings(calls, "id", "rank", "call", "operands")
            case.expect(len(case.last.stderr.splitlines()) == len(said), "a line of each")


def keys_of(source):
    """The keys in a program's header: "ranks" to ["2", "3"]."""
    return {key: words.split() for key, words in re.findall(r"^// (ranks|wires): (.*)$", source.read_text(), re.MULTILINE)}


def case_no_conflicts_suite(case):
    """--check-rma reports nothing of the suite's programs of windows."""
    for source in sorted((SOURCES.parent / "rma").glob("*.c")):
        program = case.ours(f"../rma/{source.name}", name=f"rma_{source.stem}_checked")
        keys = keys_of(source)
        ranks = [int(count) for count in keys["ranks"] if 2 <= int(count) <= 5]
        for wire in WIRES if set(keys.get("wires", ["uring"])) - {"shm"} else WIRES[:1]:
            for count in ranks:
                case.margay("--check-rma", *wire, program, ranks=count)
                case.expect("rma-conflict" not in case.ids() and "MPI_ERR_RMA_CONFLICT" not in case.last.stdout + case.last.stderr, "nothing conflicts")


def case_conflicts_end(case):
    """A conflict is fatal where the window's errors are; --strict looks for them and counts them; unasked none is reported."""
    program = case.ours("conflicts.c")
    case.margay("--check-rma", program, "fatal", ranks=3, status="nonzero")
    case.expect(("MPI_Put", 1) in case.findings("call", "rank", finding="rma-conflict"), "the conflict is a finding")
    case.expect_said("MPI_Put failed on numbers: MPI_ERR_RMA_CONFLICT: ")
    case.margay("--strict", program, "bad", ranks=3, status=72)
    by_rank = collections.Counter(rank for rank, in case.findings("rank", finding="rma-conflict"))
    case.expect(by_rank == collections.Counter(rank for _, rank, _ in lines()), f"all conflicts count: {by_rank}")
    case.margay(program, "bad", ranks=3, status=1)
    case.expect(not case.last.stdout and not case.last.report["findings"], "none is to be reported unasked")
    case.expect_said("class 0, not")
