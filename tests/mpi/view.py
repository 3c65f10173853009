#!/usr/bin/env python3
"""Tests of the page of `margay trace view`: its stories and messages must equal the output of the other commands, and
its collective calls and locks must be those of the program.

    tests/mpi/view.py --build build/release
"""
import argparse
import base64
import csv
import gzip
import json
import math
import pathlib
import re
import struct
import sys
import tempfile

import support

TIMEOUT = 60
RANKS = 4
FORMATS = {"u8": "B", "u32": "I", "i32": "i", "f64": "d"}


def stories_of(block):
    """The stories of a block (command/trace/page/story_block.hpp)."""
    forms, shapes, stories, columns = block.split("\x1e")
    forms = forms.split("\n")
    shapes = [[int(form) for form in shape.split(" ")] for shape in shapes.split("\n")]
    values = iter(columns.split("\n"))
    places = [[next(values).split(" ") for _ in re.findall("[\x01\x02]", form)] for form in forms]
    uses = [0] * len(forms)

    def line(form):
        each = iter([place[min(uses[form], len(place) - 1)] for place in places[form]])
        uses[form] += 1
        return re.sub("[\x01\x02]", lambda place: next(each).rjust(12 if place.group() == "\x02" else 0), forms[form])

    return ["\n".join(line(form) for form in shapes[int(story)]) for story in stories.split(" ")]


class Page:
    """The data of a page."""

    def __init__(self, text):
        self.head = json.loads(re.search(r'<script type="application/json" id="margay-head">(.*)</script>', text).group(1))
        found = re.findall(r'<script type="text/plain" id="margay-blob-(\d+)">([^<]*)</script>', text)
        self.blobs = {int(number): gzip.decompress(base64.b64decode(blob)) for number, blob in found}
        self.strings = json.loads(self.blobs[self.head["strings_blob"]])

    def table(self, name):
        """{column: values}"""
        table = self.head["tables"][name]
        columns = {}
        for column, place in table["columns"].items():
            blob = self.blobs[place["blob"]]
            columns[column] = struct.unpack(f"<{table['rows']}{FORMATS[place['type']]}", blob)
        return columns

    def text(self, number):
        return self.strings[number]

    def stories(self):
        result = []
        for number in self.head["stories"]["blobs"]:
            result += stories_of(self.blobs[number].decode())
        return result


def margay(build, *arguments):
    run = support.execute([build.tool("margay"), "trace", *arguments], TIMEOUT)
    if run.status != 0:
        sys.exit(run.transcript([f"margay trace {arguments[0]} fails"]))
    return run.stdout


def compare_messages(page, build, folder):
    problems = []
    rows = page.table("messages")
    stories = page.stories()
    listed = list(csv.DictReader(margay(build, "messages", folder, "--csv", "--all").splitlines()))
    if not len(listed) == len(stories) == len(rows["source"]):
        return [f"{len(listed)} messages are listed, the page has {len(rows['source'])} and {len(stories)} stories"]
    for row, message in enumerate(listed):
        for column in ("source", "destination", "sequence"):
            if rows[column][row] != int(message[column]):
                problems.append(f"row {row}: {column} is {rows[column][row]}, listed as {message[column]}")
        for column in ("protocol", "how"):
            if page.text(rows[column][row]) != message[column]:
                problems.append(f"row {row}: {column} is {page.text(rows[column][row])}, listed as {message[column]}")
        if message["protocol"] and rows["bytes"][row] != int(message["bytes"]):
            problems.append(f"row {row}: {rows['bytes'][row]} bytes, listed with {message['bytes']}")
    printed = margay(build, "story", folder, "--all", "--count", str(len(listed)))
    for row, (mine, theirs) in enumerate(zip(stories, printed.split("\n\n"))):
        if mine.strip("\n") != theirs.strip("\n"):
            problems.append(f"row {row}: the page's story is\n{mine}\nand the command's\n{theirs}")
    return problems


