"""Ask the engine block by block; a finished block is kept, so that a killed run loses one block at most."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

from honestybench.annotate.cache import Answers, BlockStore
from honestybench.engine.base import ChatRequest, Engine, Provenance
from honestybench.errors import EngineError
from honestybench.passes.questions import Asker, Question
from honestybench.passes.table import REPLY, Pass
from honestybench.records import Generation, canonical_json, sha256_hex

BLOCK_SIZE = 16
"""Questions of one batch: answers may depend on who shares it, so it never changes."""

Progress = Callable[[int], object]
"""Told after each block how many questions it held."""


class Runner:
    """Asks passes of one LLM. The engine is loaded at the first block that is not in the store."""

    def __init__(self, provenance: Provenance, store: BlockStore, load_engine: Callable[[], Engine]) -> None:
        """Take what the engine will say of itself once loaded: it is part of every block's address."""
        self.provenance = dict(provenance)
        self._store = store
        self._load_engine = load_engine
        self._engine: Engine | None = None

    def replies(
        self, chosen: Pass, questions: Sequence[Question], asker: Asker, progress: Progress | None = None
    ) -> list[Generation]:
        """Ask a pass about every question, in order, in blocks of BLOCK_SIZE.

        A reply is the LLM's text, or for a pass with options a generation whose `tokens` are the options and whose
        `logprobs` are theirs. Raises: EngineError, StorageError; DataError for a damaged block file.
        """
        found: list[Generation] = []
        for start in range(0, len(questions), BLOCK_SIZE):
            block = questions[start : start + BLOCK_SIZE]
            found += self._block(chosen, block, [asker.request(question) for question in block])
            if progress is not None:
                progress(len(block))
        return found

    def close(self) -> None:
        """Free the engine if it was loaded."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _block(self, chosen: Pass, block: Sequence[Question], requests: list[ChatRequest]) -> list[Generation]:
        ids = [question.id for question in block]
        asked = [[example_id, asdict(request)] for example_id, request in zip(ids, requests, strict=True)]
        how = list(chosen.options) or asdict(REPLY)
        key = sha256_hex(canonical_json(["pass", self.provenance, how, asked]))
        stored = self._store.get(key)
        if stored is None:
            replies = self._ask(chosen, requests)
            stored = {example_id: (reply, ()) for example_id, reply in zip(ids, replies, strict=True)}
            self._store.put(key, stored)
        return _replies(stored, ids)

    def _ask(self, chosen: Pass, requests: list[ChatRequest]) -> list[Generation]:
        if self._engine is None:
            self._engine = self._load_engine()
        if chosen.options:
            logprobs = self._engine.option_logprobs(requests, chosen.options)
            replies = [
                Generation(text="", finish_reason="options", tokens=chosen.options, logprobs=each) for each in logprobs
            ]
        else:
            replies = [reply for (reply,) in self._engine.generate(requests, REPLY)]
        if len(replies) != len(requests):
            raise EngineError("the engine answered another number of prompts", value=len(replies))
        return replies


def _replies(stored: dict[str, Answers], ids: Sequence[str]) -> list[Generation]:
    return [stored[example_id][0] for example_id in ids]
