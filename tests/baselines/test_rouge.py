from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestybench.baselines import lcs_length, rouge_l

words = st.lists(st.sampled_from("abcd"), max_size=9)


def subsequences(of: list[str]) -> Iterator[tuple[str, ...]]:
    for chosen in range(1 << len(of)):
        yield tuple(word for place, word in enumerate(of) if chosen >> place & 1)


@settings(deadline=None, max_examples=150)
@given(words, words)
def test_lcs_is_the_longest_common_subsequence(first: list[str], second: list[str]) -> None:
    """From the definition: all subsequences of both, listed."""
    expected = max(map(len, set(subsequences(first)) & set(subsequences(second))))
    assert lcs_length(first, second) == expected == lcs_length(second, first)


def test_rouge_l_by_hand() -> None:
    # LCS of "police killed the gunman" and "police kill the gunman" (Lin, 2004) is 3 words of 4 and 4: F = 3/4.
    assert rouge_l(["police", "killed", "the", "gunman"], ["police", "kill", "the", "gunman"]) == 0.75
    # Repeated words match one to one: "a a b" and "a b b" share "a b"; counting unique words would give more.
    assert rouge_l(list("aab"), list("abb")) == pytest.approx(4 / 6)
    assert rouge_l([], []) == rouge_l(["a"], []) == 0


def test_rouge_l_of_long_answers_uses_whole_words_of_bits() -> None:
    first = [str(number) for number in range(300)]
    assert lcs_length(first, first[::3]) == 100
    assert lcs_length(first, first[::-1]) == 1
