"""Charts: where marks stand, worked out by hand from the plot's borders, and the numbers behind them."""

from hypothesis import given
from hypothesis import strategies as st

from leaderboard.charts import BOTTOM, LEFT, RIGHT, TOP, histogram, reliability, risk_coverage

BIN = {
    "low": 0.5,
    "high": 0.6,
    "n": 4,
    "n_correct": 1,
    "mean_confidence": 0.55,
    "accuracy": 0.25,
    "ci_low": 0.0,
    "ci_high": 0.75,
}


def test_plot_borders() -> None:
    assert (LEFT, RIGHT, TOP, BOTTOM) == (40, 308, 12, 188)


def test_reliability() -> None:
    chart = reliability("r", [BIN])
    (dot,) = chart.dots
    # x = 40 + 268 * 0.55 = 187.4; y = 188 - 176 * 0.25 = 144; the only bin is the largest: radius 2.5 + 4
    assert (dot.x, dot.y, dot.radius) == (187.4, 144.0, 6.5)
    (whisker,) = [segment for segment in chart.segments if segment.role == "whisker"]
    assert (whisker.y1, whisker.y2) == (188.0, 56.0)  # 188 - 176 * 0.75 = 56
    assert [label.text for label in chart.labels if label.role == "count"] == ["4"]
    assert chart.rows == (("0.5 to 0.6", "4", "1", "0.550", "0.250", "0.000 to 0.750"),)


def test_risk_coverage() -> None:
    chart = risk_coverage("c", [[0.5, 0.0], [1.0, 0.5]])
    assert chart.curve == "174.0,188.0 308.0,100.0"  # 40 + 268 / 2, 188; 308, 188 - 176 / 2
    (base,) = [segment for segment in chart.segments if segment.role == "base"]
    assert base.y1 == base.y2 == 100.0
    assert chart.rows == (("0.500", "0.000"), ("1.000", "0.500"))


def test_a_long_curve_has_a_short_table_with_both_ends() -> None:
    points = [[k / 200, 0.5] for k in range(1, 201)]
    rows = risk_coverage("c", points).rows
    assert len(rows) == 21
    assert (rows[0][0], rows[-1][0]) == ("0.005", "1.000")


def test_histogram_stacks_right_answers_on_wrong_ones() -> None:
    chart = histogram("h", [{"low": 0.0, "high": 0.1, "n_correct": 2, "n_wrong": 6}])
    wrong, right = chart.boxes
    # The axis ends at 8 answers: 22 units each. Wrong from 188 up by 132, right on top by 44.
    assert (wrong.role, wrong.y, wrong.height) == ("wrong", 56.0, 132.0)
    assert (right.role, right.y, right.height) == ("right", 12.0, 44.0)


def test_counts_are_whole_at_every_tick() -> None:
    def ticks(n_wrong: int) -> list[str]:
        chart = histogram("h", [{"low": 0.0, "high": 0.1, "n_correct": 0, "n_wrong": n_wrong}])
        return [label.text for label in chart.labels if label.role == "tick" and label.anchor == "end"]

    # The axis ends at the next of 1, 2, 4, 6, 8, 10: half of 1 is no count of answers.
    assert (ticks(1), ticks(2), ticks(3)) == (["0", "1"], ["0", "1", "2"], ["0", "2", "4"])


def test_charts_of_nothing_have_no_marks() -> None:
    assert reliability("r", []).dots == ()
    assert risk_coverage("c", []).curve == ""
    assert histogram("h", []).boxes == ()


@given(st.integers(1, 10**7), st.integers(0, 10**7))
def test_bars_stay_in_the_plot(n_correct: int, n_wrong: int) -> None:
    boxes = histogram("h", [{"low": 0.9, "high": 1.0, "n_correct": n_correct, "n_wrong": n_wrong}]).boxes
    assert all(box.y >= TOP and box.y + box.height <= BOTTOM + 0.01 for box in boxes)
    assert sum(box.height for box in boxes) > (BOTTOM - TOP) / 2.1
