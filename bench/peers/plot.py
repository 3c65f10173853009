"""A result as one self-contained HTML page with inline SVG. Pure."""
import html

from peers import charts, judge, table

STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6472; --grid: #dfe3e8; --paper: #ffffff; --panel: #f7f8fa;
        --margay: #c2570c; --mpich: #1f6fb2; --openmpi: #3b8a4d; --limit: #7a8290; --good: #2c7a3f; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #a3acb9; --grid: #333b47; --paper: #14181f; --panel: #1b212a;
          --margay: #ff9d4d; --mpich: #6cb4f0; --openmpi: #74cf8a; --limit: #98a1af; --good: #74cf8a; --bad: #ff8a80; } }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
       font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } p.where { color: var(--soft); margin: .2rem 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1rem; }
figure { margin: 0; background: var(--panel); border-radius: .5rem; padding: .75rem; }
figcaption { font-weight: 600; margin-bottom: .25rem; }
svg { width: 100%; height: auto; display: block; } svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
svg text.value { fill: var(--ink); } .grid { stroke: var(--grid); stroke-width: 1; }
.line { fill: none; stroke-width: 2; } .line.limit { stroke-dasharray: 5 4; stroke-width: 1.5; }
.margay { stroke: var(--margay); } .mpich { stroke: var(--mpich); } .openmpi { stroke: var(--openmpi); }
.limit { stroke: var(--limit); }
.dot.margay, .bar.margay { fill: var(--margay); } .dot.mpich, .bar.mpich { fill: var(--mpich); }
.dot.openmpi, .bar.openmpi { fill: var(--openmpi); } .dot.limit { fill: var(--limit); } .bar, .dot { stroke: none; }
.legend { color: var(--soft); } .legend b { display: inline-block; width: 1.6em; height: 0; border-top: 3px solid; vertical-align: middle;
          margin: 0 .3em 0 1em; } .legend b.margay { border-color: var(--margay); } .legend b.mpich { border-color: var(--mpich); }
