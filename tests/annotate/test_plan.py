"""Profiles, configuration hashes, and names that nobody knows."""

from dataclasses import replace

import pytest

from honestybench.annotate.plan import (
    PROFILES,
    GenerationConfig,
    JudgeConfig,
    config_hash,
    find_judge,
    find_profile,
    load_prompts,
)
from honestybench.engine.base import SamplingConfig
from honestybench.errors import UnknownNameError

CONFIG = GenerationConfig(
    engine={"engine": "scripted", "version": "1"},
    greedy=SamplingConfig(logprobs=True, stop=("\n",)),
    sampled=SamplingConfig(n=20, temperature=1.0, top_p=0.95, top_k=50, repetition_penalty=1.05, max_tokens=24),
    prompts={"qa": "00", "mmlu": "11"},
    block_size=16,
    seed=0,
)


def test_config_hash_is_frozen() -> None:
    # sha256 of the canonical JSON below, taken with sha256sum:
    # {"block_size":16,"engine":{"engine":"scripted","version":"1"},"greedy":{"logprobs":true,"max_tokens":256,"n":1,
    # "repetition_penalty":1.0,"stop":["\n"],"temperature":0.0,"top_k":0,"top_p":1.0},"prompts":{"mmlu":"11","qa":"00"},
    # "sampled":{"logprobs":false,"max_tokens":24,"n":20,"repetition_penalty":1.05,"stop":[],"temperature":1.0,
    # "top_k":50,"top_p":0.95},"seed":0}   (without the line breaks of this comment)
    assert config_hash(CONFIG) == "66e6c5db66b13cb8e1d406c10698d3580a4a90280701cf1b0d7f97d75633611d"


@pytest.mark.parametrize(
    "change",
    [
        {"engine": {"engine": "scripted", "version": "2"}},
        {"greedy": SamplingConfig(logprobs=True)},
        {"sampled": replace(CONFIG.sampled, top_k=51)},
        {"prompts": {"qa": "01", "mmlu": "11"}},
        {"block_size": 8},
        {"seed": 1},
    ],
)
def test_every_part_changes_the_hash(change: dict[str, object]) -> None:
    assert config_hash(replace(CONFIG, **change)) != config_hash(CONFIG)


def test_profiles_decode_as_the_data_contract_says() -> None:
    sample, paper = PROFILES["sample"], PROFILES["paper"]
    assert list(PROFILES) == ["sample", "paper"]
    for profile in (sample, paper):
        sampled = profile.sampled
        assert (sampled.n, sampled.temperature, sampled.top_p, sampled.top_k) == (20, 1.0, 0.95, 50)
        assert sampled.repetition_penalty == 1.05
        assert (profile.greedy.n, profile.greedy.temperature, profile.greedy.logprobs) == (1, 0.0, True)
    assert (sample.greedy.max_tokens, sample.sampled.max_tokens, sample.sampled.stop) == (24, 24, ("\n",))
    assert (paper.greedy.max_tokens, paper.sampled.max_tokens) == (256, 256)
    assert (sample.llm, sample.dtype, sample.judge) == ("smollm2-135m-instruct-q4_1", "float32", "lexical")
    assert (paper.llm, paper.judge) == (None, "llm:Qwen/Qwen2.5-32B-Instruct")


def test_judges_by_name() -> None:
    assert find_judge("lexical") is None
    judge = find_judge("llm:Qwen/Qwen2.5-32B-Instruct")
    assert judge is not None and judge.name == "Qwen/Qwen2.5-32B-Instruct"
    assert config_hash(JudgeConfig(judge="lexical")) != config_hash(JudgeConfig(judge="llm:x"))


@pytest.mark.parametrize(
    ("look_up", "known"),
    [
        (lambda: find_profile("papr"), "did you mean 'paper'? known: paper, sample"),
        (lambda: find_judge("lexcal"), "did you mean 'lexical'?"),
        (lambda: find_judge("llm:"), "llm:NAME"),
        (lambda: find_judge("llm:nobody"), "smollm2-135m-instruct-q4_1"),
        (lambda: load_prompts((), {"paper": None}), "paper-qa"),
    ],
)
def test_unknown_names_list_the_known(look_up, known: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        look_up()
    assert known in str(caught.value) and caught.value.exit_code == 2
