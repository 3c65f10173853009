"""What `margay` does with traces, words and places that are not as they should be: nothing hangs, nothing foreign acts on a
terminal, and what cannot be done is said."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading

import support
from launch_case import TIMEOUT

RED = "\x1b[31m"  # as a terminal takes it: what follows is red
READERS = (("story", "0:1:1"), ("print",), ("messages",), ("export", "--format", "chrome"))


class Place:
    """A folder with a program of its own, and its trace."""

    def __init__(self, case, *options):
        self.case, self.folder = case, tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.program = self.path / "sends"
        shutil.copy(case.ours("sends.c"), self.program)
        self.trace = self.path / "trace"
        self.options = options

    def __enter__(self):
        self.case.margay("--trace", str(self.trace), *self.options, str(self.program))
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


def margay(case, *words, status=0, **keywords):
    return case.run([case.build.tool("margay"), *words], status=status, **keywords)


def told(case, words, where="stderr"):
    case.expect(words in getattr(case.last, where), f"expected {words!r} on {where}")


def no_escape(case):
    case.expect("\x1b" not in case.last.stdout + case.last.stderr, "an escape sequence reaches the terminal")


def case_debug_server(case):
    """Lines of source are this machine's: no server is asked for those that a stripped program lacks."""
    with Place(case) as place, socket.create_server(("127.0.0.1", 0)) as server:
        subprocess.run(["strip", str(place.program)], check=True)
        shutil.rmtree(place.trace)
        case.margay("--trace", str(place.trace), str(place.program))
        asked = []

        def serve():
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                asked.append(peer.recv(200))
                peer.close()

        threading.Thread(target=serve, daemon=True).start()
        where = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.getsockname()[1]}", "HOME": str(place.path),
                 "XDG_CACHE_HOME": str(place.path)}
        for words in READERS:
            margay(case, "trace", words[0], str(place.trace), *words[1:], status=None, env=where)
            case.expect(not asked, f"{words[0]} asked the server: {asked}")
            asked.clear()
        server.shutdown(socket.SHUT_RDWR)


def case_module_is_fifo(case):
    """A trace names files, and where those are a FIFO or a device nobody waits for them."""
    with Place(case) as place:
        place.program.unlink()
        for make in (lambda: os.mkfifo(place.program), lambda: place.program.symlink_to("/dev/zero"), place.program.mkdir):
            make()
            for words in READERS:
                margay(case, "trace", words[0], str(place.trace), *words[1:], status=None)
            if place.program.is_dir():
                place.program.rmdir()
            else:
                place.program.unlink()


def case_foreign_words(case):
    """Words of the command line and names of files are repeated without what acts on a terminal."""
    with Place(case) as place:
        red = place.path / f"v{RED}x"
        place.trace.rename(red)
        for words in (("trace", "view", red, "-o", str(red) + ".html"), ("trace", "export", red, "--format", "smpi-ti", "-o", f"{red}ti"),
                      ("trace", "print", red, f"{RED}q"), ("trace", "print", red, f"--{RED}q"), (f"{RED}q",), ("run", f"{RED}q"),
                      ("run", "--trace-last", RED, place.program), ("run", "--trace", red, place.program), ("check", red / "none"),
                      ("check", "--library", red, place.program), ("lab", "run", RED), ("info", f"--{RED}"),
                      ("info", "--collectives", "--rates", f"./{RED}"), ("top", RED),
                      ("stacks", RED)):
            margay(case, *words, status=None)
            case.expect(words[1:2] == ("export",) or case.last.stdout + case.last.stderr != "", "nothing is said")
            no_escape(case)
        margay(case, "run", "./gr\u00fcn", status=127)
        told(case, "./gr\u00fcn")


def to_full(case, *words, closed=False):
    """The command with a standard output that is full or closed."""
    command = [case.build.tool("margay"), *map(str, words)]
    return case.run(["sh", "-c", '"$@" >&-' if closed else '"$@" >/dev/full', "sh", *command], status=1)


