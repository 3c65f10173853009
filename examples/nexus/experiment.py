#!/usr/bin/env python3
"""Repeats an experiment of the Nexus paper on the simulated IBM SP2, and with --real on this computer.

    examples/nexus/experiment.py figure3|figure4|figure6|table1 [--real]

Prints a table, and writes it with a picture into build/nexus_results (NAME.txt, NAME.svg). Runs in the source tree, with a
build of these targets:
cmake --build build/release --target margay mpi_simulate nexus_experiments. docs/nexus_results.md discusses the results.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench"))

try:
    from peers import charts  # below bench, hence after the change of the path
except ModuleNotFoundError:
    raise SystemExit(f"experiment.py: {ROOT} lacks bench/peers; run examples/nexus/experiment.py of the source tree") from None

COLOURS = ("#c2570c", "#1f6fb2", "#3b8a4d", "#8a4fae")
STYLE = """svg{background:#fff} text{font:11px sans-serif;fill:#1d2430} .grid{stroke:#dfe3e8} .line{fill:none;stroke-width:2}""" + "".join(
    f" .c{number}{{stroke:{colour};fill:{colour}}} .line.c{number}{{fill:none}}" for number, colour in enumerate(COLOURS))
# Both networks of the paper's machine. Ranks of two partitions have the slow one only.
BOTH = "way=shm,tcp"
SKIPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
# Settings of polls that the paper does not measure.
OTHERS = ("adaptive", "block")
SIZES = (0, 100, 200, 400, 600, 800, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
# Table 1 of the paper: seconds of a time step.
PAPER = {"selective": 104.9, "forward": 109.3, "1": 109.1, "100": 107.8, "10000": 105.4, "12000": 105.0, "13000": 108.3}
# The coupled model: exchanges inside a model per step, and the computation before each. With 60,000 exchanges of 15 messages
# a step takes the paper's time; a hundredth of the exchanges takes a hundredth.
EXCHANGES, COMPUTE_US, SCALE = 60_000, 850, 100
TABLE_SKIPS = ("1", "2", "5", "10", "20", "50", "100", "200", "500", "1000", "2000", "5000", "10000", "12000", "13000")


class Runs:
    """Runs of the experiments' programs: simulated, or real."""

    def __init__(self, build, is_real):
        self.build, self.is_real = pathlib.Path(build), is_real
        self.report = {}

    def margay(self, arguments, program, words):
        command = [self.build / "bin" / "margay", *arguments, self.build / "examples" / "nexus" / program, *words]
        for file in (command[0], self.build / "examples" / "nexus" / program):
            if not file.exists():
                raise SystemExit(f"experiment.py: {file} does not exist; build it (cmake --build {self.build} --target margay mpi_simulate "
                                 "nexus_experiments), or name another build with --build")
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=3000)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run(self, program, words, ranks, first, ways="shm,tcp", skip=None, seed=0):
        """`first`: contexts of the first partition or node, 0: all; `skip`: the poll setting of the slow network."""
        if self.is_real:
            options = ["-n", ranks, *([] if first in (0, ranks) else ["--nodes", 2, "--ppn", first]), "--way", ways, "--wire-tcp", "epoll"]
            return self.margay(["run", *options, *(["--skip-poll", f"tcp={skip}"] if skip else [])], program, words)
        sets = [f"way={ways}", f"nodes_per_partition={first}", *([f"skip_poll=tcp={skip}"] if skip else [])]
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            options = ["-n", ranks, "--machine", "sp2", "--compute", "none", "--seed", seed, "--report", report]
            output = self.margay(["simulate", *options, *(word for one in sets for word in ("--set", one))], program, words)
            with open(report, encoding="utf-8") as file:
                self.report = json.load(file)
        return output


def rows_of(output):
    """Lines of `name value name value ...`, as dictionaries."""
    lines = (re.sub(r"^\[\d+\] ", "", line).split() for line in output.splitlines())
    return [{name: float(value) if re.fullmatch(r"[-0-9.e+]+", value) else value for name, value in zip(words[::2], words[1::2])} for words in lines]


def figure3(runs):
    """[(context, method)] of the requests: the far context's first."""
    rows = rows_of(runs.run("figure3", (), 3, 2))
    return sorted(((int(row["context"]), row["method"]) for row in rows), reverse=True)


def figure4(runs, rounds=50, sizes=SIZES):
    """By curve: {bytes: (microseconds, polls of the slow network)}."""
    curves = {}
    for name, kind, ways, skip in (("MPL", "mpi", "shm", None), ("Nexus, MPL", "nexus", "shm", None), ("Nexus, MPL and TCP", "nexus", "shm,tcp", "1")):
        rows = rows_of(runs.run("figure4", (kind, rounds, *sizes), 2, 0, ways, skip))
        curves[name] = {int(row["bytes"]): (row["us"], int(row["polls"])) for row in rows}
    return curves


def figure6(runs, rounds=2000, skips=SKIPS, others=OTHERS, sizes=(0, 10_240)):
    """By bytes and skip_poll: the row of figure6."""
    return {size: {str(skip): rows_of(runs.run("figure6", (rounds, size), 3, 2, skip=skip))[0] for skip in (*skips, *others)} for size in sizes}


def table1(runs, atmosphere=16, ranks=24, steps=4, scale=SCALE, skips=TABLE_SKIPS, others=OTHERS, tcp_only=True):
    """By row's name: the row of table1."""
    words = (atmosphere, steps, EXCHANGES // scale, COMPUTE_US)
    rows = {"selective": runs.run("table1", (*words, "selective"), ranks, atmosphere, skip="1"),
            "forward": runs.run("table1", (*words, "forward"), ranks, atmosphere, skip="1")}
    for skip in (*skips, *others):
        rows[skip] = runs.run("table1", words, ranks, atmosphere, skip=skip)
    if tcp_only:
        rows["TCP only"] = runs.run("table1", words, ranks, atmosphere, "tcp")
    return {name: rows_of(output)[0] for name, output in rows.items()}


def aligned(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)).rstrip() for row in rows) + "\n"


