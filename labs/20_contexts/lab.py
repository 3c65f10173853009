"""A library in its caller's mailer, and in one of its own: contexts, and the selection of letters by their sender."""

import re

from frame import variant as numbers
from frame.blanks import Truth
from frame.run import DEADLOCK, TIMED_OUT
from frame.say import and_then

TITLE = "Contexts: a library's letters among those of the program, and two instances of it at once"
MINUTES = 30
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
INTERFACE = "zipcode"
RANKS, OPTIONS = "{processes}", ()
TALLY_TAG, TAKES = 7, 6  # TAKES: the number of the event in libraries/zipcode/library.hpp
ROWS = 2

SUM = re.compile(r"^part (\d): sum (-?\d+)$", re.M)
STRAYS = re.compile(r"^part (\d): strays((?: -?\d+)*)$", re.M)
CALL = re.compile(r"^part 3: call (\d+) sum (\d+)$", re.M)
INSTANCE = re.compile(r"^part 4: process (\d+), (row|column): sum (\d+)$", re.M)


# --- Variants ---


def variant(random):
    return numbers.telling(lambda: draw(random), telling)


def draw(random):
    columns = random.randrange(2, 4)
    processes = ROWS * columns
    order = random.sample(range(1, processes), processes - 1)
    values = random.sample(range(11, 100), processes + 4)
    tags = [TALLY_TAG, TALLY_TAG, *random.sample((3, 5, 8, 9, 12), 2)]
    random.shuffle(tags)
    strays = [(random.choice(order), tag, values.pop()) for tag in tags]
    v = {"processes": processes, "rows": ROWS, "columns": columns, "last": processes - 1, "letters": processes - 1,
         "share": values, "order": order, "calls": random.randrange(2, 4)}
    v["stray_from"], v["stray_tag"], v["stray_value"] = map(list, zip(*strays))
    v["page_shares"] = ", ".join(map(str, v["share"]))
    v["page_order"] = ", ".join(map(str, order))
    v["page_strays"] = "\n".join(f"    {sender:<9} {tag:<9} {value}" for sender, tag, value in strays)
    return v


def arrivals(v):
    """(sender, tag, value) of the letters in `town` at process 0 in part 1, in order."""
    strays = list(zip(v["stray_from"], v["stray_tag"], v["stray_value"]))
    return [letter for sender in v["order"]
            for letter in [*(stray for stray in strays if stray[0] == sender), (sender, TALLY_TAG, v["share"][sender])]]


def collision(v):
    """(sender, value) of the letters that tally() takes in part 1; the values that the program receives as strays."""
    with_tag = [letter for letter in arrivals(v) if letter[1] == TALLY_TAG]
    taken, left = with_tag[:v["letters"]], with_tag[v["letters"]:]
    strays = [left.pop(0)[2] if tag == TALLY_TAG else value for tag, value in zip(v["stray_tag"], v["stray_value"])]
    return [(sender, value) for sender, _, value in taken], strays


def right_strays(v):
    """The values that the program receives if the library takes none of them."""
    own = [letter for sender in v["order"] for letter in zip(v["stray_from"], v["stray_tag"], v["stray_value"]) if letter[0] == sender]
    values = {tag: [value for _, of, value in own if of == tag] for tag in v["stray_tag"]}
    return [values[tag].pop(0) for tag in v["stray_tag"]]


def telling(v):
    """Whether the collision shows in the sum, in the strays and in the order of senders."""
    taken, strays = collision(v)
    senders = [sender for sender, _ in taken]
    return (sum(value for _, value in taken) != sum(v["share"][1:]) and strays != right_strays(v)
            and senders not in (v["order"], sorted(senders)) and len(set(senders)) < len(senders)
            and sum(v["share"][:v["columns"]]) != sum(v["share"][::v["columns"]]))


# --- The check ---


def check(work):
    found = work.findings
    done = work.run()
    if done.status != 0:
        found.say(and_then(stuck(work, done), done.trouble))
    if not found:
        for judge in (judge_parts_2_and_3, judge_part_4):
            if not found:
                judge(work, done)
    work.judged((predictions, work, done))
    return found


def context_of_town(trace):
    """The context_id of letters in `town`: that of the first letter of a program that process 0 takes, but for the words'."""
    return takes(trace, 0)[0].a if takes(trace, 0) else None


def takes(trace, rank):
    """The events of letters of one int that a process takes."""
    return [event for event in trace.of("library_event", rank=rank) if event.event == TAKES and event.bytes == 4]


def stuck(work, done):
    """The blank to blame for a run that failed, or None."""
    if done.status not in (DEADLOCK, TIMED_OUT):
        return None
    if not SUM.search(done.out):
        return None
    if "part 2: sum" not in done.out:
        if re.search(r"\b(z_open|l_open|g\d_grid_open)\b", done.err):
            return "BLANK 1: not all processes open the mailer together: each of them calls, process 0 with the group and the others with " \
                   "NULL, as `group` has it"
        return "BLANK 2: process 0 waits for a letter that nobody sends: the processes 1 to size - 1 each send one letter in a call" \
            if "recvb" in done.err else None
    if "part 3: call" not in done.out:
        return None
    return "BLANK 3: a process waits for a letter that was sent in another mailer: the instances of a row use the row's mailer at all of " \
           "its processes, those of a column the column's" if "recvb" in done.err else None


