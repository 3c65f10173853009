"""Blanks of a program and predictions: what the student has to fill, and whether that was done.

A blank in program.c or program.cpp:

    /* BLANK 1: what belongs here */
    something that compiles
    /* END 1 */
"""

import re
from dataclasses import dataclass

BLANK = re.compile(r"/\* BLANK (\d+): (.*?)\*/(.*?)/\* END \1 \*/", re.DOTALL)
QUESTION = re.compile(r"^\s*(\w+)\s*=(.*)$")


@dataclass(frozen=True)
class Truth:
    """What a question's answer is, by the trace of a run."""
    value: object  # int, str, or a list of them
    look: str  # said to who is wrong: where the trace shows it, without the answer
    why: str = ""  # said with the answer


def squeeze(text):
    return " ".join(text.split())


def blanks(program):
    """Number -> (what belongs there, what stands there)."""
    return {int(number): (squeeze(what), squeeze(body)) for number, what, body in BLANK.findall(program)}


def empty_blanks(handed_out, program):
    """A sentence for each blank that is as it was handed out."""
    now = blanks(program)
    return [f"BLANK {number} is empty: {what}" for number, (what, body) in sorted(blanks(handed_out).items())
            if now.get(number, ("", None))[1] == body]


def questions(text):
    """Question -> answer, "" where there is none."""
    return {match.group(1): match.group(2).split("#")[0].strip()
            for match in map(QUESTION.match, text.splitlines()) if match and not match.string.lstrip().startswith("#")}


def normal(value):
    """A list of words: `2, Long` and ["2", "long"] are the same."""
    items = value if isinstance(value, (list, tuple)) else re.split(r"[,;]", str(value))
    return [squeeze(str(item)).lower().replace("_", " ") for item in items if str(item).strip()]


def as_text(value):
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def wrong_predictions(predictions, truths):
    """A sentence for each question whose answer is not the truth's."""
    return [f"predict.txt: `{name} = {predictions.get(name, '')}` is not what the trace shows. {truth.look}"
            for name, truth in truths.items() if normal(predictions.get(name, "")) != normal(truth.value)]


def answered(handed_out, truths):
    """predict.txt with the true answers, and why."""
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
