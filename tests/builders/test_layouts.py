"""The original layout and the authors' layout of the same records give the same examples."""

import json
from collections.abc import Callable
from hashlib import sha256

import pytest

from builders import BUILDERS
from builders.base import SourceRow
from builders.examples import build_examples

ReadRows = Callable[[str], list[SourceRow]]

# Source -> split the ids are made for, and record number in the original sample -> id. The
# records are the three of qa/<key>.jsonl in their order.
GOLDEN_IDS: dict[str, tuple[str, dict[int, str]]] = {
    "nq": (
        "in_domain",
        {0: "nq-in_domain-c001a2b70ffd", 9: "nq-in_domain-1f0f89a08fa3", 59: "nq-in_domain-6f99459f3718"},
    ),
    "triviaqa": (
        "in_domain",
        {
            0: "triviaqa-in_domain-b4c70a6b993c",
            16: "triviaqa-in_domain-c8c01525ed15",
            17: "triviaqa-in_domain-4c61e5b95acc",
        },
    ),
    "hotpotqa": (
        "train",
        {0: "hotpotqa-train-e12ad9d40f7e", 28: "hotpotqa-train-343b1781b658", 39: "hotpotqa-train-eefdba0a928e"},
    ),
    "2wiki": (
        "in_domain",
        {0: "2wiki-in_domain-2834fa2e99ac", 1: "2wiki-in_domain-73b6a4decbc3", 2: "2wiki-in_domain-9b89f173d01b"},
    ),
    "pararel": (
        "in_domain",
        {
            11: "pararel-in_domain-c1387b551723",
            33: "pararel-in_domain-244ffc6e40cc",
            70: "pararel-in_domain-69956abc54d6",
        },
    ),
    "squad": ("ood", {0: "squad-ood-271a9de9d0e5", 5: "squad-ood-bd5ac86704c8", 79: "squad-ood-a4d68515a31b"}),
    "webquestions": (
        "ood",
        {
            0: "webquestions-ood-512cbae5960e",
            42: "webquestions-ood-2e44d39db979",
            49: "webquestions-ood-d68915953d1e",
        },
    ),
    "cwq": ("ood", {0: "cwq-ood-574e99aa7c6a", 13: "cwq-ood-ca4e88246b46", 39: "cwq-ood-f224316848b8"}),
    "musique": ("ood", {0: "musique-ood-8c36308a38a1", 14: "musique-ood-5c70b3e6f986", 39: "musique-ood-04a4a2d0ea89"}),
    "popqa": ("ood", {0: "popqa-ood-295b5ba135bd", 49: "popqa-ood-1ac3954eac32", 59: "popqa-ood-ec37b2af808e"}),
    "mmlu": ("mmlu", {0: "mmlu-mmlu-f0f67122b739", 13: "mmlu-mmlu-ebe7e63fc13c", 29: "mmlu-mmlu-77ba0fa74586"}),
}


def test_every_source_has_golden_ids() -> None:
    assert GOLDEN_IDS.keys() == BUILDERS.keys()


@pytest.mark.parametrize("key", BUILDERS)
def test_both_layouts_give_the_same_examples(key: str, release_rows: ReadRows, qa_rows: ReadRows) -> None:
    split, ids = GOLDEN_IDS[key]
    original = release_rows(key)
    from_release = build_examples(key, split, [original[index] for index in ids])
    # qa rows are given in order, but their source_row may sort them differently.
    from_qa = {example.id: example for example in build_examples(key, split, qa_rows(key))}
    assert [example.id for example in from_release] == list(ids.values())
    assert sorted(from_qa) == sorted(ids.values())
    for example in from_release:
        twin = from_qa[example.id]
        assert (twin.question, set(twin.answers)) == (example.question, set(example.answers))
        assert (twin.cluster, twin.choices, twin.question_clean) == (
            example.cluster,
            example.choices,
            example.question_clean,
        )


def test_an_id_is_the_digest_the_contract_describes() -> None:
    # Written out here without the code under test: source, question and sorted golds as compact JSON.
    content = '["popqa","What is George Rankin\'s occupation?",["pol","polit.","political figure",' + (
        '"political leader","politician"]]'
    )
    assert json.loads(content)[0] == "popqa"
    assert GOLDEN_IDS["popqa"][1][0] == "popqa-ood-" + sha256(content.encode()).hexdigest()[:12]


@pytest.mark.parametrize("key", ["pararel", "mmlu"])
def test_a_layout_without_the_fields_recovers_them(key: str, release_rows: ReadRows, qa_rows: ReadRows) -> None:
    original = release_rows(key)
    twins = dict(zip(GOLDEN_IDS[key][1], qa_rows(key), strict=True))
    for index, twin in twins.items():
        assert (twin.relation, twin.subject) == (original[index].relation, original[index].subject)
