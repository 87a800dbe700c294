"""Which sampled answers are one set: the judge's word first, then equal normalised words."""

import pytest

from honestybench.baselines.answers import semantic_set_sizes


def sizes(greedy: str, *sampled: tuple[str, int | None]) -> list[int]:
    texts, verdicts = zip(*sampled, strict=True)
    return sorted(semantic_set_sizes(greedy, texts, verdicts))


@pytest.mark.parametrize(
    ("greedy", "sampled", "expected"),
    [
        # What the judge found consistent is one set, whatever its words.
        ("Paris", [("Paris", 1), ("the city of Paris", 1), ("Rome", 0)], [1, 2]),
        # The others are sets of equal words: case, articles, punctuation and diacritics do not count.
        ("Paris", [("The Düsseldorf.", 0), ("dusseldorf", 0), ("Rome", 0)], [1, 2]),
        # A "no" for the greedy answer's own words keeps them apart from its set.
        ("Paris", [("Paris", 1), ("paris", 0)], [1, 1]),
        # An unparsed verdict: with the greedy answer where the words are equal, else by its words.
        ("Paris", [("Paris", 1), ("paris!", None), ("Rome", None), ("rome", 0)], [2, 2]),
        # Answers without a word are one set, and "A" (a choice) is no such answer though articles are dropped.
        ("B", [("", 0), (" . ", 0), ("A", 0), ("a.", 0), ("B", 1)], [1, 2, 2]),
        # The greedy answer is not counted: where nothing agrees with it, it has no set.
        ("Paris", [("Rome", 0), ("Rome", 0)], [2]),
    ],
)
def test_sets(greedy: str, sampled: list[tuple[str, int | None]], expected: list[int]) -> None:
    assert sizes(greedy, *sampled) == expected
