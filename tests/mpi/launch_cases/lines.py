"""Wrong command lines of `margay`: each is refused before anything runs, in at most two lines that name the command and the word, and a
near one where there is one. Options that would change nothing are refused too."""
import pathlib
import re
import tempfile


WRONG_LINE, NOT_FOUND, CANNOT_RUN, BAD_TRACE = 2, 127, 126, 1
TRACE = ("trace", "story"), ("trace", "messages"), ("trace", "export", "--format", "csv")


def refused(case, words, named, status=WRONG_LINE, **keywords):
    """Runs a line that is to be refused; `named` are parts of what it says."""
    case.run([case.build.tool("margay"), *words], status, **keywords)
    said = case.last.stderr
    case.expect(said.startswith("margay") and 1 <= len(said.splitlines()) <= 2, f"{words}: one or two lines are wanted")
    case.expect(not re.search(r"\d{25}", said) and case.last.stdout == "", f"{words}: a number that nobody can read, or output")
    for part in named:
        case.expect(part in said, f"{words}: `{part}` is not named")


def case_unknown_words(case):
    """A word that is no command, or no option of its command, is named, with the nearest that is one."""
    for words, named in ((["rnu"], ('"rnu"', "run?")), (["--foo"], ("--foo",)), ([], ("trace", "doctor")),
                         (["--versoin"], ("--versoin", "--version?")), (["trace"], ("story", "messages", "check")),
                         (["trace", "storey", "X"], ("margay trace:", '"storey"', "story?")), (["trace", "--cout", "3"], ("--cout",)),
                         (["trace", "story", "X", "--cuont", "3"], ("margay trace story:", "--cuont", "--count?")),
                         (["trace", "story", "X", "0:1:1", "Z"], ('"Z"',)), (["doctor", "now"], ("margay doctor:", '"now"')),
                         (["info", "--protocol"], ("--protocol", "--protocols?")), (["top", "--onec"], ("--once?",)),
                         (["run", "--nodse", "2", "true"], ("--nodse", "--nodes?")), (["stacks", "--al"], ("--all?",)),
                         (["calibrate", "--wriet", "x"], ("--write?",)), (["trace", "print"], ("margay trace print:", "folder"))):
        refused(case, words, named)


def case_numbers(case):
    """Each option that takes a number says what it takes, and repeats what it got."""
    lines = [([*command, "X", option, word], (f"{option}: ", f'"{word}"')) for command in TRACE
             for option, words in (("--from", ("x", "-1", "65536")), ("--to", ("x", "1.5")), ("--tag", ("x", "-1", "2147483648")),
                                   ("--count", ("0", "-1", "x", "1e3"))) for word in words]
    lines += [(["trace", "print", "X", option, word], (option, f'"{word}"')) for option, word in
              (("--rank", "x"), ("--rank", "65536"), ("--portal", "64"), ("--portal", "x"), ("--since", "x"), ("--until", "-1"), ("--until", "nan"),
               ("--since", "inf"), ("--head", "0"), ("--last", "0"), ("--last", "x"))]
    lines += [(words, (words[-2], words[-1])) for words in
              (["info", "--ranks", "0"], ["info", "--ranks", "x"], ["info", "--collectives", "--nodes", "0"], ["stacks", "--rank", "65536"],
               ["top", "--interval", "0"], ["trace", "export", "X", "--format", "smpi-ti", "--flops", "0"])]
    lines += [(["run", option, word, "true"], (option, word)) for option, word in
              (("-n", "0"), ("-np", "x"), ("--nodes", "0"), ("-ppn", "-1"), ("--timeout", "0"), ("--stall", "x"), ("--heap", "1"),
               ("--trace-events", "0"), ("--trace-last", "0"), ("--short-limit", "0"))]
    for words, named in lines:
        refused(case, words, named)
    for words, named in ((["trace", "story", "X", "--count"], ("--count",)), (["trace", "story", "X", "--count", "1", "--count", "2"], ("--count",))):
        refused(case, words, named)


def case_options_alone(case):
    """An option that would change nothing is refused, and names the one that it goes with or against."""
    for option in (["--trace-walks"], ["--trace-events", "9"], ["--trace-last", "5s"]):
        refused(case, ["run", "-n", "2", *option, "true"], (option[0], "--trace DIR"))
    for option in (["--from", "0"], ["--to", "0"], ["--tag", "1"], ["--slowest"], ["--dropped"], ["--unexpected"], ["--never-received"],
                   ["--collective"], ["--all"], ["--count", "2"]):
        refused(case, ["trace", "story", "X", "0:1:1", *option], ("message", option[0]))
        refused(case, ["trace", "export", "X", "--format", "pcapng", "-o", "x", *option], (option[0], "pcapng"), BAD_TRACE)
        refused(case, ["trace", "export", "X", "--format", "csv", "--table", "calls", *option], (option[0], "csv"), BAD_TRACE)
    for words in (["--since", "1"], ["--until", "1"]):
        refused(case, ["trace", "print", "X", "--around", "0:1:1", *words], ("--around", words[0]))
    refused(case, ["trace", "export", "X", "--format", "chrome", "--table", "events"], ("--table", "chrome", "csv"), BAD_TRACE)
    refused(case, ["trace", "export", "X", "--format", "csv", "--flops", "1e9"], ("--flops", "smpi-ti"), BAD_TRACE)
    for words in (["--plot", "x"], ["--nodes", "2"], ["--rates", "usual"]):
        refused(case, ["info", *words], (words[0], "--collectives"))
    refused(case, ["calibrate", "--print", "--installed"], ("--print", "--installed"))
    with tempfile.TemporaryDirectory() as place:
        for more in ([], ["--mpi", "system"]):
            case.run([case.build.tool("margay"), "run", "-n", "2", *more, "--trace", f"{place}/trace{len(more)}", "true"])
            case.expect("--trace recorded nothing" in case.last.stderr, "a run that recorded nothing is to say so")


def case_no_program(case):
    """An option that took the program for its value is named; a source file is, too, with its compiler."""
    with tempfile.TemporaryDirectory() as place:
        for words in (["--trace", "./ring"], ["-genv", "A", "./ring"], ["-l", "--stats", "--rates", "./ring"]):
            refused(case, ["run", "-n", "2", *words], (words[-2] if words[0] != "-genv" else "-genv", '"./ring"'), cwd=place)
        refused(case, ["run", "-n", "2"], ("2",), cwd=place)
        refused(case, ["run", "--stats"], ("PROGRAM",), cwd=place)
        for name, compiler in (("ring.c", "mpicc"), ("ring.cpp", "mpicxx"), ("ring.f90", "mpifort")):
            pathlib.Path(place, name).write_text("", encoding="utf-8")
            refused(case, ["run", f"./{name}"], (f"{compiler} -o ./ring ./{name}",), CANNOT_RUN, cwd=place)
            refused(case, ["run", name], (f"{compiler} -o ring {name}", "./ring"), NOT_FOUND, cwd=place)
        refused(case, ["run", "other.c"], ("not in PATH",), NOT_FOUND, cwd=place)


def case_help(case):
    """What is said of jobs that run stands below `margay --help` and `margay run --help`, and below no other help."""
    commands = [["info"], ["doctor"], ["check"], ["calibrate"], ["top"], ["stacks"], ["trace"],
                *(["trace", name] for name in ("story", "messages", "view", "print", "check", "export"))]
    for words, wanted in (([], True), (["run"], True), *((command, False) for command in commands)):
        case.run([case.build.tool("margay"), *words, "--help"])
        case.expect(("SIGUSR1" in case.last.stdout) == wanted, f"{words}: SIGUSR1")
