#!/usr/bin/env python3
"""Prints what a context costs (section 6 of paper 000): the instructions that a message of 8 bytes takes at its sender and at
its receiver, by callgrind, for a put on bare portals, an MPI message, and letters of three classes.

    examples/zipcode/context_cost.py --build build/release

Two processes of one node, windows of 64 messages; a window is received when all of it has been sent (cost/cost.h). A letter's
figures include its allocation and its release.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROWS = (("put on a portal", "puts"), ("MPI_Send, MPI_Irecv before it", "messages", "ahead"), ("MPI_Send, MPI_Recv after it", "messages", "after"),
        ("letter of class Y", "letters", "Y"), ("letter of class Z", "letters", "Z"), ("letter of class L", "letters", "L"))
MEASURED = ("measured_send", "measured_receive")


def inclusive(listing, function):
    """Instructions of `function` and all that it calls, in a listing of callgrind_annotate; 0 if it was not called."""
    found = re.search(rf"^ *([\d,]+) \([^)]*\)  \S*:{function}(?: \[.*)?$", listing, re.M)
    return int(found.group(1).replace(",", "")) if found else 0


def instructions(build, program, *words):
    """Instructions of a message at its sender and at its receiver."""
    with tempfile.TemporaryDirectory(prefix="margay-cost.") as name:
        folder = pathlib.Path(name)
        (folder / "turns").write_bytes(bytes(4096))
        command = [build / "bin/margay", "run", "-n", "2", "valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out.%p",
                   build / "examples/zipcode/cost" / program, folder / "turns", *words]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        printed = re.search(r"^(\d+) messages$", run.stdout, re.M)
        if run.returncode != 0 or not printed:
            sys.exit(f"context_cost.py: {' '.join(map(str, command))}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
        sums = [0, 0]
        for out in folder.glob("out.*"):
            listing = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", out], capture_output=True,
                                     text=True, check=True).stdout
            for i, function in enumerate(MEASURED):
                sums[i] += inclusive(listing, function)
    if 0 in sums:
        sys.exit(f"context_cost.py: callgrind did not see {MEASURED[sums.index(0)]} in {program}; was it built without symbols?")
    return [round(each / int(printed.group(1))) for each in sums]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build/release")
    build = parser.parse_args().build.resolve()
    for tool in ("valgrind", "callgrind_annotate"):
        if not shutil.which(tool):
            print(f"context_cost.py: {tool} is not in PATH; install valgrind", file=sys.stderr)
            return 1 if os.environ.get("MARGAY_EXPECT_TOOLS") else 77
    print("| a message of 8 bytes | sender | receiver | together |\n|---|---|---|---|")
    for title, *program in ROWS:
        sender, receiver = instructions(build, *program)
        print(f"| {title} | {sender} | {receiver} | {sender + receiver} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
