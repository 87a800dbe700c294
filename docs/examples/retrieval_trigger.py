"""Search before answering only where the LLM does not know: a confidence before the answer as a retrieval trigger.

python retrieval_trigger.py MODEL LABELS.jsonl PASSAGES.txt RISK QUESTION…

MODEL is a trained model's folder. LABELS.jsonl holds {"question": …, "correct": 0 or 1} of answers that the LLM gave
to questions like yours, none of which trained the model. PASSAGES.txt holds one passage a line.
"""

import json
import sys
from pathlib import Path

from honestybench.elical import ConfidenceModel
from honestybench.metrics.risk_control import threshold_at_risk


def retrieve(question: str, passages: list[str]) -> str:
    """Find the passage that shares the most words with a question; put your own search here."""
    words = set(question.lower().split())
    return max(passages, key=lambda passage: len(words & set(passage.lower().split())))


def main(folder: str, labels: str, corpus: str, risk: str, *questions: str) -> None:
    """Choose the threshold on labelled questions, then say for each new one whether to search."""
    model = ConfidenceModel.from_pretrained(folder)
    rows = [json.loads(line) for line in Path(labels).read_text(encoding="utf-8").splitlines()]
    passages = Path(corpus).read_text(encoding="utf-8").splitlines()

    # With probability 0.9, at most `risk` of the answers that are given without a search are wrong.
    known = model([row["question"] for row in rows])
    found = threshold_at_risk(known, [row["correct"] for row in rows], float(risk), delta=0.1)
    if found.threshold is None:
        print(f"always search: {found.reason}")
    else:
        print(f"answer without a search from {found.threshold:.3f} on: {found.coverage:.0%} of the labelled questions")

    for question, confidence in zip(questions, model(list(questions)), strict=True):
        if found.threshold is not None and confidence >= found.threshold:
            print(f"{confidence:.3f} answer  {question}")
        else:
            print(f"{confidence:.3f} search  {question} <- {retrieve(question, passages)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
