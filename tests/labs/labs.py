#!/usr/bin/env python3
"""Tests of each lab as a student would use it, through `labs/lab`: the handed-out program fails its check with a reason; the answer passes;
each typical wrong answer fails, and its check prints the sentence that belongs to it.

    tests/labs/labs.py --build build/release [--seeds 3] [--first-seed 1] [--every | --wrong 4] [--lab protocols] [--command PATH]

The handed-out program and the answer are checked with each seed, a wrong answer with one of them, or with --every seed; with --wrong N
only N of each lab's wrong answers, spread over them, and a quarter of these if the environment has QUICK_TESTS.

A wrong answer is a file of the lab's folder `wrong`, whose first line is `// says: PART OF A SENTENCE` (or `ONE | ANOTHER`, where it depends
on the seed), and perhaps its second `// says not: PART OF AN UNTRUE ONE`: a filling (`*.fill`), which replaces
the answer's code in the blanks that it has, a whole program, or predictions (`*.txt`, `# says: ...`), which replace the true ones.
The fillings of a lab's folder `right` are other right answers: each is checked with each seed, and must pass.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

LABS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "labs")
OK, WRONG = 0, 1
sys.dont_write_bytecode = True
sys.path.insert(0, LABS)

from frame import blanks, tools  # noqa: E402  (after the path)

SAYS = re.compile(r"^(?://|#|/\*) says: (.*?)(?: \*/)?$")
SAYS_NOT = re.compile(r"^(?://|#) says not: (.*)$", re.M)
LAB_SECONDS = 300


class Case:
    """One lab with one seed."""

    def __init__(self, options, place, lab, seed):
        self.options, self.lab, self.seed = options, lab, seed
        self.folder = os.path.join(place, f"{lab}_{seed}")
        self.source = os.path.join(LABS, lab)
        self.failures, self.checks = [], 0

    def call(self, *words, folder=None):
        command = [os.path.join(self.options.build, "bin", "margay"), "lab"] if self.options.command == "margay" \
            else [os.path.join(LABS, "lab")]
        environment = {**os.environ, **self.options.compiler,
                       "MARGAY_COMMAND": os.path.abspath(os.path.join(self.options.build, "bin", "margay"))}
        done = subprocess.run([*command, *words], capture_output=True, text=True, env=environment, timeout=LAB_SECONDS,
                              check=False, cwd=folder)
        return done.returncode, done.stdout + done.stderr

    def fail(self, what, said):
        self.failures.append(f"{self.lab}, seed {self.seed}: {what}:\n    " + said.strip().replace("\n", "\n    "))

    def expect(self, what, status, sentence="", untrue=None):
        """Checks the folder. Returns whether its status is this, its output contains the sentence, and does not contain the untrue one."""
        self.checks += 1
        got, said = self.call("check", folder=self.folder)  # the folder to which the pages' paths refer
        said_plainly = " ".join(said.split())
        if got != status or not any(one in said_plainly for one in sentence.split(" | ")) or (status == WRONG and "\n- " not in said):
            self.fail(f"{what}: expected status {status}" + (f" and {sentence!r}" if sentence else "") + f", got {got}", said)
        if untrue and untrue in said_plainly:
            self.fail(f"{what}: it may not say {untrue!r}", said)

    def run(self):
        status, said = self.call("start", self.lab, self.folder, "--seed", str(self.seed))
        if status:
            self.fail("start", said)
            return
        self.pages()
        self.expect("as handed out", WRONG)
        status, said = self.call("answer", self.folder)
        if status:
            self.fail("answer", said)
            return
        self.take("answer")
        self.expect("the answer", OK)
        right = os.path.join(self.source, "right")
        for name in sorted(os.listdir(right)) if os.path.isdir(right) else ():
            self.take("answer")
            self.fill(os.path.join(right, name))
            self.expect(f"right/{name}", OK)
        wrong = os.path.join(self.source, "wrong")
        names = sorted(os.listdir(wrong)) if os.path.isdir(wrong) else []
        for number, name in enumerate(names[::max(1, len(names) // self.options.wrong)] if self.options.wrong else names):
            if not self.options.every and number % self.options.seeds != self.seed - 1:
                continue
            self.take("answer")
            self.expect(f"wrong/{name}", WRONG, *self.take_wrong(os.path.join(wrong, name)))

    def pages(self):
        with open(os.path.join(self.folder, "page.md"), encoding="utf-8") as file:
            left = re.findall(r"(?<![\w$])\{[a-z_0-9]+\}", file.read())
        if left:
            self.fail("page.md", f"has names without a number: {', '.join(left)}")

    def take(self, stem):
        """Turns an answer into the student's own files."""
        for ending in (".c", ".cpp"):
            path = os.path.join(self.folder, stem + ending)
            if os.path.exists(path):
                shutil.copyfile(path, os.path.join(self.folder, "program" + ending))
        answers = os.path.join(self.folder, "answers.txt")
        if os.path.exists(answers):
            shutil.copyfile(answers, os.path.join(self.folder, "predict.txt"))

    def take_wrong(self, path):
        """Inserts a wrong answer. Returns the sentence that the check must print, and the one that it must not (None: there is none)."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        says = SAYS.match(text.splitlines()[0])
        if not says:
            raise SystemExit(f"{path}:1: has no `// says: `")
        if path.endswith(".txt"):
            wrong = dict(re.findall(r"^(\w+)\s*=\s*(.*)$", text, re.M))
            self.change("predict.txt", lambda right: re.sub(
                r"^(\w+) = .*$", lambda m: f"{m[1]} = {wrong.get(m[1], m[0].split(' = ')[1])}", right, flags=re.M))
        elif path.endswith(".fill"):
            self.fill(path)
        else:
            shutil.copyfile(path, os.path.join(self.folder, "program" + os.path.splitext(path)[1]))
        says_not = SAYS_NOT.search(text)
        return says.group(1), says_not and says_not.group(1)

    def fill(self, path):
        """Puts a filling's code into the program's blanks."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        program = next(name for name in os.listdir(self.folder) if name in ("program.c", "program.cpp"))
        self.change(program, lambda program_now: blanks.filled(program_now, text, path))

    def change(self, name, how):
        """Replaces the contents of a file of the folder by `how` of them."""
        path = os.path.join(self.folder, name)
        with open(path, encoding="utf-8") as file:
            text = how(file.read())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def precompiled(options, place):
    """The environment for a C++ compiler that finds precompiled headers of margay, because compiling these is most of a C++ lab's time.
    Empty if none can be made; the labs then take longer."""
    os.environ["MARGAY_COMMAND"] = os.path.abspath(os.path.join(options.build, "bin", "margay"))
    compiler = os.environ.get("CXX", "c++")
    os.makedirs(os.path.join(place, "margay"))
    made = [precompile(compiler, interface, place) for interface in ("portals", "host", "rmi")]
    if not any(made):
        return {}
    wrapper = os.path.join(place, "compiler")
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {compiler} -I{place} "$@"\n')
    os.chmod(wrapper, 0o755)
    return {"CXX": wrapper}


