"""What a text says, before any gold is looked at: words, numbers, yes or no, and the options of a question."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from honestybench.normalize import STOP_WORDS, normalize_answer, split_numbers

_YES = frozenset(("yes", "yeah", "yep", "true"))
_NO = frozenset(("no", "nope", "false", "not", "neither", "never"))
_NEGATIONS = _NO | {"cannot", "isnt", "arent", "wasnt", "werent", "dont", "doesnt", "didnt"}
_OPENERS = "is are am was were do does did has have had can could will would should may might must"
_YES_NO_OPENERS = frozenset(_OPENERS.split())
# What stands around the last "or" of a question, up to the next comma or the question's end.
_OPTIONS = re.compile(r"([^,:;]+?),?\s+or\s+([^,?]+)[^?]*\??\s*$", re.IGNORECASE)
_EITHER = re.compile(r".*\b(?:between|either|or)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """One text read once: words in order, those with content, number values, content that is no number."""

    words: tuple[str, ...]
    content: tuple[str, ...]
    numbers: frozenset[str]
    rest: tuple[str, ...]

    @property
    def padded(self) -> str:
        """The words between blanks, so that `in` finds whole words only."""
        return f" {' '.join(self.words)} "

    def content_without(self, question: "Text | None" = None) -> list[str]:
        """Content words, numbers by value, without those of the question."""
        words, numbers = (question.words, question.numbers) if question else ((), frozenset())
        return [word for word in self.rest if word not in words] + sorted(self.numbers - numbers)


@lru_cache(maxsize=8192)
def read(text: str) -> Text:
    """Read a text; the latest ones are kept, since a greedy answer meets 20 sampled ones."""
    words = tuple(normalize_answer(text).split())
    numbers, others = split_numbers(words)
    content = tuple(word for word in words if word not in STOP_WORDS)
    return Text(words, content, numbers, tuple(word for word in others if word not in STOP_WORDS))


def find_options(question: str) -> tuple[frozenset[str], ...]:
    """Find the two options of "..., X or Y?": for each, the content words that the other lacks; else empty."""
    match = _OPTIONS.search(question)
    if match is None:
        return ()
    before, after = (read(_EITHER.sub("", part)).content for part in match.groups())
    # Without a comma the question's own words run into the first option; its last words are enough.
    left, right = frozenset(before[-max(len(after), 1) :]), frozenset(after)
    return (left - right, right - left) if left - right and right - left else ()


def picks(options: Sequence[frozenset[str]], answer: Text) -> set[int]:
    """Tell which of a question's options an answer names."""
    return {place for place, words in enumerate(options) if words <= set(answer.content)}


def asks_yes_no(question: Text) -> bool:
    """Tell whether a question opens with a verb, as yes/no questions do, and offers no two options."""
    return not _YES_NO_OPENERS.isdisjoint(question.words[:1]) and "or" not in question.words


def polarity(words: Sequence[str]) -> str | None:
    """Tell what a yes/no question is answered with: yes, no, or None where neither or both are said.

    A leading yes or no decides; else any negation is a no ("They were not").
    """
    if not words:
        return None
    said_yes, said_no = not _YES.isdisjoint(words), not _NEGATIONS.isdisjoint(words)
    undecided = len(words) > 2 and words[1] in ("and", "or") and said_yes and said_no
    if words[0] in _YES | _NO and not undecided:
        return "yes" if words[0] in _YES else "no"
    if said_yes == said_no:
        return None
    return "yes" if said_yes else "no"
