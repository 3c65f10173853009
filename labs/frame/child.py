"""Runs a command for a lab: what it prints is kept up to a limit, and no part of it outlives the lab's own command.

The command leads a process group and a session of its own. It is ended, with its group, when it prints more than its limit,
takes more than its time, or when this process is told to stop: by Ctrl-C, SIGTERM or a terminal that goes away. When this
process is killed, the system sends the command itself SIGTERM, on which `margay run` ends its ranks. (What a compiler
has started then ends with its file.)
"""

import ctypes
import os
import selectors
import signal
import subprocess
import time

OUTPUT_MIB = 16  # of each stream: much more than a lab's program has to say
GRACE_SECONDS = 5  # between SIGTERM, on which `margay run` ends its ranks, and SIGKILL
TICK_SECONDS = 0.05  # a look whether a signal came is taken as often, at least
CHUNK = 1 << 16
PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
_libc = ctypes.CDLL(None)


class Stopped(BaseException):
    """This process was told to stop by a signal. No Exception: nothing but the end of main() may hold it up."""

    def __init__(self, number):
        super().__init__(number)
        self.status = 128 + number


class _Signals:
    """While a child lives signals wait, lest the child be forgotten: which came last, and how many."""
    held, came, count = False, 0, 0


def _on_signal(number, _):
    if not _Signals.held:
        raise Stopped(number)
    _Signals.came = number
    _Signals.count += 1


def _go_on():
    """Signals need not wait any more."""
    _Signals.held = False
    if _Signals.came:
        number, _Signals.came, _Signals.count = _Signals.came, 0, 0
        raise Stopped(number)


def listen(handler=_on_signal):
    """From now on signals that end a command raise Stopped; those that are ignored here (nohup, a job in the background) stay so."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


class Result:
    """Exit status (128 + N: signal N), what was printed, and `flooded`: it printed too much and was ended."""

    def __init__(self, status, out, err, flooded):
        self.status, self.out, self.err, self.flooded = status, out, err, flooded


def _ends_with(parent):
    """In the child: SIGTERM when its parent dies, also of SIGKILL."""
    _libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGTERM))  # fails of other arguments only
    if os.getppid() != parent:  # it died before
        os.kill(os.getpid(), signal.SIGKILL)


def _wait(child, seconds, signals):
    """Whether it ended within these seconds and before more than so many signals came."""
    end, pause = time.monotonic() + seconds, TICK_SECONDS / 64
    while child.poll() is None:
        if time.monotonic() >= end or _Signals.count > signals:
            return False
        time.sleep(pause)
        pause = min(2 * pause, TICK_SECONDS)
    return True


def _end(child):
    """Ends the child and its group: politely first, unless one more signal comes meanwhile, as of a second Ctrl-C."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        signals = _Signals.count
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass
        _wait(child, GRACE_SECONDS, signals)


def _read(child, end, kept):
    """Reads both streams until they end or a signal comes; whether one was longer than its limit.

    TimeoutError at `end`, of the monotonic clock.
    """
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and not _Signals.came:
            # Who holds a stream open after the command's end does not hold up its judge.
            ready = selector.select(min(TICK_SECONDS, max(0.0, end - time.monotonic())))
            if not ready and child.poll() is not None:
                return False
            if time.monotonic() >= end:
                raise TimeoutError
            for key, _ in ready:
                data = os.read(key.fd, CHUNK)
                kept[key.fileobj] += data
                if not data:
                    selector.unregister(key.fileobj)
                if len(kept[key.fileobj]) > OUTPUT_MIB << 20:
                    return True
    return False


def run(command, folder=None, environment=None, seconds=60):
    """Runs it to its end, without input. OSError: it cannot be started; TimeoutError: it took more seconds and was ended."""
    end, child, ended, parent = time.monotonic() + seconds, None, False, os.getpid()
    _Signals.held = True
    try:
        child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True, preexec_fn=lambda: _ends_with(parent))
        kept = {child.stdout: bytearray(), child.stderr: bytearray()}
        flooded = _read(child, end, kept)
        if flooded:
            _end(child)
        ended = _wait(child, max(0.1, end - time.monotonic()), 0)
        if not ended:
            raise TimeoutError
    except TimeoutError:
        raise TimeoutError(f"it took more than {seconds} seconds and was ended") from None
    finally:
        if child and not ended:
            _end(child)
        _go_on()
    child.stdout.close()
    child.stderr.close()
    out, err = (bytes(kept[stream]).decode(errors="replace") for stream in (child.stdout, child.stderr))
    status = child.returncode
    return Result(128 - status if status < 0 else status, out, err, flooded)
