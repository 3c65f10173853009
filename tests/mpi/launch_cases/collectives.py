"""What --check-types tells of collective calls whose members do not fit each other, and that it tells of no others."""
import re



# What the last rank says, and what the first one does, in each of disagree.c's calls that differ.
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
OUT_OF_STEP = "; the members are out of step, so later calls there are not compared"


def case_disagree(case):
    """--check-types tells of collective calls that differ, with both ranks' calls, and of nothing else."""
    program = case.ours("disagree.c")
    for place in (["--nodes", "1"], ["--nodes", "2"]):
        case.margay("--strict", *place, program, ranks=4)
        case.expect(not case.last.stderr, "calls that fit are not told")
        for what, (others, odd) in DISAGREE.items():
            if place[-1] == "2" and what not in ("op", "count", "order"):
                continue
            # Some of them wait for ever, and some end in an error.
            case.margay("--check-types", "--deadlock", "abort", *place, program, what, ranks=4, status=None)
            told = [line for line in case.last.stderr.splitlines() if "mismatched collective calls" in line]
            end = "" if others.split()[0] == odd.split()[0] else OUT_OF_STEP
            words = (rf"margay: mismatched collective calls: rank [012] calls {re.escape(others)}, MPI_COMM_WORLD, "
                     rf"where rank 3 calls {re.escape(odd)}(, MPI_COMM_WORLD)?{end}")
            turned = (rf"margay: mismatched collective calls: rank 3 calls {re.escape(odd)}(, MPI_COMM_WORLD)?, "
                      rf"where rank [012] calls {re.escape(others)}, MPI_COMM_WORLD{end}")
            case.expect(len(told) == 1 and (re.fullmatch(words, told[0]) or re.fullmatch(turned, told[0])), f"{what}: both calls, once")
        case.margay("--strict", *place, program, "half", ranks=4, status=72)
        case.expect("MPI_Reduce of 1 x MPI_INT with MPI_SUM, root 1, half, which 1 of the 2 members never do" in case.last.stderr,
                    "a call that some never make")
    case.margay("--strict", program, "op", ranks=4, status=72)


TO_ONE, TO_EACH = ("gather", "gatherv"), ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
FROM_ONE = ("scatter", "scatterv")
REDUCTIONS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block")
OF_NEIGHBORS = ("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw")


def sentence(one, other, rest=("", "")):
    """What is told of two calls, as a pattern. `one`, `other`: rank and what it says."""
    return "margay: mismatched collective calls: " + ", where ".join(
        f"rank {rank} calls {words}{end}" for (rank, words), end in zip((one, other), rest))


def of_all_alike(name, fault, where):
    """Of calls whose amounts are the same on all: who is wrong may be either of the two."""
    wrong, right = ("3 x MPI_INT", "2 x MPI_INT") if fault == "count" else ("2 x MPI_FLOAT", "2 x MPI_INT")
    index = ""
    if name == "reduce_scatter":
        index = r" as recvcounts\[" + ("1" if fault == "count" else "0") + r"\]"
    if name == "reduce_scatter_block":
        peers = 4 if where == "inside" else 2
        wrong, right = (re.sub(r"^(\d)", lambda count: str(int(count[1]) * peers), words) for words in (wrong, right))
    with_sum = "" if name == "bcast" else " with MPI_SUM"
    rooted = name in ("bcast", "reduce")
    root = ", root (0|MPI_ROOT)" if rooted else ""
    pairs = [(wrong, right, index)]
    if name == "reduce_scatter" and where == "between":
        # Whoever comes first of the other group may differ from the last rank in the sum of its counts.
        pairs.append(("5 x MPI_INT" if fault == "count" else "4 x MPI_FLOAT", "4 x MPI_INT", ""))
    patterns = []
    for odd, even, place in pairs:
        calls = [(rank, f"{{}} of {words}{place}{with_sum}{root}, {name} {fault} {where}") for rank, words in (("3", odd), ("[0-2]", even))]
        patterns += [sentence(*calls), sentence(*reversed(calls))]
    return "|".join(patterns)


