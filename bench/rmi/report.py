"""Samples of experiments as text tables and as SVG pictures, beside what the paper printed. Pure."""
import html
from statistics import median, quantiles

from peers import charts, judge, table
from rmi.experiments import PROCESSES, TCP

COLOURS = ("#c2570c", "#1f6fb2", "#3b8a4d", "#8a4fae", "#b3261e", "#0f8b8d", "#a07c00", "#5b6472", "#d0579a", "#2b3a67")
PANEL_GAP, TITLE_HEIGHT, LEGEND_HEIGHT = 24, 30, 18
PANELS_OF_A_ROW = 3
NODE_TICKS = (1, 2, 4, 8, 16, 32)
PING_TICKS = (1, 10, 100, 1000, 10_000)
STYLE = """svg{background:#fff;color:#1d2430} text{font:11px sans-serif;fill:#5b6472} text.title{font-weight:bold;fill:#1d2430}
text.value{fill:#1d2430} .grid{stroke:#dfe3e8} .line{fill:none;stroke-width:2} .bar,.dot{stroke:none}"""


def quartiles(values):
    """The lower and the upper one."""
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low, high


def medians(points):
    return {x: median(values) for x, values in points.items()}


def aligned(rows):
    """The first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows]


def time_text(microseconds):
    return table.value_text(microseconds, "us")


def cell(values):
    return f"{time_text(median(values))} ±{100 * judge.noise(values):.0f}%" if values else "-"


def nodes_text(nodes, processors):
    return f"{nodes}{' crowded' if nodes > processors else ''}"


def best(of_panel, prefix, x):
    """(series, median) of the fastest series with this prefix at x, or None."""
    found = [(median(points[x]), name) for name, points in of_panel.items() if name.startswith(prefix) and x in points]
    return (min(found)[1], min(found)[0]) if found else None


def crossing(of_panel, explicit):
    """The least number of pings from which on the best aggregation factor is faster than the explicit series; None: never."""
    found = None
    for x in sorted(of_panel[explicit], reverse=True):
        if best(of_panel, "factor", x)[1] >= median(of_panel[explicit][x]):
            break
        found = x
    return found


def x_table(of_panel, head, x_text, series_cell):
    """A row for each x, a column for each series."""
    xs = sorted({x for points in of_panel.values() for x in points})
    return aligned([[head, *of_panel]] + [[x_text(x), *(series_cell(points, x) for points in of_panel.values())] for x in xs])


def latency_text(panels, paper, _processors):
    head = ["", "explicit", "async_rmi", "sync_rmi", "async/explicit", "sync/explicit"]
    rows = [head]
    for panel, of_panel in panels.items():
        explicit, asynchronous, synchronous = (points[1] for points in of_panel.values())
        rows.append([panel, cell(explicit), cell(asynchronous), cell(synchronous),
                     *(f"{median(ours) / median(explicit):.2f}" for ours in (asynchronous, synchronous))])
    for name, explicit, asynchronous, synchronous in paper:
        rows.append([f"paper: {name}", *(f"{value} us" for value in (explicit, asynchronous, synchronous)),
                     *(f"{ours / explicit:.2f}" for ours in (asynchronous, synchronous))])
    return aligned(rows)


def pings_text(panels, paper, _processors):
    lines = []
    for panel, of_panel in panels.items():
        lines += [panel, *x_table(of_panel, "pings", str, lambda points, x: time_text(median(points[x])))]
        for explicit in (name for name in of_panel if not name.startswith("factor")):
            at, most = crossing(of_panel, explicit), max(of_panel[explicit])
            name, ours = best(of_panel, "factor", most)
            lines.append(f"RMI beside {explicit}: " + (f"faster from {at} pings on" if at else "slower for the most pings")
                         + f"; {median(of_panel[explicit][most]) / ours:.2f}-fold at {most} pings by {name}")
        lines.append("")
    return lines + [f"paper: {sentence}" for sentence in paper]


def fences_text(panels, paper, processors):
    lines = []
    for panel, of_panel in panels.items():
        lines += [panel, *x_table(of_panel, "nodes", lambda x: nodes_text(x, processors), lambda points, x: cell(points.get(x)))]
        barriers = [name for name in of_panel if not name.startswith("fence")]
        for x in sorted(of_panel[barriers[0]]):
            name, ours = best(of_panel, "fence", x)
            ratios = ", ".join(f"{ours / median(of_panel[barrier][x]):.2f} of {barrier}" for barrier in barriers)
            lines.append(f"{nodes_text(x, processors)} nodes: {name} is the fastest, {ratios}")
        lines.append("")
    return lines + [f"paper: {sentence}" for sentence in paper]


def node_tables(panels, processors, series_cell):
    """A table of nodes for each panel."""
    lines = []
    for panel, of_panel in panels.items():
        lines += [panel, *x_table(of_panel, "nodes", lambda x: nodes_text(x, processors), series_cell), ""]
    return lines


def sort_text(panels, paper, processors):
    lines = node_tables(panels, processors, lambda points, x: cell(points.get(x)))
    return lines + [f"paper: {sentence}" for sentence in paper]


def speedups(panels):
    """Each series divided by its figure on one node, which is that of the processes where a wire needs two nodes."""
    found = {}
    for panel, of_panel in panels.items():
        for series, points in of_panel.items():
            alone = points if 1 in points else panels.get(panel.replace(TCP.title, PROCESSES.title), {}).get(series, {})
            if 1 in alone:
                of_one = median(alone[1])
                found.setdefault(panel, {})[series] = {x: [of_one / value for value in values] for x, values in points.items()}
    return found


def speedup_text(panels, paper, processors):
    lines = node_tables(speedups(panels), processors, lambda points, x: f"{median(points[x]):.2f}" if x in points else "-")
    return lines + [f"paper: {sentence}" for sentence in paper]


def is_significant(ours, theirs):
    """Whether the middle halves of the samples do not overlap."""
    (low, high), (other_low, other_high) = quartiles(ours), quartiles(theirs)
    return high < other_low or other_high < low


def product_text(panels, paper, processors):
    """`paper`: {nodes: (explicit, STAPL)} in seconds, on the Origin 3800."""
    lines = []
    for panel, of_panel in panels.items():
        explicit, ours = of_panel.values()
        rows = [["nodes", "explicit", "p_inner_product", "ratio", "significant", "paper's ratio (O3800)"]]
        for x in sorted(explicit):
            rows.append([nodes_text(x, processors), cell(explicit[x]), cell(ours[x]), f"{median(ours[x]) / median(explicit[x]):.3f}",
                         "yes" if is_significant(ours[x], explicit[x]) else "no",
                         f"{paper[x][1] / paper[x][0]:.3f}" if x in paper else "-"])
        lines += [panel, *aligned(rows), ""]
    return lines


def names_of(panels):
    return list(dict.fromkeys(series for of_panel in panels.values() for series in of_panel))


def style_of(names):
    """A colour for each series, by the classes k0, k1, ...; the explicit programs are dashed."""
    rules = [STYLE]
    for number, name in enumerate(names):
        colour = COLOURS[number % len(COLOURS)]
        rules.append(f".line.k{number}{{stroke:{colour}}} .dot.k{number},.bar.k{number}{{fill:{colour}}}")
        if not name.startswith(("factor", "fence", "p_", "async", "sync")):
            rules.append(f".line.k{number}{{stroke-dasharray:5 4}}")
    return "\n".join(rules)


def picture(title, names, drawn):
    """`drawn`: [(panel's title, SVG of bench/peers/charts.py, its height)], in rows above a legend."""
    columns = min(len(drawn), PANELS_OF_A_ROW)
    parts = [charts.text(8, 18, title, "start", "title")]
    top = TITLE_HEIGHT
    for begin in range(0, len(drawn), columns):
        row = drawn[begin:begin + columns]
        for column, (panel, svg, height) in enumerate(row):
            left = column * (charts.WIDTH + PANEL_GAP)
            parts.append(charts.text(left + 8, top + 16, panel, "start"))
            place = f'<svg overflow="visible" x="{left}" y="{top + TITLE_HEIGHT - 6}" width="{charts.WIDTH}" height="{height}" '
            parts.append(svg.replace("<svg ", place, 1))
        top += TITLE_HEIGHT + max(height for _, _, height in row)
    for number, name in enumerate(names):
        y = top + 14 + LEGEND_HEIGHT * number
        parts.append(f'<line class="line k{number}" x1="8" x2="40" y1="{y - 4}" y2="{y - 4}"/>')
        parts.append(charts.text(48, y, name, "start", "value"))
    width, height = columns * (charts.WIDTH + PANEL_GAP), top + 14 + LEGEND_HEIGHT * len(names)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
            f"<title>{html.escape(title)}</title><style>{style_of(names)}</style>{''.join(parts)}</svg>\n")


def line_picture(title, panels, ticks, unit="us", x_text=str):
    names = names_of(panels)
    drawn = []
    for panel, of_panel in panels.items():
        series = [(name, f"k{names.index(name)}", sorted(medians(points).items())) for name, points in of_panel.items()]
        svg = charts.lines(series, unit, table.value_text, lambda _, x: x_text(x), ticks)
        drawn.append((panel, svg, charts.HEIGHT))
    return picture(title, names, drawn)


def bar_picture(title, panels, group_text):
    names = names_of(panels)
    drawn = []
    for panel, of_panel in panels.items():
        groups = []
        for x in sorted({x for points in of_panel.values() for x in points}):
            bars = [(name, f"k{names.index(name)}", median(points[x]), time_text(median(points[x])))
                    for name, points in of_panel.items() if x in points]
            groups.append((group_text(x), bars))
        drawn.append((panel, charts.bars(groups), charts.bars_height(groups)))
    return picture(title, names, drawn)
