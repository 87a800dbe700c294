"""Blocks: fixed cuts in id order, each asked of the engine once, whatever was stored before."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestybench.annotate.cache import BlockStore, request_seed
from honestybench.annotate.generate import Generator, blocks_of
from honestybench.annotate.plan import GenerationConfig
from honestybench.annotate.prompt import load_prompt
from honestybench.engine.base import ChatRequest, SamplingConfig
from honestybench.engine.scripted import ScriptedEngine
from honestybench.errors import DataError
from honestybench.records import N_SAMPLED, Generation, QAExample, example_id

GREEDY = SamplingConfig(logprobs=True, max_tokens=24)
SAMPLED = SamplingConfig(n=N_SAMPLED, temperature=1.0, max_tokens=24)
PROMPTS = {"qa": load_prompt("sample-qa"), "mmlu": load_prompt("sample-mmlu")}


def example(number: int, *, choices: tuple[str, ...] | None = None) -> QAExample:
    question = f"Who was number {number}?"
    return QAExample(
        id=example_id("nq", "train", question, ["A"]),
        source="nq",
        split="train",
        question=question,
        answers=("A",),
        cluster="c",
        choices=choices,
    )


class Recorder(ScriptedEngine):
    """The scripted engine, keeping what it was asked."""

    def __init__(self) -> None:
        super().__init__("test")
        self.batches: list[tuple[list[ChatRequest], SamplingConfig]] = []

    def generate(self, requests: Sequence[ChatRequest], sampling: SamplingConfig) -> list[tuple[Generation, ...]]:
        self.batches.append((list(requests), sampling))
        return super().generate(requests, sampling)


def generator(folder: Path, engine: Recorder, *, seed: int = 0) -> Generator:
    config = GenerationConfig(
        engine=engine.provenance, greedy=GREEDY, sampled=SAMPLED, prompts={}, block_size=2, seed=seed
    )
    return Generator(config, PROMPTS, BlockStore(folder), lambda: engine)


@given(st.permutations(range(7)), st.integers(1, 8))
def test_blocks_are_cut_in_id_order(order: list[int], block_size: int) -> None:
    examples = [example(number) for number in order]
    blocks = blocks_of(examples, block_size)
    flat = [each.id for block in blocks for each in block]
    assert flat == sorted(each.id for each in examples)
    assert all(len(block) == block_size for block in blocks[:-1]) and 1 <= len(blocks[-1]) <= block_size


def test_a_stored_block_is_not_asked_again(tmp_path: Path) -> None:
    blocks = blocks_of([example(number) for number in range(5)], 2)
    first = Recorder()
    expected = [answers for _, answers in generator(tmp_path, first).answers(blocks)]
    assert len(first.batches) == 2 * len(blocks)
    again = Recorder()
    assert [answers for _, answers in generator(tmp_path, again).answers(blocks)] == expected
    assert again.batches == []
    # Without the middle block, that one alone is asked, and it comes out the same.
    missing = generator(tmp_path, again)
    BlockStore(tmp_path).path(missing.key(blocks[1])).unlink()
    assert [missing.is_stored(block) for block in blocks] == [True, False, True]
    assert [answers for _, answers in missing.answers(blocks)] == expected
    assert len(again.batches) == 2


def test_a_block_file_of_other_examples_is_refused(tmp_path: Path) -> None:
    one, other = (blocks_of([example(number)], 2)[0] for number in (1, 2))
    first = generator(tmp_path, Recorder())
    list(first.answers([one]))
    store = BlockStore(tmp_path)
    store.path(first.key(other)).parent.mkdir(parents=True, exist_ok=True)
    store.path(first.key(one)).rename(store.path(first.key(other)))
    with pytest.raises(DataError, match="other examples"):
        list(first.answers([other]))


def test_a_changed_configuration_reuses_nothing(tmp_path: Path) -> None:
    blocks = blocks_of([example(1)], 2)
    list(generator(tmp_path, Recorder()).answers(blocks))
    assert not generator(tmp_path, Recorder(), seed=1).is_stored(blocks[0])


def test_requests_carry_prompt_and_seed(tmp_path: Path) -> None:
    free, choice = example(1), example(2, choices=("w", "x", "y", "z"))
    engine = Recorder()
    list(generator(tmp_path, engine).answers(blocks_of([free, choice], 2)))
    (greedy_requests, greedy), (sampled_requests, sampled) = engine.batches
    assert (greedy, sampled) == (GREEDY, SAMPLED)
    assert greedy_requests == sampled_requests
    by_seed = {request.seed: request for request in greedy_requests}
    assert by_seed.keys() == {request_seed(0, free.id), request_seed(0, choice.id)}
    of_free, of_choice = by_seed[request_seed(0, free.id)], by_seed[request_seed(0, choice.id)]
    assert of_free.messages == PROMPTS["qa"].render(question=free.question)
    assert of_choice.messages == PROMPTS["mmlu"].render(question=choice.question)


def test_engine_is_loaded_only_when_a_block_is_missing(tmp_path: Path) -> None:
    blocks = blocks_of([example(1)], 2)
    list(generator(tmp_path, Recorder()).answers(blocks))

    def refuse() -> Recorder:
        raise AssertionError("loaded although every block is stored")

    config = GenerationConfig(
        engine=Recorder().provenance, greedy=GREEDY, sampled=SAMPLED, prompts={}, block_size=2, seed=0
    )
    lazy = Generator(config, PROMPTS, BlockStore(tmp_path), refuse)
    assert len(list(lazy.answers(blocks))) == 1
    lazy.close()
    with pytest.raises(AssertionError, match="loaded although"):
        lazy.load()
