"""The model card of a trained model."""

from honestybench.elical.saved import ModelInfo


def model_card(info: ModelInfo) -> str:
    """Render README.md."""
    return f"# {info.llm}\n"
