"""The command line of scripts/bench."""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from peers import collect, machine, plot, runs, stacks, table
from rmi import command as rmi
from simulate import command as simulate
from simulate import predictions


def parse(arguments, text):
    parser = argparse.ArgumentParser(prog="scripts/bench", description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer cases, 3 repeats")
    parser.add_argument("--only", default="", help=f"with commas: {', '.join(runs.groups())}; or rmi: RMI's goals beside their bounds; "
                        "or simulate: margay simulate beside SMPI; or predict: its times beside real runs")
    parser.add_argument("--repeats", type=int, help="times that every stack runs every case (default 5)")
    parser.add_argument("--patience", type=float, default=300, metavar="S",
                        help="seconds spent, in all, on waiting until nothing else runs and on repeating what was disturbed")
    parser.add_argument("--lock", metavar="FILE", action="append", default=[],
                        help="lock this file during each round, so that people who share a machine take turns; may be repeated")
    parser.add_argument("--build", help="margay's build folder (default build/release, which is brought up to date)")
    parser.add_argument("--out", help="where results go (default bench/results)")
    parser.add_argument("--html-only", metavar="FILE", help="measure nothing; table and plots of this result file")
    parser.add_argument("--smoke", action="store_true", help="only margay, every program once: do they run? writes nothing")
    options = parser.parse_args(arguments)
    options.only = tuple(word for word in options.only.split(",") if word)
    unknown = set(options.only) - set(runs.groups())
    if unknown and options.only not in (("rmi",), ("simulate",), ("predict",)):
        parser.error(f"--only {','.join(sorted(unknown))}: there are {', '.join(runs.groups())}")
    return options


def prepare(root, options):
    """Packages, and the release build unless another one was named."""
    steps = [[str(root / "scripts" / "setup")]]
    if options.build is None:
        steps += [["cmake", "--preset", "release"],
                  ["cmake", "--build", "build/release", "--target", "margay", "mpi"]]
    for step in steps:
        done = subprocess.run(step, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"scripts/bench: {' '.join(step)} failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def say(line):
    print(line, file=sys.stderr, flush=True)


def smoke(build):
    """Exit status 0 when every program runs on margay and its data is right."""
    with tempfile.TemporaryDirectory() as folder:
        collector = collect.Collector(stacks.all_stacks(build, True), folder, 1, machine.processors(), machine.Quiet(0), say)
        try:
            # QUICK_TESTS: scripts/test without --all.
            collector.all(list(runs.smoke(runs.WIRES[:1] if os.environ.get("QUICK_TESTS") else runs.WIRES)))
        except collect.CompileError as error:
            sys.exit(f"scripts/bench: {error}")
    print(f"{len(collector.results)} figures, {len(collector.failures)} failures")
    return 1 if collector.failures or not collector.results else 0


def measure(root, build, options, out):
    chosen = stacks.all_stacks(build, False)
    repeats = options.repeats or (3 if options.quick else 5)
    quiet = machine.Quiet(options.patience, tuple(options.lock))
    data = {**machine.describe(root, chosen), "build_as_found": options.build is not None,
            "repeats": repeats, "quick": options.quick, "only": list(options.only)}
    with tempfile.TemporaryDirectory() as folder:
        collector = collect.Collector(chosen, folder, repeats, machine.processors(), quiet, say)
        try:
            collector.all(runs.plan(options.quick, options.only), lambda: save(data, collector, quiet, out))
        except collect.CompileError as error:
            sys.exit(f"scripts/bench: {error}")
    return data


def save(data, collector, quiet, out):
    """Saves all figures measured so far, so that they survive the early end of a long run."""
    data["results"], data["limits"] = collector.split()
    data["failures"] = collector.failures
    data["quiet"] = quiet.counts()
    write(data, out)


def one_line_each(data):
    """JSON with one line for each result, which keeps it small and its differences readable."""
    lists = ("results", "limits", "failures")
    head = json.dumps({key: value for key, value in data.items() if key not in lists}, indent=1)[:-2]
    parts = [f' "{name}": [\n' + ",\n".join("  " + json.dumps(entry) for entry in data[name]) + "\n ]" for name in lists]
    return head + ",\n" + ",\n".join(parts) + "\n}\n"


def write(data, out):
    out.mkdir(parents=True, exist_ok=True)
    (out / "result.json").write_text(one_line_each(data), encoding="utf-8")
    text = table.render(data)
    (out / "table.txt").write_text(text, encoding="utf-8")
    (out / "plots.html").write_text(plot.page(data), encoding="utf-8")
    return text


def main(arguments, root, text):
    # A terminated run ends like an interrupted one: with its children.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    options = parse(arguments, text)
    build = pathlib.Path(options.build) if options.build else root / "build" / "release"
    out = pathlib.Path(options.out) if options.out else root / "bench" / "results"
    if options.only == ("rmi",):
        if options.build is None:
            rmi.prepare(root)
        return rmi.run_goals(root, options, build.resolve(), out if options.out else out / "rmi")
    if options.only in (("simulate",), ("predict",)):
        if options.build is None:
            simulate.prepare(root)
        run = simulate.main if options.only == ("simulate",) else predictions.main
        return run(root, options, build.resolve(), out if options.out else out / "simulate")
    if options.html_only:
        print(write(json.loads(pathlib.Path(options.html_only).read_text(encoding="utf-8")), out), end="")
        return 0
    if options.smoke:
        return smoke(build)
    prepare(root, options)
    print(write(measure(root, build, options, out), out), end="")
    say(f"written: {', '.join(str(out / name) for name in ('result.json', 'table.txt', 'plots.html'))}")
    return 0
