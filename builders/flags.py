"""Flag what is wrong or special about an example: one detector for each name of `records.FLAGS`.

Flags describe the published text. A multiple-choice gold is a letter, not a text, so detectors
that read golds as texts leave such examples alone.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from builders.clean import clean_text, undo_mojibake
from builders.pararel import REPAIRED_TEMPLATES
from honestybench.normalize import contains_on_word_borders, normalize_answer
from honestybench.records import FLAGS, QAExample

SHORT_GOLD_CHARS = 2
"""A normalised gold of at most this many characters, and at least one, is short."""

PARAGRAPH_SOURCES = frozenset({"squad"})
"""Sources whose questions were written beside a paragraph that is left out here."""

_COPY = re.compile(r"(?P<first>.*-[0-9a-f]{12})-[0-9]+")
_NAME = re.compile("\\s['(\u2018]*[^\\W\\d_a-z]|\\d|[\"\u201c]")
_PRONOUN = re.compile(r"\b(?:he|she|him|his|her|hers)\b")
_POINTER = re.compile(
    r"\b(?:the|this|that|these|those|such)\s(?:[\w-]+\s){0,2}"
    r"(?:agreement|album|area|article|author|battle|book|building|ceremony|church|city|college|company|document|"
    r"emperor|episode|fair|festival|funeral|game|group|incident|king|match|movie|museum|organization|paragraph|"
    r"passage|player|president|region|report|river|school|season|series|show|song|speech|station|study|survey|team|"
    r"text|town|treaty|trial|university|war)s?\b(?!\s(?:of|that|which|who|whose|where)\b)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The examples that are seen together, by cluster: what a flag about other examples needs."""

    by_cluster: Mapping[str, tuple[QAExample, ...]]

    @classmethod
    def of(cls, examples: Iterable[QAExample]) -> "Corpus":
        """Group examples by their normalised question."""
        clusters: dict[str, list[QAExample]] = defaultdict(list)
        for example in examples:
            clusters[example.cluster].append(example)
        return cls(by_cluster={name: tuple(members) for name, members in clusters.items()})

    def siblings(self, example: QAExample) -> tuple[QAExample, ...]:
        """Return the examples that ask the same, once normalised; the example itself among them."""
        return self.by_cluster.get(example.cluster, ())


def flags_of(example: QAExample, corpus: Corpus) -> tuple[str, ...]:
    """Return the flags of one example in the order of FLAGS."""
    return tuple(name for name in FLAGS if DETECTORS[name](example, corpus))


def first_copy_id(example_id: str) -> str:
    """Return the id of the first of exact repeats: the id without its `-2`, `-3`."""
    copy = _COPY.fullmatch(example_id)
    return example_id if copy is None else copy["first"]


def is_duplicate(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether the id is numbered as a repeat of an earlier example."""
    return first_copy_id(example.id) != example.id


def is_homonym(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether the source asks the same elsewhere with golds that share no normalised gold."""
    own = _gold_keys(example)
    others = (other for other in corpus.siblings(example) if other.source == example.source)
    return any(own.isdisjoint(_gold_keys(other)) for other in others)


def is_mojibake(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether the question or a gold reads differently once Latin-1 is read as UTF-8."""
    return any(undo_mojibake(text) != text for text in (example.question, *example.answers))


def has_empty_gold(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether a gold is empty or holds blanks and invisible characters only."""
    return any(not clean_text(gold) for gold in example.answers)


def has_degenerate_gold(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether a gold that is not empty normalises to nothing: symbols, articles."""
    return any(clean_text(gold) and not normalize_answer(gold) for gold in _text_golds(example))


def has_short_gold(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether a normalised gold has one or two characters."""
    return any(0 < len(normalize_answer(gold)) <= SHORT_GOLD_CHARS for gold in _text_golds(example))


def is_yes_no(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether every gold is yes or no."""
    return {normalize_answer(gold) for gold in example.answers} <= {"yes", "no"}


def is_binary_choice(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether a gold stands right before or right after an "or" of the question."""
    question = f" {normalize_answer(example.question)} "
    golds = filter(None, map(normalize_answer, _text_golds(example)))
    return any(f" {gold} or " in question or f" or {gold} " in question for gold in golds)


def has_gold_in_question(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether a gold, other than yes or no, stands in the question on word borders."""
    golds = (gold for gold in _text_golds(example) if normalize_answer(gold) not in {"yes", "no"})
    return any(contains_on_word_borders(example.question, gold) for gold in golds)


def needs_context(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether a question of a paragraph source points at something and names nothing.

    Heuristic: no capitalised word after the first, no number and no quotation, but a personal
    pronoun or "the", "this", "such" … before an event, a body or a text ("the game", "the
    university's …"). Of 50 flagged questions drawn at random, one reader found 44 that cannot be
    answered without the paragraph; how many such questions are missed was not measured.
    """
    if example.source not in PARAGRAPH_SOURCES or _NAME.search(example.question.strip()):
        return False
    lowered = example.question.casefold()
    return _PRONOUN.search(lowered) is not None or _POINTER.search(lowered) is not None


def has_wrong_template(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether the example belongs to a relation that was asked with another one's template."""
    return example.source == "pararel" and example.relation in REPAIRED_TEMPLATES


def overlaps_evaluation(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether a training question is asked in an evaluation split of any source."""
    return example.split == "train" and any(other.split != "train" for other in corpus.siblings(example))


def overlaps_training(example: QAExample, corpus: Corpus) -> bool:
    """Tell whether an evaluation question is asked in the training split of any source."""
    return example.split != "train" and any(other.split == "train" for other in corpus.siblings(example))


def _text_golds(example: QAExample) -> tuple[str, ...]:
    return example.answers if example.choices is None else ()


def _gold_keys(example: QAExample) -> set[str]:
    """Return the normalised golds; a gold that normalises to nothing stands for itself."""
    return {normalize_answer(gold) or gold for gold in example.answers}


Detector = Callable[[QAExample, Corpus], bool]

DETECTORS: dict[str, Detector] = {
    "duplicate": is_duplicate,
    "homonym": is_homonym,
    "mojibake": is_mojibake,
    "empty_gold": has_empty_gold,
    "degenerate_gold": has_degenerate_gold,
    "short_gold": has_short_gold,
    "yes_no": is_yes_no,
    "binary_choice": is_binary_choice,
    "gold_in_question": has_gold_in_question,
    "needs_context": needs_context,
    "wrong_template": has_wrong_template,
    "overlap_eval": overlaps_evaluation,
    "overlap_train": overlaps_training,
}
"""Flag -> detector: every name of FLAGS has one."""
