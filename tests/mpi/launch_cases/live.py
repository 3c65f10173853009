"""Cases of the output of `margay top` and `margay stacks` for jobs that run, that end meanwhile, and that do not
exist."""
import fcntl
import os
import pathlib
import pty
import random
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time

import support
from launch_case import SOURCES, marked_lines

GUARD_S = 60  # against hanging; no case depends on the duration of an operation
SUM = "sum 2999997\n"  # of placed.c
# The fields of a board's header by which top accepts a launcher (sim/boot/board.hpp).
LAUNCHER_AT, TICKS_AT = 488, 496
DEADLOCK = re.compile("^deadlock: .* 0 -> 1 -> 0$", re.M)


class Job:
    """A job under `margay run` that is ended at the end of the block."""

    def __init__(self, case, *words, ranks=2, options=()):
        command = [case.build.tool("margay"), "run", "-n", str(ranks), "--timeout", str(GUARD_S), *map(str, options), *map(str, words)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=support.clean_environment())
        self.name = str(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate()

    def read_until(self, stream, words):
        text = ""
        while words not in text:
            line = stream.readline()
            if not line:
                raise AssertionError(f"the job ended without \"{words}\": {text}{self.process.stderr.read()}")
            text += line
        return text

    def finish(self, case, end, words):
        """Ends the job by its file, and expects a normal end, with these words of its own output and none of
        margay's."""
        end.touch()
        out, err = self.process.communicate(timeout=GUARD_S)
        expect(case, self.process.returncode == 0 and words in out and err == "", f"the job's end: {self.process.returncode} {out} {err}")


def expect(case, holds, words):
    """Like Case.expect, without a finished run."""
    if not holds:
        case.problems.append(words)


def placed(case, *, ranks=4, options=(), exchanges=()):
    """A job of placed.c in which rank 1 computes, and the file that ends it."""
    end = pathlib.Path(tempfile.mkdtemp(dir=case.folder)) / "end"
    job = Job(case, case.ours("placed.c", ["-lpthread"]), end, *exchanges, ranks=ranks, options=options)
    job.read_until(job.process.stdout, "begun")
    return job, end


def rows(table):
    """By rank, its line of the table."""
    found = {}
    for line in table.splitlines():
        columns = line.split(None, 17)
        if len(columns) >= 17 and columns[0].isdigit():
            # "in MPI" and "not begun" are two words
            found[int(columns[0])] = line
    return found


def eventually(case, look, holds, words):
    """Repeats `look()` until `holds` accepts its result."""
    deadline = time.monotonic() + GUARD_S
    while not holds(seen := look()):
        if time.monotonic() > deadline:
            case.problems.append(f"{words}; the last look:\n{seen}")
            return seen
        time.sleep(0.05)
    return seen


def case_top_deadlock(case):
    """A proven deadlock: its cycle; the call of each rank, the ranks for which it waits, its queued messages, its sent
    messages."""
    with Job(case, case.ours("../../faults/deadlock.c", ["-lpthread"])) as job:
        job.read_until(job.process.stderr, "margay: deadlock:")
        table = eventually(case, lambda: case.command("top", "--once", "--interval", "0.05", job.name), DEADLOCK.search,
                           "the deadlock is reported")
        case.expect(re.search(rf"^job [0-9a-f]{{8}}: 2 ranks on 1 node, launcher {job.name}, for ", table, re.M), "the headline")
        seen = rows(table)
        case.expect(re.search(r" waiting +MPI_Recv +rank 1, tag 5, MPI_COMM_WORLD +[0-9.ms]+ .* 0 +0 +1 +0 +0 +1 +4 +0 +0$",
                              seen[0]), "rank 0: one receive, one message of 4 bytes sent")
        case.expect(re.search(r" waiting +MPI_Recv +rank 0, tag 17, MPI_COMM_WORLD +[0-9.ms]+ .* 0 +0 +1 +1 +[1-9]\d* +0 +0 +0 +0$",
                              seen[1]), "rank 1: one receive, one unexpected message, nothing sent")
        case.expect(table == table.encode("ascii", "replace").decode(), "plain text")
        screen = Pseudoterminal(case, job.name)
        screen.read_table()
        expect(case, "0 -> 1 -> 0" in screen.seen and "rank 1, tag 5, MPI_COMM_WORLD" in screen.seen, f"on 100 columns: {screen.seen!r}")
        screen.press("q")
        screen.end()


def case_live_threads(case):
    """Ranks that are threads have the pid of their process; top and stacks show the state of each thread."""
    program = case.ours("threads_as_ranks.c", ["-lpthread"])
    with Job(case, program, "sleep", 1, GUARD_S, options=("--threads", "2")) as job:
        job.read_until(job.process.stdout, "rank 1 sleeps")
        look = lambda: case.command("top", "--once", "--interval", "0.05", job.name)
        table = eventually(case, look, lambda seen: len(re.findall(r" waiting +MPI_Barrier ", seen)) == 3, "three ranks wait")
        seen = rows(table)
        pids = [seen[rank].split()[2] for rank in range(4)]
        case.expect(pids[0] == pids[1] != pids[2] == pids[3], f"two processes: {pids}")
        case.expect(" sleeping " in seen[1], "rank 1 computes nothing")
        stacks = case.command("stacks", job.name)
        case.expect(re.search(r"^ranks 0,2,3: end_otherwise \(threads_as_ranks.c:\d+\) > MPI_Barrier$", stacks, re.M), "three equal stacks")
        case.expect(re.search(r"^rank 1: end_otherwise \(threads_as_ranks.c:\d+\) > sleep", stacks, re.M), "rank 1's thread")
        case.expect(len(stacks.splitlines()) == 2, "nothing else")
        os.kill(job.process.pid, signal.SIGUSR1)
        job.read_until(job.process.stderr, f"margay: rank 3 (pid {pids[3]}) in MPI_Barrier")


def case_top_computes(case):
    """A rank that computes, on one node and on two: its state, its queued messages, and their wire."""
    for options, wire in (((), "shm"), (("--nodes", "2", "-ppn", "1"), "tcp")):
        job, end = placed(case, ranks=2, options=options)
        with job:
            table = case.command("top", "--once", "--interval", "0.05", "--sort", "unexpected", job.name)
            seen = rows(table)
            sent = "101 +1000 +0 +0" if wire == "shm" else "0 +0 +101 +1000"
            case.expect(re.search(r" 3 +60 +\d+(\.\dk|k)? +0 +0 +0 +0$", seen[1]),
                        "3 receives are posted at rank 1, and 60 messages wait there")
            case.expect(re.search(r" computing +- +", seen[1]), "rank 1 computes")
            case.expect(re.search(rf" (asleep|waiting|in MPI) +MPI_Recv .* 1 +0 +0 +{sent}$", seen[0]), f"rank 0 sent over {wire}")
            lines = table.splitlines()
            case.expect(lines.index(seen[1]) < lines.index(seen[0]), "sorted by unexpected messages")
            job.finish(case, end, SUM)


def case_top_ended(case):
    """top reports a job that ends between two polls as ended, with its sent messages, and does not wait for its interval."""
    job, end = placed(case, ranks=2)
    with job:
        top = subprocess.Popen([case.build.tool("margay"), "top", "--once", "--interval", "3000", job.name], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        holds = lambda: any("margay-board" in os.readlink(f"/proc/{top.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{top.pid}/fd"))
        eventually(case, holds, bool, "top is to hold the board")
        job.finish(case, end, SUM)
        out, err = top.communicate(timeout=GUARD_S)
        seen = rows(out)
        good = top.returncode == 0 and "has ended" in out and all(" ended " in seen[rank] for rank in (0, 1)) and " 101 " in seen[0]
        if not good:
            case.problems.append(f"ended: {top.returncode}\n{out}{err}")


def board_of(job):
    """The bytes of a job's board."""
    folder = pathlib.Path(f"/proc/{job.process.pid}/fd")
    for descriptor in folder.iterdir():
        if os.readlink(descriptor).startswith("/memfd:margay-board"):
            return descriptor.read_bytes()
    raise AssertionError("the launcher holds no board")


def start_ticks():
    return int(pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])


def case_top_others(case):
    """No job of this name; files with a board's name that are truncated, corrupt, of another version, or of another
    user's job."""
    own = str(os.getpid())
    case.command("top", "--once", "ffffffffffffffff", status=1)
    case.expect(" ffffffffffffffff; " in case.last.stderr and not case.last.stdout, "the job that is not there is named")
    for interval in ("0", "nan", "1e9", "2s", "\x1b[2J"):
        case.command("top", "--once", "--interval", interval, status=2)
        case.expect(" 0.05 to 3600" in case.last.stderr and "\x1b" not in case.last.stderr, f"interval {interval!r}")
    columns = "rank, since, cpu, calls, messages, bytes, posted, unexpected, heap"
    for word in ("colour", "3", "\x1b[2J"):
        case.command("top", "--once", f"--sort={word}", status=2)
        case.expect(f"; use {columns} " in case.last.stderr and "\x1b" not in case.last.stderr, f"sort {word!r}")
    printed = case.command("top", "--help")
    case.expect(columns in " ".join(printed.split()) and all(32 <= ord(c) < 127 or c == "\n" for c in printed), "help is text")
    for command, status in ((("top", "--once"), 1), (("stacks",), 2)):
        case.command(*command, "\x1b[31mred\n", status=status)
        case.expect("?[31mred?" in case.last.stderr and "\x1b" not in case.last.stderr, f"{command}: a name is printable")
    job, end = placed(case, ranks=2)
    with job:
        good = board_of(job)
    mine = bytearray(good)
    struct.pack_into("<i", mine, LAUNCHER_AT, os.getpid())
    struct.pack_into("<Q", mine, TICKS_AT, start_ticks())
    draw = random.Random(18)
    wild = bytearray(mine)
    wild[4096:] = draw.randbytes(len(wild) - 4096)
    full = bytearray(mine)
    full[4096:] = b"\xff" * (len(full) - 4096)
    version = bytearray(mine)
    struct.pack_into("<I", version, 8, 7)
    size = bytearray(mine)
    struct.pack_into("<I", size, 12, 60000)
    nodes = bytearray(mine)
    struct.pack_into("<I", nodes, 656, 77)
    later = bytearray(mine)
    struct.pack_into("<Q", later, TICKS_AT, start_ticks() + 1)
    for what, content, refused, shown in (("empty", b"", "is shorter than a board's header", False),
                                          ("noise", draw.randbytes(9000), "is not a job board", False),
                                          ("half written", bytes(len(mine)), "is not complete", False),
                                          ("cut", mine[:-4096], "do not fit", False),
                                          ("version", version, "is of version 7", False), ("size", size, "do not fit 60000 ranks", False),
                                          ("nodes", nodes, "names nodes that", False), ("somebody's", good, None, False),
                                          ("an earlier process's", later, None, False),
                                          ("sound", mine, None, True), ("wild ranks", wild, None, True), ("full ranks", full, None, True)):
        descriptor = os.memfd_create("margay-board")
        os.write(descriptor, content)
        try:
            printed = case.command("top", "--once", "--interval", "0.05", own, status=0 if shown else 1)
            case.expect((f"launcher {own}" in printed) == shown, f"{what}: shown or not")
            case.expect(all(32 <= ord(c) < 127 or c == "\n" for c in printed), f"{what}: printable")
            case.expect(refused is None or re.search(rf"process {own} holds .*{re.escape(refused)}", case.last.stderr),
                        f"{what}: {refused}")
            if not shown:
                case.command("stacks", own, status=0)  # an ordinary process
            else:
                case.command("stacks", own, status=1)
        finally:
            os.close(descriptor)


class Pseudoterminal:
    """`margay top` on a terminal of its own."""

    def __init__(self, case, *words, rows=24, columns=100):
        self.main, self.terminal = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.terminal)
        self.seen = ""
        self.process = subprocess.Popen([case.build.tool("margay"), "top", *words], stdin=self.terminal, stdout=self.terminal,
                                        stderr=subprocess.PIPE,
                                        start_new_session=True, env=support.clean_environment(),
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, rows, columns):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, holds, words):
        deadline = time.monotonic() + GUARD_S
        while not holds(self.seen):
            if time.monotonic() > deadline:
                raise AssertionError(f"{words} in {self.seen[-3000:]!r}")
            if select.select([self.main], [], [], 0.1)[0]:
                self.seen += os.read(self.main, 65536).decode("ascii", "replace")

    def read_table(self, *words):
        self.read_until(lambda seen: all(word in seen for word in ("[r]ank*", *words)), "the table is to be there")

    def press(self, keys):
        self.seen = ""
        os.write(self.main, keys.encode())

    def end(self):
        """Waits for the end. Returns the exit status, and how the terminal differs from its state before ("" if not)."""
        deadline = time.monotonic() + GUARD_S
        while self.process.poll() is None and time.monotonic() < deadline:
            if select.select([self.main], [], [], 0.05)[0]:
                self.seen += os.read(self.main, 65536).decode("ascii", "replace")
        while select.select([self.main], [], [], 0)[0]:
            self.seen += os.read(self.main, 65536).decode("ascii", "replace")
        if self.process.poll() is None:
            self.process.kill()
            return None, "it did not end"
        problem = ""
        if termios.tcgetattr(self.terminal) != self.before:
            problem += "the terminal's settings are others; "
        if not self.seen.endswith("\x1b[?25h\x1b[?1049l"):
            problem += f"the screen is not left: {self.seen[-200:]!r}"
        os.close(self.main)
        os.close(self.terminal)
        return self.process.returncode, problem


