#!/usr/bin/env python3
"""Traces of ranks that die: the launcher closes their files and tells how they ended, and no bit that is flipped since
changes a story unsaid."""
import pathlib
import random
import subprocess

from support import Clock, Job, case, compile_c, main

HERE = pathlib.Path(__file__).resolve().parent
EVENTS = 256
# What is read of a file with so many events (docs/trace_format.md), and a little more.
PARTS = {"header": (0, 256), "names": (4096, 2048), "definitions": (36864, 2048), "ring": (561152, EVENTS * 64)}
FLIPS = 60  # of each part
NOBODY = "nobody closed the file"


def program(build, name):
    return compile_c(build, HERE / f"{name}.c", name, str(build / "bin" / "mpicc"))


def margay_trace(build, *words):
    return subprocess.run([build / "bin" / "margay", "trace", *map(str, words)], capture_output=True, text=True,
                          timeout=Clock.limit(10), check=False)


def died(build, folder, ranks, options, place, death, status):
    """A job's trace after its rank 1 has died."""
    job = Job(build, ["-n", ranks, *options, "--trace", folder, "--trace-events", EVENTS], [program(build, "faulty"), place, death])
    job.expect(status, 10)
    assert "stays unclosed" not in job.stderr, job.stderr
    return folder


def notes_of(build, folder):
    run = margay_trace(build, "check", folder)
    assert run.returncode == 0, run.stdout + run.stderr
    return [line.removeprefix("note: ") for line in run.stdout.splitlines() if line.startswith("note: ")]


@case
def killed_ranks(build, scratch):
    """Each rank's end is told: of the one that died by itself, and of those that the launcher ended because of it."""
    for place, options, death, status, end in (("posted", [], "kill", 137, "was killed by signal 9 (SIGKILL)"),
                                               ("barrier", ["--nodes", 2], "segv", 139, "was killed by signal 11 (SIGSEGV)"),
                                               ("exchange", [], "abrt", 134, "was killed by signal 6 (SIGABRT)"),
                                               ("idle", [], "kill", 137, "was killed by signal 9 (SIGKILL)")):
        folder = died(build, scratch / f"{place}_{death}", 2 if place == "exchange" else 3, options, place, death, status)
        notes = notes_of(build, folder)
        assert any(note.startswith(f"rank 1: {end}") for note in notes), notes
        assert not any(NOBODY in note for note in notes), notes
        shown = margay_trace(build, "print", folder)
        assert f", {end}\n" in shown.stdout and NOBODY not in shown.stdout, shown.stdout[:2000]
        told = margay_trace(build, "messages", folder)
        assert told.returncode == 0 and not told.stderr, told.stderr


@case
def own_end_is_closed_once(build, scratch):
    """A rank that has closed its file, and dies then, is none of the launcher's."""
    folder = died(build, scratch / "after", 2, [], "after_finalize", "kill", 137)
    assert not any("rank" in note for note in notes_of(build, folder)), notes_of(build, folder)


@case
def killed_launcher(build, scratch):
    """Nobody closes the files then: they are read all the same, and it is said once."""
    folder = scratch / "orphaned"
    job = Job(build, ["-n", 2, "--trace", folder, "--trace-events", EVENTS], [program(build, "steady"), "60"])
    Clock.eventually(lambda: margay_trace(build, "messages", folder).stdout.count("\n") > 10, "no rank sent a message", 10)
    job.process.kill()
    job.finish(5)
    job.expect_nothing_left(5)
    notes = notes_of(build, folder)
    assert sum(NOBODY in note for note in notes) == 1, notes
    assert any("the files of ranks 0, 1" in note for note in notes), notes
    for words in (["story", folder], ["messages", folder], ["export", folder, "--format", "csv"]):
        run = margay_trace(build, *words)
        assert run.returncode == 0 and run.stderr.count(NOBODY) == 1, run.stderr
    shown = margay_trace(build, "print", folder)
    assert shown.stdout.count(NOBODY) == 1, shown.stdout[:2000]


def readings(build, folder):
    """All that is told of a trace; None: it is refused, by a sentence that names the file."""
    runs = [margay_trace(build, *words) for words in
            (["check", folder], ["print", folder, "--raw", "--all"], ["story", folder, "--all", "--count", "100"])]
    if any(run.returncode == 1 for run in runs):
        assert all(run.returncode == 1 and ".trace" in run.stderr for run in runs), runs
        return None
    return [(run.returncode, run.stdout, run.stderr) for run in runs]


@case
def flipped_bits(build, scratch):
    """A flipped bit in the file of a killed rank is told, or was none of what is read."""
    folder = died(build, scratch / "flipped", 3, [], "unexpected", "kill", 137)
    right = readings(build, folder)
    assert right is not None
    draw = random.Random(1)
    told = dict.fromkeys(PARTS, 0)
    with open(folder / "rank_00001.trace", "r+b") as file:
        for part, (offset, size) in PARTS.items():
            for _ in range(FLIPS):
                at, bit = offset + draw.randrange(size), draw.randrange(8)
                file.seek(at)
                byte = file.read(1)[0]
                for value in (byte ^ 1 << bit, byte):
                    file.seek(at)
                    file.write(bytes([value]))
                    file.flush()
                    if value == byte:
                        break
                    now = readings(build, folder)
                    told[part] += now is None
                    assert now in (None, right), f"bit {bit} of byte {at} ({part}) changes what is told"
    assert all(told.values()), told
    assert readings(build, folder) == right


main()
