#!/usr/bin/env python3
"""A test that follows one short message and compares docs/walk.md with it: every function that a stop names is called,
in that order, and is defined in the file named with it.

    tests/mpi/walk.py --build build/release
    tests/mpi/walk.py --build build/release --list     all functions that the message passes; those of the walk by stop

tests/mpi/walk/short_send.c steps through its own calls and records the address of each instruction; `addr2line -i`
returns the functions at it, including inlined ones. So the test follows the same build that is measured and installed,
without breakpoints, which inlined functions do not have. Exit status 77: a processor other than x86-64, or sanitizers,
whose own code is between.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
WALK = "docs/walk.md"
BOUNDARY = "═ process boundary ═"
SKIPPED_STATUS = 77
TIMEOUT = 30
# Compilers move loads and constants to positions before an inlined function, also those of its rare paths. So a
# function has certainly begun when this part of its instructions is done.
AHEAD = 0.2
# The receiver's message coprocessor may begin its work between MPI_Irecv and MPI_Wait, late on a busy machine, and take
# the message: then the message is sent once more.
ATTEMPTS = 10
TAKEN_IN = "sim/kernel/target"

Place = collections.namedtuple("Place", "stop rank path function")
Frame = collections.namedtuple("Frame", "path function")
Passed = collections.namedtuple("Passed", "first begun")


def stops_of(walk):
    """The functions in the walk's numbered stops, as `path` `function` or `path` `Class::function`: those of rank 0 up
    to the boundary."""
    places = []
    for rank, half in enumerate(walk.split(BOUNDARY, 1)):
        for number, text in re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |\Z)", half, re.M | re.S):
            named = re.findall(r"`((?:portals|sim|mpi_adi|collectives|mpi)/[\w/]+)`\s+`((?:\w+::)?\w+)`", text)
            places += [Place(int(number), rank, path, function) for path, function in named]
    return places


def bare(name):
    """`margay::sim::Initiator::try_send` of `bool margay::sim::Initiator::try_send<int>(portals::Header const&) const`. A
    lambda has the name of the function that it stands in."""
    kept, depth = "", 0
    for letter in name.replace("(anonymous namespace)::", ""):
        depth -= letter == ">"
        if depth == 0 and letter == "(":
            break
        if depth == 0 and letter not in "<>":
            kept += letter
        depth += letter == "<"
    return kept.split()[-1]


def frames_at(library, addresses):
    """For each address its functions, the outermost first."""
    done = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", library], input="\n".join(addresses), text=True,
                          capture_output=True, check=True)
    result, lines = [], iter(done.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            result.append([])
            continue
        place = re.search(r"(?:^|(?<!/tests)/)((?:portals|sim|mpi_adi|collectives|mpi)/[\w/]+)\.[ch]pp:", next(lines))
        if place:
            result[-1].insert(0, Frame(place.group(1), bare(line)))
    return result


def passed_by(frames):
    """For each function the index of its first instruction, and of the one at which it has certainly begun. If two
    functions begin together the outer one is first."""
    instructions = {}
    for at, stack in enumerate(frames):
        for frame in dict.fromkeys(stack):
            instructions.setdefault(frame, []).append(at)
    return {frame: Passed(at[0], at[int(len(at) * AHEAD)]) for frame, at in instructions.items()}


def follow(build):
    """Runs the program: for each rank the called functions."""
    source = ROOT / "tests" / "mpi" / "walk" / "short_send.c"
    program = support.compile_program(build, build.tool("mpicc"), source, ".margay", ["-ldl"])
    with tempfile.TemporaryDirectory() as folder:
        run = support.execute(build.margay_run(2, timeout=TIMEOUT) + [program, folder], TIMEOUT + 15)
        if run.status == SKIPPED_STATUS:
            return None
        problems = run.problems(0)
        if problems:
            sys.exit(run.transcript(problems))
        ranks = [(pathlib.Path(folder) / f"rank{rank}").read_text(encoding="utf-8").split() for rank in (0, 1)]
    return [passed_by(frames_at(library, addresses)) for library, *addresses in ranks]


def follow_to_owner(build):
    """The same for a run in which the receiver itself took the message."""
    for _ in range(ATTEMPTS):
        ranks = follow(build)
        if ranks is None or any(frame.path == TAKEN_IN for frame in ranks[1]):
            break
    return ranks


def names(place, frame):
    """Whether a stop names the function of a frame; addr2line omits classes of templates that were inlined."""
    if "::" not in frame.function:
        return frame.path == place.path and place.function.split("::")[-1] == frame.function
    return frame.path == place.path and f"::{frame.function}".endswith(f"::{place.function}")


def found(passed, place):
    """The instructions at which a stop's function began (Passed); None: it was not called."""
    return min((times for frame, times in passed.items() if names(place, frame)), default=None)


def judge(places, ranks):
    """The failures of the walk, as sentences."""
    problems, last = [], {}
    for place in places:
        passed = found(ranks[place.rank], place)
        before, other = last.get(place.rank, (0, place))
        if passed is None:
            problems.append(f"stop {place.stop}: {place.path} has no function {place.function} that the message passes "
                            f"{'in its receiver' if place.rank else 'in its sender'}")
        elif passed.begun < before:
            problems.append(f"stop {place.stop}: {place.path} {place.function} (instruction {passed.begun}) comes before "
                            f"{other.path} {other.function} (instruction {before}), which the walk has first")
        elif passed.first >= before:
            last[place.rank] = (passed.first, place)
    if len(last) < len(ranks):
        problems.append(f"the walk does not name both sides of \"{BOUNDARY}\"")
    return problems


def show(places, ranks):
    for rank, passed in enumerate(ranks):
        print("receiver" if rank else "sender")
        for frame, times in passed.items():
            stop = next((str(place.stop) for place in places if place.rank == rank and found({frame: times}, place)), "")
            print(f"{stop:>4} {times.first:>5}  {frame.path} {frame.function}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    parser.add_argument("--list", action="store_true", help="print what the message passes")
    arguments = parser.parse_args()
    places = stops_of((ROOT / WALK).read_text(encoding="utf-8"))
    if not places:
        sys.exit(f"{WALK} has no stop with a file and a function")
    build = support.Build(arguments.build)
    ranks = None if build.sanitizer else follow_to_owner(build)
    if ranks is None:
        print("skipped: the program steps through x86-64's instructions, without sanitizers")
        return SKIPPED_STATUS
    if arguments.list:
        show(places, ranks)
    problems = judge(places, ranks)
    for problem in problems:
        print(problem)
    print(f"{places[-1].stop} stops, {len(places)} functions, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
