"""The environment of a measurement: machine, versions, commit."""
import contextlib
import datetime
import fcntl
import os
import platform
import resource
import subprocess
import time

TICK = os.sysconf("SC_CLK_TCK")
LOOK_S = 0.3
OTHERS_MAX = 0.06  # of all processors; the accounting itself has an error of some percent


def lscpu():
    run = subprocess.run(["lscpu"], capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    pairs = (line.split(":", 1) for line in run.stdout.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def git(root, *words):
    run = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else ""


def commit(root):
    """The commit, with "+" when files that are built or measured differ from it."""
    name = git(root, "rev-parse", "--short=12", "HEAD")
    changed = [line for line in git(root, "status", "--porcelain").splitlines() if "bench/results/" not in line]
    return name + ("+" if changed else "")


def ticks():
    """(used, all) processor time of the machine since it started, in seconds. Time stolen by its host counts as
    used."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, idle, waiting, _, _, stolen = map(int, file.readline().split()[1:9])
    used = user + nice + system + stolen
    return used / TICK, (used + idle + waiting) / TICK


def our_seconds():
    """Processor time of this process and of all its finished children."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def taken(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Quiet:
    """Whether the machine is otherwise idle: a disturbed round is repeated, as long as patience lasts."""

    def __init__(self, patience_s, locks=()):
        self.patience_s = patience_s
        self.locks = locks  # files that others lock too when they measure or build on this machine
        self.repeated = 0
        self.disturbed = 0
        self.start()

    def start(self):
        self.used, self.all = ticks()
        self.ours = our_seconds()

    def others(self):
        """The share of all processor time since start() that other programs used."""
        used, whole = ticks()
        return max(0.0, used - self.used - (our_seconds() - self.ours)) / max(1 / TICK, whole - self.all)

    @contextlib.contextmanager
    def alone(self):
        """Takes all locks or none, so that users of the machine take turns and cannot deadlock."""
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(open(name, "a", encoding="utf-8")) for name in self.locks]
            while not all(taken(file) for file in files):
                for file in files:
                    fcntl.flock(file, fcntl.LOCK_UN)
                time.sleep(LOOK_S)
            yield

    def wait(self):
        """Returns when no other program runs, or when patience is over."""
        while self.patience_s > 0:
            self.start()
            time.sleep(LOOK_S)
            if self.others() <= OTHERS_MAX:
                break
            self.patience_s -= LOOK_S
        self.start()

    def was_quiet(self, seconds):
        """Whether the round since start(), of so many seconds, counts. If not, the caller repeats it."""
        if self.others() <= OTHERS_MAX:
            return True
        self.patience_s -= seconds
        if self.patience_s > 0:
            self.repeated += 1
            return False
        self.disturbed += 1
        return True

    def counts(self):
        return {"repeated_rounds": self.repeated, "disturbed_rounds": self.disturbed}


def processors():
    return len(os.sched_getaffinity(0))


def describe(root, all_stacks):
    cpu = lscpu()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(root),
        "machine": {
            "model": cpu.get("Model name", "unknown"),
            "processors": processors(),
            "threads_per_core": cpu.get("Thread(s) per core", "unknown"),
            "caches": {level: cpu[key] for level in ("L1d", "L2", "L3") for key in (f"{level} cache", level) if key in cpu},
            "virtual": cpu.get("Hypervisor vendor", "no"),
            "kernel": platform.release(),
        },
        "versions": {stack.name: stack.version() for stack in all_stacks} | {"compiler": compiler()},
    }


def compiler():
    run = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=False)
    return run.stdout.splitlines()[0] if run.stdout else "unknown"
