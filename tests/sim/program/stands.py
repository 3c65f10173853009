#!/usr/bin/env python3
"""Tests that the page of a trace shows a program's match list and heap at several times as the program printed them then.

    tests/sim/program/stands.py MARGAY STANDS NODE VIEWER
"""
import json
import pathlib
import subprocess
import sys
import tempfile

GUARD_S = 100  # against hanging; nothing here depends on time
SKIPPED = 77


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=GUARD_S, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    margay, stands, node, viewer = sys.argv[1:]
    built = pathlib.Path(margay).parents[1] / "viewer" / "dist" / "viewer.html"
    if not built.exists() or built.stat().st_size == 0:  # npm could not build the page
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as scratch:
        trace, page = f"{scratch}/trace", f"{scratch}/page.html"
        truth = [json.loads(line) for line in
                 run([margay, "run", "-n", "2", "--timeout", "60", "--trace", trace, stands]).splitlines()]
        run([margay, "trace", "view", trace, "-o", page])
        shown = json.loads(run([node, pathlib.Path(viewer) / "test" / "state_at.js", page, "0", "4", "9"]))
        taken = run([margay, "trace", "messages", trace])
        run([margay, "trace", "check", trace])
    problems = [f"mark {number}: the program wrote down {ours}\n         and the page shows {page}"
                for number, (ours, page) in enumerate(zip(truth, (each["state"] for each in shown))) if ours != page]
    if len(truth) != 8 or len(shown) != len(truth):
        problems.append(f"{len(truth)} states are written down, and {len(shown)} marks are in the page")
    if problems:
        sys.exit("\n".join(problems))
    # The criteria of each entry are known, also of entries that no walk passed over.
    wanted = {name: wants for each in shown for name, wants in each["wanted"].items()}
    expected = {"odd": "bits 0xa", "even": "bits 0xb", "first": "bits 0xc, from rank 1 only", "spare": "bits 0xd",
                "wide": "bits 0x0 (ignoring 0xffffffffffffffff)", "overflow": "bits 0x100 (ignoring 0xff)"}
    if wanted != expected:
        problems.append(f"the entries want {wanted}, expected {expected}")
    since = [each["since"] for each in shown]
    # The list was attached between marks 0 and 1, and no entry was moved later; odd was removed and inserted again.
    for name, first, last in (("wide", 0, 1), ("overflow", 0, 1), ("odd", 5, 6), ("even", 1, 2)):
        if not shown[first]["time"] < since[6][name] <= shown[last]["time"]:
            problems.append(f"{name} stands since {since[6][name]}, expected between marks {first} and {last}")
    hows = [line.split() for line in taken.splitlines()]
    kept, marked = ([line for line in hows if line[-1] in bits] for bits in
                    ({f"0x{0x100 + i:x}" for i in range(5)}, {f"0x{i:x}" for i in range(8)}))
    if len(kept) != 5 or any(line[4] != "heap" for line in kept) or len(marked) != 8 or any(line[4] != "matched" for line in marked):
        problems.append(f"five messages are in a heap and eight matched:\n{taken}")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
