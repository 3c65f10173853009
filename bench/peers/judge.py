"""Statistics, ratios and targets: all judgements about figures. Pure."""
import statistics
from dataclasses import dataclass

from peers import runs

KI = 1024
MI = 1024 * KI
PEERS = ("mpich", "openmpi")
NAMES = {"margay": "margay", "mpich": "MPICH", "openmpi": "Open MPI", "better": "the better"}
UNSUPPORTED = "not supported"  # the beginning of the reason when an MPI does not support a case
LARGER_IS_BETTER = ("MB/s", "msg/s")
ITSELF = {"MiB": KI, "x": 1, "ms": 1000}  # targets for a figure itself, in this unit: how many of the row's make one


@dataclass(frozen=True)
class Target:
    """margay's figure divided by that of `versus` is at most (or at least) `bound`; of ITSELF: the figure itself."""
    wire: str
    cases: tuple
    low: int
    high: int
    relation: str
    bound: float
    versus: str = "better"

    def covers(self, wire, case, size):
        return wire == self.wire and case in self.cases and self.low <= size <= self.high

    def holds(self, value):
        return value <= self.bound if self.relation == "<=" else value >= self.bound

    def __str__(self):
        of = "" if self.versus == "better" else f" {self.versus}" if self.versus in ITSELF else f" of {NAMES[self.versus]}"
        return f"{self.relation} {self.bound:g}{of}"


def of_ranks(names, *all_ranks):
    """The cases of operations.c and neighbors.c on this number of ranks."""
    return tuple(f"{name}_{ranks}" for name in names for ranks in all_ranks)


def of_windows(names, kinds=runs.WINDOW_KINDS):
    """The cases of windows.c."""
    return tuple(f"{kind}_{name}" for kind in kinds for name in names)


