"""The presets are configurations that can be run, with the limits that were published."""

import pytest
import yaml
from workflow import ROOT

from corpusmill.filters.registry import settings_of
from corpusmill.run.config import check_config, laid_over

PRESETS = sorted(path.stem for path in (ROOT / "presets").glob("*.yaml"))


def preset(name: str) -> dict:
    return yaml.safe_load((ROOT / f"presets/{name}.yaml").read_text("utf-8"))


def settings(name: str) -> dict[str, dict]:
    """Filter -> all its settings."""
    return {entry["name"]: settings_of(entry) for entry in preset(name)["filters"]}


@pytest.mark.parametrize("name", PRESETS)
def test_preset__can_be_laid_over_a_configuration(name):
    config = laid_over(ROOT / "config.yaml", preset(name))
    check_config(config, ROOT / "config.schema.yaml")


def test_fineweb__has_the_published_limits_in_its_order():
    found = settings("fineweb")
    assert list(found) == [
        "empty", "gopher_repetition", "gopher_quality", "c4", "fineweb_quality",
    ]  # fmt: skip
    repetition = [one for key, one in found["gopher_repetition"].items() if key != "words"]
    assert repetition == [
        0.3, 0.2, 0.3, 0.2, 0.2, 0.18, 0.16, 0.15, 0.14, 0.13, 0.12, 0.11, 0.1,
    ]  # fmt: skip
    quality = [one for key, one in found["gopher_quality"].items() if key.startswith("m")]
    assert quality == [50, 100_000, 3, 10, 0.1, 0.1, 0.9, 0.3, 0.8, 2]
    assert found["c4"]["needs_end_mark"] is False
    assert found["c4"]["min_sentences"] == 5
    own = {key: one for key, one in found["fineweb_quality"].items() if key.startswith("m")}
    assert list(own.values()) == [1, 0.12, 0.67, 0.01, 0.3]
    assert settings("gopher") == {key: found[key] for key in list(found)[:3]}


def test_fineweb2__disables_what_it_does_not_use():
    found = settings("fineweb2-fra")
    assert found["gopher_repetition"]["max_repeated_paragraph_share"] is None
    assert found["gopher_repetition"]["max_repeated_line_share"] == 0.264
    assert len(found["gopher_quality"]["stop_words"]) == 18


def test_dclm__has_the_published_limits_in_its_order():
    found = settings("dclm")
    assert list(found) == ["empty", "dclm", "dclm_lines"]
    assert list(found["dclm"].values()) == [
        50, 100_000, 3, 10, 0.1, 0.9, 0.3, 0.2, 2, 0.3, 0.3, 0.2, 0.2, 0.2, 0.18, 0.16, 0.15,
        0.14, 0.13, 0.12, 0.11, 0.1,
    ]  # fmt: skip
    assert list(found["dclm_lines"].values()) == [0.5, 0.999999, True, 2, 10, 2, 0.05]