def compare_order(page):
    """Messages arrive after they are sent, refer to calls of their senders, and are sorted by their first events."""
    problems = []
    messages, calls = page.table("messages"), page.table("calls")
    for row in range(len(messages["source"])):
        sent, arrived = messages["sent"][row], messages["arrived"][row]
        if not math.isnan(sent) and not math.isnan(arrived) and arrived < sent:
            problems.append(f"row {row} arrived before it was sent")
        call = messages["send_call"][row]
        if call >= 0 and calls["rank"][call] != messages["source"][row]:
            problems.append(f"row {row}: its call is one of rank {calls['rank'][call]}")
    first = messages["first"]
    if list(first) != sorted(first):
        problems.append("the messages are not in the order of their first events")
    return problems


def compare_collectives(page):
    """The program's calls: one row for each rank, in groups of the call's members; the tree's messages form a tree."""
    problems = []
    table, messages = page.table("collectives"), page.table("messages")
    groups = {}
    for row, group in enumerate(table["group"]):
        groups.setdefault(group, []).append(row)
    found = {}
    for rows in groups.values():
        name = page.text(table["name"][rows[0]])
        found.setdefault(name, []).append(sorted(table["rank"][row] for row in rows))
        sent = sum(messages["collective"][i] in rows for i in range(len(messages["source"])))
        if name == "MPI_Bcast" and (sent != RANKS - 1 or page.text(table["algorithm"][rows[0]]) != "tree"):
            problems.append(f"a broadcast by {page.text(table['algorithm'][rows[0]])} has {sent} messages")
    all_ranks, halves = [list(range(RANKS))], [[0, 2], [1, 3]]
    for name, members in (("MPI_Bcast", all_ranks), ("MPI_Reduce", halves), ("MPI_Allreduce", all_ranks),
                          ("MPI_Barrier", all_ranks)):
        if sorted(found.get(name, [])) != members:
            problems.append(f"{name} has the groups {found.get(name)}, expected {members}")
    return problems


def compare_locks(page, build, folder):
    """Each lock of a window in the events, with its end."""
    table = page.table("locks")
    printed = margay(build, "print", folder, "--kind", "window_sync", "--raw")
    taken = re.findall(r"^ *([\d.]+) +(\d+) +window_sync .*, window (\d+), synchronisation lock(?:_all)?(?: \(.*\))?$", printed, re.MULTILINE)
    mine = [(f"{table['from'][row] / 1000:.3f}", str(rank), str(table["window"][row])) for row, rank in enumerate(table["rank"])]
    if not taken or mine != taken:
        return [f"the locks are {mine}, the events have {taken}"]
    return [f"lock {row} was held until {until}, from {table['from'][row]}" for row, until in enumerate(table["to"])
            if not until > table["from"][row]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    build = support.Build(parser.parse_args().build)
    if not build.has_page():
        print("skipped: margay was built without its page")
        return 77
    program = support.compile_program(build, build.tool("mpicc"), pathlib.Path(__file__).parent / "viewed.c", ".margay", ["-g"])
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        folder, file = str(pathlib.Path(scratch) / "trace"), pathlib.Path(scratch) / "page.html"
        run = support.execute(build.margay_run(RANKS, timeout=TIMEOUT) + ["--nodes", "2", "--collective", "bcast=tree",
                                                                        "--trace", folder, program], TIMEOUT + 15)
        problems += run.problems(0)
        view = support.execute([build.tool("margay"), "trace", "view", folder, "-o", str(file)], TIMEOUT)
        if view.status != 0:
            sys.exit(view.transcript(["margay trace view fails"]))
        page = Page(file.read_text(encoding="utf-8"))
        problems += compare_messages(page, build, folder) + compare_order(page) + compare_collectives(page)
        locking = support.compile_program(build, build.tool("mpicc"), pathlib.Path(__file__).parents[2] / "examples" / "work_queue.c", ".margay")
        locked = str(pathlib.Path(scratch) / "locked")
        problems += support.execute(build.margay_run(RANKS, timeout=TIMEOUT) + ["--trace", locked, locking], TIMEOUT + 15).problems(0)
        margay(build, "view", locked, "-o", str(file))
        problems += compare_locks(Page(file.read_text(encoding="utf-8")), build, locked)
        full = support.execute([build.tool("margay"), "trace", "view", folder, "-o", "/dev/full"], TIMEOUT)
        if full.status != 1 or "/dev/full" not in full.stderr:
            problems.append(full.transcript(["a page that cannot be written is no error"]))
    print("\n".join(problems[:20]))
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
