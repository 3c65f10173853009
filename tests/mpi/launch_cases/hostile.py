"""`margay` on damaged traces, odd words and odd places: nothing hangs, no escape sequence reaches a terminal, and an error names
its cause."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading

import support
from launch_case import TIMEOUT

RED = "\x1b[31m"  # a terminal prints red after it
READERS = (("story", "0:1:1"), ("print",), ("messages",), ("export", "--format", "chrome"))


def own_program(case):
    program = case.folder / "sends"
    shutil.copy(case.ours("sends.c"), program)
    return program


def own_trace(case):
    return pathlib.Path(case.traced(own_program(case)))


def read_all(case, trace, **keywords):
    for word, *more in READERS:
        case.command("trace", word, trace, *more, status=None, **keywords)
        yield word


def case_debug_server(case):
    """Source lines come from this machine: no command requests those of a stripped program from a server."""
    program = own_program(case)
    subprocess.run(["strip", program], check=True)
    trace = case.traced(program)
    with socket.create_server(("127.0.0.1", 0)) as server:
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
        where = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.getsockname()[1]}", "HOME": str(case.folder),
                 "XDG_CACHE_HOME": str(case.folder)}
        for word in read_all(case, trace, env=where):
            case.expect(not asked, f"{word} asked the server: {asked}")
            asked.clear()
        server.shutdown(socket.SHUT_RDWR)


def case_module_is_fifo(case):
    """A command does not wait for a file named in a trace that is a FIFO or a device."""
    trace = own_trace(case)
    program = case.folder / "sends"
    program.unlink()
    for make, remove in ((lambda: os.mkfifo(program), program.unlink), (lambda: program.symlink_to("/dev/zero"), program.unlink),
                         (program.mkdir, program.rmdir)):
        make()
        list(read_all(case, trace))
        remove()


def case_foreign_words(case):
    """Words of the command line and names of files are repeated without escape sequences."""
    red, program = case.folder / f"v{RED}x", case.folder / "sends"
    own_trace(case).rename(red)
    for words in (("trace", "view", red, "-o", str(red) + ".html"), ("trace", "export", red, "--format", "smpi-ti", "-o", f"{red}ti"),
                  ("trace", "diff", red, red), ("trace", "diff", red, red, "--json", "-"),
                  ("trace", "print", red, f"{RED}q"), ("trace", "print", red, f"--{RED}q"), (f"{RED}q",), ("run", f"{RED}q"),
                  ("run", "--trace-last", RED, program), ("run", "--trace", red, program), ("check", red / "none"),
                  ("check", "--library", red, program), ("lab", "run", RED), ("info", f"--{RED}"),
                  ("info", "--collectives", "--rates", f"./{RED}"), ("top", RED), ("stacks", RED)):
        case.command(*words, status=None)
        case.expect(words[1:2] == ("export",) or case.last.stdout + case.last.stderr != "", "nothing is said")
        case.expect("\x1b" not in case.last.stdout + case.last.stderr, "an escape sequence reaches the terminal")
    case.command("run", "./gr\u00fcn", status=127)
    case.expect_said("./gr\u00fcn")


def case_full_output(case):
    """Output that cannot be written is an error, reported once."""
    trace = own_trace(case)
    for words in (("top", "--once"), ("info",), ("check", case.folder / "sends"), ("--help",), ("trace", "messages", trace),
                  ("trace", "export", trace, "--format", "csv"), ("trace", "view", trace), ("trace", "diff", trace, trace), ("stacks", os.getpid())):
        for redirected in ('"$@" >/dev/full', '"$@" >&-'):
            case.run(["sh", "-c", redirected, "sh", case.build.tool("margay"), *words], status=1)
            case.expect(case.last.stderr.count("standard output could not be written") == 1, "one sentence about it")
    page = (case.folder / f"{trace.name}.html").read_text(encoding="utf-8")
    case.expect(page.endswith("</html>\n"), "what was to be printed went into a file")


def case_empty_choices(case):
    """A message or a call that is not in the trace is an error that names it."""
    trace = own_trace(case)
    for words in (("--message", "5:6:7"), ("--around", "5:6:7"), ("--call", "NOSUCH")):
        case.command("trace", "print", trace, *words, status=1)
        case.expect_said(f"{' '.join(words)}: unknown ")
        case.expect(case.last.stdout == "", "a table all the same")
    case.command("trace", "print", trace, "--call", "MPI_Send")
    case.command("trace", "print", trace, "--message", "0:1:1")
    case.expect_printed("0>1 #1")


def case_export_places(case):
    """An export atomically replaces the target of a link; its name may be as long as any."""
    trace, place = own_trace(case), case.folder
    target, link = place / "target.csv", place / "link.csv"
    target.write_text("earlier", encoding="utf-8")
    link.symlink_to(target)
    inode = target.stat().st_ino
    export = ("trace", "export", trace, "--format", "csv", "-o")
    case.command(*export, link)
    case.expect(link.is_symlink() and target.read_text(encoding="utf-8").startswith("source,"), "the link is gone, or not followed")
    case.expect(target.stat().st_ino != inode, "the file was written in place: half a file could stay")
    longest = place / ("n" * 251 + ".csv")
    case.command(*export, longest)
    case.expect(longest.read_text(encoding="utf-8") == target.read_text(encoding="utf-8"), "another table")
    folder = place / ("f" * 255)
    case.command("trace", "export", trace, "--format", "smpi-ti", "-o", folder)
    case.expect(folder.is_dir(), "no folder")
    case.command(*export, place / ("n" * 256), status=1)
    case.expect_said("n" * 256)
    left = [path.name for path in place.iterdir() if ".part" in path.name]
    case.expect(not left, f"left behind: {left}")


def case_flops(case):
    """Numbers of a replay are within the range of its reader."""
    export = ("trace", "export", own_trace(case), "--format", "smpi-ti", "-o", case.folder / "ti", "--flops")
    for flops in ("1e308", "1.1e18", "0", "-1", "nan", "inf", "x"):
        case.command(*export, flops, status=2)
        case.expect_said("--flops", "1e+18")
    case.command(*export, "1e18")
    numbers = [number for path in (case.folder / "ti").rglob("*") if path.is_file()
               for number in re.findall(r"[0-9]{30,}", path.read_text(encoding="utf-8"))]
    case.expect(not numbers, f"{numbers}")


def case_stacks_of_none(case):
    """`margay stacks` of itself and of a thread of the kernel is an error that names the cause."""
    case.run(["sh", "-c", f"exec {case.build.tool('margay')} stacks $$"], status=2)
    case.expect_said("itself")
    kernel = pathlib.Path("/proc/2/comm")
    if kernel.exists() and kernel.read_text(encoding="utf-8") == "kthreadd\n":
        case.command("stacks", "2", status=2)
        case.expect_said("process 2 ", "kernel")


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
