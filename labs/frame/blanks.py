"""Blanks of a program, and predictions: parses them, fills them, and judges predictions.

A blank in program.c or program.cpp:

    /* BLANK 1: what belongs here */
    something that compiles
    /* END 1 */

A filling, such as answer.fill, has the code for blanks, and lines for the top of the program:

    // why it is right
    /* BLANK 1 */
    the code
"""

import re
from dataclasses import dataclass

from frame import say

BLANK = re.compile(r"/\* BLANK (\d+): (.*?)\*/(.*?)/\* END \1 \*/", re.DOTALL)
LINES = re.compile(r"(/\* BLANK (\d+): (?:.*?)\*/[ \t]*\n)(.*?)(?=[ \t]*/\* END \2 \*/)", re.DOTALL)  # a blank's whole lines
SECTION = re.compile(r"^[ \t]*/\* BLANK (\d+) \*/[ \t]*\n", re.MULTILINE)
QUESTION = re.compile(r"^\s*(\w+)\s*=(.*)$")


@dataclass(frozen=True)
class Truth:
    """The true answer to a question, by the trace of a run, with hints and the forms that an answer may have."""
    value: object  # int, str, or a list of them
    look: str  # printed if the prediction is wrong: where the trace shows it, without the answer
    why: str = ""  # printed with the answer
    words: tuple = ()  # all words that an answer may have; empty: any
    known: tuple = ()  # all values that an answer may have, if words alone do not define them; empty: any
    form: str = ""  # printed for a value that is not known; empty: the known ones
    counted: bool = False  # for a list: the question states the number of values; False: their number is part of the answer
    by: str = "what the trace shows"  # what the prediction was compared with


def squeeze(text):
    return " ".join(text.split())


def comment(text):
    """A comment's text, without the stars that begin its lines."""
    return squeeze(re.sub(r"\n\s*\*(?= )", " ", text))


def blanks(program):
    """Number of a blank -> (what belongs there, its code now)."""
    return {int(number): (comment(what), squeeze(body)) for number, what, body in BLANK.findall(program)}


def code(program, number):
    """The code in a blank, with comments and newlines; "" if its marks are missing."""
    return next((blank[3] for blank in BLANK.finditer(program) if int(blank[1]) == number), "")


def empty_blanks(handed_out, program):
    """Number -> a finding, for each blank that is as it was handed out."""
    now = blanks(program)
    return {number: f"BLANK {number} is {'as it was handed out' if body else 'empty'}: {what}" for number, (what, body) in sorted(blanks(handed_out).items())
            if now.get(number, ("", None))[1] == body}


def filled(program, filling, name="the filling"):
    """The program with its blanks filled; a blank without a section in the filling keeps its code. `name` is the filling's, for errors.
    CouldNotRun: it has no section, two for one blank, or one for a blank that the program lacks."""
    top, *parts = SECTION.split(filling)
    sections = {int(number): code if code.endswith("\n") or not code else code + "\n" for number, code in zip(parts[::2], parts[1::2])}
    known = {int(match.group(2)) for match in LINES.finditer(program)}
    if not sections:
        raise say.CouldNotRun(f"{name} fills no blank: put a line `/* BLANK 1 */` above the code for blank 1")
    if len(sections) < len(parts) // 2:
        raise say.CouldNotRun(f"{name} has two sections for one blank: leave one")
    for number in sorted(sections.keys() - known):
        raise say.CouldNotRun(f"{name} fills BLANK {number}, which the program has not; it has {', '.join(map(str, sorted(known))) or 'none'}")
    return top + LINES.sub(lambda blank: blank[1] + sections.get(int(blank[2]), blank[3]), program)


def questions(text):
    """Question -> answer, "" if it is empty."""
    return {match.group(1): match.group(2).split("#")[0].strip()
            for match in map(QUESTION.match, text.splitlines()) if match and not match.string.lstrip().startswith("#")}


def asked_twice(text):
    """The questions that occur twice, in order: it is unknown which answer counts."""
    names = [match.group(1) for match in map(QUESTION.match, text.splitlines()) if match and not match.string.lstrip().startswith("#")]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def normal(value):
    """An answer as a list of words: `2, Long` and ["2", "long"] give the same."""
    items = value if isinstance(value, (list, tuple)) else re.split(r"[,;]", str(value))
    return [squeeze(str(item)).lower().replace("_", " ") for item in items if str(item).strip()]


