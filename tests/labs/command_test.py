#!/usr/bin/env python3
"""Tests of the command `lab`: its messages about folders, command lines and programs that cannot be judged, and the files that it leaves.

    tests/labs/command_test.py --build build/release [CommandTest.test_list]
"""

import argparse
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "labs"))

from frame import child, variant  # noqa: E402  (after the path)
from frame.files import read, write  # noqa: E402
from frame.trace import Trace  # noqa: E402

BUILD = ""
LAB = os.path.join(ROOT, "labs", "lab")


class CommandTest(unittest.TestCase):
    """Tests of `lab` on folders that cannot be judged: status 2 and a message, never a wrong judgement."""

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
        self.says(1, "no rank can proceed")

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

    def test_options_of_a_simulated_lab(self):
        self.lab("start", "schedule", os.path.join(self.place, "schedule"))
        done = self.called("run", "--summary", cwd=os.path.join(self.place, "schedule"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("margay simulate", done.stderr)

    def test_a_simulated_program_that_hangs(self):
        self.folder = os.path.join(self.place, "schedule")
        self.lab("start", "schedule", self.folder)
        self.answered()
        self.change("program.c", "worker < size; ++worker)", "worker <= 1; ++worker) for (int twice = 0; twice < 3; ++twice)")
        self.says(1, "part 2 deadlocks with --seed 0")

    def test_a_circle_that_begins_elsewhere(self):
        self.folder = os.path.join(self.place, "deadlock")
        self.lab("start", "deadlock", self.folder, "--seed", "3")
        self.answered()
        right = read(self.folder, "predict.txt")
        cycle = re.search(r"^cycle = (.*)$", right, re.M)[1].split(", ")
        self.change("predict.txt", f"cycle = {', '.join(cycle)}", f"cycle = {', '.join(cycle[1:] + cycle[:1])}")
        self.says(1, "The cycle is right, but it must begin with the lowest rank.")

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
        """For a program with an empty blank 2 it reports errors in the predictions and in blank 1, but not the end of the run."""
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
        """With an empty prediction, in a lab whose blanks are to be filled first, errors in a blank are reported all the same."""
        self.folder = os.path.join(self.place, "walk")
        self.lab("start", "walk", self.folder, "--seed", "3")
        self.answered()
        shutil.copy(os.path.join(self.folder, "answer.cpp"), os.path.join(self.folder, "program.cpp"))
        self.change("predict.txt", "m1_taken = ", "m1_taken = # ")
        self.says(1, "`m1_taken` is empty")
        self.assertNotIn("BLANK", self.lab("check", self.folder)[1])
        self.change("program.cpp", "Link family_too_small = Link::at(wide)", "Link family_too_small = Link::next()")
        self.says(1, "BLANK 2: message ")

    def test_predictions_are_kept(self):
        """The files as they were before the first run, check or answer; later ones do not change them."""
        kept = os.path.join(self.folder, "predicted.txt")
        self.assertFalse(os.path.exists(kept))
        self.change("predict.txt", "message_1 =\n", "message_1 = 0 put, 1 get\n")
        self.assertEqual(self.called("run", cwd=self.folder).returncode, 0)
        self.assertIn("message_1 = 0 put, 1 get\n", read(kept))
        self.answered()
        self.lab("check", self.folder)
        self.assertIn("message_1 = 0 put, 1 get\n", read(kept))
        for words in (("answer",), ("check",)):
            folder = os.path.join(self.place, *words)
            self.lab("start", "protocols", folder, "--seed", "3")
            if words == ("check",):
                self.lab("answer", folder)
                os.replace(os.path.join(folder, "answers.txt"), os.path.join(folder, "predict.txt"))
                os.remove(os.path.join(folder, "predicted.txt"))
            self.lab(*words, folder)
            self.assertEqual("message_1 =\n" in read(folder, "predicted.txt"), words == ("answer",))

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
        self.says(2, "server (12)", "start", "9", os.path.join(self.place, "other"))
        self.says(2, "did you mean start;", "strat")
        self.change("lab.json", "}", "")
        self.says(2, "is damaged")

    def test_run(self):
        folder = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, folder)
        for _ in range(2):  # the second run replaces the first one's trace
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
        """Sends a signal to a check whose program spins: its exit status, its output, and the ranks' process numbers."""
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
        """A signal that arrives when a child exceeds its time and its end begins, and another while it ends: the child is ended."""
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
        """Whether the process still runs; one that was just killed may take a moment to end."""
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
            self.says(2, f"{name} is not a regular file")
            os.unlink(path)
            os.mkdir(path)
            self.says(2, f"{name} is not a regular file")
            os.rmdir(path)
            os.rename(path + ".kept", path)
        os.mkfifo(os.path.join(self.folder, "answer.c"))
        os.mkfifo(os.path.join(self.folder, "answers.txt"))
        self.says(2, "not a regular file", "answer", self.folder)

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
        """With an invalid option of a run nothing is run, and the trace of the last run remains."""
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
        self.says(2, "program.c is not a regular file", "run")
        os.remove("program.c")
        os.symlink("/dev/zero", "program.c")
        self.says(2, "program.c is not a regular file", "run")
        os.replace("kept.c", "program.c")
        self.assertTrue(os.path.exists(kept))
        os.rename("trace", "earlier")
        os.symlink("earlier", "trace")
        self.says(2, "trace is a symbolic link: remove it", "run")
        self.says(2, "trace is a symbolic link: remove it", "check")
        self.assertTrue(os.path.exists(os.path.join("earlier", "rank_00000.trace")))
        os.remove("trace")

    def test_another_program_of_a_lab(self):
        folder = os.path.join(self.place, "posting")
        self.lab("start", "posting", folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        self.says(0, "--trace trace_losing ./losing", "run", "losing", "--stats")
        self.assertEqual(sorted(name for name in os.listdir(".") if name.startswith("trace")), ["trace_losing"])
        self.says(2, "unknown option --wrong", "run", "losing", "--wrong")
        self.says(2, "names a program or its arguments", "run", "--stats", "losing")
        self.says(2, "names a program or its arguments", "run", "wrong")
        write("\n".join(f"{name} = 1" for name in ("empty", "exchanged", "number", "lost", "lost_taken_by", "waits")), "predict.txt")
        self.folder = folder
        self.change("program.cpp", "  post_racy(desk, receive);\n  /* END", "  return post_racy(desk, receive);\n  /* END")
        with open("losing.c", "a", encoding="utf-8") as file:
            file.write("/* mine */\n")
        self.says(1, "losing.c is not as it was handed out", "check")
        os.remove("losing.c")
        self.says(1, "losing.c is not as it was handed out", "check")

    def test_a_folder_of_any_name(self):
        """The command that `start` prints works unchanged in bash."""
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


PROCESSES = 2  # the number of processors that the test requests from CTest


def run_in_parts():
    """Runs all tests, divided among processes, because each waits for compilers and ranks in turn. Returns the exit status."""
    names = unittest.defaultTestLoader.getTestCaseNames(CommandTest)
    parts = [[f"CommandTest.{name}" for name in names[first::PROCESSES]] for first in range(PROCESSES)]
    running = [subprocess.Popen([sys.executable, __file__, "--build", BUILD, *part]) for part in parts]
    return int(any([process.wait() for process in running]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    known, rest = parser.parse_known_args()
    BUILD = os.path.abspath(known.build)
    os.environ["MARGAY_COMMAND"] = os.path.join(BUILD, "bin", "margay")
    if not rest:
        sys.exit(run_in_parts())
    unittest.main(argv=[sys.argv[0], *rest])
