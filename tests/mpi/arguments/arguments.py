#!/usr/bin/env python3
"""Tests of wrong arguments: every function of MPI, each argument wrong in every way, on one rank.

    tests/mpi/arguments/arguments.py --build build/release [--chapter point_to_point] [--mpich]

A call that kills the program counts as one failure; the program continues behind it. --mpich runs the same programs
under Debian's MPICH, to compare classes (its messages differ, and it checks less).
"""
import argparse
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import generate  # noqa: E402
import support  # noqa: E402

LEAST_CALLS = 1500
TIMEOUT = 60
DEATHS_MAX = 60  # of one program; each is a failure
FATAL_STEP = 17  # one call of so many is also made under the default handler
SAID_SHOWN = 300  # characters of a message that the launcher's line certainly has


def compile_all(build, sources, compiler, suffix, options):
    """Compiles the programs side by side; {source: program}."""
    running = {}
    for source in sources:
        program = build.programs / (source.stem + suffix)
        command = [compiler, "-O0", "-w", "-I", str(generate.FOLDER), *options, "-o", str(program), str(source)]
        running[source] = program, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                                    env=support.clean_environment())
    programs = {}
    for source, (program, process) in running.items():
        words, _ = process.communicate()
        if process.returncode != 0:
            raise support.CompileError(f"{source} does not compile\n{words[:3000]}")
        programs[source] = program
    return programs


def run(command, program, calls):
    """Runs a program to its end; the number of calls made, the result of each {number: (class, message)}, and the
    failures."""
    progress = program.with_suffix(".progress")
    first, made, failures, said = 1, 0, [], {}
    for _ in range(DEATHS_MAX):
        progress.unlink(missing_ok=True)
        done = support.execute(command + [str(program), str(first), str(progress)], TIMEOUT)
        for match in re.finditer(r"^call (\d+): (.*)$", done.stdout, re.MULTILINE):
            failures.append(f"{calls[int(match[1]) - 1].text()}\n    {match[2]}")
        said |= {int(number): (int(error), text)
                 for number, error, text in re.findall(r"^said (\d+) (\d+) (.*)$", done.stdout, re.MULTILINE)}
        end = re.search(r"^(\d+) calls, \d+ failures$", done.stdout, re.MULTILINE)
        if end:
            return made + int(end[1]), said, failures
        last = int(progress.read_text().strip() or 0) if progress.exists() else 0
        if last == 0:
            return made, said, failures + [done.transcript(["the program ended before its first call"])]
        failures.append(f"{calls[last - 1].text()}\n    the program ended with status {done.status}: "
                        f"{done.stderr.strip()[-300:]}")
        made += last - first + 1
        first = last + 1
    return made, said, failures + [f"ended {DEATHS_MAX} times; the rest was not tried"]


def run_fatal(command, program, calls, said):
    """Makes some of the calls, each in a program of its own, under MPI_ERRORS_ARE_FATAL: the launcher prints the
    message that the call otherwise returns, and the exit status is the class. Returns the number of calls, and the
    failures."""
    failures, made = [], 0
    for number in range(1, len(calls) + 1, FATAL_STEP):
        # Sessions, and objects created without a communicator, have a handler of their own, which the program set.
        if re.search("[Ss]ession|from_group", calls[number - 1].function) or number not in said:
            continue
        error, text = said[number]
        function = calls[number - 1].function
        text = text.replace(f": {function}: ", ": ", 1)  # the launcher names the call once, in front of its class
        done = support.execute(command + [str(program), str(number), "/dev/null", "fatal"], TIMEOUT)
        made += 1
        if done.status != error or text[:SAID_SHOWN] not in done.stderr or function not in done.stderr or "1 calls" in done.stdout:
            failures.append(f"{calls[number - 1].text()}\n" + done.transcript([f"expected status {error} and: {text}"]))
    return made, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    parser.add_argument("--chapter", help="this one alone")
    parser.add_argument("--mpich", action="store_true", help="under Debian's MPICH")
    arguments = parser.parse_args()
    build = support.Build(arguments.build)
    written, failures = generate.write(build.programs / "arguments")
    if arguments.chapter:
        written = {path: calls for path, calls in written.items() if path.stem == f"arguments_{arguments.chapter}"}
    compiler, suffix = ("mpicc.mpich", ".mpich") if arguments.mpich else (build.tool("mpicc"), ".margay")
    command = ["mpiexec.mpich", "-n", "1"] if arguments.mpich else build.margay_run(1, timeout=TIMEOUT)
    if not arguments.mpich:
        command.remove("--check-accounting")  # the programs end in the middle
    try:
        programs = compile_all(build, written, compiler, suffix, ["-DREFERENCE"] if arguments.mpich else [])
    except support.CompileError as error:
        print(error)
        return 1
    total = 0
    for source, calls in written.items():
        made, said, wrong = run(command, programs[source], calls)
        if made != len(calls) and not wrong:
            wrong.append(f"{source.stem}: {made} of {len(calls)} calls were made")
        ended, wrong_ends = (0, []) if arguments.mpich else run_fatal(command, programs[source], calls, said)
        wrong += wrong_ends
        print(f"{source.stem:32} {made} assertions, {ended} ends, {len(wrong)} failures", flush=True)
        total += made
        failures += wrong
    print("\n".join(failures))
    print(f"{total} assertions, {len(failures)} failures")
    if total < LEAST_CALLS and not arguments.chapter:
        print(f"at least {LEAST_CALLS} were expected")
        return 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
