"""Asking a trained model: one question or many, the same number."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestybench.elical import ConfidenceModel
from honestybench.elical.config import TrainConfig
from honestybench.elical.loading import load_trained, sigmoid
from honestybench.elical.questions import Question
from honestybench.elical.setting import Setting, find_setting
from honestybench.elical.training import train
from honestybench.errors import DataError, UsageError
from tests.elical import tiny


@pytest.fixture(scope="module")
def model_folder(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model"
    config = TrainConfig(stage="elicit", epochs=2, batch_size=32, learning_rate=1e-2)
    train(find_setting(release, "made-up-llm"), config, folder)
    return folder


@pytest.fixture(scope="module")
def model(model_folder: Path) -> ConfidenceModel:
    return ConfidenceModel.from_pretrained(model_folder)


def test_one_question_gives_one_number(model: ConfidenceModel) -> None:
    found = model("amber dune q1")
    assert isinstance(found, float) and 0 < found < 1
    assert model.llm == "made-up-llm"
    assert model([]) == []


questions = st.lists(
    st.lists(st.sampled_from(tiny.WORDS), min_size=1, max_size=9).map(" ".join), min_size=1, max_size=6
)


@settings(deadline=None, max_examples=25)
@given(asked=questions)
def test_a_question_gets_the_same_number_alone_and_beside_others(model: ConfidenceModel, asked: list[str]) -> None:
    together = model(asked)
    assert together == pytest.approx([model(text) for text in asked], abs=1e-5)
    assert model(asked[::-1]) == pytest.approx(together[::-1], abs=1e-5)


def test_choices_and_questions_are_asked_each_with_its_prompt(model_folder: Path) -> None:
    trained = load_trained(model_folder)
    asked = [Question(id="a", source="mmlu", text="amber", is_choice=True), Question(id="b", source="nq", text="amber")]
    both = trained.confidences(asked)
    assert both[0] != both[1]
    assert both == pytest.approx([trained.confidences([each])[0] for each in asked], abs=1e-5)


def test_the_budget_changes_nothing(model_folder: Path) -> None:
    trained = load_trained(model_folder)
    asked = [Question(id=str(n), source="nq", text=" ".join(tiny.WORDS[: n % 7 + 1])) for n in range(20)]
    assert trained.confidences(asked, token_budget=1) == pytest.approx(trained.confidences(asked), abs=1e-5)


def test_an_empty_question_is_refused(model: ConfidenceModel) -> None:
    with pytest.raises(UsageError, match="question 2: the question is empty"):
        model(["amber", " "])


def test_a_question_longer_than_the_llm_can_take_is_told(model: ConfidenceModel) -> None:
    with pytest.raises(DataError, match=r"question 1: the prompt has more tokens than the 512.*leave the question out"):
        model("amber " * 600)


def test_other_weights_are_refused(model_folder: Path, llm_folder: Callable[[str], Path]) -> None:
    with pytest.raises(UsageError, match="not the weights that the model was trained on"):
        load_trained(model_folder, llm_name=str(llm_folder("Qwen2")))


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no trained model here"):
        ConfidenceModel.from_pretrained(tmp_path)


def test_a_file_of_something_else_is_told(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elical.json").write_text('{"llm": 1}')
    with pytest.raises(DataError, match=r"elical\.json: this is not a file"):
        ConfidenceModel.from_pretrained(tmp_path)


def test_sigmoid_keeps_high_confidences_apart() -> None:
    found = sigmoid(np.array([-800, -1, 0, 1, 20, 21, 800], dtype=np.float32))
    assert found[[0, 2, 6]].tolist() == [0, 0.5, 1]
    assert found[1] == pytest.approx(1 / (1 + np.e)) and found[3] == pytest.approx(np.e / (1 + np.e))
    assert found[4] < found[5] < 1


def test_half_precision_trains_and_answers(setting: Setting, tmp_path: Path) -> None:
    config = TrainConfig(stage="elicit", epochs=1, batch_size=32, dtype="bfloat16")
    train(setting, config, tmp_path / "model")
    train(setting, replace(config, lora_layers=1), tmp_path / "top")
    for name in ("model", "top"):
        trained = load_trained(tmp_path / name)
        assert str(trained.head.weight.dtype) == "torch.float32"
        found = trained.confidences([Question(id=str(n), source="nq", text=word) for n, word in enumerate(tiny.WORDS)])
        assert len(set(found.tolist())) == len(tiny.WORDS)
