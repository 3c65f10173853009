"""The table of a result, as text. Pure."""
from peers import judge, runs

TITLES = {
    "latency": "latency, one way", "bandwidth": "bandwidth, one direction", "both": "bandwidth, both directions",
    "rate_plain": "message rate, window of 64", "rate_late": "message rate, unexpected",
    "rate_wildcards": "message rate, wildcards", "rate_persistent": "message rate, persistent requests",
    "front": "latency of 8 B behind N posted receives", "in_order": "N posted, first matched first, a message",
    "last_first": "N posted, last matched first, a message", "vector8": "vector of 8-byte blocks, one way",
    "vector64": "vector of 64-byte blocks, one way", "barrier": "barrier", "allreduce": "allreduce of 8 bytes",
    "start_end": "start and end", "resident": "memory of an idle rank, resident",
    "proportional": "memory of an idle rank, shared pages divided", "peak": "memory of an idle rank, most resident", "cache_line": "one cache line that both write, one way",
    "two_lines": "a cache line for each direction, one way",
    "copy_read": "body read out of the sender's memory, one way", "copy_shared": "the same, each side copies a half, one way",
    "copy_stream_read": "bodies read out of the sender's memory, stream",
    "copy_stream_shared": "the same, each side copies every other body, stream",
    "copy_both": "each side reads the other's bodies, both directions", "barrier_flags": "barrier of a flag for each process",
    "barrier_counter": "barrier of one counter", "allreduce_flags": "sum of 8 bytes beside a flag for each process",
    "allreduce_counter": "sum of 8 bytes beside one counter", "overlap_blocking": "allreduce alone, beside which",
    "overlap_computation": "computation, as long, alone", "overlap_wait": "nonblocking allreduce beside computation, MPI_Wait",
    "overlap_test": "nonblocking allreduce beside computation, some MPI_Test",
    "overlap_wait_of_longer": "beside computation with MPI_Wait, of the longer alone",
    "overlap_test_of_longer": "beside computation with some MPI_Test, of the longer alone",
    "overlap_wait_of_sum": "beside computation with MPI_Wait, of both one after the other",
    "overlap_test_of_sum": "beside computation with some MPI_Test, of both one after the other", "tcp_window": "raw TCP, 64 messages in a write and an answer",
    "many": "message rate, each rank to all others, 8 B", "first": "first long body to each of 2 ranks",
    "in_parts": "the same bytes later, in bodies of 16 MiB", "memcpy": "memcpy", "cells": "cells of a cache line, stream",
    "ring_copy": "ring of 128 KiB, two copies, in chunks", "tcp_latency": "raw TCP over loopback, one way", "tcp_stream": "raw TCP over loopback, stream",
}
TITLES |= {
    "connect_halves": "connection between the halves of a job, and its end", "connect_jobs": "connection between two jobs, and its end",
    "between_jobs_latency": "latency between two jobs, one way", "between_jobs_bandwidth": "bandwidth between two jobs, one direction",
    "start": "processes started (posix_spawn), until they have connected", "start_cycle": "the same, until they have ended",
    "connect_sleep": "raw TCP connection over loopback, with a message each way", "connect_poll": "the same, both sides polling",
    **{f"{case}_{ranks}": f"MPI_Comm_spawn by {ranks} rank{'s' if ranks > 1 else ''}{end}" for ranks in runs.SPAWN_RANKS
       for case, end in (("spawn", ""), ("spawn_cycle", ", until the children have ended"))},
    "start_end_places": "start and end of 2 ranks, by places", "resident_places": "memory of an idle rank by places, resident, whole",
    "proportional_places": "memory of an idle rank by places, shared pages divided", "peak_places": "memory of an idle rank by places, most resident",
}
OF_CHILDREN = ("start", "start_cycle", *(f"{case}_{ranks}" for case in ("spawn", "spawn_cycle") for ranks in runs.SPAWN_RANKS))
OF_RANKS = ("barrier", "allreduce", "start_end", "resident", "proportional", "peak", "many", "barrier_flags", "barrier_counter", "allreduce_flags",
            "allreduce_counter", "connect_halves", "connect_jobs")
MEMORY = ("resident", "proportional", "peak")
OF_RECEIVES = ("front", "in_order", "last_first")
WIRE_TITLES = {"shm": "shared memory", "tcp": "TCP over loopback"}


WAY_TITLES = {"segment": "through a segment", "direct": "from buffer to buffer"}


WINDOW_TITLES = {"allocated": "allocated window", "created": "created window", "memory": "memory that both have mapped",
                 "system": "the system copies between processes"}
WINDOW_NAMES = {
    "put": "put and flush", "get": "get and flush", "accumulate": "accumulate and flush", "fetch_and_op": "fetch-and-op and flush",
    "compare_and_swap": "compare-and-swap and flush", "fence": "put and fence", "groups": "post, start, put, complete, wait",
    "lock": "lock, put, unlock", "flush": "flush of nothing", "put_stream": "puts, stream", "get_stream": "gets, stream",
    "busy_put": "lock, put, unlock beside a target that computes for 100 ms",
    "busy_get": "lock, get, unlock beside a target that computes for 100 ms",
    "busy_accumulate": "lock, accumulate, unlock beside a target that computes for 100 ms",
    "calling_get": "lock, get, unlock beside a target that makes local calls for 100 ms",
    "calling_get_worst": "the worst of these"}


