"""Read a verbalised confidence: one number in [0, 1], or nothing."""

import re
import unicodedata

VERSION = "2"
"""Changes whenever some reply is read otherwise."""

_NUMBER = r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_WHOLE = r"(?: ?/ ?| out of | of )(?P<whole>100|10|1)(?:\.0+)?(?!\.?[0-9])"
_VALUE = re.compile(rf"{_NUMBER}(?:(?P<percent> ?%| per ?cent\b)|{_WHOLE})?")
# "Confidence:", "I'd say", "My confidence is about": words without a digit or a sign that lead to the number.
_LEAD_WORD = r"\b(?:is|be|say|give|estimate|guess|about|around|approximately|roughly|at|of)"
_LEAD = rf"(?P<lead>[^0-9.%/+-]*(?::|=|~|{_LEAD_WORD} ) ?)?"
_NOUN = r"(?: (?:confidence|confident|sure|certain|certainty|probability|probable|chance|likely|likelihood)\b)?"
_OPENING = re.compile(rf"{_LEAD}{_VALUE.pattern}{_NOUN}(?= ?(?:$|[.,;:!\n(]))")
_CUT_NUMBER = re.compile(r"(?<![0-9.])[0-9]*\.?[0-9]{0,2}$")
# Not a confidence: what "the answer" is, and what is only bounded.
_OTHER = re.compile(r"\banswer\b|[<>]")
_DENIAL = re.compile(r"\b(?:not|never|no|cannot)\b|n't\b")
_FROM = r"\b(?:(?:on )?(?:(?:a|the) )?(?:scale|range) (?:of|from|between)|from|between)"
_SCALE = re.compile(rf"{_FROM} 0(?:\.0+)? (?:and|to|-) 1(?:\.0+)?(?![0-9]|\.[0-9]| ?[%/])")
_MARKUP = dict.fromkeys('*_`#"\u201c\u201d[]{}')
_DECORATION = str.maketrans(_MARKUP | {"\u2019": "'"} | dict.fromkeys("\u2013\u2014\u2212", "-"))


def parse_number(raw: str, *, is_cut: bool = False) -> float | None:
    """Read the confidence that a reply opens with, in [0, 1]; None where it is not one clear number.

    Read are a decimal number from 0 to 1, a percentage, and a number out of 1, 10 or 100. Markdown and a short lead
    ("My confidence is about 0.8") may come before it and a sentence after it; the words "between 0 and 1" count as
    neither. A bare number above 1, a sign, a range, a bound, a denial, "the answer is" and a second, different number
    are unparsed: no reply is guessed at, and nothing gets a default. With `is_cut` the reply ended at the limit of
    tokens: a number at its very end counts only with three decimals or more, which a further digit would hardly change.
    """
    text = _plain(raw)
    opening = _OPENING.match(text)
    if opening is None or _DENIAL.search(opening["lead"] or "") or _OTHER.search(opening["lead"] or ""):
        return None
    if is_cut and (cut := _CUT_NUMBER.search(text)) and cut.group():
        return None
    confidence = _confidence(opening)
    others = {_confidence(other) for other in _VALUE.finditer(text, opening.end())}
    return confidence if 0 <= confidence <= 1 and others <= {confidence} else None


def _confidence(value: re.Match[str]) -> float:
    whole = 100 if value["percent"] else int(value["whole"] or 1)
    return float(value["number"]) / whole


def _plain(raw: str) -> str:
    """Lower the case, drop Markdown and the words that only name the scale, and narrow blanks; line breaks stay."""
    text = unicodedata.normalize("NFKC", raw).casefold().translate(_DECORATION)
    lines = [" ".join(_SCALE.sub("", " ".join(line.split())).split()) for line in text.splitlines()]
    return "\n".join(line for line in lines if line).lstrip(" ,:;")
