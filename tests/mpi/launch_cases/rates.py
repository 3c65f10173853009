"""What collectives choose by: rates that are measured, kept, given, wrong; and what `margay info --collectives` tells and draws."""
import pathlib
import re
import tempfile
import xml.etree.ElementTree as xml


# Of a machine that does not exist: where looks at memory take a second, and messages nothing.
DEAR_MEMORY = ("inside=1e-9:1e-9:1e-12,between=1e-9:1e-9:1e-12,combined=1e-12,shared=1:1e-12,turn=1e-9")
SVG = "{http://www.w3.org/2000/svg}"


def info(case, *words, status=0, rates="", **variables):
    """`margay info --collectives`, with nothing kept but what the variables name; the output."""
    case.run([case.build.tool("margay"), "info", "--collectives", *words], status=status, env={"MARGAY_RATES": rates, **variables})
    return case.last.stdout


def chosen(case, *words, variables, launcher=None):
    """Runs an allgather of 4 ranks; "memory" or "messages", by which it went."""
    case.run([*(launcher or [case.build.tool("margay"), "run"]), "-n", "4", "--stats", *words, case.ours("gathers.c")], env=variables)
    case.expect("sum of ranks 6" in case.last.stdout, "the result is to be right")
    return "memory" if re.search(r"shown in memory +[1-9]", case.last.stderr) else "messages"


def case_info_collectives(case):
    """The rates with what they mean, choices with their costs, the Paragon; by given rates; wrong ones are refused."""
    told = info(case, "-n", "8", rates="usual")
    for words in ("rates: the usual ones", "a message, each further one", "as text", "8 ranks on 1 node", "allreduce", "on the Paragon"):
        case.expect(words in told, f"'{words}' is to be told")
    case.expect(re.search(r"^  barrier +shared +[0-9.]+ us; \w+ [0-9.]+ us$", told, re.M), "a barrier in memory, with its cost and the next one's")
    told = info(case, "-n", "8", "--rates", DEAR_MEMORY)
    case.expect("as given" in told and not re.search(r"^  barrier +shared ", told, re.M), "dear memory is not taken")
    case.expect("the Intel Paragon's" in info(case, "-n", "8", "--nodes", "8", "--rates", "paragon"), "the Paragon's rates")
    for words in (("--rates", "fast"), ("--rates", "turn=1"), ("--rates", "/nowhere/rates"), ("-n", "2", "--nodes", "3"), ("--protocols",)):
        info(case, *words, status=2, rates="usual")
        case.expect(case.last.stderr, "it is to be told why")
    case.run([case.build.tool("margay"), "info", "--plot", "-"], status=2)


