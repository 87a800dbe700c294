import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestybench.normalize import (
    contains_on_word_borders,
    content_words,
    normalize_answer,
    normalize_question,
    numbers_of,
    overlap_f1,
    token_f1,
)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Denver Broncos!", "denver broncos"),
        ("Muhammad Zia-ul-Haq", "muhammad zia ul haq"),
        ("Wilhelm Conrad Röntgen", "wilhelm conrad rontgen"),
        ("Trịnh Bính", "trinh binh"),
        ("Besøker Łódź, Straße", "besoker lodz strasse"),
        ("Levi's Stadium", "levi s stadium"),
        ("Coffee Dan\u2019S", "coffee dan s"),
        ("Hawai\u02bbi and the Qur'an", "hawaii and quran"),
        ("J. R. R. Tolkien", "jrr tolkien"),
        ("J.R.R. Tolkien", "jrr tolkien"),
        ("the U.S.", "us"),
        ("Harry S.Truman", "harry s truman"),
        ("Procter & Gamble", "procter and gamble"),
        ("1,234.5", "1234.5"),
        ("1,2,3", "1 2 3"),
        ("It was -3, not 3.", "it was -3 not 3"),
        ("1943\u20131992", "1943 1992"),
        ("1943-1992", "1943 1992"),
        ("12.05.1999", "12 05 1999"),
        ("40,000km", "40000 km"),
        ("October\xa06,\xa02017", "october 6 2017"),
        ("zero\u200bwidth", "zerowidth"),
        ("\uff26\uff35\uff2c\uff2c", "full"),
        ("हिन्दी", "हिन्दी"),
        # Real golds that hold nothing to compare.
        (")", ""),
        ("---", ""),
        ("*", ""),
        ("A+", ""),
        ("$", ""),
        ("The The", ""),
        ("!!!", ""),
        ("🇳🇵", ""),
        ("", ""),
    ],
)
def test_normalize_answer(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


def test_question_keeps_diacritics() -> None:
    assert normalize_question("In what country is Pará?") == "in what country is pará"
    assert normalize_question("In what country is Pará?") != normalize_question("In what country is Para?")


@settings(deadline=None)
@given(st.text())
def test_normalisation_is_idempotent_and_blind_to_case_and_unicode_form(text: str) -> None:
    normal = normalize_answer(text)
    assert normalize_answer(normal) == normal
    assert normal == " ".join(normal.split())
    assert normalize_answer(unicodedata.normalize("NFD", text)) == normalize_answer(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("haystack", "needle", "holds"),
    [
        ("She works at Ford's.", "Ford", True),
        ("Wolfville, Nova Scotia", "nova scotia", True),
        ("spring of 1349", "1349", True),
        ("Afford it", "Ford", False),
        ("1234.5", "1234", False),
        ("x y z", "x z", False),
        ("anything", "", False),
        ("anything", "!!!", False),
        ("", "", False),
    ],
)
def test_contains_on_word_borders(haystack: str, needle: str, holds: bool) -> None:
    assert contains_on_word_borders(haystack, needle) is holds


@settings(deadline=None)
@given(st.text(), st.text(), st.text())
def test_a_text_contains_its_middle(before: str, middle: str, after: str) -> None:
    words = [normalize_answer(part) for part in (before, middle, after)]
    assert contains_on_word_borders(" ".join(words), words[1]) is bool(words[1])


def test_token_f1() -> None:
    # Shared: denver, broncos. Precision 2/4, recall 2/2, so F1 = 2 * 2 / (4 + 2).
    assert token_f1("Denver Broncos of Colorado", "the Denver Broncos") == pytest.approx(2 / 3, abs=1e-12)
    # One "new" of the prediction meets one of the gold's two: 2 * 1 / (1 + 2).
    assert token_f1("new", "new new") == pytest.approx(2 / 3, abs=1e-12)
    assert token_f1("Paris", "London") == 0
    assert token_f1("", "") == 0
    assert token_f1("The The", "!!!") == 0


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")))
def test_f1_is_symmetric_bounded_and_one_only_for_equal_bags(first: list[str], second: list[str]) -> None:
    f1 = overlap_f1(first, second)
    assert f1 == overlap_f1(second, first)
    assert 0 <= f1 <= 1
    assert (f1 == 1) == (bool(first) and sorted(first) == sorted(second))


def test_content_words() -> None:
    assert content_words("Which is the Spanish Language", "what language do they speak?") == ("spanish",)
    assert content_words("Is it in the", "") == ()
    assert content_words("two new new cities") == ("two", "new", "new", "cities")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,000", {"1000"}),
        ("1000.0", {"1000"}),
        ("one thousand", {"1000"}),
        ("a hundred", {"100"}),
        ("2.666 million", {"2666000"}),
        ("$40 million", {"40000000"}),
        ("twenty-four judges", {"24"}),
        ("the 24th", {"24"}),
        ("the sixth season", {"6"}),
        ("thirtieth", {"30"}),
        ("twelve", {"12"}),
        ("Henry VIII", {"8"}),
        ("Charles V and I", set()),
        ("one of the largest", set()),
        ("no one", set()),
        ("one", {"1"}),
        ("the 1990s", {"1990s"}),
        ("30's", {"30s"}),
        ("-3 degrees", {"-3"}),
        ("5%", {"5"}),
        ("May 18, 2018", {"m05", "18", "2018"}),
        ("18 May 2018", {"m05", "18", "2018"}),
        ("July of 1899", {"m07", "1899"}),
        ("30 Nov 1999", {"m11", "30", "1999"}),
        ("in August", {"m08"}),
        ("Theresa May", set()),
        ("They march home", set()),
        ("42\u201362 minutes", {"42", "62"}),
        ("2Pac", {"2"}),
        ("", set()),
    ],
)
def test_numbers_of(text: str, values: set[str]) -> None:
    assert numbers_of(text) == values


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=10**12))
def test_thousands_commas_do_not_change_a_value(number: int) -> None:
    assert numbers_of(f"{number:,}") == {str(number)}


@settings(deadline=None)
@given(st.text())
def test_numbers_of_any_text(text: str) -> None:
    assert all(value and value == value.strip() for value in numbers_of(text))
