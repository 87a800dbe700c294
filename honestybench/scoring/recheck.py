"""Score a submission again and compare with the card beside it."""

import math
from collections.abc import Iterator
from pathlib import Path

from honestybench.scorecard import SCORECARD_NAME, read_scorecard
from honestybench.scoring import score_submission
from honestybench.submission.faults import SHOWN_CHARACTERS, shown

TOLERANCE = 1e-9


def verify_submission(folder: Path) -> list[str]:
    """Score a submissions/<llm>/<system>/ folder again, and list where its scorecard.json says otherwise.

    Numbers may differ by 1e-9. Raises: DataError for a missing or unreadable card, SubmissionError; OSError.
    """
    return list(differences(read_scorecard(folder / SCORECARD_NAME), score_submission(folder), ""))


def differences(committed: object, now: object, place: str) -> Iterator[str]:
    """List where two JSON values differ, each as "place: committed, now"; numbers closer than 1e-9 are equal."""
    if isinstance(committed, dict) and isinstance(now, dict):
        for key in sorted(committed.keys() | now.keys()):
            name = key if key.isprintable() and len(key) <= SHOWN_CHARACTERS else shown(key)
            inner = f"{place}.{name}" if place else name
            if key in committed and key in now:
                yield from differences(committed[key], now[key], inner)
            else:
                yield f"{inner}: only in the {'committed' if key in committed else 'new'} card"
    elif isinstance(committed, list) and isinstance(now, list) and len(committed) == len(now):
        for index, (old, new) in enumerate(zip(committed, now, strict=True)):
            yield from differences(old, new, f"{place}[{index}]")
    elif not _equal(committed, now):
        yield f"{place}: {_shown(committed)} in the card, {_shown(now)} now"


def _equal(committed: object, now: object) -> bool:
    numbers = [value for value in (committed, now) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == 2:
        return math.isclose(numbers[0], numbers[1], rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return committed == now


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return f"{len(value)} entries"
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
