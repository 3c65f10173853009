#!/usr/bin/env python3
"""The arithmetic, the table and the page of the comparison (bench/peers), on made-up figures."""
import html.parser
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from peers import charts, command, judge, plot, runs, table  # noqa: E402


def result(case, size, unit, wire="shm", **samples):
    return {"wire": wire, "case": case, "size": size, "unit": unit, "samples": samples}


def data(results, limits=(), failures=()):
    return {"date": "2026-01-02T03:04:05+00:00", "commit": "abc+", "repeats": 3, "build_as_found": False,
            "machine": {"model": "A & B", "processors": 2, "kernel": "6.1", "virtual": "no"},
            "versions": {"margay": "margay 1", "mpich": "MPICH 4"}, "results": list(results), "limits": list(limits),
            "failures": list(failures),
            "quiet": {"repeated_rounds": 2, "disturbed_rounds": 0}}


def rows_of(plan):
    """{(wire, case, size)} that the runs of a plan yield; of an overlap both ratios, of which a machine has one."""
    fixed = {"latency": "latency", "startup": "start_end", "memory": "resident", "many": "many", "first": "first"}
    rows = set()
    for run in plan:
        cases = [fixed.get(run.program, {"one": "bandwidth", "both": "both"}.get(run.mode, run.mode))]
        if run.program in ("rate", "threads"):
            cases = [f"{run.program}_{run.mode}"]
        elif run.program == "limits_copy":
            cases = [f"copy_{run.mode}"]
        elif run.program == "operations":
            cases = [f"{run.mode}_{run.ranks}"]
        elif run.program == "neighbors":
            cases = [f"neighbor_{run.mode}_{run.ranks}"]
        elif run.program in ("windows", "limits_windows"):
            cases = [run.mode]
        elif run.program == "limits_operations":
            cases = [f"{run.mode}_{way}_{run.processes}" for way in ("segment", "direct")]
        elif run.program == "busy":
            cases = [run.case(f"busy_{mode}") for mode in runs.BUSY_MODES]
        elif run.program == "spawn":
            cases = [f"{case}_{run.ranks}" for case in ("spawn", "spawn_cycle")]
        elif run.program == "connect" and run.jobs == 2:
            rows |= {("dynamic", "between_jobs_latency", 8), ("dynamic", "between_jobs_bandwidth", 1 << 20)}
            cases = ["connect_jobs"]
        elif run.program == "connect":
            cases = ["connect_halves"]
        elif run.program == "overlap":
            cases = [f"{way}_{of}" for way in runs.OVERLAP_WAYS for of in ("of_longer", "of_sum")]
        sizes = run.sizes or ((64,) if run.wire == "limit" else (run.ranks,))
        rows |= {(run.wire, case, size) for case in cases for size in sizes}
    return rows


class Statistics(unittest.TestCase):
    def test_median_of_odd_and_even(self):
        self.assertEqual(judge.median([3, 1, 2]), 2)
        self.assertEqual(judge.median([4, 1, 2, 3]), 2.5)
        self.assertIsNone(judge.median([]))

    def test_noise_is_the_distance_of_quartiles(self):
        self.assertEqual(judge.noise([5]), 0)
        self.assertEqual(judge.noise([2, 2, 2]), 0)
        self.assertAlmostEqual(judge.noise([8, 9, 10, 11, 12]), 0.2)
        self.assertAlmostEqual(judge.noise([8, 9, 10, 11, 1000]), 0.2, msg="one outlier does not count")

    def test_better_peer_depends_on_the_unit(self):
        medians = {"margay": 1, "mpich": 2, "openmpi": 3}
        self.assertEqual(judge.better_peer(medians, "us"), "mpich")
        self.assertEqual(judge.better_peer(medians, "MB/s"), "openmpi")
        self.assertEqual(judge.better_peer({"margay": 1, "openmpi": 3}, "us"), "openmpi")
        self.assertIsNone(judge.better_peer({"margay": 1}, "us"))

    def test_ratio(self):
        medians = {"margay": 1, "mpich": 2, "openmpi": 4}
        self.assertEqual(judge.ratio(medians, "better", "us"), 0.5)
        self.assertEqual(judge.ratio(medians, "better", "msg/s"), 0.25)
        self.assertEqual(judge.ratio(medians, "openmpi", "us"), 0.25)
        self.assertIsNone(judge.ratio({"mpich": 2}, "better", "us"))
        self.assertIsNone(judge.ratio({"margay": 2}, "better", "us"))


