"""Greedy and sampled answers, block by block, each block asked of the engine once in its life."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from honestybench.annotate.cache import Answers, BlockStore, block_key, request_seed
from honestybench.annotate.plan import GenerationConfig, config_hash
from honestybench.annotate.prompt import PromptTemplate
from honestybench.engine.base import ChatRequest, Engine
from honestybench.errors import DataError, EngineError
from honestybench.records import QAExample

Block = tuple[QAExample, ...]


def blocks_of(examples: Sequence[QAExample], block_size: int) -> list[Block]:
    """Cut examples, in id order, into blocks.

    A block's answers may depend on who shares its batch, so a block is never split or merged.
    """
    ordered = sorted(examples, key=lambda example: example.id)
    return [tuple(ordered[start : start + block_size]) for start in range(0, len(ordered), block_size)]


class Generator:
    """Answers blocks. The engine is loaded when it is asked for, or at the first block that is not in the store."""

    def __init__(
        self,
        config: GenerationConfig,
        prompts: Mapping[str, PromptTemplate],
        store: BlockStore,
        load_engine: Callable[[], Engine],
    ) -> None:
        """Take the effective configuration; `prompts` maps "qa" and "mmlu" to their templates."""
        self._config = config
        self._hash = config_hash(config)
        self._prompts = prompts
        self._store = store
        self._load_engine = load_engine
        self._engine: Engine | None = None

    def key(self, block: Block) -> str:
        """Address a block in the store."""
        return block_key([example.id for example in block], self._config.seed, self._hash)

    def is_stored(self, block: Block) -> bool:
        """Tell whether a block was finished before."""
        return self._store.path(self.key(block)).is_file()

    def answers(self, blocks: Sequence[Block]) -> Iterator[tuple[Block, dict[str, Answers]]]:
        """Yield each block with its answers by example id, from the store or from the engine.

        A block is in the store before it is yielded. Raises: EngineError, StorageError.
        """
        for block in blocks:
            key = self.key(block)
            answers = self._store.get(key)
            if answers is not None and answers.keys() != {example.id for example in block}:
                remedy = "delete it; its answers are generated again"
                raise DataError("the block file holds other examples", where=str(self._store.path(key)), remedy=remedy)
            if answers is None:
                answers = self._ask(block)
                self._store.put(key, answers)
            yield block, answers

    def close(self) -> None:
        """Free the engine if it was loaded."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def load(self) -> Engine:
        """Load the engine unless it is loaded."""
        if self._engine is None:
            self._engine = self._load_engine()
        return self._engine

    def _ask(self, block: Block) -> dict[str, Answers]:
        engine = self.load()
        requests = [self._request(example) for example in block]
        greedy = engine.generate(requests, self._config.greedy)
        sampled = engine.generate(requests, self._config.sampled)
        if not len(block) == len(greedy) == len(sampled):
            raise EngineError("the engine answered another number of prompts", value=(len(greedy), len(sampled)))
        return {
            example.id: (of_greedy[0], of_sampled)
            for example, of_greedy, of_sampled in zip(block, greedy, sampled, strict=True)
        }

    def _request(self, example: QAExample) -> ChatRequest:
        template = self._prompts["qa" if example.choices is None else "mmlu"]
        return ChatRequest(
            messages=template.render(question=example.question),
            seed=request_seed(self._config.seed, example.id),
        )
