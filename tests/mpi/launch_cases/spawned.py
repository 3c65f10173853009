"""Cases of programs that start programs (MPI_Comm_spawn) and of their reports."""
import json
import os
import re

from launch_case import TWO_NODES


def started(count, *codes, rank=0, error=""):
    return f"rank {rank}: {error}{count} children, codes {' '.join(codes)}"


def case_spawned_output(case):
    """Children print with the numbers of their places, know their own numbers, and get no input; a world's number is %g."""
    program = case.ours("spawned.c")
    case.margay("-l", "--places", "6", program, "start", program, "2", "--", "tell", ranks=2)
    facts = "of 2, with 2 parents, in a universe of 6, program 0"
    case.expect_lines([f"[0] {started(2, 'started', 'started')}", f"[1] {started(2, 'started', 'started', rank=1)}",
                       f"[2] child 0 {facts}", f"[3] child 1 {facts}"])
    case.margay(program, "start", program, "1", "--", "read", ranks=1, stdin="some input")
    case.expect_lines([started(1, "started"), "the input has 0 bytes"])
    pattern = case.folder / "out.%r"
    case.margay("-outfile-pattern", pattern, program, "start", program, "1", "--", "tell", ranks=1)
    case.expect("child 0 of 1" in (case.folder / "out.1").read_text(encoding="utf-8"), "the child's output is in its own file")


def case_spawned_info(case):
    """The info keys wdir, path, host, soft and mpi_initial_errhandler are followed, others are ignored."""
    program = case.ours("spawned.c")
    inside = case.folder / "inside"
    inside.mkdir()
    (inside / "linked").symlink_to(program)

    def start(name, count, *words):
        return case.margay("--places", "4", program, "start", name, str(count), *words, ranks=1)

    start(program, 1, f"wdir={inside}", "--", "folder")
    case.expect_lines([started(1, "started"), f"in {inside}"])
    start("./linked", 1, f"wdir={inside}", "--", "folder")
    case.expect_lines([started(1, "started"), f"in {inside}"])
    start("linked", 1, f"path={inside}", "--", "folder")
    case.expect_lines([started(1, "started"), f"in {os.getcwd()}"])
    start(program, 1, "host=localhost", "--", "folder")
    case.expect_lines([started(1, "started"), f"in {os.getcwd()}"])
    start(program, 5, "soft=0:5", "--", "tell")
    case.expect_lines([started(3, *3 * ["started"], *2 * ["not"]),
                       *(f"child {rank} of 3, with 1 parents, in a universe of 4, program 0" for rank in range(3))])
    for soft in ("0:5", "5:1:-1", "-1:9"):
        start(program, 5, f"soft={soft}", "--", "folder")
        case.expect_lines([started(3, *3 * ["started"], *2 * ["not"]), *3 * [f"in {os.getcwd()}"]])
    for value, words in (("mpi_errors_return", "errors return"), ("MPI_Errors_Abort", "abort"), ("mpi_errors_are_fatal", "fatal")):
        start(program, 1, f"mpi_initial_errhandler={value}", "--", "handler")
        case.expect_lines([started(1, "started"), words])
    # More keys than a request may have, and a value that its lines could not have.
    start(program, 1, *(f"key{i}=x" for i in range(70)), "note=two\nlines", "file=/nonexistent", "--", "folder")
    case.expect_lines([started(1, "started"), f"in {os.getcwd()}"])
    start(program, 5, "soft=2", "--", "member")
    case.expect_lines([started(2, *2 * ["started"], *3 * ["not"])])


def case_spawned_failures(case):
    """A program that cannot be started is MPI_ERR_SPAWN on all ranks, with a code for each process, and the job goes on."""
    program = case.ours("spawned.c")
    none = started(0, "not", "not", error="MPI_ERR_SPAWN, ")
    failures = ((["/nonexistent/program"], "/nonexistent/program: No such file"), (["nonexistent"], "nonexistent is not in PATH"),
                ([program, "wdir=/nonexistent"], "info key wdir: "), ([program, "host=elsewhere.example"], "info key host: "),
                ([program, "soft=x"], "info key soft=\"x\""),
                ([program, "soft=3:9"], "info key soft=3:9 permits none"),
                ([program, "mpi_initial_errhandler=own"], "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return"), ([program, "soft=4:5"], "places"), ([case.folder], "is a folder"))
    for (name, *info), why in failures:
        case.margay("--places", "3", program, "start", name, "2", *info, "--", "tell", ranks=2)
        case.expect_lines([none, none.replace("rank 0", "rank 1")])
    case.margay("--places", "2", program, "start", program, "1", "--", "tell", ranks=2)
    case.expect_lines([started(0, "not", rank=rank, error="MPI_ERR_SPAWN, ") for rank in range(2)])
    # An argument that is longer than a line of the request.
    case.margay(program, "start", program, "2", "--", "x" * 20000, ranks=2)
    case.expect_lines([none, none.replace("rank 0", "rank 1")])
    case.margay(program, "ports", program, "2", ranks=2)
    case.expect_lines([started(0, "not", "not", rank=rank, error="MPI_ERR_SPAWN, ") for rank in range(2)])
    # The root's own error names the argument; the others learn that it is wrong.
    case.margay(program, "wrong", ranks=2)
    classes = {"command": "ARG", "maxprocs": "ARG", "info": "INFO", "argv": "SPAWN", "count": "COUNT"}
    case.expect_lines([*(f"rank 0: {what}: MPI_ERR_{name}" for what, name in classes.items()),
                       *(f"rank 1: {what}: MPI_ERR_{'SPAWN' if name == 'SPAWN' else 'ARG'}" for what, name in classes.items())])
    # A program without MPI never connects to its parents.
    case.margay(program, "start", "true", "1", ranks=1, status="nonzero")
    case.expect_findings([("no-init", 1)], "id", "rank")