def case_full_output(case):
    """What cannot be printed is said, once."""
    with Place(case) as place:
        for words in (("top", "--once"), ("info",), ("check", place.program), ("--help",), ("trace", "messages", place.trace),
                      ("trace", "export", place.trace, "--format", "csv"), ("trace", "view", place.trace),
                      ("stacks", os.getpid())):
            for closed in (False, True):
                to_full(case, *words, closed=closed)
                case.expect(case.last.stderr.count("standard output could not be written") == 1, "no one sentence about it")
        page = (place.path / "trace.html").read_text(encoding="utf-8")
        case.expect("open it in a browser" not in page, "what was to be printed went into a file")


def case_empty_choices(case):
    """A message or a call that the trace has not is said, as an event that there is not."""
    with Place(case) as place:
        for words, sentence in ((("--message", "5:6:7"), "--message 5:6:7: no event of this message is in the trace"),
                                (("--around", "5:6:7"), "--around 5:6:7: no event of this message is in the trace"),
                                (("--call", "NOSUCH"), "--call NOSUCH: no function has this name")):
            margay(case, "trace", "print", place.trace, *words, status=1)
            told(case, sentence)
            case.expect(case.last.stdout == "", "a table all the same")
        margay(case, "trace", "print", place.trace, "--call", "MPI_Send")
        margay(case, "trace", "print", place.trace, "--message", "0:1:1")
        told(case, "0>1 #1", "stdout")


def case_export_places(case):
    """An export takes the place of the file that a link leads to, whole; its name may be as long as any."""
    with Place(case) as place:
        target, link = place.path / "target.csv", place.path / "link.csv"
        target.write_text("earlier", encoding="utf-8")
        link.symlink_to(target)
        inode = target.stat().st_ino
        export = ("trace", "export", place.trace, "--format", "csv", "-o")
        margay(case, *export, link)
        case.expect(link.is_symlink() and target.read_text(encoding="utf-8").startswith("source,"), "the link is gone, or not followed")
        case.expect(target.stat().st_ino != inode, "the file was written in place: half a file could stay")
        longest = place.path / ("n" * 251 + ".csv")
        margay(case, *export, longest)
        case.expect(longest.read_text(encoding="utf-8") == target.read_text(encoding="utf-8"), "another table")
        folder = place.path / ("f" * 255)
        margay(case, "trace", "export", place.trace, "--format", "smpi-ti", "-o", folder)
        case.expect(folder.is_dir(), "no folder")
        margay(case, *export, place.path / ("n" * 256), status=1)
        told(case, "File name too long")
        left = [path.name for path in place.path.iterdir() if ".part" in path.name]
        case.expect(not left, f"left behind: {left}")


def case_flops(case):
    """Numbers of a replay stay of a size that its reader takes."""
    with Place(case) as place:
        for flops in ("1e308", "1.1e18", "0", "-1", "nan", "inf", "x"):
            margay(case, "trace", "export", place.trace, "--format", "smpi-ti", "--flops", flops, "-o", place.path / "ti", status=2)
            told(case, "above 0 and of at most 1e+18")
        margay(case, "trace", "export", place.trace, "--format", "smpi-ti", "--flops", "1e18", "-o", place.path / "ti")
        numbers = [number for path in (place.path / "ti").rglob("*") if path.is_file()
                   for number in re.findall(r"[0-9]{30,}", path.read_text(encoding="utf-8"))]
        case.expect(not numbers, f"{numbers}")


def case_stacks_of_none(case):
    """`margay stacks` of itself and of a thread of the kernel."""
    case.run(["sh", "-c", f"exec {case.build.tool('margay')} stacks $$"], status=2)
    told(case, "is this command itself: name another one")
    if pathlib.Path("/proc/2/comm").exists() and pathlib.Path("/proc/2/comm").read_text(encoding="utf-8") == "kthreadd\n":
        margay(case, "stacks", "2", status=2)
        told(case, "process 2 is a thread of the kernel, which has no program")


def case_stacks_together(case):
    """Several `margay stacks` of one process wait for one another."""
    with subprocess.Popen(["sleep", str(2 * TIMEOUT)]) as held:
        several = [subprocess.Popen([case.build.tool("margay"), "stacks", str(held.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True, env=support.clean_environment()) for _ in range(6)]
        for one in several:
            out, err = one.communicate(timeout=TIMEOUT)
            case.last = support.Run(one.args, one.returncode, out, err, 0, False)
            case.expect(one.returncode == 0, "one was refused")
        held.kill()
