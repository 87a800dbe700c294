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
    """Counts finished work and tells rate and remaining time.

    Use as a context manager. `unit` names what is counted; what was finished by an earlier run counts as done and
    not towards the rate. `quiet_s` None says nothing at all: for the processes beside the first of several.
    """

    def __init__(
        self,
        label: str,
        total: int,
        unit: str,
        *,
        quiet_s: float | None = QUIET_S,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label, self._total, self._unit, self._clock = label, total, unit, clock
        self._done = self._new = 0
        self._console = console or Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._task = self._bar.add_task(label, state="")
        self._started = self._began = clock()
        self._quiet_s = quiet_s
        self._logged: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar.live.is_started:  # A bar that never began would end with an empty line.
            self._bar.stop()

    def restart_clock(self) -> None:
        """Measure the rate from now on: what went before, as loading a model, is not work of this kind."""
        self._started = self._clock()

    def advance(self, amount: int, *, reused: bool = False) -> None:
        """Count finished work."""
        self._done += amount
        self._new += 0 if reused else amount
        self._show()

    def update(self, done: int, total: int) -> None:
        """Tell how much is done, of how much, where the total was not known before."""
        self._new += done - self._done
        self._done, self._total = done, total
        self._show()

    def _show(self) -> None:
        now = self._clock()
        if self._quiet_s is None or now - self._began < self._quiet_s:
            return
        state = self._state(now - self._started)
        if self._console.is_terminal:
            self._bar.start()
            self._bar.update(self._task, total=self._total, completed=self._done, state=state)
        elif self._logged is None or now - self._logged >= LOG_EVERY_S or self._done == self._total:
            self._logged = now
            self._console.print(f"{self._label}: {state}", highlight=False, soft_wrap=True)

    def _state(self, elapsed_s: float) -> str:
        """Say how far the work is, for example `48,000/70,709 questions · 1,900/s · ETA 0:00:12`."""
        parts = [f"{self._done:,}/{self._total:,} {self._unit}"]
        if self._new and elapsed_s > 0:
            rate = self._new / elapsed_s
            remaining_s = round((self._total - self._done) / rate)
            parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s")
            parts.append(f"ETA {remaining_s // 3600}:{remaining_s // 60 % 60:02d}:{remaining_s % 60:02d}")
        return " · ".join(parts)
