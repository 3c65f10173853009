"""The three MPIs: how each compiles a benchmark and starts it, over shared memory and over TCP.

Each peer gets the settings that are best for it in the case at hand; bench/peers/README.md says why for each."""
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-std=gnu11", "-O2"]


def first_line(command):
    """The first line that a command prints, or an empty string."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return next((line.strip() for line in run.stdout.splitlines() if line.strip()), "")


class Stack:
    """The defaults of an MPI."""

    def name_server(self):
        """(the command of a server by which two jobs find each other, the launcher's options for it). Each {folder} is
        replaced by the path of a common folder."""
        return [], []


class Margay(Stack):
    name = "margay"

    def __init__(self, build):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.compiler = str(self.bin / "mpicc")

    def version(self):
        return first_line([str(self.bin / "margay"), "run", "--version"])

    def command(self, wire, ranks, processors, beside=0):
        nodes = ["--nodes", "2"] if wire == "tcp" else []
        return [str(self.bin / "margay"), "run", "-n", str(ranks), *nodes]

    def environment(self, wire, ranks, processors):
        return {}


class Mpich(Stack):
    name = "mpich"
    compiler = "mpicc.mpich"

    def version(self):
        run = subprocess.run(["mpiexec.mpich", "--version"], capture_output=True, text=True, check=False)
        words = [line.split()[-1] for line in run.stdout.splitlines() if line.strip().startswith("Version:")]
        return "MPICH " + " ".join(words)

    def command(self, wire, ranks, processors, beside=0):
        return ["mpiexec.mpich", "-n", str(ranks)]

    def environment(self, wire, ranks, processors):
        quiet = {"UCX_LOG_LEVEL": "fatal", "HWLOC_HIDE_ERRORS": "2"}
        if wire == "tcp":
            quiet |= {"MPIR_CVAR_NUM_CLIQUES": "2", "MPIR_CVAR_CLIQUES_BY_BLOCK": "1", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
        return quiet


class OpenMpi(Stack):
    name = "openmpi"
    compiler = "mpicc.openmpi"

    def version(self):
        return first_line(["mpirun.openmpi", "--version"]).replace("mpirun.openmpi (OpenRTE)", "Open MPI")

    def __init__(self):
        self.nodes = None  # the folder of emulated nodes' shared memory; deleted with this object

    def command(self, wire, ranks, processors, beside=0):
        words = ["mpirun.openmpi", "-n", str(ranks), "--bind-to", "none", "--mca", "pml", "ob1"]
        if os.geteuid() == 0:
            words.append("--allow-run-as-root")
        if ranks + beside > processors:
            # The second word also states this: Open MPI examines each emulated node alone, and finds enough processors
            # there.
            words += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        if wire == "tcp":
            each = (ranks + 1) // 2
            # By default it creates no window between the nodes: of its components only this one does over TCP.
            return words + ["--mca", "osc", "pt2pt", "--host", f"node0:{each},node1:{each}", "--map-by", f"ppr:{each}:node",
                            "--mca", "plm_rsh_agent", str(HERE / "emulated_node"), "--mca", "oob_tcp_if_include", "lo",
                            "--mca", "btl", "self,vader,tcp", "--mca", "btl_tcp_if_include", "lo"]
        if wire == "dynamic":
            # Processes of two jobs, or of a job and the one that started it, do not share memory (vader).
            return words + ["--mca", "oob_tcp_if_include", "lo", "--mca", "btl", "self,vader,tcp", "--mca", "btl_tcp_if_include", "lo"]
        # Windows that MPI allocates use `sm`, which is faster than `rdma` and does not crash in compare-and-swap.
        return words + ["--mca", "btl", "self,vader", "--mca", "osc_rdma_priority", "90"]

    def name_server(self):
        return (["ompi-server", "--no-daemonize", "-r", "{folder}/names"],
                ["--ompi-server", "file:{folder}/names"])

    def environment(self, wire, ranks, processors):
        quiet = {"HWLOC_HIDE_ERRORS": "2"}
        if wire == "tcp":
            if self.nodes is None:
                self.nodes = tempfile.TemporaryDirectory(prefix="margay-bench-", dir="/dev/shm")
            quiet["MARGAY_BENCH_NODES"] = self.nodes.name
        return quiet


class NoMpi(Stack):
    """Programs without MPI: the machine's limits, and the bare C program for the comparison of memory."""
    name = "machine"
    compiler = "cc"

    def version(self):
        return first_line(["cc", "--version"])

    def command(self, wire, ranks, processors, beside=0):
        return []

    def environment(self, wire, ranks, processors):
        return {}


def all_stacks(build, margay_only):
    return [Margay(build)] if margay_only else [Margay(build), Mpich(), OpenMpi()]
