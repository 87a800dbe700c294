"""Text normalisation: one form for comparing answers and questions, and the values of numbers in them.

The form follows the SQuAD evaluation script (Rajpurkar et al., 2016: lower case, no punctuation, no
articles, single blanks) and widens it to Unicode. Decisions, each from a look at the real golds:

- Diacritics are folded in answers. Some 4 % of the evaluation questions have a gold with a diacritic
  and most of these have no plain twin, while an LLM often writes "Dusseldorf". Questions keep theirs,
  so that two subjects which differ by an accent stay two.
- A dash or a slash becomes a blank ("Zia-ul-Haq"); an apostrophe inside a word vanishes ("Qur'an"), but
  a possessive s stands alone ("Ford's" holds "Ford"); initials close up ("J. R. R." is "jrr", "U.S." is
  "us"); "&" is "and".
- Numbers keep their meaning: "1,234.5" becomes "1234.5", "-3" stays, and "8km" is "8 km".
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

_STOP = (
    "of in on at to for from by with into and or is are was were be been being it its he she they him them his her "
    "their this that these those there as do does did has have had who whom whose what which when where why how s "
    "also about around approximately"
)
STOP_WORDS = frozenset(_STOP.split())
"""Normalised words that carry no content of their own."""

_ARTICLES = frozenset(("a", "an", "the"))
_APOSTROPHES = "\u2019\u2018\u02bc\u02bb`\u00b4\u2032"
_HYPHENS = "\u2212\u2010\u2011"
_SAME_MARK = str.maketrans(dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys(_HYPHENS, "-") | {"&": " and "})
# Letters that no Unicode decomposition turns into their plain twin; the last are dotless i, h and t with a bar.
_PLAIN_LETTER = str.maketrans(dict(zip("øłđð\u0131ħŧ", "olddiht", strict=True)) | {"þ": "th", "æ": "ae", "œ": "oe"})
_ANY_DIGIT = re.compile(r"\d")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d)")
_POINTS = re.compile(r"\d+(?:\.\d+){2,}")
_INITIALS = re.compile(r"\b[^\W\d_](?:\.\s?[^\W\d_])+\b\.?")
_POSSESSIVE = re.compile(r"(?<=\w)'(?=s\b)")
_INNER_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")
# Group 1 is what a number keeps: its sign and its decimal point. A blank stays one, so it need not match.
_MARK = re.compile(r"((?<![\w)-])-(?=\d)|(?<=\d)\.(?=\d))|[^\w ]|_")
_UNIT = re.compile(r"\b(\d+(?:\.\d+)?)(?!(?:s|st|nd|rd|th)\b)([^\W\d_]+)\b")

_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_UNITS = {word: value for words in (_CARDINALS, _ORDINALS) for value, word in enumerate(words.split())}
_TEN_NAMES = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TENS = {name: 10 * place for place, name in enumerate(_TEN_NAMES, start=2)}
# The single letters I, V and X are left out: they are more often a pronoun, "versus" and a name.
_ROMAN_NAMES = "_ ii iii iv _ vi vii viii ix _ xi xii xiii xiv xv xvi xvii xviii xix xx"
_ROMANS = {name: value for value, name in enumerate(_ROMAN_NAMES.split(), start=1) if name != "_"}
_NUMBER_WORDS = _UNITS | _TENS | {f"{name[:-1]}ieth": value for name, value in _TENS.items()} | _ROMANS
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_MONTH_NAMES = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|"
    "november nov|december dec"
)
_MONTHS = {name: month for month, names in enumerate(_MONTH_NAMES.split("|"), start=1) for name in names.split()}
_DIGITS = re.compile(r"(-?\d+(?:\.\d+)?)(s|st|nd|rd|th)?")


def normalize_answer(text: str) -> str:
    """Bring an answer into the form in which answers are compared; diacritics are folded.

    The result holds words joined by single blanks; it is empty when nothing but articles,
    punctuation and symbols was there.
    """
    return " ".join(_words(text, fold=True))


def normalize_question(text: str) -> str:
    """Bring a question into the form in which questions are compared; diacritics stay."""
    return " ".join(_words(text, fold=False))


def contains_on_word_borders(haystack: str, needle: str) -> bool:
    """Tell whether the needle's words stand in the haystack one after the other, both normalised as answers.

    A needle that normalises to nothing stands nowhere.
    """
    words = normalize_answer(needle)
    return bool(words) and f" {words} " in f" {normalize_answer(haystack)} "


def token_f1(prediction: str, gold: str) -> float:
    """Compute the harmonic mean of token precision and recall after normalisation, in [0, 1].

    Tokens are counted as often as they occur; 0 when either side normalises to nothing.
    """
    return overlap_f1(_words(prediction, fold=True), _words(gold, fold=True))


def overlap_f1(prediction: Sequence[str], gold: Sequence[str]) -> float:
    """Compute `token_f1` on words that are already normalised."""
    shared = sum((Counter(prediction) & Counter(gold)).values())
    return 2 * shared / (len(prediction) + len(gold)) if shared else 0.0


def content_words(text: str, question: str = "") -> tuple[str, ...]:
    """List the normalised words of a text, in order, without stop words and without the question's words."""
    dropped = STOP_WORDS.union(_words(question, fold=True))
    return tuple(word for word in _words(text, fold=True) if word not in dropped)