def screens(text):
    """The drawn frames, as lines without escapes."""
    frames = []
    for frame in text.split("\x1b[1;1H")[1:]:
        frames.append([re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"\x1b\[\d+;1H", frame)])
    return frames


def case_top_screen(case):
    """On a terminal: keys sort and scroll, the size may change, and q, Ctrl-C and SIGTERM leave the terminal in its
    former state."""
    job, end = placed(case)
    with job:
        screen = Pseudoterminal(case, job.name)
        screen.read_table(f"launcher {job.name}")
        expect(case, screen.seen.startswith("\x1b[?1049h\x1b[?25l"), "the alternate screen")
        expect(case, not termios.tcgetattr(screen.terminal)[3] & termios.ICANON, "keys come as they are pressed")
        screen.press("u")
        screen.read_until(lambda seen: "[u]nexp*" in seen and "\x1b[1;1H" in seen.split("[u]nexp*")[1], "sorted by another column")
        last = screens(screen.seen)[-2]
        expect(case, re.match(r" +1 ", last[2]), f"rank 1 first: {last}")
        expect(case, len(last) == 24 and all(len(line) <= 100 for line in last), f"24 lines of 100: {last}")
        screen.seen = ""
        screen.resize(6, 40)
        screen.read_until(lambda seen: len(frames := screens(seen)) > 1 and len(frames[-2]) == 6, "the new size")
        last = screens(screen.seen)[-2]
        expect(case, all(len(line) <= 40 for line in last) and last[0].startswith("job "), f"6 lines of 40: {last}")
        screen.press("\x1b[B")
        screen.read_until(lambda seen: any(frame[0].startswith(" rank") for frame in screens(seen)), "scrolled down by a line")
        screen.press("k")
        screen.read_until(lambda seen: any(frame[0].startswith("job ") for frame in screens(seen)), "and up")
        screen.press("q")
        status, problem = screen.end()
        expect(case, status == 0 and not problem, f"q: {status}, {problem}")
        for how, expected in (("\x03", 128 + signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 128 + signal.SIGHUP)):
            screen = Pseudoterminal(case, job.name)
            screen.read_table()
            screen.press(how) if isinstance(how, str) else screen.process.send_signal(how)
            status, problem = screen.end()
            expect(case, status == expected and not problem, f"{how!r}: {status}, {problem}")
        screen = Pseudoterminal(case, job.name)
        screen.read_table()
        screen.press("\x1a")
        screen.read_until(lambda seen: "\x1b[?1049l" in seen, "Ctrl-Z leaves the screen")
        eventually(case, lambda: state_of(screen.process), lambda state: state == "T", "it is stopped")
        expect(case, termios.tcgetattr(screen.terminal) == screen.before, "Ctrl-Z: the terminal's settings")
        screen.seen = ""
        screen.process.send_signal(signal.SIGCONT)
        screen.read_table("\x1b[?1049h")
        screen.process.send_signal(signal.SIGSTOP)
        eventually(case, lambda: state_of(screen.process), lambda state: state == "T", "SIGSTOP stops it")
        termios.tcsetattr(screen.terminal, termios.TCSANOW, screen.before)  # like a shell
        screen.seen = ""
        screen.process.send_signal(signal.SIGCONT)
        screen.read_table("\x1b[?1049h")
        screen.press("u")
        screen.read_until(lambda seen: "[u]nexp*" in seen, "and takes keys")
        job.finish(case, end, SUM)
        screen.seen = ""
        screen.read_until(lambda seen: "has ended" in seen, "the end of the job is shown")
        screen.press("q")
        status, problem = screen.end()
        expect(case, status == 0 and not problem, f"q of the end: {status}, {problem}")


