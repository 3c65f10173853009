#!/usr/bin/env python3
"""Prints the copies of a byte on its way to the wire, by the three ways of examples/zipcode/invoices.c, from traces.

    examples/zipcode/copies.py --build build/release

The library's events have the copies of packed invoices and the bytes of posted letters; the program prints what it copied
itself. The wire copies each letter once, into the ring or into the kernel's socket buffer.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

POSTS, PACKS = 5, 9  # the numbers of events in libraries/zipcode/library.hpp
WAYS = ("pack_send", "pack_then_send", "by_hand")
PRINTED = re.compile(r"^(\w+): (\d+) records of (\d+) bytes, (\d+) bytes copied by the program$", re.M)


def measured(build, way, folder):
    """Bytes of all records; copied before the wire; copied by the wire."""
    trace = str(pathlib.Path(folder) / way)
    run = subprocess.run([build / "bin/margay", "run", "-n", "2", "--trace", trace, build / "examples/zipcode/invoices", way],
                         stdout=subprocess.PIPE, text=True, check=True)
    _, records, record_bytes, by_program = PRINTED.search(run.stdout).groups()
    exported = subprocess.run([build / "bin/margay", "trace", "export", trace, "--format", "json"], stdout=subprocess.PIPE, check=True)
    events = [event for event in json.loads(exported.stdout)["events"] if event["kind"] == "library_event" and event["rank"] == 0]
    packed = sum(event["bytes"] * event["a"] for event in events if event["event"] == PACKS)
    posted = sum(event["bytes"] for event in events if event["event"] == POSTS and event["bytes"] == int(record_bytes))
    return int(records) * int(record_bytes), packed + int(by_program), posted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build/release")
    build = parser.parse_args().build.resolve()
    print("way             before the wire  by the wire  copies of a byte")
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            whole, before, wire = measured(build, way, folder)
            print(f"{way:15} {before / whole:15.2f} {wire / whole:12.2f} {(before + wire) / whole:17.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
