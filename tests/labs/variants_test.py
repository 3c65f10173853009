#!/usr/bin/env python3
"""Tests of the variants of many seeds, without a run: in each of them each typical wrong answer is detected, so that no seed is easier.

    tests/labs/variants_test.py [--seeds 100] [VariantsTest.test_server]

Match lists are walked on paper, with the wrong answer in the blank, and the lab's own check judges these walks. The fillings in a
lab's `wrong` are the same mistakes; labs.py plays them through.
"""

import argparse
import importlib.util
import os
import random
import sys
import unittest
from types import SimpleNamespace

LABS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "labs")
sys.dont_write_bytecode = True
sys.path.insert(0, LABS)

from frame import variant  # noqa: E402  (after the path)
from frame.say import Findings  # noqa: E402
from frame.walks import Stop, Walk  # noqa: E402

SEEDS = 100
ALL, NUMBER = 2**64 - 1, 2**32 - 1
ORDERS = 3  # of arrival, for each seed and wrong answer


def lab(name):
    spec = importlib.util.spec_from_file_location(f"lab_{name}", os.path.join(LABS, name, "lab.py"))
    module = importlib.util.module_from_spec(spec)
    module.NAME, module.FOLDER = name, os.path.join(LABS, name)
    spec.loader.exec_module(module)
    return module


def variants(module):
    for seed in range(1, SEEDS + 1):
        yield variant.make(module, seed)


def filling_exists(name, wrong):
    return os.path.exists(os.path.join(LABS, name, "wrong", wrong + ".fill"))


class Entry:
    """A match entry on paper. Links: None (next), "drop", or an entry's name. Rows: how many, and their bytes; None: a heap."""

    def __init__(self, name, bits=0, ignore=0, source=None, rows=None, row_bytes=0, links=None):
        self.name, self.bits, self.ignore, self.source = name, bits, ignore, source
        self.rows, self.row_bytes, self.links, self.left = rows, row_bytes, links or {}, rows

    def failure(self, source, bits, length):
        """The failure's name, or None after the entry took the message."""
        if (bits ^ self.bits) & ~self.ignore & ALL or self.source not in (None, source):
            return "no_match"
        if self.rows is None:
            return None
        if self.left == 0:
            return "no_room"
        if length > self.row_bytes:
            return "too_small"
        self.left -= 1
        return None


def walked(entries, message, source, bits, length):
    walk, at = Walk(message, bits, length), 0
    names = [entry.name for entry in entries]
    while at < len(entries):
        entry = entries[at]
        failure = entry.failure(source, bits, length)
        if failure is None:
            walk.taken, walk.saved = entry.name, "header and body"
            return walk
        to = entry.links.get(failure)
        wants = failure == "no_match"
        walk.stops.append(Stop(entry.name, failure.replace("_", " "), "drop" if to == "drop" else "entry" if to else "next",
                               entry.bits if wants else 0, entry.ignore if wants else 0))
        at = len(entries) if to == "drop" else names.index(to) if to else at + 1
    walk.dropped = walk.stops[-1].reason
    return walk


def server_entries(v, **changes):
    """The answer's list of lab 12; changes: entry="patron" -> other contents of its blank."""
    both = {"no_room": "overflow", "too_small": "overflow"}
    right = {"patron": dict(ignore=ALL, source=v["patron"], rows=v["patron_rows"], row_bytes=v["row_bytes"], links=both),
             "sum": dict(bits=1 << 32, ignore=NUMBER, rows=v["sum_rows"], row_bytes=v["row_bytes"]),
             "largest": dict(bits=2 << 32, ignore=NUMBER, rows=v["largest_rows"], row_bytes=v["row_bytes"]),
             "overflow": dict(ignore=ALL)}
    return [Entry(name, **{**right[name], **changes.get(name, {})}) for name in right]