def disagreements():
    """Communicator's name: the line that is told of the call on it, as a pattern with {} for the function."""
    told = {}
    for fault, words in (("count", "3 x MPI_INT"), ("type", "2 x MPI_FLOAT")):
        for where, root in (("inside", "0"), ("between", "MPI_ROOT")):
            def add(name, one, other, rest=("", "")):
                ends = [f"{end}, {name} {fault} {where}" for end in rest]
                told[f"{name} {fault} {where}"] = sentence(one, other, ends)
            for name in TO_ONE:
                add(name, ("3", f"{{}} of {words} to rank 0"), ("0", "{} of 2 x MPI_INT from rank 3"), (", root 0", f", root {root}"))
            for name in FROM_ONE:
                add(name, ("0", "{} of 2 x MPI_INT to rank 3"), ("3", f"{{}} of {words} from rank 0"), (f", root {root}", ", root 0"))
            for name in TO_EACH + (OF_NEIGHBORS if where == "inside" else ()):
                add(name, ("3", f"{{}} of {words} to rank (?P<to>[0-3])"), ("(?P=to)", "{} of 2 x MPI_INT from rank 3"))
            for name in ("bcast", *REDUCTIONS, *(("scan", "exscan") if where == "inside" else ())):
                told[f"{name} {fault} {where}"] = of_all_alike(name, fault, where)
    ends = (", root 0, gather own inside",) * 2
    told["gather own inside"] = sentence(("0", "{} of 3 x MPI_INT to rank 0"), ("0", "{} of 2 x MPI_INT from rank 0"), ends)
    calls = [(rank, rf"{{}} of {count} x MPI_INT as recvcounts\[1\], allgatherv vector inside") for rank, count in (("3", 3), ("[0-2]", 2))]
    told["allgatherv vector inside"] = f"{sentence(*calls)}|{sentence(*reversed(calls))}"
    ends = (", allgather type alone",) * 2
    told["allgather type alone"] = sentence(("3", "{} of 2 x MPI_FLOAT to rank 3"), ("3", "{} of 2 x MPI_INT from rank 3"), ends)
    ends = (", neighbor_alltoallv edge inside",) * 2
    told["neighbor_alltoallv edge inside"] = sentence(("3", "{} of 3 x MPI_INT to rank 1"), ("1", "{} of 2 x MPI_INT from rank 3"), ends)
    return told


def function_in(form, name):
    """`name` is a function's without MPI_, in small letters."""
    if form == "nonblocking":
        return f"MPI_I{name}"
    return f"MPI_{name.capitalize()}" + ("_init" if form == "persistent" else "")


def case_disagree_blocks(case):
    """--check-types compares what each member of a collective sends with what its receiver names for it, in every function
    and form, inside a group and between two; the calls end, in errors at most."""
    program = case.ours("disagree_blocks.c")
    for place in (["--nodes", "1"], ["--nodes", "2"]):
        case.margay("--strict", *place, program, "fits", ranks=4)
        case.expect(not case.last.stderr, "calls that fit are not told")
        for form in ("blocking", "nonblocking", "persistent"):
            case.margay("--strict", *place, program, form, ranks=4, status=72)
            lines = [line for line in case.last.stderr.splitlines() if "--strict" not in line]
            expected = disagreements()
            case.expect(len(lines) == len(expected), f"{form}: {len(lines)} lines are told of {len(expected)} calls")
            for name, pattern in expected.items():
                told = [line for line in lines if line.endswith(f", {name}")]
                pattern = pattern.replace("{}", function_in(form, name.split()[0]))
                case.expect(len(told) == 1 and re.fullmatch(pattern, told[0]), f"{form}: {name}: {told} is not {pattern}")
    # One waits for a root that is none.
    case.margay("--check-types", "--deadlock", "abort", program, "root", ranks=4, status=73)
    case.expect(re.search(r"mismatched collective calls: rank [02] calls MPI_Scatterv.*, root (0|MPI_ROOT), .* rank 3 calls MPI_Scatterv.*, root 1, "
                          "|mismatched collective calls: rank 3 calls MPI_Scatterv.*, root 1, .* rank [02] calls MPI_Scatterv.*, root (0|MPI_ROOT), ",
                          case.last.stderr), "both roots are to be told")


AGREEING = ("collectives_random", "neighbor", "between_groups", "alltoall", "gatherv", "scatter", "reduce_scatter", "persistent_collectives")


def case_agree(case):
    """--strict says nothing of the suite's own programs of collectives, on any number of ranks."""
    for name in AGREEING:
        program = case.ours(f"../{name}.c", name=f"{name}_checked")
        for ranks in range(2 if name == "between_groups" else 1, 6):
            case.margay("--strict", program, ranks=ranks)
            case.expect(not case.last.stderr, f"{name} on {ranks} ranks: nothing is to be told")
