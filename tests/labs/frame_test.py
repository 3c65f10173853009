#!/usr/bin/env python3
"""Tests of the labs' frame: its reader of traces against `margay trace messages`, damaged traces, blanks, predictions, variants.

    tests/labs/frame_test.py --build build/release
"""

import argparse
import csv
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "labs"))

from frame import blanks, run, say, variant  # noqa: E402  (after the path)
from frame.files import read  # noqa: E402
from frame.trace import BadTrace, Message, Trace, number_text  # noqa: E402

BUILD = ""
# Rank 1 receives a long message that arrived before; a short message behind it proves that.
PROGRAM = """#include <mpi.h>
static char bytes[800000];
int main(int argc, char** argv) {
  int rank;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Isend(bytes, sizeof(bytes), MPI_BYTE, 1, 7, MPI_COMM_WORLD, &request);
    MPI_Send(0, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(0, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(bytes, sizeof(bytes), MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""
VERSION, EVENTS = 8, 561152  # offsets in a file


def margay(*words):
    return subprocess.run([os.path.join(BUILD, "bin", "margay"), *words], capture_output=True, text=True, check=True,
                          timeout=60).stdout


# Prints the time of an hour's sleep; with an argument, waits for a message that no rank sends.
SIMULATED = """#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double begin = MPI_Wtime();
  sleep(3600);
  printf("%.0f s\\n", MPI_Wtime() - begin);
  if (argc > 1) MPI_Recv(0, 0, MPI_BYTE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""


class SimulationTest(unittest.TestCase):
    """Runs of `Work.simulate`, and what they are judged by."""

    class Lab:
        SIMULATED, RANKS, OPTIONS = True, "{ranks}", ("--machine", "ideal", "--compute", "none")

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        with open(os.path.join(place.name, "program.c"), "w", encoding="utf-8") as file:
            file.write(SIMULATED)
        self.work = run.Work(self.Lab, place.name, {"ranks": 2})

    def test_output_is_without_labels_of_ranks(self):
        done = self.work.simulate()
        self.assertEqual((done.status, done.out), (0, "3600 s\n3600 s\n"))

    def test_statuses_are_those_of_margay_run(self):
        self.assertEqual(self.work.simulate(arguments=("wait",)).status, run.DEADLOCK)
        with open(self.work.program(), "a", encoding="utf-8") as file:
            file.write("__attribute__((constructor)) static void stay(void) { for (volatile int on = 1; on;) {} }\n")
        self.work = run.Work(self.Lab, self.work.folder, {"ranks": 2})
        self.assertEqual(self.work.simulate(seconds=1).status, run.TIMED_OUT)

    def test_a_machine_with_other_figures(self):
        self.assertEqual(self.work.machine("paragon", "slow.toml", latency_ns=77777, hop_ns=5), "./slow.toml")
        text = read(self.work.folder, "slow.toml")
        self.assertIn("\nlatency_ns = 77777 ", text)
        self.assertIn("\nhop_ns = 5\n", text)
        self.assertIn("\nmemory_latency_ns = 1_000\n", text)
        self.assertEqual(self.work.simulate(1, "--machine", "./slow.toml").status, 0)

    def test_a_machine_lacks_a_field(self):
        with self.assertRaises(say.CouldNotRun):
            self.work.machine("paragon", "slow.toml", latency_us=5)

    def test_near(self):
        for said, right in (("100", True), ("109", True), ("111", False), ("", False), ("many", False), ("90.5", True)):
            with self.subTest(said):
                self.work.predictions = {"name": said}
                found = blanks.wrong_predictions(self.work.predictions, {"name": self.work.near("name", 100, 0.1, "look", "why")})
                self.assertEqual(not found, right, found)


class TraceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp()
        cls.program = program = os.path.join(cls.place, "late_receiver")
        with open(program + ".c", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        subprocess.run([os.path.join(BUILD, "bin", "mpicc"), "-O1", "-o", program, program + ".c"], check=True, timeout=60)
        cls.folder = os.path.join(cls.place, "trace")
        margay("run", "-n", "2", "--trace", cls.folder, program)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.place)

    def damaged(self, change):
        """A copy of the trace with a changed file of rank 1."""
        folder = tempfile.mkdtemp(dir=self.place)
        for name in os.listdir(self.folder):
            shutil.copy(os.path.join(self.folder, name), folder)
        change(os.path.join(folder, "rank_00001.trace"))
        return folder

    def refused(self, folder, sentence):
        with self.assertRaisesRegex(BadTrace, sentence):
            Trace.load(folder)

    def test_messages_are_those_of_margay(self):
        rows = list(csv.DictReader(io.StringIO(margay("trace", "messages", self.folder, "--csv", "--all"))))
        trace = Trace.load(self.folder)
        mine = {(m.source, m.destination, m.sequence): m for m in trace.sent()}
        self.assertGreater(len(rows), 0)
        for row in rows:
            message = mine[int(row["source"]), int(row["destination"]), int(row["sequence"])]
            self.assertEqual(message.bytes, int(row["bytes"]))
            self.assertEqual((message.protocol or "").replace("none", ""), row["protocol"])
        long = [message for message in trace.puts(portal=0, tag=7)]
        self.assertEqual([m.bytes for m in long], [800000])
        self.assertEqual([a.sent.saved for a in trace.answers_to(long[0])], ["header"])

    def test_names(self):
        trace = Trace.load(self.folder)
        message = trace.puts(portal=0, tag=7)[0]
        self.assertEqual(trace.entry(message.first("kernel_match")), "unexpected long")
        self.assertEqual([trace.entry(event) for event in message.events if event.kind == "kernel_pass"][-1], "unexpected short")
        self.assertEqual(trace.owner(message.first("kernel_match")), "the heap of unexpected messages")
        self.assertEqual(trace.defined(0, Trace.PORTAL, 0), "receives")
        self.assertEqual([enter.call for enter, leave in trace.calls(rank=1) if leave][1:], ["MPI_Recv", "MPI_Recv", "MPI_Finalize"])

    def test_numbers_have_ways(self):
        """As margay prints them (sim/base/message_number.hpp): the usual way's, those of each wire, and of a wire that the labs do not know."""
        for way, text in ((0, "17"), (1, "self.17"), (2, "shm.17"), (3, "tcp.17"), (4, "virtual.17"), (200, "17")):
            self.assertEqual(number_text(way << 48 | 17), text)
            self.assertEqual(Message(0, 1, way << 48 | 17).story, f"0:1:{text}")

    def test_fields_have_names(self):
        trace = Trace.load(self.folder)
        arrival = trace.of("kernel_arrive", rank=1)[0]
        self.assertEqual((arrival.header, arrival.reason, arrival.link), ("put", None, None))
        self.assertRaises(AttributeError, getattr, arrival, "no_such_field")
        begun = trace.puts(portal=0, tag=7)[0].begun
        self.assertEqual((begun.protocol, begun.choice, begun.bytes, begun.saved), ("long", "above_short", 800000, None))

    def test_times_are_microseconds(self):
        """margay's own times of the same events, which it prints to a nanosecond."""
        trace = Trace.load(self.folder)
        printed = [float(line.split()[0]) for line in margay("trace", "print", self.folder, "--all", "--raw").splitlines()
                   if line.strip() and line.split()[0].replace(".", "").isdigit()]
        self.assertEqual(len(printed), len(trace.events))
        for mine, theirs in zip(trace.events, printed):
            self.assertAlmostEqual(mine.time, theirs, delta=0.5 + theirs * 1e-3)

    def test_damaged_files(self):
        def put(offset, form, value):
            def change(path):
                with open(path, "r+b") as file:
                    file.seek(offset)
                    file.write(struct.pack(form, value))
            return change
        self.refused(self.damaged(put(VERSION, "<I", 99)), "version 99")
        self.refused(self.damaged(put(EVENTS + 32, "<Q", 12345)), "its checksum does not match")
        self.refused(self.damaged(os.remove), r"files of ranks \[0\], the job had 2 ranks")
        self.refused(os.path.join(self.place, "nowhere"), "no trace files")
        short = os.path.join(self.place, "short")
        margay("run", "-n", "2", "--trace", short, "--trace-events", "8", self.program)
        self.refused(short, "events were overwritten")


class BlanksTest(unittest.TestCase):
    HANDED_OUT = "a;\n/* BLANK 1: say\n * it */\nint x;\n/* END 1 */\n  /* BLANK 2: more */\n  /* END 2 */\n"

    def test_empty_blanks(self):
        self.assertEqual(blanks.empty_blanks(self.HANDED_OUT, self.HANDED_OUT),
                         {1: "BLANK 1 is as it was handed out: say it", 2: "BLANK 2 is empty: more"})
        filled = self.HANDED_OUT.replace("int x;", "int y;")
        self.assertEqual(blanks.empty_blanks(self.HANDED_OUT, filled), {2: "BLANK 2 is empty: more"})
        self.assertEqual(blanks.empty_blanks(self.HANDED_OUT, "int main;"), {})  # its marks are missing, so nothing is known

    def test_fillings(self):
        answer = blanks.filled(self.HANDED_OUT, "// why\n/* BLANK 2 */\n  z;\n  // end")  # a blank without a section is not changed
        self.assertEqual(answer, "// why\na;\n/* BLANK 1: say\n * it */\nint x;\n/* END 1 */\n"
                         "  /* BLANK 2: more */\n  z;\n  // end\n  /* END 2 */\n")
        both = blanks.filled(self.HANDED_OUT, "/* BLANK 2 */\n/* BLANK 1 */\nint y = '\\1';\n")
        self.assertEqual(both, self.HANDED_OUT.replace("int x;", "int y = '\\1';"))
        self.assertEqual(blanks.filled(both, "/* BLANK 1 */\nint x;\n"), self.HANDED_OUT)
        for filling, sentence in (("int x;\n", "x.fill fills no blank: put a line `/. BLANK 1 ./`"),
                                  ("/* BLANK 1 */\n/* BLANK 3 */\n", "x.fill fills BLANK 3, which the program has not; it has 1, 2"),
                                  ("/* BLANK 1 */\n/* BLANK 1 */\n", "x.fill has two sections for one blank")):
            with self.assertRaisesRegex(say.CouldNotRun, sentence):
                blanks.filled(self.HANDED_OUT, filling, "x.fill")

    def test_answers_fill_all_blanks(self):
        labs = os.path.join(ROOT, "labs")
        programs = [os.path.join(folder, name) for folder, _, names in os.walk(labs) for name in names
                    if name in ("program.c", "program.cpp")]
        self.assertGreaterEqual(len(programs), 11)
        for path in programs:
            with self.subTest(path):
                handed_out = read(path)
                if blanks.blanks(handed_out):
                    answer = blanks.filled(handed_out, read(os.path.join(os.path.dirname(path), "answer.fill")))
                    self.assertEqual(blanks.blanks(answer).keys(), blanks.blanks(handed_out).keys())
                    self.assertEqual(blanks.empty_blanks(handed_out, answer), {})

    def test_predictions(self):
        asked = blanks.questions("# a = 1\none = 1, Two # no\ntwo =\n")
        self.assertEqual(asked, {"one": "1, Two", "two": ""})
        truths = {"one": blanks.Truth([1, "two"], "look"), "two": blanks.Truth(3, "look there", "so")}
        self.assertEqual(blanks.wrong_predictions(asked, truths),
                         ["predict.txt: `two = ` is not what the trace shows. look there"])
        self.assertEqual(blanks.answered("# q\none =\ntwo =\n", truths), "# q\none = 1, two\ntwo = 3\n#   so\n")

    def test_predictions_that_cannot_be_read(self):
        hops = blanks.Truth(["0 put", "1 ack"], "look", words=("put", "ack", "get"))
        fates = blanks.Truth(["received", "dropped"], "look", words=("received", "dropped"), counted=True)
        three = blanks.Truth(3, "look")
        passed = blanks.Truth(["exact no match"], "look", known=("exact no match", "exact too small"), form="an entry with its reason")
        for truth, said, sentence in ((hops, "0 put 1 ack", "cannot be judged: commas are wanted between the values."),
                                      (hops, "0 body, 1 ack", "the word `body` is unknown; the words are put, ack, get."),
                                      (hops, "put, ack", "each value is to be a number and a word."),
                                      (hops, "0 put", "is not what the trace shows: it does not end after 1 value. look"),
                                      (hops, "0 Put; 1 ack, 1 get", "is not what the trace shows: value 3 is one too many. look"),
                                      (hops, "0 put, 1 get", "is not what the trace shows, from value 2 on (`1 get`). look"),
                                      (fates, "received", "cannot be judged: 1 value, 2 wanted."),
                                      (three, "tag 3", "`tag` is not a whole number in decimal digits."),
                                      (three, "0x3", "`0x3` is not a whole number in decimal digits."),
                                      (three, "3.0", "`3.0` is no whole number: leave out the point."),
                                      (three, "11 KB", "`11 KB` is a number with a unit: a whole number alone is wanted, without `KB`."),
                                      (passed, "exact", "`exact` is none of the answers: an entry with its reason."),
                                      (passed, "exact no match, drop", "`drop` is none of the answers: an entry with its reason."),
                                      (three, "3 4", "it is one value, no more."),
                                      (three, "3,000", "2 values, 1 wanted: no commas within a number."),
                                      (three, "4", "`name = 4` is not what the trace shows. look")):
            with self.subTest(said):
                found = blanks.wrong_predictions({"name": said}, {"name": truth})
                self.assertEqual(len(found), 1)
                self.assertTrue(found[0].endswith(sentence), found)
        for truth, said in ((hops, "0 PUT,1 Ack"), (fates, "received; dropped"), (three, "03")):
            self.assertEqual(blanks.wrong_predictions({"name": said}, {"name": truth}), [])

    def test_findings_that_are_alike(self):
        lost = [f"message {i} (0>1 #{i + 1} in the trace) was lost" for i in range(5)]
        blanks_wrong = ["BLANK 1: rank 0 is wrong", "BLANK 2: rank 0 is wrong"]
        self.assertEqual(list(say.some_of_each(lost[:2] + blanks_wrong + lost[2:])),
                         [*lost[:3], "and 2 more like these three", *blanks_wrong])
        self.assertEqual(list(say.some_of_each(lost[:4])), lost[:4])
        predicted = [f"predict.txt: `m{i}_passed = none` is not what the trace shows" for i in range(5)]
        self.assertEqual(list(say.some_of_each(predicted)), predicted)

    def test_variants(self):
        class Lab:
            NAME = "99_lab"

            @staticmethod
            def variant(random):
                return {"big_bits": 1 << 40, "some_bytes": [random.randrange(1000), 2], "page_only": "x\ny"}
        values = variant.make(Lab, 7)
        self.assertEqual(values, variant.make(Lab, 7))
        self.assertNotEqual(values, variant.make(Lab, 8))
        text = variant.header(values)
        self.assertIn("#define kBigBits 0x10000000000ULL\n", text)
        self.assertIn(f"static const int kSomeBytes[] = {{{values['some_bytes'][0]}, 2}};\n#define kSomeBytesCount 2\n", text)
        self.assertNotIn("page", text.lower())
        self.assertEqual(variant.fill("{seed} {page_only} {x} {{1, 2}}", values), "7 x\ny {x} {{1, 2}}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    known, rest = parser.parse_known_args()
    BUILD = os.path.abspath(known.build)
    os.environ["MARGAY_COMMAND"] = os.path.join(BUILD, "bin", "margay")
    unittest.main(argv=[sys.argv[0], *rest])
