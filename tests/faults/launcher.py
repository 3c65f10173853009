#!/usr/bin/env python3
"""Tests of faults of ranks and of the launcher itself, with programs that use no MPI."""
import contextlib
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import time

from support import Clock, Job, case, compile_c, main, patient_case, timed_case

HERE = pathlib.Path(__file__).resolve().parent


def sh(text):
    return ["sh", "-c", text]


@case
def killed_rank_is_named(build, scratch):
    for name, number in (("KILL", 9), ("SEGV", 11), ("ABRT", 6), ("TERM", 15)):
        job = Job(build, ["-n", 3], sh(f"if [ $PMI_RANK = 1 ]; then kill -{name} $$; fi; exec sleep 60"))
        job.expect(128 + number, 1.5, ["rank 1", f"signal {number}, SIG{name}", "pid", "host", " s;"], finding="rank-died")


@case
def first_death_decides(build, scratch):
    job = Job(build, ["-n", 4], sh("if [ $PMI_RANK = 2 ]; then sleep 0.2; kill -SEGV $$; fi; trap '' TERM; sleep 60"))
    job.expect(139, 2.5, ["rank 2", "SIGSEGV"], finding="rank-died")


@case
def exit_codes(build, scratch):
    # The first failure determines the status; the later one follows after 0.3 s.
    job = Job(build, ["-n", 3, "--print-all-exitcodes"], sh("[ $PMI_RANK != 2 ] || sleep 0.3; exit $((PMI_RANK * 3))"))
    job.expect(3, 2)
    assert "rank 2 exit code 6" in job.stderr, job.stderr
    Job(build, ["-n", 2], ["true"]).expect(0, 2)


@case
def rank_without_mpi_among_silent_ones(build, scratch):
    job = Job(build, ["-n", 2], sh("if [ $PMI_RANK = 1 ]; then exit 4; fi; sleep 0.5; echo done"))
    job.expect(4, 3)
    assert job.stdout == "done\n", job.stdout


@case
def time_is_up(build, scratch):
    job = Job(build, ["-n", 2, "--timeout", "0.5"], ["sleep", "60"])
    job.expect(124, 2.5, ["rank 0", "rank 1"], finding="timeout")
    job = Job(build, ["-n", 2], ["sleep", "60"], env={"MPIEXEC_TIMEOUT": "0.5"})
    job.expect(124, 2.5, finding="timeout")


