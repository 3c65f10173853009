"""The tables and figures of paper 004, section 7: title, measurement, text and picture, and what the paper printed."""
from dataclasses import dataclass
from typing import Callable

from rmi import experiments, report
from rmi.experiments import PROCESSES, TCP, THREADS, WORLDS

# Microseconds: machine, explicit, async_rmi, sync_rmi.
TABLE_1 = (("V2200, Pthreads", 15, 22, 22), ("O3800, Pthreads", 4, 16, 15), ("V2200, MPI", 16, 35, 37), ("O3800, MPI", 17, 17, 21),
           ("cluster, MPI", 197, 197, 201))
# Seconds on the Origin 3800: explicit, STAPL.
TABLE_2 = {1: (2.123, 2.290), 2: (1.086, 1.159), 4: (0.544, 0.578), 8: (0.287, 0.294)}
TABLE_3 = {1: (2.301, 2.300), 2: (1.165, 1.164), 4: (0.583, 0.581), 8: (0.343, 0.330)}
FIGURE_2 = ("O3800, Pthreads: faster after 1000 pings; 70 % better with factor 128 (V2200: 16 % with 256)",)
FIGURE_3 = ("O3800, MPI: faster after 10 pings; 6.4-fold for 10,000 pings with factor 128 (V2200: 2.5-fold with 32)",
            "cluster, MPI: 2100-fold with factor 512")
FIGURE_4 = ("the tree fence is the best; polling and termination detection cost up to 23 % (V2200, O3800)",)
FIGURE_5 = ("the hypercube tree is the best on V2200 and O3800, the flat tree on the cluster; slightly above MPI_Barrier",)
FIGURE_6 = ("STAPL needs more time than the hand-tuned sort, because async_rmi makes a request object for each integer",)
FIGURE_7 = ("STAPL scales as well as the hand-tuned sort, and at times better",)


@dataclass(frozen=True)
class Experiment:
    """`measurement`: a function of bench/rmi/experiments.py; experiments of one measurement share its samples."""
    title: str
    measurement: Callable
    worlds: tuple
    text: Callable
    paper: object
    picture: Callable


def line_picture(ticks):
    return lambda title, panels: report.line_picture(title, panels, ticks)


def bar_picture(group_text):
    return lambda title, panels: report.bar_picture(title, panels, group_text)


def speedup_picture(title, panels):
    return report.line_picture(title, report.speedups(panels), report.NODE_TICKS, "x")


def node_bars(x):
    return f"{x} nodes"


MESSAGES = (PROCESSES, TCP)
EXPERIMENTS = {
    "table_1": Experiment("Table 1: a ping-pong, there and back", experiments.latency, WORLDS, report.latency_text, TABLE_1,
                          bar_picture(lambda x: "ping-pong")),
    "figure_2": Experiment("Figure 2: consecutive pings before one pong, threads", experiments.pings, (THREADS,),
                           report.pings_text, FIGURE_2, line_picture(report.PING_TICKS)),
    "figure_3": Experiment("Figure 3: consecutive pings before one pong, messages", experiments.pings, MESSAGES,
                           report.pings_text, FIGURE_3, line_picture(report.PING_TICKS)),
    "figure_4": Experiment("Figure 4: a fence, threads", experiments.fences, (THREADS,), report.fences_text, FIGURE_4,
                           line_picture(report.NODE_TICKS)),
    "figure_5": Experiment("Figure 5: a fence, messages", experiments.fences, MESSAGES, report.fences_text, FIGURE_5,
                           line_picture(report.NODE_TICKS)),
    "figure_6": Experiment("Figure 6: time to sort", experiments.sort, WORLDS, report.sort_text, FIGURE_6,
                           line_picture(report.NODE_TICKS)),
    "figure_7": Experiment("Figure 7: speed-up of the sort over one node", experiments.sort, WORLDS, report.speedup_text,
                           FIGURE_7, speedup_picture),
    "table_2": Experiment("Table 2: the inner product of 40 million elements, threads", experiments.inner_product, (THREADS,),
                          report.product_text, TABLE_2, bar_picture(node_bars)),
    "table_3": Experiment("Table 3: the inner product of 40 million elements, messages", experiments.inner_product, MESSAGES,
                          report.product_text, TABLE_3, bar_picture(node_bars)),
}
