"""ROUGE-L of two word lists, by the longest common subsequence itself."""

from collections.abc import Sequence


def rouge_l(first: Sequence[str], second: Sequence[str]) -> float:
    """Compute ROUGE-L F (Lin, 2004, with beta 1) of two word lists, in [0, 1]; 0 when either is empty.

    2 LCS / (m + n), with the longest common subsequence itself, repeated words counted as often as they match.
    """
    shared = lcs_length(first, second) if first and second else 0
    return 2 * shared / (len(first) + len(second)) if shared else 0.0


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Compute the length of the longest common subsequence, a row of the table at once as bits (Hyyrö, 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(first)) - 1
    # A zero bit marks a column where the table's row steps up by one.
    row = full
    for word in second:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & full
    return len(first) - row.bit_count()
