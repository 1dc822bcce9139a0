"""Pieces of SVG pictures, each a line of the file."""

from xml.sax.saxutils import escape

LIGHT, DARK = "#c4c9d0", "#30475e"
"""Colours of all pictures: for the whole, and for the part in focus."""
STYLE = (
    "text { font: 14px sans-serif; fill: #222 } .title { font-size: 17px; font-weight: bold } "
    ".small { font-size: 13px; fill: #555 } .axis { stroke: #222 } .grid { stroke: #e4e4e4 } "
    f".bar {{ fill: {LIGHT} }}"
)


def line(kind: str, x1: float, y1: float, x2: float, y2: float, more: str = "") -> str:
    return (
        f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        f"{' ' + more if more else ''}/>"
    )


def rectangle(x: float, y: float, width: float, height: float, more: str, tip: str = "") -> str:
    """Return a rectangle. tip: its tooltip."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f"<rect {more} {place}>{f'<title>{escape(tip)}</title>' if tip else ''}</rect>"


def text(x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {place}{' ' + more if more else ''}>{escape(words)}</text>"


def upright(x: float, y: float, words: str) -> str:
    """Return vertical text, to be read upwards."""
    return text(x, y, words, more=f'transform="rotate(-90 {x:.1f} {y:.1f})"')


def image(width: float, height: float, pieces: list[str], style: str = "") -> str:
    """Return the SVG file. style: CSS rules beside STYLE."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">',
        f"<style>{STYLE} {style}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        *pieces,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
