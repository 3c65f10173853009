"""Runs a command for a lab: what it prints is kept up to a limit, and no part of it outlives the lab's own command.

The command leads a process group and a session of its own. It is ended, with its group, when it prints more than its limit,
takes more than its time, or when this process is told to stop: by Ctrl-C, SIGTERM or a terminal that goes away.
"""

import os
import selectors
import signal
import subprocess
import time

OUTPUT_MIB = 16  # of each stream: much more than a lab's program has to say
GRACE_SECONDS = 5  # between SIGTERM, on which `margay run` ends its ranks, and SIGKILL
CHUNK = 1 << 16


class Stopped(BaseException):
    """This process was told to stop by a signal. No Exception: nothing but the end of main() may hold it up."""

    def __init__(self, number):
        super().__init__(number)
        self.status = 128 + number


class _Signals:
    """While a child is being started a signal waits, lest the child be forgotten."""
    held, came = False, 0


def _on_signal(number, _):
    if _Signals.held:
        _Signals.came = number
        return
    raise Stopped(number)


def _go_on():
    """Signals need not wait any more."""
    _Signals.held = False
    if _Signals.came:
        number, _Signals.came = _Signals.came, 0
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


def _end(child):
    """Ends the child and its group: politely first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
            child.wait(GRACE_SECONDS)
        except ProcessLookupError:
            pass
        except subprocess.TimeoutExpired:
            continue
        except Stopped:  # a second Ctrl-C: no more patience
            os.killpg(child.pid, signal.SIGKILL)
            raise


def _read(child, end, kept):
    """Reads both streams until they end; whether one was longer than its limit. TimeoutError at `end`, of the monotonic clock."""
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            # Who holds a stream open after the command's end does not hold up its judge.
            ready = selector.select(min(1.0, max(0.0, end - time.monotonic())))
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
    end, child, ended = time.monotonic() + seconds, None, False
    _Signals.held = True
    try:
        child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
        _go_on()
        kept = {child.stdout: bytearray(), child.stderr: bytearray()}
        flooded = _read(child, end, kept)
        if flooded:
            _end(child)
        status = child.wait(max(0.1, end - time.monotonic()))
        ended = True
    except (TimeoutError, subprocess.TimeoutExpired):
        raise TimeoutError(f"it took more than {seconds} seconds and was ended") from None
    finally:
        if child and not ended:
            _end(child)
        _go_on()
    child.stdout.close()
    child.stderr.close()
    out, err = (bytes(kept[stream]).decode(errors="replace") for stream in (child.stdout, child.stderr))
    return Result(128 - status if status < 0 else status, out, err, flooded)