OTHER_MPI = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  if (argc > 1 && dlopen(argv[1], RTLD_NOW) == NULL) return 2;
  printf("loaded\\n");
  fflush(stdout);
  return getchar() == 'x' ? 0 : 3;
}
"""


@case
def another_mpi_is_named(build, scratch):
    """The program loads another MPI at run time, as an interpreter does, so no check before the start can find it."""
    source = scratch / "loads.c"
    source.write_text(OTHER_MPI)
    program, library = scratch / "loads", scratch / "libmpi.so.40"
    subprocess.run(["cc", "-o", program, source], check=True)
    subprocess.run(["cc", "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
    for words, arguments, status in (([], [library], 0), (["--strict"], [library], 72), (["--strict"], [], 0)):
        # In a child of the rank's process, as in a script.
        job = Job(build, ["-n", 1, *words], ["sh", "-c", '"$@"; exit $?', "sh", program, *arguments], stdin=subprocess.PIPE)
        assert job.read_line() == "loaded\n"
        job.process.send_signal(signal.SIGUSR1)  # the launcher examines the process
        line = job.process.stderr.readline()
        assert ("libmpi.so.40 (Open MPI)" in line) == bool(arguments), line
        job.process.stdin.write("x")
        job.expect(status, 5)
        warnings = [line for line in job.stderr.splitlines() if line.endswith(" [other-mpi]")]
        assert len(warnings) == bool(arguments) and all("libmpi.so.40" in line for line in warnings), job.stderr


@case
def lines_of_two_streams_in_one_place(build, scratch):
    """One pipe for both streams (2>&1): another rank's output on the other stream does not continue a line without a
    newline."""
    text = "if [ $PMI_RANK = 0 ]; then printf out; else printf err >&2; fi"
    run = subprocess.run([build / "bin" / "margay", "run", "-n", "2", "-l", *sh(text)], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=True)
    assert sorted(run.stdout.split("\n")) in (["[0] out", "[1] err"], ["", "[0] out", "[1] err"]), run.stdout


@case
def words_about_the_command_line(build, scratch):
    """Each message names the actual mistake."""
    job = Job(build, ["-n", 1, "-wdir", "/nonexistent"], ["true"])
    assert job.finish(5) == 71 and " /nonexistent: " in job.stderr, job.stderr
    for name in ("nowhere0", "203.0.113.7"):
        job = Job(build, ["-n", 2, "-iface", name], ["true"])
        assert job.finish(5) == 2 and f"-iface {name}: " in job.stderr, job.stderr
    for name, near in (("MARGAY_WIRE_TPC", "MARGAY_WIRE_TCP"), ("MARGAY_STALL", "MARGAY_STALL_SECONDS")):
        for words, variables in (([], {name: "1"}), (["-genv", name, "1"], {})):
            job = Job(build, ["-n", 2, *words], ["true"], env=variables)
            assert job.finish(5) == 0 and re.fullmatch(rf"margay: .*\b{name} .*\b{near}\?\n", job.stderr), job.stderr
    assert (job := Job(build, ["-n", 2], ["true"], env={"MARGAY_STRICT": "yes"})).finish(5) == 2, job.stderr
    assert re.fullmatch(r"margay: MARGAY_STRICT: .*\"yes\".* 1\|0\n", job.stderr), job.stderr
    job = Job(build, ["-n", 2, "-genv", "MARGAY_OF_MY_OWN", "1"], ["true"])
    assert job.finish(5) == 0 and not job.stderr, job.stderr


@case
def spellings_of_hydra(build, scratch):
    job = Job(build, ["-n2", "-prepend-pattern", "%r/%g%%: "], ["echo", "word"])
    job.expect(0, 5)
    assert sorted(job.stdout.splitlines()) == ["0/0%: word", "1/0%: word"], job.stdout
    # More than the capacity of a pipe, from a file and from a pipe.
    words = "a line of words\n" * 20000
    (scratch / "input").write_text(words)
    for readers, ranks in (("all", "0123"), ("none", ""), ("2", "2"), ("0,2-3", "023")):
        for stdin in (open(scratch / "input"), subprocess.Popen(["cat", scratch / "input"], stdout=subprocess.PIPE).stdout):
            with stdin:
                job = Job(build, ["-n4", "-s", readers, "-l"], ["wc", "-c"], stdin=stdin)
                job.expect(0, 5)
            expected = [f"[{rank}] {len(words) if str(rank) in ranks else 0}" for rank in range(4)]
            assert sorted(job.stdout.splitlines()) == expected, job.stdout
    assert Job(build, ["-n2", "-s", "0-2"], ["true"]).finish(5) == 2


@case
def death_of_the_launcher(build, scratch):
    """SIGKILL of the launcher ends ranks, their children and grandchildren, even those that ignore signals."""
    job = Job(build, ["-n", 3], sh("trap '' TERM HUP; (trap '' TERM; sh -c 'sleep 60; :' & sleep 60; :) & sleep 60; :"))
    job.wait_for_ranks(9)
    job.process.kill()
    job.expect_nothing_left(2)
    job.finish(5)


@case
def death_of_the_launcher_without_close_range(build, scratch):
    refuse = compile_c(build, HERE / "refuse_call.c", "refuse_close_range", "cc", "-DREFUSED=SYS_close_range")
    job = Job(build, ["-n", 2], sh("sleep 60 & sleep 60; :"), prefix=[refuse])
    job.wait_for_ranks(6)
    job.process.kill()
    job.expect_nothing_left(2)
    job.finish(5)


@case
def children_from_before_are_left_alone(build, scratch):
    """A shell that becomes the launcher had a background job; the launcher ends the ranks' leftovers, but not that
    job."""
    job = Job(build, ["-n", 1], sh("sleep 60 & setsid sleep 60 & :"),
              prefix=["sh", "-c", 'sleep 60 > /dev/null 2>&1 & echo $!; exec "$@"', "sh"])
    assert job.finish(10) == 0, job.stderr
    before = int(job.stdout)
    left = job.marked()
    os.kill(before, signal.SIGKILL)
    assert left == [before], (before, left)


@case
def children_of_those_from_before_are_left_alone(build, scratch):
    """Processes that such a background job starts later, and leaves to the launcher, do not belong to the job
    either."""
    go, orphan = scratch / "go", scratch / "orphan"
    helper = (f"(while [ ! -e {go} ]; do sleep 0.01; done; sleep 60 > /dev/null 2>&1 & echo $! > {orphan}.new; "
              f'mv {orphan}.new {orphan}) & exec "$@"')
    adopted = 'grep -q "^PPid:.$PPID\$" /proc/$(cat ORPHAN)/status'.replace("ORPHAN", str(orphan))
    job = Job(build, ["-n", 1], sh(f"touch {go}; until [ -e {orphan} ] && {adopted}; do sleep 0.01; done; sleep 60 & "
                                   "setsid sleep 60 & :"), prefix=["sh", "-c", helper, "sh"])
    assert job.finish(10) == 0, job.stderr
    left = job.marked()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == [int(orphan.read_text())], (orphan.read_text(), left)


@case
def floods_do_not_deafen_the_launcher(build, scratch):
    """Endless output of a rank or its children: bad lines on the launch protocol, output after a rank's end."""
    flood = ("import os,socket; s=socket.socket(fileno=int(os.environ['PMI_FD'])); os.fork(); os.fork()\n"
             "while True: s.sendall(b'nonsense\\n' * 400)")
    job = Job(build, ["-n", 1], ["python3", "-c", flood])
    job.expect(1, 10, "rank 0", finding="launch-protocol")
    job = Job(build, ["-n", 1], sh("yes & yes & exit 0"), stdout=subprocess.DEVNULL)
    job.expect(0, 10)
    job = Job(build, ["-n", 2], sh("if [ $PMI_RANK = 1 ]; then yes & yes & kill -SEGV $$; fi; sleep 60"), stdout=subprocess.DEVNULL)
    job.expect(139, 10, ["rank 1", "SIGSEGV"], finding="rank-died")


