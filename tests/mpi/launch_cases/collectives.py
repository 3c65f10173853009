"""--check-types reports all mismatching collective calls, and only those."""
import re

from launch_case import PLACE, TWO_NODES

WIRES = (("--nodes", "1"), tuple(TWO_NODES.split()))
# The call of the other ranks and that of the last one, in each of disagree.c's calls that differ.
DISAGREE = {
    "root": ("MPI_Reduce of 1 x MPI_INT with MPI_SUM, root 0", "MPI_Reduce of 1 x MPI_INT with MPI_SUM, root 1"),
    "op": ("MPI_Allreduce of 1 x MPI_INT with MPI_SUM", "MPI_Allreduce of 1 x MPI_INT with MPI_MAX"),
    "type": ("MPI_Bcast of 2 x MPI_INT, root 0", "MPI_Bcast of 2 x MPI_FLOAT, root 0"),
    "count": ("MPI_Allreduce of 3 x MPI_INT with MPI_SUM", "MPI_Allreduce of 2 x MPI_INT with MPI_SUM"),
    "begun": ("MPI_Iallreduce of 3 x MPI_INT with MPI_SUM", "MPI_Iallreduce of 2 x MPI_INT with MPI_SUM"),
    "order": ("MPI_Bcast of 4 x MPI_INT, root 0", "MPI_Barrier"),
    "gather": ("MPI_Gather of 1 x MPI_INT from rank 3, root 0", "MPI_Gather of 1 x MPI_FLOAT to rank 0, root 0"),
    "forgotten": ("MPI_Reduce of 1 x MPI_INT with MPI_SUM, root 3", "MPI_Finalize"),
    "made": ("MPI_Comm_split", "MPI_Comm_dup"),
}
# The end, behind the semicolon, says that the members are out of step.
MISMATCH = re.compile(r"rank (\d) calls (.*), where rank (\d) calls ([^;]*)(;.*)?")


def mismatches(case):
    """Of each reported mismatch: its two calls, (rank, call), sorted by rank, two of one rank with the receive first; and
    whether later calls are not compared."""
    texts = [PLACE.sub("", message) for message, in case.findings("message", finding="collective-mismatch")]
    found = [MISMATCH.fullmatch(text) for text in texts]
    case.expect(all(found), f"not two calls: {texts}")
    case.expect(case.last.ids.count("collective-mismatch") == len(found), "a line of each")
    order = lambda call: (call[0], " to rank " in call[1])
    return [(sorted(((one[1], one[2]), (one[3], one[4])), key=order), one[5] is not None) for one in found if one]


def case_disagree(case):
    """--check-types reports collective calls that differ, with both ranks' calls, and nothing else."""
    program = case.ours("disagree.c")
    for wire in WIRES:
        for what, (others, odd) in DISAGREE.items():
            if wire == WIRES[1] and what not in ("op", "count", "order"):
                continue
            # Some of them wait for ever, and some end in an error.
            case.margay("--check-types", "--deadlock", "abort", *wire, program, what, ranks=4, status=None)
            (((rank, call), (last, last_call)), out_of_step), *more = mismatches(case) or [((("", ""), ("", "")), None)]
            case.expect(not more and rank in ("0", "1", "2") and last == "3", f"{what}: both ranks, once")
            case.expect(call == f"{others}, MPI_COMM_WORLD" and last_call.removesuffix(", MPI_COMM_WORLD") == odd,
                        f"{what}: {call}, {last_call}")
            case.expect(out_of_step == (others.split()[0] != odd.split()[0]), f"{what}: whether the members are out of step")
        case.margay("--strict", *wire, program, "half", ranks=4, status=72)
        case.expect_findings([("collective-mismatch", "half", "1 MPI_Reduce 1 MPI_INT MPI_SUM 1 1 2")], "id", "communicator", "operands")


TO_ONE, TO_EACH = ("gather", "gatherv"), ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
FROM_ONE = ("scatter", "scatterv")
REDUCTIONS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block")
OF_NEIGHBORS = ("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw")


def pair(one, other, rest=("", "")):
    """Two calls as a pattern of "RANK CALL; RANK CALL". `one`, `other`: rank and call."""
    return "; ".join(f"{rank} {words}{end}" for (rank, words), end in zip((one, other), rest))


def of_all_alike(name, fault, where):
    """For calls with the same amounts on all ranks: either of the two may be wrong."""
    wrong, right = ("3 x MPI_INT", "2 x MPI_INT") if fault == "count" else ("2 x MPI_FLOAT", "2 x MPI_INT")
    index = ""
    if name == "reduce_scatter":
        index = r" as recvcounts\[" + ("1" if fault == "count" else "0") + r"\]"
    if name == "reduce_scatter_block":
        peers = 4 if where == "inside" else 2
        wrong, right = (re.sub(r"^(\d)", lambda count: str(int(count[1]) * peers), words) for words in (wrong, right))
    with_sum = "" if name == "bcast" else " with MPI_SUM"
    root = ", root (0|MPI_ROOT)" if name in ("bcast", "reduce") else ""
    pairs = [(wrong, right, index)]
    if name == "reduce_scatter" and where == "between":
        # The first of the other group to compare may differ from the last rank in the sum of its counts.
        pairs.append(("5 x MPI_INT" if fault == "count" else "4 x MPI_FLOAT", "4 x MPI_INT", ""))
    return "|".join(pair(*((rank, f"{{}} of {words}{place}{with_sum}{root}, {name} {fault} {where}")
                           for rank, words in (("[0-2]", even), ("3", odd))))
                    for odd, even, place in pairs)


