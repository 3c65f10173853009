"""scripts/bench --only simulate: `margay simulate` beside SMPI."""
import dataclasses
import json
import subprocess
import sys
import tempfile
import time

from peers import machine, stacks
from rmi import report
from rmi.command import quiet_lines, write_text
from simulate import runs, verdicts


def say(line):
    print(line, file=sys.stderr, flush=True)


def prepare(root):
    """Packages, and the release build."""
    for step in ([str(root / "scripts" / "setup")], ["cmake", "--preset", "release"],
                 ["cmake", "--build", "build/release", "--target", "margay", "mpi", "mpi_simulate"]):
        done = subprocess.run(step, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"scripts/bench: {' '.join(step)} failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def one_round(case, simulators, quiet):
    """A sample of each simulator, in turns; again if something else ran meanwhile and patience lasts."""
    while True:
        with quiet.alone():
            quiet.wait()
            began = time.monotonic()
            samples = {one.name: runs.measure(one.command(case)) for one in simulators if case.beside or one.name == runs.Margay.name}
            if quiet.was_quiet(time.monotonic() - began):
                return samples


def measure(cases, simulators, repeats, quiet):
    """{case: {simulator: [samples]}}."""
    measured = {}
    for case in cases:
        for repeat in range(repeats):
            say(f"{case.title}: {repeat + 1} of {repeats}")
            for name, sample in one_round(case, simulators, quiet).items():
                measured.setdefault(case, {}).setdefault(name, []).append(sample)
    return measured


def data_of(measured, about):
    """The samples for result.json."""
    rows = [{"case": dataclasses.asdict(case), "samples": {name: [dataclasses.asdict(sample) for sample in samples] for name, samples in by.items()}}
            for case, by in measured.items()]
    return {**about, "results": rows}


def main(root, options, build, out):
    cases = runs.QUICK if options.quick else runs.FULL
    quiet = machine.Quiet(options.patience, tuple(options.lock))
    about = machine.describe(root, [stacks.Margay(build)])
    about["versions"]["smpi"] = stacks.first_line(["smpirun", "-version"])
    with tempfile.TemporaryDirectory() as folder:
        try:
            simulators = [runs.Margay(build, folder), runs.Smpi(folder)]
            measured = measure(cases, simulators, options.repeats or 3, quiet)
        except runs.Failed as error:
            sys.exit(f"scripts/bench: {error}")
    computer = about["machine"]
    lines = [f"{about['date']}  commit {about['commit']}  medians of runs in turns; memory: the peak of the simulating process",
             f"{computer['model']}, {computer['processors']} processors, Linux {computer['kernel']}, {about['versions']['smpi']}",
             *quiet_lines(quiet.disturbed), "", *report.aligned(verdicts.rows(measured)), "", *verdicts.summary(measured)]
    write_text(out / "table.txt", lines)
    write_text(out / "result.json", [json.dumps(data_of(measured, about), indent=1)])
    print("\n".join(lines))
    say(f"written: {out / 'table.txt'}, {out / 'result.json'}")
    return 0
