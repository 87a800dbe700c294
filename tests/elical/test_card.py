"""A trained model's card tells the facts, and its plain recipe gives the number that `ConfidenceModel` gives."""

import json
import re
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from honestybench.annotate.prompt import load_prompt
from honestybench.elical import ConfidenceModel
from honestybench.elical.card import model_card
from honestybench.elical.config import TrainConfig
from honestybench.elical.saved import ModelInfo, read_info
from honestybench.elical.setting import Setting
from honestybench.elical.training import train

PROMPTS = {"qa": load_prompt("paper-qa")}


def train_tiny(setting: Setting, out: Path, **settings: object) -> Path:
    """A model after one epoch; the large learning rate moves it away from where LoRA changes nothing."""
    config = TrainConfig(stage="cal-only", **{"n_labels": 40, "epochs": 1, "learning_rate": 1e-2, **settings})  # type: ignore[arg-type]
    train(setting, config, out)
    return out


@pytest.fixture()
def info(setting: Setting, tmp_path: Path) -> ModelInfo:
    """What a trained model of an LLM from the Hub says of itself."""
    trained = read_info(train_tiny(setting, tmp_path / "model", lora_layers=0))
    return replace(trained, llm_name="owner/llm@0123abc", weights="hub:owner/llm@0123abc")


def front_matter(card: str) -> list[str]:
    match = re.match(r"---\n(.*?)\n---\n", card, re.DOTALL)
    assert match
    return match.group(1).splitlines()


def test_the_card_tells_the_facts(info: ModelInfo) -> None:
    card = model_card(info, PROMPTS, has_adapter=True)
    assert {'base_model: "owner/llm"', "library_name: peft", "tags:", "- calibration"} <= set(front_matter(card))
    assert "| labels_used | 40 |" in card and "| selected_on | train: " in card
    assert "| `learning_rate` | 0.01 |" in card and info.run_hash in card
    assert "(losses.svg)" in card and "ConfidenceModel.from_pretrained" in card and "before the answer" in card
    assert 'from_pretrained(llm, revision="0123abc")' in card
    assert card == model_card(info, PROMPTS, has_adapter=True)


def test_a_head_alone_is_not_called_an_adapter(info: ModelInfo) -> None:
    card = model_card(replace(info, llm_name="some/folder", weights="folder sha256:0"), PROMPTS, has_adapter=False)
    assert "peft" not in "\n".join(front_matter(card)) and "base_model" not in "\n".join(front_matter(card))
    assert "PeftModel" not in card


def test_an_imported_model_claims_no_run(info: ModelInfo) -> None:
    card = model_card(replace(info, imported_from="elsewhere"), PROMPTS, has_adapter=True)
    assert "learning_rate" not in card and "losses.svg" not in card and "epochs" not in card


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("settings", [{}, {"lora_layers": 0}], ids=["lora", "head"])
def test_the_plain_recipe_gives_the_same_number(
    setting: Setting, tmp_path: Path, settings: dict[str, object], dtype: str
) -> None:
    folder = train_tiny(setting, tmp_path / "model", **settings)
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("---\n"), "PEFT's own card stands there"
    trained = read_info(folder)
    # One process trains in one type; the model is asked in another as if it had been trained in that.
    asked = replace(trained, config={**trained.config, "dtype": dtype})
    (folder / "elical.json").write_text(json.dumps(asdict(asked)), encoding="utf-8")
    card = model_card(asked, PROMPTS, has_adapter=not settings)
    recipe = card.split("```python\n")[2].partition("```")[0]
    assert recipe.count("\n") <= 20 and "honestybench" not in recipe
    question = "amber kelp {question} dune"
    program = recipe.replace("FOLDER", str(folder)).replace('"Who wrote Middlemarch?"', json.dumps(question))
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    expected = ConfidenceModel.from_pretrained(folder, device="cpu")(question)
    # A shared prefix and one pass differ by rounding alone: of float32, or of activations in bfloat16.
    assert float(found.stdout) == pytest.approx(expected, abs=1e-5 if dtype == "float32" else 1e-2)
