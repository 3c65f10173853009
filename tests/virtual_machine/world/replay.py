#!/usr/bin/env python3
"""Replays of recorded runs on other machines (`margay simulate --replay`).

    tests/virtual_machine/world/replay.py --build build/release            all cases
    tests/virtual_machine/world/replay.py --build build/release recorded   one of them
"""
import argparse
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
IMAGE = ROOT / "examples" / "data" / "heat_start.pgm"
# Virtual times of runs, replayed and direct, that must be near to each other.
NEAR = 0.05
# The machines' own choices, of which a replay keeps the recorded ones.
SAME_CHOICES = ("--set", "short_limit=4k", "--set", "collective=allreduce=exchange,bcast=tree,barrier=tree")

# Receives are posted before messages are sent, and messages arrive in calls that do not need them.
EXCHANGE = r"""#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = atoi(argv[1]);
  char *in = calloc(4, bytes), *out = calloc(4, bytes);
  for (int round = 0; round < 20; ++round) {
    MPI_Request requests[8];
    int count = 0;
    for (int i = 1; i <= 4; ++i) MPI_Irecv(in + (i - 1) * bytes, bytes, MPI_CHAR, (rank + i) % size, i, MPI_COMM_WORLD, &requests[count++]);
    for (int i = 1; i <= 4; ++i) MPI_Isend(out + (i - 1) * bytes, bytes, MPI_CHAR, (rank + 4 * size - i) % size, i, MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    double mine = rank, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


class Runs:
    def __init__(self, build, folder):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.folder = pathlib.Path(folder)
        self.failures = []
        self.times = self.compile("times", PROGRAMS / "times.c")
        self.heat = self.compile("heat2d", ROOT / "examples" / "heat2d.c")
        self.sort = self.compile("sample_sort", ROOT / "examples" / "sample_sort.c")
        source = self.folder / "exchange.c"
        source.write_text(EXCHANGE, encoding="utf-8")
        self.exchange = self.compile("exchange", source)
        # Name, ranks, and the command.
        self.programs = (("ping_pong", 2, (self.times, "ping_pong")),
                         ("bandwidth", 2, (self.times, "bandwidth")),
                         ("heat2d", 8, (self.heat, "--input", IMAGE, "--output", self.folder / "heat.ppm")),
                         ("exchange", 6, (self.exchange, 100)),
                         ("exchange_long", 6, (self.exchange, 100_000)))

    def compile(self, name, source):
        target = self.folder / name
        subprocess.run([self.bin / "mpicc", "-O1", "-w", "-o", target, source, "-lm"], check=True)
        return target

    def check(self, what, good, shown=""):
        if not good:
            self.failures.append(f"{what}: {shown}"[:3000])

    def margay(self, *arguments, **environment):
        return subprocess.run([self.bin / "margay", *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                              cwd=self.folder, env={**os.environ, **environment})

    def expect(self, what, done, status=0, *parts):
        text = done.stdout + done.stderr
        self.check(what, done.returncode == status and all(part in text for part in parts), f"exit status {done.returncode}, not {status}\n{text}")

    def trace(self, name):
        """A new folder's name."""
        path = self.folder / f"{name}.trace"
        shutil.rmtree(path, ignore_errors=True)
        return path

    def record(self, name, ranks, command, *options):
        """The trace of a real run."""
        trace = self.trace(name)
        self.expect(name, self.margay("run", "-n", ranks, *options, "--trace", trace, *command))
        return trace

    def report(self, what, *arguments):
        path = self.folder / "report.json"
        path.unlink(missing_ok=True)
        done = self.margay("simulate", "--report", path, *arguments)
        if done.returncode != 0:
            sys.exit(f"{what}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(path.read_text(encoding="utf-8"))

    def replay(self, trace, *arguments):
        return self.report(f"replay of {trace.name} {arguments}", "--replay", trace, *arguments)

    def simulate(self, ranks, machine, command, *options):
        return self.report(f"{command}", "-n", ranks, "--machine", machine, "--compute", "calls=10us", *SAME_CHOICES, *options, *command)

    def near(self, what, one, other, most=NEAR):
        self.check(what, abs(one / other - 1) <= most, f"{one} and {other}, ratio {one / other:.4f}")


def recorded(runs):
    """Real runs are replayed: with collective calls by shared memory and by messages, inside a node and between nodes."""
    for name, ranks, command, *options in (("heat2d", 4, runs.programs[2][2]),
                                           ("heat2d_nodes", 4, runs.programs[2][2], "--nodes", 2),
                                           ("heat2d_rendezvous", 4, runs.programs[2][2], "--protocol", "long=rendezvous"),
                                           ("sample_sort", 4, (runs.sort,)),
                                           ("exchange", 4, (runs.exchange, 2000))):
        trace = runs.record(name, ranks, command, *options)
        ideal = runs.replay(trace)
        slow = runs.replay(trace, "--machine", "paragon")
        slower = runs.replay(trace, "--machine", "paragon", "--set", "latency=10ms")
        runs.check(f"{name}, a report repeats", slow == runs.replay(trace, "--machine", "paragon"), str(slow))
        runs.check(f"{name}, report", slow["replay"] == str(trace) and slow["ranks"] == ranks and slow["exit_status"] == 0 and slow["recorded_ns"] > 0, str(slow))
        runs.check(f"{name}, order of times", ideal["virtual_ns"] < slow["virtual_ns"] < slower["virtual_ns"], f"{ideal}\n{slow}\n{slower}")
        runs.check(f"{name}, messages", ideal["messages"] == slow["messages"] > 0 and ideal["bytes"] == slow["bytes"], f"{ideal}\n{slow}")
        # On this machine messages take no time, so the time is a sum of computations.
        runs.near(f"{name}, computations", runs.replay(trace, "--cpu-scale", 1000)["virtual_ns"], 1000 * ideal["virtual_ns"], 0.001)
    by_memory, by_messages = (runs.replay(runs.record("exchange", 4, (runs.exchange, 100), "--collective", f"allreduce={how}")) for how in ("shared", "tree"))
    runs.check("shared memory becomes a tree", by_memory["messages"] == by_messages["messages"] > 20 * (4 * 4 + 2 * 3), f"{by_memory}\n{by_messages}")


def simulated(runs):
    """The replay of a simulated run takes the time of that run, and on another machine the time of the run there. On one
    node, messages arrive in calls that do not need them."""
    for machine, programs in (("paragon", runs.programs), ("loopback", runs.programs[:4])):
        replays(runs, machine, programs)


def replays(runs, recorded_on, programs):
    for name, ranks, command in programs:
        for options in ((), ("--set", "protocol=long=rendezvous")):
            trace = runs.trace("recorded")
            runs.simulate(ranks, recorded_on, command, "--trace", trace, *options)
            for machine in ("paragon", "asci-red", "sp2"):
                direct = runs.simulate(ranks, machine, command, *options)
                replayed = runs.replay(trace, "--machine", machine)
                runs.near(f"{name} {options}, of {recorded_on} on {machine}", replayed["virtual_ns"], direct["virtual_ns"])


def traces(runs):
    """The trace of a replay has the recorded events, and its own replay takes the same time."""
    for name, ranks, command in runs.programs[2:4]:
        original = runs.record("recorded", ranks, command)
        replayed = runs.trace("replayed")
        first = runs.replay(original, "--machine", "paragon", "--trace", replayed)
        runs.expect(f"{name}, check", runs.margay("trace", "check", replayed))
        # Exit status 0: all counts and bytes are equal.
        runs.expect(f"{name}, counts", runs.margay("trace", "diff", original, replayed))
        # The computations are in virtual time now, and collective calls by shared memory are still without messages.
        second = runs.replay(replayed, "--machine", "paragon")
        runs.near(f"{name}, a second replay", second["virtual_ns"], first["virtual_ns"], 0.01)
        runs.check(f"{name}, messages", first["messages"] == second["messages"], f"{first}\n{second}")
        runs.expect(f"{name}, another trace in the same folder", runs.margay("simulate", "--replay", original, "--trace", replayed), 1, str(replayed))
        page = runs.folder / "page.html"
        runs.expect(f"{name}, page", runs.margay("trace", "view", replayed, "-o", page))
        runs.check(f"{name}, network", json.loads((replayed / "network.json").read_text(encoding="utf-8"))["machine"] == "paragon")


def compare(runs):
    """A comparison has the times of single replays."""
    trace = runs.record("recorded", 4, (runs.exchange, 2000))
    report = runs.report("compare", "--replay", trace, "--compare", "paragon,sp2", "--sweep", "latency=1us,1ms")
    single = [runs.replay(trace, "--machine", machine, "--set", f"latency={latency}") for latency in ("1us", "1ms") for machine in ("paragon", "sp2")]
    runs.check("times", [run["virtual_ns"] for run in report["runs"]] == [run["virtual_ns"] for run in single], f"{report}\n{single}")


def damage_lengths(path):
    """Gives all amounts of bytes in a rank's file their uppermost bit, and removes its checksums, as if the rank was killed (docs/trace_format.md)."""
    data = bytearray(path.read_bytes())
    data[120:128] = data[208:216] = bytes(8)
    data[196] &= ~1
    (events,), (written,) = struct.unpack_from("<Q", data, 48), struct.unpack_from("<Q", data, 128)
    for event in range(written):
        at = events + 64 * event + 40
        if any(data[at:at + 8]):
            data[at + 7] |= 0x80
    path.write_bytes(data)


def bad_input(runs):
    """Invalid arguments and traces: exit status 2, and a message with the part that is wrong."""
    good = runs.record("good", 2, (runs.times, "ping_pong"))
    lost = runs.trace("lost")
    runs.expect("lost", runs.margay("run", "-n", 2, "--trace-events", 64, "--trace", lost, runs.times, "ping_pong"))
    partial = runs.trace("partial")
    shutil.copytree(good, partial)
    (partial / "rank_00001.trace").unlink()
    # Simulated runs have no number, so files of two runs can be put together: rank 1's run has fewer messages.
    mixed, other = runs.trace("mixed"), runs.trace("other")
    runs.simulate(2, "ideal", (runs.times, "ping_pong"), "--trace", mixed)
    runs.simulate(2, "ideal", (runs.times, "bandwidth"), "--trace", other)
    shutil.copy(other / "rank_00001.trace", mixed)
    long = runs.trace("long")
    shutil.copytree(good, long)
    for file in long.glob("rank_*.trace"):
        damage_lengths(file)
    for arguments, *parts in ((("--replay", runs.folder / "absent"), "absent"),
                              (("--replay", long), "long.trace", "rank 0", str((1 << 63) + 1)),
                              (("--replay", runs.folder), "rank_*.trace"),
                              (("--replay", lost), "lost.trace", "rank 0", "MARGAY_TRACE_EVENTS"),
                              (("--replay", partial), "partial.trace", "rank 1"),
                              (("--replay", mixed), "mixed.trace", "1:0:", "rank 1"),
                              (("--replay", good, "--set", "nodes=1"), "2 ranks"),
                              (("--replay", good, "--machine", "vax"), "vax"),
                              (("--replay", good, runs.times), "--replay", "program"),
                              (("--replay", good, "-n", 2), "--ranks"),
                              (("--replay", good, "--seed", 2), "--seed"),
                              (("--replay", good, "--compute", "none"), "--compute"),
                              (("--replay", good, "--explore", 2), "--explore"),
                              (("--replay", good, "--kill", "1@2ms"), "--kill"),
                              (("--replay", good, "--set", "ranks=2"), "ranks"),
                              (("--replay", good, "--set", "network.short_limit=1k"), "--set", "short_limit"),
                              (("--replay", good, "--sweep", "collective=allreduce=tree,bucket"), "--sweep", "collective"),
                              (("-n", 2), "--replay")):
        runs.expect(f"{arguments}", runs.margay("simulate", *arguments), 2, *parts)


CASES = {case.__name__: case for case in (recorded, simulated, traces, compare, bad_input)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options.build, folder)
        for name in options.cases or CASES:
            CASES[name](runs)
    for failure in runs.failures:
        print(failure, file=sys.stderr)
    print(f"{len(runs.failures)} failures")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
