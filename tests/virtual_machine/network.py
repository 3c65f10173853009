#!/usr/bin/env python3
"""The loads of the network in the trace of a simulated run: network.json, and its part in the page of `margay trace view`.

    tests/virtual_machine/network.py --build build/release
"""
import argparse
import base64
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "mpi"))
import support  # noqa: E402

RANKS = 16
BYTES = 100_000
LINK, INJECTION, EJECTION = range(3)
CAPACITY_OFFSET = 56  # docs/trace_format.md

# All ranks send to rank 0 at once, so that messages wait for the links to its node. With an argument, rank 0 then waits for a message
# that is never sent.
PROGRAM = f"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {{
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char *body = calloc({BYTES}, 1);
  if (rank > 0) MPI_Send(body, {BYTES}, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  else for (int i = 1; i < size; i++) MPI_Recv(body, {BYTES}, MPI_CHAR, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0 && argc > 1) MPI_Recv(body, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(body);
  return MPI_Finalize();
}}
"""


class Case:
    def __init__(self, build, folder):
        self.margay = build.folder / "bin" / "margay"
        self.folder = pathlib.Path(folder)
        self.failures = []
        source = self.folder / "to_root.c"
        source.write_text(PROGRAM)
        self.program = self.folder / "to_root"
        subprocess.run([build.folder / "bin" / "mpicc", "-O1", "-o", self.program, source], check=True)

    def check(self, what, good, shown=""):
        if not good:
            self.failures.append(f"{what}: {shown}"[:2000])

    def simulate(self, name, *arguments, ranks=RANKS, machine="paragon", status=0, **environment):
        trace = self.folder / name
        done = subprocess.run([self.margay, "simulate", "-n", str(ranks), "--machine", machine, "--compute", "none", "--trace", trace, self.program, *arguments],
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
        self.check(f"{name}: exit status", done.returncode == status, f"{done.returncode}\n{done.stderr}")
        return trace

    def view(self, trace):
        page = self.folder / "page.html"
        done = subprocess.run([self.margay, "trace", "view", trace, "-o", page], capture_output=True, text=True, timeout=120)
        return done, page.read_text() if done.returncode == 0 else ""


def sums(file, kind, quantity):
    channels, loads = file["channels"], file["loads"]
    return sum(value for channel, value in zip(loads["channel"], loads[quantity]) if channels["kind"][channel] == kind)


def loads_are_right(case):
    file = json.loads((case.simulate("mesh") / "network.json").read_text())
    network, channels, loads = file["networks"][0], file["channels"], file["loads"]
    case.check("topology", network["topology"] == "mesh" and network["switches"] == network["shape"][0] * network["shape"][1], network)
    columns, rows = network["shape"]
    case.check("links", channels["kind"].count(LINK) == 2 * (rows * (columns - 1) + columns * (rows - 1)), channels["kind"].count(LINK))
    # A body crosses a port out and a port in.
    sent, received = sums(file, INJECTION, "bytes"), sums(file, EJECTION, "bytes")
    case.check("bytes of the ports", sent == received >= BYTES * (RANKS - 1), (sent, received))
    into_root = [channel for channel, (kind, to) in enumerate(zip(channels["kind"], channels["to"])) if kind == EJECTION and to == 0]
    case.check("one port into the root", len(into_root) == 1, into_root)
    bytes_into_root = sum(value for channel, value in zip(loads["channel"], loads["bytes"]) if channel in into_root)
    case.check("bytes into the root", bytes_into_root >= BYTES * (RANKS - 1), bytes_into_root)
    case.check("no channel is busier than time allows", all(busy <= file["bucket_ns"] for busy in loads["busy_ns"]), max(loads["busy_ns"]))
    case.check("messages waited on the way to the root", sums(file, LINK, "blocked_ns") > BYTES, sums(file, LINK, "blocked_ns"))
    case.check("several at a time", max(channels["most_at_once"]) > 1, channels["most_at_once"])


def a_deadlock_has_its_loads(case):
    trace = case.simulate("deadlock", "wait", status=1)
    file = json.loads((trace / "network.json").read_text())
    case.check("bytes", sums(file, EJECTION, "bytes") >= BYTES * (RANKS - 1))


def one_node_has_no_network(case):
    file = json.loads((case.simulate("node", ranks=1) / "network.json").read_text())
    case.check("channels", file["channels"]["network"] == [], file["channels"])


def the_page_has_the_loads(case):
    trace = case.simulate("viewed")
    done, page = case.view(trace)
    case.check("trace view", done.returncode == 0, done.stderr)
    head = json.loads(re.search(r'id="margay-head">(.*)</script>', page).group(1))
    blob = re.search(f'id="margay-blob-{head["network"]["blob"]}">([^<]*)<', page).group(1)
    case.check("text", gzip.decompress(base64.b64decode(blob)) == (trace / "network.json").read_bytes())
    begin = json.loads((trace / "network.json").read_text())["begin_ns"]
    case.check("the clock of the events", 0 <= head["network"]["first_event_ns"] - begin < 1e9, head["network"])


def a_damaged_file_is_an_error(case):
    trace = case.simulate("damaged")
    text = (trace / "network.json").read_text()
    (trace / "network.json").write_text(text[:-1])
    done, _ = case.view(trace)
    case.check("exit status and message", done.returncode != 0 and "network.json" in done.stderr, done.stderr)
    (trace / "network.json").unlink()
    done, page = case.view(trace)
    case.check("without the file", done.returncode == 0 and '"first_event_ns"' not in page, done.stderr)


def capacity_of(trace):
    with open(trace / "rank_00000.trace", "rb") as file:
        return struct.unpack_from("<Q", file.read(CAPACITY_OFFSET + 8), CAPACITY_OFFSET)[0]


def many_ranks_have_small_files(case):
    trace = case.simulate("many", ranks=300)
    case.check("events of a ring", capacity_of(trace) == 32768, capacity_of(trace))
    chosen = case.simulate("chosen", MARGAY_TRACE_EVENTS="1k")
    case.check("events as chosen", capacity_of(chosen) == 1024, capacity_of(chosen))
    on_disk = [file.stat().st_blocks * 512 for file in trace.glob("rank_*.trace")]
    case.check("the space of unused parts", len(on_disk) == 300 and sum(on_disk) < 300 * (1 << 18), sum(on_disk))


CASES = (loads_are_right, a_deadlock_has_its_loads, one_node_has_no_network, the_page_has_the_loads, a_damaged_file_is_an_error, many_ranks_have_small_files)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        case = Case(support.Build(options.build), folder)
        for test in CASES:
            test(case)
    for failure in case.failures:
        print(failure, file=sys.stderr)
    print(f"{len(case.failures)} failures")
    return 1 if case.failures else 0


if __name__ == "__main__":
    sys.exit(main())
