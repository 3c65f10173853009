#!/usr/bin/env python3
"""Bugs that `margay simulate --explore` finds within a number of schedules, and correct variants in which it finds none.

    tests/virtual_machine/explore/explore.py --build build/release            all cases
    tests/virtual_machine/explore/explore.py --build build/release planted    one of them
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "mpi"))
import support  # noqa: E402

RANKS = 3
# Of programs/races.c: the case, the most schedules until its bug is found, the ids that the report has, and the number of
# schedules of choices in the correct variant.
PLANTED = (
    ("wildcard", 4, {"wildcard-race"}, 2),
    ("deadlock", 4, {"wildcard-race", "deadlock"}, 2),
    ("deep", 12, {"wildcard-race", "deadlock"}, 6),
    ("relay", 4, {"wildcard-race"}, 1),
    ("ready", 4, {"wildcard-race", "dropped-ready-send"}, 2),
    ("overlap", 8, {"wildcard-race"}, 4),
    ("probe", 4, {"wildcard-race"}, 2),
    ("test", 4, {"wildcard-race"}, 2),
    ("puts", 1, {"rma-conflict"}, 1),
    # By random delays, with a probability of a half for each second schedule.
    ("waitany", 20, {"schedule-dependent"}, 1),
)


class Runs:
    def __init__(self, build, folder):
        self.margay = build.folder / "bin" / "margay"
        self.build = build
        self.folder = pathlib.Path(folder)
        self.failures = []
        self.program = self.compile(HERE / "programs" / "races.c")

    def compile(self, source):
        target = self.folder / source.stem
        subprocess.run([self.build.folder / "bin" / "mpicc", "-O1", "-w", "-o", target, source, "-lm"], check=True)
        return target

    def check(self, what, good, shown=""):
        if not good:
            self.failures.append(f"{what}: {shown}"[:3000])

    def simulate(self, *arguments, ranks=RANKS):
        return subprocess.run([self.margay, "simulate", "-n", str(ranks), *map(str, arguments)], capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL)

    def explore(self, schedules, *arguments):
        return self.simulate("--explore", schedules, self.program, *arguments)


def ids_in(text):
    return set(re.findall(r"\[([a-z-]+)\]$", text, re.MULTILINE))


def commands_in(text):
    """The arguments of the commands by which a report repeats schedules."""
    return [line.split()[5:] for line in text.splitlines() if line.startswith("  MARGAY_CHECK_RMA=1 margay simulate ")]


def options_kept(runs):
    """The commands that repeat schedules have the options of the exploration."""
    given = ["--cpu-scale", "2", "--set", "latency=30us", "--kill", "2@1s", "--down", "0-1@1s"]
    found = runs.simulate("--machine", "paragon", *given, "--explore", 4, runs.program, "wildcard")
    commands = commands_in(found.stdout)
    runs.check("options", len(commands) == 2 and all(" ".join(given) in " ".join(command) for command in commands), found.stdout + found.stderr)


def planted(runs):
    """Each bug is found within its number of schedules, and not by the first one alone; correct programs give nothing."""
    for name, bound, ids, choices in PLANTED:
        found = runs.explore(bound, name)
        runs.check(name, found.returncode == 1 and ids <= ids_in(found.stdout), f"exit status {found.returncode}\n{found.stdout}{found.stderr}")
        if bound > 1:
            alone = runs.explore(1, name)
            runs.check(f"{name}, one schedule", alone.returncode == 0, alone.stdout)
        right = runs.explore(3 * choices + 2, name, "right")
        runs.check(f"{name}, correct", right.returncode == 0 and not ids_in(right.stdout), right.stdout + right.stderr)
        counted = re.search(r"all (\d+) of the choices", right.stdout)
        runs.check(f"{name}, correct, schedules", counted and int(counted.group(1)) == choices, right.stdout)


def counts(runs):
    """Each combination of choices is run once: rank 0 takes 4 messages of 3 ranks, 2 at most of each: 54 orders; in two
    phases, each of 3 ranks takes the messages of the others in 2 orders: 2^6."""
    for name, ranks, choices in (("deep", 4, 54), ("phases", 3, 64)):
        done = runs.simulate("--explore", 200, runs.program, name, "right", ranks=ranks)
        runs.check(name, done.returncode == 0 and f"all {choices} of the choices" in done.stdout, done.stdout + done.stderr)


def suite(runs):
    """Programs of the MPI suite have the same output if their wildcards are held."""
    for name in ("completion", "matched_probe", "persistent", "probe", "send_modes", "traffic", "wildcards"):
        source = HERE.parents[1] / "mpi" / f"{name}.c"
        ranks = min(map(int, support.header_keys(source).get("ranks", "2").split()))
        program = runs.compile(source)
        usual, held = (runs.simulate("--compute", "none", *options, program, ranks=ranks) for options in ((), ("--wildcards", "lowest")))
        same = usual.returncode == held.returncode and sorted(usual.stdout.splitlines()) == sorted(held.stdout.splitlines())
        runs.check(name, same, held.stdout + held.stderr)


def repeat(runs):
    """The commands of a report repeat the two results, each time."""
    for name in ("wildcard", "overlap", "probe"):
        commands = commands_in(runs.explore(12, name).stdout)
        runs.check(f"{name}, commands", len(commands) == 2, str(commands))
        outputs = []
        for arguments in commands:
            results = {runs.simulate(*arguments).stdout for _ in range(3)}
            runs.check(f"{name}, {arguments}", len(results) == 1, str(results))
            outputs += results
        runs.check(f"{name}, two results", len(set(outputs)) == 2, str(outputs))


def stories(runs):
    """The two stories side by side are those of the two ranks' messages."""
    text = runs.explore(12, "wildcard").stdout
    runs.check("stories", re.search(r"^2>0 #1: .* \| 1>0 #1: ", text, re.MULTILINE) is not None, text)


def choices(runs):
    """--wildcards gives wildcards their messages; a source that sends none, and invalid choices, are errors."""
    for given, output in (("lowest", "10 20"), ("0:1=2", "20 10"), ("0:1=1", "10 20"), ("0:1=2,0:2=1", "20 10")):
        done = runs.simulate("--compute", "none", "--wildcards", given, runs.program, "wildcard")
        runs.check(given, done.returncode == 0 and output in done.stdout, done.stdout + done.stderr)
    for given in ("0:1=0", "0:1=2,0:2=2"):
        done = runs.simulate("--compute", "none", "--wildcards", given, runs.program, "wildcard")
        runs.check(given, done.returncode == 79, f"exit status {done.returncode}\n{done.stderr}")
    for given in ("first", "0:1", "0:1=2;", "3:1=0", "0:1=2,,"):
        done = runs.simulate("--wildcards", given, runs.program, "wildcard")
        runs.check(given, done.returncode == 2 and "--wildcards" in done.stderr, f"exit status {done.returncode}\n{done.stderr}")
    for arguments in (("--explore", "0"), ("--explore", "x"), ("--delay", "1"), ("--explore", "1", "--schedule-limit", "0")):
        done = runs.simulate(*arguments, runs.program, "wildcard")
        runs.check(str(arguments), done.returncode == 2 and arguments[-2] in done.stderr, f"exit status {done.returncode}\n{done.stderr}")


CASES = {case.__name__: case for case in (planted, options_kept, counts, suite, repeat, stories, choices)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(support.Build(options.build), folder)
        for name in options.cases or CASES:
            CASES[name](runs)
    for failure in runs.failures:
        print(failure, file=sys.stderr)
    print(f"{len(runs.failures)} failures")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
