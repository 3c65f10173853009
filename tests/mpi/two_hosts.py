"""Two hosts on one computer: each has its own network, processes, /dev/shm and user's folder; a pair of virtual Ethernet
devices connects them. Everything ends with the hosts, and with the test, however it ends."""
import os
import pathlib
import shutil
import subprocess

ADDRESSES = ("10.77.0.1", "10.77.0.2")
# Addresses without a host: one in the network, and one behind a router that drops packets for it, if ADDRESSES[0] is the router.
SILENT = ("10.77.0.99", "10.78.0.9")
DEVICE = "cable0"


class NoHosts(Exception):
    """This computer or user cannot have them."""


class Host:
    """A process that holds the namespaces until its standard input ends."""

    def __init__(self, folder):
        self.environment = {"MARGAY_USER_FOLDER": str(folder), "MARGAY_KEY_FILE": str(folder / "key")}
        hold = "mount -t tmpfs shm /dev/shm && ip link set lo up && echo ready && exec cat"
        self.holder = subprocess.Popen(["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", hold],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.holder.stdout.readline().strip() != "ready":
            self.end()
            raise NoHosts("namespaces: " + self.holder.stderr.read().strip())
        # unshare's child, the first process of the namespaces.
        self.pid = pathlib.Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text(encoding="ascii").split()[0]

    def command(self, *words):
        """A command that runs on this host."""
        return ["nsenter", "--target", self.pid, "--net", "--pid", "--mount", *map(str, words)]

    def ip(self, *words):
        # Only in its network, so that it finds processes of the other host.
        done = subprocess.run(["nsenter", "--target", self.pid, "--net", "ip", *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NoHosts(f"ip {' '.join(map(str, words))}: {done.stderr.strip()}")

    def end(self):
        self.holder.stdin.close()
        self.holder.wait()


class TwoHosts:
    """`with TwoHosts(folder) as hosts: hosts[0].command(...)`. The environments have one key, in different files."""

    def __init__(self, folder):
        self.folder, self.hosts = pathlib.Path(folder), []

    def __enter__(self):
        missing = [tool for tool in ("unshare", "nsenter", "ip") if shutil.which(tool) is None]
        if missing:
            raise NoHosts(f"{missing[0]}: command not found")
        if os.geteuid() != 0:
            raise NoHosts("only root makes networks")
        try:
            self.connect()
        except NoHosts:
            self.__exit__()
            raise
        return self

    def connect(self):
        key = os.urandom(32)
        for number in range(2):
            folder = self.folder / f"host{number}"
            folder.mkdir(mode=0o700)
            (folder / "key").touch(mode=0o600)
            (folder / "key").write_bytes(key)
            self.hosts.append(Host(folder))
        one, other = self.hosts
        one.ip("link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", other.pid)
        for host, address in zip(self.hosts, ADDRESSES):
            host.ip("address", "add", f"{address}/24", "dev", DEVICE)
            host.ip("link", "set", DEVICE, "up")

    def __getitem__(self, number):
        return self.hosts[number]

    def __exit__(self, *_):
        for host in self.hosts:
            host.end()
