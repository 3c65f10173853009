"""Finds margay and its compilers, and builds a lab's program."""

import os
import shutil
import subprocess

from frame.say import CouldNotRun

LABS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
COMPILE_SECONDS = 120


def margay():
    """The command: what MARGAY_COMMAND names (`margay lab` sets it), the installation's that the labs lie in, or PATH's."""
    named = os.environ.get("MARGAY_COMMAND")
    installed = os.path.normpath(os.path.join(LABS, "..", "..", "..", "bin", "margay"))
    for path in (named, installed, shutil.which("margay")):
        if path and os.access(path, os.X_OK):
            return os.path.realpath(path)
    raise CouldNotRun("there is no margay to run: use `margay lab`, or name the command in MARGAY_COMMAND")


def environment():
    """The environment without what would change how margay runs: a check is the same on each desk."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MARGAY_")}


def portals_flags(prefix):
    """Flags for a program on portals, of an installation or of the build tree with its sources."""
    if os.path.exists(os.path.join(prefix, "include", "margay", "portals.hpp")):
        include = os.path.join(prefix, "include")
        folders = [include, os.path.join(include, "margay")]
    else:
        source = os.path.dirname(LABS)
        folders = [os.path.join(source, "include"), source]
    library = library_folder(prefix, "libmargay_portals.so")
    return [f"-I{folder}" for folder in folders] + [f"-L{library}", f"-Wl,-rpath,{library}", "-lmargay_portals"]


def library_folder(prefix, name):
    for folder, _, names in os.walk(prefix):
        if name in names and os.path.basename(os.path.dirname(folder)) != "CMakeFiles":
            return folder
    raise CouldNotRun(f"there is no {name} below {prefix}: build or install margay's libraries first")


def short(command):
    """The command as PATH finds it, where PATH finds this one: for people to read."""
    found = shutil.which(os.path.basename(command))
    return os.path.basename(command) if found and os.path.realpath(found) == os.path.realpath(command) else command


def command_line(source, output, include, command=None):
    """The compiler's command for a lab's program: mpicc for C, the portals' flags for C++. `command`: as margay is called."""
    bin_folder = os.path.dirname(margay())
    usual = ["-g", "-O1", "-Wall", f"-I{include}"]
    if source.endswith(".cpp"):
        compiler = os.environ.get("CXX", "c++")
        return [compiler, "-std=c++20", *usual, "-o", output, source, *portals_flags(os.path.dirname(bin_folder))]
    compiler = short(os.path.join(bin_folder, "mpicc")) if command == "margay" else os.path.join(bin_folder, "mpicc")
    return [compiler, *usual, "-o", output, source]


def build(source, output, include):
    """Compiles; CouldNotRun with the compiler's words if that fails. Returns its warnings."""
    command = command_line(source, output, include)
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=COMPILE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CouldNotRun(f"{command[0]}: {error}") from error
    if done.returncode:
        raise CouldNotRun(f"{os.path.basename(source)} does not compile:\n{done.stderr.strip()}")
    return done.stderr