class Targets(unittest.TestCase):
    def verdict(self, *arguments, **samples):
        return judge.judge(result(*arguments, **samples)).verdict

    def test_at_most(self):
        self.assertEqual(self.verdict("latency", 8, "us", margay=[0.85], mpich=[1], openmpi=[2]), "met")
        self.assertEqual(self.verdict("latency", 8, "us", margay=[0.86], mpich=[2], openmpi=[1]), "NOT MET")

    def test_at_least(self):
        self.assertEqual(self.verdict("bandwidth", 65536, "MB/s", margay=[33], mpich=[10], openmpi=[9]), "met")
        self.assertEqual(self.verdict("bandwidth", 65536, "MB/s", margay=[33], mpich=[10], openmpi=[11]), "NOT MET")

    def test_every_target_of_a_row_must_hold(self):
        self.assertEqual(self.verdict("latency", 4096, "us", margay=[7], mpich=[10], openmpi=[47]), "met")
        self.assertEqual(self.verdict("latency", 4096, "us", margay=[7], mpich=[10], openmpi=[46]), "NOT MET")
        self.assertEqual(self.verdict("latency", 4096, "us", margay=[7], mpich=[9], openmpi=[47]), "NOT MET")

    def test_the_median_decides(self):
        self.assertEqual(self.verdict("latency", 8, "us", margay=[0.5, 0.6, 50], mpich=[1, 1, 0.1], openmpi=[2]), "met")

    def test_nothing_to_compare_with(self):
        self.assertEqual(self.verdict("latency", 8, "us", margay=[1]), "no peer")
        self.assertEqual(self.verdict("latency", 8, "us", mpich=[1], openmpi=[1]), "no peer")
        self.assertEqual(self.verdict("latency", 8, "us", margay=[1], mpich=[], openmpi=[]), "no peer")

    def test_a_row_without_target(self):
        self.assertEqual(self.verdict("rate_late", 8, "msg/s", margay=[1], mpich=[1], openmpi=[1]), "")
        self.assertEqual(judge.judge(result("latency", 128, "us", margay=[1], mpich=[1])).verdict, "")

    def test_memory_needs_no_peer(self):
        self.assertEqual(self.verdict("resident", 64, "KiB", margay=[4096]), "met")
        self.assertEqual(self.verdict("resident", 64, "KiB", margay=[4097]), "NOT MET")

    def test_an_overlap_is_a_ratio_of_its_own(self):
        for case, bound in (("overlap_wait_of_longer", 1.15), ("overlap_test_of_sum", 1.0)):
            for wire in runs.WIRES:
                held = result(case, 1 << 20, "x", wire, margay=[bound], mpich=[0.5], openmpi=[0.5])
                missed = result(case, 1 << 20, "x", wire, margay=[bound + 0.01], mpich=[2], openmpi=[2])
                self.assertEqual([judge.judge(row).verdict for row in (held, missed)], ["met", "NOT MET"])
        row = judge.judge(result("overlap_wait_of_longer", 1 << 20, "x", margay=[1.2]))
        self.assertEqual(([str(target) for target in row.targets], row.verdict), (["<= 1.15 x"], "NOT MET"))

    def bounds_of(self, case, size, wire="shm"):
        row = judge.judge(result(case, size, "us", wire, margay=[1], mpich=[1], openmpi=[1]))
        return [str(target) for target in row.targets]

    def test_targets_of_collectives(self):
        self.assertEqual(self.bounds_of("barrier", 2), ["<= 0.9"])
        self.assertEqual([self.bounds_of("barrier", ranks) for ranks in (4, 8, 16, 64)],
                         [[f"<= {bound} of Open MPI"] for bound in (0.7, 0.6, 0.45, 0.35)])
        self.assertEqual([self.bounds_of("allreduce", ranks) for ranks in (4, 8, 16, 64)],
                         [[f"<= {bound} of Open MPI"] for bound in (0.8, 0.6, 0.45, 0.3)])
        for name in runs.OPERATIONS:
            self.assertEqual(self.bounds_of(f"{name}_2", 65536), ["<= 0.9"])
            long = ["<= 0.6"] if name in ("allreduce", "bcast", "allgather") else []
            self.assertEqual(self.bounds_of(f"{name}_2", 1 << 20), long)
            self.assertEqual(self.bounds_of(f"{name}_2", 4 << 20), long)
            for ranks in (8, 16):
                self.assertEqual(self.bounds_of(f"{name}_{ranks}", 1 << 20), ["<= 0.7 of Open MPI"])
            self.assertEqual(self.bounds_of(f"{name}_4", 1024), [])
            self.assertEqual(self.bounds_of(f"{name}_4", 1024, "tcp"), ["<= 0.7"])
            self.assertEqual(self.bounds_of(f"{name}_2", 1024, "tcp") + self.bounds_of(f"{name}_8", 1024, "tcp"), [])
        self.assertEqual(self.bounds_of("neighbor_ialltoall_16", 1024), ["<= 0.7 of Open MPI"])
        self.assertEqual(self.bounds_of("neighbor_allgather_4", 8, "tcp"), ["<= 0.7"])

    def test_targets_of_windows(self):
        for kind, stream in (("allocated", ">= 1.2"), ("created", ">= 1.3")):
            for name in runs.WINDOW_OPERATIONS:
                for wire in runs.WIRES:
                    self.assertEqual(self.bounds_of(f"{kind}_{name}", 8, wire), ["<= 0.8"])
            for name in runs.WINDOW_STREAMS:
                self.assertEqual((self.bounds_of(f"{kind}_{name}", 4096), self.bounds_of(f"{kind}_{name}", 4 << 20, "tcp")),
                                 ([stream], [">= 1"]))
        for wire in runs.WIRES:
            self.assertEqual(self.bounds_of("created_busy_get", 8, wire), ["<= 5 ms"])
        self.assertEqual(self.verdict("allocated_busy_put", 8, "us", margay=[5000], mpich=[1], openmpi=[1]), "met")
        self.assertEqual(self.verdict("allocated_busy_put", 8, "us", margay=[5001], mpich=[95000]), "NOT MET")

    def test_memory_is_what_lies_beyond_a_bare_program(self):
        limits = [result("resident", 1, "KiB", wire="limit", machine=[1000])]
        results = judge.beyond_bare([result("resident", 64, "KiB", margay=[3000, 3200]),
                                     result("latency", 8, "us", margay=[1])], limits)
        self.assertEqual([entry["samples"]["margay"] for entry in results], [[2000, 2200], [1]])

    def test_every_target_has_a_run(self):
        """A target that no run of the whole plan feeds would never be judged."""
        measured = rows_of(runs.plan())
        for target in judge.TARGETS:
            ends = set()
            for case in target.cases:
                found = {size for wire, name, size in measured if target.covers(wire, name, size) and name == case}
                self.assertTrue(found, f"{case} {target}")
                ends |= found
            self.assertEqual(max(ends), target.high, target)