def disagreements():
    """Communicator's name: the two calls on it, the lower rank first, as a pattern with {} for the function."""
    found = {}
    for fault, words in (("count", "3 x MPI_INT"), ("type", "2 x MPI_FLOAT")):
        for where, root in (("inside", "0"), ("between", "MPI_ROOT")):
            def add(name, one, other, rest=("", "")):
                ends = [f"{end}, {name} {fault} {where}" for end in rest]
                found[f"{name} {fault} {where}"] = pair(one, other, ends)
            for name in TO_ONE:
                add(name, ("0", "{} of 2 x MPI_INT from rank 3"), ("3", f"{{}} of {words} to rank 0"), (f", root {root}", ", root 0"))
            for name in FROM_ONE:
                add(name, ("0", "{} of 2 x MPI_INT to rank 3"), ("3", f"{{}} of {words} from rank 0"), (f", root {root}", ", root 0"))
            for name in TO_EACH + (OF_NEIGHBORS if where == "inside" else ()):
                add(name, ("(?P<to>[0-3])", "{} of 2 x MPI_INT from rank 3"), ("3", f"{{}} of {words} to rank (?P=to)"))
            for name in ("bcast", *REDUCTIONS, *(("scan", "exscan") if where == "inside" else ())):
                found[f"{name} {fault} {where}"] = of_all_alike(name, fault, where)
    found["gather own inside"] = pair(("0", "{} of 2 x MPI_INT from rank 0"), ("0", "{} of 3 x MPI_INT to rank 0"),
                                      2 * (", root 0, gather own inside",))
    found["allgatherv vector inside"] = pair(*((rank, rf"{{}} of {count} x MPI_INT as recvcounts\[1\], allgatherv vector inside")
                                               for rank, count in (("[0-2]", 2), ("3", 3))))
    found["allgather type alone"] = pair(("3", "{} of 2 x MPI_INT from rank 3"), ("3", "{} of 2 x MPI_FLOAT to rank 3"),
                                         2 * (", allgather type alone",))
    found["neighbor_alltoallv edge inside"] = pair(("1", "{} of 2 x MPI_INT from rank 3"), ("3", "{} of 3 x MPI_INT to rank 1"),
                                                   2 * (", neighbor_alltoallv edge inside",))
    return found


def function_in(form, name):
    """`name` is a function's without MPI_, in small letters."""
    if form == "nonblocking":
        return f"MPI_I{name}"
    return f"MPI_{name.capitalize()}" + ("_init" if form == "persistent" else "")


def case_disagree_blocks(case):
    """--check-types compares the data that each member of a collective sends with the arguments of its receiver, in
    every function and form, inside a group and between two; the calls end, with errors at most."""
    program = case.ours("disagree_blocks.c")
    for wire in WIRES:
        for form in ("blocking", "nonblocking", "persistent"):
            case.margay("--strict", *wire, program, form, ranks=4, status=72)
            found = ["; ".join(f"{rank} {call}" for rank, call in calls) for calls, _ in mismatches(case)]
            expected = disagreements()
            case.expect(len(found) == len(case.last.report["findings"]) == len(expected), f"{form}: {len(found)} of {len(expected)} calls")
            for name, pattern in expected.items():
                of_name = [line for line in found if line.endswith(f", {name}")]
                pattern = pattern.replace("{}", function_in(form, name.split()[0]))
                case.expect(len(of_name) == 1 and re.fullmatch(pattern, of_name[0]), f"{form}: {name}: {of_name} is not {pattern}")
    # One rank waits for a rank that is not the root.
    case.margay("--check-types", "--deadlock", "abort", program, "root", ranks=4, status=73)
    calls = [call for calls, _ in mismatches(case) for call in calls]
    case.expect(re.fullmatch(r"[02] MPI_Scatterv.*, root (0|MPI_ROOT), .*; 3 MPI_Scatterv.*, root 1, .*",
                             "; ".join(map(" ".join, calls[:2]))),
                f"both roots: {calls}")


AGREEING = ("collectives_random", "neighbor", "between_groups", "alltoall", "gatherv", "scatter", "reduce_scatter",
            "persistent_collectives")


def case_agree(case):
    """--strict reports no mistake in the suite's own programs of collectives, on any number of ranks."""
    for name in AGREEING:
        program = case.ours(f"../{name}.c", name=f"{name}_checked")
        for ranks in range(2 if name == "between_groups" else 1, 6):
            case.margay("--strict", program, ranks=ranks)
            case.expect_silence()
