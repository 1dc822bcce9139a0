"""The losses of all steps, as a table and as a picture."""

import math
from pathlib import Path

WIDTH, HEIGHT, EDGE = 720, 360, 48


def save_curve(folder: Path, losses: list[float], vocabulary: int) -> None:
    rows = [f"{step},{loss!r}\n" for step, loss in enumerate(losses, 1)]
    (folder / "loss.csv").write_text("step,loss\n" + "".join(rows))
    (folder / "loss.svg").write_text(picture(losses, math.log(vocabulary)))


def picture(losses: list[float], first: float) -> str:
    """Draw the losses. first: loss of a model without knowledge, drawn as a dashed line."""
    top = max([*losses, first]) * 1.05
    wide, high = WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE

    def x(step: int) -> float:
        return EDGE + wide * step / max(1, len(losses) - 1)

    def y(loss: float) -> float:
        return EDGE + high * (1 - loss / top)

    line = " ".join(f"{x(k):.1f},{y(loss):.1f}" for k, loss in enumerate(losses))
    marks = [round(top * k / 4, 1) for k in range(5)]
    grid = "".join(
        f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" '
        f'stroke="#ddd"/><text x="{EDGE - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark}</text>'
        for mark in marks
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
        f'{grid}<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{y(first):.1f}" y2="{y(first):.1f}" '
        'stroke="#888" stroke-dasharray="4 4"/>'
        f'<text x="{WIDTH - EDGE}" y="{y(first) - 6:.1f}" text-anchor="end" fill="#666">'
        f"ln(vocabulary) = {first:.2f}</text>"
        f'<polyline points="{line}" fill="none" stroke="#0b6e99" stroke-width="1.5"/>'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">'
        f"step 1 to {len(losses)}</text></svg>\n"
    )