@case
def death_of_the_launcher_while_it_starts_ranks(build, scratch):
    for delay in (0.001, 0.003, 0.006, 0.01, 0.02):
        job = Job(build, ["-n", 40], ["sleep", "60"])
        time.sleep(delay)
        job.process.kill()
        job.expect_nothing_left(2)
        job.finish(5)


@case
def children_end_with_the_job(build, scratch):
    """Background processes of ranks end too, even in their own sessions."""
    job = Job(build, ["-n", 2], sh("sleep 60 & setsid sleep 60 & echo started"))
    job.expect(0, 2)
    assert job.stdout == "started\nstarted\n", job.stdout


@patient_case
def stopped_rank_goes_on(build, scratch):
    job = Job(build, ["-n", 2], sh("if [ $PMI_RANK = 1 ]; then kill -STOP $$; fi; echo rank $PMI_RANK went on"))
    time.sleep(11.5)
    stopped = [pid for pid in job.marked()
               if pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"]
    assert len(stopped) == 1, stopped
    os.kill(stopped[0], signal.SIGCONT)
    job.expect(0, 3, ["rank 1", "stopped", f"kill -CONT {stopped[0]}"])
    assert sorted(job.stdout.splitlines()) == ["rank 0 went on", "rank 1 went on"], job.stdout


@case
def suspended_and_resumed(build, scratch):
    """Ctrl-Z: ranks stop and continue with the launcher; if it is killed meanwhile, no process remains."""
    def stat(pid):
        """State and parent; of a process that has ended meanwhile as of one that is stopped."""
        try:
            state, parent = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            return "T", 0
        return state, int(parent)

    def awake(pids):
        """The processes that are not stopped. A shell in vfork whose child is stopped before its exec sleeps too, in
        state D."""
        stats = {}
        for pid in pids:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a sleep that has ended since it was listed
                stats[pid] = stat(pid)
        parents_of_stopped = {parent for state, parent in stats.values() if state == "T"}
        return {pid: state for pid, (state, _) in stats.items()
                if state != "T" and not (state == "D" and pid in parents_of_stopped)}

    for killed in (False, True):
        job = Job(build, ["-n", 2], sh("i=0; while [ $i -lt 30 ]; do sleep 0.02; i=$((i+1)); done; echo done"))
        job.wait_for_ranks(2)
        time.sleep(0.1)
        job.process.send_signal(signal.SIGTSTP)
        Clock.eventually(lambda: not awake(job.marked() + [job.process.pid]), "a process stays awake after Ctrl-Z")
        if killed:
            job.process.kill()
            job.expect_nothing_left(2)
            job.finish(2)
        else:
            job.process.send_signal(signal.SIGCONT)
            job.expect(0, 5)
            assert job.stdout == "done\ndone\n" and job.stderr == "", job.stdout + job.stderr


@case
def stopped_rank_does_not_hold_up_the_end(build, scratch):
    job = Job(build, ["-n", 2], sh("if [ $PMI_RANK = 1 ]; then kill -STOP $$; fi; sleep 0.3; kill -SEGV $$"))
    job.expect(139, 2.5, "rank 0", finding="rank-died")


@case
def programs_that_cannot_run(build, scratch):
    plain = scratch / "not_executable"
    plain.write_text("#!/bin/sh\n")
    wrong = scratch / "wrong_interpreter"
    wrong.write_text("#!/nonexistent/interpreter\n")
    wrong.chmod(0o755)
    good = ["-n", "1", "touch", str(scratch / "ran")]
    for program, status, text in (("/nonexistent/program", 127, ""), ("nonexistent-program", 127, "PATH"),
                                  (plain, 126, "executable"), (scratch, 126, "folder")):
        job = Job(build, good, [":", "-n", "2", program])
        job.expect(status, 2)
        assert re.fullmatch(rf"margay: .*{program}.*{text}.*\n", job.stderr), job.stderr
    assert not (scratch / "ran").exists(), "a rank ran before the mistake was reported"
    strange = scratch / "no_format"
    strange.write_text("neither\n")
    strange.chmod(0o755)
    for program, status, text in ((wrong, 127, "(#!)"), (strange, 126, "#!/bin/sh")):
        job = Job(build, ["-n", 2], [program])
        assert job.finish(2) == status and text in job.stderr, job.stderr
        job.expect_nothing_left(1)


@case
def closed_output(build, scratch):
    """`margay run ... | head -1`, and a launcher started without a standard output."""
    job = Job(build, ["-n", 2], sh("while :; do echo line; sleep 0.01; done"))
    assert job.read_line() == "line\n"
    job.process.stdout.close()
    job.process.stdout = None
    job.expect(141, 3, finding="output-closed")
    job = Job(build, ["-n", 2], sh("echo line; exit 0"), stdout=None, preexec=lambda: os.close(1))
    job.expect(0, 3)


@case
def full_output(build, scratch):
    """The message names a full file system, whether the job still runs, has just ended or ended with output
    unwritten."""
    for text, options in (("while :; do echo line; sleep 0.01; done", []), ("echo line", []), ("printf rest", ["-l"])):
        with open("/dev/full", "w") as full:
            job = Job(build, ["-n", 2, *options], sh(text), stdout=full)
            job.expect(1, 3, "ENOSPC", finding="output-closed")


@case
def full_output_files(build, scratch):
    """A file of an output pattern that cannot be written behaves as the standard output: lost output ends the job with
    a message."""
    for option, text in (("-outfile-pattern", "while :; do echo line; sleep 0.01; done"), ("-outfile-pattern", "echo line"),
                         ("-errfile-pattern", "echo line >&2"), ("-outfile-pattern", "printf rest")):
        job = Job(build, ["-n", 2, option, "/dev/full"], sh(text))
        job.expect(1, 3, ["/dev/full", "ENOSPC"], finding="output-closed")


@case
def limited_file_sizes(build, scratch):
    """ulimit -f does not end the launcher: the message names the file and the limit. Ranks get the signal's default
    back."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048000, 2048000))

    lost = ["EFBIG", " 2048000 bytes"]
    job = Job(build, ["-n", 1, "-outfile-pattern", scratch / "limited.%r"], ["seq", "1", "1000000"], preexec=limit)
    job.expect(1, 5, [f"{scratch}/limited.0", *lost], finding="output-closed")
    assert (scratch / "limited.0").stat().st_size == 2048000
    with open(scratch / "limited", "w") as file:
        job = Job(build, ["-n", 1], ["seq", "1", "1000000"], stdout=file, preexec=limit)
        job.expect(1, 5, lost, finding="output-closed")
    job = Job(build, ["-n", 2, "--trace", scratch / "limited_trace"], ["touch", scratch / "ran"], preexec=limit)
    job.expect(71, 3)
    assert " 2048000 bytes" in job.stderr and len(job.stderr.splitlines()) == 1, job.stderr
    assert not (scratch / "ran").exists() and not (scratch / "limited_trace").exists()
    ignored = ["sh", "-c", "grep SigIgn /proc/self/status"]
    for action, bit in ((signal.SIG_DFL, 0), (signal.SIG_IGN, 1)):
        job = Job(build, ["-n", 1], ignored, preexec=lambda action=action: signal.signal(signal.SIGXFSZ, action))
        job.expect(0, 3)
        assert int(job.stdout.split()[1], 16) >> (signal.SIGXFSZ - 1) & 1 == bit, job.stdout


@case
def pipes_are_no_programs(build, scratch):
    fifo = scratch / "fifo"
    os.mkfifo(fifo, 0o755)
    run = subprocess.run([build / "bin" / "margay", "check", fifo], capture_output=True, text=True, timeout=5, check=False)
    assert run.returncode == 2 and str(fifo) in run.stderr, run
    job = Job(build, ["-n", 2], [fifo])
    job.expect(126, 3)
    assert str(fifo) in job.stderr and len(job.stderr.splitlines()) == 1, job.stderr


@case
def wrong_command_lines(build, scratch):
    """Reported once, in a message that names the option, before any rank runs; exit status 2."""
    for words in (["--stall", "x"], ["--protocol", "long=none"], ["--protocol", "short_limit=x"], ["--method", "long=shm"],
                  ["--wire-tcp", "rdma"], ["--wait", "never"], ["--heap", "lots"], ["--heap", "10"],
                  ["--protocol", "short_limit=0"], ["-bind-to", "foo"], ["-outfile-pattern", "x%q"], ["--trace", ""]):
        job = Job(build, ["-n", 2, *words], ["touch", scratch / "ran"])
        job.expect(2, 2)
        assert f"option {words[0]}: " in job.stderr and len(job.stderr.splitlines()) == 1, job.stderr
    for words in (["bogus"], ["check"], ["trace", "print"], []):
        run = subprocess.run([build / "bin" / "margay", *words], capture_output=True, text=True, timeout=5, check=False)
        assert run.returncode == 2 and run.stderr, run
        assert words != ["bogus"] or "unknown command" in run.stderr, run
    run = subprocess.run([build / "bin" / "margay", "--help"], capture_output=True, text=True, timeout=5, check=False)
    assert run.returncode == 0 and run.stdout, run
    assert not (scratch / "ran").exists(), "a rank ran before the mistake was reported"


@case
def trace_folders(build, scratch):
    """A folder that cannot take the job's trace is reported once, before any rank runs."""
    used = scratch / "used"
    used.mkdir(0o700)
    (used / "rank_00003.trace").write_text("")
    (scratch / "file").write_text("")
    for folder, options, text in ((used, [], "earlier run"), (scratch / "no" / "parent", [], "no/parent"), (scratch / "file", [], "file"),
                                  ("used", ["-wdir", scratch], "earlier run")):
        job = Job(build, ["-n", 2, "--trace", folder, *options], ["touch", scratch / "ran"])
        job.expect(71, 2)
        assert "trace" in job.stderr and text in job.stderr and len(job.stderr.splitlines()) == 1, job.stderr
    assert not (scratch / "ran").exists(), "a rank ran before the mistake was reported"
    Job(build, ["-n", 2, "--trace", scratch / "new"], ["true"]).expect(0, 2)
    assert not list((scratch / "new").iterdir()), "the try is left behind"


@case
def lines_are_whole(build, scratch):
    program = compile_c(build, HERE / "chatter.c", "chatter", "cc")
    job = Job(build, ["-n", 8, "-l"], [program, "2000"])
    job.expect(0, 20)
    lines = job.stdout.splitlines()
    assert len(lines) == 8 * 2000, len(lines)
    seen = [0] * 8
    for line in lines:
        label, text = line.split(" ", 1)
        rank = int(label[1:-1])
        assert text == f"rank {rank} line {seen[rank]} " + "x" * (seen[rank] % 300), line
        seen[rank] += 1


@patient_case
def slow_reader_loses_nothing(build, scratch):
    job = Job(build, ["-n", 2], sh("i=0; while [ $i -lt 200 ]; do head -c 20000 /dev/zero | tr '\\0' x; echo; i=$((i+1)); done"))
    time.sleep(1.5)
    job.expect(0, 30)
    assert job.stdout.count("x") == 2 * 200 * 20000, job.stdout.count("x")
    assert set(map(len, job.stdout.splitlines())) == {20000}


@case
def started_with_signals_ignored(build, scratch):
    """As some daemons and scripts start programs: SIGCHLD and SIGPIPE ignored."""
    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    Job(build, ["-n", 2], sh("exit 3"), preexec=ignore).expect(3, 3)


@patient_case
def interrupt_while_the_reader_sleeps(build, scratch):
    """The ranks have ended and the rest of their output waits for a reader: Ctrl-C ends that wait."""
    job = Job(build, ["-n", 1], sh("head -c 300000 /dev/zero"))
    time.sleep(1.5)
    assert not job.marked() and job.process.poll() is None
    job.process.send_signal(signal.SIGINT)
    assert job.process.wait(10) == -signal.SIGINT  # a busy machine; without Ctrl-C the wait would not end
    job.finish(2)


@case
def prompts_come_at_once(build, scratch):
    reader, writer = os.pipe()
    job = Job(build, ["-n", 1], sh("printf 'name? '; read name; echo hello $name; printf end"), stdin=reader)
    os.close(reader)
    os.set_blocking(job.process.stdout.fileno(), True)
    got = os.read(job.process.stdout.fileno(), 100)  # without a newline, and before the rank continues
    assert got == b"name? ", got
    os.write(writer, b"margay\n")
    os.close(writer)
    job.expect(0, 3)
    assert job.stdout == "hello margay\nend", job.stdout


@case
def input_goes_to_rank_0(build, scratch):
    reader, writer = os.pipe()
    os.write(writer, b"one\ntwo\n")
    os.close(writer)
    job = Job(build, ["-n", 3, "-l"], ["cat"], stdin=reader)
    os.close(reader)
    job.expect(0, 3)
    assert job.stdout == "[0] one\n[0] two\n", job.stdout


@case
def terminal(build, scratch):
    """From a terminal: input reaches rank 0, Ctrl-C ends the job."""
    for keys, status in ((b"hello\n\x04", 0), (b"\x03", 130)):
        pid, terminal_end = pty.fork()
        if pid == 0:
            os.execv(build / "bin" / "margay", ["margay", "run", "-n", "2", "sh", "-c", "echo up; cat"])
        text = b""
        deadline = time.monotonic() + 5
        while text.count(b"up") < 2 and time.monotonic() < deadline:
            text += os.read(terminal_end, 1000)
        os.write(terminal_end, keys)
        try:
            while True:
                text += os.read(terminal_end, 1000)
        except OSError:
            pass
        got = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal_end)
        assert got == status, (got, text)
        assert status != 0 or text.count(b"hello") == 2, text  # the terminal's echo, and rank 0's