def case_spawned_ends(case):
    """A child that ends first, a child that dies, a parent that dies: no process is left waiting."""
    program = case.ours("spawned.c")
    case.margay("--check-accounting", program, "first", ranks=1)
    case.expect_lines(["the child ends", "the parent goes on"])
    case.margay(program, "dies", ranks=1, status=137)
    case.expect_said("rank 1 ", "SIGKILL", "ending the 1 rank left")
    case.margay(program, "left", ranks=1, status=137)
    case.expect_said("rank 0 ", "SIGKILL", "ending the 1 rank left")


def case_spawned_nested(case):
    """Children start children; many children at once talk to each other."""
    program = case.ours("spawned.c")
    case.margay("--check-accounting", program, "nested", "5", ranks=1)
    case.expect_lines([f"depth {depth}" for depth in range(1, 6)])
    case.margay("--check-accounting", "--places", "20", program, "many", "16", ranks=1)
    case.expect_lines(["the children's sum is 120"])


def case_spawned_hundred(case):
    """A hundred children, one after the other, take turns in two places: no place, memory or descriptor leaks."""
    program = case.ours("spawned.c")
    case.margay("--check-accounting", "--places", "3", program, "loop", "100", ranks=1)
    case.expect_lines(["100 children answered"])
    # As many as there are places, where the ranks record or are on several nodes.
    case.traced("--places", "4", program, "loop", "3", ranks=1)
    case.expect_lines(["3 children answered"])


def case_spawned_again(case):
    """Worlds that follow each other in the same places use collective calls and windows, by each method of long bodies."""
    program = case.ours("spawned_again.c")
    for method in ("auto", "ring", "cma"):
        case.margay("--check-accounting", "--places", "5", "--method", f"long={method}", program, "20", ranks=2)
        case.expect_lines([f"rank {rank} has met all" for rank in range(2)])


def case_spawned_competing(case):
    """Ranks, and threads of one rank, start children at the same time in places for one of them: each has its turn."""
    program = case.ours("spawned_competing.c", ["-pthread"])
    for ranks, threads in ((2, 1), (1, 3), (2, 2)):
        case.margay("--places", str(ranks + 3), program, threads, "10", ranks=ranks)
        case.expect_lines(ranks * [f"{threads * 20} children"])


def case_spawned_nodes(case):
    """Children on both nodes talk to their parents and to each other over TCP."""
    program = case.ours("spawned.c")
    for backend in ("uring", "epoll"):
        wire = (*TWO_NODES.split(), "--wire-tcp", backend)
        case.margay("--check-accounting", *wire, program, "many", "4", ranks=2)
        case.expect_lines(2 * ["the children's sum is 6"])
        case.margay("--check-accounting", *wire, program, "loop", "2", ranks=2)
        case.expect_lines(2 * ["2 children answered"])


def case_spawned_trace(case):
    """A trace has the ranks that started later, in its checks, its messages and its page."""
    program = case.ours("spawned.c")
    trace = case.traced(program, "loop", "2", ranks=1)
    case.command("trace", "check", trace)
    exported = case.exported(trace)
    case.expect(sorted(file["rank"] for file in exported["ranks"]) == [0, 1, 2], "the trace has three ranks")
    case.expect({(row["source"], row["destination"]) for row in case.messages(trace)} >= {("0", "1"), ("1", "0"), ("0", "2"), ("2", "0")},
                "messages in both directions")
    page = case.folder / "page.html"
    case.command("trace", "view", trace, "-o", page)
    case.expect("rank_00002" in str(os.listdir(trace)) and page.stat().st_size > 0, "the page is written")


def case_spawned_deadlock(case):
    """A deadlock between parent and child is proven, and both waits are reported; so is where each rank is."""
    program = case.ours("spawned.c")
    case.margay("--deadlock", "abort", "--stall", "0.2", program, "stuck", ranks=1, status=73)
    case.expect_said("deadlock: all ranks wait for messages", "rank 0 in MPI_Recv", "rank 1 in MPI_Recv", "cycle: 0 -> 1 -> 0")


def case_spawned_refused(case):
    """Where processes cannot be started, the error says so: threads as ranks, forwarding, other launchers, no launcher, the
    simulator."""
    program = case.ours("spawned.c")
    none = started(0, "not", error="MPI_ERR_SPAWN, ")
    case.margay("--threads", "2", "--places", "4", program, ranks=1, status=2)
    case.expect_said("--places", "--threads")
    case.margay("--places", "1", program, ranks=2, status=2)
    case.expect_said("option --places: 1 place for 2 ranks; each rank needs one")
    # Not the advice to use --places, which these jobs refuse.
    for ranks, options in ((1, ("--over", "nexus")), (2, ("--nodes", "2", "--forward", "node"))):
        case.margay(*options, program, "first", ranks=ranks, status="nonzero")
        case.expect_said(f"the job was started with {options[-2]}", "start it without this option")
    case.run([program, "start", program, "1"], env=case.library_path)
    case.expect_lines([none])
    case.command("simulate", "-n", "1", program, "start", program, "1")
    case.expect_lines([f"[0] {none}"])
    case.run(["mpiexec.hydra", "-n", "1", program, "start", program, "1"], env=case.library_path)
    case.expect_lines([none])
