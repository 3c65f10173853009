#!/usr/bin/env python3
"""Runs `margay simulate` with --report, --set, --compare and --sweep.

    tests/command/simulate/compare.py --build build/release            all cases
    tests/command/simulate/compare.py --build build/release tables     one of them
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "tests" / "virtual_machine" / "world" / "programs"
SVG = "{http://www.w3.org/2000/svg}"
MEMBERS = ["version", "command", "machine", "set", "ranks", "seed", "exit_status", "virtual_ns", "messages", "bytes", "switches", "findings"]

# A process that is killed from outside; a rank's own kill() ends the simulation.
KILLED = """#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) { return (int)syscall(SYS_kill, getpid(), SIGKILL); }
"""


class Runs:
    def __init__(self, build, folder):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.folder = pathlib.Path(folder)
        self.failures = []
        self.ends, self.times = (self.compile(name) for name in ("ends", "times"))

    def compile(self, name):
        target = self.folder / name
        subprocess.run([self.bin / "mpicc", "-O1", "-w", "-o", target, PROGRAMS / f"{name}.c"], check=True)
        return target

    def build(self, name, text, *flags):
        target = self.folder / name
        subprocess.run(["cc", "-o", target, *flags, "-xc", "-"], input=text, text=True, check=True)
        return target

    def unsimulated(self):
        """A program without the dynamic linker, which would preload the simulator's library."""
        return self.build("unsimulated", "int main(void) { return 0; }", "-static")

    def check(self, what, good, shown=""):
        if not good:
            self.failures.append(f"{what}: {shown}"[:3000])

    def simulate(self, *arguments, **environment):
        return subprocess.run([self.bin / "margay", "simulate", "--compute", "none", *map(str, arguments)], capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, cwd=self.folder, env={**os.environ, **environment})

    def expect(self, what, done, status, *parts):
        text = done.stdout + done.stderr
        self.check(what, done.returncode == status and all(part in text for part in parts), f"exit status {done.returncode}, not {status}\n{text}")

    def report(self, *arguments, status=0, **environment):
        """The report of a run, with the exit status of its process."""
        path = self.folder / "report.json"
        path.unlink(missing_ok=True)
        done = self.simulate("--report", path, *arguments, **environment)
        self.expect(f"{arguments}", done, status)
        return json.loads(path.read_text(encoding="utf-8"))


def table_of(done):
    """The rows of the last table: lists of words."""
    return [line.split() for line in done.stdout.splitlines()[1:]]


def reports(runs):
    """A report has the members of its description, with the counts of the run, however it ends."""
    report = runs.report("-n", 2, "--machine", "paragon", "--seed", 3, "--set", "short_limit=2k", runs.times, "ping_pong")
    runs.check("members", list(report) == MEMBERS, str(report))
    one_way_ns = report["virtual_ns"] / report["messages"]
    runs.check("400 messages of 25 us, and those of start and end", report["messages"] >= 400 and 15_000 <= one_way_ns <= 30_000, str(report))
    runs.check("a byte in each", 400 <= report["bytes"] <= 20_000, str(report))
    expected = {"machine": "paragon", "set": {"short_limit": "2k"}, "ranks": 2, "seed": 3, "exit_status": 0, "findings": [],
                "command": f"{runs.times} ping_pong"}
    runs.check("settings", report.items() >= expected.items(), str(report))
    for what, status, finding, ranks, error in (("status", 7, None, None, False), ("deadlock", 1, "deadlock", [0, 1, 2], False),
                                                ("abort", 9, "aborted", [1], False), ("without_finalize", 5, "no-finalize", [1], False),
                                                ("segv", 139, "rank-died", [1], False), ("fork", 1, None, None, True)):
        report = runs.report("-n", 3, runs.ends, what, status=status)
        found = [(one["id"], one["ranks"]) for one in report["findings"]]
        runs.check(what, report["exit_status"] == status and found == ([(finding, ranks)] if finding else []) and bool(report.get("error")) == error, str(report))
    report = runs.report(runs.unsimulated())
    runs.check("a program that is not simulated", "exit_status" not in report and report["error"], str(report))
    report = runs.report("--set", "protocol=short_limit=1k", "-n", 2, runs.times, "ping_pong", MARGAY_PROTOCOL="long=rendezvous")
    done = runs.simulate("--report", "/dev/stdout", "-n", 2, runs.times, "barriers")
    runs.check("a report on standard output", json.loads(done.stdout)["exit_status"] == 0, done.stdout)
    runs.check("a report that cannot be written", runs.simulate("--report", "/dev/full", "-n", 2, runs.times, "barriers").returncode == 1)
    runs.check("an option of the library beside the environment's", report["set"] == {"protocol": "short_limit=1k"}, str(report))