@case
def output_files(build, scratch):
    job = Job(build, ["-n", 3, "-outfile-pattern", scratch / "out.%r", "-errfile-pattern", scratch / "err"],
              sh("echo out $PMI_RANK; echo err $PMI_RANK >&2"))
    job.expect(0, 2)
    assert [(scratch / f"out.{rank}").read_text() for rank in range(3)] == [f"out {rank}\n" for rank in range(3)]
    assert sorted((scratch / "err").read_text().splitlines()) == ["err 0", "err 1", "err 2"]


@case
def environment_and_folder(build, scratch):
    job = Job(build, ["-n", 1, "-genvlist", "PATH", "-genv", "A", "1", "-env", "B", "two words", "-wdir", scratch],
              sh('echo "$A $B $C"; pwd'), env={"C": "inherited"})
    job.mark = "nobody"  # the mark is not inherited here
    job.expect(0, 2)
    assert job.stdout == f"1 two words \n{scratch}\n", job.stdout
    # A relative folder of PATH is below the ranks' working folder, not below the launcher's.
    (scratch / "bin").mkdir()
    below = scratch / "bin" / "below"
    below.write_text("#!/bin/sh\npwd\n")
    below.chmod(0o755)
    job = Job(build, ["-n", 1, "-wdir", scratch], ["below"], env={"PATH": "bin:" + os.environ["PATH"]})
    job.expect(0, 2)
    assert job.stdout == f"{scratch}\n", job.stdout


