"""Clean text: what it repairs, and that it never touches what needs no repair."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.base import SourceRow
from builders.clean import clean_answers, clean_question, clean_text


@pytest.mark.parametrize(
    ("published", "cleaned"),
    [
        ("54\xa0Mbit/s", "54 Mbit/s"),  # NQ
        ("Brazilian ", "Brazilian"),  # ComplexWebQuestions
        ("sports team  named Iowa State", "sports team named Iowa State"),  # ComplexWebQuestions
        ("the UTC\xe2\x88\x9205:00 time zone", "the UTC\u221205:00 time zone"),  # ComplexWebQuestions
        ("Goi\xc3\xa1s", "Goi\xe1s"),  # ComplexWebQuestions
        ("\xc3\x96mn\xc3\xb6govi", "\xd6mn\xf6govi"),  # ComplexWebQuestions
        ("Zaka\u0304t", "Zak\u0101t"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"),
        ("Ma\u0142gorzata Braunek", "Ma\u0142gorzata Braunek"),
        ("caf\xe9", "caf\xe9"),
        ("", ""),
    ],
)
def test_clean_text(published: str, cleaned: str) -> None:
    assert clean_text(published) == cleaned


@given(st.text())
def test_clean_text_is_nfc_without_stray_blanks(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned == " ".join(cleaned.split())
    assert unicodedata.is_normalized("NFC", cleaned)


@given(st.text(alphabet=st.characters(max_codepoint=126, min_codepoint=33)))
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert clean_text(text) == text


def test_nothing_changed_is_none() -> None:
    row = SourceRow(question="who wrote it", answers=("David Hemmings",))
    assert (clean_question(row), clean_answers(row)) == (None, None)


def test_a_repaired_question_replaces_the_published_one() -> None:
    row = SourceRow(question="What does X play?", answers=("jazz",), question_repaired="What genre is X?")
    assert clean_question(row) == "What genre is X?"


@pytest.mark.parametrize(
    ("golds", "cleaned"),
    [
        (("54\xa0Mbit/s",), ("54 Mbit/s",)),
        (("American Dollar", "$", "US $"), ("American Dollar", "US $")),  # "$" normalises to nothing
        (("April\xa01, 2016", "April 1, 2016"), ("April 1, 2016",)),  # equal once cleaned
        (("Uganda", "\U0001f1fa\U0001f1ec"), ("Uganda",)),  # PopQA: a flag
        (("The The",), None),  # HotpotQA: none would be left
        (("",), None),  # ComplexWebQuestions
    ],
)
def test_clean_answers(golds: tuple[str, ...], cleaned: tuple[str, ...] | None) -> None:
    assert clean_answers(SourceRow(question="q", answers=golds)) == cleaned


def test_every_answer_the_layout_knows_is_in_the_clean_golds() -> None:
    row = SourceRow(question="q", answers=("Brazil",), answers_repaired=("Brazil", "Chile "))
    assert clean_answers(row) == ("Brazil", "Chile")


def test_multiple_choice_keeps_its_lines_and_its_letter() -> None:
    choices = ("325 CE", "119 CE", "451 CE", "596 CE")
    published = " When was the first  temple built?\nA.325 CE\nB.119 CE\nC.451 CE\nD.596 CE\n"
    row = SourceRow(question=published, answers=("A",), choices=choices)
    assert clean_question(row) == "When was the first temple built?\nA.325 CE\nB.119 CE\nC.451 CE\nD.596 CE\n"
    assert clean_answers(row) is None