def changes(runs):
    """--set changes the machine of the run, and options of the library."""
    def time_of(*arguments):
        return runs.report("-n", 2, "--machine", "paragon", *arguments, runs.times, "ping_pong")["virtual_ns"]

    usual = time_of()
    # 400 messages, one after the other, and some of start and end.
    for name in ("latency_ns=104500ns", "network.latency=104500ns", "mesh.latency=104.5us"):
        later = time_of("--set", name)
        runs.check(name, 40e6 <= later - usual <= 60e6, f"{usual} {later}")
    runs.check("the last change counts", time_of("--set", "latency=1s", "--set", "latency=4500ns") == usual)
    runs.check("ranks", runs.report("--set", "ranks=4", runs.times, "barriers")["ranks"] == 4)
    done = runs.simulate("-n", 2, "--set", "collective=allreduce=none", runs.times, "barriers")
    runs.check("an invalid option of the library", done.returncode != 0, done.stderr)
    done = runs.simulate("-n", 2, "--set", "collective=allreduce=tree", runs.times, "barriers", MARGAY_COLLECTIVE="barrier=none")
    runs.check("other items of the environment's list stay", "barrier=none" in done.stderr + done.stdout, done.stderr)


def tables(runs):
    """--compare and --sweep run all combinations; times are those of single runs."""
    done = runs.simulate("--compare", "paragon,asci-red", "--sweep", "latency=1us..4us", "-n", 3, "--report", "all.json", "--svg", "all.svg", "--jobs", 2,
                         runs.times, "ping_pong")
    runs.expect("a comparison", done, 0)
    rows = table_of(done)
    runs.check("rows", [row[0] for row in rows] == ["latency", "1us", "2us", "4us"], done.stdout)
    runs.check("machines", rows[0][1:] == ["paragon", "asci-red", "ratio"], done.stdout)
    all_runs = json.loads((runs.folder / "all.json").read_text(encoding="utf-8"))["runs"]
    runs.check("reports, by row", [(one["machine"], one["set"]["latency"]) for one in all_runs] ==
               [(machine, latency) for latency in ("1us", "2us", "4us") for machine in ("paragon", "asci-red")], str(all_runs))
    for one in all_runs[2:4]:
        alone = runs.report("-n", 3, "--machine", one["machine"], "--set", "latency=2us", runs.times, "ping_pong")
        runs.check(f"{one['machine']} alone", alone == one, f"{alone} {one}")
        runs.check("its time in the table", f"{one['virtual_ns'] / 1e6:.4g}" in rows[2], done.stdout)
    runs.check("ratio", rows[2][-1] == f"{all_runs[3]['virtual_ns'] / all_runs[2]['virtual_ns']:.3f}", done.stdout)
    picture = xml.etree.ElementTree.parse(runs.folder / "all.svg").getroot()
    runs.check("dots", len(list(picture.iter(f"{SVG}circle"))) == 6)

    done = runs.simulate("--machine", "paragon", "--sweep", "ranks=2..8", "--sweep", "collective=barrier=tree,exchange", "--svg", "-", runs.times, "barriers")
    runs.expect("a picture on standard output", done, 0)
    runs.check("two panels", len(list(xml.etree.ElementTree.fromstring(done.stdout).iter(f"{SVG}g"))) == 2, done.stdout)
    done = runs.simulate("--compare", "ideal,loopback", "-n", 2, runs.times, "ping_pong")
    runs.expect("machines alone", done, 0, "2 ranks")
    runs.expect("ranks of --set", runs.simulate("--compare", "ideal,loopback", "--set", "ranks=3", runs.times, "barriers"), 0, "3 ranks")
    runs.check("one row", [len(row) for row in table_of(done)] == [3, 5], done.stdout)


