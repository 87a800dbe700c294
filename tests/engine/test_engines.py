"""What every engine promises, checked on the scripted and on the real one."""

import math
from dataclasses import replace
from importlib.metadata import PackageNotFoundError

import pytest

from honestybench import models
from honestybench.engine import vllm_engine
from honestybench.engine.base import ChatRequest, Engine, Message, SamplingConfig
from honestybench.engine.scripted import ScriptedEngine
from honestybench.errors import EngineError, MissingExtraError

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


def test_option_log_probabilities_are_shares_of_one(any_engine: Engine) -> None:
    found = any_engine.option_logprobs(REQUESTS, ("yes", "no"))
    assert [len(options) for options in found] == [2, 2, 2]
    assert all(0 < sum(math.exp(logprob) for logprob in options) <= 1 + 1e-6 for options in found)
    assert any_engine.option_logprobs(REQUESTS, ("yes", "no")) == found
    swapped = [options[::-1] for options in any_engine.option_logprobs(REQUESTS, ("no", "yes"))]
    assert [pytest.approx(options, abs=1e-6) for options in found] == swapped


@pytest.mark.engine
def test_option_log_probabilities_are_those_of_transformers(engine: Engine) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = models.weights(models.resolve(str(engine.provenance["llm"])))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    # Found by eye in the vocabulary: with and without a blank, three ways to write the case.
    words = {"yes": ["yes", " yes", "Yes", " Yes"], "no": ["no", " no", "No", " No", "NO", " NO"]}
    tokens = {option: [tokenizer.encode(word) for word in spelled] for option, spelled in words.items()}
    for asked, found in zip(REQUESTS, engine.option_logprobs(REQUESTS, ("yes", "no")), strict=True):
        turns = [{"role": message.role, "content": message.content} for message in asked.messages]
        text = tokenizer.apply_chat_template(turns, tokenize=False, continue_final_message=True)
        ids = torch.tensor([tokenizer.encode(text, add_special_tokens=False)])
        with torch.no_grad():
            logprobs = torch.log_softmax(model(ids).logits[0, -1].double(), dim=-1)
        expected = [float(torch.logsumexp(logprobs[torch.tensor(tokens[o]).flatten()], 0)) for o in ("yes", "no")]
        assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.engine
def test_a_prompt_beyond_the_context_is_refused_and_the_next_batch_answered(engine: Engine) -> None:
    with pytest.raises(EngineError, match="context length"):
        engine.generate([*REQUESTS, request("why? " * 2_000)], GREEDY)
    assert len(engine.generate(REQUESTS, GREEDY)) == 3


@pytest.mark.engine
def test_an_option_that_no_token_spells_is_refused(engine: Engine) -> None:
    with pytest.raises(EngineError, match="no single token"):
        engine.option_logprobs(REQUESTS, ("supercalifragilistic",))
