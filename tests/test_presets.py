"""The presets are configurations that can be run, with the limits that were published."""

import pytest
import yaml
from workflow import ROOT

from corpusmill.mill.filters.configured import ConfiguredFilter
from corpusmill.run.config import Config
from corpusmill.run.config_files import laid_over

PRESETS = sorted(path.stem for path in (ROOT / "presets").glob("*.yaml"))


def preset(name: str) -> dict:
    return yaml.safe_load((ROOT / f"presets/{name}.yaml").read_text("utf-8"))


def settings(name: str) -> dict[str, dict]:
    """Filter -> all its settings."""
    return {
        entry["name"]: ConfiguredFilter(entry).settings for entry in preset(name).get("filters", [])
    }


@pytest.mark.parametrize("name", PRESETS)
def test_preset__can_be_laid_over_a_configuration(name):
    config = laid_over(ROOT / "config.yaml", preset(name))
    Config.checked(config)


SOURCES = yaml.safe_load((ROOT / "tests/preset_sources.yaml").read_text("utf-8"))
IS_WORDS = ("words", "stop_words", "stop_chars")
"""Settings of filters that say what a word or a mark is: no numbers."""


def numbers(name: str) -> dict[str, dict]:
    """Filter or section -> its numbers, limits that are off, flags and marks."""
    found = {
        filter: {key: one for key, one in values.items() if key not in IS_WORDS}
        for filter, values in settings(name).items()
    }
    for section, values in preset(name).items():
        if section != "filters":
            is_number = (int, float, type(None))
            found[section] = {k: v for k, v in values.items() if isinstance(v, is_number)}
    return {where: values for where, values in found.items() if values}


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "qwen3"])
def test_preset__has_the_numbers_of_its_source(name):
    published = {
        where: {key: number for key, (number, _) in cited["numbers"].items()}
        for where, cited in SOURCES[name].items()
    }
    assert numbers(name) == published


def test_preset_sources__say_where_each_number_is_from():
    assert sorted(SOURCES) == [name for name in PRESETS if numbers(name)]
    for cited in [one for of_preset in SOURCES.values() for one in of_preset.values()]:
        assert any(one.startswith("https://") or "section" in one for one in cited["source"])
        assert all(name for _, name in cited["numbers"].values())


def test_presets__ask_in_the_order_of_their_sources():
    assert list(settings("fineweb")) == [
        "empty", "gopher_repetition", "gopher_quality", "c4", "fineweb_quality",
    ]  # fmt: skip
    assert list(settings("fineweb2-fra")) == [
        "empty", "gopher_repetition", "fineweb_quality", "gopher_quality",
    ]  # fmt: skip
    assert list(settings("dclm")) == ["empty", "dclm", "dclm_lines"]
    first = list(settings("fineweb").items())[:3]
    assert list(settings("gopher").items()) == first