def as_text(value):
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def values(number):
    return f"{number} value{'' if number == 1 else 's'}"


def misread(answer, truth):
    """Why an answer cannot be judged, or None: unknown words, no number, too many or too few values."""
    wanted, said = normal(truth.value), normal(answer)
    numbers = all(item.isdecimal() for item in wanted)
    words = {word for known in truth.words for word in normal(known)[0].split()}
    known = {normal(value)[0] for value in truth.known}
    for item in said if known else ():
        if item not in known:
            return f"`{item}` is none of the answers: {truth.form or ', '.join(truth.known)}"
    in_one = max((len(item.split()) for item in wanted), default=1)  # number of words in one value, such as `0 put`
    if truth.words or numbers:
        for word in (word for item in said for word in item.split()):
            if not word.isdecimal() and word not in words:
                return not_whole(squeeze(answer), word) if numbers else \
                    f"the word `{word}` is unknown; the words are {', '.join(truth.words)}"
        if any(len(item.split()) > in_one for item in said):
            return "commas are wanted between the values" if isinstance(truth.value, (list, tuple)) else "it is one value, no more"
        if not numbers and any(_shape(item) not in {_shape(other) for other in wanted} for item in said):
            return f"each value is to be {'a number and a word' if in_one == 2 else 'a word'}"
    if (truth.counted or not isinstance(truth.value, (list, tuple))) and len(said) != len(wanted):
        return f"{values(len(said))}, {len(wanted)} wanted" + \
            (": no commas within a number" if numbers and len(wanted) == 1 else "")
    return None


def not_whole(answer, word):
    """Explains a word that is not a whole number: a fraction, a number with a unit, or something else."""
    if re.fullmatch(r"[0-9]+\.[0-9]*", word):
        return f"`{word}` is no whole number: leave out the point"
    if re.fullmatch(r"[0-9.]+ ?[A-Za-z]+", answer):
        return f"`{answer}` is a number with a unit: a whole number alone is wanted, without `{re.sub('[0-9. ]', '', answer)}`"
    return f"`{word}` is not a whole number in decimal digits"


def _shape(item):
    """The form of a value: `0 put` is a number and a word."""
    return tuple(word.isdecimal() for word in item.split())


def same(said, wanted):
    return said == wanted or said.isdecimal() and wanted.isdecimal() and int(said) == int(wanted)


def first_wrong(said, wanted):
    """Where a list goes wrong, as a part of a sentence; empty for a single value and for an empty answer."""
    if not said:
        return ""
    for number, (mine, true) in enumerate(zip(said, wanted), 1):
        if not same(mine, true):
            return f", from value {number} on (`{mine}`)" if max(len(said), len(wanted)) > 1 else ""
    return f": value {len(wanted) + 1} is one too many" if len(said) > len(wanted) else f": it does not end after {values(len(said))}"


def wrong_predictions(predictions, truths):
    """A finding for each question whose answer is wrong or cannot be judged."""
    found = []
    for name, truth in truths.items():
        answer = predictions.get(name, "")
        said, wanted = normal(answer), normal(truth.value)
        if len(said) == len(wanted) and all(map(same, said, wanted)):
            continue
        form = misread(answer, truth) if said else None
        found.append(f"predict.txt: `{name} = {answer}` cannot be judged: {form}." if form else
                     f"predict.txt: `{name} = {answer}` is not {truth.by}{first_wrong(said, wanted)}. {truth.look}")
    return found


def answered(handed_out, truths):
    """predict.txt with the true answers and their reasons."""
    lines = []
    for line in handed_out.splitlines():
        match = QUESTION.match(line)
        truth = truths.get(match.group(1)) if match and not line.lstrip().startswith("#") else None
        if truth is None:
            lines.append(line)
            continue
        lines.append(f"{match.group(1)} = {as_text(truth.value)}")
        lines += [f"#   {part}" for part in truth.why.splitlines()]
    return "\n".join(lines) + "\n"
