"""The plan of a measurement: one Run is one start of one program; every stack makes it, one after the other."""
from dataclasses import dataclass

KI = 1024
MI = 1024 * KI
LATENCY_SIZES = [0, 1, 8, 16, 32, 64, 128, 256, 512] + [KI << i for i in range(13)]
BANDWIDTH_SIZES = [8, 64, 256] + [KI << i for i in range(13)]
QUICK_SIZES = [8, 64, KI, 8 * KI, 64 * KI, MI]
LIMIT_SIZES = [8, 64, 512, 4 * KI, 16 * KI, 64 * KI, 256 * KI, MI, 4 * MI]
TCP_STREAM_SIZES = [4 * KI, 16 * KI, 64 * KI, 256 * KI, MI, 2 * MI, 4 * MI]
COPY_SIZES = [16 * KI << i for i in range(9)]
COPY_MODES = ("read", "shared", "stream_read", "stream_shared", "both")
BARRIER_RANKS = (2, 4, 8, 16, 64)
MANY_RANKS = 8
FIRST_RANKS = 3
RING_CHUNKS = (2 * KI, 8 * KI, 32 * KI)
WIRES = ("shm", "tcp")
RATE_MODES = ("plain", "late", "wildcards", "persistent")
MATCHING_MODES = ("front", "in_order", "last_first")
THREAD_MODES = ("blocking", "nonblocking", "probed")
SOME_MODES = ("waitsome", "testsome", "polled", "polled_all")
OPERATIONS = ("bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "reduce_scatter", "scan")
OPERATION_SIZES = (8, KI, 8 * KI, 64 * KI, MI, 4 * MI)
OPERATION_RANKS = (2, 4, 8, 16, 64)
OPERATION_TCP_RANKS = (2, 4, 8)  # on two nodes
NEIGHBOR_MODES = ("alltoall", "allgather", "ialltoall", "iallgather")
NEIGHBOR_SIZES = (8, KI, 64 * KI)
NEIGHBOR_RANKS = {"shm": (4, 8, 16), "tcp": (4, 8)}
OVERLAP_WAYS = ("overlap_wait", "overlap_test")
WINDOW_KINDS = ("allocated", "created")
WINDOW_OPERATIONS = ("put", "get", "accumulate", "fetch_and_op", "compare_and_swap", "fence", "groups", "lock", "flush")
WINDOW_STREAMS = ("put_stream", "get_stream")
WINDOW_BUSY = ("busy_put", "busy_get", "busy_accumulate")  # the target computes
WINDOW_CALLING = ("calling_get", "calling_get_worst")  # the target makes local calls
WINDOW_SIZES = tuple(4 * KI << i for i in range(0, 11, 2))
WINDOW_LIMITS = ("memory_put", "memory_get", "memory_fetch_and_op", "memory_compare_and_swap", "memory_lock", "system_put",
                 "system_get")
WINDOW_STREAM_LIMITS = tuple(f"{way}_{stream}" for way in ("memory", "system") for stream in WINDOW_STREAMS)
BUSY_MODES = ("pingpong", "testloop", "interleaved", "barrier", "bcast", "halo")
BUSY_LOOPS = (0, 2, 4, 8)
BUSY_RANKS = (2, 4, 8)
SPAWN_RANKS = (1, 2)
SPAWN_CHILDREN = (1, 2)
HALVES_RANKS = (2, 4)
JOBS_RANKS = (1, 2)  # of each of two jobs
DEFAULT_PLACES = 0
PLACES = (2, DEFAULT_PLACES, 256)
START_MODES = ("start", "start_cycle")
CONNECT_MODES = ("connect_sleep", "connect_poll")
BYTES_OF_A_CALL_MAX = 256 * MI
BARRIER_MODES = ("barrier_flags", "barrier_counter", "allreduce_flags", "allreduce_counter")
OVERSUBSCRIBED_REPEATS = 3  # a peer may need many seconds for one
SLOW_S = 2.5  # a peer whose waiting ranks do not yield


@dataclass(frozen=True)
class Run:
    group: str  # selected by --only, besides the wire
    wire: str
    program: str
    ranks: int = 2
    mode: str = ""
    sizes: tuple = ()
    seconds: float = 0.05
    block: int = 0
    processes: int = 0  # processes that a program without MPI starts by itself
    loops: int = 0  # busy loops that run beside it
    beside: int = 0  # processes that need a processor beside the ranks: started by them, or of a second job
    jobs: int = 1  # 2: a server job and a client job, with as many ranks each
    places: int = -1  # margay run --places, or the default; only margay has places
    limit_s: float = 60
    repeats_max: int = 99
    slow_s: float = 99  # a slower stack is run once: an order of magnitude needs no median

    def arguments(self):
        words = ["--mode", self.mode] if self.mode else []
        words += ["--sizes", ",".join(map(str, self.sizes))] if self.sizes else []
        words += ["--block", str(self.block)] if self.block else []
        words += ["--processes", str(self.processes)] if self.processes else []
        return words + (["--seconds", str(self.seconds)] if self.seconds else [])

    def case(self, printed):
        """The name of a row, of the case that the program printed."""
        if self.places >= 0:
            return f"{printed}_places"
        return f"{printed}_beside_{self.loops}" if self.group == "busy" else printed

    def size(self, printed):
        """The size of a row, of the size that the program printed."""
        return self.places if self.places >= 0 else printed

    def measures(self, stack):
        """Whether the stack with this name has what is measured."""
        return self.places < 0 or stack == "margay"

    def title(self):
        return " ".join(str(word) for word in (self.wire, self.program, self.mode, self.block or "",
                                             f"{self.processes} processes" if self.processes else f"{self.ranks} ranks",
                                             f"beside {self.loops} busy loops" if self.loops else "",
                                             f"in each of {self.jobs} jobs" if self.jobs > 1 else "",
                                             "" if self.places < 0 else f"{self.places} places" if self.places else "default places")
                        if word)


def pairs(wire, quick):
    """All runs between two ranks."""
    sizes = QUICK_SIZES if quick else None
    seconds = 0.02 if quick else 0.05
    # TCP is a hundred times slower for small messages, and noisier.
    seconds *= 2 if wire == "tcp" else 1
    yield Run("latency", wire, "latency", sizes=tuple(sizes or LATENCY_SIZES), seconds=seconds)
    yield Run("bandwidth", wire, "bandwidth", mode="one", sizes=tuple(sizes or BANDWIDTH_SIZES), seconds=seconds)
    yield Run("bandwidth", wire, "bandwidth", mode="both", sizes=tuple(sizes or BANDWIDTH_SIZES), seconds=seconds)
    for mode in RATE_MODES[:2] if quick else RATE_MODES:
        yield Run("rate", wire, "rate", mode=mode, sizes=(8,), seconds=4 * seconds)
    for mode in MATCHING_MODES[2:] if quick else MATCHING_MODES:
        yield Run("matching", wire, "matching", mode=mode, sizes=(1000,) if quick else (1000, 10000), seconds=4 * seconds)
    for mode in SOME_MODES[:1] if quick else SOME_MODES:
        yield Run("some", wire, "some", mode=mode, sizes=(3000,) if quick or "polled" in mode else (3000, 20000),
                  seconds=4 * seconds)
    for block in () if quick else (8, 64):
        yield Run("vector", wire, "latency", block=block, sizes=(KI, 8 * KI, 64 * KI, MI), seconds=seconds)


def jobs(wire, quick):
    """The runs that depend on the number of ranks."""
    for ranks in (2, 8) if quick else BARRIER_RANKS:
        for mode in ("barrier", "allreduce"):
            repeats = 99 if ranks == 2 else OVERSUBSCRIBED_REPEATS
            yield Run("collectives", wire, "collectives", ranks=ranks, mode=mode, seconds=0.05 if quick else 0.2,
                      limit_s=10 if quick else 20, repeats_max=repeats)
    for ranks in (2, 16) if quick else (2, 16, 64):
        yield Run("startup", wire, "startup", ranks=ranks, seconds=0)
    yield Run("memory", wire, "memory", ranks=16 if quick else 64, seconds=0, limit_s=30, repeats_max=OVERSUBSCRIBED_REPEATS)


def operation_sizes(mode, ranks):
    """Allreduce of 8 bytes is among the jobs, where each sum is checked. Operations that deliver more than
    BYTES_OF_A_CALL_MAX to all ranks together in one call are left out: a peer needs gigabytes and many seconds for them
    (a block for each pair of ranks: 4 MiB on 16 ranks, 1 and 4 MiB on 64)."""
    sizes = OPERATION_SIZES[1:] if mode == "allreduce" else OPERATION_SIZES
    pairs_of_ranks = mode in ("allgather", "alltoall", "reduce_scatter")
    return tuple(size for size in sizes if size * ranks * (ranks if pairs_of_ranks else 1) <= BYTES_OF_A_CALL_MAX)


def operation_cases(quick, all_ranks):
    for ranks in all_ranks[:2] if quick else all_ranks:
        for mode in ("bcast", "allreduce", "allgather") if quick else OPERATIONS:
            sizes = operation_sizes(mode, ranks)
            yield mode, ranks, tuple(size for size in sizes if size in (KI, 64 * KI)) if quick else sizes


def operations(wire, quick):
    """Collectives by length."""
    for mode, ranks, sizes in operation_cases(quick, OPERATION_TCP_RANKS if wire == "tcp" else OPERATION_RANKS):
        yield Run("operations", wire, "operations", ranks=ranks, mode=mode, sizes=sizes, seconds=0.02,
                  limit_s=20 if ranks == 64 else 10 if ranks <= 4 else 7, slow_s=SLOW_S,
                  repeats_max=2 if ranks == 64 else OVERSUBSCRIBED_REPEATS)


def neighbors(wire, quick):
    """The neighbours of a grid, and the overlap of a nonblocking collective."""
    for ranks in NEIGHBOR_RANKS[wire][:1] if quick else NEIGHBOR_RANKS[wire]:
        for mode in NEIGHBOR_MODES[::2] if quick else NEIGHBOR_MODES:
            yield Run("neighbors", wire, "neighbors", ranks=ranks, mode=mode, sizes=NEIGHBOR_SIZES, seconds=0.02,
                      limit_s=7, slow_s=SLOW_S, repeats_max=OVERSUBSCRIBED_REPEATS)
    yield Run("overlap", wire, "overlap", sizes=(MI,), seconds=0.05 if quick else 0.2)


def windows(wire, quick):
    """One-sided communication, with windows that MPI allocates and with the program's own memory."""
    seconds = (0.02 if quick else 0.05) * (2 if wire == "tcp" else 1)
    for kind in WINDOW_KINDS:
        for mode in WINDOW_OPERATIONS[:1] + WINDOW_BUSY[-1:] if quick else WINDOW_OPERATIONS + WINDOW_BUSY + WINDOW_CALLING:
            yield Run("windows", wire, "windows", mode=f"{kind}_{mode}", sizes=(8,), seconds=seconds, limit_s=10)
        for mode in WINDOW_STREAMS[:1] if quick else WINDOW_STREAMS:
            yield Run("windows", wire, "windows", mode=f"{kind}_{mode}", sizes=WINDOW_SIZES[::2] if quick else WINDOW_SIZES,
                      seconds=seconds, limit_s=10)


def window_limits(quick):
    seconds = 0.02 if quick else 0.05
    for mode in WINDOW_LIMITS:
        yield Run("windows", "limit", "limits_windows", mode=mode, sizes=(8,), seconds=seconds)
    for mode in WINDOW_STREAM_LIMITS:
        yield Run("windows", "limit", "limits_windows", mode=mode, sizes=WINDOW_SIZES, seconds=seconds)
    yield Run("windows", "limit", "limits", mode="two_lines", seconds=seconds)
    for mode in BARRIER_MODES[:2]:
        yield Run("windows", "limit", "limits_barrier", mode=mode, sizes=(2,), seconds=4 * seconds)
    yield Run("windows", "limit", "limits", mode="tcp_latency", sizes=(8,), seconds=2 * seconds)
    yield Run("windows", "limit", "limits", mode="tcp_stream", sizes=WINDOW_SIZES, seconds=2 * seconds)


def threads(wire, quick):
    """Threads of two ranks; more threads than processors."""
    for mode in THREAD_MODES[:1] if quick else THREAD_MODES:
        yield Run("threads", wire, "threads", mode=mode, sizes=(1, 2, 4), seconds=0.05 if quick else 0.2, limit_s=20,
                  repeats_max=OVERSUBSCRIBED_REPEATS)


def many(wire, quick):
    """More ranks than processors: each to all others, and the first long body."""
    yield Run("many", wire, "many", ranks=MANY_RANKS, sizes=(8,), seconds=0.05 if quick else 0.2, limit_s=10 if quick else 20,
              repeats_max=OVERSUBSCRIBED_REPEATS)
    yield Run("first", wire, "first", ranks=FIRST_RANKS, sizes=(64 * MI if quick else 256 * MI,), seconds=0,
              limit_s=10 if quick else 20, repeats_max=OVERSUBSCRIBED_REPEATS)


def busy(wire, quick):
    """Runs beside programs that keep every processor busy; with more ranks than processors, too."""
    for loops in BUSY_LOOPS[::2] if quick else BUSY_LOOPS:
        for ranks in BUSY_RANKS[:1] if quick else BUSY_RANKS:
            yield Run("busy", wire, "busy", ranks=ranks, seconds=0.1 if quick else 0.2, limit_s=30, loops=loops)


def dynamic(quick):
    """Processes that start while a job runs, connections between processes, and margay's places for them. The wire is
    each MPI's choice."""
    seconds = 0.1 if quick else 0.4
    for ranks in SPAWN_RANKS:
        # The launcher works meanwhile.
        yield Run("dynamic", "dynamic", "spawn", ranks=ranks, sizes=SPAWN_CHILDREN, seconds=seconds, limit_s=15,
                  beside=max(SPAWN_CHILDREN) + 1)
    for ranks in HALVES_RANKS:
        yield Run("dynamic", "dynamic", "connect", ranks=ranks, mode="halves", seconds=seconds, limit_s=15)
    for ranks in JOBS_RANKS:
        yield Run("dynamic", "dynamic", "connect", ranks=ranks, jobs=2, beside=ranks, seconds=seconds, limit_s=15)
    for places in PLACES:
        yield Run("dynamic", "dynamic", "startup", places=places, seconds=0)
        yield Run("dynamic", "dynamic", "memory", places=places, seconds=0, repeats_max=OVERSUBSCRIBED_REPEATS)


def dynamic_limits(quick):
    seconds = 0.1 if quick else 0.4
    for mode in START_MODES:
        yield Run("dynamic", "limit", "limits_dynamic", mode=mode, sizes=SPAWN_CHILDREN, seconds=seconds)
    for mode in CONNECT_MODES:
        yield Run("dynamic", "limit", "limits_dynamic", mode=mode, sizes=(8,), seconds=seconds)
    yield Run("dynamic", "limit", "limits", mode="tcp_latency", sizes=(8,), seconds=0.1)
    yield Run("dynamic", "limit", "limits", mode="tcp_stream", sizes=(MI,), seconds=0.1)


def limits(quick):
    """The limits of the machine, without MPI."""
    sizes = tuple(LIMIT_SIZES[::2] if quick else LIMIT_SIZES)
    seconds = 0.02 if quick else 0.05
    for mode in ("cache_line", "two_lines"):
        yield Run("limits", "limit", "limits", mode=mode, seconds=seconds)
    yield Run("limits", "limit", "limits", mode="memcpy", sizes=sizes[1:], seconds=seconds)
    yield Run("limits", "limit", "limits", mode="tcp_latency", sizes=sizes, seconds=2 * seconds)
    yield Run("limits", "limit", "limits", mode="tcp_stream", sizes=tuple(TCP_STREAM_SIZES[::2] if quick else TCP_STREAM_SIZES),
              seconds=2 * seconds)
    yield Run("limits", "limit", "limits", mode="tcp_window", sizes=(8,), seconds=2 * seconds)
    for mode in COPY_MODES:
        yield Run("limits", "limit", "limits_copy", mode=mode, sizes=(64 * KI, MI) if quick else tuple(COPY_SIZES), seconds=seconds)
    yield Run("limits", "limit", "limits_ring", mode="cells", seconds=2 * seconds)
    yield Run("limits", "limit", "limits_ring", mode="ring_copy", sizes=RING_CHUNKS, seconds=seconds)
    yield Run("memory", "limit", "bare", seconds=0)
    for mode in BARRIER_MODES:
        yield Run("collectives", "limit", "limits_barrier", mode=mode, sizes=(2, 8) if quick else BARRIER_RANKS,
                  seconds=4 * seconds)
    yield Run("collectives", "limit", "limits", mode="tcp_latency", sizes=(8,), seconds=2 * seconds)
    for mode, ranks, sizes in operation_cases(quick, OPERATION_RANKS):
        yield Run("operations", "limit", "limits_operations", mode=mode, processes=ranks, sizes=sizes, seconds=0.02,
                  limit_s=30, repeats_max=2)
    yield from window_limits(quick)
    yield from dynamic_limits(quick)
    if not quick:  # which measures no operations over TCP; up to four blocks cross between nodes
        sizes = sorted({size * blocks for size in OPERATION_SIZES for blocks in (1, 2, 4)})
        yield Run("operations", "limit", "limits", mode="tcp_latency", sizes=tuple(sizes), seconds=2 * seconds)


def smoke(wires=WIRES):
    """Every program and mode once over each wire, as short as possible: shows that they run and that their data is right."""
    short = 0.001
    for wire in wires:
        yield Run("latency", wire, "latency", sizes=(0, 8, 8192, 65536), seconds=short)
        yield Run("vector", wire, "latency", block=8, sizes=(1024, 65536), seconds=short)
        for mode in ("one", "both"):
            yield Run("bandwidth", wire, "bandwidth", mode=mode, sizes=(8, 65536), seconds=short)
        for mode in RATE_MODES:
            yield Run("rate", wire, "rate", mode=mode, sizes=(8,), seconds=short)
        for mode in MATCHING_MODES:
            yield Run("matching", wire, "matching", mode=mode, sizes=(100,), seconds=short)
        for mode in ("barrier", "allreduce"):
            yield Run("collectives", wire, "collectives", ranks=4, mode=mode, seconds=short)
        for mode in OPERATIONS:
            yield Run("operations", wire, "operations", ranks=3, mode=mode, sizes=(8, 65536), seconds=short)
        for mode in NEIGHBOR_MODES:
            yield Run("neighbors", wire, "neighbors", ranks=6, mode=mode, sizes=(8, 65536), seconds=short)
        yield Run("overlap", wire, "overlap", sizes=(65536,), seconds=short)
        for kind in WINDOW_KINDS:
            for mode in WINDOW_OPERATIONS + WINDOW_STREAMS + WINDOW_BUSY + WINDOW_CALLING:
                yield Run("windows", wire, "windows", mode=f"{kind}_{mode}", sizes=(8,), seconds=short)
        for mode in THREAD_MODES:
            yield Run("threads", wire, "threads", mode=mode, sizes=(1, 2, 4), seconds=short)
        for mode in SOME_MODES:
            yield Run("some", wire, "some", mode=mode, sizes=(100,), seconds=short)
        yield Run("many", wire, "many", ranks=4, sizes=(8,), seconds=short)
        yield Run("first", wire, "first", ranks=3, sizes=(20 * MI,), seconds=0)
        yield Run("busy", wire, "busy", seconds=short, loops=1)
        yield Run("startup", wire, "startup", ranks=2, seconds=0)
        yield Run("memory", wire, "memory", ranks=2, seconds=0)
    yield Run("dynamic", "dynamic", "spawn", sizes=(1, 2), seconds=short)
    yield Run("dynamic", "dynamic", "connect", ranks=4, mode="halves", seconds=short)
    for ranks in JOBS_RANKS:
        yield Run("dynamic", "dynamic", "connect", ranks=ranks, jobs=2, seconds=short)
    yield Run("dynamic", "dynamic", "startup", places=PLACES[0], seconds=0)
    for mode in START_MODES + CONNECT_MODES:
        yield Run("dynamic", "limit", "limits_dynamic", mode=mode, sizes=(2,), seconds=short)
    for mode in ("cache_line", "two_lines", "memcpy", "tcp_latency", "tcp_stream", "tcp_window"):
        yield Run("limits", "limit", "limits", mode=mode, sizes=(4096,), seconds=short)
    for mode in COPY_MODES:
        yield Run("limits", "limit", "limits_copy", mode=mode, sizes=(4096, 65536), seconds=short)
    for mode in BARRIER_MODES:
        yield Run("collectives", "limit", "limits_barrier", mode=mode, sizes=(2, 4), seconds=short)
    for mode in OPERATIONS:
        for processes in (2, 3):
            yield Run("operations", "limit", "limits_operations", mode=mode, processes=processes, sizes=(8, 65536 + 8, 1 << 18),
                      seconds=short)
    for mode in WINDOW_LIMITS + WINDOW_STREAM_LIMITS:
        yield Run("windows", "limit", "limits_windows", mode=mode, sizes=(8,), seconds=short)
    for mode in ("cells", "ring_copy"):
        yield Run("limits", "limit", "limits_ring", mode=mode, sizes=(4096,), seconds=short)
    yield Run("memory", "limit", "bare", seconds=0)


def plan(quick=False, only=()):
    """The runs, in order. `only`: groups and wires; a run is selected if it has all the named kinds. "limits" are all
    of the machine's limits; those that bound rows of one group are also selected with that group."""
    everything = list(limits(quick)) + [run for wire in WIRES for run in pairs(wire, quick)]
    everything += [run for wire in (WIRES[:1] if quick else WIRES) for run in jobs(wire, quick)]
    everything += [run for wire in (WIRES[:1] if quick else WIRES) for run in operations(wire, quick)]
    everything += [run for wire in (WIRES[:1] if quick else WIRES) for run in neighbors(wire, quick)]
    everything += [run for wire in WIRES for run in windows(wire, quick)]
    everything += [run for wire in (WIRES[:1] if quick else WIRES) for run in threads(wire, quick)]
    everything += [run for wire in WIRES for run in many(wire, quick)]
    everything += [run for wire in WIRES for run in busy(wire, quick)]
    everything += list(dynamic(quick))
    return [run for run in everything if wanted(run, only)]


def wanted(run, only):
    wires = [word for word in only if word in WIRES]
    groups = [word for word in only if word not in WIRES]
    if run.wire == "limit":
        return not groups or "limits" in groups or run.group in groups
    return (not wires or run.wire in wires) and (not groups or run.group in groups)


def groups():
    return sorted({run.group for run in plan()} | set(WIRES))
