"""Numbers as text, gaps with reasons, outside text and links made harmless."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.cells import Notes, Scale, decimal, number, share, shown, some, web_link


def value(number_=None, low=None, high=None, reason=None):
    return {"value": number_, "ci_low": low, "ci_high": high, "n": 7, "reason": reason}


@pytest.mark.parametrize(
    ("given_", "text"),
    [(0.5, "0.500"), (0.0004, "0.000"), (-0.0004, "0.000"), (-0.25, "\N{MINUS SIGN}0.250"), (1, "1.000")],
)
def test_decimal(given_: float, text: str) -> None:
    assert decimal(given_) == text


@pytest.mark.parametrize(("counted", "text"), [(0, "no labels"), (1, "1 label"), (1000, "1,000 labels")])
def test_some(counted: int, text: str) -> None:
    assert some(counted, "label", "labels") == text


def test_share_of_nothing_is_a_gap() -> None:
    assert (share(1, 8), share(0, 0)) == ("12.5 %", "–")


def test_missing_value_is_a_gap_with_its_reason_and_never_a_zero() -> None:
    notes = Notes()
    cells = [number(value(reason=reason), notes) for reason in ("all wrong", "not computed", "all wrong")]
    assert [(cell.text, cell.note, cell.below) for cell in cells] == [
        ("–", "a", None),
        ("–", "b", None),
        ("–", "a", None),
    ]
    assert [(note.mark, note.reason) for note in notes.all()] == [("a", "all wrong"), ("b", "not computed")]


def test_zero_is_a_value() -> None:
    cell = number(value(0.0, 0.0, 0.1), Notes())
    assert (cell.text, cell.below, cell.note) == ("0.000", "0.000 to 0.100", None)


def test_marks_go_on_after_z() -> None:
    notes = Notes()
    assert [notes.mark(str(k)) for k in range(28)][-3:] == ["z", "aa", "ab"]


def test_scale_holds_chance_and_all_intervals() -> None:
    scale = Scale.around([value(0.9, 0.87, 0.93), value(0.42, 0.27, 0.6), value(reason="none")])
    assert scale.low == 0.2  # the tenth below 0.27
    # 1 + 98 (v - 0.2) / 0.8 per cent: 0.2 -> 1, 0.5 -> 37.75, 0.6 -> 50, 1 -> 99
    assert [scale.place(v) for v in (0.2, 0.5, 0.6, 1.0)] == [1.0, 37.75, 50.0, 99.0]
    assert scale.ticks() == ((37.75, "0.5"), (99.0, "1.0"))
    bar = scale.bar(value(0.6, None, None))
    assert bar is not None
    assert (bar.value, bar.low, bar.high, bar.chance) == (50.0, None, None, 37.75)
    assert Scale.around([]).low == 0.4


@given(st.floats(0, 1), st.floats(0, 1))
def test_every_place_is_on_the_bar(first: float, second: float) -> None:
    scale = Scale.around([value(first), value(second)])
    assert all(1 <= scale.place(each) <= 99 for each in (first, second, 0.5, 1.0))


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " https://example.org",
        "https://example.org/a b",
        "https://user:password@example.org",
        "https:///nowhere",
        "//example.org",
        "data:text/html,x",
        "https://example.org/\u202e",
        'https://example.org/"onmouseover="x',
        "https://example.org\\@evil.example",
        "https://[::1",
        "file:///etc/passwd",
        "",
        None,
    ],
)
def test_only_plain_web_links_pass(address: str | None) -> None:
    assert web_link(address) is None


@pytest.mark.parametrize("address", ["https://example.org", "http://example.org:8080/a?b=c&d=e#f"])
def test_plain_web_link_passes(address: str) -> None:
    assert web_link(address) == address


@given(st.text(st.characters(exclude_categories=[])))
def test_shown_text_can_be_written(text: str) -> None:
    clean = shown(text)
    assert len(clean) == len(text)
    assert "\x00" not in clean
    clean.encode("utf-8")