def title_of(case):
    """The readable name of an operation, a window or their limits: "reduce_scatter_8" is "reduce-scatter, 8 ranks"."""
    if case in TITLES:
        return TITLES[case]
    kind, _, access = case.partition("_")
    if kind in WINDOW_TITLES and access in WINDOW_NAMES:
        words = WINDOW_NAMES[access] if kind in runs.WINDOW_KINDS else access.replace("_", "-")
        return f"{WINDOW_TITLES[kind]}: {words}"
    name, _, count = case.rpartition("_")
    if not name or not count.isdigit():
        return case
    operation, _, way = name.rpartition("_")
    if way in WAY_TITLES:
        return f"{operation.replace('_', '-')}, {count} processes, {WAY_TITLES[way]}"
    return f"{name.replace('_', '-')}, {count} ranks"


def size_text(case, size):
    if case in OF_CHILDREN:
        return f"{size} started"
    if case.endswith("_places"):
        return "default" if size == runs.DEFAULT_PLACES else f"{size} places"
    if case in OF_RANKS:
        return f"{size} rank{'s' if size != 1 else ''}"
    if case in OF_RECEIVES:
        return f"N={size}"
    for unit, bytes_of in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_of and size % bytes_of == 0:
            return f"{size // bytes_of} {unit}"
    return f"{size} B"


def value_text(value, unit):
    """A figure with three or four digits and its unit, at a readable scale."""
    if value is None:
        return "-"
    for small, large in (("us", "ms"), ("ms", "s"), ("MB/s", "GB/s"), ("KiB", "MiB")):
        factor = 1024 if small == "KiB" else 1000
        if unit == small and abs(value) >= factor:
            value, unit = value / factor, large
    if unit == "msg/s":
        value, unit = value / 1e6, "M/s"
    digits = 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1 if abs(value) < 1000 else 0
    return f"{value:.{digits}f} {unit}"


def ratio_text(value):
    return "-" if value is None else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def aligned(rows):
    """Columns as wide as their widest cell; the first two to the left, the others to the right, the last free."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    def line(row):
        cells = [cell.ljust(width) if i < 1 or i >= len(row) - 2 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        return "  ".join(cells).rstrip()
    return [line(row) for row in rows]


HEAD = ("size", "margay", "MPICH", "Open MPI", "ratio", "/MPICH", "/Open MPI", "noise", "at best", "target", "")


def cells(row):
    return (size_text(row.case, row.size), *("fails" if stack in row.failed else value_text(row.medians.get(stack), row.unit)
                                             for stack in judge.NAMES if stack != "better"),
            ratio_text(row.ratio), *(ratio_text(judge.ratio(row.medians, peer, row.unit)) for peer in judge.PEERS),
            f"{100 * row.noise:.0f}%", "" if row.at_best is None else ratio_text(row.at_best), ", ".join(map(str, row.targets)), row.verdict)


def sections(rows):
    """[(title, rows)] in the order of first appearance."""
    found = {}
    for row in rows:
        wire = WIRE_TITLES.get(row.wire)
        title = title_of(row.case) + (f" ({wire})" if wire else "")
        found.setdefault(title, []).append(row)
    return list(found.items())


def quiet_text(quiet):
    text = f"{quiet['repeated_rounds']} rounds were repeated because something else ran"
    if quiet["disturbed_rounds"]:
        text = f"NOT A QUIET MACHINE: {quiet['disturbed_rounds']} rounds count although something else ran; {text}"
    return text


def heading(data):
    machine, versions = data["machine"], data["versions"]
    return [f"{data['date']}  commit {data['commit']}{', build as found' if data['build_as_found'] else ''}  {data['repeats']} repeats, medians",
            f"{machine['model']}, {machine['processors']} processors, Linux {machine['kernel']}"
            + (f", virtual ({machine['virtual']})" if machine["virtual"] != "no" else ""),
            "; ".join(text for text in versions.values() if text),
            quiet_text(data["quiet"]), *data.get("notes", [])]


def summary(rows):
    judged = [row for row in rows if row.targets]
    counts = {verdict: sum(row.verdict == verdict for row in judged) for verdict in ("met", "NOT MET", "no peer")}
    return (f"{len(judged)} rows have a target: {counts['met']} met, {counts['NOT MET']} not met, "
            f"{counts['no peer']} without a figure to compare with")


def limit_cells(limits):
    """(what, size, figure) of each limit, except memory, which is subtracted from the ranks' figures."""
    return [(title_of(limit["case"]), size_text(limit["case"], limit["size"]),
             value_text(judge.median(limit["samples"]["machine"]), limit["unit"]))
            for limit in limits if limit["case"] not in MEMORY]


LEGEND = ("ratio: margay divided by the better of the two peers. noise: quartile distance of the least quiet of the three.",
          "at best: what the ratio would be if margay were as fast as the machine's bound, a limit measured below (bench/bounds.md).")


def render(data):
    """The whole table of a result file's data."""
    rows = [judge.judge(result, data["limits"]) for result in data["results"]]
    lines = [*heading(data), ""]
    body = aligned([HEAD] + [cells(row) for row in rows]) if rows else []
    for title, members in sections(rows):
        # All sections have the same widths, so columns are aligned in the whole table.
        lines += [title, "  " + body[0]]
        for row in members:
            lines.append("  " + body[1 + rows.index(row)])
        lines.append("")
    if rows:
        lines += [*LEGEND, summary(rows), ""]
    if data["limits"]:
        lines.append("Limits of the machine, measured in the same run")
        lines += ["  " + line for line in aligned([(title, size, value, "", "") for title, size, value in limit_cells(data["limits"])])] + [""]
    for failure in data["failures"]:
        word = "" if failure["why"].startswith(judge.UNSUPPORTED) else "failed: "
        lines.append(f"{word}{judge.NAMES.get(failure['stack'], failure['stack'])}: {failure['run']}: {failure['why']}")
    return "\n".join(lines).rstrip() + "\n"
