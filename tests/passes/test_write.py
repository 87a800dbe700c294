"""Passes over the small release, with the scripted engine that says numbers here."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

from honestybench.annotate.cache import BlockStore
from honestybench.engine.base import ChatRequest, SamplingConfig
from honestybench.engine.scripted import ScriptedEngine
from honestybench.errors import EngineError, JudgeError, UnknownNameError, UsageError
from honestybench.passes.outcome import confidence, read_outcome
from honestybench.passes.questions import Asker, Question, evaluation_questions, labelled_questions
from honestybench.passes.runner import BLOCK_SIZE, Runner
from honestybench.passes.table import PASSES, select_passes
from honestybench.passes.write import PassRun
from honestybench.records import TRACKS, Generation
from honestybench.submission import known_ids_from_release, read_confidences, read_system

LLM = "made-up-llm"
TODAY = date(2026, 1, 2)
WEIGHTS = "gguf sha256:1"


class Numbers(ScriptedEngine):
    """Says "0.xy" by the prompt's length; breaks at the call that `breaks_at` counts, from 0."""

    def __init__(self, breaks_at: int | None = None) -> None:
        super().__init__(LLM)
        self.asked: list[list[ChatRequest]] = []
        self._breaks_at = breaks_at

    def _count(self, requests: Sequence[ChatRequest]) -> None:
        if len(self.asked) == self._breaks_at:
            raise EngineError("broken")
        self.asked.append(list(requests))

    def generate(self, requests: Sequence[ChatRequest], sampling: SamplingConfig) -> list[tuple[Generation, ...]]:
        self._count(requests)
        texts = [request.messages[-2].content for request in requests]
        return [(Generation(text=f"0.{len(text) % 100:02d}", finish_reason="stop"),) for text in texts]

    def option_logprobs(self, requests: Sequence[ChatRequest], options: Sequence[str]) -> list[tuple[float, ...]]:
        self._count(requests)
        return super().option_logprobs(requests, options)


@pytest.fixture
def release(small_release: ModuleType, tmp_path: Path) -> Path:
    """The small release with three times as many questions as a block holds, and labels for 12 train questions."""
    base = small_release.records()
    train = [record for record in base if record.example.split == "train"]
    others = [record for record in base if record.example.split != "train"]

    def copies(records: list[object], prefix: str, n: int) -> list[object]:
        found = []
        for k in range(n):
            record = records[k % len(records)]
            example = record.example  # type: ignore[attr-defined]
            changed = replace(example, id=f"{prefix}{k:03d}", question=f"{example.question} {k}")
            found.append(replace(record, example=changed))  # type: ignore[type-var]
        return found

    labelled = [record for record in train if record.sample_accuracy is not None]
    records = copies(labelled, "t", 12) + copies(others, "e", 3 * BLOCK_SIZE - 5)
    records.sort(key=lambda record: (record.example.source, record.example.id))  # type: ignore[attr-defined]
    llm = small_release.content(records)["llms"][LLM]
    small_release.write(tmp_path / "release", records, llms={LLM: {**llm, "provenance": {"weights": WEIGHTS}}})
    return tmp_path / "release"