NEIGHBORS = tuple(f"neighbor_{mode}" for mode in runs.NEIGHBOR_MODES)
TARGETS = (
    Target("shm", ("latency",), 0, 64, "<=", 0.85),
    Target("shm", ("latency",), 256, 2 * KI, "<=", 0.8),
    Target("shm", ("latency",), 4 * KI, 8 * KI, "<=", 0.7, "mpich"),
    Target("shm", ("latency",), 4 * KI, 8 * KI, "<=", 0.15, "openmpi"),
    Target("shm", ("latency",), 16 * KI, 4 * MI, "<=", 0.3),
    Target("shm", ("bandwidth",), 1, 8 * KI, ">=", 1.15),
    Target("shm", ("bandwidth",), 16 * KI, 4 * MI, ">=", 3.3),
    Target("shm", ("both",), 16 * KI, 4 * MI, ">=", 1.8),
    Target("shm", ("rate_plain",), 8, 8, ">=", 2.0),
    Target("shm", ("last_first",), 10000, 10000, "<=", 0.02),
    Target("shm", ("threads_blocking", "threads_nonblocking", "threads_probed"), 1, 4, "<=", 1.0),
    *(Target(wire, ("waitsome", "testsome"), 3000, 20000, "<=", 1.0) for wire in ("shm", "tcp")),
    *(Target(wire, ("polled", "polled_all"), 3000, 3000, "<=", 1.0) for wire in ("shm", "tcp")),
    Target("tcp", ("latency",), 8, 8, "<=", 0.85),
    Target("tcp", ("rate_plain",), 8, 8, ">=", 25),
    Target("tcp", ("bandwidth",), MI, 4 * MI, ">=", 1.3),
    Target("shm", ("barrier", "allreduce"), 2, 2, "<=", 0.9),
    *(Target("shm", ("barrier",), ranks, ranks, "<=", bound, "openmpi")
      for ranks, bound in ((4, 0.7), (8, 0.6), (16, 0.45), (64, 0.35))),
    *(Target("shm", ("allreduce",), ranks, ranks, "<=", bound, "openmpi")
      for ranks, bound in ((4, 0.8), (8, 0.6), (16, 0.45), (64, 0.3))),
    Target("shm", of_ranks(runs.OPERATIONS, 2), 8, 64 * KI, "<=", 0.9),
    Target("shm", of_ranks(("allreduce", "bcast", "allgather"), 2), MI, 4 * MI, "<=", 0.6),
    Target("shm", of_ranks(runs.OPERATIONS, 8, 16), 8, 4 * MI, "<=", 0.7, "openmpi"),
    Target("shm", of_ranks(NEIGHBORS, 8, 16), 8, 64 * KI, "<=", 0.7, "openmpi"),
    Target("tcp", ("barrier", "allreduce"), 4, 4, "<=", 0.7),
    Target("tcp", of_ranks(runs.OPERATIONS, 4), 8, 4 * MI, "<=", 0.7),
    Target("tcp", of_ranks(NEIGHBORS, 4), 8, 64 * KI, "<=", 0.7),
    # With a processor to spare for each rank, and without; overlap.c prints one or the other.
    *(Target(wire, (f"{way}_of_longer",), MI, MI, "<=", 1.15, "x") for wire in runs.WIRES for way in runs.OVERLAP_WAYS),
    *(Target(wire, (f"{way}_of_sum",), MI, MI, "<=", 1.0, "x") for wire in runs.WIRES for way in runs.OVERLAP_WAYS),
    *(Target(wire, of_windows(runs.WINDOW_OPERATIONS), 8, 8, "<=", 0.8) for wire in runs.WIRES),
    Target("shm", of_windows(runs.WINDOW_STREAMS, ("allocated",)), 4 * KI, 4 * MI, ">=", 1.2),
    Target("shm", of_windows(runs.WINDOW_STREAMS, ("created",)), 4 * KI, 4 * MI, ">=", 1.3),
    Target("tcp", of_windows(runs.WINDOW_STREAMS), 4 * KI, 4 * MI, ">=", 1.0),
    # The wait for a computing target takes up to 95 ms. Without a processor to spare, the system's scheduler determines
    # when the target's coprocessor runs.
    *(Target(wire, of_windows(runs.WINDOW_BUSY), 8, 8, "<=", 5, "ms") for wire in runs.WIRES),
    *(Target(wire, tuple(f"busy_{mode}_beside_{loops}" for mode in runs.BUSY_MODES for loops in runs.BUSY_LOOPS), 2, 8, "<=", 1.5)
      for wire in runs.WIRES),
    *(Target(wire, of_windows(("calling_get",)), 8, 8, "<=", 1, "ms") for wire in runs.WIRES),
    *(Target(wire, of_windows(("calling_get_worst",)), 8, 8, "<=", 20, "ms") for wire in runs.WIRES),
    Target("shm", ("start_end",), 2, 2, "<=", 0.3, "mpich"),
    Target("shm", ("start_end",), 2, 2, "<=", 0.1, "openmpi"),
    Target("shm", ("start_end",), 64, 64, "<=", 0.3, "mpich"),
    Target("shm", ("start_end",), 64, 64, "<=", 0.1, "openmpi"),
    Target("shm", ("resident",), 64, 64, "<=", 4, "MiB"),
)


@dataclass(frozen=True)
class Bound:
    """The machine's bound for some rows: the best of `limits`, which are cases measured without MPI in the same run. A
    limit counts at the size of_size() (`times` the row's size, or `bytes` for rows whose size is a number of ranks), or at
    any size if it is one of EVERY_SIZE. `ways`: the number of messages, one after the other, that a row needs, if a limit
    is the time of one."""
    wire: str
    cases: tuple
    low: int
    high: int
    limits: tuple
    times: int = 1
    bytes: int = 0
    ways: int = 1

    def covers(self, wire, case, size):
        return wire == self.wire and case in self.cases and self.low <= size <= self.high

    def of_size(self, size):
        return self.bytes or self.times * size

    def figure(self, limits, size, unit):
        """The best of the limits in the unit of the row, or None."""
        found = [median(limit["samples"]["machine"]) for limit in limits
                 if limit["case"] in self.limits and limit["unit"] == unit
                 and (limit["size"] == self.of_size(size) or limit["case"] in EVERY_SIZE)]
        found = [value for value in found if value]
        return self.ways * (max if unit in LARGER_IS_BETTER else min)(found) if found else None


