#!/usr/bin/env python3
"""The labs' frame: its reader of traces against `margay trace messages`, damaged traces, blanks, predictions, variants.

    tests/labs/frame_test.py --build build/release
"""

import argparse
import csv
import io
import os
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "labs"))

import frame.trace  # noqa: E402
from frame import blanks, child, say, variant  # noqa: E402  (after the path)
from frame.files import read  # noqa: E402
from frame.trace import BadTrace, Trace  # noqa: E402

BUILD = ""
LAB = os.path.join(ROOT, "labs", "lab")
# Rank 1 receives a long message that came before: a word behind it says so.
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
WRITTEN, VERSION, EVENTS = 128, 8, 561152


def margay(*words):
    return subprocess.run([os.path.join(BUILD, "bin", "margay"), *words], capture_output=True, text=True, check=True,
                          timeout=60).stdout


class TraceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp()
        program = os.path.join(cls.place, "late_receiver")
        with open(program + ".c", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        subprocess.run([os.path.join(BUILD, "bin", "mpicc"), "-O1", "-o", program, program + ".c"], check=True, timeout=60)
        cls.folder = os.path.join(cls.place, "trace")
        margay("run", "-n", "2", "--trace", cls.folder, program)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.place)

    def damaged(self, change):
        """A copy of the trace whose rank 1's file was changed."""
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

    def test_words_are_those_of_the_page(self):
        with open(os.path.join(ROOT, "docs", "trace_format.md"), encoding="utf-8") as file:
            page = file.read()
        kinds = re.findall(r"^\| (\d+) \| ([a-z_]+) \|", page[page.index("## Kinds\n"):], re.M)
        self.assertGreaterEqual(len(kinds), 37)
        self.assertEqual([frame.trace.KINDS[int(number)] for number, _ in kinds], [name for _, name in kinds])
        for title, words in (("Protocols", frame.trace.PROTOCOLS), ("Choices", frame.trace.CHOICES),
                             ("Walks", frame.trace.WALKS), ("Ways", frame.trace.WAYS),
                             ("Accesses", frame.trace.ACCESSES), ("Synchronisations", frame.trace.SYNCHRONISATIONS),
                             ("Drop reasons", frame.trace.DROPS), ("Why passed", frame.trace.PASSED)):
            said = re.search(rf"^{title}: (.*?)\.$", page, re.M | re.S)[1].replace("\n", " ")
            self.assertEqual([f"{number} {name}" for number, name in enumerate(words)], said.split(", "))

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
        self.refused(self.damaged(put(0, "8s", b"nothing!")), "not a trace file")
        self.refused(self.damaged(put(VERSION, "<I", 99)), "version 99")
        self.refused(self.damaged(put(WRITTEN, "<Q", 1 << 40)), "were overwritten")
        self.refused(self.damaged(lambda path: os.truncate(path, EVENTS + 64)), "cut short")
        self.refused(self.damaged(put(EVENTS + 32, "<Q", 12345)), "its checksum does not fit")
        for offset, form, value, sentence in ((12, "<I", 0, "header_bytes is 0"), (16, "<I", 0, "event_bytes is 0, not 64"),
                                              (20, "<I", 77, "clock kind 77"), (24, "<I", 2, "rank 2 of 2"),
                                              (28, "<I", 0xffffffff, "its checksum does not fit"),
                                              (40, "<Q", 1 << 62, "names_offset"), (48, "<Q", 0, "events_offset is 0"),
                                              (56, "<Q", 3, "capacity of 3"), (56, "<Q", 1 << 60, "capacity of"),
                                              (88, "<Q", 0x70 << 56, "definitions_offset"), (96, "<Q", 0, "definitions_bytes"),
                                              (136, "<Q", 0, "no anchor"), (192, "<I", 2**32 - 1, "4294967295 names, at most 1024"),
                                              (200, "<I", 2**32 - 1, "4294967295 bytes of definitions")):
            with self.subTest(sentence):
                self.refused(self.damaged(put(offset, form, value)), sentence)
        folder = self.damaged(lambda path: None)
        for name in ("rank_00000.trace", "rank_00001.trace"):
            for offset, form, value in ((28, "<I", 0xffffffff), (120, "<Q", 0), (196, "<I", 0)):  # of no closed file
                put(offset, form, value)(os.path.join(folder, name))
        self.refused(folder, r"files of ranks \[0, 1\], the job had 4294967295 ranks")
        self.refused(self.damaged(lambda path: (os.remove(path), os.mkfifo(path))), "no regular file")
        self.refused(self.damaged(lambda path: os.truncate(path, 100)), "not a trace file")
        self.refused(self.damaged(os.remove), r"files of ranks \[0\], the job had 2 ranks")
        self.refused(os.path.join(self.place, "nowhere"), "no trace files")


