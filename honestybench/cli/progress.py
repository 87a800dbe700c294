"""Progress of long work, on stderr: nothing at first, then a live bar on a terminal or a line now and then in a log."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

QUIET_S = 3.0
"""Work that takes less is not worth a line."""
LOG_EVERY_S = 10.0


class Meter:
    """Shows how far a piece of work is, its rate and the time that remains.

    Use as a context manager and call `update`. `unit` names what is counted. The clock counts seconds.
    """

    def __init__(
        self,
        label: str,
        unit: str,
        *,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label, self._unit, self._clock = label, unit, clock
        self._console = console or Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._task = self._bar.add_task(label, state="")
        self._started = clock()
        self._due = self._started + QUIET_S

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar.live.is_started:  # A bar that never began would end with an empty line.
            self._bar.stop()

    def update(self, done: int, total: int) -> None:
        """Tell how much is done, of how much."""
        now = self._clock()
        if now < self._due:
            return
        state = self._state(done, total, now - self._started)
        if self._console.is_terminal:
            self._bar.start()
            self._bar.update(self._task, total=total, completed=done, state=state)
        else:
            self._due = now + LOG_EVERY_S
            self._console.print(f"{self._label}: {state}", highlight=False, soft_wrap=True)

    def _state(self, done: int, total: int, elapsed_s: float) -> str:
        """Say how far the work is, for example `48,000/70,709 questions · 1,900/s · ETA 0:00:12`."""
        parts = [f"{done:,}/{total:,} {self._unit}"]
        if done and elapsed_s > 0:
            rate = done / elapsed_s
            remaining_s = round((total - done) / rate)
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s")
            parts.append(f"ETA {remaining_s // 3600}:{remaining_s // 60 % 60:02d}:{remaining_s % 60:02d}")
        return " · ".join(parts)