EVERY_SIZE = ("two_lines", "cells", "ring_copy")
# bench/bounds.md describes each of them, and its omissions.
BOUNDS = (
    Bound("shm", ("latency",), 0, 64, ("two_lines",)),
    Bound("shm", ("latency",), 16 * KI, 4 * MI, ("copy_read", "copy_shared")),
    Bound("shm", ("bandwidth",), 16 * KI, 4 * MI, ("copy_stream_read", "copy_stream_shared", "ring_copy")),
    Bound("shm", ("both",), 16 * KI, 4 * MI, ("copy_both",)),
    Bound("shm", ("rate_plain",), 8, 8, ("cells",)),
    *(Bound("shm", (case,), 2, 64, (f"{case}_flags", f"{case}_counter")) for case in ("barrier", "allreduce")),
    *(Bound("shm", (f"{name}_{ranks}",), 8, 4 * MI, (f"{name}_segment_{ranks}", f"{name}_direct_{ranks}"))
      for name in runs.OPERATIONS for ranks in runs.OPERATION_RANKS),
    *(Bound("shm", (f"allocated_{name}",), 8, 8, (f"memory_{name}",))
      for name in ("put", "get", "fetch_and_op", "compare_and_swap", "lock")),
    Bound("shm", ("allocated_accumulate",), 8, 8, ("memory_fetch_and_op",)),
    Bound("shm", ("allocated_fence",), 8, 8, ("barrier_flags", "barrier_counter"), bytes=2),
    Bound("shm", ("allocated_groups",), 8, 8, ("two_lines",), ways=2),
    Bound("shm", ("created_get",), 8, 8, ("system_get",)),
    Bound("shm", of_windows(("put", "fence", "groups", "lock"), ("created",)), 8, 8, ("system_put",)),
    Bound("shm", of_windows(("accumulate", "fetch_and_op", "compare_and_swap"), ("created",)), 8, 8, ("two_lines",), ways=2),
    *(Bound("shm", (f"{kind}_{name}",), 4 * KI, 4 * MI, (f"{way}_{name}",))
      for kind, way in (("allocated", "memory"), ("created", "system")) for name in runs.WINDOW_STREAMS),
    Bound("tcp", of_windows(("put", "get", "accumulate", "fetch_and_op", "compare_and_swap", "groups", "lock")), 8, 8,
          ("tcp_latency",), ways=2),
    Bound("tcp", of_windows(("fence",)), 8, 8, ("tcp_latency",)),
    Bound("tcp", of_windows(runs.WINDOW_STREAMS), 4 * KI, 4 * MI, ("tcp_stream",)),
    Bound("tcp", ("barrier", "allreduce"), 2, 4, ("tcp_latency",), bytes=8),
    Bound("tcp", of_ranks(runs.OPERATIONS, 2), 8, 4 * MI, ("tcp_latency",)),
    Bound("tcp", of_ranks(("bcast", "reduce", "allreduce", "scan"), 4), 8, 4 * MI, ("tcp_latency",)),
    Bound("tcp", of_ranks(("gather", "scatter", "allgather", "reduce_scatter"), 4), 8, 4 * MI, ("tcp_latency",), times=2),
    Bound("tcp", ("alltoall_4",), 8, 4 * MI, ("tcp_latency",), times=4),
    *(Bound("dynamic", tuple(f"{case}_{ranks}" for ranks in runs.SPAWN_RANKS), 1, 2, (limit,))
      for case, limit in (("spawn", "start"), ("spawn_cycle", "start_cycle"))),
    Bound("dynamic", ("connect_jobs",), 1, 1, runs.CONNECT_MODES, bytes=8),
    Bound("dynamic", ("between_jobs_latency",), 8, 8, ("tcp_latency",)),
    Bound("dynamic", ("between_jobs_bandwidth",), MI, MI, ("tcp_stream",)),
    Bound("tcp", ("latency",), 8, 8, ("tcp_latency",)),
    Bound("tcp", ("rate_plain",), 8, 8, ("tcp_window",)),
    Bound("tcp", ("bandwidth",), MI, 4 * MI, ("tcp_stream",)),
)


