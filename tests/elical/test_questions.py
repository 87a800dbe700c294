from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from honestybench.annotate.prompt import load_prompt
from honestybench.elical.loading import load_trained
from honestybench.elical.questions import Question, encode, read_targets, tokenise
from honestybench.errors import UsageError
from tests.elical import tiny
from tests.elical.conftest import WriteRelease

LLM = "made-up-llm"


def question(text: str, **more: bool) -> Question:
    return Question(id=text, source="nq", text=text, **more)


def words(ids: list[int]) -> str:
    return " ".join(tiny.tokenizer().convert_ids_to_tokens(ids))


def test_a_question_is_encoded_as_the_chat_template_writes_it() -> None:
    ids = encode(tiny.tokenizer(), load_prompt("paper-qa"), "amber dune")
    assert words(ids) == "<u> Answer the question below. Question: amber dune <e> <a>"


def test_a_started_answer_is_continued() -> None:
    found = words(encode(tiny.tokenizer(), load_prompt("sample-qa"), "amber dune"))
    assert found.endswith("skin <e> <u> amber dune <e> <a> Answer:")


def test_special_tokens_of_the_tokenizer_are_not_added_to_those_of_the_template() -> None:
    from tokenizers.processors import TemplateProcessing

    adding = tiny.tokenizer(bos_token="<s>")
    adding.backend_tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 3)])
    assert adding("amber")["input_ids"][0] == 3
    assert encode(adding, load_prompt("paper-qa"), "amber") == encode(
        tiny.tokenizer(), load_prompt("paper-qa"), "amber"
    )


def test_a_model_without_a_chat_template_is_told() -> None:
    plain = tiny.tokenizer()
    plain.chat_template = None
    with pytest.raises(UsageError, match="no chat template"):
        encode(plain, load_prompt("paper-qa"), "amber")


def test_prefix_and_rest_are_the_whole_prompt() -> None:
    prompts = {"qa": load_prompt("sample-qa"), "mmlu": load_prompt("sample-mmlu")}
    asked = [question("amber dune"), question("amber"), question("kelp")]
    tokens = tokenise(tiny.tokenizer(), prompts, asked)
    assert len(tokens.prefix) > 50
    for each, suffix in zip(asked, tokens.suffixes, strict=True):
        assert [*tokens.prefix, *suffix] == encode(tiny.tokenizer(), prompts["qa"], each.text)
    apart = tokenise(tiny.tokenizer(), prompts, asked, share_prefix=False)
    assert len(apart.prefix) == 0 and apart.n_prompt_tokens.tolist() == tokens.n_prompt_tokens.tolist()


def test_equal_prompts_keep_a_token_of_their_own() -> None:
    prompts = {"qa": load_prompt("sample-qa")}
    tokens = tokenise(tiny.tokenizer(), prompts, [question("amber"), question("amber")])
    assert tokens.lengths.tolist() == [1, 1]


def test_choices_have_their_own_prompt() -> None:
    prompts = {"qa": load_prompt("paper-qa"), "mmlu": load_prompt("paper-mmlu")}
    tokens = tokenise(tiny.tokenizer(), prompts, [question("amber", is_choice=True)])
    assert list(tokens.suffixes[0]) == encode(tiny.tokenizer(), prompts["mmlu"], "amber")


def test_targets_are_means_over_the_first_parsed_verdicts(write_release: WriteRelease, tmp_path: Path) -> None:
    made = tiny.records(n_train=3, n_in_domain=1, n_ood=1)
    train = next(i for i, record in enumerate(made) if record.example.split == "train")
    verdicts = (1, None, 0, 1, *[0] * 16)
    made[train] = replace(made[train], consistency_judgement=verdicts, sampling_correctness=(None,) * 20)
    release = write_release(tmp_path / "release", made)
    mine = made[train].example.id

    def targets(name: str, first: int = 20) -> dict[str, float]:
        questions, values = read_targets(release, LLM, "train", name, first)
        return {each.id: value for each, value in zip(questions, values, strict=True)}

    assert targets("self_consistency")[mine] == pytest.approx(2 / 19)
    assert targets("self_consistency", 4)[mine] == pytest.approx(2 / 3)  # of 1, unparsed, 0, 1
    assert mine not in targets("sample_accuracy") and len(targets("sample_accuracy")) == 2
    assert targets("greedy_correctness")[mine] == made[train].greedy_correctness


def test_a_release_without_train_questions_is_told(write_release: WriteRelease, tmp_path: Path) -> None:
    made = [record for record in tiny.records() if record.example.split != "train"]
    release = write_release(tmp_path / "release", made)
    with pytest.raises(UsageError, match="has no train questions"):
        read_targets(release, LLM, "train", "self_consistency")


def test_training_and_prediction_see_equal_tokens(llm_folder: Callable[[str], Path], setting, tmp_path: Path) -> None:
    from honestybench.elical.config import TrainConfig
    from honestybench.elical.feeds import TokenFeed
    from honestybench.elical.prepare import prepare
    from honestybench.elical.training import train

    run = prepare(setting, TrainConfig(stage="elicit", epochs=1))
    assert isinstance(run.problem.feed, TokenFeed)
    tokens = run.problem.feed.tokens
    trained_on = [[*tokens.prefix.tolist(), *suffix.tolist()] for suffix in tokens.suffixes]
    train(setting, TrainConfig(stage="head-only", epochs=1), tmp_path / "model")
    trained = load_trained(tmp_path / "model")
    asked = [encode(trained.tokenizer, trained.prompts["qa"], each.text) for each in run.examples.questions]
    assert asked == trained_on