SERVER_MISTAKES = {
    "patron_no_too_small": {"patron": {"links": {"no_room": "overflow"}}},
    "patron_no_no_room": {"patron": {"links": {"too_small": "overflow"}}},
    "patron_next": {"patron": {"links": {}}},
    "patron_drop": {"patron": {"links": {"no_room": "drop", "too_small": "drop"}}},
    "patron_drops_long": {"patron": {"links": {"no_room": "overflow", "too_small": "drop"}}},
    "patron_drops_full": {"patron": {"links": {"no_room": "drop", "too_small": "overflow"}}},
    "patron_to_largest": {"patron": {"links": {"no_room": "overflow", "too_small": "largest"}}},
    "patron_no_match": {"patron": {"links": {"no_match": "overflow", "no_room": "overflow", "too_small": "overflow"}}},
    "patron_any_rank": {"patron": {"source": None}},
    "patron_no_wildcard": {"patron": {"ignore": 0}},
    "patron_of_sum": {"patron": {"bits": 1 << 32, "ignore": NUMBER}},
    "patron_of_largest": {"patron": {"bits": 2 << 32, "ignore": NUMBER}},
    "largest_no_wildcard": {"largest": {"ignore": 0}},
    "largest_takes_all": {"largest": {"bits": 0, "ignore": ALL}},
    "largest_of_sum": {"largest": {"bits": 1 << 32}},
    "largest_of_patron": {"largest": {"source": "patron"}},
    "largest_few_numbers": {"largest": {"ignore": 0xFF}},
    "largest_drops_long": {"largest": {"links": {"too_small": "drop"}}},
    "largest_drops_full": {"largest": {"links": {"no_room": "drop"}}},
    "largest_drops_others": {"largest": {"links": {"no_match": "drop"}}},
    "overflow_no_wildcard": {"overflow": {"ignore": 0}},
    "overflow_of_sum": {"overflow": {"bits": 1 << 32, "ignore": NUMBER}},
    "overflow_of_patron": {"overflow": {"source": "patron"}},
}


class Cells:
    """Lab 13 on paper: ranks that ask each other, in a random order of their steps. A rank answers at the places in `serves`: "swap",
    "wait_for_all", "close"; "late" does not answer at all: its portal is not attached."""

    def __init__(self, programs, order, serves=("swap", "wait_for_all", "close"), lost=()):
        self.programs, self.order, self.serves, self.lost = programs, order, serves, lost
        self.at, self.place = {rank: 0 for rank in programs}, {}
        self.asked, self.sent, self.got, self.delivered, self.answered = {rank: [] for rank in programs}, set(), set(), set(), 0
        while self.step():
            pass

    def step(self):
        """Makes a step of one rank. Returns whether any rank could."""
        ranks = list(self.programs)
        self.order.shuffle(ranks)
        return any(self.moves(rank) for rank in ranks)

    def moves(self, rank):
        if self.place.get(rank) in self.serves and self.asked[rank]:
            self.got.add(self.asked[rank].pop(0))
            self.answered += 1
            return True
        if self.at[rank] == len(self.programs[rank]):
            return False
        what, peer = self.programs[rank][self.at[rank]]
        step = (rank, self.at[rank])
        began = step not in self.sent
        if began:
            self.sent.add(step)
            self.place[rank] = what
            if what == "swap" and peer not in self.lost:
                self.asked[peer].append(step)
            elif what == "send":
                self.delivered.add((rank, peer))
        all_there = all((other, place.index((what, None))) in self.sent for other, place in self.programs.items()) if peer is None else None
        over = {"swap": step in self.got, "send": True, "receive": (peer, rank) in self.delivered}.get(what, all_there)
        self.at[rank] += bool(over)
        return began or bool(over)

    @property
    def waiting(self):
        """Rank -> (place, peer) of the ranks that did not reach their end."""
        return {rank: program[self.at[rank]] for rank, program in self.programs.items() if self.at[rank] < len(program)}


def cells_programs(v):
    """Rank -> its steps in parts 2 to 4 of lab 13."""
    programs = {rank: [("swap", to) for of, to in zip(v["ask_from"], v["ask_to"]) if of == rank] for rank in range(v["ranks"])}
    programs[v["middle"]] += [("swap", v["last"])] * 2
    programs[v["first"]] += [("swap", v["middle"])] * 2 + [("send", v["last"])]
    programs[v["last"]] += [("receive", v["first"])]
    for program in programs.values():
        program.append(("wait_for_all", None))
    programs[v["host"]].append(("send", v["guest"]))
    programs[v["guest"]] += [("receive", v["host"])] + [("swap", v["host"])] * 2
    for program in programs.values():
        program.append(("close", None))
    return programs