class Bounds(unittest.TestCase):
    def limit(self, case, size, unit, *values):
        return result(case, size, unit, wire="limit", machine=list(values))

    def at_best(self, row, *limits):
        return judge.judge(row, limits).at_best

    def test_the_bound_is_divided_by_the_better_peer(self):
        row = result("latency", 65536, "us", margay=[5], mpich=[8], openmpi=[4])
        self.assertAlmostEqual(self.at_best(row, self.limit("copy_read", 65536, "us", 3, 2, 9)), 0.75)
        row = result("bandwidth", 1 << 20, "MB/s", wire="tcp", margay=[5], mpich=[8], openmpi=[4])
        self.assertAlmostEqual(self.at_best(row, self.limit("tcp_stream", 1 << 20, "MB/s", 12)), 1.5)

    def test_the_best_of_several_limits_counts(self):
        row = result("latency", 65536, "us", margay=[5], mpich=[8], openmpi=[4])
        limits = (self.limit("copy_read", 65536, "us", 3), self.limit("copy_shared", 65536, "us", 2))
        self.assertAlmostEqual(self.at_best(row, *limits), 0.5)
        row = result("bandwidth", 65536, "MB/s", margay=[1], mpich=[10], openmpi=[1])
        limits = (self.limit("copy_stream_read", 65536, "MB/s", 20), self.limit("copy_stream_shared", 65536, "MB/s", 30),
                  self.limit("ring_copy", 8192, "MB/s", 40))
        self.assertAlmostEqual(self.at_best(row, *limits), 4)

    def test_only_the_same_size_counts_unless_the_limit_is_the_same_for_all(self):
        row = result("latency", 65536, "us", margay=[5], mpich=[8], openmpi=[4])
        self.assertIsNone(self.at_best(row, self.limit("copy_read", 131072, "us", 3)))
        row = result("latency", 8, "us", margay=[5], mpich=[8], openmpi=[4])
        self.assertAlmostEqual(self.at_best(row, self.limit("two_lines", 64, "us", 3)), 0.75)
        row = result("barrier", 8, "us", margay=[5], mpich=[8000], openmpi=[4])
        limits = (self.limit("barrier_flags", 8, "us", 2), self.limit("barrier_counter", 8, "us", 1),
                  self.limit("barrier_counter", 16, "us", 0.1))
        self.assertAlmostEqual(self.at_best(row, *limits), 0.25)

    def test_nothing_to_divide(self):
        limit = self.limit("two_lines", 64, "us", 3)
        self.assertIsNone(self.at_best(result("latency", 8, "us", margay=[5]), limit))
        self.assertIsNone(self.at_best(result("latency", 8, "us", margay=[5], mpich=[8])))
        self.assertIsNone(self.at_best(result("latency", 256, "us", margay=[5], mpich=[8]), limit))
        self.assertIsNone(self.at_best(result("latency", 8, "us", wire="tcp", margay=[5], mpich=[8]), limit))

    def test_a_bound_changes_no_verdict(self):
        row = result("latency", 8, "us", margay=[5], mpich=[4], openmpi=[4])
        self.assertEqual(judge.judge(row, (self.limit("two_lines", 64, "us", 3.9),)).verdict, "NOT MET")

    def test_a_bound_of_other_bytes(self):
        limits = [self.limit("tcp_latency", size, "us", value) for size, value in ((8, 4), (1024, 5), (2048, 6), (4096, 8))]
        def at_best(case, size):
            return self.at_best(result(case, size, "us", wire="tcp", margay=[5], mpich=[20], openmpi=[10]), *limits)
        self.assertAlmostEqual(at_best("barrier", 4), 0.4)
        self.assertAlmostEqual(at_best("bcast_4", 1024), 0.5)
        self.assertAlmostEqual(at_best("alltoall_2", 1024), 0.5)
        self.assertAlmostEqual(at_best("scatter_4", 1024), 0.6, msg="two blocks go to the other node")
        self.assertAlmostEqual(at_best("alltoall_4", 1024), 0.8, msg="two ranks send a block to each of two")
        self.assertIsNone(at_best("barrier", 8))

    def test_a_bound_of_several_ways(self):
        limits = (self.limit("tcp_latency", 8, "us", 4), self.limit("two_lines", 64, "us", 0.25))
        for case, wire, expected in (("created_put", "tcp", 0.8), ("created_fence", "tcp", 0.4), ("created_accumulate", "shm", 0.05)):
            row = result(case, 8, "us", wire, margay=[5], mpich=[20], openmpi=[10])
            self.assertAlmostEqual(self.at_best(row, *limits), expected)

    def test_the_limits_of_an_operation_are_those_of_its_ranks(self):
        limits = (self.limit("bcast_segment_8", 1024, "us", 3), self.limit("bcast_direct_8", 1024, "us", 4),
                  self.limit("bcast_segment_4", 1024, "us", 1))
        self.assertAlmostEqual(self.at_best(result("bcast_8", 1024, "us", margay=[9], mpich=[99], openmpi=[6]), *limits), 0.5)
        self.assertIsNone(self.at_best(result("bcast_16", 1024, "us", margay=[9], openmpi=[6]), *limits))

    def test_every_bound_has_its_limits_measured(self):
        """In the whole plan and in the quick one, for each row that it covers."""
        for quick in (False, True):
            measured = {(case, size) for wire, case, size in rows_of(runs.limits(quick)) if wire == "limit"}
            rows = rows_of(runs.plan(quick))
            for bound in judge.BOUNDS:
                sizes = {size for wire, case, size in rows if bound.covers(wire, case, size)}
                self.assertTrue(sizes or quick, bound)
                for size in sizes:
                    for limit in bound.limits:
                        self.assertTrue(limit in judge.EVERY_SIZE or (limit, bound.of_size(size)) in measured,
                                        f"{quick} {limit} {size}")
                self.assertLessEqual({limit for limit in bound.limits if limit in judge.EVERY_SIZE},
                                     {name for name, _ in measured})


