"""Repair texts without changing what they say: the clean columns beside the published ones."""

import unicodedata

from builders.base import SourceRow
from honestybench.normalize import normalize_answer

# Invisible characters that carry no meaning anywhere; U+200C and U+200D shape words and emoji, so they stay.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufeff"))


def clean_text(text: str) -> str:
    """Undo mojibake, normalise to NFC, drop invisible characters, collapse and strip blanks of any kind."""
    return " ".join(unicodedata.normalize("NFC", undo_mojibake(text).translate(_INVISIBLE)).split())


def undo_mojibake(text: str) -> str:
    """Read a text again as the UTF-8 it was before it was taken for Latin-1; unchanged where that fails."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def clean_question(row: SourceRow) -> str | None:
    """Return the repaired question, None where nothing changes.

    A multiple-choice question is cleaned line by line: its lines are part of the format.
    """
    text = row.question if row.question_repaired is None else row.question_repaired
    cleaned = clean_text(text) if row.choices is None else "\n".join(map(clean_text, text.split("\n")))
    return None if cleaned == row.question else cleaned


def clean_answers(row: SourceRow) -> tuple[str, ...] | None:
    """Return the repaired golds in their order, None where nothing changes or none would be left.

    Golds that normalise to nothing are dropped, also repeats. The gold of a multiple-choice
    question is a letter and stays as it is.
    """
    if row.choices is not None:
        return None
    golds = row.answers if row.answers_repaired is None else row.answers_repaired
    cleaned = tuple(dict.fromkeys(gold for gold in map(clean_text, golds) if normalize_answer(gold)))
    return None if not cleaned or cleaned == row.answers else cleaned
