"""The picture: well-formed, inside its frame, with everything named."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from corpusmill.mill.dedup.band_settings import BandSetting
from corpusmill.tools.tune.bands.picture import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Curve,
    picture,
)

SVG = "{http://www.w3.org/2000/svg}"
CURVES = [Curve("mine", BandSetting(9, 13)), Curve("a < b & c", BandSetting(14, 8))]


def drawn(counts, threshold: float = 0.8, curves: list[Curve] = CURVES) -> ET.Element:
    return ET.fromstring(picture(np.array(counts), threshold, curves, "three pairs"))


def bars(image: ET.Element) -> list[dict]:
    found = [bar.attrib for bar in image.iter(f"{SVG}rect") if bar.get("class") == "bar"]
    return [{key: float(bar[key]) for key in ("x", "y", "width", "height")} for bar in found[:-1]]


def test_picture__names_axes_threshold_and_settings():
    texts = [text.text for text in drawn([100, 5, 1]).iter(f"{SVG}text")]
    assert {"threshold 0.8", "three pairs", "Jaccard similarity of a pair"} <= set(texts)
    assert {"mine: 9 bands x 13 rows", "a < b & c: 14 bands x 8 rows"} <= set(texts)
    assert all(texts.count(f"{tick / 10}") == 2 for tick in range(11))


@pytest.mark.parametrize("places", [2, 3, 129, 4097])
@pytest.mark.parametrize("most", [0, 1, 10**9])
def test_picture__keeps_bars_inside_the_plot(places, most):
    counts = np.random.default_rng(places).integers(0, most + 1, places)
    counts[0] = most
    for bar in bars(drawn(counts)):
        assert LEFT - 0.2 <= bar["x"] <= bar["x"] + bar["width"] <= RIGHT + 0.2
        assert TOP - 0.2 <= bar["y"] <= BOTTOM
        assert bar["y"] + bar["height"] == pytest.approx(BOTTOM, abs=0.11)
