"""Runs a command for a lab: keeps its output up to a limit, and leaves no process behind.

The command leads a process group and a session of its own. It is ended, with its group, when it prints more than the limit,
exceeds its time, or when this process is to stop: by Ctrl-C, SIGTERM or a terminal that hangs up. When this process is
killed, the operating system sends SIGTERM to the command itself, upon which `margay run` ends its ranks. (The processes of
a compiler end when their file is complete.)
"""

import ctypes
import os
import selectors
import signal
import subprocess
import time

OUTPUT_MIB = 16  # of each stream: far more than a lab's program prints
GRACE_SECONDS = 5  # between SIGTERM, on which `margay run` ends its ranks, and SIGKILL
TICK_SECONDS = 0.05  # longest time between two polls for a signal
CHUNK = 1 << 16
PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
_libc = ctypes.CDLL(None)


class Stopped(BaseException):
    """A signal asked this process to stop. Not an Exception, so that only main() catches it."""

    def __init__(self, number):
        super().__init__(number)
        self.status = 128 + number


class _Signals:
    """Signals that wait while a child runs, so that the child is ended first: the last one, and their number."""
    held, came, count = False, 0, 0


def _on_signal(number, _):
    if not _Signals.held:
        raise Stopped(number)
    _Signals.came = number
    _Signals.count += 1


def _go_on():
    """Stops holding signals back, and raises the last one that came."""
    _Signals.held = False
    if _Signals.came:
        number, _Signals.came, _Signals.count = _Signals.came, 0, 0
        raise Stopped(number)


def listen(handler=_on_signal):
    """Makes signals that end a command raise Stopped; signals that are ignored (nohup, a background job) stay ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


class Result:
    """Exit status (128 + N: signal N), output, and `flooded`: the command printed too much and was ended."""

    def __init__(self, status, out, err, flooded):
        self.status, self.out, self.err, self.flooded = status, out, err, flooded


def _ends_with(parent):
    """In the child: requests SIGTERM for the time when its parent dies, even by SIGKILL."""
    _libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGTERM))  # fails only for invalid arguments
    if os.getppid() != parent:  # the parent died before the request
        os.kill(os.getpid(), signal.SIGKILL)


def _wait(child, seconds, signals):
    """Whether the child ended within these seconds, before more than this number of signals came."""
    end, pause = time.monotonic() + seconds, TICK_SECONDS / 64
    while child.poll() is None:
        if time.monotonic() >= end or _Signals.count > signals:
            return False
        time.sleep(pause)
        pause = min(2 * pause, TICK_SECONDS)
    return True


def _end(child):
    """Ends the child and its group: by SIGTERM, then by SIGKILL after a grace time that another signal, such as a second Ctrl-C, cuts short."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        signals = _Signals.count
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass
        _wait(child, GRACE_SECONDS, signals)


def _read(child, end, kept):
    """Reads both streams until they end or a signal comes. Returns whether one exceeded the limit.

    TimeoutError at `end`, of the monotonic clock.
    """
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and not _Signals.came:
            # A process that holds a stream open after the command's end does not delay the check.
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
    """Runs a command to its end, without input. OSError: it cannot be started; TimeoutError: it exceeded its time and was ended."""
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