def case_plot(case):
    """The picture is well-formed, has a panel for each operation that there is a choice for, and each algorithm in it."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "costs.svg"
        info(case, "-n", "8", "--plot", str(file), rates="usual")
        case.expect(case.last.stdout == "", "the picture is in the file")
        picture = xml.parse(file).getroot()
        printed = info(case, "-n", "8", "--plot", "-", rates="usual")
        case.expect(printed == file.read_text(), "the same on standard output")
        info(case, "--plot", f"{folder}/none/costs.svg", status=1, rates="usual")
        case.expect("none/costs.svg" in case.last.stderr, "the file that cannot be written is to be named")
    panels = {panel.get("data-operation"): panel for panel in picture.iter(f"{SVG}g")}
    for operation, algorithms in (("bcast", "tree nodes bucket"), ("allreduce", "tree exchange nodes direct bucket shared"),
                                  ("barrier", "tree exchange nodes shared"), ("scan", "exchange shared chain")):
        drawn = {shape.get("data-algorithm") for shape in panels[operation].iter() if shape.get("class") in ("curve", "chosen")}
        case.expect(set(algorithms.split()) <= drawn, f"{operation}: {algorithms} are to be drawn; there are {drawn}")
        case.expect([shape for shape in panels[operation].iter() if shape.get("class") == "chosen"], f"{operation}: what is chosen is to be drawn")
        names = {text.text for text in panels[operation].iter(f"{SVG}text")}
        case.expect(set(algorithms.split()) <= names, f"{operation}: each curve is to have its name")


def case_rates_of_a_run(case):
    """A run chooses by the rates that it is given; wrong ones end it, before a message, with what is wrong."""
    usual = {"MARGAY_RATES": "usual"}
    case.expect(chosen(case, variables=usual) == "memory", "four ranks of a node meet in memory")
    case.expect(chosen(case, "--rates", DEAR_MEMORY, variables=usual) == "messages", "an option's rates are to count")
    case.expect(chosen(case, variables={"MARGAY_RATES": DEAR_MEMORY}) == "messages", "a variable's rates are to count")
    # One program's own variable does not make its ranks choose by themselves.
    case.expect(chosen(case, "--env", "MARGAY_RATES", DEAR_MEMORY, variables=usual) == "memory", "all ranks choose alike")
    for rates, words in (("fast", "it is usual, paragon, a file"), ("turn=1e-6", "it is not there"), ("turn=none", "turn=none")):
        case.margay("--rates", rates, case.ours("gathers.c"), status="nonzero")
        case.expect(words in case.last.stderr, f"--rates {rates}: '{words}' is to be told")
    for rates in ("/nowhere/rates", "x" * 1000):
        case.margay("--rates", rates, case.ours("gathers.c"), status=2)
        case.expect("--rates" in case.last.stderr, "the option is to be named")
    for launcher in (["mpiexec.hydra", "-n", "2"], []):
        case.run([*launcher, case.ours("gathers.c")], "nonzero", env={**case.library_path, "MARGAY_RATES": "turn=1e-6"})
        case.expect("it is not there" in case.last.stderr, "wrong rates end it under each launcher")


def case_calibrate(case):
    """`margay calibrate` writes a file, which a run and `margay info` take; it tells where it cannot."""
    with tempfile.TemporaryDirectory() as folder:
        kept = pathlib.Path(folder) / "deep" / "rates"
        case.run([case.build.tool("margay"), "calibrate", "--write", str(kept)])
        case.expect("kept in" in case.last.stdout and "inside a node" in case.last.stdout, "what was measured is to be told")
        text = kept.read_text()
        case.expect(re.search(r"^rates: inside=[0-9.e-]+:[0-9.e-]+:[0-9.e-]+,between=", text, re.M), "the rates are to be in the file")
        case.expect(len(list(kept.parent.iterdir())) == 1, "no other file is left")
        case.margay("--rates", str(kept), "--check-accounting", case.ours("gathers.c"), ranks=4)
        case.expect(f"kept in {kept}" in info(case, "-n", "4", "--rates", str(kept)), "where the rates come from is to be told")
        kept.write_text(re.sub("rates: .*", f"rates: {DEAR_MEMORY}", text))
        case.expect(chosen(case, "--rates", str(kept), variables={}) == "messages", "a run takes what the file says")
        case.run([case.build.tool("margay"), "calibrate", "--write", str(kept / "below")], status=1)
        case.expect(str(kept) in case.last.stderr, "the file that cannot be written is to be named")
    case.run([case.build.tool("margay"), "calibrate", "--print", "--installed"], status=2)
    case.run([case.build.tool("margay"), "calibrate"], status=1, env={"XDG_CACHE_HOME": "", "HOME": ""})
    case.expect("--write FILE" in case.last.stderr, "the mend is to be told")


def case_kept_rates(case):
    """The first `info --collectives` measures and keeps; later runs take it, under each launcher; a bad file is passed over, with a word."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {"XDG_CACHE_HOME": folder, "MARGAY_RATES": "", "MARGAY_CALIBRATE": "anyway"}
        case.expect(chosen(case, variables=variables) == "memory", "without rates, by the usual ones")
        case.expect(not list(pathlib.Path(folder).iterdir()), "a run does not measure")
        info(case, "-n", "4", **variables)
        case.expect("measuring, once" in case.last.stderr, "that it measures is to be told")
        [kept] = (pathlib.Path(folder) / "margay").iterdir()
        case.expect(str(kept) in info(case, "-n", "4", **variables) and not case.last.stderr, "the second one takes what is kept")
        text = kept.read_text()
        kept.write_text(re.sub("rates: .*", f"rates: {DEAR_MEMORY}", text))
        case.expect(chosen(case, variables=variables) == "messages", "a run takes what is kept")
        case.run(["mpiexec.hydra", "-n", "2", case.ours("gathers.c")], env={**case.library_path, **variables})
        case.expect(case.last.stderr == "", "nothing is wrong under another launcher")
        for bad, words in (("rates: turn=1\n", "is not a file of rates"), (re.sub("rates: .*", "rates: turn=1", text), "it is not there"),
                           (re.sub("machine: .*", "machine: another", text), "another machine"), ("x" * 10000, "too long")):
            kept.write_text(bad)
            for launcher in ([case.build.tool("margay"), "run"], ["mpiexec.hydra"]):
                case.run([*launcher, "-n", "4", case.ours("gathers.c")], env={**case.library_path, **variables})
                case.expect("sum of ranks 6" in case.last.stdout, "a job goes on")
                case.expect(case.last.stderr.count("passed over") == 1 and words in case.last.stderr, f"'{words}' is to be told, once")
