"""The experiments of paper 004, section 7: which programs each runs, in which worlds, and the samples they print."""
import re
import time
from dataclasses import dataclass

from peers import collect

LINE = re.compile(r"^([^,\n]+),(\d+),([\d.]+)$", re.MULTILINE)  # examples/rmi/measure.hpp
REPORT = re.compile(r"^.+: nodes (\d+) elements \d+ seconds ([\d.]+) right$", re.MULTILINE)  # examples/rmi/common.hpp
INTEGERS = (1_000_000, 10_000_000)
LONG_NODES = 2  # more than the paper's million are sorted on at most so many
ELEMENTS = 40_000_000
LIMIT_S = 300


@dataclass(frozen=True)
class World:
    """The placement of the nodes, and the options of `margay run` that make it."""
    title: str
    options: str
    beside: str  # on which the programs of examples/rmi/by_hand.hpp are built
    least: int = 1

    def command(self, build, nodes):
        words = self.options.format(nodes=nodes).split()
        return [str(build / "bin" / "margay"), "run", *words]


THREADS = World("threads", "-n 1 --threads {nodes}", "threads")
PROCESSES = World("processes, shared memory", "-n {nodes}", "mpi")
TCP = World("2 nodes, TCP", "-n {nodes} --nodes 2", "mpi", 2)
WORLDS = (THREADS, PROCESSES, TCP)


@dataclass(frozen=True)
class Scale:
    """The amounts of a measurement."""
    repeats: int = 7  # in one start of a program that measures in turns
    rounds: int = 3  # starts of these programs
    starts: int = 5  # of programs that print one figure
    long_starts: int = 3  # of those that sort more than the paper's million
    nodes: tuple = (1, 2, 4, 8)
    plays: int = 5000
    pings: int = 10_000
    fences: int = 1000
    integers: tuple = INTEGERS
    elements: int = ELEMENTS
    turns: int = 3


FULL = Scale()
QUICK = Scale(rounds=1, starts=3, nodes=(1, 2), integers=INTEGERS[:1], turns=2)
SMOKE = Scale(repeats=1, rounds=1, starts=1, nodes=(1, 2), plays=10, pings=20, fences=10, integers=(2000,), elements=2000, turns=1)


@dataclass(frozen=True)
class Start:
    """One start of a program of examples/rmi. `series`: the name of its figure; none: the program prints the names."""
    program: str
    arguments: tuple
    series: str = ""
    launched: bool = True  # by `margay run`

    def path(self, build):
        return build / "examples" / "rmi" / self.program

    def command(self, build, world, nodes):
        return [*(world.command(build, nodes) if self.launched else ()), str(self.path(build)), *map(str, self.arguments)]


@dataclass(frozen=True)
class Group:
    """Programs that are measured in turns, `times` each. `panel`: the table or chart of their figures."""
    world: World
    nodes: int
    starts: tuple
    panel: str
    times: int


def latency(scale, worlds):
    for world in worlds:
        yield Group(world, 2, (Start(f"ping_pong_beside_{world.beside}", ("latency", scale.repeats, scale.plays)),), world.title,
                    scale.rounds)


def pings(scale, worlds):
    for world in worlds:
        yield Group(world, 2, (Start(f"ping_pong_beside_{world.beside}", ("pings", scale.repeats, scale.pings)),), world.title,
                    scale.rounds)


def nodes_of(scale, world):
    return [nodes for nodes in scale.nodes if nodes >= world.least]


def fences(scale, worlds):
    for world in worlds:
        for nodes in nodes_of(scale, world):
            # More nodes than processors wait for one another's time slices.
            calls = max(10, scale.fences // (1 if nodes <= 2 else 5))
            yield Group(world, nodes, (Start(f"fences_beside_{world.beside}", (scale.repeats, calls)),), world.title,
                        scale.rounds)


def sort(scale, worlds, listing=False):
    """`listing`: section 4's message-passing sort too, which sends a message for each integer."""
    for world in worlds:
        for integers in scale.integers:
            is_long = integers > INTEGERS[0]
            for nodes in nodes_of(scale, world):
                if is_long and nodes > LONG_NODES:
                    break
                size = (integers, 1 if is_long else scale.turns)
                explicit = (Start("sort_threads", (nodes, *size), "explicit", launched=False) if world is THREADS
                            else Start("sort_mpi", size, "explicit"))
                starts = [explicit, *(Start("p_sort", (way, *size), f"p_sort, {way}") for way in ("elements", "ranges"))]
                if listing:
                    starts.append(Start("sample_sort_messages", size, "message listing"))
                yield Group(world, nodes, tuple(starts), f"{world.title}, {integers:,} integers",
                            scale.long_starts if is_long else scale.starts)


def inner_product(scale, worlds):
    for world in worlds:
        for nodes in nodes_of(scale, world):
            size = (scale.elements, scale.turns)
            explicit = (Start("inner_product_threads", (nodes, *size), "explicit", launched=False) if world is THREADS
                        else Start("inner_product_mpi", size, "explicit"))
            yield Group(world, nodes, (explicit, Start("inner_product", size, "p_inner_product")), world.title, scale.starts)


class Failed(Exception):
    """A program is not built, ended in an error, or printed no figure."""


def rows_of(panels):
    """(panel, series, x, repeat, microseconds) of every sample."""
    for panel, of_panel in panels.items():
        for series, points in of_panel.items():
            for x, values in points.items():
                for repeat, value in enumerate(values):
                    yield panel, series, x, repeat, value


def figures(start, output):
    """[(series, x, microseconds)] of a program's output."""
    if start.series:
        return [(start.series, int(nodes), 1e6 * float(seconds)) for nodes, seconds in REPORT.findall(output)]
    return [(series, int(x), float(value)) for series, x, value in LINE.findall(output)]


def run(groups, build, quiet, say):
    """{panel: {series: {x, pings or nodes: [microseconds]}}} of the groups. Throws Failed."""
    panels = {}
    began = time.monotonic()
    for group in groups:
        for start in group.starts:
            if not start.path(build).exists():
                raise Failed(f"{start.path(build)} is not built; build the target rmi_examples")
        say(f"[{time.monotonic() - began:4.0f} s] {group.panel}, {group.nodes} nodes: {', '.join(s.program for s in group.starts)}")
        for _ in range(group.times):
            for series, x, value in one_round(group, build, quiet):
                panels.setdefault(group.panel, {}).setdefault(series, {}).setdefault(x, []).append(value)
    return panels


def one_round(group, build, quiet):
    """The figures of each program of a group, started once; again if something else ran meanwhile and patience lasts."""
    while True:
        with quiet.alone():
            quiet.wait()
            began = time.monotonic()
            found = []
            for start in group.starts:
                command = start.command(build, group.world, group.nodes)
                output, _, why = collect.start(command, {}, LIMIT_S)
                new = figures(start, output)
                if why or not new:
                    raise Failed(f"{' '.join(command)}: {why or 'printed no figure'}")
                found += new
            if quiet.was_quiet(time.monotonic() - began):
                return found
