#!/usr/bin/env python3
"""Tests of the runs of bench/peers and of the collection of their figures, with simulated starts."""
import pathlib
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from peers import collect, machine, runs, stacks  # noqa: E402


class Reading(unittest.TestCase):
    def test_lines(self):
        output = "noise\nlatency 8 0.25 us\nlatency 8 1.5e-1 us\nlatency 0 1e3 us\nlatency 8 many us\nlatency 8 1 us more\n"
        self.assertEqual(collect.figures(output), {("latency", 8, "us"): 0.2, ("latency", 0, "us"): 1000})

    def test_a_program_that_hangs_is_ended_and_keeps_its_lines(self):
        output, seconds, why = collect.start(["sh", "-c", "echo latency 8 1 us; (sleep 60); sleep 60"], {}, 0.3)
        self.assertEqual(output, "latency 8 1 us\n")
        self.assertIn("no end within 0.3 s", why)
        self.assertLess(seconds, 20)

    def test_a_program_that_fails_is_named(self):
        self.assertEqual(collect.start(["sh", "-c", "echo because >&2; exit 3"], {}, 20)[2], "exit status 3: because")

    def test_a_case_that_an_mpi_refuses(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "windows"
            script.write_text("#!/bin/sh\necho unsupported MPI_ERR_WIN: invalid window\nexit $2\n", encoding="utf-8")
            script.chmod(0o755)
            refused, failed = (collect.run_once(runs.Run("windows", "shm", "windows", mode=status, seconds=0), stacks.NoMpi(),
                                                script, 2) for status in ("0", "1"))
        self.assertEqual(refused, ({}, "not supported: MPI_ERR_WIN: invalid window"))
        self.assertEqual(failed, ({}, "exit status 1: no word"), "an end in an error is one")

    def test_busy_loops_run_meanwhile_and_no_longer(self):
        def children():
            return pathlib.Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text(encoding="ascii").split()
        before = set(children())
        with collect.busy_loops(2):
            self.assertEqual(len(set(children()) - before), 2)
        self.assertEqual(set(children()) - before, set())

    def test_rows_beside_busy_loops(self):
        beside = {run.case("busy_halo") for run in runs.plan(only=("busy", "tcp")) if run.wire == "tcp"}
        self.assertEqual(beside, {f"busy_halo_beside_{loops}" for loops in (0, 2, 4, 8)})
        self.assertEqual(runs.Run("latency", "shm", "latency", loops=2).case("latency"), "latency")

    def test_only(self):
        self.assertEqual({(run.wire, run.group) for run in runs.plan(only=("shm", "latency"))}, {("shm", "latency")})
        self.assertEqual({run.wire for run in runs.plan(only=("tcp",))}, {"tcp", "limit"})
        self.assertEqual({run.group for run in runs.plan(only=("rate",))}, {"rate"})

    def test_the_limits_of_a_group_come_with_it(self):
        self.assertEqual({run.wire for run in runs.plan(only=("dynamic",))}, {"dynamic", "limit"})
        for group in ("operations", "collectives", "windows"):
            self.assertEqual({(run.wire, run.group) for run in runs.plan(only=("shm", group))}, {("shm", group), ("limit", group)})
        self.assertEqual({run.wire for run in runs.plan(only=("limits",))}, {"limit"})
        self.assertEqual(runs.plan(only=("limits",)), [run for run in runs.plan() if run.wire == "limit"])

    def test_sizes_of_operations(self):
        self.assertEqual(runs.operation_sizes("bcast", 64), runs.OPERATION_SIZES)
        self.assertEqual(runs.operation_sizes("allreduce", 2), runs.OPERATION_SIZES[1:])
        self.assertEqual(max(runs.operation_sizes("alltoall", 8)), 4 << 20)
        self.assertEqual(max(runs.operation_sizes("alltoall", 16)), 1 << 20)
        self.assertEqual(max(runs.operation_sizes("alltoall", 64)), 64 << 10)


class Nodes(unittest.TestCase):
    """Over TCP each MPI has two nodes, the first half of the ranks on the first."""

    def words(self, stack, ranks, processors=2):
        return stack.command("tcp", ranks, processors), stack.environment("tcp", ranks, processors)

    def test_open_mpi(self):
        stack = stacks.OpenMpi()
        command, environment = self.words(stack, 4)
        self.assertEqual(command[command.index("--host") + 1], "node0:2,node1:2")
        self.assertIn("mpi_yield_when_idle", command)
        command, again = self.words(stack, 2)
        self.assertEqual(command[command.index("--host") + 1], "node0:1,node1:1")
        self.assertNotIn("mpi_yield_when_idle", command)
        self.assertEqual(environment, again)
        self.assertTrue(pathlib.Path(environment["MARGAY_BENCH_NODES"]).is_dir())
        self.assertNotIn("--host", stack.command("shm", 4, 2))
        self.assertNotIn("MARGAY_BENCH_NODES", stack.environment("shm", 4, 2))

    def test_each_node_keeps_its_shared_memory_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            agent = str(pathlib.Path(stacks.HERE) / "emulated_node")
            found = [collect.start([agent, node, "echo", "$OMPI_MCA_btl_vader_backing_directory"],
                                   {"MARGAY_BENCH_NODES": folder}, 20)[0] for node in ("node0", "node1")]
            self.assertEqual(found, [f"{folder}/node0\n", f"{folder}/node1\n"])
            self.assertTrue(all(pathlib.Path(line.strip()).is_dir() for line in found))

    def test_mpich_and_margay(self):
        self.assertEqual(self.words(stacks.Mpich(), 4)[1]["MPIR_CVAR_NUM_CLIQUES"], "2")
        command, _ = self.words(stacks.Margay("/nowhere"), 4)
        self.assertEqual(command[command.index("--nodes") + 1], "2")


class TwoJobs(unittest.TestCase):
    """Tests of two_jobs.py, with a shell as the launcher and a script as the program."""

    def play(self, script, names=()):
        program = ["sh", "-c", f'mode=$2 file=$4; {script}', "program"]
        return collect.start([sys.executable, str(stacks.HERE / "two_jobs.py"), *names, "--", *program[:-1], "--", program[-1]], {}, 20)

    def test_both_run_and_meet_by_the_file(self):
        output, _, why = self.play('if [ $mode = server ]; then echo 1 > $file; else until [ -s $file ]; do sleep 0.01; done; '
                                   'echo connect_jobs $(cat $file) 2 us; fi')
        self.assertEqual((output, why), ("connect_jobs 1 2 us\n", None))

    def test_a_job_that_fails_ends_the_other(self):
        for failing in ("server", "client"):
            _, seconds, why = self.play(f"if [ $mode = {failing} ]; then echo because >&2; exit 3; fi; exec sleep 60")
            self.assertEqual(why, "exit status 3: because")
            self.assertLess(seconds, 20)

    def test_the_name_server_is_there_first_and_ends(self):
        names = ["sh", "-c", "echo address > {folder}/names; exec sleep 60"]
        output, seconds, why = self.play('test $mode = client || cat ${file%/*}/names', names)
        self.assertEqual((output, why), ("address\n", None))
        self.assertLess(seconds, 20)

    def test_the_words_of_a_start(self):
        run = runs.Run("dynamic", "dynamic", "connect", ranks=2, jobs=2, beside=2, seconds=0)
        words = collect.command_of(run, stacks.OpenMpi(), "connect", 2)
        self.assertEqual(words.count("--"), 2)
        self.assertIn("ompi-server", words[:words.index("--")])
        self.assertIn("file:{folder}/names", words)
        self.assertIn("--oversubscribe", words)
        for places, found in ((256, ["--places", "256"]), (runs.DEFAULT_PLACES, []), (-1, [])):
            run = runs.Run("dynamic", "dynamic", "startup", places=places, seconds=0)
            self.assertEqual(collect.command_of(run, stacks.Margay("/nowhere"), "startup", 2)[4:], [*found, "startup"])


class FakeStack:
    name = "margay"


class Clock:
    """In place of the module `time`: each call returns the next of these moments."""

    def __init__(self, moments):
        self.moments = list(moments)

    def monotonic(self):
        return self.moments.pop(0)


class Rounds(unittest.TestCase):
    """Tests of the collector, with simulated starts."""

    def play(self, outcomes, quiet, repeats=3, **fields):
        queue = list(outcomes)
        collector = collect.Collector([FakeStack()], "", repeats, 2, quiet, lambda line: None)
        collector.program = lambda stack, name: name
        before, collect.run_once = collect.run_once, lambda *_: queue.pop(0)
        try:
            collector.one(runs.Run("latency", "shm", "latency", **fields))
        finally:
            collect.run_once = before
        return collector, queue

    def figures(self, *values):
        return [({("latency", 8, "us"): value}, None) for value in values]

    def test_every_round_is_a_sample(self):
        collector, left = self.play(self.figures(1, 2, 3, 4), machine.Quiet(0))
        self.assertEqual(collector.results["shm", "latency", 8]["samples"], {"margay": [1, 2, 3]})
        self.assertEqual(len(left), 1)

    def test_a_stack_that_fails_is_not_asked_again(self):
        collector, left = self.play(self.figures(1) + [({}, "no end")] + self.figures(3), machine.Quiet(0))
        self.assertEqual(collector.results["shm", "latency", 8]["samples"], {"margay": [1]})
        self.assertEqual([entry["why"] for entry in collector.failures], ["no end"])
        self.assertEqual(len(left), 1)

    def test_a_stack_that_failed_is_not_asked_with_more_ranks(self):
        queue = [({}, "no end")] + self.figures(1)
        collector = collect.Collector([FakeStack()], "", 1, 2, machine.Quiet(0), lambda line: None)
        collector.program = lambda stack, name: name
        before, collect.run_once = collect.run_once, lambda *_: queue.pop(0)
        try:
            for mode, ranks in (("barrier", 8), ("barrier", 16), ("allreduce", 16)):
                collector.one(runs.Run("collectives", "tcp", "collectives", mode=mode, ranks=ranks))
        finally:
            collect.run_once = before
        self.assertEqual(len(collector.failures), 1)
        self.assertEqual(queue, [])

    def test_rows_name_the_stacks_that_failed(self):
        class Peer:
            name = "mpich"

        def outcome(run, stack, *_):
            if stack.name == "margay":
                return {("latency", run.ranks, "us"): 1}, None
            return {}, "not supported: windows" if run.wire == "tcp" else "no end"
        collector = collect.Collector([FakeStack(), Peer()], "", 1, 2, machine.Quiet(0), lambda line: None)
        collector.program = lambda stack, name: name
        before, collect.run_once = collect.run_once, outcome
        try:
            for wire, ranks, places in (("shm", 2, -1), ("shm", 3, -1), ("tcp", 2, -1), ("dynamic", 2, 256)):
                collector.one(runs.Run("latency", wire, "latency", ranks=ranks, places=places))
        finally:
            collect.run_once = before
        self.assertEqual({key: result.get("failed") for key, result in collector.results.items()},
                         {("shm", "latency", 2): ["mpich"], ("shm", "latency", 3): ["mpich"], ("tcp", "latency", 2): None,
                          ("dynamic", "latency_places", 256): None})

    def test_a_slow_stack_is_asked_once(self):
        before, collect.time = collect.time, Clock([0, 0, 3, 3, 3, 4, 4, 4, 7])
        try:
            collector, left = self.play(self.figures(1, 2, 3), machine.Quiet(0), slow_s=2.5)
        finally:
            collect.time = before
        self.assertEqual(collector.results["shm", "latency", 8]["samples"], {"margay": [1]})
        self.assertEqual((len(left), collector.failures, collector.given_up), (2, [], set()))

    def test_a_disturbed_round_is_repeated(self):
        class Disturbed(machine.Quiet):
            shares = [0, 0.5, 0, 0.5, 0]

            def wait(self):
                pass

            def others(self):
                return self.shares.pop(0)
        quiet = Disturbed(100)
        collector, _ = self.play(self.figures(1, 2, 3, 4, 5), quiet)
        self.assertEqual(collector.results["shm", "latency", 8]["samples"], {"margay": [1, 3, 5]})
        self.assertEqual(quiet.counts(), {"repeated_rounds": 2, "disturbed_rounds": 0})

    def test_locks_are_taken_together(self):
        with tempfile.TemporaryDirectory() as folder:
            names = [f"{folder}/{i}" for i in range(2)]
            with machine.Quiet(0, names).alone(), open(names[1], "a", encoding="utf-8") as file:
                self.assertFalse(machine.taken(file))
            with open(names[1], "a", encoding="utf-8") as file:
                self.assertTrue(machine.taken(file))

    def test_patience_ends(self):
        class Disturbed(machine.Quiet):
            def others(self):
                return 0.5
        quiet = Disturbed(0)
        collector, _ = self.play(self.figures(1, 2, 3), quiet)
        self.assertEqual(collector.results["shm", "latency", 8]["samples"], {"margay": [1, 2, 3]})
        self.assertEqual(quiet.counts(), {"repeated_rounds": 0, "disturbed_rounds": 3})


if __name__ == "__main__":
    unittest.main()
