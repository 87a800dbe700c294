import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestybench.passes.number import parse_number


@pytest.mark.parametrize(
    ("reply", "confidence"),
    [
        ("0.8", 0.8),
        (".8", 0.8),
        ("1", 1.0),
        ("1.0", 1.0),
        ("0", 0.0),
        (" 0.80\n", 0.8),
        ("80%", 0.8),
        ("80 %", 0.8),
        ("100 percent", 1.0),
        ("8/10", 0.8),
        ("85 out of 100", 0.85),
        ("0.8 out of 1", 0.8),
        ("0.8/1", 0.8),
        ("0.8/1.0", 0.8),
        ("Confidence: 0.8", 0.8),
        ("**Confidence:** 0.8", 0.8),
        ("I'd say 0.75.", 0.75),
        ("My confidence is about 0.8", 0.8),
        ("0.85 (between 0 and 1)", 0.85),
        ("On a scale from 0 to 1, I'd say 0.3", 0.3),
        ("I am not sure. Confidence: 0.3", None),  # A denial before the number may deny it.
        ("0.8, because I am not sure.", 0.8),
        ("80% confident.", 0.8),
        ("0.8 confidence (80%)", 0.8),
        ("０.８", 0.8),  # Full-width digits.
    ],
)
def test_a_clear_number_is_read(reply: str, confidence: float | None) -> None:
    assert parse_number(reply) == confidence


@pytest.mark.parametrize(
    "reply",
    [
        *("", " ", "yes", "high", "-0.5", "\u22120.5", "+0.5", "1.5", "95", "8", "110%", "11/10", "8/20", "3 out of 4"),
        *("0.8 or 0.9", "0.6-0.8", "0.6 to 0.8", "between 0.6 and 0.8", "between 0 and 1", "0,8", "1,000", "0.8.5"),
        *("1e-3", "v0.8", "0.8x", "1989", "not 0.8", "It isn't about 0.8", "less than 0.5", "Answer 1", "nan", "½"),
        *("The answer is 1.", "My answer: 1", "> 0.9", "<0.5", "Confidence > 0.9"),
        *("0.8\nQuestion: what is 2 and 2?", "The year is 1989. Confidence: 0.8"),
    ],
)
def test_nothing_else_is_a_number(reply: str) -> None:
    assert parse_number(reply) is None


@pytest.mark.parametrize(
    ("reply", "confidence"),
    [
        *(("Confidence: 0.", None), ("0", None), ("0.9", None), ("0.95", None), (".9", None)),
        *(("0.9500000", 0.95), ("0.8, because", 0.8), ("80% sure. And", 0.8)),
    ],
)
def test_a_number_that_the_limit_of_tokens_cut_off_is_none(reply: str, confidence: float | None) -> None:
    assert parse_number(reply, is_cut=True) == confidence


@given(st.text(max_size=60) | st.text(alphabet="0123456789./%- :,\nabout is of to and", max_size=40))
def test_any_reply_gives_a_number_in_the_range_or_nothing(reply: str) -> None:
    confidence = parse_number(reply)
    assert confidence is None or 0 <= confidence <= 1


@given(st.integers(0, 100), st.sampled_from(["{:.2f}", "Confidence: {:.2f}", "I'd say {:.2f}.", "{:.2f}/1\nThanks"]))
def test_every_two_decimal_number_is_read_back(hundredths: int, form: str) -> None:
    assert parse_number(form.format(hundredths / 100)) == hundredths / 100


@given(st.integers(0, 100), st.integers(0, 100))
def test_two_numbers_parse_only_when_they_are_one(first: int, second: int) -> None:
    expected = first / 100 if first == second else None
    assert parse_number(f"{first}%. In fact, {second}%") == expected
