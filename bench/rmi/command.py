"""The command lines of scripts/rmi_experiments, and of scripts/bench --only rmi."""
import argparse
import csv
import dataclasses
import pathlib
import subprocess
import sys

from peers import machine
from rmi import catalogue, experiments, goals

UNIT = "microseconds"


def say(line):
    print(line, file=sys.stderr, flush=True)


def prepare(root):
    """Builds the programs in build/release."""
    for step in (["cmake", "--preset", "release"],
                 ["cmake", "--build", "build/release", "--target", "margay", "mpi", "rmi_examples"]):
        done = subprocess.run(step, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(step)} failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def heading(root):
    """The lines above a table: date, commit, statistics, machine."""
    about = machine.describe(root, [])
    computer = about["machine"]
    return [f"{about['date']}  commit {about['commit']}  medians of figures measured in turns; ±: quartile distance",
            f"{computer['model']}, {computer['processors']} processors, Linux {computer['kernel']}, {about['versions']['compiler']}"]


def quiet_lines(disturbed):
    return [f"NOT A QUIET MACHINE: {disturbed} rounds count although something else ran"] if disturbed else []


def write_text(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def write_samples(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("panel", "series", "x", "repeat", UNIT))
        writer.writerows((*row[:-1], f"{row[-1]:.6g}") for row in rows)


def run_experiments(names, scale, build, out, quiet, head):
    """Measures, and writes NAME.txt, NAME.csv and NAME.svg of each experiment. Throws experiments.Failed."""
    measured = {}
    for name in names:
        experiment = catalogue.EXPERIMENTS[name]
        key = (experiment.measurement, experiment.worlds)
        if key not in measured:
            before = quiet.disturbed
            panels = experiments.run(experiment.measurement(scale, experiment.worlds), build, quiet, say)
            measured[key] = panels, quiet.disturbed - before
        panels, disturbed = measured[key]
        body = experiment.text(panels, experiment.paper, machine.processors())
        lines = [experiment.title, *head, *quiet_lines(disturbed), "", *body]
        write_samples(out / f"{name}.csv", experiments.rows_of(panels))
        write_text(out / f"{name}.txt", lines)
        (out / f"{name}.svg").write_text(experiment.picture(experiment.title, panels), encoding="utf-8")
        print("\n".join(lines).rstrip() + "\n")


def run_goals(root, options, build, out):
    """scripts/bench --only rmi."""
    scale = experiments.QUICK if options.quick else experiments.FULL
    if options.repeats:
        scale = dataclasses.replace(scale, rounds=options.repeats, starts=options.repeats, long_starts=options.repeats)
    quiet = machine.Quiet(options.patience, tuple(options.lock))
    try:
        measured = goals.measure(scale, build, quiet, say)
    except experiments.Failed as error:
        sys.exit(f"scripts/bench: {error}")
    # The samples first: they are kept if a goal's series is missing.
    rows = [(f"{name}: {row[0]}", *row[1:]) for name, panels in measured.items() for row in experiments.rows_of(panels)]
    write_samples(out / "goals.csv", rows)
    lines = [*heading(root), *quiet_lines(quiet.disturbed), "", *goals.text(measured)]
    write_text(out / "goals.txt", lines)
    print("\n".join(lines))
    say(f"written: {out / 'goals.txt'}, {out / 'goals.csv'}")
    return 0


def parse(arguments, text):
    parser = argparse.ArgumentParser(prog="scripts/rmi_experiments", description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help=f"with commas: {', '.join(catalogue.EXPERIMENTS)}")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, 1 and 2 nodes, a million integers")
    parser.add_argument("--smoke", action="store_true", help="every program in small: do they run?")
    parser.add_argument("--patience", type=float, default=60, metavar="S",
                        help="seconds spent, in all, on waiting until nothing else runs and on repeating what was disturbed")
    parser.add_argument("--lock", metavar="FILE", action="append", default=[],
                        help="lock this file during each measurement, so that people who share a machine take turns")
    parser.add_argument("--build", help="margay's build folder (default build/release, which is brought up to date)")
    parser.add_argument("--out", help="where results go (default bench/results/rmi)")
    options = parser.parse_args(arguments)
    options.only = [word for word in options.only.split(",") if word] or list(catalogue.EXPERIMENTS)
    unknown = set(options.only) - set(catalogue.EXPERIMENTS)
    if unknown:
        parser.error(f"--only {','.join(sorted(unknown))}: there are {', '.join(catalogue.EXPERIMENTS)}")
    return options


def main(arguments, root, text):
    options = parse(arguments, text)
    if options.build is None:
        prepare(root)
    build = pathlib.Path(options.build).resolve() if options.build else root / "build" / "release"
    out = pathlib.Path(options.out) if options.out else root / "bench" / "results" / "rmi"
    scale = experiments.SMOKE if options.smoke else experiments.QUICK if options.quick else experiments.FULL
    quiet = machine.Quiet(0 if options.smoke else options.patience, tuple(options.lock))
    try:
        run_experiments(options.only, scale, build, out, quiet, heading(root))
    except experiments.Failed as error:
        sys.exit(f"scripts/rmi_experiments: {error}")
    say(f"written: {out}")
    return 0
