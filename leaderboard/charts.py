"""Charts as plain geometry: a template draws them as inline SVG, with the same numbers in a table behind.

A chart has 320 × 240 units; its plot spans LEFT … RIGHT and TOP … BOTTOM. Every `role` is a class of the style sheet.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from honestybench.scorecard import HistogramBin, ReliabilityBin
from leaderboard.cells import decimal

WIDTH, HEIGHT = 320, 224
LEFT, RIGHT, TOP, BOTTOM = 40, 308, 12, 188
COUNTS_TOP, COUNTS_BOTTOM, COUNTS_HEIGHT = 206, 222, 32
"""The strip below the plot that tells how many answers a bin holds, and the height that it adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A straight line."""

    role: str
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A filled rectangle."""

    role: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A filled circle."""

    role: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A piece of text; `anchor` is start, middle or end, `upright` turns it by 90 degrees."""

    role: str
    x: float
    y: float
    anchor: str
    text: str
    upright: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One entry of a chart's legend."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One drawing with its words and its numbers. `curve` is the points of a polyline, "" without one."""

    id: str
    title: str
    desc: str
    width: int = WIDTH
    height: int = HEIGHT
    boxes: tuple[Box, ...] = ()
    segments: tuple[Segment, ...] = ()
    curve: str = ""
    dots: tuple[Dot, ...] = ()
    labels: tuple[Label, ...] = ()
    legend: tuple[Key, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def reliability(chart_id: str, bins: Sequence[ReliabilityBin]) -> Chart:
    """Draw accuracy against mean confidence per bin, with 95 % intervals and the number of answers."""
    segments = [*_grid(), Segment(role="ideal", x1=_x(0), y1=_y(0), x2=_x(1), y2=_y(1))]
    dots, labels, boxes = [], [*_unit_axes("mean confidence", "share correct", HEIGHT + COUNTS_HEIGHT)], []
    most = max((entry["n"] for entry in bins), default=1)
    rows = []
    for entry in bins:
        x, y = _x(entry["mean_confidence"]), _y(entry["accuracy"])
        segments.append(Segment(role="whisker", x1=x, y1=_y(entry["ci_low"]), x2=x, y2=_y(entry["ci_high"])))
        dots.append(Dot(role="point", x=x, y=y, radius=round(2.5 + 4 * math.sqrt(entry["n"] / most), 2)))
        boxes.append(_count_box(entry, most))
        middle = _x((entry["low"] + entry["high"]) / 2)
        labels.append(Label(role="count", x=middle, y=COUNTS_BOTTOM + 12, anchor="middle", text=f"{entry['n']:,}"))
        interval = f"{decimal(entry['ci_low'])} to {decimal(entry['ci_high'])}"
        rows.append(
            (
                _bin(entry),
                f"{entry['n']:,}",
                f"{entry['n_correct']:,}",
                decimal(entry["mean_confidence"]),
                decimal(entry["accuracy"]),
                interval,
            )
        )
    return Chart(
        id=chart_id,
        title="Reliability",
        desc="Share of correct answers against mean confidence, in bins of confidence; on the diagonal the two are "
        "equal. Vertical lines are 95 % intervals; the numbers below count the answers of a bin.",
        height=HEIGHT + COUNTS_HEIGHT,
        boxes=tuple(boxes),
        segments=tuple(segments),
        dots=tuple(dots),
        labels=tuple(labels),
        legend=(Key(role="point", text="bin with 95 % interval"), Key(role="ideal", text="perfectly calibrated")),
        columns=("confidence", "answers", "correct", "mean confidence", "share correct", "95 % interval"),
        rows=tuple(rows),
    )


def risk_coverage(chart_id: str, points: Sequence[Sequence[float]]) -> Chart:
    """Draw the share of wrong answers among the most confident ones, as more and more are answered."""
    segments = list(_grid())
    if points:
        base = _y(points[-1][1])
        segments.append(Segment(role="base", x1=_x(0), y1=base, x2=_x(1), y2=base))
    curve = " ".join(f"{_x(coverage)},{_y(risk)}" for coverage, risk in points)
    return Chart(
        id=chart_id,
        title="Risk and coverage",
        desc="Share of wrong answers among the most confident ones, against the share of questions answered; the "
        "dashed line is the share when all are answered. Lower is better.",
        segments=tuple(segments),
        curve=curve,
        labels=tuple(_unit_axes("share answered, most confident first", "share wrong")),
        legend=(Key(role="curve", text="this system"), Key(role="base", text="all answered")),
        columns=("share answered", "share wrong"),
        rows=tuple((decimal(coverage), decimal(risk)) for coverage, risk in _thinned(points)),
    )


def histogram(chart_id: str, bins: Sequence[HistogramBin]) -> Chart:
    """Draw how many right and wrong answers got which confidence, one on the other."""
    most = max((entry["n_correct"] + entry["n_wrong"] for entry in bins), default=1) or 1
    top = _round_up(most)
    boxes, labels = [], [*_x_axis("confidence"), *_count_axis(top)]
    for entry in bins:
        x, width = _x(entry["low"]) + 1, _x(entry["high"]) - _x(entry["low"]) - 2
        wrong, total = _y(entry["n_wrong"] / top), _y((entry["n_wrong"] + entry["n_correct"]) / top)
        boxes.append(Box(role="wrong", x=round(x, 2), y=wrong, width=round(width, 2), height=round(BOTTOM - wrong, 2)))
        boxes.append(Box(role="right", x=round(x, 2), y=total, width=round(width, 2), height=round(wrong - total, 2)))
    return Chart(
        id=chart_id,
        title="Confidence by correctness",
        desc="Number of answers by confidence, wrong answers below and correct ones on top of them.",
        boxes=tuple(box for box in boxes if box.height > 0),
        segments=tuple(_grid(vertical=False)),
        labels=tuple(labels),
        legend=(Key(role="right", text="correct"), Key(role="wrong", text="wrong")),
        columns=("confidence", "correct", "wrong"),
        rows=tuple((_bin(entry), f"{entry['n_correct']:,}", f"{entry['n_wrong']:,}") for entry in bins),
    )


def _x(value: float) -> float:
    return round(LEFT + (RIGHT - LEFT) * value, 2)


def _y(value: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * value, 2)


def _grid(*, vertical: bool = True) -> list[Segment]:
    steps = (0.0, 0.25, 0.5, 0.75, 1.0)
    level = [Segment(role="grid", x1=_x(0), y1=_y(step), x2=_x(1), y2=_y(step)) for step in steps]
    return level + [Segment(role="grid", x1=_x(step), y1=_y(0), x2=_x(step), y2=_y(1)) for step in steps if vertical]


def _unit_axes(x_name: str, y_name: str, height: int = HEIGHT) -> list[Label]:
    steps = (0.0, 0.5, 1.0)
    ticks = [Label(role="tick", x=LEFT - 6, y=_y(step) + 4, anchor="end", text=f"{step:.1f}") for step in steps]
    return [*_x_axis(x_name, height), *ticks, _y_name(y_name)]


def _x_axis(name: str, height: int = HEIGHT) -> list[Label]:
    ticks = [
        Label(role="tick", x=_x(step), y=BOTTOM + 14, anchor="middle", text=f"{step:.1f}") for step in (0.0, 0.5, 1.0)
    ]
    return [*ticks, Label(role="axis", x=_x(0.5), y=height - 4, anchor="middle", text=name)]


def _count_axis(top: int) -> list[Label]:
    # Half of an odd top is no count.
    counts = (0, top) if top % 2 else (0, top // 2, top)
    ticks = [Label(role="tick", x=LEFT - 6, y=_y(count / top) + 4, anchor="end", text=f"{count:,}") for count in counts]
    return [*ticks, _y_name("answers")]


def _y_name(name: str) -> Label:
    return Label(role="axis", x=11, y=(TOP + BOTTOM) / 2, anchor="middle", text=name, upright=True)


def _count_box(entry: ReliabilityBin, most: int) -> Box:
    height = round((COUNTS_BOTTOM - COUNTS_TOP) * entry["n"] / most, 2)
    x, width = _x(entry["low"]) + 1, _x(entry["high"]) - _x(entry["low"]) - 2
    return Box(role="bin", x=round(x, 2), y=round(COUNTS_BOTTOM - height, 2), width=round(width, 2), height=height)


def _bin(entry: ReliabilityBin | HistogramBin) -> str:
    return f"{entry['low']:.1f} to {entry['high']:.1f}"


def _round_up(value: int) -> int:
    """Give the next even number of the form 1, 2 or 5 times a power of ten, or 10 times as fine."""
    unit: int = 10 ** max(0, math.floor(math.log10(value)))
    return next(
        step for step in (unit * k for k in (1, 2, 4, 6, 8, 10)) if step >= value and (step % 2 == 0 or unit == 1)
    )


def _thinned(points: Sequence[Sequence[float]], most: int = 21) -> list[Sequence[float]]:
    """Keep about 21 points, the last among them: a table of 200 rows helps nobody."""
    if len(points) <= most:
        return list(points)
    return [points[round(k * (len(points) - 1) / (most - 1))] for k in range(most)]
