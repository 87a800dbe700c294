"""Every flag on real records: one that has it and one that looks like it and does not."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from builders.base import SourceRow
from builders.examples import annotate_flags, build_examples
from builders.flags import DETECTORS
from honestybench.records import FLAGS, QAExample


def example(
    source: str,
    question: str,
    answers: Sequence[str],
    *,
    split: str = "ood",
    relation: str | None = None,
    choices: tuple[str, ...] | None = None,
) -> QAExample:
    row = SourceRow(question=question, answers=tuple(answers), relation=relation, choices=choices)
    return build_examples(source, split, [row])[0]


def flags(*examples: QAExample) -> list[set[str]]:
    """Return the flags in the order the examples were given."""
    flagged = {annotated.id: set(annotated.flags) for annotated in annotate_flags(examples)}
    return [flagged[given.id] for given in examples]


def test_every_flag_has_a_detector() -> None:
    assert DETECTORS.keys() == FLAGS.keys()


COMPARISON = ("2wiki", "Which film was released first, Aas Ka Panchhi or Phoolwari?", ["Phoolwari"])
TEMPLE = "When was it built?\nA.325 CE\nB.119 CE\nC.451 CE\nD.596 CE\n"


@pytest.mark.parametrize(
    ("flag", "source", "question", "answers", "expected"),
    [
        ("mojibake", "cwq", "Which region with the UTC\xe2\x88\x9205:00 time zone?", ["Greater Antilles"], True),
        ("mojibake", "2wiki", "Who is the mother of X?", ["Ma\u0142gorzata Braunek"], False),
        ("mojibake", "nq", "where is caf\xe9 central", ["Vienna"], False),
        ("empty_gold", "cwq", "What are things to do in the location of the movie?", [""], True),
        ("empty_gold", "nq", "how many breeds of pigs are there in the uk", ["---"], False),
        ("degenerate_gold", "nq", "how many breeds of pigs are there in the uk", ["---"], True),
        ("degenerate_gold", "nq", "what is the most common blood type in sweden", ["A+", "AB+"], True),
        ("degenerate_gold", "hotpotqa", "Which is a post-punk band, Boy Hits Car or The The?", ["The The"], True),
        ("degenerate_gold", "popqa", "In what country is Uganda?", ["Uganda", "\U0001f1fa\U0001f1ec"], True),
        ("degenerate_gold", "cwq", "What is there to do in the city?", [""], False),
        ("short_gold", "musique", "What country was the author of Brand a citizen of?", ["Norway", "NO"], True),
        ("short_gold", "musique", "How many Publix stores are there?", ["35"], True),
        ("short_gold", "nq", "how many breeds of pigs are there in the uk", ["---"], False),
        ("short_gold", "musique", "What year was it?", ["1995"], False),
        ("yes_no", "hotpotqa", "Are Christopher Nolan and Sathish Kalathil both film directors?", ["yes"], True),
        ("yes_no", "nq", "do you need a permit or license to own a gun in florida", ["No"], True),
        ("yes_no", "musique", "What country was the author of Brand a citizen of?", ["Norway", "no"], False),
        ("binary_choice", *COMPARISON, True),
        ("binary_choice", "hotpotqa", "Which band was formed first The Exies or Circus Diablo ?", ["The Exies"], True),
        ("binary_choice", "hotpotqa", "Which was released first, The Country Bears or The Wild?", ["The Wild"], True),
        ("binary_choice", "nq", "do you need a permit or license to own a gun in florida", ["No"], False),
        ("binary_choice", "pararel", "Who produces Honda Stream?", ["Honda"], False),
        ("gold_in_question", *COMPARISON, True),
        ("gold_in_question", "pararel", "Who produces Honda Stream?", ["Honda"], True),
        # Part of a word is not the word: "US" in "music", "in" in "Berlin".
        ("gold_in_question", "popqa", "What music does Berlin like?", ["US", "in"], False),
        ("gold_in_question", "hotpotqa", "Is no man an island?", ["no"], False),
        ("needs_context", "squad", "What day was the game played on?", ["February 7, 2016"], True),
        ("needs_context", "squad", "Where did he begin teaching?", ["Rotterdam"], True),
        ("needs_context", "squad", "What was the theme of Super Bowl 50?", ["gold-themed"], False),
        ("needs_context", "squad", "What is the eukaryotic parasite responsible for malaria known as?", ["P"], False),
        ("needs_context", "nq", "who won the game", ["South Carolina"], False),
    ],
)
def test_flag_of_one_example(flag: str, source: str, question: str, answers: list[str], expected: bool) -> None:
    (found,) = flags(example(source, question, answers))
    assert (flag in found) is expected


def test_a_letter_is_not_a_text() -> None:
    # "A" normalises to nothing (an article) and stands in the question, but means the first choice.
    (found,) = flags(
        example("mmlu", TEMPLE, ["A"], split="mmlu", choices=("325 CE", "119 CE", "451 CE", "596 CE")),
    )
    assert found == set()


def test_wrong_template_is_genre_asked_as_instrument() -> None:
    genre, instrument = flags(
        example("pararel", "What does Johnny Coles play?", ["jazz"], split="in_domain", relation="P136"),
        example("pararel", "What does Bruce Fowler play?", ["trombone"], split="in_domain", relation="P1303"),
    )
    assert "wrong_template" in genre and "wrong_template" not in instrument


def test_duplicate_is_every_copy_but_the_first() -> None:
    row = SourceRow(question="What was the theme of Super Bowl 50?", answers=("gold",))
    examples = build_examples("squad", "ood", [row, row, row])
    assert ["duplicate" in found for found in flags(*examples)] == [False, True, True]


def test_homonym_needs_disjoint_golds_in_one_source() -> None:
    question = "What does Paul McCandless play?"
    saxophone = example("pararel", question, ["saxophone"], split="in_domain")
    jazz = example("pararel", question, ["jazz"], split="in_domain")
    both = example("pararel", question, ["Jazz", "oboe"], split="in_domain")
    elsewhere = example("popqa", question, ["flute"])
    assert ["homonym" in found for found in flags(saxophone, jazz, elsewhere)] == [True, True, False]
    # "Jazz" is "jazz" once normalised, so these two agree.
    assert ["homonym" in found for found in flags(jazz, both)] == [False, False]


def test_overlap_is_across_sources_and_sides() -> None:
    train = example("pararel", "What is the capital of Ireland?", ["Dublin"], split="train")
    evaluation = example("popqa", "what is the capital of  ireland", ["Dublin", "Baile \xc1tha Cliath"])
    other = example("nq", "who won", ["South Carolina"], split="in_domain")
    sides = [found & {"overlap_eval", "overlap_train"} for found in flags(train, evaluation, other)]
    assert sides == [{"overlap_eval"}, {"overlap_train"}, set()]


def test_flags_do_not_depend_on_the_order_of_the_examples() -> None:
    examples = [
        example("pararel", "What does Paul McCandless play?", ["saxophone"], split="in_domain"),
        example("pararel", "What does Paul McCandless play?", ["jazz"], split="in_domain"),
        example(*COMPARISON, split="in_domain"),
    ]
    assert annotate_flags(examples) == annotate_flags(examples[::-1])
    assert annotate_flags(examples) == annotate_flags(annotate_flags(examples))


def test_old_flags_are_replaced() -> None:
    (annotated,) = annotate_flags([replace(example(*COMPARISON, split="in_domain"), flags=("mojibake",))])
    assert annotated.flags == ("binary_choice", "gold_in_question")
