"""The meter on a clock of its own."""

from collections.abc import Iterator
from io import StringIO

from rich.console import Console

from honestybench.progress import Meter


def log(*times: float, done: int = 20) -> list[str]:
    """What a log of 100 rows holds when `done` more are done at each of the times; the meter starts at 0."""
    clock: Iterator[float] = iter((0.0, *times))
    told = StringIO()
    with Meter("baselines", 100, "rows", console=Console(file=told, width=200), clock=lambda: next(clock)) as meter:
        for count in range(1, len(times) + 1):
            meter.update(count * done, 100)
    return told.getvalue().splitlines()


def test_short_work_says_nothing() -> None:
    assert log(0.5, 1, 1.5, 2, 2.5) == []


def test_long_work_tells_rate_and_remaining_time_now_and_then() -> None:
    # 40 rows in 4 s are 10/s, and 60 remain; 5 s is too soon for a second line; 100 rows in 14 s are 7.1/s.
    assert log(1, 4, 5, 6, 14) == [
        "baselines: 40/100 rows · 10/s · ETA 0:00:06",
        "baselines: 100/100 rows · 7.1/s · ETA 0:00:00",
    ]


def test_a_terminal_gets_a_bar_that_goes_away() -> None:
    told = StringIO()
    console = Console(file=told, force_terminal=True, width=100)
    clock = iter((0.0, 10.0))
    with Meter("baselines", 100, "rows", console=console, clock=lambda: next(clock)) as meter:
        meter.update(50, 100)
    assert "50/100 rows · 5/s · ETA 0:00:10" in told.getvalue()
    assert "\x1b[2K" in told.getvalue()


def test_what_an_earlier_run_finished_counts_as_done_and_not_towards_the_rate() -> None:
    told = StringIO()
    clock = iter((0.0, 5.0, 10.0))
    with Meter("rows", 100, "rows", quiet_s=0, console=Console(file=told), clock=lambda: next(clock)) as meter:
        meter.advance(60, reused=True)
        meter.advance(20)
    # The second line is due at the end alone: 20 rows in 10 s are 2/s.
    assert told.getvalue().splitlines() == ["rows: 60/100 rows"]


def test_a_silent_meter_says_nothing() -> None:
    told = StringIO()
    clock = iter((0.0, 50.0))
    with Meter("rows", 1, "rows", quiet_s=None, console=Console(file=told), clock=lambda: next(clock)) as meter:
        meter.advance(1)
    assert told.getvalue() == ""