def crossing_factor(ranks):
    """The crossover on so many ranks by the formulas of lab 15, in units of alpha/beta."""
    rounds = (ranks - 1).bit_length()
    return (ranks - 1 - rounds) / (rounds - (ranks - 1) / ranks)


def busiest_column_first(module, pattern, v):
    """Lab 16's count if messages went along the column first: that of the mesh with rows and columns exchanged."""
    links, side = {}, module.SIDE
    for of in range(module.RANKS):
        to = module.target(pattern, v, of)
        column, ys = of % side, (of // side, to // side)
        xs = (of % side, to % side)
        for y in range(min(ys), max(ys)):
            links[column, y, ys[0] < ys[1], "y"] = links.get((column, y, ys[0] < ys[1], "y"), 0) + 1
        for x in range(min(xs), max(xs)):
            links[x, to // side, xs[0] < xs[1], "x"] = links.get((x, to // side, xs[0] < xs[1], "x"), 0) + 1
    return max(links.values())


class VariantsTest(unittest.TestCase):
    def server_findings(self, module, v, changes, order):
        """The check's findings about a run in which the clients' requests arrive in an order drawn from `order`."""
        changes = {name: {key: v["patron"] if value == "patron" else value for key, value in its.items()}
                   for name, its in changes.items()}
        entries, found = server_entries(v, **changes), {}
        for number in (1, 2):
            for entry in entries:
                entry.left = entry.rows
            waiting = {client: [i for i, its in enumerate(v["request_client"]) if its == client and v["request_round"][i] == number]
                       for client in (1, 2, 3)}
            while any(waiting.values()):
                client = order.choice([client for client, its in waiting.items() if its])
                i = waiting[client].pop(0)
                found[i + 1] = walked(entries, SimpleNamespace(name=f"{client}>0"), client, v["request_kind"][i] << 32 | i + 1,
                                      v["request_bytes"][i])
        findings = Findings()
        module.judge_walks(v, found, findings)
        return list(findings)

    def test_server(self):
        module, order = lab("12_server"), random.Random(1)
        for v in variants(module):
            for _ in range(ORDERS):
                self.assertEqual(self.server_findings(module, v, {}, order), [], v["seed"])
            for wrong, changes in SERVER_MISTAKES.items():
                for _ in range(ORDERS):
                    found = self.server_findings(module, v, changes, order)
                    blank = {"patron": "BLANK 2:", "largest": "BLANK 3:", "overflow": "BLANK 4:"}[wrong.split("_")[0]]
                    self.assertTrue(found and found[0].startswith(blank), f"seed {v['seed']}: {wrong}: {found}")

    def test_walk(self):
        """Lab 10, BLANK 1 and 2: masks a bit too wide, too narrow, or shifted; each wrong link."""
        module = lab("10_walk")
        links = {"next": module.NEXT, "drop": module.DROP, "spare": module.SPARE, "whole": module.WHOLE, "header only": module.HEADER_ONLY}
        for v in variants(module):
            first, bits = v["wild_first"], v["wild_bits"]
            wild = (1 << bits) - 1 << first
            masks = {"none": 0, "all": ALL, "turned": wild ^ ALL, "wider": (1 << bits + 1) - 1 << first,
                     "narrower": (1 << bits - 1) - 1 << first, "one": 1 << first, "later": wild << 1, "bits": bits, "family": v["family_bits"]}
            wrong = [(name, mask, module.WIDE) for name, mask in masks.items() if mask != wild] + \
                [(name, wild, link) for name, link in links.items()]
            self.assertEqual(self.walk_findings(module, v, wild, module.WIDE), [])
            for name, mask, link in wrong:
                found = self.walk_findings(module, v, mask, link)
                self.assertTrue(found and found[0].startswith("BLANK 1:" if link == module.WIDE else "BLANK 2:"), f"seed {v['seed']}: {name}: {found}")

    @staticmethod
    def walk_findings(module, v, mask, link):
        paper, found = module.List({**v, "family_ignore": mask}), []
        paper.links[module.FAMILY, "too_small"] = link
        for bits, length in zip(v["message_bits"], v["message_bytes"]):
            stops, taken, _ = paper.walk(bits, length)
            walk = Walk(None, bits, length, taken=None if taken is None else module.NAMES[taken])
            for entry, failure in stops:
                to = paper.links.get((entry, failure), module.NEXT)
                wants = paper.criteria[entry] if failure == "no_match" else (0, 0)
                reason = "inactive" if entry in paper.asleep else module.REASONS[failure]
                walk.stops.append(Stop(module.NAMES[entry], reason, {module.NEXT: "next", module.DROP: "drop"}.get(to, "entry"), *wants))
            found.append(walk)
        findings = Findings()
        module.check_ignore_bits(v, found, findings)
        module.check_link(found, findings)
        return list(findings)

    def test_heap(self):
        """Lab 3, `first_held`: an answer that omits the record, does not round up, or counts one too few or too many."""
        module = lab("03_full_heap")
        for v in variants(module):
            record, align, heap, length = v["record"], v["align"], v["heap"], v["bytes"]
            rounded = -(-length // align) * align
            held = heap // (record + rounded) + 1
            for wrong in (heap // (record + length) + 1, heap // rounded + 1, heap // length + 1, heap // (record + length // align * align) + 1,
                          held - 1, held + 1):
                self.assertNotEqual(wrong, held, v["seed"])
            self.assertLess(held, v["count"])

    def test_tree_and_bucket(self):
        """Lab 5: rounds by the floor of the logarithm, or half of the ranks; pieces with equal contents."""
        module = lab("05_tree_bucket")
        for v in variants(module):
            ranks = v["ranks"]
            self.assertNotEqual(ranks.bit_length() - 1, module.rounds(ranks), v["seed"])
            bucket = [length for length in v["lengths"]
                      if length > module.crossover(ranks, 1000 * v["alpha_ns"], v["beta_ps"])]
            self.assertEqual(len(bucket), 2)
            for length in bucket:
                content = bytes((k * 31 // 7) % 256 for k in range(length))
                pieces = {content[at:at + length // ranks] for at in range(0, length, length // ranks)}
                self.assertEqual(len(pieces), ranks, v["seed"])

    def test_put_and_get(self):
        """Lab 6: bytes in place of ints, one message for each int, the window's first place."""
        module = lab("06_put_get")
        for v in variants(module):
            place = v["other"] * v["share"]
            for wrong in (4 * place, 0, v["owner"] * v["share"]):
                self.assertNotEqual(wrong, place, v["seed"])
            self.assertNotIn(v["blocks"], (1, v["blocks"] * v["block_ints"], v["block_ints"], v["stride"]), v["seed"])
            last = 4 * (v["column"] + (v["blocks"] - 1) * v["stride"])
            for wrong in (last // 4, 4 * (v["column"] + v["blocks"] * v["stride"]), 4 * (v["blocks"] - 1) * v["stride"],
                          4 * (v["column"] + (v["blocks"] - 1) * v["block_ints"]), 4 * v["column"]):
                self.assertNotEqual(wrong, last, v["seed"])

    def test_protocols(self):
        """Lab 1: a message of the limit and one of a byte more, expected and not; the seventh by the other call, or a byte off."""
        module = lab("01_protocols")
        for v in variants(module):
            limit, kinds = v["limit"], set(zip(v["bytes"], v["expected"], v["synchronous"]))
            self.assertLessEqual({(limit, 1, 0), (limit + 1, 1, 0), (limit + 1, 0, 1)}, kinds, v["seed"])
            self.assertTrue(any(length < limit and not expected and not synchronous for length, expected, synchronous in kinds), v["seed"])
            self.assertTrue(any(length > limit + 1 and not expected and not synchronous for length, expected, synchronous in kinds), v["seed"])

    def test_ready(self):
        """Lab 2: messages that are too long, of both protocols, expected and not; ready messages with and without their receive."""
        module = lab("02_truncated_ready")
        for v in variants(module):
            kinds = {(length > module.SHORT_LIMIT, expected) for length, room, expected in zip(v["bytes"], v["room"], v["expected"]) if length > room}
            self.assertEqual(kinds, {(long, expected) for long in (False, True) for expected in (0, 1)}, v["seed"])
            self.assertEqual(set(v["posted"]), {0, 1}, v["seed"])

    def test_library(self):
        """Lab 13: the answer ends in each order of steps, each mistake deadlocks in each, and part 1 ends as its paper says."""
        module, order = lab("13_library"), random.Random(1)
        every = {"swap", "wait_for_all", "close"}
        for v in variants(module):
            programs = cells_programs(v)
            swaps = {rank: [peer for what, peer in program if what == "swap"] for rank, program in programs.items()}
            self.assertEqual(swaps, {rank: [peer for peer, _ in its] for rank, its in module.swaps(v).items()}, v["seed"])
            stuck = {rank: [("swap", to) for of, to in zip(v["stuck_from"], v["stuck_to"]) if of == rank] + [("barrier", None)]
                     for rank in range(v["ranks"])}
            for _ in range(ORDERS):
                self.assertEqual(Cells(programs, order).waiting, {}, v["seed"])
                for missing in every:
                    self.assertTrue(Cells(programs, order, every - {missing}).waiting, f"seed {v['seed']}: {missing}")
                self.assertTrue(Cells(programs, order, lost=(v["late"],)).waiting, f"seed {v['seed']}: late")
                part_1 = Cells(stuck, order)
                in_swap = sorted(rank for rank, (what, _) in part_1.waiting.items() if what == "swap")
                self.assertEqual(in_swap, v["page_in_swap"], v["seed"])
                self.assertEqual(part_1.answered, sum(to in in_swap for _, to in module.sent_when_stuck(v)), v["seed"])
                self.assertEqual(len(part_1.waiting), v["ranks"], v["seed"])

    def test_fence(self):
        """Lab 14: each wrong rule ends the fence of a story too early or too late, the right one never; the fence's colours end the quiet
        story with one wave, and no other one; each filling of a rule is one of these rules."""
        module = lab("14_fence")
        for v in variants(module):
            stories = module.stories_of(v)
            self.assertTrue(all(map(module.valid, stories)), v["seed"])
            self.assertEqual([module.early(story) for story in stories], [bool(quiet) for quiet in v["quiet"]], v["seed"])
            self.assertFalse(any(module.fails(story, module.right) for story in stories), v["seed"])
            for name, rule in module.WRONG.items():
                self.assertTrue(any(module.fails(story, rule) for story in stories), f"seed {v['seed']}: {name}")
            # A fence of each colour in which all requests, or those of the wrong colour, would be equal in wave 1.
            early = [number % 2 for number, story in enumerate(stories) if module.end(story, module.WRONG["paper"]) == 1 and module.left(story, 1)]
            self.assertEqual(set(early), {0, 1}, v["seed"])
            self.assertEqual(len({v["first"], v["source"], v["victim"], v["page_other"]}), 4, v["seed"])
        for name in module.WRONG:
            self.assertTrue(filling_exists("14_fence", f"rule_{name}"), name)

    def test_crossover(self):
        module = lab("15_crossover")
        for v in variants(module):
            alpha_slow = module.ALPHA_NS - module.LATENCIES["latency_ns"] + v["latency_ns"]
            for ranks in (v["few"], v["many"]):
                tree, bucket = zip(*(module.costs(ranks, length) for length in module.LENGTHS))
                self.assertTrue(tree[0] < bucket[0] and tree[-1] > bucket[-1])  # they cross between the first and the last length
            # No answer is near enough to another one, nor to the paper's.
            cross = [factor * module.ALPHA_NS / module.BETA_PS * 1000 for factor in map(crossing_factor, (v["few"], v["many"]))]
            cross.append(cross[0] * alpha_slow / module.ALPHA_NS)
            for near in (10000, cross[1], cross[2]):
                self.assertGreater(abs(cross[0] - near), 2 * module.NEAR * cross[0])
            self.assertLess(cross[2], module.LENGTHS[-1])

    def test_contention(self):
        module = lab("16_contention")
        for v in variants(module):
            right = {name: module.busiest(name, v) for name in module.PATTERNS}
            self.assertEqual((right["neighbour"], right["mirror"], right["transpose"]), (1, v["width"] // 2, v["corner"] - 1))
            column_first = {name: busiest_column_first(module, name, v) for name in module.PATTERNS}
            self.assertNotEqual(right, column_first)
            self.assertEqual(sorted(v["order"]), list(range(module.RANKS)))

    def test_scaling(self):
        module = lab("17_scaling")
        for v in variants(module):
            step_us = (v["serial_ns"] + v["side"] ** 2 * v["cell_ns"] / module.MOST_RANKS) / 1000
            messages_us = module.ALPHA_US * (1 + 3 * (module.MOST_RANKS.bit_length() - 1))
            self.assertGreater(messages_us, 1.3 * module.NEAR * (step_us + messages_us))  # a model without messages is wrong
            self.assertLess(1 / module.serial_fraction(v), module.MOST_RANKS / 2)
            self.assertGreater(abs(1 / module.serial_fraction(v) - module.amdahl(v, module.MODEL_RANKS)), module.NEAR / module.serial_fraction(v))

    def test_schedule(self):
        module = lab("18_schedule")
        for v in variants(module):
            self.assertEqual(len(set(v["digits"])), module.ROUNDS * (v["ranks"] - 1))
            self.assertTrue(0 < v["slow"] < v["last"] == v["ranks"] - 1)

    def test_polling(self):
        module = lab("19_polling")
        for v in variants(module):
            pairs = list(zip(v["from"], v["to"]))
            first = [module.carrier(v, a, b) for a, b in pairs]
            # The order of the list matters, and neither the distance of two ranks nor the other order gives the answer.
            self.assertEqual({"self", "shm", "tcp"}, set(first))
            self.assertNotEqual(first, [module.carrier(v, a, b, ("tcp", "shm")) for a, b in pairs])
            self.assertNotEqual(first, ["self" if a == b else "shm" if abs(a - b) == 1 else "tcp" for a, b in pairs])
            self.assertNotEqual(first, ["self" if a == b else "shm" if abs(a - b) < v["partition"] else "tcp" for a, b in pairs])
            self.assertTrue(0 < v["near"] < v["partition"] <= v["far"] < v["ranks"])
            self.assertNotIn(v["first_choice"], module.WIRES)

    def test_contexts(self):
        """Lab 20: the collision changes the sum, the senders and the strays; without it both are right. No mistake of part 4 gives the right
        sums."""
        module = lab("20_contexts")
        for v in variants(module):
            taken, strays = module.collision(v)
            self.assertEqual(len(taken), v["letters"], v["seed"])
            self.assertNotEqual(sum(value for _, value in taken), sum(v["share"][1:]), v["seed"])
            self.assertNotEqual(strays, module.right_strays(v), v["seed"])
            # The arrivals are neither in the order of ranks nor in that of the table, and no letter is lost.
            self.assertNotEqual([sender for sender, _ in taken], sorted(sender for sender, _ in taken), v["seed"])
            self.assertEqual(sorted([*(value for _, value in taken), *strays]), sorted([*v["share"][1:], *v["stray_value"]]), v["seed"])
            self.assertEqual(len(set(v["share"] + v["stray_value"])), v["processes"] + len(v["stray_value"]), v["seed"])
            share, columns = v["share"], v["columns"]
            right = {(process, name): total for process, name, total in module.instances(v)}
            self.assertEqual(len(right), v["rows"] + columns, v["seed"])
            # One mailer of all, the row's, or the column's, for both instances.
            self.assertNotEqual(100 * sum(share), right[0, "column"], v["seed"])
            self.assertNotEqual(100 * share[0] + sum(share[1:columns]), right[0, "column"], v["seed"])
            self.assertNotEqual(sum(share[::columns]), right[0, "row"], v["seed"])

    def test_fillings(self):
        """Each mistake that is walked on paper here is run by labs.py too."""
        for wrong in SERVER_MISTAKES:
            self.assertTrue(filling_exists("12_server", wrong), wrong)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=SEEDS)
    known, rest = parser.parse_known_args()
    SEEDS = known.seeds
    unittest.main(argv=[sys.argv[0], *rest])
