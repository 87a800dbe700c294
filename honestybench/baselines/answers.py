"""Answers as the baselines compare them: normalised words, and sets of sampled answers that mean the same."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from honestybench.normalize import normalize_answer

CACHED_ANSWERS = 1 << 12
"""Several baselines read the same answers, and sampled answers repeat: enough for the rows around the current one."""


@lru_cache(CACHED_ANSWERS)
def words(text: str) -> tuple[str, ...]:
    """Part an answer into normalised words; an answer of nothing but articles ("A", a choice) keeps them."""
    return tuple(normalize_answer(text).split() or re.findall(r"\w+", text.casefold()))


def semantic_set_sizes(greedy: str, sampled: Sequence[str], consistent: Sequence[int | None]) -> tuple[int, ...]:
    """Count the sampled answers in each set of answers that mean the same; the sizes add up to all of them.

    A release says of each sampled answer whether it is consistent with the greedy one (1, 0, or None where the
    verdict could not be parsed), and nothing about two sampled answers. So the consistent ones are one set, and
    the others fall into sets of equal normalised words (see `words`); those without any word are a set too. An
    unparsed verdict counts as consistent where the words are those of the greedy answer. The greedy answer
    itself is not counted: where no sampled answer is consistent with it, it has no set.
    """
    greedy_words = words(greedy)
    sizes: Counter[tuple[str, ...] | None] = Counter()
    for text, verdict in zip(sampled, consistent, strict=True):
        own_words = words(text)
        with_greedy = own_words == greedy_words if verdict is None else verdict == 1
        sizes[None if with_greedy else own_words] += 1
    return tuple(sizes.values())
