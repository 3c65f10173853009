#!/usr/bin/env python3
"""The experiments on RMI (bench/rmi): their arithmetic on made-up figures, and with --build every program in small.

    tests/bench/rmi_test.py                          the arithmetic
    tests/bench/rmi_test.py --build build/release    the programs, and the structure of what scripts/rmi_experiments writes
"""
import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from rmi import catalogue, experiments, goals, report  # noqa: E402

PINGS = {"MPI_Send": {1: [1, 1], 10: [10, 10], 100: [100, 100]},
         "factor 8": {1: [2, 2], 10: [9, 9], 100: [50, 50]},
         "factor 64": {1: [3, 3], 10: [11, 11], 100: [25, 25]}}


class Reading(unittest.TestCase):
    def test_samples_of_programs_in_turns(self):
        start = experiments.Start("fences_beside_mpi", ())
        output = "margay: a line\nfence flat,2,1.5\nMPI_Barrier,2,0.5\nfence flat,2,wrong\n"
        self.assertEqual(experiments.figures(start, output), [("fence flat", 2, 1.5), ("MPI_Barrier", 2, 0.5)])

    def test_a_program_with_one_figure(self):
        start = experiments.Start("p_sort", (), "p_sort, ranges")
        right = "p_sort ranges: nodes 4 elements 100 seconds 0.25 right\n"
        self.assertEqual(experiments.figures(start, right), [("p_sort, ranges", 4, 250000)])
        self.assertEqual(experiments.figures(start, right.replace("right", "WRONG")), [])

    def test_commands(self):
        build = pathlib.Path("/b")
        start = experiments.Start("p_sort", ("ranges", 5))
        self.assertEqual(start.command(build, experiments.TCP, 4),
                         "/b/bin/margay run -n 4 --nodes 2 /b/examples/rmi/p_sort ranges 5".split())
        self.assertEqual(start.command(build, experiments.THREADS, 4)[2:6], "-n 1 --threads 4".split())
        alone = experiments.Start("sample_sort_threads", (4,), "explicit", launched=False)
        self.assertEqual(alone.command(build, experiments.THREADS, 4), ["/b/examples/rmi/sample_sort_threads", "4"])


class Arithmetic(unittest.TestCase):
    def test_crossing(self):
        self.assertEqual(report.crossing(PINGS, "MPI_Send"), 10)
        self.assertEqual(report.crossing({**PINGS, "MPI_Send": {1: [9], 10: [9], 100: [9]}}, "MPI_Send"), None)
        slow_between = {**PINGS, "MPI_Send": {1: [5], 10: [1], 100: [100]}}
        self.assertEqual(report.crossing(slow_between, "MPI_Send"), 100, "the crossing after which nothing is slower")

    def test_best(self):
        self.assertEqual(report.best(PINGS, "factor", 100), ("factor 64", 25))
        self.assertIsNone(report.best(PINGS, "fence", 100))

    def test_significance(self):
        self.assertTrue(report.is_significant([1, 2, 3], [5, 6, 7]))
        self.assertFalse(report.is_significant([1, 2, 3], [2, 3, 9]))

    def test_speedups(self):
        panels = {"processes, shared memory, 9 integers": {"explicit": {1: [8], 2: [4]}}, "2 nodes, TCP, 9 integers": {"explicit": {2: [16]}},
                  "threads, 9 integers": {"explicit": {2: [1]}}}
        self.assertEqual(report.speedups(panels),
                         {"processes, shared memory, 9 integers": {"explicit": {1: [1], 2: [2]}},
                          "2 nodes, TCP, 9 integers": {"explicit": {2: [0.5]}}})

    def test_a_goal_in_turns(self):
        stream = goals.GOALS[0]
        panel = {stream.ours: {stream.x: [10, 20, 30]}, "MPI_Send": {stream.x: [40, 60, 60]}, "MPI_Isend": {stream.x: [90, 90, 90]}}
        row = goals.judge_goal(stream, {stream.measurement: {stream.panel: panel}})
        self.assertEqual((row.other, row.ours, row.theirs, row.ratio), ("MPI_Send", 20, 60, 3), "beside the faster one")
        self.assertTrue(stream.holds(row.ratio))
        self.assertFalse(stream.holds(2.4))

    def test_verdicts(self):
        """A line for each goal; all are met by figures ten times as fast, and none by figures ten times as slow."""
        for ours, met in ((1, len(goals.GOALS)), (100, 0)):
            measured = {}
            for goal in goals.GOALS:
                panel = measured.setdefault(goal.measurement, {}).setdefault(goal.panel, {})
                panel.update({name: {goal.x: [10, 10]} for name in goal.theirs})
                panel[goal.ours] = {goal.x: [ours, ours]}
            lines = goals.text(measured)
            verdicts = [line.endswith(" met") for line in lines[1:len(goals.GOALS) + 1]]
            self.assertEqual((len(verdicts), sum(verdicts)), (len(goals.GOALS), met))

    def test_every_goal_is_measured(self):
        """The plan has a program that prints each of the goals' series, in the panel and at the x of the goal."""
        groups = {name: list(of_name) for name, of_name in goals.plan(experiments.FULL).items()}
        for goal in goals.GOALS:
            panels = [group for group in groups[goal.measurement] if group.panel == goal.panel]
            self.assertTrue(panels, goal.title)
            named = {start.series for group in panels for start in group.starts}
            if named != {""}:
                self.assertLessEqual({goal.ours, *goal.theirs}, named, goal.title)
                self.assertIn(goal.x, {group.nodes for group in panels}, goal.title)


