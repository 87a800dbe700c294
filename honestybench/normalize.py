"""Normalise answers and questions for comparison (private stub until the package's own version is merged)."""

import re
import unicodedata

_ARTICLES = frozenset({"a", "an", "the"})


def normalize_answer(text: str) -> str:
    """Fold case, punctuation, articles and blanks away; numbers keep the symbols between their digits."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = [
        " " if _is_symbol(char) and not _between_digits(folded, index) else char for index, char in enumerate(folded)
    ]
    return " ".join(word for word in "".join(kept).split() if word not in _ARTICLES)


def normalize_question(text: str) -> str:
    """Normalise a question as an answer is."""
    return normalize_answer(text)


def contains_on_word_borders(haystack: str, needle: str) -> bool:
    """Tell whether the normalised needle stands in the normalised haystack as whole words."""
    wanted = normalize_answer(needle)
    return bool(wanted) and re.search(rf"(?<!\S){re.escape(wanted)}(?!\S)", normalize_answer(haystack)) is not None


def _is_symbol(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"


def _between_digits(text: str, index: int) -> bool:
    return 0 < index < len(text) - 1 and text[index - 1].isdigit() and text[index + 1].isdigit()
