"""Published curves for the copies of documents.

`rehydrate` curves are FineWeb2's weights by the size of a document's near-duplicate cluster: the
first one for all languages, the others for one, with up to 10 copies (misc/rehydration/weights).
`dolma3` curves are the copies by quality in three topics of Dolma 3's mix: the lowest two fifths
are left out, the best documents have 7 copies. Their limits are twentieths of a topic.
"""

from typing import NamedTuple


class Curve(NamedTuple):
    """Factors from each limit on."""

    steps: dict[float, float]
    of_quantiles: bool
    """If true, a limit is a share of the documents, ranked by value; if false, it is a value."""


def _of_twentieths(first: int, *copies: float) -> Curve:
    """Return a curve of quantiles. copies: from twentieth number `first` on, the 19th left out, as
    in the published data; it has those of the 18th."""
    numbers = [*range(first, 19), 20]
    steps = {(number - 1) / 20: one for number, one in zip(numbers, copies, strict=True)}
    return Curve({0: 0} | steps, True)


def _by_size(steps: dict[float, float]) -> Curve:
    return Curve(steps, False)


CURVES = {
    "rehydrate": _by_size({1: 1, 2: 2, 3: 3, 5: 5, 100: 8, 1000: 1}),
    "rehydrate-arb": _by_size(
        {1: 1, 2: 4, 3: 5, 4: 7, 5: 8, 6: 9, 13: 8, 14: 9, 22: 8, 26: 7, 30: 6, 33: 5, 39: 6,
         48: 5, 53: 4, 64: 3, 78: 2, 85: 1}
    ),
    "rehydrate-cmn": _by_size(
        {1: 1, 2: 4, 4: 6, 6: 7, 7: 8, 9: 9, 16: 8, 20: 7, 26: 6, 31: 5, 36: 4, 44: 3, 52: 2,
         60: 1}
    ),
    "rehydrate-deu": _by_size(
        {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 7: 6, 9: 7, 12: 8, 15: 9, 19: 10, 33: 9, 46: 8, 58: 7,
         75: 6, 95: 5, 121: 4, 142: 3, 169: 2, 230: 1, 232: 2, 236: 1}
    ),
    "rehydrate-fra": _by_size(
        {1: 1, 3: 3, 4: 4, 6: 5, 7: 6, 8: 7, 10: 8, 13: 9, 17: 10, 29: 9, 40: 8, 52: 7, 62: 6,
         76: 5, 88: 4, 107: 3, 108: 4, 110: 3, 111: 4, 112: 3, 131: 2, 135: 3, 142: 2, 177: 1,
         186: 2, 191: 1}
    ),
    "rehydrate-ita": _by_size(
        {1: 1, 2: 3, 3: 4, 4: 5, 5: 6, 7: 7, 8: 8, 11: 9, 17: 10, 26: 9, 31: 8, 46: 7, 52: 6,
         63: 5, 76: 4, 96: 3, 118: 2, 122: 3, 125: 2, 145: 1}
    ),
    "rehydrate-jpn": _by_size(
        {1: 1, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8, 10: 9, 17: 10, 24: 9, 30: 8, 33: 7, 35: 6,
         38: 5, 41: 4, 48: 3, 58: 2, 70: 1}
    ),
    "rehydrate-rus": _by_size(
        {1: 1, 2: 3, 4: 4, 5: 5, 7: 6, 10: 7, 13: 8, 15: 9, 18: 10, 29: 9, 34: 8, 40: 7, 49: 6,
         61: 5, 72: 4, 85: 3, 110: 2, 152: 1}
    ),
    "rehydrate-spa": _by_size(
        {1: 1, 2: 2, 3: 4, 4: 5, 5: 6, 7: 7, 8: 8, 11: 9, 15: 10, 24: 9, 32: 8, 40: 9, 46: 8,
         58: 7, 70: 6, 86: 5, 108: 4, 127: 3, 142: 4, 145: 5, 147: 6, 150: 5, 152: 4, 153: 3,
         156: 2, 157: 3, 158: 2, 171: 1, 179: 2, 185: 1, 186: 2, 187: 1}
    ),
    "dolma3-science": _of_twentieths(
        12, 0.0386, 0.2383, 0.6346, 1.2727, 2.2253, 3.5848, 5.3341, 7.0
    ),
    "dolma3-software": _of_twentieths(
        12, 0.4426, 1.2637, 2.1080, 2.9989, 3.9550, 4.9816, 6.0524, 7.0
    ),
    "dolma3-health": _of_twentieths(
        11, 0.0058, 0.0440, 0.1319, 0.2859, 0.5215, 0.8562, 1.3113, 1.8931, 2.4976
    ),
}  # fmt: skip
