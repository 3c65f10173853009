#!/usr/bin/env python3
"""Runs MPI programs under `margay simulate`, and compares them with real runs.

    tests/virtual_machine/world/simulate.py --build build/release            all cases
    tests/virtual_machine/world/simulate.py --build build/release outputs    one of them
    tests/virtual_machine/world/simulate.py --build build/release outputs --program tests/mpi/wildcards.c
"""
import argparse
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mpi"))
import support  # noqa: E402
from virtual import NOT_THERE  # noqa: E402

# Programs of the MPI suite that the test runs, each with another part of the library; `--every` runs all that can run.
PROGRAMS = ("alltoall", "attributes", "barrier", "bcast", "buffered", "comm_create", "communicators", "completion", "datatypes_move", "errors",
            "gather", "groups", "grequest", "intercomm", "large", "matched_probe", "neighbor", "nonblocking", "partitioned", "persistent", "probe",
            "reduce", "scan", "self_messages", "send_modes", "sendrecv", "status", "topology", "traffic", "user_ops", "wildcards")


def text_of(output):
    """Lines of standard output in an order that does not depend on the ranks' turns, without labels."""
    return sorted(re.sub(r"^\[\d+\] ", "", line) for line in output.splitlines())


class Runs:
    def __init__(self, build, folder):
        self.build = build
        self.folder = pathlib.Path(folder)
        self.margay = build.folder / "bin" / "margay"
        self.failures = []

    def check(self, what, good, shown=""):
        if not good:
            self.failures.append(f"{what}: {shown}"[:2000])

    def compile(self, source, libraries=()):
        target = self.folder / pathlib.Path(source).stem
        if not target.exists():
            shared = support.shared_sanitizer("clang") if self.build.sanitizer else []
            compiler, *standard = ("mpicxx", "-std=c++17") if pathlib.Path(source).suffix == ".cpp" else ("mpicc",)
            subprocess.run([self.build.folder / "bin" / compiler, *standard, "-O1", "-w", *shared, "-o", target, source, *libraries, "-lm"], check=True)
        return target

    def own(self, name):
        return self.compile(HERE / "programs" / f"{name}.c")

    def simulate(self, *arguments, timeout=120, **environment):
        return subprocess.run([self.margay, "simulate", *map(str, arguments)], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                              env={**os.environ, **environment})

    def run(self, *arguments):
        return subprocess.run([*self.build.launcher(), *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def sources_of(options):
    folder = ROOT / "tests" / "mpi"
    if options.program:
        return [pathlib.Path(options.program)]
    if options.every:
        return [path for path in sorted([*folder.glob("*.c"), *folder.glob("rma/*.c")]) if not {path.stem, f"rma_{path.stem}"} & {*NOT_THERE}]
    return [folder / f"{name}.c" for name in PROGRAMS]


def compare_outputs(runs, options, settings):
    """Each program has the same output and exit status as in a real run, with each of the settings."""
    for source in sources_of(options):
        keys = support.header_keys(source)
        ranks = min(map(int, keys.get("ranks", "2").split()))
        program = runs.compile(source, keys.get("libraries", "").split())
        real = runs.run("-n", ranks, program)
        for setting in settings:
            what = f"{source.stem}, {ranks} ranks, {' '.join(map(str, setting))}"
            try:
                simulated = runs.simulate("-n", ranks, *setting, program)
            except subprocess.TimeoutExpired:
                runs.check(what, False, "it does not end")
                continue
            runs.check(what, simulated.returncode == real.returncode, f"exit status {simulated.returncode}, {real.returncode}\n{simulated.stderr}")
            runs.check(what, text_of(simulated.stdout) == text_of(real.stdout), simulated.stdout + simulated.stderr)


def outputs(runs, options):
    """Programs of the suite have the same output as in a real run, on several machines."""
    machines = (("ideal", "none"), ("paragon", "calls=1us"), ("loopback", "measured"))
    compare_outputs(runs, options, [("--machine", machine, "--compute", compute) for machine, compute in machines])


def seeds(runs, options):
    """The same with several seeds, and messages that are delayed."""
    compare_outputs(runs, options, [("--machine", "asci-red", "--compute", "none", "--delay", "100us", "--seed", seed) for seed in range(1, options.seeds + 1)])


def seconds_of(result):
    return float(re.search(r": ([0-9.]+) s,", result.stderr).group(1))


def time(runs, _):
    """Virtual time is that of the machine: a message's, a sleep's, and that of `--compute calls=`."""
    program = runs.own("times")
    paragon = runs.simulate("-n", 2, "--machine", "paragon", "--compute", "none", program, "ping_pong")
    one_way_us = float(re.search(r"one way ([0-9.]+) us", paragon.stdout).group(1))
    runs.check("ping-pong on the Paragon", 22 <= one_way_us <= 28, paragon.stdout + paragon.stderr)
    slept = runs.simulate("-n", 3, "--machine", "ideal", "--compute", "none", "--summary", program, "sleep", timeout=60)
    runs.check("an hour's sleep", 3600 <= seconds_of(slept) <= 3601, slept.stderr)
    calls = [seconds_of(runs.simulate("-n", 2, "--machine", "ideal", "--compute", f"calls={us}us", "--summary", program, "barriers"))
             for us in (1, 1001)]
    runs.check("1,000 us more for each of 100 barriers", 0.1 <= calls[1] - calls[0] <= 0.12, str(calls))
    arrivals = runs.simulate("-n", 5, "--machine", "paragon", "--compute", "none", program, "arrivals").stdout
    runs.check("messages in the order of their arrivals", re.findall(r"from (\d)", arrivals) == ["3", "2", "1", "0"], arrivals)
    late = runs.simulate("-n", 3, "--machine", "paragon", "--compute", "none", program, "late").stdout
    runs.check("a message before one that is sent later", 5 <= float(re.search(r"at ([0-9.]+) ms", late).group(1)) <= 6, late)
    # The bandwidths of the machines' files, of memory and of the network.
    for machine, least, most in (("loopback", 9_900, 12_100), ("paragon", 160, 200)):
        measured = runs.simulate("-n", 2, "--machine", machine, "--compute", "none", program, "bandwidth").stdout
        runs.check(f"bandwidth of {machine}", least <= float(re.search(r"(\d+) MB/s", measured).group(1)) <= most, measured)


def repeat(runs, _):
    """Without measured time, equal settings give equal runs, whatever else the machine does; seeds give others."""
    program = runs.own("race")

    def outputs_of(seed, times):
        results = [runs.simulate("-n", 8, "--machine", "asci-red", "--compute", "none", "--summary", "--seed", seed, program) for _ in range(times)]
        runs.check("exit status", all(result.returncode == 0 for result in results), results[0].stderr)
        return {(result.stdout, result.stderr) for result in results}

    for seed in (0, 7):
        runs.check(f"three runs with seed {seed}", len(outputs_of(seed, 3)) == 1)
    runs.check("eight seeds", len(set().union(*(outputs_of(seed, 1) for seed in range(8)))) > 1)


def equal_traces(runs, _):
    """Equal runs leave equal traces, byte for byte."""
    for source in (HERE / "programs" / "race.c", *(ROOT / "tests" / "mpi" / f"{name}.c" for name in ("traffic", "datatypes_move", "rma/accumulate"))):
        ranks = min(map(int, support.header_keys(source).get("ranks", "4").split()))
        program = runs.compile(source)
        folders = [runs.folder / f"{source.stem}_{run}" for run in range(2)]
        for folder in folders:
            done = runs.simulate("-n", ranks, "--machine", "paragon", "--compute", "none", "--trace", folder, program)
            runs.check(source.stem, done.returncode == 0, done.stderr)
        names = sorted(path.name for path in folders[0].iterdir())
        runs.check(source.stem, len(names) == ranks + 1 and "network.json" in names and names == sorted(path.name for path in folders[1].iterdir()), str(names))
        _, different, errors = filecmp.cmpfiles(*folders, names, shallow=False)
        runs.check(source.stem, not different and not errors, f"{different}, {errors}")


def ends(runs, _):
    """Ends of ranks: the exit status, and the finding's id or words of the message."""
    program = runs.own("ends")
    for what, status, text in (("status", 7, ""), ("abort", 9, "[aborted]"), ("deadlock", 1, "[deadlock]"), ("without_finalize", 5, "without MPI_Finalize"),
                               ("segv", 139, "rank 1 died of SIGSEGV"), ("uncaught", 134, "rank 1 died of SIGABRT"), ("fork", 1, "fork"), ("thread", 1, "pthread_create"), ("usual", 0, "")):
        done = runs.simulate("-n", 3, "--compute", "none", program, what)
        runs.check(what, done.returncode == status and text in done.stderr, f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
        runs.check(f"{what}: a line without an end", "partial line" in done.stdout, done.stdout)


def faults(runs, _):
    """Ranks that die and links that fail: the lines of the other ranks, and the findings. On 4 nodes of a mesh, messages of the pairs 0 and 1, 1 and 2,
    and 0 and 3 cross the link 0-1 in one direction or in both."""
    program, report = runs.own("faults"), runs.folder / "faults.json"
    died = [["rank-died", [2]]]
    for options, lines, findings in (
            (("--kill", "2@20500us"), ["done", "done", "lost 2 in round 19"], died),
            (("--kill", "3@31ms", "--kill", "2@20500us"), ["done", "lost 2 in round 19", "lost 3 in round 29"], [*died, ["rank-died", [3]]]),
            (("--kill", "0@30ms"), ["lost 0 in round 28"] * 3, [["rank-died", [0]]]),
            (tuple(word for rank in range(4) for word in ("--kill", f"{rank}@0ns")), [], [["rank-died", [rank]] for rank in range(4)]),
            (("--kill", "2@1h"), None, None),
            (("--kill", "2@10s"), ["done"] * 3, []),
            (("--down", "0-1@20500us"), ["done", "lost 0 in round 19", "lost 0 in round 19", "lost 1 in round 19", "lost 3 in round 20"], []),
            (("--down", "1-0", "--down", "0-2"), ["lost 0 in round 0"] * 3 + [f"lost {rank} in round 0" for rank in (1, 2, 3)], []),
            (("--down", "1-0@10s"), ["done"] * 3, [])):
        done = runs.simulate("-n", "4", "--machine", "paragon", "--compute", "none", "--report", report, *options, program)
        what = " ".join(options)
        if lines is None:
            runs.check(what, done.returncode == 2 and options[1] in done.stderr, done.stderr)
            continue
        runs.check(what, text_of(done.stdout) == sorted(lines), done.stdout + done.stderr)
        # A rank whose MPI_Finalize fails for a lost rank ends without it.
        found = [[finding["id"], finding["ranks"]] for finding in json.loads(report.read_text())["findings"] if finding["id"] != "no-finalize"]
        runs.check(what, found == findings, str(found))


def programs(runs, _):
    """Whole programs: a code of blocks in three dimensions has the output of a real run on any number of ranks, heat2d that of one rank, and Debian's NetPIPE
    measures the figures of the machine."""
    blast = runs.compile(HERE / "programs" / "blast.cpp")
    real = runs.run("-n", 8, blast, 12, 40)
    runs.check("blast, a real run", real.returncode == 0 and "40 steps" in real.stdout, real.stdout + real.stderr)
    for ranks, machine, seed in ((8, "ideal", 0), (8, "paragon", 1), (27, "asci-red", 0), (27, "asci-red", 7), (64, "paragon", 2)):
        done = runs.simulate("-n", ranks, "--machine", machine, "--compute", "none", "--seed", seed, "--delay", "50us", blast, 12, 40)
        runs.check(f"blast, {ranks} ranks on {machine}, seed {seed}", text_of(done.stdout) == text_of(real.stdout), done.stdout + done.stderr)
    heat = runs.compile(ROOT / "examples" / "heat2d.c")
    done = runs.simulate("-n", 64, "--machine", "paragon", "--compute", "none", heat, "--input", ROOT / "examples" / "data" / "heat_start.pgm",
                         "--output", runs.folder / "heat.ppm", "--steps", 60, "--check")
    runs.check("heat2d, 64 ranks", done.returncode == 0 and "the same bits" in done.stdout, done.stdout + done.stderr)
    netpipe = shutil.which("NPmpich2")
    if netpipe is None:
        print("programs: without NetPIPE, as Debian's netpipe-mpich2 is not installed")
        return
    done = runs.simulate("-n", 2, "--machine", "paragon", "--compute", "none", netpipe, "-u", 1 << 20, "-n", 5, "-o", runs.folder / "np.out")
    times = [(int(count), float(us)) for count, us in re.findall(r"(\d+) bytes +\d+ times --> .* in +([0-9.]+) usec", done.stderr)]
    runs.check("NetPIPE", done.returncode == 0 and len(times) > 60, done.stdout[-1000:] + done.stderr)
    # 25 us from program to program, and 160 MB/s through a node's port.
    runs.check("NetPIPE's latency", 22.5 <= times[0][1] <= 27.5, str(times[0]))
    runs.check("NetPIPE's bandwidth", 144 <= max(count / us for count, us in times) <= 176, str(times[-1]))


def callbacks(runs, _):
    """Functions that MPI calls run in the rank: virtual time, the rank's output and random numbers."""
    program = runs.own("callbacks")
    for what in ("operation", "attribute", "handler", "query"):
        lines = {runs.simulate("-n", 2, "--machine", "paragon", "--compute", "none", program, what, timeout=60).stdout for _ in range(2)}
        runs.check(what, len(lines) == 1 and re.search(rf"^\[\d\] {what} 3600 ", *lines), str(lines))


def thousands(runs, _):
    """Ten thousand ranks begin and end."""
    done = runs.simulate("-n", 10000, "--machine", "ideal", "--compute", "none", runs.own("ends"), "usual", timeout=280)
    runs.check("10,000 ranks", done.returncode == 0 and done.stdout.count("partial line") == 10000, done.stderr)


def real_time(runs, _):
    """A rank that waits for another process is reported, and continues."""
    pipe = runs.folder / "pipe"
    os.mkfifo(pipe)
    command = [runs.margay, "simulate", "-n", "2", "--compute", "none", runs.own("ends"), "real_time", pipe]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as simulation:
        line = simulation.stderr.readline()
        pipe.open("w").close()
        runs.check("a wait for real time", "rank 1 " in line and "[stalled]" in line, line)
        runs.check("it continues", simulation.wait(100) == 0)


def ways_of(runs, *arguments, what):
    """The counts of each wire in the report of a run on the SP2."""
    report = runs.folder / "ways.json"
    done = runs.simulate("--machine", "sp2", "--compute", "none", "--report", report, *arguments)
    runs.check(what, done.returncode == 0, done.stdout + done.stderr)
    return json.loads(report.read_text()).get("ways") if done.returncode == 0 else {}


def ways(runs, _):
    """Each pair of ranks has the wires of `--set way`, and uses the first of them that reaches; polls take the time of their networks."""
    program = runs.own("times")
    # The list, nodes of a partition, and the wires that carry messages.
    for names, partition, used in (("shm,tcp", 16, {"shm"}), ("tcp,shm", 16, {"tcp"}), ("tcp", 16, {"tcp"}), ("shm", 16, {"shm"}), ("shm,tcp", 1, {"tcp"})):
        what = f"way={names}, partitions of {partition}"
        found = ways_of(runs, "-n", 2, "--set", f"way={names}", "--set", f"nodes_per_partition={partition}", program, "ping_pong", what=what)
        runs.check(what, list(found) == names.split(","), str(found))
        runs.check(what, {wire for wire, counts in found.items() if counts["messages"]} == used, str(found))
        runs.check(what, all(counts["hits"] <= counts["polls"] and (counts["hits"] > 0) == (wire in used) for wire, counts in found.items()), str(found))
    none = runs.folder / "none.json"
    done = runs.simulate("-n", 2, "--machine", "sp2", "--compute", "none", "--report", none, program, "ping_pong")
    runs.check("no ways", done.returncode == 0 and "ways" not in json.loads(none.read_text()), done.stderr)
    # With an interval of n rounds, each rank polls the slow wire in each n-th round.
    for interval in (1, 7, 100):
        found = ways_of(runs, "-n", 2, "--set", "way=shm,tcp", "--set", f"skip_poll=tcp={interval}", program, "ping_pong", what=f"skip_poll {interval}")
        # The poll after one that found a message is not counted.
        rounds, slow = found["shm"]["polls"] + found["shm"]["hits"], found["tcp"]["polls"]
        runs.check(f"skip_poll {interval}", slow * interval <= rounds + 2 * interval and rounds <= (slow + 2) * interval + found["shm"]["hits"], str(found))
    for setting in ("off", "block"):
        found = ways_of(runs, "-n", 2, "--set", "way=shm,tcp", "--set", f"skip_poll=tcp={setting}", program, "ping_pong", what=setting)
        runs.check(setting, found["tcp"]["polls"] <= 2, str(found))


def ways_repeat(runs, _):
    """Equal seeds give equal runs and traces over two wires."""
    program = runs.own("race")
    for seed in (0, 7):
        folders, outputs_of = [runs.folder / f"ways_{seed}_{run}" for run in range(2)], []
        for folder in folders:
            done = runs.simulate("-n", 6, "--machine", "sp2", "--compute", "none", "--seed", seed, "--set", "way=shm,tcp", "--set", "nodes_per_partition=4", "--trace", folder, program)
            runs.check("exit status", done.returncode == 0, done.stderr)
            outputs_of.append(done.stdout)
        names = sorted(path.name for path in folders[0].iterdir())
        _, different, errors = filecmp.cmpfiles(*folders, names, shallow=False)
        runs.check(f"seed {seed}", len(set(outputs_of)) == 1 and not different and not errors, f"{different}, {errors}")


def ways_moves(runs, options):
    """Links move between the wires with messages under way: none is lost, overtaken or doubled, and the law holds for each pair and wire."""
    program = runs.build.folder / "tests" / "libraries" / "library_ways"
    # Without delays links move, too; odd seeds have small windows.
    for seed in range(options.seeds_of_moves):
        found = ways_of(runs, "-n", 2 + seed % 2, "--seed", seed, "--delay", "0us" if seed % 10 == 0 else "3ms", "--set", "way=shm,tcp" if seed % 4 < 2 else "way=tcp,shm",
                        program, "40", what=f"seed {seed}")
        runs.check(f"seed {seed}", bool(found) and all(counts["messages"] > 100 for counts in found.values()), str(found))
        if runs.failures:
            return


def bad_input(runs, _):
    """Invalid command lines: exit status 2 (127 for a program that is not there) and the word that is wrong."""
    program = runs.own("ends")
    bad = runs.folder / "bad.toml"
    bad.write_text('name = "bad"\ndescription = "b"\nsources = ["s"]\nnodes = "four"\n')
    for arguments, status, text in ((("-n", "0", program), 2, "0"), (("-n", "65537", program), 2, "65537"), (("--machine", "cray", program), 2, "paragon"),
                                    (("--machine", bad, program), 2, "bad.toml:4"), (("--compute", "some", program), 2, "--compute"),
                                    (("--kill", "1@1ms", program), 2, "1@1ms"), (("--down", "0-1", "-n", "2", program), 2, "0-1"),
                                    (("--compute", "calls=3", program), 2, "--compute"), (("--cpu-scale", "-1", program), 2, "--cpu-scale"),
                                    (("--set", "way=carrier", program), 2, "carrier"), (("--machine", "sp2", "--set", "way=shm,shm", program), 2, "twice"),
                                    (("--machine", "paragon", "--set", "way=tcp", program), 2, "sp2"),
                                    (("-n", "17", "--machine", "sp2", "--set", "way=shm", program), 2, "ranks 0 and 16"),
                                    (("--set", "skip_poll=carrier=3", program), 2, "carrier"), (("--set", "skip_poll=tcp=0", program), 2, "tcp"),
                                    (("-n", "2", "/there/is/none"), 127, "/there/is/none"), ((), 2, "program")):
        done = runs.simulate(*arguments)
        runs.check(" ".join(map(str, arguments)), done.returncode == status and text in done.stderr, f"exit status {done.returncode}\n{done.stderr}")
    done = runs.simulate("-n", "2", program, MARGAY_FORWARD="node")
    runs.check("MARGAY_FORWARD", done.returncode == 2 and "MARGAY_FORWARD" in done.stderr, f"exit status {done.returncode}\n{done.stderr}")


CASES = {case.__name__: case for case in (outputs, seeds, time, repeat, equal_traces, ends, faults, programs, callbacks, thousands, real_time, bad_input, ways, ways_repeat, ways_moves)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--program", help="another program for `outputs`")
    parser.add_argument("--every", action="store_true", help="all programs of the suite for `outputs`")
    parser.add_argument("--seeds", type=int, default=3, help="for `seeds`: how many")
    parser.add_argument("--seeds-of-moves", type=int, default=100 if os.environ.get("QUICK_TESTS") else 1000, help="for `ways_moves`: how many")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # The rates of a calibration of this machine would change the machine loopback.
        os.environ["XDG_CACHE_HOME"] = folder
        runs = Runs(support.Build(options.build), folder)
        for name in options.cases or CASES:
            CASES[name](runs, options)
    for failure in runs.failures:
        print(failure, file=sys.stderr)
    print(f"{len(runs.failures)} failures")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
