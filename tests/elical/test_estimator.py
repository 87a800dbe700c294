"""A question's logit is its own: whatever the padding, the batch mates, the prefix or the way it is computed."""

import copy
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from honestybench.elical.backbone import add_lora, freeze, split_at
from honestybench.elical.config import TrainConfig
from honestybench.elical.estimator import ConfidenceHead, Estimator
from tests.elical import tiny

TOLERANCE = 1e-5
PREFIX = torch.tensor([5, 9, 40, 7, 8, 22, 31, 6, 5, 11])
NONE = torch.zeros(0, dtype=torch.long)
families = st.sampled_from(sorted(tiny.FAMILIES))
suffixes = st.lists(st.lists(st.integers(3, 60), min_size=1, max_size=12), min_size=1, max_size=5)


@cache
def parts(family: str) -> tuple[Any, ConfidenceHead]:
    """A decoder with LoRA that is no longer zero, and a head."""
    backbone = freeze(tiny.decoder(family), family)
    add_lora(backbone, TrainConfig(stage="elicit"), family)
    for name, weight in backbone.named_parameters():
        if "lora_B" in name:
            weight.data.normal_(std=0.05)
    return backbone, ConfidenceHead(32)


def padded(rows: list[list[int]], width: int, side: str) -> tuple[Tensor, Tensor]:
    ids, mask = torch.full((len(rows), width), 299), torch.zeros(len(rows), width, dtype=torch.long)
    for place, row in enumerate(rows):
        where = slice(0, len(row)) if side == "right" else slice(width - len(row), width)
        ids[place, where], mask[place, where] = torch.tensor(row), 1
    return ids, mask


def alone(family: str, row: list[int]) -> float:
    """The logit of a whole prompt by itself, from the decoder's own output: no mask, no prefix, no padding."""
    backbone, head = parts(family)
    with torch.no_grad():
        states = backbone(input_ids=torch.cat([PREFIX, torch.tensor(row)])[None]).last_hidden_state
        return float(states[0, -1] @ head.weight + head.bias)


@settings(deadline=None, max_examples=60)
@given(families, suffixes, st.integers(0, 7), st.sampled_from(["left", "right"]), st.randoms())
def test_a_logit_depends_on_its_question_alone(family, rows, more, side, random) -> None:
    expected = [alone(family, row) for row in rows]
    backbone, head = parts(family)
    order = random.sample(range(len(rows)), len(rows))
    width = max(map(len, rows)) + more
    shared = Estimator(backbone, head, PREFIX).eval()
    whole = Estimator(backbone, head, NONE).eval()
    long = [PREFIX.tolist() + row for row in rows]
    with torch.no_grad():
        results = [
            shared(*padded([rows[place] for place in order], width, side)),
            shared(*padded([rows[place] for place in order], width, side)),  # from the kept keys and values
            whole(*padded([long[place] for place in order], width + len(PREFIX), side)),
        ]
    for result in results:
        assert result.dtype == torch.float32
        assert result.tolist() == pytest.approx([expected[place] for place in order], abs=TOLERANCE)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_gradients_through_the_shared_prefix_are_those_of_whole_prompts(family: str) -> None:
    rows = [[7, 8, 9], [11], [5, 6, 7, 8, 9, 10]]
    backbone, head = parts(family)
    found = []
    for prefix, prompts in ((PREFIX, rows), (NONE, [PREFIX.tolist() + row for row in rows])):
        estimator = Estimator(backbone, head, prefix).train()
        estimator.zero_grad()
        estimator(*padded(prompts, max(map(len, prompts)), "right")).sigmoid().square().sum().backward()
        found.append(
            {name: weight.grad.clone() for name, weight in estimator.named_parameters() if weight.requires_grad}
        )
    assert found[0].keys() == found[1].keys() and len(found[0]) == 2 + 2 * 7 * 3
    for name, gradient in found[1].items():
        assert gradient.abs().max() > 0, name
        assert torch.allclose(found[0][name], gradient, atol=1e-6 + 1e-5 * float(gradient.abs().max())), name


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("top", [1, 2, 3])
def test_a_parted_decoder_gives_what_the_whole_gives(family: str, top: int) -> None:
    rows = [[7, 8, 9], [11], [5, 6, 7, 8, 9, 10]]
    backbone, head = parts(family)
    backbone = copy.deepcopy(backbone)
    bottom, upper = split_at(backbone, top)
    ids, mask = padded(rows, 8, "right")
    with torch.no_grad():
        lower = Estimator(bottom, head, PREFIX)
        estimator = Estimator(upper, head, lower.prefix_states()).eval()
        found = estimator(lower.states(ids, mask), mask)
        repeated = estimator(lower.states(ids, mask), mask)
    expected = [alone(family, row) for row in rows]
    assert found.tolist() == pytest.approx(expected, abs=TOLERANCE)
    assert repeated.tolist() == pytest.approx(expected, abs=TOLERANCE)


def test_new_weights_are_not_answered_from_old_keys_and_values() -> None:
    backbone, head = parts("Llama")
    backbone = copy.deepcopy(backbone)
    estimator = Estimator(backbone, head, PREFIX).eval()
    batch = padded([[7, 8, 9]], 3, "right")
    with torch.no_grad():
        before = estimator(*batch)
        estimator.train()
        for name, weight in backbone.named_parameters():
            if "lora_B" in name:
                weight.data.mul_(-2)
        after = estimator.eval()(*batch)
        fresh = Estimator(backbone, head, PREFIX).eval()(*batch)
    assert not torch.allclose(before, after, atol=1e-4)
    assert torch.equal(after, fresh)


def test_the_head_is_float32_whatever_the_decoder_is() -> None:
    head = ConfidenceHead(1)
    one = {"bias": torch.tensor(7.0), "mean": torch.zeros(1), "scale": torch.ones(1)}
    head.load_state_dict({"weight": torch.tensor([0.001]), **one})
    hidden = torch.tensor([[1.0], [2.0]], dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        logits = head(hidden)
    assert logits.dtype == torch.float32
    # 7.001 and 7.002: bfloat16 steps by 1/32 at 7, and would make both 7.
    assert logits.tolist() == pytest.approx([7.001, 7.002], abs=1e-6)


def test_standardisation_is_part_of_the_head() -> None:
    head = ConfidenceHead(2)
    head.load_state_dict(
        {
            "weight": torch.tensor([1.0, -2.0]),
            "bias": torch.tensor(0.5),
            "mean": torch.tensor([1.0, 2.0]),
            "scale": torch.tensor([2.0, 4.0]),
        }
    )
    # (3 - 1) / 2 * 1 + (10 - 2) / 4 * -2 + 0.5 = 1 - 4 + 0.5
    assert head(torch.tensor([[3.0, 10.0]])).tolist() == [-2.5]
