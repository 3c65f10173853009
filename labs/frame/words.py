"""Words for other commands: options for `margay run` in what a student wrote, and names as a shell takes them."""

import re
import shlex

from frame import child, say, tools

SECONDS = 30
NO_OPTION = "--words-end-here"  # margay run has none of this name
RECORDS = "`margay lab run` always records in the folder `trace`: leave --trace out, or call the commands that it shows yourself, " \
          "with another name"


def _answer(words):
    """What `margay run` says of words, without running anything: `--version` in front of them makes it look at them alone."""
    try:
        done = child.run([tools.margay(), "run", "--version", *words], environment=tools.environment(), seconds=SECONDS)
    except (OSError, TimeoutError) as error:
        raise say.CouldNotRun(f"margay run: {error}") from error
    return done.status, re.sub(r"^margay: ", "", done.err.strip())


def check_options(words):
    """CouldNotRun unless the words are options of `margay run`, whole, that leave the program and the trace to the lab."""
    for word in words:
        name = word.lstrip("-").split("=")[0]
        if word.startswith("-") and name == "trace":
            raise say.CouldNotRun(RECORDS)
        if word.startswith("-") and name in ("version", "info"):
            raise say.CouldNotRun(f"`{say.name(word)}` runs nothing: give it to `margay run` itself")
        if word.startswith("-") and name == "configfile":
            raise say.CouldNotRun("-configfile names programs, and `margay lab run` runs the lab's: leave it out")
    status, said = _answer(words)
    if status:
        raise say.CouldNotRun(said if ":" not in words else "`:` begins another program, and `margay lab run` runs the lab's alone")
    # Behind options alone another word that looks like one is looked at, and refused; behind a program it is the program's.
    status, said = _answer([*words, NO_OPTION])
    if not status:
        raise say.CouldNotRun(f"`{say.name(shlex.join(words))}` names a program or its arguments, and `margay lab run` runs the lab's: "
                              "arguments of the program go behind --, as in `margay lab run -- 5`")


def quoted(path):
    """A path as one word of a shell's line that prints, and is no option."""
    path = path if not path.startswith("-") else "./" + path
    if say.name(path) == path:
        return shlex.quote(path)
    letters = (c if c.isprintable() and c not in "'\\" else "".join(f"\\x{byte:02x}" for byte in c.encode(errors="surrogateescape"))
               for c in path)
    return "$'" + "".join(letters) + "'"
