import numpy as np
import pytest
import torch

from honestybench.elical.feeds import FeatureFeed, HiddenFeed, TokenFeed, mask_of
from honestybench.elical.questions import Tokens

PREFIX = np.array([9, 8, 7], dtype=np.int32)
SUFFIXES = [np.array(ids, dtype=np.int32) for ids in ([1, 2, 3], [4], [5, 6])]


def test_token_ids_are_padded_on_the_right_without_the_prefix() -> None:
    feed = TokenFeed(Tokens(prefix=PREFIX, suffixes=SUFFIXES))
    ids, mask = feed.batch(np.array([2, 1]))
    assert ids.tolist() == [[5, 6], [4, 0]] and mask.tolist() == [[1, 1], [1, 0]]
    assert ids.dtype == mask.dtype == torch.long
    assert feed.lengths.tolist() == [3, 1, 2] and feed.n_prompt_tokens.tolist() == [6, 4, 5]
    assert feed.n_shared == 3


def test_hidden_states_are_those_of_their_row() -> None:
    states = np.arange(12, dtype=np.float32).reshape(6, 2)
    feed = HiddenFeed(states, np.array([3, 1, 2]), np.array([6, 4, 5]))
    hidden, mask = feed.batch(np.array([1, 0]))
    assert hidden.tolist() == [[[6, 7], [0, 0], [0, 0]], [[0, 1], [2, 3], [4, 5]]]
    assert mask.tolist() == [[1, 0, 0], [1, 1, 1]] and feed.n_shared == 3


def test_a_batch_is_a_copy_of_a_file_that_is_only_read() -> None:
    states = np.ones((6, 2), dtype=np.float32)
    states.flags.writeable = False
    hidden, _ = HiddenFeed(states, np.array([3, 1, 2]), np.array([3, 1, 2])).batch(np.array([0]))
    (features,) = FeatureFeed(states, np.full(6, 4)).batch(np.array([5, 0]))
    hidden += 1
    features += 1
    assert (states == 1).all()


def test_features_have_no_positions() -> None:
    feed = FeatureFeed(np.arange(6, dtype=np.float32).reshape(3, 2), np.array([6, 4, 5]))
    assert [tensor.tolist() for tensor in feed.batch(np.array([2, 0]))] == [[[4, 5], [0, 1]]]
    assert feed.lengths.tolist() == [1, 1, 1] and feed.n_shared == 0


@pytest.mark.parametrize("lengths", [[2, 3], np.array([2, 3])])
def test_masks_by_hand(lengths: object) -> None:
    assert mask_of(lengths).tolist() == [[1, 1, 0], [1, 1, 1]]  # type: ignore[arg-type]
