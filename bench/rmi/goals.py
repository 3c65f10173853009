"""RMI's goals, each beside its bound: ratios of figures of one run. Pure, but for measure()."""
from dataclasses import dataclass, replace
from statistics import median

from peers import table
from rmi import experiments, report
from rmi.experiments import PROCESSES, TCP, THREADS

STREAM = 10_000  # pings
INTEGERS = 10_000_000
SORT = f"processes, shared memory, {INTEGERS:,} integers"


@dataclass(frozen=True)
class Goal:
    """`ours` in comparison with the fastest of `theirs`, at `x` pings or nodes of a panel. "<=": at most `bound` of their time;
    ">=": at least `bound` times as fast. `per`: operations in a figure."""
    title: str
    measurement: str
    panel: str
    x: int
    ours: str
    theirs: tuple
    relation: str
    bound: float
    per: int = 1

    def holds(self, ratio):
        return ratio <= self.bound if self.relation == "<=" else ratio >= self.bound


GOALS = (
    Goal("stream of asynchronous requests of 32 bytes, shared memory", "pings", PROCESSES.title, STREAM, "factor 128",
         ("MPI_Send", "MPI_Isend"), ">=", 2.5, STREAM),
    Goal("stream of asynchronous requests of 32 bytes, TCP", "pings", TCP.title, STREAM, "factor 512",
         ("MPI_Send", "MPI_Isend", "factor 1"), ">=", 6, STREAM),
    Goal("sync_rmi, shared memory", "latency", PROCESSES.title, 1, "sync_rmi", ("MPI_Send",), "<=", 1.3),
    Goal("rmi_fence, shared memory", "fences", PROCESSES.title, 2, "fence exchange", ("MPI_Allreduce",), "<=", 1.25),
    Goal("ping-pong of async_rmi, threads", "latency", THREADS.title, 1, "async_rmi", ("atomic counter",), "<=", 4),
    Goal("sync_rmi, threads", "latency", THREADS.title, 1, "sync_rmi", ("atomic counter",), "<=", 4),
    Goal("inner product of 40 million, threads", "inner_product", THREADS.title, 2, "p_inner_product", ("explicit",), "<=", 1.05),
    Goal("inner product of 40 million, processes", "inner_product", PROCESSES.title, 2, "p_inner_product", ("explicit",), "<=", 1.05),
    Goal("p_sort of 10 million by elements, processes", "sort", SORT, 2, "p_sort, elements", ("explicit",), "<=", 1.5),
    Goal("p_sort of 10 million by elements, processes", "sort", SORT, 2, "p_sort, elements", ("message listing",), ">=", 5),
    Goal("p_sort of 10 million by ranges, processes", "sort", SORT, 2, "p_sort, ranges", ("explicit",), "<=", 1.1),
)


def plan(scale):
    """{measurement: groups}: what the goals need, and no more."""
    scale = replace(scale, nodes=(2,), integers=(INTEGERS,))
    return {
        "latency": experiments.latency(scale, (PROCESSES, THREADS)),
        "pings": experiments.pings(scale, (PROCESSES, TCP)),
        "fences": experiments.fences(scale, (PROCESSES,)),
        "inner_product": experiments.inner_product(scale, (THREADS, PROCESSES)),
        "sort": experiments.sort(scale, (PROCESSES,), listing=True),
    }


def measure(scale, build, quiet, say):
    """{measurement: panels}."""
    return {name: experiments.run(groups, build, quiet, say) for name, groups in plan(scale).items()}


@dataclass(frozen=True)
class Row:
    """A goal and its figures; `ratio`, `low` and `high`: median and quartiles over the repeats, each of which measured both."""
    goal: Goal
    other: str
    ours: float
    theirs: float
    ratio: float
    low: float
    high: float


def judge_goal(goal, measured):
    """The row of a goal, of {measurement: panels}."""
    of_panel = measured[goal.measurement][goal.panel]
    ours = of_panel[goal.ours][goal.x]
    other = min(goal.theirs, key=lambda name: median(of_panel[name][goal.x]))
    theirs = of_panel[other][goal.x]
    ratios = [mine / their if goal.relation == "<=" else their / mine for mine, their in zip(ours, theirs)]
    return Row(goal, other, median(ours), median(theirs), median(ratios), *report.quartiles(ratios))


def figure_text(microseconds, per):
    """The time of one operation, and of many the rate."""
    one = microseconds / per
    text = f"{1000 * one:.1f} ns" if one < 1 else table.value_text(one, "us")
    return text if per == 1 else f"{text}, {1 / one:.1f} M/s"


def text(measured):
    """The table of all goals, and their verdicts."""
    rows = [("goal", "RMI", "beside", "", "ratio", "quartiles", "bound", "")]
    verdicts = []
    for goal in GOALS:
        row = judge_goal(goal, measured)
        verdicts.append(goal.holds(row.ratio))
        rows.append((goal.title, figure_text(row.ours, goal.per), row.other, figure_text(row.theirs, goal.per),
                     table.ratio_text(row.ratio), f"{table.ratio_text(row.low)} to {table.ratio_text(row.high)}",
                     f"{goal.relation} {goal.bound:g}", "met" if verdicts[-1] else "NOT MET"))
    note = [f"{len(verdicts)} goals: {sum(verdicts)} met, {len(verdicts) - sum(verdicts)} not met.",
            '"<=": RMI\'s time divided by the other; ">=": the other\'s time divided by RMI\'s. Medians; the ratio is that of figures',
            "measured in turns. Beside margay's own MPI and threads by hand: Debian has no peer of RMI (YGM, UPC++)."]
    return report.aligned(rows) + ["", *note]
