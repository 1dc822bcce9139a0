"""The run's configuration: checked whole before any job, one line per fault."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from corpusmill.messages.sentences import MOST_FAULTS, first_of
from corpusmill.mill.storage.streams import ReadLimits
from corpusmill.run.filter_faults import filter_faults
from corpusmill.run.schema_faults import Validator, in_words

TRAINED_END_OF_TEXT = "<|endoftext|>"


def _conflicts(config: dict) -> Iterator[str]:
    """What the schema cannot say: keys that must fit one another."""
    minhash, dedup = config["minhash"], config["dedup"]
    if (dedup["bands"] == "auto") != (dedup["rows"] == "auto"):
        yield (
            "dedup.bands and dedup.rows: one is auto and the other a number. "
            "Give both, or auto for both."
        )
    elif dedup["bands"] != "auto":
        used = dedup["bands"] * dedup["rows"]
        if used > minhash["permutations"]:
            yield (
                f"dedup.bands ({dedup['bands']}) x dedup.rows ({dedup['rows']}) = {used} exceeds "
                f"minhash.permutations ({minhash['permutations']}). Lower one or raise the other."
            )
    if dedup["method"] == "sketch" and dedup["resolve"] == "kept":
        yield (
            "dedup.resolve: kept needs to know which pairs are similar, and dedup.method sketch "
            "does not look. Set resolve to component, or method to verified."
        )
    names = [source["name"] for source in config["sources"]]
    yield from filter_faults(config["filters"], names)
    for name in (name for name, count in Counter(names).items() if count > 1):
        yield f'sources: "{name}" is there twice. Give each source a name of its own.'
    for source in held_out_sources(config):
        milled_only = {
            "weight",
            "priority",
            "max_dropped_fraction",
            "max_duplicate_fraction",
            "cut_spans",
        }
        for key in sorted(milled_only & set(source)):
            yield f'sources: "{source["name"]}" is held_out and has a {key}. Only milled ones do.'
    tokenizer = config["tokenizer"]["source"]
    end = config["tokenizer"]["end_of_text"]
    if tokenizer == "train" and end not in ("auto", TRAINED_END_OF_TEXT):
        yield (
            f"tokenizer.end_of_text: {end} is no token of a trained tokenizer, which has "
            f"{TRAINED_END_OF_TEXT} alone. Leave it out."
        )
    if "\0" in tokenizer:
        yield "tokenizer.source: expected a folder or an id, found one with a NUL. Correct it."
    if tokenizer.startswith(("/", "./", "../", "~")) and not os.path.isdir(tokenizer):
        yield f"tokenizer.source: there is no folder {tokenizer}. Correct the path."
    if dedup["bands"] == dedup["rows"] == "auto":
        try:
            band_setting(config)
        except ValueError as error:
            yield (
                f"dedup.bands: auto finds no setting for dedup.threshold {dedup['threshold']} and "
                f"minhash.permutations {minhash['permutations']} ({error}). Give bands and rows, "
                "or raise the permutations."
            )
    if not any(source.get("weight", 1) for source in milled_sources(config) or [{}]):
        yield "sources: all have the weight 0, so no document would be kept. Raise one above 0."
    if not milled_sources(config):
        yield "sources: all are held_out, so there is nothing to mill. Name a source without it."
    if config["splits"]["validation"] + config["splits"]["test"] >= 1:
        yield "splits: validation + test leave nothing for train. Lower them below 1 together."


def refuse_config_without_sources(config_files: list[Path], given: dict) -> None:
    """Raise ValueError if config files were named and none of them names a source.

    given: what they and --config say. The demo, whose sources config.yaml has, is not meant then.
    """
    if config_files and "sources" not in given:
        raise ValueError(
            f"{', '.join(map(str, config_files))}: no sources, so this would mill the bundled "
            "demo. Name your sources; or, for the demo with these settings, name the shipped "
            "config.yaml before this file: --configfile config.yaml mine.yaml"
        )


def laid_over(shipped: Path | dict, given: dict) -> dict:
    """The shipped configuration with what is given laid over it, as --configfile does."""

    def merged(below: dict, above: dict) -> dict:
        together = below | above
        both = [key for key in above if isinstance(below.get(key), dict)]
        return together | {
            key: merged(below[key], above[key]) for key in both if isinstance(above[key], dict)
        }

    below = yaml.safe_load(shipped.read_text("utf-8")) if isinstance(shipped, Path) else shipped
    return merged(below, given)


NO_TEXT = {"not": {"type": "string"}}
"""Schema of what none is known of, settings of filters: a number rather than a text."""


def typed(config: dict, told: dict, schema_file: Path) -> dict:
    """The configuration with the values of --config as a file would have them.

    told: what --config says. Snakemake hands on what stands in braces and brackets as text.
    """
    schema = yaml.safe_load(schema_file.read_text("utf-8"))

    def read(value: Any, told: Any, schema: dict) -> Any:
        if isinstance(told, dict) and isinstance(value, dict):
            known = schema.get("properties", {})
            return value | {
                key: read(value[key], told[key], known.get(key, NO_TEXT))
                for key in told
                if key in value
            }
        if isinstance(told, list) and isinstance(value, list):
            return [read(one, one, schema.get("items", {})) for one in value]
        if isinstance(value, str) and not Validator(schema).is_valid(value):
            try:
                return yaml.safe_load(value)
            except yaml.YAMLError as error:
                raise ValueError(f"--config: {value} is not YAML. Correct it.") from error
        return value

    return read(config, told, schema)


def milled_sources(config: dict) -> list[dict]:
    """The sources that make the corpus."""
    return [source for source in config["sources"] if not source.get("held_out")]


def held_out_sources(config: dict) -> list[dict]:
    """The sources that are only kept out of train: evaluation sets."""
    return [source for source in config["sources"] if source.get("held_out")]


def read_limits(config: dict) -> ReadLimits:
    of_input = config["input"]
    return ReadLimits(of_input["max_record_bytes"], of_input["max_window_log"])


def text_field(source: dict) -> str:
    return source.get("text_field", "text")


def check_config(config: dict, schema_file: Path) -> None:
    """Raise ValueError with one line per fault if the configuration cannot be run."""
    schema = yaml.safe_load(schema_file.read_text("utf-8"))
    validator = Validator(schema)
    faults = sorted(
        validator.iter_errors(config),
        key=lambda fault: [
            f"{step:09}" if type(step) is int else str(step) for step in fault.absolute_path
        ],
    )
    told = faults[:MOST_FAULTS]
    lines = [in_words(jsonschema.exceptions.best_match([fault])) for fault in told]
    lines += [f"and {len(faults) - len(told):,} more"] * (len(faults) > len(told))
    if not lines:
        lines = first_of(list(_conflicts(config)))
    if lines:
        raise ValueError("\n".join(lines))


NO_RESULT = {"input": ["verify"], "output": ["exports", "sample_tokens"]}
"""Keys that shape none: what is looked at before, and what comes after the manifest."""


def shaping(config: dict) -> dict:
    """The configuration without what shapes no result."""
    return config | {
        section: {key: value for key, value in config[section].items() if key not in keys}
        for section, keys in NO_RESULT.items()
    }


def config_digest(config: dict) -> str:
    """Which configuration a result was made with."""
    return digest_of_shaping(shaping(config))


def digest_of_shaping(shapes: dict) -> str:
    """The same of what `shaping` leaves of a configuration."""
    return hashlib.sha256(json.dumps(shapes, sort_keys=True).encode()).hexdigest()[:16]


RECALL = 0.995
"""Of pairs just at the threshold, the share that auto bands and rows find for verification."""


def band_setting(config: dict) -> tuple[int, int]:
    """(bands, rows): as given; or, if candidates are verified, the longest rows that find RECALL
    of them; or, if not, those with the least expected error at the threshold."""
    dedup, permutations = config["dedup"], config["minhash"]["permutations"]
    if dedup["method"] == "exact":
        return 0, 1
    if dedup["bands"] != "auto":
        return dedup["bands"], dedup["rows"]
    if dedup["method"] == "verified":
        for rows in range(permutations, 0, -1):
            bands = permutations // rows
            if 1 - (1 - dedup["threshold"] ** rows) ** bands >= RECALL:
                return bands, rows
        return permutations, 1
    from datasketch import MinHashLSH

    lsh = MinHashLSH(dedup["threshold"], num_perm=permutations)
    return lsh.b, lsh.r


def fractions(config: dict) -> dict[str, float]:
    """The share of the documents that each split gets."""
    validation, test = config["splits"]["validation"], config["splits"]["test"]
    return {"train": 1 - validation - test, "validation": validation, "test": test}
