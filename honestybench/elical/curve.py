"""Draw a run's losses as a small SVG: one line for training, dots for selection."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, MARGIN = 640, 320, 48


def loss_curve(losses: Sequence[Mapping[str, float]]) -> str:
    """Draw mean squared error against optimiser steps; deterministic text, no script, readable in print."""
    train = [(line["step"], line["loss"]) for line in losses if "loss" in line]
    selection = [(line["step"], line["selection_loss"]) for line in losses if "selection_loss" in line]
    last = max([step for step, _ in train + selection], default=1)
    highest = max([loss for _, loss in train + selection], default=1.0) or 1.0

    def place(step: float, loss: float) -> str:
        x = MARGIN + (WIDTH - 2 * MARGIN) * step / last
        y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * loss / highest
        return f"{x:.1f},{y:.1f}"

    line = " ".join(place(step, loss) for step, loss in train)
    dots = "".join(
        f'<circle cx="{point[0]}" cy="{point[1]}" r="4" fill="none" stroke="#b3541e" stroke-width="2"/>'
        for point in (place(step, loss).split(",") for step, loss in selection)
    )
    left, right, bottom = MARGIN, WIDTH - MARGIN, HEIGHT - MARGIN
    label = escape(f"Squared error of training (line) and selection (circles); {last:g} steps, up to {highest:.4g}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}" '
        'font-family="sans-serif" font-size="13">'
        f"<title>{label}</title>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f'<path d="M{left},{MARGIN}V{bottom}H{right}" fill="none" stroke="#555"/>'
        f'<polyline points="{line}" fill="none" stroke="#1f6f8b" stroke-width="2"/>{dots}'
        f'<text x="{left - 6}" y="{MARGIN + 4}" text-anchor="end">{highest:.3g}</text>'
        f'<text x="{left - 6}" y="{bottom + 4}" text-anchor="end">0</text>'
        f'<text x="{right}" y="{bottom + 18}" text-anchor="end">step {last:g}</text>'
        f'<text x="{left}" y="{MARGIN - 16}">mean squared error: training (line), selection (circles)</text>'
        "</svg>\n"
    )
