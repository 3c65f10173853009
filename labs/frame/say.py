"""Findings: what a check has to say, each a sentence in the lab's words."""

import re
import sys

OK, WRONG, COULD_NOT_RUN = 0, 1, 2
# Of a sentence, its lines, and names in it: what a program or a compiler printed may be in it.
LENGTH_MAX, LINE_MAX, NAME_MAX = 16384, 2000, 400
# Of findings that begin alike, but for numbers, so many are told; so many letters are their beginning.
ALIKE_MOST, ALIKE_LETTERS = 3, 36


class CouldNotRun(Exception):
    """A check cannot judge: the program does not compile, margay is not there, a file is missing. Ends with status 2."""


class NotYet(CouldNotRun):
    """A check cannot judge what is not there, and that is the program's fault: its sentence is a finding. Ends with status 1."""


class Findings:
    """Collects sentences; a check returns one of these."""

    def __init__(self, sentences=()):
        self.sentences = list(sentences)

    def say(self, sentence):
        """Adds a sentence once."""
        if sentence not in self.sentences:
            self.sentences.append(sentence)

    def unless(self, holds, sentence):
        """Adds the sentence unless `holds`; whether it holds."""
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
    """Text of a program or a command line as a terminal may get it: `?` for what does not print, but for ends of lines and tabs."""
    text = shortened(text, LENGTH_MAX)
    text = "\n".join(shortened(line, LINE_MAX) for line in text.split("\n"))
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def name(text):
    """A file's name, or a word of the command line, within a sentence: it ends no line."""
    return re.sub(r"[\n\t]", "?", clean(shortened(str(text), NAME_MAX)))


def some_of_each(findings):
    """The findings without those that say once more, of other ranks or messages, what some have said; these are counted."""
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
    """Prints what was found; the exit status."""
    findings = list(some_of_each(findings))
    if not findings:
        print(f"{title}: right.")
        return OK
    print(f"{title}: not yet.")
    for sentence in findings:
        print(f"- {clean(sentence)}")
    return WRONG


def fail(sentence):
    """Says why nothing can be judged; the exit status."""
    print(f"lab: {clean(sentence)}", file=sys.stderr)
    return COULD_NOT_RUN


def and_then(where, trouble):
    """A sentence about the blank that is to blame, if one is known, and then what became of the run."""
    return f"{where}. {trouble[:1].upper()}{trouble[1:]}" if where else trouble


def count(number, noun, nouns=None):
    """"1 message", "2 messages"."""
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def open_request(blank, rank, call):
    """A blank's program began something and never completed it."""
    return f"BLANK {blank}: rank {rank}'s {call} was never completed: until MPI_Wait (or MPI_Waitall, MPI_Test, ...) says that it is, its " \
           "memory is MPI's, whatever lies in it; `margay lab run --leaks` lists such requests"
