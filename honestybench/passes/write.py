"""Run passes over a release and write each as a submission folder; or the confidences of labelled train questions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from honestybench.errors import SubmissionError, UnknownNameError, UsageError
from honestybench.passes.outcome import Outcome, confidence_rows, describe, read_outcome
from honestybench.passes.questions import Asker, Question, evaluation_questions, labelled_questions
from honestybench.passes.runner import Progress, Runner
from honestybench.passes.table import PASSES, Pass, select_passes
from honestybench.records import canonical_json
from honestybench.release import read_manifest
from honestybench.storage import refused_writes
from honestybench.submission.write import refuse_foreign_system, write_system

ALLOW_UNPARSED = 0.5
"""Share of unparsed replies up to which a pass is still written."""


@dataclass(frozen=True, kw_only=True)
class PassRun:
    """One run over a release: whose answers, what share of replies may be unparsed, the seed of the label order."""

    release: Path
    llm: str
    runner: Runner
    allow_unparsed: float = ALLOW_UNPARSED
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.allow_unparsed <= 1:
            raise UsageError("a share lies between 0 and 1", where="--allow-unparsed", value=self.allow_unparsed)

    def outcome(self, name: str, progress: Progress | None = None) -> Outcome:
        """Ask one pass about all evaluation questions.

        Raises: UsageError where train gives too few demonstrations; EngineError, JudgeError, ReleaseError,
        StorageError.
        """
        questions = evaluation_questions(self.release, self.llm)
        replies = self.runner.replies(PASSES[name], questions, self._asker(PASSES[name]), progress)
        return read_outcome(name, questions, replies, self.allow_unparsed)

    def write(self, name: str, out: Path, today: date, progress: Progress | None = None) -> Outcome:
        """Ask one pass and write it into `out`/<pass>/. Raises: as `outcome`; SubmissionError."""
        outcome = self.outcome(name, progress)
        about = {
            "llm": self.llm,
            "release": read_manifest(self.release).release_id,
            **describe(PASSES[name], outcome),
        }
        write_system(out / name, about, {None: outcome.rows}, today=today)
        return outcome

    def write_train(self, name: str, n_labels: int, path: Path, stand_in: float) -> int:
        """Ask one pass about the first `n_labels` of the label order and write ids and confidences; count the rows.

        Its demonstrations are left out: their answers stand in its prompt. Unparsed replies get `stand_in`, as on
        the evaluation questions. Raises: UsageError for too few labels, EngineError, StorageError.
        """
        chosen, questions = PASSES[name], self._train_questions(name, n_labels)
        rows = confidence_rows(questions, self.runner.replies(chosen, questions, self._asker(chosen)), stand_in)
        with refused_writes(path):
            aside = path.with_name(path.name + ".partial")
            lines = [canonical_json({"id": row.id, "confidence": row.confidence}) + "\n" for row in rows]
            aside.write_text("".join(lines), encoding="utf-8")
            aside.replace(path)
        return len(rows)

    def check_train(self, name: str, n_labels: int, path: Path, out: Path) -> None:
        """Find out what `write_train` would refuse before the LLM is asked. Raises: UsageError, SubmissionError."""
        self._train_questions(name, n_labels)
        remedy = "name a new file outside --out"
        if path.resolve().is_relative_to(out.resolve()):
            raise UsageError("the file would stand among the submissions", where="--train-out", remedy=remedy)
        if path.exists() and not _is_train_file(path):
            raise SubmissionError("the file holds something else; it stays as it is", where=str(path), remedy=remedy)
        if not path.parent.is_dir():
            raise UsageError("there is no such folder", where="--train-out", value=str(path.parent), remedy="make it")

    def _train_questions(self, name: str, n_labels: int) -> list[Question]:
        chosen = PASSES[name]
        if n_labels <= chosen.labels:
            raise UsageError(
                f"{name} takes {chosen.labels} labels for itself",
                where="--train-labels",
                value=n_labels,
                remedy="ask for more",
            )
        return labelled_questions(self.release, self.llm, n_labels, self.seed)[chosen.labels :]

    def check(self, names: Iterable[str], out: Path) -> None:
        """Find out what would be refused before the LLM is asked: another LLM, names, folders, demonstrations.

        Raises: UnknownNameError, UsageError, SubmissionError, ReleaseError.
        """
        refuse_other_llm(self.runner.provenance, recorded_provenance(self.release, self.llm), self.llm)
        for name, chosen in select_passes(names).items():
            refuse_foreign_system(out / name, self.llm)
            self._asker(chosen)

    def _asker(self, chosen: Pass) -> Asker:
        shown = labelled_questions(self.release, self.llm, chosen.labels, self.seed) if chosen.labels else []
        return Asker(chosen, shown)


def _is_train_file(path: Path) -> bool:
    """Tell whether a file begins as `write_train` writes one."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(14) == b'{"confidence":'


def recorded_provenance(release: Path, llm: str) -> Mapping[str, object]:
    """Read what a release says of the LLM that answered. Raises: UnknownNameError, ReleaseError."""
    llms = read_manifest(release).content["llms"]
    if llm not in llms:
        raise UnknownNameError("LLM", llm, llms)
    return llms[llm]["provenance"]


def refuse_other_llm(provenance: Mapping[str, object], recorded: Mapping[str, object], llm: str) -> None:
    """Refuse weights other than those that answered the release. Raises: UsageError.

    An engine without weights is known by the name of its LLM.
    """
    found, expected = (each.get("weights", each.get("llm")) for each in (provenance, recorded))
    if expected is None or found != expected:
        raise UsageError(
            f"these are not the weights that answered the release, {expected or 'which it does not name'}",
            where=llm,
            value=found,
            remedy="name the LLM of the release with --model, or build a release with this LLM",
        )
