#!/usr/bin/env python3
"""Tests of links between hosts that fall silent: two hosts are two network namespaces, joined by a bridge in a third. A
host removed from the bridge receives nothing more, and its own interface reports no error."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

from support import Job, Skip, compile_c, main, patient_case

HERE = pathlib.Path(__file__).resolve().parent
WIRES = ("epoll", "uring")
NAMESPACES = ["unshare", "--user", "--map-root-user", "--net"]
INSIDE = "MARGAY_FAULTS_IN_NAMESPACE"
GIVE_UP_S = 40  # a guard: the guaranteed limit is 15 s


def enter_namespace():
    """Starts this script again in namespaces of its own, where it has the necessary privileges; without them each case
    is skipped."""
    if os.environ.get(INSIDE) or subprocess.run([*NAMESPACES, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return
    os.environ[INSIDE] = "1"
    os.execvp(NAMESPACES[0], [*NAMESPACES, sys.executable, *sys.argv])


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True)


class Hosts:
    """Two hosts. `cut()` makes the link silent, `mend()` restores it."""

    def __init__(self):
        ip("link", "add", "bridge", "type", "bridge")
        ip("link", "set", "bridge", "up")
        self.holders = []
        self.jobs = []
        for host in range(2):
            holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec sleep 1000"], stdout=subprocess.PIPE)
            self.holders.append(holder)
            holder.stdout.readline()  # its namespace exists
            ip("link", "add", f"port{host}", "type", "veth", "peer", "name", "card", "netns", holder.pid)
            ip("link", "set", f"port{host}", "master", "bridge", "up")
            for words in (["addr", "add", f"10.77.0.{host + 1}/24", "dev", "card"], ["link", "set", "card", "up"],
                          ["link", "set", "lo", "up"]):
                subprocess.run(["nsenter", "--target", str(holder.pid), "--net", "ip", *words], check=True)

    def close(self):
        for job in self.jobs:
            if job.process.poll() is None:
                job.process.kill()  # its guardian ends the ranks
        for holder in self.holders:
            holder.kill()
            holder.wait()
        for made in ("port0", "port1", "bridge"):  # a port may have disappeared with its host
            subprocess.run(["ip", "link", "del", made], stderr=subprocess.DEVNULL, check=False)

    def job(self, build, wire, *arguments, options=(), **more):
        """Rank 0 on one host, rank 1 on the other."""
        program = compile_c(build, HERE / "link.c", "link", str(build / "bin" / "mpicc"))
        words = []
        for holder in self.holders:
            words += [":"] * bool(words)
            # Not -iface, because the launcher looks for it on its own host.
            words += ["-n", "1", "nsenter", "--target", str(holder.pid), "--net", "env", "MARGAY_IFACE=10.77.0.0/24",
                      program, *arguments]
        self.jobs.append(Job(build, ["--nodes", 2, "--wire-tcp", wire, *options], words, **more))
        return self.jobs[-1]

    @staticmethod
    def cut():
        ip("link", "set", "port1", "nomaster")

    @staticmethod
    def mend():
        ip("link", "set", "port1", "master", "bridge")


@contextlib.contextmanager
def hosts():
    if not os.environ.get(INSIDE):
        raise Skip("this user may not make a network namespace")
    made = Hosts()
    try:
        yield made
    finally:
        made.close()


def connected(job):
    line = job.read_line()
    assert line == "connected\n", (line, job.finish(GIVE_UP_S), job.stderr)


@patient_case
def silent_link_is_reported(build, scratch):
    """Whether it was idle, had data in flight, or had not been used yet."""
    with hosts() as two:
        jobs = [two.job(build, wire, place, "300") for wire in WIRES for place in ("idle", "busy", "full")]
        for job in jobs:
            connected(job)
        time.sleep(0.2)
        two.cut()
        first = [two.job(build, wire, "first", "0") for wire in WIRES]
        for job in jobs:
            job.expect(101, GIVE_UP_S, "no answer from host")
        for job in first:
            job.expect(101, GIVE_UP_S, "no answer from host for 12 s")


@patient_case
def link_silent_for_5_s_survives(build, scratch):
    with hosts() as two:
        jobs = [two.job(build, wire, place, "7") for wire in WIRES for place in ("idle", "busy", "full")]
        for job in jobs:
            connected(job)
        time.sleep(0.2)
        two.cut()
        jobs += [two.job(build, wire, "first", "0") for wire in WIRES]
        time.sleep(5)
        two.mend()
        for job in jobs:
            job.expect(0, GIVE_UP_S)
            assert job.stdout.endswith("all there, wrong numbers 0\n"), (job.command, job.stdout, job.stderr)


@patient_case
def what_a_silent_link_carries_is_no_deadlock(build, scratch):
    """Both ranks wait, and neither makes progress, but a message is in transit. Without such a message they are
    ended."""
    with hosts() as two:
        jobs = {(wire, place): two.job(build, wire, place, "0", options=["--deadlock", "abort"], stdin=subprocess.PIPE)
                for wire in WIRES for place in ("asks", "cycle")}
        for job in jobs.values():
            connected(job)
        two.cut()
        for job in jobs.values():
            job.process.stdin.write("\n")
            job.process.stdin.flush()
        time.sleep(5)
        assert not any(job.process.poll() for job in jobs.values()), "ended while the link was silent"
        two.mend()
        for (_, place), job in jobs.items():
            if place == "asks":
                job.expect(0, GIVE_UP_S)
                assert job.stdout.endswith("all there, wrong numbers 0\n"), (job.stdout, job.stderr)
                assert "deadlock" not in job.stderr, job.stderr
            else:
                job.expect(73, GIVE_UP_S, "--deadlock abort")


@patient_case
def stopped_receiver_of_a_full_connection(build, scratch):
    """The peer's kernel closes the window and answers probes, so the link is not silent."""
    with hosts() as two:
        jobs = [two.job(build, wire, "full", "3") for wire in WIRES]
        for job in jobs:
            connected(job)
        receivers = [max(pid for pid in job.marked() if pathlib.Path(f"/proc/{pid}/comm").read_text() == "link\n")
                     for job in jobs]
        for pid in receivers:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(18)
        for pid in receivers:
            os.kill(pid, signal.SIGCONT)
        for job in jobs:
            job.expect(0, GIVE_UP_S, "has been stopped")
            assert job.stdout.endswith("all there, wrong numbers 0\n"), (job.command, job.stdout, job.stderr)


enter_namespace()
main()
