#!/usr/bin/env python3
"""Tests of traces of ranks that die: the launcher closes their files and records the causes, and a bit flipped since
never changes a story without a report."""
import json
import pathlib
import random
import resource
import signal
import subprocess

from support import Clock, Job, case, compile_c, main

HERE = pathlib.Path(__file__).resolve().parent
EVENTS = 256
# The byte ranges (offset, length) that are read of a file with so many events, and a little more
# (docs/trace_format.md).
PARTS = {"header": (0, 256), "names": (4096, 2048), "definitions": (36864, 2048), "ring": (561152, EVENTS * 64)}
FLIPS = 60  # of each part
NOT_CLOSED = "not closed:"


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


def ends_of(build, folder):
    """By rank: how it ended. All files have a checksum."""
    run = margay_trace(build, "export", folder, "--format", "json")
    assert run.returncode == 0, run.stderr
    ranks = json.loads(run.stdout)["ranks"]
    assert all(rank["sealed"] for rank in ranks), ranks
    return {rank["rank"]: rank["end"] for rank in ranks}


@case
def killed_ranks(build, scratch):
    """Each rank's end is reported: that of the one that died, and those that the launcher caused then."""
    for place, options, death, status in (("posted", [], "kill", 137), ("barrier", ["--nodes", 2], "segv", 139),
                                          ("exchange", [], "abrt", 134), ("idle", [], "kill", 137)):
        folder = died(build, scratch / f"{place}_{death}", 2 if place == "exchange" else 3, options, place, death, status)
        ends = ends_of(build, folder)
        assert ends[1] == {"signal": status - 128}, ends
        # The launcher's own signals to the others.
        assert all(end is None or end["launcher"] == "rank" for rank, end in ends.items() if rank != 1), ends
        notes = notes_of(build, folder)
        name = signal.Signals(status - 128).name
        assert sum(note.startswith("rank 1: ") and f"({name})" in note for note in notes) == 1, notes
        assert not any(NOT_CLOSED in note for note in notes), notes
        shown = margay_trace(build, "print", folder)
        assert f"({name})\n" in shown.stdout and NOT_CLOSED not in shown.stdout, shown.stdout[:2000]
        listed = margay_trace(build, "messages", folder)
        assert listed.returncode == 0 and not listed.stderr, listed.stderr
    # An interrupted launcher passes the signal on; each rank's end names the launcher and the reason.
    folder = scratch / "interrupted"
    job = Job(build, ["-n", 2, "--trace", folder, "--trace-events", EVENTS], [program(build, "steady"), "60"])
    Clock.eventually(lambda: margay_trace(build, "messages", folder).stdout.count("\n") > 10, "no rank sent a message", 10)
    job.process.send_signal(signal.SIGINT)
    job.expect(130, 10)
    ends = ends_of(build, folder)
    assert ends == dict.fromkeys((0, 1), {"signal": signal.SIGINT, "launcher": "interrupt"}), ends


@case
def own_end_is_closed_once(build, scratch):
    """For a rank that has closed its file, and dies then, the launcher records only the end."""
    folder = died(build, scratch / "after", 2, [], "after_finalize", "kill", 137)
    ends = ends_of(build, folder)
    assert ends[1] == {"signal": signal.SIGKILL}, ends
    notes = notes_of(build, folder)
    assert any(note.startswith("rank 1: closed ") and "(SIGKILL)" in note for note in notes), notes
    shown = margay_trace(build, "print", folder)
    assert "(SIGKILL)\n" in shown.stdout, shown.stdout[:2000]


@case
def forked_child(build, scratch):
    """Calls of a rank's child appear neither in the rank's trace, nor do they overwrite it."""
    for when in ("before", "after"):
        folder = scratch / f"forked_{when}"
        Job(build, ["-n", 3, "--trace", folder], [program(build, "forks"), when]).expect(0, 10)
        assert notes_of(build, folder) == []
        shown = margay_trace(build, "print", folder, "--raw", "--all", "--rank", 1)
        assert "MPI_Query_thread" not in shown.stdout, "a call of the child's"


@case
def wherever_the_file_lies(build, scratch):
    """The launcher finds a rank's file, wherever its folder is, and whatever the program's current folder is."""
    (scratch / "sub").mkdir()
    faulty = program(build, "faulty")
    elsewhere = ["sh", "-c", f"cd {scratch}/sub && exec {faulty} barrier kill"]
    for folder, options, words in (("by_env", ["-env", "MARGAY_TRACE", "by_env"], [faulty, "barrier", "kill"]),
                                   ("by_genv", ["-genv", "MARGAY_TRACE", "by_genv"], [faulty, "barrier", "kill"]),
                                   ("below", ["--trace", "below"], elsewhere)):
        Job(build, ["-n", 3, "-wdir", scratch, *options], words).expect(137, 10)
        assert ends_of(build, scratch / folder)[1] == {"signal": signal.SIGKILL}
    assert not list((scratch / "sub").iterdir()), "a relative folder lies in the working folder"


