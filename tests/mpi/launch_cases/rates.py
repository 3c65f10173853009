"""Cases of the rates by which collectives choose: measured, saved, given and invalid ones; and of the output and plots
of `margay info --collectives`."""
import re
import xml.etree.ElementTree as xml

# Rates of an imaginary machine: polls of memory take a second, and messages no time.
DEAR_MEMORY = ("inside=1e-9:1e-9:1e-12,between=1e-9:1e-9:1e-12,combined=1e-12,shared=1:1e-12,turn=1e-9")
RESULT = "sum of ranks 6"  # of gathers.c
SVG = "{http://www.w3.org/2000/svg}"


def info(case, *words, status=0, rates="", **variables):
    """The output of `margay info --collectives`, with no saved rates except those that the variables name."""
    return case.command("info", "--collectives", *words, status=status, env={"MARGAY_RATES": rates, **variables})


def chosen(case, *words, variables):
    """Runs an allgather of 4 ranks; returns the method, "memory" or "messages"."""
    case.margay("--stats", *words, case.ours("gathers.c"), ranks=4, env=variables)
    case.expect_printed(RESULT)
    return "memory" if re.search(r"in memory +[1-9]", case.last.stderr) else "messages"


def case_info_collectives(case):
    """The rates with their meaning, choices with their costs, the Paragon; by given rates; wrong ones are errors."""
    info(case, "-n", "8", rates="usual")
    case.expect_printed("rates: ", "as text", "8 ranks on 1 node", "allreduce")
    # By memory, with its cost and the next one's.
    case.expect_matches(r"^  barrier +shared +[0-9.]+ us; \w+ [0-9.]+ us$")
    printed = info(case, "-n", "8", "--rates", DEAR_MEMORY)
    case.expect("as given" in printed and not re.search(r"^  barrier +shared ", printed, re.M), "dear memory is not taken")
    info(case, "-n", "8", "--nodes", "8", "--rates", "paragon")
    case.expect_printed("Paragon")
    for words in (("--rates", "fast"), ("--rates", "turn=1"), ("--rates", "/nowhere/rates"), ("-n", "2", "--nodes", "3"), ("--protocols",)):
        info(case, *words, status=2, rates="usual")
        case.expect(case.last.stderr, "the cause is to be named")
    case.command("info", "--plot", "-", status=2)


def case_plot(case):
    """The picture is well-formed, has a panel for each operation with a choice, and each algorithm in it."""
    file = case.folder / "costs.svg"
    info(case, "-n", "8", "--plot", file, rates="usual")
    case.expect(case.last.stdout == "", "the picture is in the file")
    picture = xml.parse(file).getroot()
    case.expect(info(case, "-n", "8", "--plot", "-", rates="usual") == file.read_text(), "the same on standard output")
    info(case, "--plot", case.folder / "none" / "costs.svg", status=1, rates="usual")
    case.expect_said("none/costs.svg")
    panels = {panel.get("data-operation"): panel for panel in picture.iter(f"{SVG}g")}
    for operation, algorithms in (("bcast", "tree nodes bucket"), ("allreduce", "tree exchange nodes direct bucket shared"),
                                  ("barrier", "tree exchange nodes shared"), ("scan", "exchange shared chain")):
        drawn = {shape.get("data-algorithm") for shape in panels[operation].iter() if shape.get("class") in ("curve", "chosen")}
        case.expect(set(algorithms.split()) <= drawn, f"{operation}: {algorithms} are to be drawn; there are {drawn}")
        case.expect([shape for shape in panels[operation].iter() if shape.get("class") == "chosen"],
                    f"{operation}: the choice is to be drawn")
        names = {text.text for text in panels[operation].iter(f"{SVG}text")}
        case.expect(set(algorithms.split()) <= names, f"{operation}: each curve is to have its name")


def case_rates_of_a_run(case):
    """A run chooses by the given rates; invalid ones end it, before a message, with the cause."""
    usual = {"MARGAY_RATES": "usual"}
    for way, words, variables in (("memory", (), usual), ("messages", ("--rates", DEAR_MEMORY), usual),
                                  ("messages", (), {"MARGAY_RATES": DEAR_MEMORY}),
                                  # A variable of one program does not make its ranks choose by themselves.
                                  ("memory", ("--env", "MARGAY_RATES", DEAR_MEMORY), usual)):
        case.expect(chosen(case, *words, variables=variables) == way, f"{words} {variables}: {way}")


def case_calibrate(case):
    """`margay calibrate` writes a file, which a run and `margay info` read; an error names a file that cannot be
    written."""
    kept = case.folder / "deep" / "rates"
    case.command("calibrate", "--write", kept)
    case.expect_printed(f"kept in {kept}", "inside")
    text = kept.read_text()
    case.expect(re.search(r"^rates: inside=[0-9.e-]+:[0-9.e-]+:[0-9.e-]+,between=", text, re.M), "the rates are to be in the file")
    case.expect(len(list(kept.parent.iterdir())) == 1, "no other file is left")
    case.margay("--rates", kept, "--check-accounting", case.ours("gathers.c"), ranks=4)
    case.expect(str(kept) in info(case, "-n", "4", "--rates", kept), "the file that the rates come from is to be named")
    kept.write_text(re.sub("rates: .*", f"rates: {DEAR_MEMORY}", text))
    case.expect(chosen(case, "--rates", kept, variables={}) == "messages", "a run takes what the file says")
    case.command("calibrate", "--write", kept / "below", status=1)
    case.expect_said(str(kept))
    case.command("calibrate", "--print", "--installed", status=2)
    case.command("calibrate", status=1, env={"XDG_CACHE_HOME": "", "HOME": ""})
    case.expect_said("--write FILE")


def case_kept_rates(case):
    """The first `info --collectives` measures and saves; later runs use the file, under each launcher; an invalid file
    is ignored, with a warning."""
    variables = {"XDG_CACHE_HOME": str(case.folder / "cache"), "MARGAY_RATES": "", "MARGAY_CALIBRATE": "anyway"}
    case.expect(chosen(case, variables=variables) == "memory", "without rates, by the usual ones")
    case.expect(not (case.folder / "cache").exists(), "a run does not measure")
    info(case, "-n", "4", **variables)
    case.expect_said("measuring, once")
    [kept] = (case.folder / "cache" / "margay").iterdir()
    case.expect(str(kept) in info(case, "-n", "4", **variables) and not case.last.stderr, "the second one takes what is kept")
    text = kept.read_text()
    kept.write_text(re.sub("rates: .*", f"rates: {DEAR_MEMORY}", text))
    case.expect(chosen(case, variables=variables) == "messages", "a run takes what is kept")
    case.run(["mpiexec.hydra", "-n", "2", case.ours("gathers.c")], env={**case.library_path, **variables})
    case.expect_silence()
    for bad, words in (("rates: turn=1\n", str(kept)), (re.sub("rates: .*", "rates: turn=1", text), "'inside'"),
                       (re.sub("machine: .*", "machine: another", text), "another machine"), ("x" * 10000, "too long")):
        kept.write_text(bad)
        for launcher in ([case.build.tool("margay"), "run"], ["mpiexec.hydra"]):
            case.run([*launcher, "-n", "4", case.ours("gathers.c")], env={**case.library_path, **variables})
            case.expect_printed(RESULT)
            case.expect(case.last.stderr.count("passed over") == 1 and words in case.last.stderr, f"{words!r}, once")
