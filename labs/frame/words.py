"""Words for other commands: checks a student's options for `margay run`, and quotes names for a shell."""

import re
import shlex

from frame import child, say, tools

SECONDS = 30
NO_OPTION = "--words-end-here"  # margay run has none of this name
RECORDS = "`margay lab run` always records in the folder `trace`: leave --trace out, or run the commands that it shows " \
          "yourself, with another name"


def _answer(words):
    """Exit status and error of `margay run` for these words, without a run: with `--version` it only parses them."""
    try:
        done = child.run([tools.margay(), "run", "--version", *words], environment=tools.environment(), seconds=SECONDS)
    except (OSError, TimeoutError) as error:
        raise say.CouldNotRun(f"margay run: {error}") from error
    return done.status, re.sub(r"^margay: ", "", done.err.strip())


def check_options(words):
    """CouldNotRun unless the words are complete options of `margay run` that name neither a program nor a trace."""
    for word in words:
        name = word.lstrip("-").split("=")[0]
        if word.startswith("-") and name == "trace":
            raise say.CouldNotRun(RECORDS)
        if word.startswith("-") and name in ("version", "info"):
            raise say.CouldNotRun(f"`{say.name(word)}` runs nothing: pass it to `margay run` itself")
        if word.startswith("-") and name == "configfile":
            raise say.CouldNotRun("-configfile names programs, and `margay lab run` runs the lab's: leave it out")
    status, said = _answer(words)
    if status:
        raise say.CouldNotRun(said if ":" not in words else "`:` begins another program, and `margay lab run` runs the lab's alone")
    # After options alone, margay run rejects an unknown option; after a program's name it takes it for the program's argument.
    status, said = _answer([*words, NO_OPTION])
    if not status:
        raise say.CouldNotRun(f"`{say.name(shlex.join(words))}` names a program or its arguments, and `margay lab run` runs the lab's: "
                              "arguments of the program go behind --, as in `margay lab run -- 5`")


def quoted(path):
    """A path as one printable shell word that is not an option."""
    path = path if not path.startswith("-") else "./" + path
    if say.name(path) == path:
        return shlex.quote(path)
    letters = (c if c.isprintable() and c not in "'\\" else "".join(f"\\x{byte:02x}" for byte in c.encode(errors="surrogateescape"))
               for c in path)
    return "$'" + "".join(letters) + "'"
