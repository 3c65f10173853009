#!/usr/bin/env python3
"""Tests of the modules of Nexus between contexts: their choice, their laws, foreign modules.

    tests/libraries/nexus/nexus_modules.py --build build/release          every case
    tests/libraries/nexus/nexus_modules.py --build build/release fifo     one
    tests/libraries/nexus/nexus_modules.py --list
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "mpi"))

from launch_case import cases_of, run_cases  # noqa: E402

WORLDS = ((1, ()), (2, ()), (3, ("--nodes", "2")))


def modules(case, name, *words, ranks=2, options=(), env=None, **keywords):
    return case.margay(*options, case.build.folder / "tests" / "libraries" / "nexus_modules", name, *words, ranks=ranks,
                       env=env or {}, **keywords)


def right(case, name, *words, worlds=WORLDS, **keywords):
    for ranks, options in worlds:
        modules(case, name, *words, ranks=ranks, options=options, **keywords)
        case.expect_lines([f"{name}: right"])


def broken(case, number):
    return case.build.folder / "tests" / "libraries" / "nexus" / f"libbroken_{number}.so"


def case_lossy(case):
    """Requests by udp, with frames lost on purpose: sent = delivered + lost at each pair."""
    right(case, "lossy", "--nexus-modules=local,shm,tcp,udp", "--nexus-parameter=udp.lose=7", worlds=WORLDS[1:])


def case_multicast(case):
    """One datagram reaches the endpoints of all other contexts."""
    right(case, "multicast", "--nexus-modules=local,shm,tcp,multicast", worlds=((2, ()), (4, ("--nodes", "2"))))
    # A trace has the request of each link.
    trace = case.traced(case.build.folder / "tests" / "libraries" / "nexus_modules", "multicast",
                        "--nexus-modules=local,shm,tcp,multicast", ranks=3)
    requests = [event for event in case.events(trace, "library_event") if event["event"] == 0 and event["rank"] == 0]
    case.expect(len(requests) == 20, f"20 requests of context 0, not {len(requests)}")


def case_limit(case):
    """A body that is too long for udp once it is encrypted goes by the next method."""
    right(case, "limit", "--nexus-modules=local,udp,shm,tcp,secure", worlds=WORLDS[1:])


def case_secret(case):
    """A queued request of a secure method that fails is lost rather than sent by one that is not secure."""
    right(case, "secret", f"--nexus-load=broken={broken(case, 0)}", worlds=((2, ("--nodes", "2")),), env={"BROKEN_SEND": "full"})


def case_all_or_none(case):
    """A change that one link of a startpoint rejects changes none of its links."""
    right(case, "all_or_none", worlds=((4, ("--nodes", "2")),))


def case_transforms(case):
    """Bodies are compressed and encrypted before each method."""
    right(case, "transforms", "--nexus-modules=local,shm,tcp,compressed,secure")


def case_off_node(case):
    """A rule encrypts what leaves the node, and nothing else."""
    right(case, "off_node", "--nexus-off-node=secure", worlds=(*WORLDS, (4, ("--nodes", "2"))))


def case_fifo(case):
    """The example module, built by the installed header outside of the tree, carries requests in order."""
    include = case.folder / "include" / "margay"
    include.mkdir(parents=True)
    (include / "nexus_module.h").write_bytes((ROOT / "include" / "margay" / "nexus_module.h").read_bytes())
    source, library = case.folder / "fifo.c", case.folder / "fifo.so"
    source.write_bytes((ROOT / "examples" / "nexus" / "module" / "fifo.c").read_bytes())
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", include.parent, "-o", library, source],
                   check=True)
    right(case, "loaded", f"--nexus-load=fifo={library}", "--nexus-order=fifo", worlds=((1, ()), (2, ()), (3, ())))
    right(case, "overload", f"--nexus-load=fifo={library}", "--nexus-order=fifo", worlds=((1, ()), (2, ())))
    # By another name than its own.
    modules(case, "loaded", f"--nexus-load=pipe={library}", status="nonzero")
    case.expect_said("pipe")


def case_choice(case):
    """Resource file, environment and command line choose the modules of each context."""
    file = case.folder / "resources"
    file.write_text("context 1: modules local shm tcp udp\n*: parameter udp.linger_ms 3\n# none\n", encoding="utf-8")
    modules(case, "chosen", env={"MARGAY_NEXUS_RESOURCES": str(file)})
    case.expect_lines(["context 0: local shm tcp", "context 1: local shm tcp udp=3", "chosen: right"])
    modules(case, "chosen", "--nexus-order=tcp", "--nexus-parameter", "udp.linger_ms=4", env={
        "MARGAY_NEXUS_RESOURCES": str(file), "MARGAY_NEXUS_PARAMETER": "udp.linger_ms=5"})
    case.expect_lines(["context 0: tcp local shm", "context 1: tcp local shm udp=4", "chosen: right"])
    modules(case, "chosen", env={"MARGAY_NEXUS_MODULES": "local,shm,tcp,udp", "MARGAY_NEXUS_PARAMETER": "udp.linger_ms=5"})
    case.expect_lines(["context 0: local shm tcp udp=5", "context 1: local shm tcp udp=5", "chosen: right"])


def case_mistakes(case):
    """Wrong choices end the job with a message that names the word, the file's line or the variable."""
    file = case.folder / "resources"
    file.write_text("*: modules local shm tcp\ncontext x: order tcp\n", encoding="utf-8")
    absent = case.folder / "absent"
    absent.write_text("# udp\n*: parameter udp.linger_ms 3\n", encoding="utf-8")
    for words, env, source in (((f"--nexus-resources={absent}",), {}, f"line 2 of the resource file {absent}"),
                               (("--nexus-parameter=udp.linger_ms=3",), {}, "--nexus-parameter"),
                               ((), {"MARGAY_NEXUS_PARAMETER": "udp.linger_ms=3"}, "MARGAY_NEXUS_PARAMETER")):
        modules(case, "chosen", *words, env=env, status="nonzero")
        case.expect_said(f"udp.linger_ms ({source})", "no context has the module udp")
    for words, env, named in (
            (("--nexus-modules=local,carrier",), {}, "carrier"),
            (("--nexus-order=udp",), {}, "udp"),
            (("--nexus-speed=1",), {}, "--nexus-speed"),
            (("--nexus-off-node=udp",), {}, "udp"),
            (("--nexus-modules=local,shm,tcp,udp", "--nexus-parameter=udp.linger_ms=x"), {}, "linger_ms"),
            (("--nexus-load=fifo=/nowhere/fifo.so",), {}, "/nowhere/fifo.so"),
            (("--nexus-skip-poll=local=2",), {}, "local is not polled"),
            ((f"--nexus-resources={file}",), {}, f"{file}: line 2"),
            ((), {"MARGAY_NEXUS_RESOURCES": "/nowhere/resources"}, "/nowhere/resources"),
            ((), {"MARGAY_NEXUS_SKIP_POLL": "tcp"}, "MARGAY_NEXUS_SKIP_POLL")):
        modules(case, "chosen", *words, env=env, status="nonzero")
        case.expect_said(named)


def case_broken(case):
    """Modules with tables that lie, that crash and that never return end the job with their names."""
    for number in (1, 3, 4, 6, 9, 11, 13, 14):
        modules(case, "chosen", f"--nexus-load=broken={broken(case, number)}", status="nonzero")
        case.expect_said(str(broken(case, number)))
    for how in ("crash", "abort", "forever"):
        modules(case, "chosen", f"--nexus-load=broken={broken(case, 0)}", status="nonzero",
                env={"BROKEN_INIT": how, "MARGAY_NEXUS_MODULE_LIMIT_MS": "300"})
        case.expect_said("module broken", "init()")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