def failing_runs(runs):
    """A run that fails: its error, its name and its exit status; the others count."""
    done = runs.simulate("--compare", "paragon,ideal", "--sweep", "ranks=2,3", runs.ends, "status")
    runs.expect("exit status 7 of rank 2", done, 7, "run paragon, ranks=3", "run ideal, ranks=3")
    runs.check("cells", [row.count("failed") for row in table_of(done)] == [0, 0, 2], done.stdout)
    done = runs.simulate("--compare", "paragon,ideal", "-n", 2, runs.ends, "deadlock")
    runs.expect("a deadlock", done, 1, "run paragon", "[deadlock]")
    runs.expect("a program that is not simulated", runs.simulate("--compare", "paragon,ideal", runs.unsimulated()), 71, "run paragon", "run ideal")
    runs.expect("a killed program", runs.simulate("--compare", "paragon,ideal", runs.build("killed", KILLED)), 137, "run paragon")


def program_words(runs):
    """Words behind the program's name are its own."""
    done = runs.simulate("-n", 1, "/bin/echo", "-n", "4", "--report", "x", "--", "-c")
    runs.check("words", done.stdout.split() == ["[0]", "4", "--report", "x", "--", "-c"], done.stdout + done.stderr)
    report = runs.report("/bin/sh", "-c", "exit 9", status=9)
    runs.check("command", report["command"] == "/bin/sh -c exit 9", str(report))


def bad_input(runs):
    """Invalid command lines: exit status 2, or 1 for a file, and the word that is wrong; no run begins."""
    program = (runs.times, "barriers")
    for status, parts, arguments in ((2, ("--compare", "twice"), ("--compare", "paragon,paragon", *program)),
                                     (2, ("cray", "asci-red"), ("--compare", "paragon,cray", *program)),
                                     (2, ("--sweep", "latncy", "latency_ns"), ("--sweep", "latncy=1us", *program)),
                                     (2, ("--sweep", "short_limit", "1x"), ("--sweep", "short_limit=1x,2k", *program)),
                                     (2, ("--sweep", "64k..1k"), ("--sweep", "short_limit=64k..1k", *program)),
                                     (2, ("--sweep", "ranks"), ("--sweep", "ranks", *program)),
                                     (2, ("v2200", "16"), ("--compare", "paragon,v2200", "--sweep", "ranks=8,32", *program)),
                                     (2, ("--set", "coprocessor"), ("--set", "coprocessor=2", *program)),
                                     (2, ("--set", "NAME=VALUE"), ("--set", "coprocessor", *program)),
                                     (2, ("--trace",), ("--trace", "t", "--compare", "paragon,ideal", *program)),
                                     (2, ("--summary",), ("--summary", "--sweep", "ranks=1,2", *program)),
                                     (2, ("--svg",), ("--svg", "a.svg", *program)),
                                     (2, ("--jobs",), ("--jobs", "0", "--sweep", "ranks=1,2", *program)),
                                     (2, ("v2200",), ("--machine", "v2200", "-n", 17, *program)),
                                     (127, ("/there/is/none",), ("--sweep", "ranks=1,2", "/there/is/none")),
                                     (1, ("--svg", "none/a.svg"), ("--sweep", "ranks=1,2", "--svg", "none/a.svg", *program)),
                                     (1, ("--report", "none/a.json"), ("--sweep", "ranks=1,2", "--report", "none/a.json", *program)),
                                     (71, ("none/a.json",), ("--report", "none/a.json", *program))):
        runs.expect(" ".join(map(str, arguments)), runs.simulate(*arguments), status, *parts)


CASES = {case.__name__: case for case in (reports, changes, tables, failing_runs, program_words, bad_input)}


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
