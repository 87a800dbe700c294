"""Write to disk so that a reader finds the old folder or the new one, whole, and never a mixture."""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from honestybench.errors import ReleaseError, StorageError

MANIFEST_NAME = "manifest.json"
"""The file that makes a folder a release; it is written last."""

_REFUSALS = {
    errno.ENOSPC: ("the disk is full", "free some space, or write to another disk"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, or write to another disk"),
    errno.EFBIG: ("the file may not grow that large", "raise the limit (`ulimit -f`), or write to another disk"),
    errno.EROFS: ("the disk is read-only", "write to another folder"),
    errno.EACCES: ("no permission to write", "write to another folder, or change its owner or mode"),
    errno.EPERM: ("no permission to write", "write to another folder, or change its owner or mode"),
    errno.ENOTDIR: ("a file stands where a folder must be", "write to another folder"),
}


@contextmanager
def refused_writes(where: Path) -> Iterator[None]:
    """Turn the system's refusal to write into a StorageError that tells the remedy."""
    try:
        yield
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
        reason, remedy = _REFUSALS[error.errno]
        raise StorageError(reason, where=str(where), remedy=f"{remedy}; nothing was changed") from error


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder that this one writes; the lock dies with the process.

    Raises: StorageError when another process holds it.
    """
    with refused_writes(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            remedy = "wait for it, or use another work folder"
            raise StorageError("another build uses this folder", where=str(folder), remedy=remedy) from error
        yield
    finally:
        os.close(handle)


class ReplacedFolder:
    """Fill a folder aside and put it in the place of `out` in one step.

    `new` is the folder to fill. It stands in `<out>.partial`, next to `out` and so on the same
    disk; the previous folder waits there for the moment between the two renames. A process killed
    at any point leaves the old folder or the new one, whole, and the next run tidies up.
    Leaving the block without `commit()` changes nothing.
    Raises: ReleaseError when `out` holds something that is no release; StorageError.
    """

    def __init__(self, out: Path) -> None:
        self.out = out.resolve()
        self._work = self.out.with_name(self.out.name + ".partial")
        self._previous = self._work / "previous"
        self.new = self._work / "new"

    def __enter__(self) -> Self:
        with refused_writes(self.out):
            self.settle()
            self._refuse_foreign()
            self.new.mkdir(parents=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with refused_writes(self.out):
            self.settle()

    def commit(self) -> None:
        """Force the new folder to disk and swap it in."""
        with refused_writes(self.out):
            for folder, _, names in os.walk(self.new):
                for name in names:
                    _sync(Path(folder) / name)
                _sync(Path(folder))
            if self.out.exists():
                os.rename(self.out, self._previous)
            os.rename(self.new, self.out)
            _sync(self.out.parent)

    def settle(self) -> None:
        """Tidy up after a killed process: restore the previous folder if it was in between, drop what is partial."""
        if self._previous.exists() and not self.out.exists():
            os.rename(self._previous, self.out)
        if self._work.exists():
            shutil.rmtree(self._work)

    def _refuse_foreign(self) -> None:
        if not self.out.exists():
            return
        if not self.out.is_dir():
            raise ReleaseError("a file stands where the release folder must be", where=str(self.out))
        if any(self.out.iterdir()) and not (self.out / MANIFEST_NAME).is_file():
            raise ReleaseError(
                "the folder is not empty and holds no release; it stays as it is",
                where=str(self.out),
                remedy="name an empty or new folder, or the folder of an older release",
            )


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
