"""Finds margay and its compilers, and builds a lab's program."""

import os
import re
import shlex
import shutil

from frame import child
from frame.say import CouldNotRun

LABS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
COMPILE_SECONDS = 120


def margay():
    """The path of margay: from MARGAY_COMMAND (which `margay lab` sets), the installation that contains the labs, or PATH."""
    named = os.environ.get("MARGAY_COMMAND")
    installed = os.path.normpath(os.path.join(LABS, "..", "..", "..", "bin", "margay"))
    for path in (named, installed, shutil.which("margay")):
        if path and os.access(path, os.X_OK):
            return os.path.realpath(path)
    raise CouldNotRun("margay was not found: use `margay lab`, or set MARGAY_COMMAND to its path")


def environment():
    """The environment without variables that configure margay, so that a check is the same for every user."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MARGAY_")}


def cpp_flags(prefix, interface):
    """Compiler flags for a program on one of margay's libraries, for an installation or for a build tree with its sources. `interface`: "portals" for a program on
    margay::portals, "host" for a communication library on margay::host, "rmi" for one on margay::rmi; "zipcode" for a program in C on margay::zipcode."""
    if os.path.exists(os.path.join(prefix, "include", "margay", "portals.hpp")):
        include = os.path.join(prefix, "include")
        folders = [include, os.path.join(include, "margay")]
    else:
        source = os.path.dirname(LABS)
        folders = [os.path.join(source, "include"), source]
    file, *links = {"portals": ("libmargay_portals.so", "-lmargay_portals"),
                    "host": ("libmargay_structures.a", "-lmpi", "-lmargay_structures"), "rmi": ("libmargay_rmi.so", "-lmargay_rmi", "-lmpi"),
                    "zipcode": ("libmargay_zipcode.so", "-lmargay_zipcode")}[interface]
    library = library_folder(prefix, file)
    return [f"-I{folder}" for folder in folders] + [f"-L{library}", f"-Wl,-rpath,{library}", *links]


def library_folder(prefix, name):
    for folder, _, names in os.walk(prefix):
        if name in names and os.path.basename(os.path.dirname(folder)) != "CMakeFiles":
            return folder
    raise CouldNotRun(f"there is no {name} below {prefix}: build or install margay's libraries first")


def short(command):
    """The command's name alone if PATH leads to it, else its path: for people to read."""
    found = shutil.which(os.path.basename(command))
    return os.path.basename(command) if found and os.path.realpath(found) == os.path.realpath(command) else command


def from_here(sentence, folder):
    """A finding in which names of traces are paths from the current folder, so that its commands work there."""
    def one(match):
        path = os.path.join(folder, match.group(2))
        return match.group(1) + (shlex.quote(os.path.relpath(path)) if os.path.isdir(path) else match.group(2))
    return re.sub(r"(\bmargay trace [a-z]+ )([\w.-]+)", one, sentence)


def command_line(source, output, include, command=None, interface="portals"):
    """The compiler's command for a lab's program: mpicc for C, with the flags of an interface for C++ and for Zipcode. `command`: margay's
    name for people."""
    bin_folder = os.path.dirname(margay())
    usual = ["-g", "-O1", "-Wall", f"-I{include}"]
    if source.endswith(".cpp"):
        compiler = os.environ.get("CXX", "c++")
        return [compiler, "-std=c++20", *usual, "-o", output, source, *cpp_flags(os.path.dirname(bin_folder), interface)]
    compiler = short(os.path.join(bin_folder, "mpicc")) if command == "margay" else os.path.join(bin_folder, "mpicc")
    library = cpp_flags(os.path.dirname(bin_folder), interface) if interface == "zipcode" else []
    return [compiler, *usual, "-o", output, source, *library, "-lm"]


def build(source, output, include, interface="portals"):
    """Compiles a program and returns the warnings; CouldNotRun with the compiler's errors if that fails."""
    command = command_line(source, output, include, interface=interface)
    try:
        done = child.run(command, environment=environment(), seconds=COMPILE_SECONDS)
    except TimeoutError as error:
        raise CouldNotRun(f"{os.path.basename(source)} does not compile: {error}") from error
    except OSError as error:
        raise CouldNotRun(f"{command[0]}: {error.strerror}: is a compiler installed?") from error
    if done.status or done.flooded:
        raise CouldNotRun(f"{os.path.basename(source)} does not compile:\n{done.err.strip()}")
    return done.err
