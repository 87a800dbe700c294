"""Write to disk so that a reader finds the old folder or the new one, whole, and never a mixture."""

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from honestybench.errors import ReleaseError, StorageError

MANIFEST_NAME = "manifest.json"
"""The file that makes a folder a release; it is written last."""

OWN_KEYS = frozenset({"release_id", "kind"})
"""A manifest of ours has one of these: a release its id, a site its kind."""

LOCK_NAME = ".lock"
"""The file in a folder that one process holds while it writes there."""

_REFUSALS = {
    errno.ENOSPC: ("the disk is full", "free some space, or write to another disk"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, or write to another disk"),
    errno.EFBIG: ("the file may not grow that large", "raise the limit (`ulimit -f`), or write to another disk"),
    errno.EEXIST: ("a file stands where a folder must be", "write to another folder"),
    errno.EISDIR: ("a folder stands where a file must be", "write to another folder"),
    errno.EBUSY: ("the folder is in use as a mount point", "write to a folder inside it"),
    errno.EXDEV: ("the folder is in use as a mount point", "write to a folder inside it"),
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
        handle = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            remedy = "wait for it, or name another folder"
            raise StorageError("another build uses this folder", where=str(folder), remedy=remedy) from error
        yield
    finally:
        os.close(handle)


class ReplacedFolder:
    """Fill a folder aside and put it in the place of `out` in one step.

    `new` is the folder to fill. It stands in `<out>.partial`, next to `out` and so on the same
    disk; the previous folder waits there for the moment between the two renames. A process killed
    at any point leaves the old folder or the new one, whole, and the next run tidies up. One
    process at a time works on an `out`. Leaving the block without `commit()` changes nothing.
    Raises: ReleaseError when `out` holds something that is no release; StorageError.
    """

    def __init__(self, out: Path) -> None:
        try:
            self.out = out.resolve()
        except (RuntimeError, OSError) as error:
            raise ReleaseError(
                f"the path leads nowhere: {error}", where=str(out), remedy="name another folder"
            ) from error
        if not self.out.name or os.path.ismount(self.out):
            remedy = "name a folder inside it"
            raise ReleaseError(
                "the root of a disk cannot be swapped for a new folder", where=str(self.out), remedy=remedy
            )
        self._work = self.out.with_name(self.out.name + ".partial")
        self._previous = self._work / "previous"
        self.new = self._work / "new"
        self._lock = ExitStack()

    @property
    def is_unsettled(self) -> bool:
        """Whether a killed process left something to tidy up; entering and leaving the block does it."""
        return self._work.exists()

    def __enter__(self) -> Self:
        with refused_writes(self.out):
            self._refuse_foreign()
            self._lock.enter_context(exclusive(self._work))
            self._settle()
            self.new.mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with refused_writes(self.out), self._lock:
            self._settle()
            shutil.rmtree(self._work)

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

    def _settle(self) -> None:
        """Restore the previous folder if a process was killed between the two renames, and drop what is partial."""
        if self._previous.exists() and not self.out.exists():
            os.rename(self._previous, self.out)
        for leftover in (self._previous, self.new):
            if leftover.exists():
                shutil.rmtree(leftover)

    def _refuse_foreign(self) -> None:
        ours = {LOCK_NAME, self._previous.name, self.new.name}
        if self._work.exists() and not (self._work.is_dir() and {path.name for path in self._work.iterdir()} <= ours):
            raise ReleaseError(
                "something stands where the build must work aside; it stays as it is",
                where=str(self._work),
                remedy="move it away, or name another folder for the release",
            )
        if not self.out.exists():
            return
        if not self.out.is_dir():
            raise ReleaseError(
                "a file stands where the release folder must be", where=str(self.out), remedy="name another folder"
            )
        if any(self.out.iterdir()) and not _is_ours(self.out / MANIFEST_NAME):
            raise ReleaseError(
                "the folder is not empty and holds no release; it stays as it is",
                where=str(self.out),
                remedy="name an empty or new folder, or the folder of an older release",
            )


def _is_ours(manifest: Path) -> bool:
    """Tell whether a manifest is one that this package writes; other programs use the name too."""
    try:
        value = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value.keys() & OWN_KEYS)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
