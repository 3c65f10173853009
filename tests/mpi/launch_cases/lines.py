"""Cases of wrong command lines of `margay` that need files, and of its help."""
from launch_case import Row


def case_options_alone(case):
    """An option without effect is an error that names the option on which it depends or with which it conflicts."""
    for more in ([], ["--mpi", "system"]):
        case.margay(*more, "--trace", case.folder / f"trace{len(more)}", "true")
        case.expect_said("--trace recorded nothing")


def case_no_program(case):
    """An option that took the program for its value is named; a source file too, with its compiler."""
    for suffix, compiler in (("c", "mpicc"), ("cpp", "mpicxx"), ("f90", "mpifort")):
        (case.folder / f"ring.{suffix}").write_text("", encoding="utf-8")
        for path, status in (("./ring", 126), ("ring", 127)):
            cure = f"{compiler} -o {path} {path}.{suffix}"
            Row("no_program", "", f"run {path}.{suffix}", launchers=("margay",), status=status, refused=True, cwd=case.folder,
                stderr=(cure, "./ring")).run(case)


def case_help(case):
    """The help on running jobs is part of `margay --help` and `margay run --help`, and of no other help."""
    of_traces = [f"trace {name}" for name in ("story", "messages", "view", "print", "check", "export")]
    for line in ("", "run", "info", "doctor", "check", "calibrate", "machines", "top", "stacks", "trace", *of_traces):
        printed = case.command(*line.split(), "--help")
        case.expect(("SIGUSR1" in printed) == (line in ("", "run")), f"{line}: SIGUSR1")