def precompile(compiler, interface, place):
    """Compiles margay/INTERFACE.hpp into `place`, with the options of a lab. Returns whether that succeeds."""
    words = tools.command_line("lab.cpp", os.path.join(place, "margay", f"{interface}.hpp.gch"), place, interface=interface)[1:]
    folders = [word[2:] for word in words if word.startswith("-I")]
    header = next((path for path in (os.path.join(folder, "margay", f"{interface}.hpp") for folder in folders) if os.path.exists(path)), None)
    if header is None:
        return False
    words = [word for word in words if not word.startswith(("-l", "-L", "-Wl"))]
    words[words.index("lab.cpp")] = header
    done = subprocess.run([compiler, "-x", "c++-header", *words], capture_output=True, timeout=LAB_SECONDS, check=False)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1, metavar="N", help="leave out the seeds below it: go on after a break")
    parser.add_argument("--lab", action="append")
    parser.add_argument("--skip", action="append", default=[], metavar="LAB", help="leave this one out, by its folder's name")
    parser.add_argument("--command", choices=("margay", "script"), default="margay")
    parser.add_argument("--every", action="store_true", help="each wrong answer with each seed")
    parser.add_argument("--wrong", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    if os.environ.get("QUICK_TESTS"):
        options.wrong = (options.wrong + 3) // 4
    labs = sorted(name for name in os.listdir(LABS) if re.fullmatch(r"\d\d_\w+", name) and name not in options.skip)
    labs = [name for name in labs if not options.lab or name in options.lab or name[3:] in options.lab]
    if not labs:
        raise SystemExit("there is no such lab")
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(options.jobs) as pool:
        options.compiler = precompiled(options, place)
        cases = [Case(options, place, lab, seed) for lab in labs for seed in range(options.first_seed, options.seeds + 1)]
        for case in pool.map(lambda case: case.run() or case, cases):
            for failure in case.failures:  # printed at once, because many seeds take an hour
                print(failure, file=sys.stderr, flush=True)
            if options.every:
                print(f"{case.lab}, seed {case.seed}: {case.checks} checks, {len(case.failures)} failures", flush=True)
    failed = sum(len(case.failures) for case in cases)
    seeds = options.seeds - options.first_seed + 1
    print(f"{len(labs)} labs, {seeds} seeds, {sum(case.checks for case in cases)} checks: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
