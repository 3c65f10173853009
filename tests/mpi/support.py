"""The common part of the drivers of the MPI suite: compiling, running with a time limit, reporting failures."""
import atexit
import difflib
import functools
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent

# A sanitized program takes so much longer, at most; and what each sanitizer writes before its report.
SLOWER = 4
SANITIZER_REPORT = re.compile(r"Sanitizer: |: runtime error: ")

_FOREIGN = re.compile(r"^(PMI|PMIX|HYDRA|HYDI|MPI|MPICH|OMPI|SLURM|MARGAY)_?")


class CompileError(Exception):
    """A program of the suite did not compile, or a tool for it is missing."""


def shared_sanitizer(compiler):
    """Options for linking a program with the sanitizers' run-time library as a shared library; gcc does so by itself."""
    if "clang" not in compiler:
        return []
    folder = subprocess.run([compiler, "-print-runtime-dir"], capture_output=True, text=True, check=True).stdout.strip()
    return ["-shared-libsan", f"-Wl,-rpath,{folder}"]


class Build:
    """A build folder of margay."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.programs = self.folder / "tests" / "mpi"
        self.programs.mkdir(parents=True, exist_ok=True)
        cache = self.folder / "CMakeCache.txt"
        chosen = re.search(r"^MARGAY_SANITIZE:\w+=(.*)$", cache.read_text(encoding="utf-8"), re.M) if cache.exists() else None
        self.sanitizer = chosen.group(1) if chosen else ""  # "address,undefined", "thread", or empty

    def tool(self, name):
        return str(self.folder / "bin" / name)

    def has_page(self):
        """Whether npm could build the page of `margay trace view`."""
        page = self.folder / "viewer" / "dist" / "viewer.html"
        return page.exists() and page.stat().st_size > 0

    def launcher(self):
        """The `margay` that starts programs, and options for it. It cannot run under the thread sanitizer, because it
        shares its memory with a child until the exec. So sanitized libraries use the release build's, with an option
        that leaves the choice of the library to the program."""
        if not self.sanitizer:
            return [self.tool("margay"), "run"]
        launcher = pathlib.Path(os.environ.get("MARGAY_LAUNCHER", self.folder.parent / "release" / "bin" / "margay"))
        if not launcher.exists():
            raise CompileError(f"{launcher} is not there: build it (preset release, target margay), or name one in MARGAY_LAUNCHER")
        return [str(launcher), "run", "--mpi", "system"]

    def margay_run(self, ranks, wire="shm", timeout=60, extra=()):
        """`margay run` with the common options of all tests. `wire`: shm is one node; uring and epoll are two nodes
        over TCP."""
        command = [*self.launcher(), "-n", str(ranks), "--timeout", str(timeout), "--check-accounting"]
        if wire != "shm":
            command += ["--nodes", "2", "--wire-tcp", wire]
        return command + list(extra)


class Run:
    """A finished run of a command."""

    def __init__(self, command, status, stdout, stderr, seconds, timed_out):
        self.command = command
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds
        self.timed_out = timed_out

    def problems(self, expected_status):
        problems = []
        if self.timed_out:
            problems.append(f"still running after {self.seconds:.0f} s; killed")
        elif expected_status == "nonzero" and self.status == 0:
            problems.append("exit status 0, expected another")
        elif expected_status != "nonzero" and self.status != expected_status:
            problems.append(f"exit status {self.status}, expected {expected_status}")
        return problems

    def transcript(self, problems):
        lines = ["    " + "\n    ".join(problems), "    $ " + shlex.join(map(str, self.command))]
        for name, text in (("stdout", self.stdout), ("stderr", self.stderr)):
            shown = text.splitlines()
            if len(shown) > 60:
                shown = shown[:30] + [f"... {len(shown) - 60} lines ..."] + shown[-30:]
            lines += [f"    {name}| {line}" for line in shown]
        return "\n".join(lines)


@functools.cache
def user_folder():
    """A folder of this process in place of the user's: published names of tests that run at once must not meet."""
    folder = tempfile.mkdtemp(prefix="margay_user_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def clean_environment(extra=None):
    """Our environment without a launcher's variables."""
    environment = {key: value for key, value in os.environ.items() if not _FOREIGN.match(key)}
    # Debian's MPICH prints on standard output that /sys is missing, as in a bare root; that is no output of the program.
    environment.update(UCX_LOG_LEVEL="fatal", HWLOC_HIDE_ERRORS="2")
    environment["MARGAY_RATES"] = "usual"  # not measurements of a developer's machine
    environment["MARGAY_USER_FOLDER"] = user_folder()
    environment.update(extra or {})
    return environment


def execute(command, timeout, stdin=None, env=None, cwd=None):
    """Runs `command` in a process group of its own; the group is killed when `timeout` seconds have passed."""
    started = time.monotonic()
    try:
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                   start_new_session=True, env=clean_environment(env), cwd=cwd)
    except OSError as error:
        return Run(command, 127, "", f"cannot start {command[0]}: {error.strerror}\n", 0.0, False)
    timed_out = False
    try:
        stdout, stderr = process.communicate(input=stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
    return Run(command, process.returncode, stdout, stderr, time.monotonic() - started, timed_out)


def is_fortran(source):
    return pathlib.Path(source).suffix == ".F90"


def header_keys(source):
    """The `// key: value` lines of a source's first comment; of Fortran `! key: value`."""
    keys, comment = {}, "!" if is_fortran(source) else "//"
    with open(source, encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith(comment):
                break
            # A formatter that fills lines removes keys.
            if re.search(r"\S (ranks|reference|wires|timeout|exit|stderr|libraries|sanitized): ", line[3:]):
                raise CompileError(f"{source}: a key does not begin its line: {line.rstrip()}")
            match = re.match(comment + r" ([a-z]+): (.*)", line.rstrip())
            if match:
                keys[match.group(1)] = match.group(2)
    return keys


def program_name(source):
    """The name of a program of a folder: rma/put_get.c is rma_put_get."""
    source = pathlib.Path(source).resolve()
    return source.stem if source.parent == FOLDER else f"{source.parent.name}_{source.stem}"


def inputs_of(source):
    """The source files of a program."""
    return [source, *beside(source), *source.parent.glob("*.h"), *source.parent.glob("*.inc"), *FOLDER.glob("*.h")]


def beside(source):
    """The sources compiled with a program in Fortran: the common ones, and its part in C."""
    if not is_fortran(source):
        return []
    return [source.parent / "suite.f90", *source.parent.glob(f"{source.stem}_c.c")]


def compile_options(program, source, binding):
    """Fortran: `binding` selects the binding (fortran/binding.inc). Modules are written to a folder of the program."""
    if not is_fortran(source):
        return ["-Wall", "-Wextra"]
    modules = program.with_name(program.name + ".modules")
    modules.mkdir(exist_ok=True)
    return [f"-DBINDING_{binding}", "-I", str(source.parent), "-J", str(modules)]


def compile_program(build, compiler, source, suffix, options=(), name=None, binding=None):
    """Compiles `source` with an MPI compiler wrapper, unless the program is newer than all its sources."""
    source = pathlib.Path(source)
    program = build.programs / ((name or program_name(source)) + (f".{binding}" if binding else "") + suffix)
    wrapper = shutil.which(compiler)
    if wrapper is None:
        raise CompileError(f"{compiler} is not there: build margay first, or run scripts/setup for Debian's")
    inputs = [*inputs_of(source), pathlib.Path(wrapper), *build.folder.glob("include/*.h")]
    if program.exists() and program.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return program
    command = [wrapper, "-O1", "-g", *compile_options(program, source, binding), "-o", str(program),
               *map(str, beside(source)), str(source), "-lm", *options]
    done = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
    if done.returncode != 0:
        raise CompileError(f"{source.name}: does not compile\n    $ {shlex.join(command)}\n{done.stdout}{done.stderr}")
    return program


def difference(expected, seen):
    lines = difflib.unified_diff(expected.splitlines(), seen.splitlines(), "MPICH", "margay", lineterm="", n=1)
    return "\n".join("      " + line for line in list(lines)[:40])