def pass_run(release: Path, engine: ScriptedEngine, weights: str = WEIGHTS, **how: object) -> PassRun:
    runner = Runner({"weights": weights}, BlockStore(release.parent / "work"), lambda: engine)
    return PassRun(release=release, llm=LLM, runner=runner, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_is_a_whole_submission(name: str, release: Path) -> None:
    out = release.parent / "out"
    run = pass_run(release, Numbers())
    run.check([name], out)
    outcome = run.write(name, out, TODAY)
    read = read_confidences(out / name / "confidences.jsonl", known_ids_from_release(release, LLM))
    assert len(read.confidences) == len(outcome.rows) == 3 * BLOCK_SIZE - 5 and outcome.n_unparsed == 0
    system = read_system(out / name / "system.yaml")
    chosen = PASSES[name]
    assert (system.llm, system.sees, system.labels_used, system.extra_passes) == (LLM, chosen.sees, chosen.labels, 1)
    assert ("Mean P(yes) + P(no): 0." in system.description) == bool(chosen.options)
    assert ("43 of 43 (in_domain 100.0%" in system.description) != bool(chosen.options)


@pytest.mark.parametrize("name", ["verbalized_0", "p_yes"])
def test_a_killed_run_loses_one_block_and_ends_in_the_same_bytes(name: str, release: Path) -> None:
    whole = Numbers()
    pass_run(release, whole).write(name, release.parent / "whole", TODAY)
    assert [len(block) for block in whole.asked] == [BLOCK_SIZE, BLOCK_SIZE, BLOCK_SIZE - 5]
    (release.parent / "work").rename(release.parent / "first-work")
    with pytest.raises(EngineError, match="broken"):
        pass_run(release, Numbers(breaks_at=2)).write(name, release.parent / "again", TODAY)
    assert not (release.parent / "again").exists()
    rest = Numbers()
    pass_run(release, rest).write(name, release.parent / "again", TODAY)
    assert rest.asked == whole.asked[2:]
    for file in ("system.yaml", "confidences.jsonl"):
        paths = [release.parent / folder / name / file for folder in ("whole", "again")]
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_stored_blocks_need_no_engine_and_other_weights_do(release: Path) -> None:
    pass_run(release, Numbers()).outcome("p_true")
    again, other = Numbers(), Numbers()
    pass_run(release, again).outcome("p_true")
    pass_run(release, other, weights="gguf sha256:2").outcome("p_true")
    assert (len(again.asked), len(other.asked)) == (0, 3)


def test_only_p_true_shows_the_answer_and_demonstrations_come_from_train(release: Path) -> None:
    for name, chosen in PASSES.items():
        engine = Numbers()
        pass_run(release, engine).outcome(name)
        turns = engine.asked[0][0].messages
        # The release's made-up greedy answers are "answer 0", "answer 1" and so on.
        shows_answer = re.search(r"answer: answer \d", "".join(turn.content for turn in turns)) is not None
        assert shows_answer == (name == "p_true")
        assert len(turns) == 2 * (chosen.labels + 1)


def test_demonstrations_are_labelled_train_questions_in_label_order(release: Path) -> None:
    shown = labelled_questions(release, LLM, 10, seed=3)
    assert {question.split for question in shown} == {"train"}
    question = evaluation_questions(release, LLM)[0]
    turns = Asker(PASSES["verbalized_10"], shown).request(question).messages
    for example, asked, replied in zip(shown, turns[::2], turns[1::2], strict=False):
        assert example.text in asked.content
        assert replied.content == f"Probability: {example.accuracy:.2f}"
    assert question.text in turns[-2].content and turns[-1].content == "Probability:"
    assert labelled_questions(release, LLM, 4, seed=3) == shown[:4]


def test_no_evaluation_label_is_read(release: Path) -> None:
    questions = evaluation_questions(release, LLM)
    assert {question.split for question in questions} <= set(TRACKS)
    assert {question.accuracy for question in questions} == {None}
    assert [question.id for question in questions] == sorted(question.id for question in questions)


def test_unparsed_rows_get_the_mean_of_the_parsed_ones_and_are_counted(release: Path) -> None:
    questions = evaluation_questions(release, LLM)
    # Every copy ends with its number: those that end in 7 are 7, 17, 27, 37.
    unread = [question.id for question in questions if "7\n" in f"{question.text}\n"]
    outcome = pass_run(release, Ending("7")).outcome("verbalized_0")
    values = {row.id: row.confidence for row in outcome.rows}
    read = [value for example_id, value in values.items() if example_id not in unread]
    assert len(unread) == outcome.n_unparsed == 4
    assert {values[example_id] for example_id in unread} == {outcome.stand_in}
    assert outcome.stand_in == pytest.approx(sum(read) / len(read))
    assert sum(total - parsed for parsed, total in [outcome.parsed[t] for t in TRACKS if t in outcome.parsed]) == 4


class Ending(Numbers):
    """Says nothing that can be read to questions that end with a digit."""

    def __init__(self, digit: str) -> None:
        super().__init__()
        self._digit = digit

    def generate(self, requests: Sequence[ChatRequest], sampling: SamplingConfig) -> list[tuple[Generation, ...]]:
        replies = super().generate(requests, sampling)
        return [
            (Generation(text="hm", finish_reason="stop"),) if self._digit == request.messages[-2].content[-1] else reply
            for request, reply in zip(requests, replies, strict=True)
        ]


def test_too_many_unparsed_replies_are_refused_with_the_rate(release: Path) -> None:
    out = release.parent / "out"
    with pytest.raises(JudgeError, match=r"verbalized_0: 9\.3% of the replies .* 5\.0% are allowed"):
        pass_run(release, Ending("7"), allow_unparsed=0.05).write("verbalized_0", out, TODAY)
    assert not out.exists()
    with pytest.raises(JudgeError, match=r"100\.0% of the replies"):
        pass_run(release, ScriptedEngine(LLM), weights="x", allow_unparsed=1.0).write("verbalized_0", out, TODAY)


def test_a_share_beyond_one_is_wrong_usage(release: Path) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        pass_run(release, Numbers(), allow_unparsed=1.5)


def test_another_llm_is_refused_before_it_is_asked(release: Path) -> None:
    engine = Numbers()
    with pytest.raises(UsageError, match="not the weights"):
        pass_run(release, engine, weights="gguf sha256:2").check(["p_yes"], release.parent / "out")
    assert engine.asked == []


def test_too_few_train_labels_are_refused(small_release: ModuleType, tmp_path: Path) -> None:
    records = [record for record in small_release.records() if record.example.split != "train"]
    llm = small_release.content(records)["llms"][LLM]
    small_release.write(tmp_path / "r", records, llms={LLM: {**llm, "provenance": {"weights": WEIGHTS}}})
    with pytest.raises(UsageError, match="0 labelled train questions, 10 are needed"):
        pass_run(tmp_path / "r", Numbers()).check(["verbalized_10"], tmp_path / "out")
    pass_run(tmp_path / "r", Numbers()).check(["verbalized_0"], tmp_path / "out")


@pytest.mark.parametrize(("name", "expected"), [("p_true", 12), ("verbalized_10", 2)])
def test_train_confidences_follow_the_label_order_without_demonstrations(
    name: str, expected: int, release: Path
) -> None:
    path = release.parent / "train.jsonl"
    assert pass_run(release, Numbers()).write_train(name, 12, path, 0.5) == expected
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    order = [question.id for question in labelled_questions(release, LLM, 12, seed=0)]
    assert [row["id"] for row in rows] == order[-expected:]
    assert all(0 <= row["confidence"] <= 1 for row in rows)


def test_train_labels_that_demonstrations_use_up_are_refused(release: Path) -> None:
    with pytest.raises(UsageError, match="takes 10 labels for itself"):
        pass_run(release, Numbers()).write_train("verbalized_10", 10, release.parent / "train.jsonl", 0.5)


@pytest.mark.parametrize(
    ("yes", "no", "expected"),
    [
        (math.log(0.6), math.log(0.2), 0.75),
        (math.log(0.1), math.log(0.3), 0.25),
        (-800.0, -801.0, 1 / (1 + math.exp(-1))),  # Both probabilities are 0 in floats.
        (-math.inf, -1.0, 0.0),
        (-1.0, -math.inf, 1.0),
        (-math.inf, -math.inf, None),
        (-2000.0, -1.0, 0.0),
    ],
)
def test_the_share_of_yes(yes: float, no: float, expected: float | None) -> None:
    reply = Generation(text="", finish_reason="options", tokens=("yes", "no"), logprobs=(yes, no))
    assert confidence(reply) == (expected if expected is None else pytest.approx(expected))


def test_the_mass_is_the_mean_of_yes_and_no() -> None:
    questions = [Question(id=str(k), source="nq", split="in_domain", text="?", answer="a") for k in range(2)]
    logprobs = [(math.log(0.5), math.log(0.3)), (math.log(0.1), math.log(0.1))]
    replies = [Generation(text="", finish_reason="options", tokens=("yes", "no"), logprobs=each) for each in logprobs]
    assert read_outcome("p_yes", questions, replies, 0.5).mass == pytest.approx((0.8 + 0.2) / 2)


def test_unknown_passes_and_none_at_all_are_wrong_usage() -> None:
    with pytest.raises(UnknownNameError, match="p_yes"):
        select_passes(["p_yess"])
    with pytest.raises(UsageError, match="no pass is named"):
        select_passes([])
    assert list(select_passes(["p_true", "verbalized_0"])) == ["verbalized_0", "p_true"]