def case_top_no_reader(case):
    """A terminal without a reader, or a closed one, does not keep top alive: SIGTERM ends the one, a failed write the
    other."""
    job, _ = placed(case)
    with job:
        screen = Pseudoterminal(case, job.name, "--interval", "0.05")
        unread = lambda: struct.unpack("i", fcntl.ioctl(screen.main, termios.FIONREAD, b"    "))[0]
        before = []

        def full():
            before.append(unread())
            time.sleep(0.5)
            return unread()

        eventually(case, full, lambda now: now == before[-1] > 0, "the terminal is to be full")
        screen.process.terminate()
        ended = eventually(case, screen.process.poll, lambda status: status is not None, "SIGTERM ends it")
        expect(case, ended == 128 + signal.SIGTERM, f"SIGTERM with a full terminal: {ended}")
        expect(case, not (problem := screen.end()[1]), f"SIGTERM with a full terminal: {problem}")
        screen = Pseudoterminal(case, job.name, "--interval", "0.05")
        screen.read_table()
        screen.press("\x13")
        quiet = lambda: not select.select([screen.main], [], [], 0.5)[0] or not os.read(screen.main, 65536)
        eventually(case, quiet, bool, "Ctrl-S holds the screen")
        screen.process.terminate()
        status, problem = screen.end()
        expect(case, status == 128 + signal.SIGTERM and not problem, f"SIGTERM while Ctrl-S holds the screen: {status}, {problem}")
        main, terminal = pty.openpty()
        top = subprocess.Popen([case.build.tool("margay"), "top", "--interval", "0.05", job.name], stdin=subprocess.DEVNULL,
                               stdout=terminal,
                               stderr=subprocess.DEVNULL, start_new_session=True, env=support.clean_environment())
        os.close(terminal)
        os.read(main, 1)
        os.close(main)
        ended = eventually(case, top.poll, lambda status: status is not None, "top ends with its terminal")
        expect(case, ended == 1, f"the terminal is gone: {ended}")
        if ended is None:
            top.kill()
        top = Pseudoterminal(case, "ffffffffffffffff").process
        ended = eventually(case, top.poll, lambda status: status is not None, "top without its job ends")
        top.kill()
        printed = top.communicate()[1].decode()
        expect(case, ended == 1 and " ffffffffffffffff; " in printed and job.name in printed, f"no such job: {printed}")