@case
def outer_launchers_variables_are_not_passed_on(build, scratch):
    job = Job(build, ["-n", 1], sh("env"), env={"OMPI_COMM_WORLD_SIZE": "4", "PMI_PORT": "x", "PMIX_RANK": "1"})
    job.expect(0, 2)
    assert "OMPI_COMM_WORLD_SIZE" not in job.stdout and "PMI_PORT" not in job.stdout and "PMIX_RANK" not in job.stdout
    assert "PMI_SIZE=1\n" in job.stdout


@case
def nonsense_on_the_launch_protocol(build, scratch):
    talk = "import os,socket,time; s=socket.socket(fileno=int(os.environ['PMI_FD'])); s.sendall({!r}); time.sleep(60)"
    for words in (b"nonsense\n", b"cmd=dance\n", b"\0\0\0\n", b"x" * 40000):
        job = Job(build, ["-n", 2], ["python3", "-c", talk.format(words)])
        job.expect(1, 5, "rank ", finding="launch-protocol")


@case
def few_descriptors(build, scratch):
    """A limit on open files causes an error that names it, before or after some ranks have started."""
    job = Job(build, ["-n", 64], ["sleep", "60"], preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60)))
    assert job.finish(3) != 0
    assert "ulimit -n" in job.stderr and len(job.stderr.splitlines()) == 1, job.stderr
    job.expect_nothing_left(1)


@timed_case
def start_is_fast(build, scratch):
    def best(ranks):
        return min(timed(ranks) for _ in range(7))

    def timed(ranks):
        begin = time.monotonic()
        subprocess.run([build / "bin" / "margay", "run", "-n", str(ranks), "true"], check=True)
        return time.monotonic() - begin

    two, many = best(2), best(64)
    assert two < 0.015, f"2 ranks take {two * 1000:.1f} ms"
    assert many < 1.0, f"64 ranks take {many * 1000:.1f} ms"


main()
