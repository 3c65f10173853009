"""What a result was measured on: machine, versions, commit."""
import datetime
import os
import platform
import subprocess


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
