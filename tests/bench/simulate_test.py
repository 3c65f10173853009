#!/usr/bin/env python3
"""`margay simulate` beside SMPI (bench/simulate): the verdicts on made-up figures, and with --build all programs in small.

    tests/bench/simulate_test.py                          the verdicts, and the measurement of a process
    tests/bench/simulate_test.py --build build/release    the programs
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from simulate import predictions, runs, verdicts  # noqa: E402

BESIDE, ALONE, START = runs.FULL[0], runs.FULL[3], runs.FULL[4]
MB = 1_000_000


def samples(*figures):
    return [runs.Sample(seconds, megabytes * MB, 0.5) for seconds, megabytes in figures]


class Verdicts(unittest.TestCase):
    def test_ratios_of_medians(self):
        time, memory = verdicts.judge(BESIDE, {"margay": samples((1, 10), (2, 20), (90, 30)), "SMPI": samples((20, 40), (20, 40), (1, 40))})
        self.assertEqual((time.ours, time.theirs, time.compared, time.is_met), (2, 20, 0.1, True))
        self.assertEqual((memory.compared, memory.is_met), (0.5, True))
        time, memory = verdicts.judge(BESIDE, {"margay": samples((3, 21)), "SMPI": samples((20, 40))})
        self.assertEqual((time.is_met, memory.is_met), (False, False))

    def test_absolute_goals(self):
        for figures, expected in (((9, 3900), (True, True)), ((11, 4100), (False, False))):
            self.assertEqual(tuple(one.is_met for one in verdicts.judge(ALONE, {"margay": samples(figures)})), expected)
        self.assertEqual([one.is_met for one in verdicts.judge(START, {"margay": samples((1, 1))})], [None, None])

    def test_table(self):
        measured = {BESIDE: {"margay": samples((1, 10)), "SMPI": samples((20, 15))}, ALONE: {"margay": samples((1, 10))}}
        rows = verdicts.rows(measured)
        self.assertEqual({len(row) for row in rows}, {len(verdicts.HEAD)})
        self.assertEqual(rows[2][3:6], ("0.050", "<= 0.1", "met"))
        self.assertEqual(rows[2][8:11], ("0.667", "<= 0.5", "NOT MET"))
        self.assertEqual(rows[3][3:6], ("", "<= 10 s", "met"))
        self.assertEqual(verdicts.summary(measured), ["4 goals: 3 met, 1 not met."])


class Predictions(unittest.TestCase):
    def test_differences_of_medians(self):
        case = predictions.CASES[0]
        for samples, difference, word in (([(1e-6, 1.14e-6), (1e-6, 1.14e-6), (9e-6, 5e-6)], "+14 %", "met"), ([(2e-6, 1e-6)], "-50 %", "NOT MET")):
            head, row = predictions.rows({case: samples})
            self.assertEqual(len(head), len(row))
            self.assertEqual((row[0], row[3], row[5]), (case.title, difference, word))


class Measuring(unittest.TestCase):
    def test_memory_and_text_of_a_process(self):
        allocate = f"b = bytearray({64 * MB}); print('simulated 0.25 s')"
        # A process for which the child waits counts.
        for command in ([sys.executable, "-c", allocate], ["sh", "-c", f'"{sys.executable}" -c "{allocate}"; true']):
            sample = runs.measure(command)
            self.assertGreater(sample.bytes, 64 * MB)
            self.assertEqual(sample.simulated_s, 0.25)

    def test_failures(self):
        with self.assertRaisesRegex(runs.Failed, "exit status 3"):
            runs.measure(["sh", "-c", "exit 3"])
        with self.assertRaisesRegex(runs.Failed, "exit status -9"):
            runs.measure(["sleep", "600"], limit_s=0.1)
        with self.assertRaisesRegex(runs.Failed, "/there/is/none"):
            runs.measure(["/there/is/none"])


class Programs(unittest.TestCase):
    build = None

    def test_all_in_small(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [ROOT / "scripts" / "bench", "--only", "simulate", "--quick", "--repeats", "1", "--patience", "0", "--build", self.build, "--out", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = (pathlib.Path(folder) / "table.txt").read_text(encoding="utf-8")
            for case in runs.QUICK:
                self.assertIn(case.title, text)
            self.assertTrue((pathlib.Path(folder) / "result.json").exists())

    def test_predictions(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [ROOT / "scripts" / "bench", "--only", "predict", "--repeats", "1", "--patience", "0", "--build", self.build, "--out", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = (pathlib.Path(folder) / "predictions.txt").read_text(encoding="utf-8")
            for case in predictions.CASES:
                self.assertIn(case.title, text)

    def test_a_wrong_workload_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            margay = runs.Margay(self.build, folder)
            wrong = runs.Case("", "none", 1, 4)
            with self.assertRaisesRegex(runs.Failed, "wrong result"):
                runs.measure(margay.command(wrong))


if __name__ == "__main__":
    if "--build" in sys.argv:
        at = sys.argv.index("--build")
        Programs.build = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    unittest.main(defaultTest=None if Programs.build else ["Verdicts", "Predictions", "Measuring"])