class BlanksTest(unittest.TestCase):
    HANDED_OUT = "a;\n/* BLANK 1: say\n * it */\nint x;\n/* END 1 */\n  /* BLANK 2: more */\n  /* END 2 */\n"

    def test_empty_blanks(self):
        self.assertEqual(blanks.empty_blanks(self.HANDED_OUT, self.HANDED_OUT),
                         {1: "BLANK 1 is as it was handed out: say it", 2: "BLANK 2 is empty: more"})
        filled = self.HANDED_OUT.replace("int x;", "int y;")
        self.assertEqual(blanks.empty_blanks(self.HANDED_OUT, filled), {2: "BLANK 2 is empty: more"})
        self.assertEqual(blanks.empty_blanks(self.HANDED_OUT, "int main;"), {})  # its marks are gone: nothing is known

    def test_fillings(self):
        answer = blanks.filled(self.HANDED_OUT, "// why\n/* BLANK 2 */\n  z;\n  // end")  # what has no section stays
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


class CommandTest(unittest.TestCase):
    """What `lab` says of folders that cannot be judged: status 2 and a sentence, never a wrong judgement."""

    def setUp(self):
        self.place = tempfile.mkdtemp()
        self.folder = os.path.join(self.place, "lab")
        self.addCleanup(shutil.rmtree, self.place)
        self.lab("start", "protocols", self.folder, "--seed", "3")

    def called(self, *words, **keywords):
        environment = {**os.environ, "MARGAY_COMMAND": os.path.join(BUILD, "bin", "margay")}
        keywords = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment, **keywords}
        command = [words[0], "-c", f"{shlex.quote(LAB)} {words[1]}"] if words[:1] in (("sh",), ("bash",)) else [LAB, *words]
        return subprocess.run(command, timeout=120, check=False, **keywords)

    def lab(self, *words):
        done = self.called(*words)
        return done.returncode, done.stdout + done.stderr

    def change(self, name, old, new):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            text = file.read()
        self.assertIn(old, text)
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))

    def answered(self):
        self.assertEqual(self.lab("answer", self.folder)[0], 0)
        shutil.copy(os.path.join(self.folder, "answers.txt"), os.path.join(self.folder, "predict.txt"))
        if os.path.exists(os.path.join(self.folder, "answer.c")):
            shutil.copy(os.path.join(self.folder, "answer.c"), os.path.join(self.folder, "program.c"))

    def predicted(self):
        self.assertEqual(self.lab("answer", self.folder)[0], 0)
        shutil.copy(os.path.join(self.folder, "answers.txt"), os.path.join(self.folder, "predict.txt"))

    def says(self, status, sentence, *words):
        got, said = self.lab(*(words or ("check", self.folder)))
        self.assertEqual(got, status, said)
        self.assertIn(sentence, said)

    def test_a_program_that_does_not_compile(self):
        self.answered()
        self.change("program.c", "int rank;", "int rank")
        self.says(2, "program.c does not compile")

    def test_a_program_that_dies(self):
        self.answered()
        self.change("program.c", "int rank;", "int rank; abort();")
        self.says(1, "the program ended with status 134")

    def test_a_program_that_hangs(self):
        self.answered()
        self.change("program.c", "MPI_Finalize();", "MPI_Recv(0, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);")
        self.says(1, "no rank can go on")

    def test_another_program(self):
        self.answered()
        self.change("program.c", "if (rank == 0) send_message(i, bytes);", "(void)send_message;")
        self.change("program.c", "if (rank == 1) receive_message(i, bytes);", "(void)receive_message;")
        self.says(1, "program.c is not the one that was handed out")

    def test_predictions_beside_a_program_that_aborts(self):
        self.folder = os.path.join(self.place, "tree_bucket")
        self.lab("start", "tree_bucket", self.folder, "--seed", "3")
        self.answered()
        self.change("program.c", "(rank - step + size) % size", "-1")
        self.change("predict.txt", "tree_all = ", "tree_all = 1")
        self.says(1, "- BLANK 1: rank ")
        self.says(1, "- predict.txt: `tree_all = 1")

    def test_a_circle_that_begins_elsewhere(self):
        self.folder = os.path.join(self.place, "deadlock")
        self.lab("start", "deadlock", self.folder, "--seed", "3")
        self.answered()
        right = read(self.folder, "predict.txt")
        cycle = re.search(r"^cycle = (.*)$", right, re.M)[1].split(", ")
        self.change("predict.txt", f"cycle = {', '.join(cycle)}", f"cycle = {', '.join(cycle[1:] + cycle[:1])}")
        self.says(1, "It is this circle, but it is to begin with the lowest rank.")

    def test_a_part_1_that_was_changed(self):
        self.folder = os.path.join(self.place, "bypass")
        self.lab("start", "bypass", self.folder, "--seed", "3")
        self.answered()
        self.change("program.c", "flags->ready = step;",
                    "int is; flags->ready = step; MPI_Iprobe(0, 999, MPI_COMM_WORLD, &is, MPI_STATUS_IGNORE);")
        self.says(1, "part 1 was changed: rank 1 calls MPI_Iprobe there")

    def test_a_trace_without_its_beginning(self):
        self.answered()
        self.change("program.c", "int rank;", "int rank, is; for (int i = 0; i < 50000; ++i) "
                    "MPI_Iprobe(0, 999, MPI_COMM_WORLD, &is, MPI_STATUS_IGNORE);")
        self.says(1, "the program did more than its trace has room for")

    def test_messages_that_were_changed(self):
        self.answered()
        with open(os.path.join(self.folder, "program.c"), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(self.folder, "program.c"), "w", encoding="utf-8") as file:
            file.write(text.replace("kExpected[i]", "1"))
        self.says(1, "its receive was posted before, and it was not synchronous: page.md's table says otherwise")

    def test_empty_blanks_hide_nothing(self):
        """Of a program whose blank 2 is empty: what is wrong with the predictions, and with blank 1; not how the run ends."""
        self.folder = os.path.join(self.place, "two_blanks")
        self.lab("start", "full_heap", self.folder, "--seed", "3")
        self.predicted()
        self.change("predict.txt", "what = held", "what = dropped")
        self.change("program.c", "  /* END 1 */", "  ;\n  /* END 1 */")
        got, said = self.lab("check", self.folder)
        self.assertEqual(got, 1, said)
        findings = [line[2:] for line in said.splitlines() if line.startswith("- ")]
        for finding, begin in zip(findings, ("BLANK 2 is as it was handed out: ", "BLANK 1: the heap was full again", "BLANK 1: ", "predict.txt: `what = dropped`"),
                                  strict=True):
            self.assertTrue(finding.startswith(begin), said)

    def test_blanks_that_come_first(self):
        """Where a prediction is empty, and the blanks are to be filled before: what is wrong with a blank is told all the same."""
        self.folder = os.path.join(self.place, "walk")
        self.lab("start", "walk", self.folder, "--seed", "3")
        self.answered()
        shutil.copy(os.path.join(self.folder, "answer.cpp"), os.path.join(self.folder, "program.cpp"))
        self.change("predict.txt", "m1_taken = ", "m1_taken = # ")
        self.says(1, "`m1_taken` is empty")
        self.assertNotIn("BLANK", self.lab("check", self.folder)[1])
        self.change("program.cpp", "Link family_too_small = Link::at(wide)", "Link family_too_small = Link::next()")
        self.says(1, "BLANK 2: message ")

    def test_predictions_that_are_gone_or_twice(self):
        self.answered()
        self.change("predict.txt", "taken_by = ", "message_1 = 1 ack\ntaken_by = ")
        self.says(1, "predict.txt: `message_1` has two answers: leave one")
        os.remove(os.path.join(self.folder, "predict.txt"))
        self.says(2, "get it back by `margay lab start protocols fresh --seed 3`")

    def test_folders(self):
        self.says(2, "there is no lab.json", "check", self.place)
        self.says(2, "is there and not empty", "start", "protocols", self.folder)
        self.says(2, "there is no lab 'protocol'", "start", "protocol", os.path.join(self.place, "other"))
        self.change("lab.json", "}", "")
        self.says(2, "is damaged")

    def test_run(self):
        folder = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, folder)
        for _ in range(2):  # the second run takes the place of the first one's trace
            self.says(0, "--trace trace ./program word", "run", "--stats", "--", "word")
        Trace.load("trace")


    def test_a_program_that_prints_for_ever(self):
        self.answered()
        self.change("program.c", "int rank;", 'int rank; for (;;) puts("again and again and again and again and again");')
        self.says(1, "the program printed more than 16 MiB and was ended")

    def test_a_program_without_mpi(self):
        self.answered()
        with open(os.path.join(self.folder, "program.c"), "w", encoding="utf-8") as file:
            file.write("int main(void) { return 0; }\n")
        self.says(1, "- program.c never called MPI_Init")

    def test_what_does_not_print(self):
        self.answered()
        self.change("program.c", "#include <mpi.h>", "#include <mpi.h>\n#include <stdio.h>")
        self.change("program.c", "int rank;", 'int rank; fputs("\\033[31mred\\033]0;x\\007\\n", stderr); exit(3);')
        status, said = self.lab("check", self.folder)
        self.assertEqual(status, 1, said)
        self.assertIn("status 3: ?[31mred?]0;x?\n", said)
        self.change("program.c", "int rank;", "int \033[31mrank;")
        self.says(2, "program.c does not compile")
        self.assertNotIn("\033", self.lab("check", self.folder)[1])
        for words in (("start", "1\033[31m\n"), ("start", "1", "\033[31m\n\udcff", "more\033"), ("check", "\033[31m\n"),
                      ("start", "1", "--seed", "1\033"), ("\033[31m",), ("start", "1", self.folder + "\033[31m\n\udcff")):
            said = self.lab(*words)[1]
            self.assertRegex(said, r"\?|\\x1b")
            self.assertNotIn("\033", said)
            self.assertEqual(said.count("\n"), 1, said)

    def stopped(self, number):
        """Sends a signal to a check whose program spins: its exit status, what it said, and the ranks' process numbers."""
        pids = os.path.join(self.folder, "pids")
        environment = {**os.environ, "MARGAY_COMMAND": os.path.join(BUILD, "bin", "margay")}
        check = subprocess.Popen([os.path.join(ROOT, "labs", "lab"), "check", self.folder], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, env=environment,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        ranks, end = [], time.monotonic() + 60
        while len(ranks) < 2 and time.monotonic() < end:
            time.sleep(0.05)
            if os.path.exists(pids):
                with open(pids, encoding="utf-8") as file:
                    ranks = [int(line) for line in file if line.endswith("\n")]
        check.send_signal(number)
        said = check.communicate(timeout=60)[0]
        os.unlink(pids)
        return check.returncode, said, ranks

    def test_a_check_that_is_stopped(self):
        self.answered()
        self.change("program.c", "#include <mpi.h>", "#include <mpi.h>\n#include <stdio.h>\n#include <unistd.h>")
        self.change("program.c", "int rank;", 'int rank; FILE* pids = fopen("pids", "a"); fprintf(pids, "%d\\n", getpid()); '
                    "fclose(pids); for (volatile int spin = 1; spin;) {}")
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGKILL, -signal.SIGKILL)):
            got, said, ranks = self.stopped(number)
            self.assertEqual((got, said, len(ranks)), (status, "", 2))
            for rank in ranks:
                self.assertFalse(self.lives(rank), f"rank {rank} outlives signal {number}")

    def test_a_signal_as_it_is_ended(self):
        """One that comes when a child's time is over and its end begins, and one more while it ends: the child is ended."""
        ended = []

        def end(started):
            ended.append(started)
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
            really_end(started)

        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        really_end, child._end = child._end, end
        child.listen()
        try:
            for command in (["sleep", "600"], ["sh", "-c", "trap '' TERM; sleep 600"]):
                with self.assertRaises(child.Stopped) as stopped:
                    child.run(command, seconds=0)
                self.assertEqual(stopped.exception.status, 128 + signal.SIGTERM)
                self.assertFalse(self.lives(ended[-1].pid), f"{command} outlives its judge")
        finally:
            for process in ended:
                process.kill()
            child._end = really_end
            for number, handler in before.items():
                signal.signal(number, handler)

    @staticmethod
    def lives(process):
        """Whether it runs still; who was killed a moment ago may take one to go."""
        for _ in range(100):
            try:
                with open(f"/proc/{process}/stat", encoding="utf-8") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                        return False
            except (FileNotFoundError, ProcessLookupError):
                return False
            time.sleep(0.05)
        return True

    def test_bad_words(self):
        other = os.path.join(self.place, "other")
        self.says(2, "there is no lab '\u00b2'", "start", "\u00b2", other)
        self.says(2, "there is no lab '" + "9" * 400 + " ...'; there are protocols", "start", "9" * 5000, other)
        for seed in ("-1", "1.5", "1_0", "\u00b2", "9" * 30, "9" * 5000):
            self.says(2, "is no seed: take a whole number from 0", "start", "protocols", other, "--seed", seed)
        status, said = self.lab()
        self.assertEqual(status, 2)
        for word in ("list", "start NAME", "run", "check", "answer", "example: margay lab start protocols"):
            self.assertIn(word, said)
        status, said = self.lab("start", "--help")
        self.assertRegex(said, r"name +the lab, by name or number")
        self.assertRegex(said, r"folder +the folder to make")
        self.assertFalse(os.path.exists(other))

    def test_damaged_notes(self):
        note = os.path.join(self.folder, "lab.json")
        for text in ('{"lab": "01_protocols", "seed": Infinity}', '{"lab": "01_protocols", "seed": 1e400}', "[" * 100000,
                     '{"lab": "01_protocols", "seed": -1}', '{"lab": "01_protocols", "seed": true}', '{"lab": "01_protocols"}',
                     '{"lab": 1, "seed": 1}', "[]", '{"lab": "01_protocols", "seed": ' + "9" * 5000 + "}"):
            with open(note, "w", encoding="utf-8") as file:
                file.write(text)
            with self.subTest(text[:60]):
                self.says(2, "lab.json is damaged")
                self.assertNotIn("Traceback", self.lab("answer", self.folder)[1])

    def test_files_that_are_none(self):
        for name in ("predict.txt", "program.c", "lab.json", "variant.h"):
            path = os.path.join(self.folder, name)
            os.rename(path, path + ".kept")
            os.mkfifo(path)
            self.says(2, f"{name} is no regular file")
            os.unlink(path)
            os.mkdir(path)
            self.says(2, f"{name} is no regular file")
            os.rmdir(path)
            os.rename(path + ".kept", path)
        os.mkfifo(os.path.join(self.folder, "answer.c"))
        os.mkfifo(os.path.join(self.folder, "answers.txt"))
        self.says(2, "is no regular file", "answer", self.folder)

    def test_places_that_are_none(self):
        file = os.path.join(self.folder, "page.md")
        self.says(2, "page.md is there and is no folder: name another folder", "start", "1", file)
        self.says(2, "name another folder", "start", "1", os.path.join(file, "x"))
        self.says(2, "page.md is no folder that `margay lab start` made", "check", file)
        self.says(2, "standard output: No space left on device", "sh", "list >/dev/full")
        self.says(0, "01  protocols ", "sh", "list | head -1")
        self.assertEqual(self.lab("sh", "list | head -1")[1].count("\n"), 1)

    def test_a_start_that_fails_leaves_nothing(self):
        deep, empty = os.path.join(self.place, "a", "b", "c"), os.path.join(self.place, "empty")
        os.mkdir(empty)
        for folder in (deep, empty):
            done = subprocess.run([os.path.join(ROOT, "labs", "lab"), "start", "protocols", folder], capture_output=True, text=True,
                                  timeout=60, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)))
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"^lab: .*/page\.md: File too large: ")
        self.assertFalse(os.path.exists(os.path.join(self.place, "a")))
        self.assertEqual(os.listdir(empty), [])

    def test_hints_are_seen_from_here(self):
        self.answered()
        self.change("predict.txt", "message_1 = ", "message_1 = 0 get, ")
        self.says(1, f"`margay trace story {os.path.relpath(self.folder)}/trace --tag 1`")
        folder = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, folder)
        self.says(1, "`margay trace story trace --tag 1`", "check")
        for words in (("--trace", "x"), ("--stats", "--trace=x"), ("-trace", "x"), ("-trace=x",)):
            self.says(2, "always records in the folder `trace`", "run", *words)
        self.refuses_to_run()
        self.says(0, "--trace trace ./program --trace x", "run", "--", "--trace", "x")

    def refuses_to_run(self):
        """What is no option of a run: none of it is run, and the trace of the last run stays."""
        kept = os.path.join("trace", "rank_00000.trace")
        self.assertTrue(os.path.exists(kept))
        behind = r"arguments of the program go behind --, as in `margay lab run -- 5`"
        for sentence, *words in ((behind, "5"), (behind, "--stats", "touch", "ran"), (behind, "/usr/bin/touch", "ran"),
                                 ("begins another program", ":", "-n", "1", "touch", "ran"), ("-configfile", "-configfile", "x"),
                                 ("option -n lacks its value", "-n"), ("unknown option --foo", "--foo"),
                                 ('option -n: "x" is not a number', "-n", "x"), ("runs nothing", "--version"),
                                 (behind, "--rates", "usual", "5")):
            self.says(2, sentence, "run", *words)
        self.assertFalse(os.path.exists("ran"))
        os.rename("program.c", "kept.c")
        os.mkfifo("program.c")
        self.says(2, "program.c is no regular file", "run")
        os.remove("program.c")
        os.symlink("/dev/zero", "program.c")
        self.says(2, "program.c is no regular file", "run")
        os.replace("kept.c", "program.c")
        self.assertTrue(os.path.exists(kept))
        os.rename("trace", "earlier")
        os.symlink("earlier", "trace")
        self.says(2, "trace is a symbolic link: remove it", "run")
        self.says(2, "trace is a symbolic link: remove it", "check")
        self.assertTrue(os.path.exists(os.path.join("earlier", "rank_00000.trace")))
        os.remove("trace")

    def test_a_folder_of_any_name(self):
        """The command that `start` shows works as it stands, in bash."""
        for name in ("-x", "a b", "it's\n\x1b[31mred\\", "gr\u00fcn"):
            with self.subTest(name):
                done = self.called("start", "1", "--", name, cwd=self.place)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.count("\n"), 1)
                self.assertTrue(done.stdout.strip().isprintable())
                shown = re.search(r"`margay lab check (.*)`$", done.stdout.strip())[1]
                checked = self.called("bash", "check " + shown, cwd=self.place)
                self.assertEqual((checked.returncode, checked.stderr), (1, ""))

    def test_start_that_cannot_say_so_leaves_nothing(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = self.called("start", "1", "zz", cwd=self.place, stdout=full)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the standard output: No space left", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.place, "zz")))

    def test_list(self):
        status, said = self.lab("list")
        self.assertEqual(status, 0)
        self.assertRegex(said, r"(?m)^01  protocols +C +25 min  \w")
        self.assertRegex(said, r"(?m)^12  server +C\+\+20 +30 min  \w")
        self.assertIn("numbers have gaps", said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    known, rest = parser.parse_known_args()
    BUILD = os.path.abspath(known.build)
    unittest.main(argv=[sys.argv[0], *rest])
