"""Findings of a check, each a sentence in the lab's terms, and how they are printed."""

import re
import sys

OK, WRONG, COULD_NOT_RUN = 0, 1, 2
# Longest sentence, line, and name in it, as they may contain output of a program or a compiler.
LENGTH_MAX, LINE_MAX, NAME_MAX = 16384, 2000, 400
# The most findings that are printed of those that begin alike (but for numbers), and the letters that are compared.
ALIKE_MOST, ALIKE_LETTERS = 3, 36


class CouldNotRun(Exception):
    """The check cannot judge: the program does not compile, margay or a file is missing. Ends with status 2."""


class NotYet(CouldNotRun):
    """The check cannot judge because of the program's own fault: the sentence is a finding. Ends with status 1."""


class Findings:
    """The sentences that a check returns, each of them once."""

    def __init__(self, sentences=()):
        self.sentences = list(sentences)

    def say(self, sentence):
        """Adds a sentence that is not there yet."""
        if sentence not in self.sentences:
            self.sentences.append(sentence)

    def unless(self, holds, sentence):
        """Adds the sentence unless `holds`. Returns `holds`."""
        if not holds:
            self.say(sentence)
        return holds

    def __iadd__(self, others):
        for sentence in others:
            self.say(sentence)
        return self

    def __iter__(self):
        return iter(self.sentences)

    def __bool__(self):
        return bool(self.sentences)


def shortened(text, most):
    return text if len(text) <= most else text[:most] + " ..."


def clean(text):
    """Text of a program or a command line, safe for a terminal: `?` for unprintable characters except newlines and tabs."""
    text = shortened(text, LENGTH_MAX)
    text = "\n".join(shortened(line, LINE_MAX) for line in text.split("\n"))
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def name(text):
    """A file's name, or a word of the command line, within a sentence: without newlines."""
    return re.sub(r"[\n\t]", "?", clean(shortened(str(text), NAME_MAX)))


def some_of_each(findings):
    """The findings, where of many that are alike but for ranks or messages only the first are kept and the others counted."""
    alike = {}
    for sentence in findings:
        beginning = re.sub(r"(?<!BLANK )\d+", "0", sentence)[:ALIKE_LETTERS]
        # Each question has a hint of its own.
        alike.setdefault(sentence if sentence.startswith("predict.txt: ") else beginning, []).append(sentence)
    for sentences in alike.values():
        more = len(sentences) - ALIKE_MOST
        yield from sentences[:ALIKE_MOST] if more > 1 else sentences
        if more > 1:
            yield f"and {more} more like these three"


def report(title, findings):
    """Prints the findings. Returns the exit status."""
    findings = list(some_of_each(findings))
    if not findings:
        print(f"{title}: right.")
        return OK
    print(f"{title}: not yet.")
    for sentence in findings:
        print(f"- {clean(sentence)}")
    return WRONG


def fail(sentence):
    """Prints why nothing can be judged. Returns the exit status."""
    print(f"lab: {clean(sentence)}", file=sys.stderr)
    return COULD_NOT_RUN


def and_then(where, trouble):
    """A sentence about the blank to blame, if it is known, and then about how the run ended."""
    return f"{where}. {trouble[:1].upper()}{trouble[1:]}" if where else trouble


def count(number, noun, nouns=None):
    """"1 message", "2 messages"."""
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def open_request(blank, rank, call):
    """A finding about a request that a blank's code started and never completed."""
    return f"BLANK {blank}: rank {rank}'s {call} was never completed: until MPI_Wait (or MPI_Waitall, MPI_Test, ...) completes it, its " \
           "memory belongs to MPI, whatever it contains; `margay lab run --leaks` lists such requests"
