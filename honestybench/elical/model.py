"""`ConfidenceModel`: ask a trained model about one question, before the LLM answers it."""

from pathlib import Path
from typing import overload

from honestybench.elical.loading import Trained, load_trained
from honestybench.elical.questions import Question
from honestybench.errors import UsageError


class ConfidenceModel:
    """How likely the LLM is to answer a question rightly, from one forward pass over the question.

    model = ConfidenceModel.from_pretrained("build/elical/calibrated")
    model("Who wrote Middlemarch?")                        # 0.83
    model(["Who wrote Middlemarch?", "Who is Robert Oo?"]) # [0.83, 0.04]
    """

    def __init__(self, trained: Trained) -> None:
        """Wrap a loaded model; `from_pretrained` loads one."""
        self._trained = trained

    @classmethod
    def from_pretrained(
        cls, folder: str | Path, *, llm: str | None = None, device: str | None = None
    ) -> "ConfidenceModel":
        """Load a model that `honestybench elical train` wrote.

        `llm` says where the LLM's weights are, if not where training had them. `device` is a torch device.
        Raises: UsageError, DataError, ModelLoadError.
        """
        return cls(load_trained(Path(folder), llm_name=llm, device=device))

    @property
    def llm(self) -> str:
        """The slug of the LLM whose answers the confidence is about."""
        return self._trained.info.llm

    @overload
    def __call__(self, questions: str) -> float: ...
    @overload
    def __call__(self, questions: list[str] | tuple[str, ...]) -> list[float]: ...
    def __call__(self, questions: str | list[str] | tuple[str, ...]) -> float | list[float]:
        """Give the confidence in [0, 1] for a question, or for each of several: the same number alone or beside others.

        Raises: UsageError for an empty question; DataError for one that is longer than the LLM can take.
        """
        texts = [questions] if isinstance(questions, str) else list(questions)
        for place, text in enumerate(texts):
            if not text.strip():
                raise UsageError("the question is empty", where=f"question {place + 1}")
        asked = [Question(id=f"question {place + 1}", source="", text=text) for place, text in enumerate(texts)]
        found = [float(value) for value in self._trained.confidences(asked)] if asked else []
        return found[0] if isinstance(questions, str) else found
