"""The example script searches below the certified threshold, and always where none can be certified."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from honestybench.elical import ConfidenceModel
from honestybench.elical.authors import import_authors
from tests.elical import tiny


@pytest.fixture()
def model(llm_folder: Callable[[str], Path], tmp_path: Path) -> Path:
    """A model whose head alone is there, with a random direction that spreads the questions."""
    torch.manual_seed(5)
    state = {"weight": torch.randn(1, tiny.SIZES["hidden_size"]), "bias": torch.zeros(1)}
    torch.save(state, tmp_path / "vector_head_epoch_best.pt")
    llm = str(llm_folder("Llama"))
    import_authors(tmp_path, tmp_path / "model", llm_name=llm, labels_used=20, stage="cal-only")
    return tmp_path / "model"


def test_the_trigger_searches_below_the_threshold(model: Path, checkout: Path, tmp_path: Path) -> None:
    questions = [f"{first} {second}" for first in tiny.WORDS for second in tiny.WORDS]
    confidences = ConfidenceModel.from_pretrained(model, device="cpu")(questions)
    order = sorted(range(len(questions)), key=confidences.__getitem__)
    # The lower half is wrong throughout and the upper half right, so that the threshold lies between.
    labels = [{"question": questions[row], "correct": int(place >= 72)} for place, row in enumerate(order)]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)), encoding="utf-8")
    (tmp_path / "passages.txt").write_text("of nothing\n" + "\n".join(questions), encoding="utf-8")

    def lines(risk: str) -> list[str]:
        script = [str(checkout / "docs" / "examples" / "retrieval_trigger.py"), str(model)]
        files = [str(tmp_path / "labels.jsonl"), str(tmp_path / "passages.txt")]
        lowest, highest = questions[order[0]], questions[order[-1]]
        command = [sys.executable, *script, *files, risk, lowest, highest]
        found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        return found.stdout.splitlines()

    told, low, high = lines("0.2")
    assert told.startswith("answer without a search from ")
    assert f"search  {questions[order[0]]} <- " in low and f"answer  {questions[order[-1]]}" in high
    # ln(0.1) / ln(1 - 0.001) = 2,302 answers without an error would be needed for a risk of 0.001; there are 144.
    told, low, high = lines("0.001")
    assert told.startswith("always search: ") and " search " in low and " search " in high
