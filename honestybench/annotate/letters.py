"""Read which option an answer to a multiple-choice question names."""

import re
import unicodedata
from collections.abc import Callable, Sequence

from honestybench.normalize import normalize_answer

_LABEL = r"(?:the\s+)?(?:(?:correct|right|best|final)\s+)?(?:answer|option|choice)(?:\s+is\s*:?|\s*:)?\s+"
# The letter ends the text or a mark follows it: "The answer is a mutation" names no letter.
_NAMED = re.compile(rf"(?:{_LABEL})?\(?([a-z])\)?(?=\s*(?:$|[.,:;)]))(?!\.\w)", re.IGNORECASE)
_LEADING = re.compile(r"\(?([a-z])\)\s*|([A-Z])\s+[-\u2013\u2014]\s+")
_ANOTHER = re.compile(r"[\s.,:;)]*(?:and|or|&|/|,)\s*\(?([a-z])\)?(?![\w'])", re.IGNORECASE)


def parse_letter(answer: str, choices: Sequence[str]) -> str | None:
    """Name the option that an answer picks, as an upper-case letter; None when it picks none or several.

    Accepted are a choice's own text, a letter alone or marked as a letter ("B", "B.", "(B)", "b)",
    "B. kidney", "The answer is B"), and a letter before its own choice ("B kidney"). A letter that
    is a word of a sentence ("A frameshift is ...") is none.
    """
    text = answer.strip().strip("*").strip()
    letters = [chr(ord("A") + place) for place in range(len(choices))]
    chosen = _only_match(text, choices, _plain) or _only_match(text, choices, normalize_answer)
    if chosen is not None:
        return chosen
    match = _NAMED.match(text) or _LEADING.match(text)
    if match is None:
        return _letter_before_choice(text, choices)
    letter = next(group for group in match.groups() if group).upper()
    other = _ANOTHER.match(text, match.end())
    names_two = other is not None and other[1].upper() in letters
    return letter if letter in letters and not names_two else None


def _only_match(text: str, choices: Sequence[str], form: Callable[[str], str]) -> str | None:
    """Name the one choice that equals a text in the given form."""
    wanted = form(text)
    places = [place for place, choice in enumerate(choices) if wanted and form(choice) == wanted]
    return chr(ord("A") + places[0]) if len(places) == 1 else None


def _letter_before_choice(text: str, choices: Sequence[str]) -> str | None:
    for place, choice in enumerate(choices):
        letter = chr(ord("A") + place)
        if _plain(text) == _plain(f"{letter} {choice}"):
            return letter
    return None


def _plain(text: str) -> str:
    """Fold case and blanks and drop the last full stop; other marks count, as in formulas."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).removesuffix(".")
