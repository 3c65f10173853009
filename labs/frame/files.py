"""The files of a student's folder: only regular ones of bounded length, with errors that name the file and the cure."""

import errno
import os
import shutil
import stat

from frame import say

BYTES_MAX = 4 << 20
HINTS = {errno.ENOSPC: "free space on the disk, or use a folder elsewhere",
         errno.EDQUOT: "free space on the disk, or use a folder elsewhere", errno.EFBIG: "a limit on the length of files (ulimit -f)",
         errno.EACCES: "use a folder that you may write to", errno.EPERM: "use a folder that you may write to",
         errno.EROFS: "use a folder that you may write to", errno.ENOTDIR: "a part of that path is not a folder",
         errno.ELOOP: "its symbolic links form a loop", errno.ENAMETOOLONG: "use a shorter name"}


def trouble(error, path=None):
    """A sentence about an OSError."""
    at = error.filename if error.filename is not None else path
    what = error.strerror or str(error)
    hint = HINTS.get(error.errno)
    return f"{say.name(os.fsdecode(at or ''))}: {what}" + (f": {hint}" if hint else "")


def _need_regular(path, mode):
    if not stat.S_ISREG(mode):
        raise say.CouldNotRun(f"{say.name(path)} is not a regular file: move it away, and put a text file in its place")


def need_no_link(path):
    """CouldNotRun for a symbolic link where a folder is replaced: the lab must not remove its target."""
    if os.path.islink(path):
        raise say.CouldNotRun(f"{say.name(os.path.basename(path))} is a symbolic link: remove it")


def need_regular(path):
    """CouldNotRun for a FIFO, a device or a folder, which is no text or might never end."""
    _need_regular(path, os.stat(path).st_mode)


def read(*parts):
    """A file's text. FileNotFoundError if it is missing; CouldNotRun for a FIFO or a device, which might never end."""
    path = os.path.join(*parts)
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            _need_regular(path, os.fstat(file.fileno()).st_mode)
            data = file.read(BYTES_MAX + 1)
    except FileNotFoundError:
        raise
    except IsADirectoryError:
        _need_regular(path, stat.S_IFDIR)
    except OSError as error:
        raise say.CouldNotRun(trouble(error, path)) from error
    if len(data) > BYTES_MAX:
        raise say.CouldNotRun(f"{say.name(path)} is longer than {BYTES_MAX >> 20} MiB: that is not the lab's file")
    return data.decode(errors="replace").replace("\r\n", "\n")


def write(text, *parts):
    """Writes a regular file, new or in place of an old one."""
    path = os.path.join(*parts)
    try:
        if os.path.lexists(path):
            _need_regular(path, os.lstat(path).st_mode)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise say.CouldNotRun(trouble(error, path)) from error


class NewFolder:
    """A context that makes a folder with its parents, and removes what it made if the context ends by an exception.

    A folder that existed before stays, but loses its files; so it must be empty at the start.
    """

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        self.first = None  # the outermost new folder
        at = os.path.abspath(self.folder)
        while not os.path.lexists(at):
            self.first, at = at, os.path.dirname(at)
        try:
            os.makedirs(self.folder, exist_ok=True)
        except FileExistsError:
            self._undo()
            raise say.CouldNotRun(f"{say.name(self.folder)} is there and is no folder: name another folder") from None
        except OSError as error:
            self._undo()
            raise say.CouldNotRun(f"{trouble(error, self.folder)}: name another folder") from error
        return self

    def __exit__(self, kind, _, __):
        if kind is not None:
            self._undo()

    def _undo(self):
        if self.first:
            shutil.rmtree(self.first, ignore_errors=True)
            return
        for name in os.listdir(self.folder) if os.path.isdir(self.folder) else ():
            os.unlink(os.path.join(self.folder, name))
