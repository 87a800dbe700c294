import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from honestybench.annotate.verdict import parse_verdict
from honestybench.records import VERDICTS

YES = [
    "yes",
    "Yes.",
    "YES",
    "**Yes**",
    "[[yes]]",
    "\uff59\uff45\uff53",
    "Verdict: yes",
    "**Verdict:** Yes",
    "The verdict is yes.",
    "Answer: yes",
    "certain, no doubt",
    "Certain. There is no difference",
    "correct",
    "The answer is correct.",
    "They are equivalent.",
    "Yes - both name Paris",
    "Yes\n\nExplanation: both name the same city.",
    "Yes, there isn't a difference",
    "Yes (both are Paris)",
]
NO = [
    "no",
    "No.",
    "No, the gold answer is Paris.",
    "No. Correct answer: Paris",
    "Answer: No",
    "incorrect",
    "wrong",
    "uncertain",
    "not certain",
    "not equivalent",
    "Not sure",
    "I don't think so",
    "I don\u2019t think so.",
    "The answers are not equivalent",
    "The model's answer is incorrect",
]
UNPARSED = [
    "",
    " \n",
    "yes and no",
    "yes or no?",
    "yes/no",
    "Yes?",
    "Yes, but no",
    "Yes. Wait, no",
    "Yes, the answer is wrong",
    "Yes, it isn't correct",
    "No\nVerdict: yes",
    "no, yes",
    "no difference",
    "No doubt",
    "no one knows",
    "not wrong",
    "not incorrect",
    "maybe",
    "certainly",
    "correctly spelled",
    "yesterday",
    "probably yes",
    "The answer is yes",
    "Paris",
]


@pytest.mark.parametrize(
    ("raw", "verdict"),
    [(raw, verdict) for verdict, texts in (("yes", YES), ("no", NO), ("unparsed", UNPARSED)) for raw in texts],
)
def test_reply(raw: str, verdict: str) -> None:
    assert parse_verdict(raw) == verdict


@settings(deadline=None)
@given(st.text())
def test_any_text_gives_one_of_three_outcomes(raw: str) -> None:
    assert parse_verdict(raw) in VERDICTS


@settings(deadline=None)
@given(st.sampled_from(YES + NO), st.sampled_from(["", " ", "\n"]), st.sampled_from(["", " ", "\n\n"]))
def test_blanks_around_a_verdict_change_nothing(raw: str, before: str, after: str) -> None:
    assert parse_verdict(before + raw + after) == parse_verdict(raw)


@settings(deadline=None)
@given(st.text(min_size=1), st.one_of(st.sampled_from(UNPARSED), st.text()))
def test_text_before_an_unparsed_reply_makes_no_yes(prefix: str, raw: str) -> None:
    # A prefix that is a yes of its own, or half a word of one, is no mere prefix.
    assume(parse_verdict(raw) == "unparsed")
    assume(parse_verdict(prefix) == "unparsed")
    assert parse_verdict(f"{prefix} {raw}") != "yes"


@settings(deadline=None)
@given(st.sampled_from(YES))
def test_a_word_before_a_yes_unanchors_it(raw: str) -> None:
    assert parse_verdict(f"Hardly {raw}") != "yes"


@settings(deadline=None)
@given(st.sampled_from(YES), st.sampled_from(["no", "incorrect", "wrong", "not equivalent", "Actually no"]))
def test_a_yes_that_is_taken_back_is_no_yes(raw: str, retraction: str) -> None:
    assert parse_verdict(f"{raw}. {retraction}.") == "unparsed"