class Programs(unittest.TestCase):
    """Set by --build."""
    build = None

    @classmethod
    def setUpClass(cls):
        if cls.build is None:
            raise unittest.SkipTest("needs --build")
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.folder.name)
        cls.run_ended = subprocess.run([str(ROOT / "scripts" / "rmi_experiments"), "--smoke", "--build", str(cls.build), "--out", cls.folder.name],
                                       capture_output=True, text=True, check=False, timeout=170)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def rows(self, name):
        with open(self.out / f"{name}.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_all_ran(self):
        self.assertEqual(self.run_ended.returncode, 0, self.run_ended.stderr)

    def test_tables_and_samples(self):
        for name, experiment in catalogue.EXPERIMENTS.items():
            rows = self.rows(name)
            found = {world.title for world in experiment.worlds if any(row["panel"].startswith(world.title) for row in rows)}
            self.assertEqual(found, {world.title for world in experiment.worlds}, name)
            self.assertTrue(all(float(row["microseconds"]) > 0 for row in rows), name)
            printed = (self.out / f"{name}.txt").read_text(encoding="utf-8")
            self.assertTrue(printed.startswith(experiment.title), name)

    def test_series(self):
        series = {name: {row["series"] for row in self.rows(name)} for name in catalogue.EXPERIMENTS}
        factors = {f"factor {2 ** n}" for n in (0, 3, 4, 5, 6, 7, 8, 9)}
        self.assertEqual(series["table_1"], {"atomic counter", "MPI_Send", "async_rmi", "sync_rmi"})
        self.assertEqual(series["figure_2"], {"atomic counter", "atomic flag", *factors})
        self.assertEqual(series["figure_3"], {"MPI_Send", "MPI_Isend", *factors})
        trees = {f"fence {tree}" for tree in ("flat", "binary", "hypercube", "exchange")}
        self.assertEqual(series["figure_4"], {"std::barrier", "atomic sum", "fence central", "fence mcs", *trees})
        self.assertEqual(series["figure_5"], {"MPI_Barrier", "MPI_Allreduce", *trees})
        self.assertEqual(series["figure_6"], {"explicit", "p_sort, elements", "p_sort, ranges"})
        self.assertEqual(series["table_3"], {"explicit", "p_inner_product"})

    def test_pictures(self):
        for name in catalogue.EXPERIMENTS:
            picture = xml.etree.ElementTree.parse(self.out / f"{name}.svg").getroot()
            drawn = [element for element in picture.iter() if element.tag.rpartition("}")[2] in ("polyline", "rect")]
            self.assertGreater(len(drawn), 1, name)


class Failing(unittest.TestCase):
    """A build folder whose launcher fails."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program("bin/margay", "echo a node died >&2; exit 3")

    def program(self, name, body):
        path = pathlib.Path(self.folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def errors(self):
        ended = subprocess.run([str(ROOT / "scripts" / "rmi_experiments"), "--smoke", "--only", "table_1", "--build", self.folder.name,
                                "--out", self.folder.name], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(ended.returncode, 1)
        return ended.stderr

    def test_a_failing_program_is_named(self):
        self.program("examples/rmi/ping_pong_beside_threads", "")
        self.assertRegex(self.errors(), "scripts/rmi_experiments: .*ping_pong_beside_threads .*: exit status 3: a node died")

    def test_a_missing_program_is_named(self):
        self.assertRegex(self.errors(), "scripts/rmi_experiments: .*ping_pong_beside_threads is not built; build the target rmi_examples")


if __name__ == "__main__":
    if "--build" in sys.argv:
        at = sys.argv.index("--build")
        Programs.build = pathlib.Path(sys.argv[at + 1]).resolve()
        del sys.argv[at:at + 2]
    unittest.main()
