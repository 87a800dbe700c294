"""Progress of long work, on stderr: a live bar on a terminal, a line now and then in a log."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

LOG_EVERY_S = 10.0


class Meter:
    """Counts finished work and tells rate and remaining time.

    Use as a context manager. `unit` names what is counted; what was finished by an earlier run
    counts as done and not towards the rate. `is_silent` is for the processes beside the first of several.
    """

    def __init__(self, label: str, total: int, unit: str, *, is_silent: bool = False) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._done = self._new = 0
        self._started = self._logged = time.monotonic()
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
        self._bar = Progress(*columns, console=console, disable=is_silent or not console.is_terminal)
        self._log = None if is_silent or console.is_terminal else console
        self._task: TaskID = self._bar.add_task(label, total=total, state="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def restart_clock(self) -> None:
        """Measure the rate from now on: what went before, as loading a model, is not work of this kind."""
        self._started = time.monotonic()

    def advance(self, amount: int, *, reused: bool = False) -> None:
        """Count finished work."""
        now = time.monotonic()
        self._done += amount
        self._new += 0 if reused else amount
        state = self.state(now - self._started)
        self._bar.update(self._task, completed=self._done, state=state)
        is_due = now - self._logged >= LOG_EVERY_S or self._done == self._total
        if self._log is not None and is_due:
            self._logged = now
            self._log.print(f"{self._label}: {state}", highlight=False, soft_wrap=True)

    def state(self, elapsed_s: float) -> str:
        """Say how far the work is, for example `48/110 questions · 1.1/s · ETA 0:56`."""
        parts = [f"{self._done}/{self._total} {self._unit}"]
        if self._new and elapsed_s > 0:
            rate = self._new / elapsed_s
            remaining_s = round((self._total - self._done) / rate)
            parts.append(f"{rate:.3g}/s")
            parts.append(f"ETA {remaining_s // 3600}:{remaining_s // 60 % 60:02d}:{remaining_s % 60:02d}")
        return " · ".join(parts)