def judge_parts_2_and_3(work, done):
    v, found = work.variant, work.findings
    sums = {int(part): int(value) for part, value in SUM.findall(done.out)}
    strays = {int(part): [int(value) for value in values.split()] for part, values in STRAYS.findall(done.out)}
    if not found.unless(2 in sums and 2 in strays, "part 2 does not print its lines: change only the blanks"):
        return
    if not found.unless(strays[2] == right_strays(v) and sums[2] == sum(v["share"]),
                        f"BLANK 1: part 2 returns {sums[2]} in place of {sum(v['share'])}, and the program's strays are {strays[2]}: the library and "
                        "its caller take each other's letters. A mailer of the library's own has contexts of its own"):
        return
    town = context_of_town(done.trace)
    own = [event for event in takes(done.trace, 0) if event.a != town]
    if not found.unless(len(own) >= v["letters"], "BLANK 1: all sums are right, but the library's letters are in the mailer `town`, to which all "
                        "letters and tags of the program belong: another program may break it. Open a mailer"):
        return
    wrong = [(call, value) for call, value in CALL.findall(done.out) if int(value) != v["processes"] * 100 ** int(call)]
    if not found.unless(len(CALL.findall(done.out)) == v["calls"], "part 3 does not print its lines: change only the blanks"):
        return
    found.unless(not wrong, "BLANK 2: " + (f"call {wrong[0][0]} of part 3 returns {wrong[0][1]} in place of {v['processes'] * 100 ** int(wrong[0][0])}: "
                                          "it takes letters of other calls. The letters of one sender arrive in order, those of different senders "
                                          "in any order" if wrong else ""))


def judge_part_4(work, done):
    v, found = work.variant, work.findings
    right = {(process, name): total for process, name, total in instances(v)}
    seen = {(int(process), name): int(total) for process, name, total in INSTANCE.findall(done.out)}
    wrong = next((key for key in sorted(seen.keys() | right.keys()) if seen.get(key) != right.get(key)), None)
    if wrong is None:
        return
    process, name = wrong
    what = f"returns {seen[wrong]}" if wrong in seen else "returns nothing"
    expected = f"in place of {right[wrong]}" if wrong in right else f"although process {process} is not the first of its {name}"
    found.say(f"BLANK 3: the instance over the {name} of process {process} {what}, {expected}: each instance needs the mailer of its own "
              "processes, and two instances at once need two mailers")


def instances(v):
    """(process, row or column, sum) of part 4."""
    rows, columns, share = v["rows"], v["columns"], v["share"]
    result = [(row * columns, "row", sum(share[row * columns:(row + 1) * columns])) for row in range(rows)]
    return result + [(column, "column", 100 * sum(share[column::columns])) for column in range(columns)]


def predictions(work, done):
    v, trace = work.variant, done.trace
    town = context_of_town(trace)
    taken = [event.source for event in takes(trace, 0) if event.a == town][:v["letters"]]
    total = next(int(value) for part, value in SUM.findall(done.out) if part == "1")
    strays = next(values.split() for part, values in STRAYS.findall(done.out) if part == "1")
    look = "Run the program, and look for `part 1`."
    truths = {
        "takes_from": Truth(taken, "See `margay trace print trace --rank 0 --kind library_event`: the first lines `takes a letter with context_id "
                            f"{town}` of 4 bytes.", "the earliest letters with tag 7, whoever sent them: strays are among them", counted=True),
        "sum": Truth(total, look, "the share of process 0 and the values of the letters that tally() took"),
        "strays": Truth(strays, look, "tally() took the strays with its tag, so the program gets what was left: shares of the last processes",
                        counted=True),
    }
    same = same_contexts(work, trace)
    if same is not None:
        truths["same_context"] = Truth(same, "In the trace, compare the context_id of letters that processes 0 and "
                                       f"{v['columns']} take last, and of those that process 0 takes from its row and from its column.",
                                       "the rows have no common process, so one number serves both; row and column have process 0 in common",
                                       words=("yes", "no"), counted=True)
    work.predicted(truths)


def same_contexts(work, trace):
    """yes or no for the two rows, and for row and column of process 0; None while blank 3 is wrong."""
    v = work.variant
    columns = v["columns"]
    last = {rank: [event for event in takes(trace, rank)] for rank in (0, columns)}
    row = {rank: {event.a for event in last[rank][1 - columns:]} for rank in last}
    # Process 0 ends its column first, then its row.
    column = {event.a for event in last[0][2 - columns - v["rows"]:1 - columns]}
    if len(row[0]) != 1 or len(row[columns]) != 1 or len(column) != 1:
        return None
    if {event.source for event in last[0][1 - columns:]} != set(range(1, columns)):
        return None
    return ["yes" if row[0] == row[columns] else "no", "yes" if row[0] == column else "no"]
