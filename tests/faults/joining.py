#!/usr/bin/env python3
"""Tests of a rank that joins its job: under margay's own launcher, under Hydra, alone, under a launcher with an unknown
protocol, and with little or no shared memory. Uses no MPI library."""
import os
import pathlib
import re
import shutil
import subprocess

from support import Job, Skip, case, compile_c, main

HERE = pathlib.Path(__file__).resolve().parent

LINE = re.compile(r"rank (\d+) of (\d+) node (\d+) of (\d+) local (\d+) of (\d+) sum (\S+) last card (\S+) appnum (\d+) secret (-?\d+)")


def probe(build):
    return build / "tests" / "join_probe"


def ranks_of(text):
    found = sorted(tuple(line.groups()) for line in map(LINE.match, text.splitlines()) if line)
    assert len({rank[-1] for rank in found}) <= 1, f"ranks hold different secrets: {text}"
    return [rank[:-1] for rank in found]


def plain(build, command, env=None, prefix=(), **arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "MARGAY", "OMPI"))}
    environment.update(env or {})
    return subprocess.run([*prefix, *map(str, command)], env=environment, text=True, capture_output=True, timeout=30, check=False,
                          **arguments)


@case
def under_margay_run(build, scratch):
    job = Job(build, ["-n", 3], [probe(build)])
    job.expect(0, 5)
    assert ranks_of(job.stdout) == [(str(r), "3", "0", "1", str(r), "3", "6", "2", "0") for r in range(3)], job.stdout
    job = Job(build, ["-n", 3, "--nodes", 2], [probe(build), ":", "-n", 1, probe(build)])
    job.expect(0, 5)
    assert ranks_of(job.stdout) == [("0", "4", "0", "2", "0", "2", "3", "3", "0"), ("1", "4", "0", "2", "1", "2", "3", "3", "0"),
                                    ("2", "4", "1", "2", "0", "2", "7", "3", "0"), ("3", "4", "1", "2", "1", "2", "7", "3", "1")]


@case
def started_and_ended(build, scratch):
    """A process without MPI starts others in places, and ends some on purpose, which does not fail the job."""
    job = Job(build, ["--places", 6], [build / "tests" / "spawn_probe"])
    job.expect(0, 5)
    lines = job.stdout.splitlines()
    assert lines[:2] == ["started in 1 2 3", "ended"] and lines[3:] == ["started again"], job.stdout
    assert lines[2].endswith("place 5 has had no process"), job.stdout


@case
def through_a_wrapper(build, scratch):
    job = Job(build, ["-n", 2], ["sh", "-c", f"{probe(build)}; true"])
    job.expect(0, 5)
    assert [rank[6] for rank in ranks_of(job.stdout)] == ["3", "3"]


@case
def child_of_a_rank_does_not_join(build, scratch):
    """A rank's descriptors are not inherited: its child gets an error, instead of becoming a second rank 0."""
    code = ("import os, subprocess, sys; fds = [int(os.environ[n]) for n in ('MARGAY_BOARD_FD', 'MARGAY_NODE_FD', 'PMI_FD')]\n"
            "[os.close(fd) for fd in fds]; sys.exit(subprocess.run([sys.argv[1]]).returncode)")
    job = Job(build, ["-n", 2], ["python3", "-c", code, probe(build)])
    job.expect(3, 5)
    assert "MARGAY_BOARD_FD" in job.stderr and "not open here" in job.stderr, job.stderr


def hydra():
    command = shutil.which("mpiexec.hydra")
    if command is None:
        raise Skip("mpiexec.hydra is not installed")
    return command


@case
def under_hydra(build, scratch):
    run = plain(build, [hydra(), "-n", 4, probe(build)])
    assert run.returncode == 0, run.stderr
    assert ranks_of(run.stdout) == [(str(r), "4", "0", "1", str(r), "4", "10", "3", "0") for r in range(4)], run.stdout
    run = plain(build, [hydra(), "-n", 1, probe(build)])
    assert ranks_of(run.stdout) == [("0", "1", "0", "1", "0", "1", "alone", "0", "0")], run.stdout + run.stderr


@case
def under_hydra_without_each_others_descriptors(build, scratch):
    """If /proc is closed each rank is its own node, and all agree on that."""
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise Skip("root opens everything, and setpriv is not installed")
        os.chmod(scratch, 0o755)
        copy = scratch / "join_probe"
        shutil.copy(probe(build), copy)
        program = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups", copy, "unopenable"]
    else:
        program = [probe(build), "unopenable"]
    run = plain(build, [hydra(), "-n", 3, *program], cwd="/")
    assert ranks_of(run.stdout) == [(str(r), "3", str(r), "3", "0", "1", "alone", "2", "0") for r in range(3)], run.stdout + run.stderr


@case
def abort_under_each_launcher(build, scratch):
    job = Job(build, ["-n", 3], [probe(build), "abort"])
    job.expect(42, 2, ["rank 1", ": no more fuel (exit status 42)"])
    run = plain(build, [hydra(), "-n", 3, probe(build), "abort"])
    assert run.returncode == 42, (run.returncode, run.stdout, run.stderr)


def second_programs(build):
    """Ways to start two programs as one rank."""
    forked = compile_c(build, HERE / "forked.c", "forked", str(build / "bin" / "mpicc"))
    return {"behind": ["sh", "-c", f"{probe(build)}; {probe(build)}"],
            # One may end before the other begins; then Hydra has closed the connection, and only the status shows it.
            "beside": ["sh", "-c", f"{probe(build)} & first=$!; {probe(build)}; second=$?; wait $first && exit $second"],
            "forked": [forked]}