def median(values):
    return statistics.median(values) if values else None


def noise(values):
    """The spread of samples: the distance between the quartiles as a share of the median."""
    if len(values) < 2 or not median(values):
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / abs(median(values))


def better_peer(medians, unit):
    """The name of the peer with the better figure, or None when no peer has one."""
    have = [peer for peer in PEERS if medians.get(peer) is not None]
    if not have:
        return None
    return (max if unit in LARGER_IS_BETTER else min)(have, key=lambda peer: medians[peer])


def ratio(medians, versus, unit):
    """margay's figure divided by that of `versus`, or None if one of the two is missing."""
    other = better_peer(medians, unit) if versus == "better" else versus
    mine, theirs = medians.get("margay"), medians.get(other)
    if mine is None or not theirs:
        return None
    return mine / theirs


def judge_target(target, medians, unit):
    """True: met; False: not met; None: undetermined, because a figure is missing."""
    if target.versus in ITSELF:
        value = medians.get("margay")
        value = None if value is None else value / ITSELF[target.versus]
    else:
        value = ratio(medians, target.versus, unit)
    return None if value is None else target.holds(value)


@dataclass(frozen=True)
class Row:
    """One line of the table."""
    wire: str
    case: str
    size: int
    unit: str
    medians: dict
    noise: float
    ratio: float | None
    targets: tuple
    verdict: str  # "met", "NOT MET", "no peer" (a target, but nothing to compare with) or ""
    at_best: float | None  # the value of `ratio` if margay were as fast as the machine's bound
    failed: tuple = ()  # the stacks that have no figure because they failed


def at_best(result, medians, limits):
    """The bound of a row divided by the figure of the better peer, or None."""
    other = medians.get(better_peer(medians, result["unit"]))
    for bound in BOUNDS:
        if other and bound.covers(result["wire"], result["case"], result["size"]):
            figure = bound.figure(limits, result["size"], result["unit"])
            return figure / other if figure else None
    return None


def judge(result, limits=()):
    """The row of one result: {"wire", "case", "size", "unit", "samples": {stack: [values]}}; `limits` are such results."""
    samples = {stack: values for stack, values in result["samples"].items() if values}
    medians = {stack: median(values) for stack, values in samples.items()}
    targets = tuple(target for target in TARGETS if target.covers(result["wire"], result["case"], result["size"]))
    verdicts = [judge_target(target, medians, result["unit"]) for target in targets]
    if False in verdicts:
        verdict = "NOT MET"
    elif True in verdicts:
        verdict = "met"
    else:
        verdict = "no peer" if targets else ""
    return Row(result["wire"], result["case"], result["size"], result["unit"], medians,
               max((noise(values) for values in samples.values()), default=0.0),
               ratio(medians, "better", result["unit"]), targets, verdict, at_best(result, medians, limits),
               tuple(result.get("failed", ())))


def beyond_bare(results, limits):
    """The results with a bare program's resident memory taken off each sample of `resident` and `proportional`."""
    bare = {limit["case"]: median(limit["samples"]["machine"]) for limit in limits
            if limit["case"] in ("resident", "proportional")}

    def beyond(result):
        off = bare.get(result["case"], 0)
        return {**result, "samples": {stack: [value - off for value in values] for stack, values in result["samples"].items()}}
    return [beyond(result) if result["case"] in bare else result for result in results]