def numbers_of(text: str) -> frozenset[str]:
    """Collect the numbers of a text by value, each as decimal text.

    "1,000", "1000" and "one thousand" are "1000"; "24", "twenty-four" and "24th" are "24"; regnal
    "VIII" is "8"; a decade is "1990s"; a month beside a number, or alone, is "m01" to "m12".
    """
    return split_numbers(_words(text, fold=True))[0]


def split_numbers(words: Sequence[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Part normalised words into the values of their numbers (see `numbers_of`) and the other words."""
    values: set[str] = set()
    others: list[str] = []
    index = 0
    while index < len(words):
        value, size = _number_at(words, index)
        if value is None:
            others.append(words[index])
        else:
            values.add(value)
        index += size
    return frozenset(values), tuple(others)


def _words(text: str, *, fold: bool) -> list[str]:
    text = _unicode_form(text.translate(_SAME_MARK), fold=fold)
    # Most answers have neither digits nor points nor apostrophes: to look first saves a third of the time.
    has_digits = _ANY_DIGIT.search(text) is not None
    if has_digits:
        text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
        text = _POINTS.sub(lambda match: match[0].replace(".", " "), text)
    if "." in text:
        text = _INITIALS.sub(lambda match: re.sub(r"\W", "", match[0]) + " ", text)
    if "'" in text:
        text = _INNER_APOSTROPHE.sub("", _POSSESSIVE.sub(" ", text))
    text = _MARK.sub(_keep_or_blank, text)
    if has_digits:
        text = _UNIT.sub(r"\1 \2", text)
    return [word for word in text.split() if word not in _ARTICLES]


def _unicode_form(text: str, *, fold: bool) -> str:
    text = text.casefold()
    if text.isascii():
        return text
    # Two rounds make the form stable (Unicode 3.13, D146: NFKC and case folding disturb one another).
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    if not fold:
        return text
    # Only the marks of Latin, Greek and Cyrillic go; those of Indic scripts or kana are part of the letter.
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFKC", plain).translate(_PLAIN_LETTER)


def _keep_or_blank(match: re.Match[str]) -> str:
    is_letter_mark = unicodedata.category(match[0]).startswith("M")
    return match[0] if match[1] or is_letter_mark else " "


def _number_at(words: Sequence[str], index: int) -> tuple[str | None, int]:
    """Read the number that starts at a word: its text or None, and how many words it takes (at least 1)."""
    word = words[index]
    following = words[index + 1] if index + 1 < len(words) else ""
    if word in _MONTHS:
        return (f"m{_MONTHS[word]:02d}" if _is_month(words, index) else None), 1
    digits = _DIGITS.fullmatch(word)
    if digits is None and word not in _NUMBER_WORDS and word not in _SCALES:
        return None, 1
    if word == "one" and (following == "of" or (index > 0 and words[index - 1] == "no")):
        return None, 1
    if digits is not None and (digits[2] == "s" or (digits[2] is None and following == "s")):
        return f"{digits[1]}s", 1 if digits[2] else 2
    size = 1
    if digits is not None:
        value = Decimal(digits[1])
    elif word in _SCALES:
        value, size = Decimal(1), 0
    else:
        value = Decimal(_NUMBER_WORDS[word])
        if word in _TENS and 0 < _UNITS.get(following, 0) < 10:
            value, size = value + _UNITS[following], 2
    while index + size < len(words) and words[index + size] in _SCALES:
        value *= _SCALES[words[index + size]]
        size += 1
    return f"{value.normalize():f}", size


def _is_month(words: Sequence[str], index: int) -> bool:
    """Tell a month from a name or a verb ("Theresa May"): it stands beside a number, or alone."""
    near = [words[index - 1]] if index > 0 else []
    rest = [word for word in words[index + 1 : index + 3] if word != "of"]
    near += rest[:1]
    if any(_DIGITS.fullmatch(word) or word in _NUMBER_WORDS for word in near):
        return True
    return all(word in STOP_WORDS for place, word in enumerate(words) if place != index)