def case_stacks_stuck(case):
    """stacks reports a thread that cannot be stopped and shows the other rank; the job continues and ends normally."""
    end, line = case.folder / "end", marked_lines("stuck.c")
    job = Job(case, case.ours("stuck.c", ["-lpthread"]), end)
    job.read_until(job.process.stdout, "begun")
    with job:
        look = lambda: case.command("stacks", job.name, status=1)
        eventually(case, look, lambda seen: "> i (stuck.c" in seen, "rank 1 in i()")
        case.expect(re.search(r"^margay stacks: rank 0 \(process \d+\): .* \d+ .*\(state D\)", case.last.stderr, re.M), "why")
        case.expect(case.last.stdout.startswith(f"rank 1: main (stuck.c:{line['call']}) > i (stuck.c:{line['wait']})"),
                    "rank 1 alone")
        job.finish(case, end, "seen\n")


class Signalled:
    """A process of signalled.c: `margay stacks` holds its busy threads until it gives up on the main one."""

    def __init__(self, case):
        self.stacks = [case.build.tool("margay"), "stacks"]
        self.end = case.folder / "end"
        self.process = subprocess.Popen([case.ours("signalled.c", ["-lpthread"]), self.end], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE,
                                        text=True, env=support.clean_environment())
        self.begun = self.process.stdout.readline()
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task")
        self.threads = [task / "status" for task in tasks.iterdir() if task.name != str(self.process.pid)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end.touch()  # the child of vfork() waits for it too, and has the same output
        self.process.kill()
        self.process.communicate()

    def held(self):
        """The number of its busy threads that are stopped."""
        return sum("State:\tt" in status and "\nTracerPid:\t0\n" not in status
                   for status in (thread.read_text() for thread in self.threads))

    def look(self):
        """A `margay stacks` that holds the threads, in a process group that a signal may stop."""
        deadline = time.monotonic() + GUARD_S
        while time.monotonic() < deadline:
            looker = subprocess.Popen([*self.stacks, str(self.process.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, env=support.clean_environment(), preexec_fn=lambda: os.setpgid(0, 0))
            while looker.poll() is None:
                if self.held() == len(self.threads):
                    return looker
        raise AssertionError("margay stacks does not hold the threads")

    def finish(self):
        self.end.touch()
        return self.process.communicate(timeout=GUARD_S)[0]


def case_stacks_killed(case):
    """A process that stacks stops gets each of its signals, also if stacks is killed meanwhile."""
    with Signalled(case) as held:
        for _ in range(150):  # a thread is rarely stopped between its signal and the request to stop
            looker = held.look()
            time.sleep(0.005)  # by now it has read the cause of their stops
            looker.kill()
            looker.wait()
        printed = held.finish()
        expect(case, printed == "signals lost: 0\n", f"no signal is lost: {printed}")


def state_of(process):
    return pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def case_stacks_suspended(case):
    """A stop of stacks (Ctrl-Z, a terminal on which it may not write) does not stop the process that it examines."""
    with Signalled(case) as held:
        for number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
            state = ""
            while state != "T":  # the signal may arrive after its end
                looker = held.look()
                os.kill(looker.pid, number)
                state = eventually(case, lambda process=looker: state_of(process), lambda state: state in "TZ", "stacks stops")
                expect(case, held.held() == 0, f"stopped by signal {number}, stacks holds the process")
                looker.send_signal(signal.SIGCONT)
                ended = eventually(case, looker.poll, lambda status: status is not None, "stacks goes on")
                expect(case, ended == 1, f"its exit status: {ended}")
        printed = held.finish()
        expect(case, printed == "signals lost: 0\n", f"no signal is lost: {printed}")


def case_stacks(case):
    """Each rank's function and line, equal ones as one, threads, one rank alone; and the job ends with the right
    result."""
    line = marked_lines("placed.c")
    job, end = placed(case)
    with job:
        printed = eventually(case, lambda: case.command("stacks", job.name), lambda seen: "compute (placed.c" in seen
                          and "> MPI_Recv" in seen and "ranks 2,3:" in seen,
                          "all ranks at their places")
        # In the loop, or asking for the file.
        computes = rf"compute \(placed.c:({line['compute']}|{line['compute'] + 1})\)"
        case.expect(re.search(rf"^rank 1: main \(placed.c:{line['call']}\) > {computes}", printed, re.M), "rank 1")
        case.expect(f"rank 0: main (placed.c:{line['wait']}) > MPI_Recv\n" in printed, "rank 0 waits in MPI_Recv")
        case.expect(f"ranks 2,3: main (placed.c:{line['barrier']}) > MPI_Barrier\n" in printed, "ranks 2 and 3 as one")
        case.expect(re.search(rf"^.* thread .* 1: stay \(placed.c:{line['stay']}\) > ", printed, re.M), "rank 1's thread")
        case.expect("margay::" not in printed, "the library's frames are folded")
        printed = case.command("stacks", job.name, "--rank", "0")
        case.expect(printed == f"rank 0: main (placed.c:{line['wait']}) > MPI_Recv\n", "one rank")
        printed = case.command("stacks", job.name, "--rank", "0", "--all")
        case.expect(re.search(r"^rank 0:\n(    .*\n)*    main \(placed.c:\d+\)\n(    .*\n)*    margay::", printed, re.M), "all frames")
        pid = re.search(r"^ +1 +0 +(\d+)", case.command("top", "--once", "--interval", "0.05", job.name), re.M).group(1)
        printed = eventually(case, lambda: case.command("stacks", pid), lambda seen: "compute" in seen, "a process in compute()")
        case.expect(printed.startswith(f"process {pid}: main (placed.c:{line['call']})"), "a process")
        case.command("stacks", job.name, "--rank", "4", status=2)
        case.expect("has 4 ranks" in case.last.stderr, "no such rank")
        case.command("stacks", "ffffffffffffffff", status=2)
        case.expect(" ffffffffffffffff" in case.last.stderr, "no such job")
        job.finish(case, end, SUM)


def case_stacks_often(case):
    """A job that is examined repeatedly while its ranks exchange messages ends with the same result, over both
    wires."""
    for options in ((), ("--nodes", "2")):
        job, end = placed(case, options=("--check-accounting", *options), exchanges=["20000"])
        with job:
            for _ in range(20):
                printed = case.command("stacks", job.name)
                case.expect("no frames" not in printed and "rank 1" in printed, "stacks of all")
            job.finish(case, end, SUM)


def case_stacks_refused(case):
    """If the system denies ptrace, stacks reports the refusal and its cure."""
    faults = SOURCES.parents[1] / "faults"
    refuse = case.build.programs / "refuse_ptrace"
    subprocess.run(["cc", "-DREFUSED=SYS_ptrace", "-o", refuse, faults / "refuse_call.c"], check=True)
    job, _ = placed(case, ranks=2)
    with job:
        case.run([refuse, case.build.tool("margay"), "stacks", job.name], status=1)
        printed = case.last.stderr
        case.expect(re.search(r"rank 1 \(process \d+\): .*(SYS_PTRACE.*seccomp|kernel.yama.ptrace_scope is [123])", printed), "why")
        case.expect(case.last.stdout == "", "no stacks")