@case
def end_of_a_wrapper(build, scratch):
    """The launcher does not know the end of a program that another one started, and does not report it as that one's
    end."""
    Job(build, ["-n", 3, "--trace", scratch / "wrapped"], ["sh", "-c", f"{program(build, 'faulty')} barrier kill; exit 0"]).finish(10)
    assert ends_of(build, scratch / "wrapped")[1] is None
    notes = notes_of(build, scratch / "wrapped")
    assert any(note.startswith("rank 1: ended ") for note in notes), notes
    assert not any("exit status" in note or NOT_CLOSED in note for note in notes), notes


@case
def job_inside_a_rank(build, scratch):
    """A job that a traced rank starts does not record into its folder."""
    steady = program(build, "steady")
    inner = f"if [ $PMI_RANK = 0 ]; then {build}/bin/margay run -n 3 {steady} 0 || exit 9; fi; exec {steady} 0"
    Job(build, ["-n", 2, "--trace", scratch / "outer"], ["sh", "-c", inner]).expect(0, 20)
    notes = notes_of(build, scratch / "outer")
    assert notes == [], notes
    assert len(list((scratch / "outer").iterdir())) == 2


@case
def trace_of_another_run(build, scratch):
    """Losses in files of an earlier run are not reported for a job that does not record."""
    old = scratch / "old"
    job = Job(build, ["-n", 2, "--trace", old, "--trace-events", 8], [program(build, "steady"), "0"])
    job.expect(0, 10)
    assert "were overwritten" in job.stderr, job.stderr
    job = Job(build, ["-n", 2], ["true"], env={"MARGAY_TRACE": str(old)})
    job.expect(0, 10)
    assert not job.stderr, job.stderr


@case
def room_for_a_ranks_file(build, scratch):
    """The trial of the folder takes as much space as a rank's file will."""
    limit = 24 << 20
    events = 1 << 19
    for words, status in ((["--trace-events", events], 71), ([], 0)):
        job = Job(build, ["-n", 2, "--trace", scratch / f"room{len(words)}", *words], ["touch", scratch / "ran"],
                  preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        job.expect(status, 10)
        assert status == 0 or f"takes {561152 + 64 * events} bytes" in job.stderr, job.stderr
        assert (scratch / "ran").exists() == (status == 0), "a rank ran before the mistake was reported"


@case
def trace_is_not_written_over(build, scratch):
    """A file of a trace cannot be the output of an export."""
    Job(build, ["-n", 2, "--trace", scratch / "kept"], [program(build, "steady"), "0"]).expect(0, 10)
    file = scratch / "kept" / "rank_00001.trace"
    before = file.read_bytes()
    for words in (["view", scratch / "kept"], ["export", scratch / "kept", "--format", "csv"]):
        run = margay_trace(build, *words, "-o", file)
        assert run.returncode == 1 and str(file) in run.stderr, run
        assert file.read_bytes() == before, words


@case
def killed_launcher(build, scratch):
    """The files stay open then: they are read nevertheless, and one message reports it."""
    folder = scratch / "orphaned"
    job = Job(build, ["-n", 2, "--trace", folder, "--trace-events", EVENTS], [program(build, "steady"), "60"])
    Clock.eventually(lambda: margay_trace(build, "messages", folder).stdout.count("\n") > 10, "no rank sent a message", 10)
    job.process.kill()
    job.finish(5)
    job.expect_nothing_left(5)
    notes = notes_of(build, folder)
    assert sum(NOT_CLOSED in note and "ranks 0, 1" in note for note in notes) == 1, notes
    for words in (["story", folder], ["messages", folder], ["export", folder, "--format", "csv"]):
        run = margay_trace(build, *words)
        assert run.returncode == 0 and run.stderr.count(NOT_CLOSED) == 1, run.stderr
    shown = margay_trace(build, "print", folder)
    assert shown.stdout.count(NOT_CLOSED) == 1, shown.stdout[:2000]


def readings(build, folder):
    """All output for a trace; None: it is rejected with a message that names the file."""
    runs = [margay_trace(build, *words) for words in
            (["check", folder], ["print", folder, "--raw", "--all"], ["story", folder, "--all", "--count", "100"])]
    if any(run.returncode == 1 for run in runs):
        assert all(run.returncode == 1 and ".trace" in run.stderr for run in runs), runs
        return None
    return [(run.returncode, run.stdout, run.stderr) for run in runs]


@case
def flipped_bits(build, scratch):
    """A flipped bit in the file of a killed rank is reported, or is in a part that is not read."""
    folder = died(build, scratch / "flipped", 3, [], "unexpected", "kill", 137)
    right = readings(build, folder)
    assert right is not None
    draw = random.Random(1)
    reported = dict.fromkeys(PARTS, 0)
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
                    reported[part] += now is None
                    assert now in (None, right), f"bit {bit} of byte {at} ({part}) changes the output"
    assert all(reported.values()), reported
    assert readings(build, folder) == right


main()
