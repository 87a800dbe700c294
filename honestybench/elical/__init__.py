"""EliCal: a confidence before the answer, elicited from self-consistency and calibrated with few labels.

*Annotation-Efficient Universal Honesty Alignment* (arXiv 2510.17509). A frozen LLM with LoRA and a linear head maps
the question's prompt to a confidence. Needs the extra: `pip install 'honestybench[elical]'`.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from honestybench.errors import MissingExtraError

if TYPE_CHECKING:
    from honestybench.elical.model import ConfidenceModel

__all__ = ["ConfidenceModel", "require_extra"]

EXTRA = ("torch", "transformers", "peft", "accelerate", "safetensors", "sklearn")


def require_extra() -> None:
    """Refuse to start where a package of the extra is missing. Raises: MissingExtraError."""
    for package in EXTRA:
        if find_spec(package) is None:
            raise MissingExtraError(package, needed_for="EliCal", install="pip install 'honestybench[elical]'")


def __getattr__(name: str) -> Any:
    if name != "ConfidenceModel":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require_extra()
    from honestybench.elical.model import ConfidenceModel

    return ConfidenceModel
