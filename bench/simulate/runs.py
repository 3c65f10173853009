"""The workloads of scripts/bench --only simulate, and one run of a simulator: its wall time and peak memory."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
WORKLOAD = HERE / "workload.c"
FLAGS = ["-std=gnu11", "-O2"]
LIMIT_S = 3600
SIMULATED = re.compile(r"simulated ([0-9.]+) s")

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" radical="0-{last}" suffix="" speed="1Gf" bw="1.25GBps" lat="5us"/>
</platform>
"""


@dataclass(frozen=True)
class Case:
    """`beside`: SMPI runs it too. Goals: shares of SMPI's time and memory, or seconds and bytes; 0: none."""
    title: str
    mode: str
    calls: int
    ranks: int
    machine: str = "cluster.toml"
    beside: bool = True
    time_most: float = 0.1
    memory_most: float = 0.5

    @property
    def arguments(self):
        return [self.mode, str(self.calls)]


FULL = (
    Case("1,024 ranks, 20 allreduces of 8 bytes", "allreduce", 20, 1024),
    Case("4,096 ranks, 50 steps of a halo exchange", "halo", 50, 4096),
    Case("256 ranks, an all-to-all of 64 bytes a pair", "alltoall", 1, 256),
    Case("9,216 ranks on asci-red, 10 allreduces of 8 bytes", "allreduce", 10, 9216, "asci-red", False, 10, 4e9),
    Case("65,536 ranks, MPI_Init and MPI_Finalize", "start", 0, 65536, beside=False, time_most=0, memory_most=0),
)
# Of so few ranks, start and end are most of the time: without goals.
QUICK = (
    Case("64 ranks, 5 allreduces of 8 bytes", "allreduce", 5, 64, time_most=0, memory_most=0),
    Case("64 ranks, 5 steps of a halo exchange", "halo", 5, 64, time_most=0, memory_most=0),
    Case("32 ranks, an all-to-all of 64 bytes a pair", "alltoall", 1, 32, time_most=0, memory_most=0),
    Case("128 ranks on asci-red, 2 allreduces of 8 bytes", "allreduce", 2, 128, "asci-red", False, 0, 0),
    Case("256 ranks, MPI_Init and MPI_Finalize", "start", 0, 256, beside=False, time_most=0, memory_most=0),
)


class Failed(Exception):
    """A program that does not compile or run; the text says which, and why."""


@dataclass(frozen=True)
class Sample:
    seconds: float
    bytes: int  # peak resident memory of the largest process
    simulated_s: float  # 0: the workload prints none


class Margay:
    name = "margay"

    def __init__(self, build, folder):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.program = compile_workload(str(self.bin / "mpicc"), pathlib.Path(folder) / "workload_margay")

    @staticmethod
    def machine(case):
        return str(HERE / case.machine) if case.machine.endswith(".toml") else case.machine

    def command(self, case):
        return [str(self.bin / "margay"), "simulate", "-n", str(case.ranks), "--machine", self.machine(case), "--compute", "none", self.program, *case.arguments]


class Smpi:
    """SimGrid's SMPI with the settings that are fastest for these programs (README.md)."""
    name = "SMPI"

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.program = compile_workload("smpicc", self.folder / "workload_smpi")

    def command(self, case):
        platform, hosts = self.folder / f"cluster_{case.ranks}.xml", self.folder / f"hosts_{case.ranks}"
        platform.write_text(PLATFORM.format(last=case.ranks - 1), encoding="utf-8")
        hosts.write_text("".join(f"node-{node}\n" for node in range(case.ranks)), encoding="utf-8")
        return ["smpirun", "-np", str(case.ranks), "-platform", str(platform), "-hostfile", str(hosts), "--cfg=smpi/simulate-computation:no",
                "--cfg=smpi/privatization:no", "--cfg=smpi/host-speed:1f", "--log=root.thres:error", self.program, *case.arguments]


def compile_workload(compiler, target):
    try:
        done = subprocess.run([compiler, *FLAGS, "-o", str(target), str(WORKLOAD)], capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failed(f"{compiler}: {error.strerror}: run scripts/setup, and build the targets margay, mpi and mpi_simulate") from error
    if done.returncode != 0:
        raise Failed(f"{compiler} cannot compile {WORKLOAD}:\n{done.stderr[-2000:]}")
    return str(target)


def measure(command, limit_s=LIMIT_S):
    """One run. Processes that the command leaves end with it."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        began = time.monotonic()
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            raise Failed(f"{command[0]}: {error.strerror}") from error
        timer = threading.Timer(limit_s, os.killpg, (child.pid, signal.SIGKILL))
        timer.start()
        try:
            # Of the child and of the processes for which it has waited.
            _, status, used = os.wait4(child.pid, 0)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
        seconds = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if child.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit status {child.returncode} after {seconds:.0f} s\n{text[-2000:]}")
    found = SIMULATED.search(text)
    return Sample(seconds, used.ru_maxrss * 1024, float(found.group(1)) if found else 0)
