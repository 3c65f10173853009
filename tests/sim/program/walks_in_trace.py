#!/usr/bin/env python3
"""Tests that the zoo's own explanation of each walk (explain()) equals its trace, printed by `margay trace print`, for each entry
that was passed over: which one, what descriptor, why, by what numbers, and where its link led.

    tests/sim/program/walks_in_trace.py MARGAY ZOO
"""
import re
import subprocess
import sys
import tempfile

CAGE = "portal 4 (cage)"
TARGET = 1  # the keeper's rank


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def in_words_of_the_trace(line):
    """A stop of explain() as the trace prints it."""
    where, why = line.strip().split(": ", 1)
    if portal := re.fullmatch(r"the portal's (.*)", where):
        article = "an" if portal[1].startswith("independent") else "a"
        where = f"the descriptor of {CAGE}, {article} {portal[1]}"
    else:
        where = "the " + where
    why, _, link = why.partition("; ")
    why = re.sub(r"it accepts bits (0x\w+) \(ignoring (0x\w+)\) and (0x\w+) differ",
                 lambda found: f"it accepts bits {found[1]}" + (f" (ignoring {found[2]})" if found[2] != "0x0" else "")
                 + f", and {found[3]} differ", why)
    why = re.sub(r"it accepts source rank (\d+) only", r"the bits fit, but it takes rank \1 only", why)
    if link:
        which, to = link.split(" link: ")
        to = {"next": "the next entry", "drop": "the end of the walk"}.get(to, "the " + to)
        link = f"; its {which} link leads to {to}"
    return f"passes over {where}: {why}{link}"


def explained(text):
    """The stops that passed over each explained message to the cage."""
    walks, stops = [], None
    for line in text.splitlines():
        if not line.startswith("  "):
            stops = [] if re.match(rf"(put|get) from rank \d+ to {re.escape(CAGE)}", line) else None
            if stops is not None:
                walks.append(stops)
        elif stops is not None and line.startswith("  => "):
            stops = None
        elif stops is not None and not re.search(r": taken, ", line):
            stops.append(in_words_of_the_trace(line))
    return walks


def traced(text):
    """The same stops from the trace, in the order of arrival."""
    walks, order = {}, []
    for line in text.splitlines():
        found = re.match(rf"\s*\S+\s+{TARGET}\s+(\d+>{TARGET} #\d+)\s+(.*)", line)
        if not found:
            continue
        message, words = found.groups()
        if re.search(rf"arrives by .*{re.escape(CAGE)}", words):
            walks[message] = []
            order.append(message)
        elif words.startswith("passes over") and message in walks:
            walks[message].append(words)
    return [walks[message] for message in order]


def main():
    margay, zoo = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        shown = explained(run([margay, "run", "-n", "2", "--timeout", "60", "--trace", f"{scratch}/trace", zoo]))
        walks = traced(run([margay, "trace", "print", f"{scratch}/trace", "--all", "--rank", str(TARGET)]))
    # "No animal in the cage" is the last name, after messages that are explained in brief.
    shown = [stops for stops in shown if stops is not None][:-1]
    if sum(map(len, shown)) < 15 or len(walks) < len(shown):
        sys.exit(f"{len(shown)} walks with {sum(map(len, shown))} stops are explained, {len(walks)} are in the trace")
    different = [f"explained: {ours}\nin trace:  {theirs}" for ours, theirs in zip(shown, walks) if ours != theirs]
    if different:
        sys.exit("\n".join(different))


if __name__ == "__main__":
    main()