def picture(title, panels, names):
    """`panels`: [(title, SVG)], side by side above a legend."""
    width, height = len(panels) * (charts.WIDTH + 20), charts.HEIGHT + 50 + 16 * len(names)
    parts = [f"<style>{STYLE}</style>", charts.text(8, 16, title, "start")]
    for number, (name, svg) in enumerate(panels):
        left = number * (charts.WIDTH + 20)
        parts.append(charts.text(left + charts.LEFT, 34, name, "start"))
        parts.append(svg.replace("<svg ", f'<svg x="{left}" y="40" width="{charts.WIDTH}" height="{charts.HEIGHT}" ', 1))
    for number, name in enumerate(names):
        y = charts.HEIGHT + 56 + 16 * number
        parts.append(f'<rect class="c{number}" x="12" y="{y - 9}" width="18" height="8"/>')
        parts.append(charts.text(38, y, name, "start"))
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">{"".join(parts)}</svg>\n'


def us_text(value, _unit):
    return f"{value:.4g} us"


def curves_svg(curves, ticks):
    """`curves`: [{x: microseconds}]; points at 0 have no place on a logarithmic axis."""
    series = [(f"curve {number}", f"c{number}", [(x, y) for x, y in sorted(curve.items()) if x > 0 and y > 0]) for number, curve in enumerate(curves)]
    return charts.lines([one for one in series if one[2]], "us", us_text, lambda _, x: f"{x:g}", ticks)


def show_figure3(runs):
    rows = figure3(runs)
    parts = [charts.text(20, 30 + 20 * number, f"context {who} requests by {method}", "start") for number, (who, method) in enumerate(rows)]
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="300" height="70">{"".join(parts)}</svg>\n'
    return aligned([("context", "method"), *rows]), drawing


def show_figure4(runs):
    curves = figure4(runs)
    table = [("bytes", *(f"{name}: us" for name in curves), "TCP polls")]
    for size in SIZES:
        table.append((size, *(f"{curve[size][0]:.1f}" for curve in curves.values()), curves["Nexus, MPL and TCP"][size][1]))
    panels = [(title, curves_svg([{size: us for size, (us, _) in curve.items() if good(size)} for curve in curves.values()], ticks))
              for title, good, ticks in (("to 1000 bytes", lambda size: size <= 1000, (100, 200, 400, 1000)),
                                         ("all lengths", lambda size: True, (100, 1000, 10_000, 100_000)))]
    return aligned(table), picture("Figure 4: one-way time, us, against bytes", panels, list(curves))


def show_figure6(runs):
    by_size = figure6(runs)
    table = [("bytes", "skip_poll", "MPL us", "TCP us", "TCP trips", "TCP polls", "hits")]
    panels = []
    for size, rows in by_size.items():
        for skip, row in rows.items():
            table.append((size, skip, f"{row['fast_us']:.1f}", f"{row['slow_us']:.1f}", *(int(row[name]) for name in ("slow_trips", "polls", "hits"))))
        lines = [{int(skip): row[field] for skip, row in rows.items() if skip.isdigit()} for field in ("fast_us", "slow_us")]
        panels.append((f"{size} bytes", curves_svg(lines, (1, 10, 100, 1000, 10_000))))
    return aligned(table), picture("Figure 6: one-way time, us, against skip_poll", panels, ["MPL", "TCP"])


def show_table1(runs, scale):
    # A real run has few processors: three contexts, which sleep as computation.
    rows = table1(runs, 2, 3, 4, scale * 100) if runs.is_real else table1(runs, scale=scale)
    table = [("experiment", "s per step", "of it between models", f"paper / {scale}", "TCP polls", "hits")]
    for name, row in rows.items():
        paper = f"{PAPER[name] / scale:.4f}" if name in PAPER and not runs.is_real else "-"
        table.append((name, f"{row['step_s']:.4f}", f"{row['coupling_s']:.4f}", paper, int(row["polls"]), int(row["hits"])))
    line = {int(name): row["step_s"] * 1e6 for name, row in rows.items() if name.isdigit()}
    best = {skip: rows["selective"]["step_s"] * 1e6 for skip in line}
    drawing = picture("Table 1: time of a step, us, against skip_poll", [("coupled model", curves_svg([line, best], (1, 10, 100, 1000, 10_000)))],
                      ["skip_poll", "selective TCP"])
    return aligned(table), drawing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=("figure3", "figure4", "figure6", "table1"))
    parser.add_argument("--real", action="store_true", help="run on this computer, with fewer ranks")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), help="the folder of the build")
    parser.add_argument("--scale", type=int, default=SCALE, help="divide the paper's time step by this number (table1)")
    options = parser.parse_args()
    if not 1 <= options.scale <= 6000:
        parser.error("--scale: use 1 to 6000")
    runs = Runs(options.build, options.real)
    show = {"figure3": show_figure3, "figure4": show_figure4, "figure6": show_figure6}
    table, drawing = show_table1(runs, options.scale) if options.experiment == "table1" else show[options.experiment](runs)
    print(table, end="")
    folder = ROOT / "build" / "nexus_results"
    folder.mkdir(parents=True, exist_ok=True)
    name = options.experiment + ("_real" if options.real else "")
    (folder / f"{name}.txt").write_text(table, encoding="utf-8")
    (folder / f"{name}.svg").write_text(drawing, encoding="utf-8")
    print(f"written: {folder}/{name}.txt, {name}.svg")


if __name__ == "__main__":
    main()
