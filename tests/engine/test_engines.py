"""What every engine promises, checked on the scripted and on the real one."""

import math
from dataclasses import replace
from importlib.metadata import PackageNotFoundError

import pytest

from honestybench.engine import vllm_engine
from honestybench.engine.base import ChatRequest, Engine, Message, SamplingConfig
from honestybench.engine.scripted import ScriptedEngine
from honestybench.errors import MissingExtraError

QUESTIONS = ["Who wrote Hamlet?", "What is the capital of France?", "In what year did World War II end?"]
GREEDY = SamplingConfig(logprobs=True, max_tokens=12, stop=("\n",), repetition_penalty=1.05)
SAMPLED = SamplingConfig(n=4, temperature=1.0, top_p=0.95, top_k=50, max_tokens=12, stop=("\n",))


def request(question: str, seed: int = 7) -> ChatRequest:
    turns = (Message(role="user", content=question), Message(role="assistant", content="Answer:"))
    return ChatRequest(messages=turns, seed=seed)


REQUESTS = [request(question, seed) for seed, question in enumerate(QUESTIONS)]


@pytest.fixture(params=["scripted", pytest.param("vllm", marks=pytest.mark.engine)])
def any_engine(request: pytest.FixtureRequest) -> Engine:
    return ScriptedEngine("test") if request.param == "scripted" else request.getfixturevalue("engine")


def test_shape_and_log_probabilities(any_engine: Engine) -> None:
    greedy = any_engine.generate(REQUESTS, GREEDY)
    assert [len(answer) for answer in greedy] == [1, 1, 1]
    for (generation,) in greedy:
        assert len(generation.tokens) == len(generation.logprobs) > 0
        assert all(logprob <= 0 for logprob in generation.logprobs)
        assert generation.cumulative_logprob == pytest.approx(math.fsum(generation.logprobs), abs=1e-9)
        assert generation.finish_reason in ("stop", "length")
    sampled = any_engine.generate(REQUESTS, SAMPLED)
    assert [len(answer) for answer in sampled] == [4, 4, 4]
    assert all(generation.logprobs == () for answer in sampled for generation in answer)
    assert all("\n" not in generation.text for answer in sampled for generation in answer)


def test_equal_calls_give_equal_bytes_whatever_was_asked_before(any_engine: Engine) -> None:
    first = any_engine.generate(REQUESTS, GREEDY), any_engine.generate(REQUESTS, SAMPLED)
    any_engine.generate([request("What is the largest ocean?")], SAMPLED)
    assert (any_engine.generate(REQUESTS, GREEDY), any_engine.generate(REQUESTS, SAMPLED)) == first


def test_the_seed_decides_sampled_answers_only(any_engine: Engine) -> None:
    one, other = [request(QUESTIONS[0], 1)], [request(QUESTIONS[0], 2)]
    many = replace(SAMPLED, n=12)
    assert any_engine.generate(one, GREEDY) == any_engine.generate(other, GREEDY)
    assert any_engine.generate(one, many) != any_engine.generate(other, many)
    (answer,) = any_engine.generate(one, many)
    assert len({generation.text for generation in answer}) > 1, "the samples of one request differ among themselves"


@pytest.mark.engine
def test_the_real_engine_knows_the_capital_of_france(engine: Engine) -> None:
    turns = (Message(role="user", content="What is the capital of France?"),)
    ((generation,),) = engine.generate([ChatRequest(messages=turns, seed=0)], replace(GREEDY, max_tokens=24))
    assert "Paris" in generation.text


@pytest.mark.engine
def test_provenance_of_the_real_engine(engine: Engine) -> None:
    provenance = engine.provenance
    assert provenance["engine"] == "vllm" and provenance["dtype"] == "float32"
    assert str(provenance["weights"]).startswith("gguf sha256:")
    assert all(provenance[name] for name in ("package", "version", "torch", "transformers", "threads"))


def test_a_missing_engine_is_one_line_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(vllm_engine, "version", absent)
    with pytest.raises(MissingExtraError) as caught:
        vllm_engine.installed()
    assert "'vllm'" in str(caught.value) and "make venv" in str(caught.value) and caught.value.exit_code == 2
