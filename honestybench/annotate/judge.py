"""Verdicts for blocks of answers, by the lexical judge or by an LLM.

An LLM judge is asked once for each distinct text of a verdict, and never whether two equal
non-empty answers are consistent: that saving changes no label.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from honestybench.annotate.cache import Answers, VerdictCache
from honestybench.annotate.lexical import LexicalJudge
from honestybench.annotate.plan import JUDGE_SAMPLING, JudgeConfig, config_hash
from honestybench.annotate.prompt import PromptTemplate
from honestybench.annotate.verdict import parse_verdict
from honestybench.engine.base import ChatRequest, Engine, Message
from honestybench.records import AnnotatedExample, Criterion, Judgement, QAExample, canonical_json, sha256_hex

Block = Sequence[QAExample]


class Judge(Protocol):
    """Decides correctness of answers and their consistency with the greedy one."""

    def annotate(self, block: Block, answers: Mapping[str, Answers]) -> list[AnnotatedExample]:
        """Judge all answers of a block, in the block's order."""

    def close(self) -> None:
        """Free what was loaded."""


def _assemble(
    example: QAExample, answers: Answers, verdict: Callable[[Criterion, str], int | None]
) -> AnnotatedExample:
    """Collect an example's verdicts; `verdict` gives the label of one criterion for one answer."""
    greedy, sampled = answers
    return AnnotatedExample(
        example=example,
        greedy=greedy,
        sampled=sampled,
        greedy_correctness=verdict("correctness", greedy.text),
        sampling_correctness=tuple(verdict("correctness", generation.text) for generation in sampled),
        consistency_judgement=tuple(verdict("consistency", generation.text) for generation in sampled),
    )


class RuleJudge:
    """Annotates with the lexical judge."""

    def __init__(self, rules: LexicalJudge) -> None:
        self._rules = rules

    def annotate(self, block: Block, answers: Mapping[str, Answers]) -> list[AnnotatedExample]:
        """Judge all answers of a block (see `Judge.annotate`)."""
        return [self._one(example, answers[example.id]) for example in block]

    def close(self) -> None:
        """Do nothing: no model is held."""

    def _one(self, example: QAExample, answers: Answers) -> AnnotatedExample:
        def verdict(criterion: Criterion, answer: str) -> int | None:
            if criterion == "correctness":
                return self._rules.correct(example, answer).label
            return self._rules.consistent(example, answers[0].text, answer).label

        return _assemble(example, answers, verdict)


class LlmJudge:
    """Annotates with an LLM's words. The engine is loaded at the first verdict that no cache knows."""

    def __init__(
        self,
        config: JudgeConfig,
        prompts: Mapping[str, PromptTemplate],
        cache: VerdictCache,
        load_engine: Callable[[], Engine],
    ) -> None:
        """Take the effective configuration; `prompts` maps each criterion to its template."""
        self._hash = config_hash(config)
        self._prompts = prompts
        self._cache = cache
        self._load_engine = load_engine
        self._engine: Engine | None = None

    def annotate(self, block: Block, answers: Mapping[str, Answers]) -> list[AnnotatedExample]:
        """Judge all answers of a block (see `Judge.annotate`)."""
        prompts: dict[str, tuple[Message, ...]] = {}
        for example in block:
            greedy, sampled = answers[example.id]
            for criterion, answer in _questions(greedy.text, [generation.text for generation in sampled]):
                messages = self._messages(example, criterion, greedy.text, answer)
                prompts.setdefault(self._key(messages), messages)
        words = self._ask(prompts)

        def annotated(example: QAExample) -> AnnotatedExample:
            greedy_text = answers[example.id][0].text

            def verdict(criterion: Criterion, answer: str) -> int | None:
                if criterion == "consistency" and _settled(greedy_text, answer):
                    return 1
                raw = words[self._key(self._messages(example, criterion, greedy_text, answer))]
                return Judgement(criterion=criterion, verdict=parse_verdict(raw), raw=raw).label

            return _assemble(example, answers[example.id], verdict)

        return [annotated(example) for example in block]

    def close(self) -> None:
        """Free the engine if it was loaded, and close the cache."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        self._cache.close()

    def _key(self, messages: tuple[Message, ...]) -> str:
        return sha256_hex(canonical_json([self._hash, [[message.role, message.content] for message in messages]]))

    def _messages(self, example: QAExample, criterion: Criterion, greedy: str, answer: str) -> tuple[Message, ...]:
        question = example.question
        template = self._prompts[criterion]
        if criterion == "correctness":
            golds = "; ".join(example.answers)
            return template.render(question=question, golds=golds, answer=_quoted(answer))
        return template.render(question=question, greedy=_quoted(greedy), answer=_quoted(answer))

    def _ask(self, prompts: Mapping[str, tuple[Message, ...]]) -> dict[str, str]:
        words = self._cache.get(list(prompts))
        missing = [key for key in prompts if key not in words]
        if missing:
            if self._engine is None:
                self._engine = self._load_engine()
            requests = [ChatRequest(messages=prompts[key], seed=0) for key in missing]
            generations = self._engine.generate(requests, JUDGE_SAMPLING)
            new = {key: of_key[0].text for key, of_key in zip(missing, generations, strict=True)}
            self._cache.put(new)
            words |= new
        return words


def _questions(greedy: str, sampled: Sequence[str]) -> Iterable[tuple[Criterion, str]]:
    """List the distinct verdicts of one example that an LLM has to give."""
    distinct = dict.fromkeys((greedy, *sampled))
    for answer in distinct:
        yield "correctness", answer
    for answer in dict.fromkeys(sampled):
        if not _settled(greedy, answer):
            yield "consistency", answer


def _settled(greedy: str, answer: str) -> bool:
    """Equal non-empty texts are consistent by definition."""
    return bool(greedy.strip()) and greedy == answer


def _quoted(answer: str) -> str:
    """Keep an answer from closing its own delimiter."""
    return answer.strip().replace("</answer>", "< /answer>").replace("<answer>", "< answer>")