.legend b.openmpi { border-color: var(--openmpi); } .legend b.limit { border-color: var(--limit); border-top-style: dashed; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
td, th { padding: .15rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--grid); }
td:first-child, th:first-child, td.text { text-align: left; } tr.section td { font-weight: 600; padding-top: 1rem; }
.met { color: var(--good); } .not { color: var(--bad); font-weight: 600; }
"""

# Title, wire, case, limits of the chart.
LINES = (
    ("Latency, shared memory", "shm", "latency", ("copy_read", "copy_shared")),
    ("Latency, TCP over loopback", "tcp", "latency", ("tcp_latency",)),
    ("Bandwidth, one direction, shared memory", "shm", "bandwidth", ("memcpy", "copy_stream_shared")),
    ("Bandwidth, one direction, TCP over loopback", "tcp", "bandwidth", ("tcp_stream",)),
    ("Bandwidth, both directions, shared memory", "shm", "both", ("memcpy", "copy_both")),
    ("Bandwidth, both directions, TCP over loopback", "tcp", "both", ("tcp_stream",)),
    ("Vector of 8-byte blocks, shared memory", "shm", "vector8", ()),
    ("Vector of 64-byte blocks, shared memory", "shm", "vector64", ()),
    *((f"{name.capitalize()}, {ranks} ranks, shared memory", "shm", f"{name}_{ranks}",
       (f"{name}_segment_{ranks}", f"{name}_direct_{ranks}"))
      for name in ("allreduce", "bcast", "allgather", "alltoall") for ranks in (2, 8)),
)
# Title, wire, cases.
BARS = (
    ("Message rate, 8 bytes, shared memory", "shm", ("rate_plain", "rate_late", "rate_wildcards", "rate_persistent")),
    ("Message rate, 8 bytes, TCP over loopback", "tcp", ("rate_plain", "rate_late", "rate_wildcards", "rate_persistent")),
    ("N receives posted, shared memory", "shm", ("front", "in_order", "last_first")),
    ("N receives posted, TCP over loopback", "tcp", ("front", "in_order", "last_first")),
    ("Barrier, shared memory", "shm", ("barrier",)),
    ("Allreduce of 8 bytes, shared memory", "shm", ("allreduce",)),
    ("Barrier, TCP over loopback", "tcp", ("barrier",)),
    ("Allreduce of 8 bytes, TCP over loopback", "tcp", ("allreduce",)),
    ("Allreduce of 1 MiB beside computation, shared memory", "shm",
     ("overlap_blocking", "overlap_computation", "overlap_wait", "overlap_test")),
    ("Each rank to all others, 8 bytes, shared memory", "shm", ("many",)),
    ("Each rank to all others, 8 bytes, TCP over loopback", "tcp", ("many",)),
    ("Start and end, shared memory", "shm", ("start_end",)),
    ("MPI_Comm_spawn by 1 rank", "dynamic", ("spawn_1", "spawn_cycle_1")),
    ("MPI_Comm_spawn by 2 ranks", "dynamic", ("spawn_2", "spawn_cycle_2")),
    ("Connection and its end", "dynamic", ("connect_halves", "connect_jobs")),
    ("Memory of an idle rank beyond a bare C program", "shm", ("resident", "proportional")),
)
STACKS = ("margay", *judge.PEERS)
SHORT = {"rate_plain": "plain", "rate_late": "unexpected", "rate_wildcards": "wildcards", "rate_persistent": "persistent",
         "front": "ping", "in_order": "first first", "last_first": "last first", "resident": "resident",
         "proportional": "divided", "overlap_blocking": "blocking", "overlap_computation": "computation",
         "overlap_wait": "both, Wait", "overlap_test": "both, Test"}


def line_chart(rows, limits, title, wire, case, drawn):
    members = [row for row in rows if (row.wire, row.case) == (wire, case) and row.size > 0]
    if not members:
        return ""
    unit = members[0].unit
    series = [(judge.NAMES[stack], stack, [(row.size, row.medians[stack]) for row in members if stack in row.medians])
              for stack in STACKS]
    for limit in drawn:
        points = [(entry["size"], judge.median(entry["samples"]["machine"])) for entry in limits if entry["case"] == limit]
        series.append((table.title_of(limit), "limit", sorted(points)))
    flat = {"latency": "two_lines", "bandwidth": "ring_copy", "both": "ring_copy"}.get(case) if wire == "shm" else None
    levels = [judge.median(entry["samples"]["machine"]) for entry in limits if entry["case"] == flat]
    if levels:
        series.append((table.TITLES[flat], "limit", [(row.size, max(levels)) for row in members]))
    return figure(title, charts.lines([entry for entry in series if entry[2]], unit, table.value_text, table.size_text))


def bar_chart(rows, title, wire, cases):
    members = [row for row in rows if row.wire == wire and row.case in cases]
    if not members:
        return ""
    groups = []
    for row in members:
        words = [SHORT.get(row.case, ""), "" if row.case.startswith(("rate", "overlap")) else table.size_text(row.case, row.size)]
        groups.append((" ".join(word for word in words if word),
                       [(judge.NAMES[stack], stack, row.medians.get(stack), table.value_text(row.medians.get(stack), row.unit))
                        for stack in STACKS]))
    return figure(title, charts.bars(groups))


def figure(title, svg):
    return f"<figure><figcaption>{html.escape(title)}</figcaption>{svg}</figure>"


def legend():
    names = [(stack, judge.NAMES[stack]) for stack in STACKS] + [("limit", "limit of the machine")]
    return '<p class="legend">' + "".join(f'<b class="{kind}"></b>{name}' for kind, name in names) + "; all axes are logarithmic</p>"


def html_table(rows):
    lines = ["<tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in table.HEAD) + "</tr>"]
    for title, members in table.sections(rows):
        lines.append(f'<tr class="section"><td colspan="{len(table.HEAD)}">{html.escape(title)}</td></tr>')
        for row in members:
            cells = [html.escape(cell) for cell in table.cells(row)]
            kind = {"met": "met", "NOT MET": "not"}.get(row.verdict, "")
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells[:-2])
                         + f'<td class="text">{cells[-2]}</td><td class="text {kind}">{cells[-1]}</td></tr>')
    return '<div class="wide"><table>' + "\n".join(lines) + "</table></div>"


def limits_table(limits):
    if not limits:
        return ""
    lines = ["<tr><th>what</th><th>size</th><th>figure</th></tr>"]
    lines += ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>" for cells in table.limit_cells(limits)]
    return ('<h2>Limits of the machine, measured in the same run</h2><div class="wide"><table>' + "\n".join(lines)
            + "</table></div>")


def page(data):
    """The whole page."""
    rows = [judge.judge(result, data["limits"]) for result in data["results"]]
    drawn = [line_chart(rows, data["limits"], *entry) for entry in LINES] + [bar_chart(rows, *entry) for entry in BARS]
    where = "".join(f'<p class="where">{html.escape(line)}</p>' for line in table.heading(data))
    failures = "".join(f"<li>{html.escape(judge.NAMES.get(entry['stack'], entry['stack']))}: {html.escape(entry['run'])}: "
                       f"{html.escape(entry['why'])}</li>" for entry in data["failures"])
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>margay, MPICH and Open MPI</title><style>{STYLE}</style></head><body>"
            f"<h1>margay, MPICH and Open MPI, side by side</h1>{where}<p>{html.escape(table.summary(rows))}.</p>{legend()}"
            f'<div class="charts">{"".join(drawn)}</div><h2>All figures</h2>{html_table(rows)}'
            + "".join(f'<p class="where">{html.escape(line)}</p>' for line in table.LEGEND) + limits_table(data["limits"])
            + (f"<h2>Failed</h2><ul>{failures}</ul>" if failures else "") + "</body></html>\n")
