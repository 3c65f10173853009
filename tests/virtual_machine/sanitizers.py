#!/usr/bin/env python3
"""Programs compiled with sanitizers under `margay simulate`: an error of one rank is reported, and a program without errors runs
as it does without a sanitizer.

    tests/virtual_machine/sanitizers.py --build build/release
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mpi"))
import support  # noqa: E402

RANKS = 3
GUARD_S = 120  # against hanging; nothing here depends on time

# Kinds of errors, and the sanitizer's name of each.
ERRORS = {"heap": "heap-buffer-overflow", "freed": "heap-use-after-free", "global": "global-buffer-overflow", "large": "global-buffer-overflow",
          "stack": "stack-buffer-overflow", "nested": "stack-buffer-overflow", "library": "heap-buffer-overflow"}


class Tests:
    def __init__(self, build, folder):
        self.build, self.folder = build, pathlib.Path(folder)
        self.problems = []

    def check(self, what, good, done):
        if not good:
            self.problems.append(f"{what}: exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")

    def compile(self, name, compiler, options):
        program = self.folder / name
        subprocess.run([self.build.tool("mpicc"), f"-cc={compiler}", "-O1", "-g", "-w", *options, "-o", program, HERE / "sanitizers.c"], check=True)
        return program

    def simulate(self, *words):
        command = [self.build.tool("margay"), "simulate", "-n", RANKS, "--machine", "paragon", "--compute", "none", *words]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", timeout=GUARD_S, stdin=subprocess.DEVNULL,
                              env=support.clean_environment())

    def compare(self, name, program, plain):
        """Without an error, the output and the exit status are those of the program without a sanitizer."""
        for what in ("none", "exit"):
            expected, done = self.simulate(plain, what), self.simulate(program, what)
            self.check(f"{name}, {what}", (done.returncode, done.stdout, done.stderr) == (expected.returncode, expected.stdout, expected.stderr), done)
            self.check(f"{name}, {what}", done.stdout.count(" has its own data") == RANKS and done.returncode == (0 if what == "none" else 7), done)

    def find_errors(self, name, program):
        for what, kind in ERRORS.items():
            done = self.simulate(program, what)
            self.check(f"{name}, {what}", done.returncode == 1 and f"AddressSanitizer: {kind}" in done.stderr and "rank 1 had the error" in done.stderr, done)
            self.check(f"{name}, {what}: the output before it", done.stdout.count(" begins") == RANKS, done)

    def find_undefined(self, name, program):
        done = self.simulate(program, "undefined")
        self.check(f"{name}, undefined", done.returncode == 1 and "signed integer overflow" in done.stderr, done)

    def test(self, compiler):
        shared = support.shared_sanitizer(compiler)
        checks = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
        sanitized = self.compile(f"{compiler}_sanitized", compiler, (*checks, *shared))
        self.find_errors(compiler, sanitized)
        self.find_undefined(compiler, sanitized)
        if self.build.sanitizer:
            return
        self.compare(compiler, sanitized, self.compile(f"{compiler}_plain", compiler, ()))
        static = ("-static-libasan",) if compiler == "gcc" else ()
        for word, refused in (("-static-libasan", ("-fsanitize=address", *static)), ("ThreadSanitizer", ("-fsanitize=thread",))):
            done = self.simulate(self.compile(f"{compiler}_refused", compiler, refused), "none")
            self.check(f"{compiler}, {refused}", done.returncode == 1 and len(done.stderr.splitlines()) == 1 and word in done.stderr, done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(support.Build(options.build), folder)
        # A sanitized library needs programs with the same compiler's run-time library.
        compilers = [name for name in ("gcc", "clang") if shutil.which(name) and (name == "clang" or not tests.build.sanitizer)]
        for compiler in compilers:
            tests.test(compiler)
        print(f"{', '.join(compilers)}: {len(tests.problems)} failures")
    for problem in tests.problems:
        print(problem, file=sys.stderr)
    return 1 if tests.problems or not compilers else 0


if __name__ == "__main__":
    sys.exit(main())