class Showing(unittest.TestCase):
    def sample(self):
        results = [result("latency", size, "us", margay=[size / 100 + 0.1], mpich=[size / 50 + 0.2], openmpi=[0.9])
                   for size in (0, 8, 4096)]
        results += [result("bandwidth", 8, "MB/s", wire="tcp", margay=[9000], mpich=[10]),
                    result("barrier", 64, "us", margay=[1234], openmpi=[600])]
        limits = [result("memcpy", 4096, "MB/s", wire="limit", machine=[50000]),
                  result("cache_line", 64, "us", wire="limit", machine=[0.05]),
                  result("barrier_flags", 64, "us", wire="limit", machine=[45])]
        failures = [{"run": "shm barrier <64>", "stack": "mpich", "why": "no end within 30 s"}]
        return data(results, limits, failures)

    def test_units(self):
        self.assertEqual(table.value_text(0.1234, "us"), "0.123 us")
        self.assertEqual(table.value_text(12345, "us"), "12.35 ms")
        self.assertEqual(table.value_text(2.8e6, "us"), "2.800 s")
        self.assertEqual(table.value_text(9000, "MB/s"), "9.000 GB/s")
        self.assertEqual(table.value_text(24.5e6, "msg/s"), "24.50 M/s")
        self.assertEqual(table.value_text(3000, "KiB"), "2.930 MiB")
        self.assertEqual(table.value_text(None, "us"), "-")
        self.assertEqual(table.size_text("latency", 65536), "64 KiB")
        self.assertEqual(table.size_text("latency", 1000), "1000 B")
        self.assertEqual(table.size_text("barrier", 64), "64 ranks")
        self.assertEqual(table.value_text(1.148, "x"), "1.148 x")

    def test_titles(self):
        self.assertEqual(table.title_of("latency"), "latency, one way")
        self.assertEqual(table.title_of("reduce_scatter_8"), "reduce-scatter, 8 ranks")
        self.assertEqual(table.title_of("reduce_scatter_direct_16"), "reduce-scatter, 16 processes, from buffer to buffer")
        self.assertEqual(table.title_of("neighbor_ialltoall_4"), "neighbor-ialltoall, 4 ranks")
        self.assertEqual(table.title_of("created_fetch_and_op"), "created window: fetch-and-op and flush")
        self.assertEqual(table.title_of("memory_put_stream"), "memory that both have mapped: put-stream")
        self.assertEqual(table.title_of("spawn_1"), "MPI_Comm_spawn by 1 rank")

    def test_sizes(self):
        for case, size, text in (("latency", 8, "8 B"), ("latency", 2048, "2 KiB"), ("barrier", 4, "4 ranks"), ("front", 10, "N=10"),
                                 ("spawn_cycle_2", 1, "1 started"), ("start", 2, "2 started"), ("connect_jobs", 2, "2 ranks"), ("connect_jobs", 1, "1 rank"),
                                 ("start_end_places", 256, "256 places"), ("peak_places", runs.DEFAULT_PLACES, "default")):
            self.assertEqual(table.size_text(case, size), text)

    def test_a_stack_that_failed_has_no_figure(self):
        row = {**result("spawn_1", 1, "ms", wire="dynamic", margay=[2], openmpi=[40]), "failed": ["mpich"]}
        self.assertEqual(table.cells(judge.judge(row))[:5], ("1 started", "2.000 ms", "fails", "40.00 ms", "0.050"))
        self.assertIn("fails", plot.page(data([row])))

    def test_table(self):
        text = table.render(self.sample())
        row = next(line for line in text.splitlines() if line.startswith("  8 B ") and "0.180 us" in line)
        self.assertEqual(row.split(), "8 B 0.180 us 0.360 us 0.900 us 0.50 0.50 0.20 0% <= 0.85 met".split())
        self.assertIn("failed: MPICH: shm barrier <64>: no end within 30 s", text)
        self.assertIn("4 rows have a target: 2 met, 2 not met, 0 without a figure", text)
        self.assertIn("A & B, 2 processors, Linux 6.1\n", text)
        barrier = next(line for line in text.splitlines() if line.startswith("  64 ranks") and "1.234 ms" in line)
        self.assertIn("0.075  <= 0.35 of Open MPI", barrier)
        limit = next(line for line in text.splitlines() if "barrier of a flag for each process" in line)
        self.assertEqual(limit.split()[-4:], "64 ranks 45.00 us".split())

    def test_what_an_mpi_does_not_support_is_no_failure(self):
        sample = self.sample()
        sample["failures"].append({"run": "tcp windows", "stack": "openmpi", "why": f"{judge.UNSUPPORTED}: invalid window"})
        lines = table.render(sample).splitlines()
        self.assertIn("Open MPI: tcp windows: not supported: invalid window", lines)

    def test_a_busy_machine_is_reported(self):
        sample = self.sample()
        self.assertNotIn("NOT A QUIET", table.render(sample))
        self.assertIn("2 rounds were repeated because something else ran", table.render(sample))
        sample["quiet"]["disturbed_rounds"] = 3
        self.assertIn("NOT A QUIET MACHINE: 3 rounds count although something else ran", table.render(sample))
        self.assertIn("NOT A QUIET", plot.page(sample))

    def test_page_is_whole_and_needs_nothing_from_elsewhere(self):
        page = plot.page(self.sample())
        open_tags = []

        class Tags(html.parser.HTMLParser):
            def handle_starttag(self, tag, attributes):
                if tag != "meta":
                    open_tags.append(tag)

            def handle_startendtag(self, tag, attributes):
                pass

            def handle_endtag(self, tag):
                assert open_tags.pop() == tag, tag
        Tags().feed(page)
        self.assertEqual(open_tags, [])
        for word in ("http", "src=", "<script", "@import", "nan", "<64>"):
            self.assertNotIn(word, page)
        for word in ("barrier of a flag for each process", "0.075", "<polyline", "<rect", "A &amp; B", "no result", "prefers-color-scheme: dark"):
            self.assertIn(word, page)

    def test_page_of_nothing(self):
        self.assertIn("</html>", plot.page(data([])))
        self.assertIn("commit abc+", table.render(data([])))

    def test_scale(self):
        scale = charts.Scale([1, 100], 0, 200)
        self.assertEqual([scale(1), scale(10), scale(100)], [0, 100, 200])
        self.assertEqual(scale.decades(), [1, 10, 100])

    def test_result_file_is_read_back(self):
        import json
        self.assertEqual(json.loads(command.one_line_each(self.sample())), self.sample())


if __name__ == "__main__":
    unittest.main()