@case
def second_program_in_a_ranks_place(build, scratch):
    """One process can join as a rank, once; another one is rejected with a message, and the job ends, whatever the
    shell's status."""
    commands = second_programs(build)
    for command in (*commands.values(), ["sh", "-c", f"{probe(build)}; {probe(build)}; true"]):
        for options in ([], ["--nodes", 2]):
            job = Job(build, ["-n", 2, *options], command)
            job.expect(1, 10, finding="second-program")
            refusals = [line for line in job.stderr.splitlines() if "`margay run`" in line]
            assert refusals and "MPI_Abort" not in job.stderr, job.stderr
    # A launcher that keeps the connection after the first process.
    run = plain(build, ["python3", HERE / "quiet_launcher.py", 2, *commands["behind"]])
    assert "rank's place" in run.stderr and "ended: 1" in run.stdout, (run.stdout, run.stderr)
    library = {"LD_LIBRARY_PATH": str(build / "lib")}
    for name, command in commands.items():
        # Into a file, because Hydra drops output that it has not forwarded at an abort.
        errors = scratch / f"stderr_{name}"
        run = plain(build, [hydra(), "-n", 2, "sh", "-c", f'exec "$@" 2>> {errors}', "sh", *command], env=library)
        assert run.returncode != 0 and "rank's place" in errors.read_text(), (command, run.returncode, errors.read_text())


@case
def alone(build, scratch):
    run = plain(build, [probe(build)])
    assert ranks_of(run.stdout) == [("0", "1", "0", "1", "0", "1", "alone", "none", "0")], run.stdout + run.stderr


@case
def launchers_that_it_cannot_talk_to(build, scratch):
    for env in ({"OMPI_COMM_WORLD_SIZE": "2"}, {"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, {"PMIX_RANK": "0"},
                {"PMI_FD": "77", "PMI_RANK": "0", "PMI_SIZE": "2"}, {"PMI_FD": "x"}, {"MARGAY_BOARD_FD": "0"}):
        run = plain(build, [probe(build)], env=env, stdin=subprocess.DEVNULL)
        assert run.returncode == 3 and run.stdout == "" and len(run.stderr.splitlines()) == 1, (env, run.stdout, run.stderr)
    run = plain(build, [probe(build)], env={"OMPI_COMM_WORLD_SIZE": "2", "MARGAY_ALONE": "1"})
    assert run.returncode == 0, run.stderr


@case
def memfd_refused(build, scratch):
    """A file in /dev/shm, allocated in full and without a name, does as well."""
    job = Job(build, ["-n", 3], [probe(build)], env={"MARGAY_REFUSE_MEMFD": "1"})
    job.expect(0, 5)
    assert [rank[6] for rank in ranks_of(job.stdout)] == ["6"] * 3, job.stdout


def in_own_mounts(commands):
    """A prefix that runs a command with /dev/shm changed for it alone."""
    unshare = shutil.which("unshare")
    prefix = [unshare, "-m", *([] if os.geteuid() == 0 else ["-r"]), "sh", "-c", commands + '; exec "$@"', "sh"]
    if unshare is None or subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
        raise Skip("this user may not change mounts")
    return prefix


@case
def small_dev_shm(build, scratch):
    """1 MiB of /dev/shm: memfd is not affected; without memfd one line reports the requested size, the available size,
    and the limit."""
    small = in_own_mounts("mount -t tmpfs -o size=1m tmpfs /dev/shm")
    job = Job(build, ["-n", 2], [probe(build)], prefix=small)
    job.expect(0, 5)
    job = Job(build, ["-n", 16], [probe(build)], prefix=small, env={"MARGAY_REFUSE_MEMFD": "1"})
    assert job.finish(2) not in (0, 135), job.stderr
    assert re.search(r" \d+ bytes: \d+ bytes .* /dev/shm ", job.stderr), job.stderr
    assert len(job.stderr.splitlines()) == 1, job.stderr
    job.expect_nothing_left(1)


@case
def docker_dev_shm(build, scratch):
    """64 MiB of /dev/shm, as in docker: even without memfd there is room for two jobs of eight ranks at once."""
    small = in_own_mounts("mount -t tmpfs -o size=64m tmpfs /dev/shm")
    for command in ([shutil.which("mpiexec.hydra")], [build / "bin" / "margay", "run"]):
        if command[0] is None:
            continue
        words = " ".join(map(str, [*command, "-n", 8, probe(build)]))
        run = plain(build, ["sh", "-c", f"{words} > {scratch}/other & {words} && wait $! && cat {scratch}/other"], prefix=small,
                    env={"MARGAY_REFUSE_MEMFD": "1"})
        assert run.returncode == 0, run.stderr
        assert [line.group(7) for line in map(LINE.match, run.stdout.splitlines())] == ["36"] * 16, run.stdout


@case
def no_dev_shm(build, scratch):
    for change in ("mount -t tmpfs -o size=1m,ro tmpfs /dev/shm", "mount -t tmpfs tmpfs /dev"):
        try:
            without = in_own_mounts(change)
            job = Job(build, ["-n", 2], [probe(build)], prefix=without, env={"MARGAY_REFUSE_MEMFD": "1"})
        except Skip:
            continue
        assert job.finish(2) not in (0, 135), job.stderr
        assert "/dev/shm" in job.stderr and len(job.stderr.splitlines()) == 1, job.stderr


@case
def file_size_limit(build, scratch):
    import resource
    job = Job(build, ["-n", 2], [probe(build)], preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert job.finish(2) == 71, job.stderr
    assert "ulimit -f" in job.stderr and len(job.stderr.splitlines()) == 1, job.stderr


main()
